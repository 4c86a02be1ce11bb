package api

import (
	"testing"
	"time"
)

// An instant in a reason is shown in the reader's time zone, with its offset.
func TestReason_ShowsInstantsHere(t *testing.T) {
	r := &Reason{Code: "busy", Detail: "taken until 2026-11-28T10:05:00Z"}
	want := "taken until " + time.Date(2026, 11, 28, 10, 5, 0, 0, time.UTC).Local().Format("2006-01-02 15:04:05Z07:00")
	if got := r.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
