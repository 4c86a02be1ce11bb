package live

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A refused peer is tried every few seconds for ever. The log says so once a minute, and
// only once each time.
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

// Connections that this side closes, as at every orderly end, are nothing to be told of;
// others that are lost are.
func TestLibraryLog_SaysNothingOfWhatWeClose(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := newLibraryLog(zerolog.New(&out))
	l.Error("EndpointWriter lost connection", "address", "10.0.0.9:1", "error", status.Error(codes.Canceled, "grpc: the client connection is closing"))
	if out.Len() > 0 {
		t.Errorf("said %s", &out)
	}
	l.Error("EndpointWriter lost connection", "address", "10.0.0.9:1", "error", status.Error(codes.Unavailable, "connection reset by peer"))
	if !strings.Contains(out.String(), "reset by peer") {
		t.Errorf("said %q", &out)
	}
}
