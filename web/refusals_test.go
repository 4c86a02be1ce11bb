package web

import (
	"bytes"
	"log"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

func TestRefusals_AreLinesOfTheProcessLogAndBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := log.New(&refusals{log: zerolog.New(&out)}, "", 0)
		for range 1000 {
			l.Print("http: TLS handshake error from 10.0.0.9:4: EOF")
		}
		if n := strings.Count(out.String(), "\n"); n != refusalBurst {
			t.Errorf("%d lines of 1000 at once, want %d", n, refusalBurst)
		}
		if want := `{"level":"warn","room":"api","message":"TLS handshake error from 10.0.0.9:4: EOF"}`; !strings.HasPrefix(out.String(), want) {
			t.Errorf("said %q, want %q first", out.String(), want)
		}
		out.Reset()
		time.Sleep(3 * time.Second)
		for range 5 {
			l.Print("again")
		}
		if got := out.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, `"hidden":980`) {
			t.Errorf("three seconds later it said %q, want three lines, the first with 980 hidden", got)
		}
	})
}
