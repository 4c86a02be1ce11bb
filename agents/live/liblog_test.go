package live

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// A peer that is refused is tried every few seconds, for ever: the log says so
// once a minute, and when, once.
func TestLibraryLog_SaysTheSameOfAPeerOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := newLibraryLog(zerolog.New(&out).With().Str("time", "now").Logger()).With("agent", "site:north")
		for range 60 {
			l.Error("failed to connect", "address", "10.0.0.9:1")
			l.Error("failed to connect", "address", "10.0.0.9:2")
			l.Info("connecting", "address", "10.0.0.9:1")
			time.Sleep(2 * time.Second)
		}
		if n := strings.Count(out.String(), "\n"); n != 4 {
			t.Errorf("%d lines in two minutes about two peers, want 4:\n%s", n, &out)
		}
		first, _, _ := strings.Cut(out.String(), "\n")
		if strings.Count(first, `"time":`) != 1 || !strings.Contains(first, `"lib":"protoactor"`) {
			t.Errorf("said %s", first)
		}
	})
}
