package api

import (
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// An instant in a reason is shown in the reader's time zone, with its offset.
func TestReason_ShowsInstantsHere(t *testing.T) {
	r := &Reason{Code: "busy", Detail: "taken until 2026-11-28T10:05:00Z"}
	want := "taken until " + time.Date(2026, 11, 28, 10, 5, 0, 0, time.UTC).Local().Format("2006-01-02 15:04:05Z07:00")
	if got := r.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The instants of an explanation have no year: it is the one in which they are nearest to now.
func TestExplanation_ShowsInstantsHere(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 3600)
	e := Explanation{Words: "since Dec 31 23:30:00Z; from Jan 2 15:04:05Z on, by Feb 29 00:00:00Z;\n at Nov\n    28 17:12:00Z; May 5 is no instant"}
	for now, want := range map[string]string{
		"2027-01-01T00:10:00Z": "since Jan 1 00:30:00; from Jan 2 16:04:05 on, by Feb 29 01:00:00;\n at Nov\n    28 18:12:00; May 5 is no instant",
		"2026-01-20T00:00:00Z": "since Jan 1 00:30:00; from Jan 2 16:04:05 on, by Feb 29 00:00:00Z;\n at Nov\n    28 18:12:00; May 5 is no instant",
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Here(at.In(zone)); got != want {
			t.Errorf("%s: %s", now, got)
		}
	}
}

// What had no window has nothing to refund, and is not told a refund of nothing.
func TestCancelled_SaysWhatComesBack(t *testing.T) {
	t.Parallel()
	none, some := &Credits{}, &Credits{Credits: grid.Credit}
	for want, c := range map[string]Cancelled{
		"wave is withdrawn; nothing had been paid for it":                                                         {Done: true, Refund: none},
		"wave is withdrawn; 0.00 credits are refunded\nin total: 1.00 credits paid, 0.00 refunded; net cost 1.00": {Done: true, Refund: none, Paid: some, Back: none},
		"wave is withdrawn; not all of its sites have answered yet: cancel it again to see the refund":            {},
		"wave is withdrawn; 1.00 credits are refunded\nin total: 1.00 credits paid, 1.00 refunded; net cost 0.00": {Done: true, Refund: some, Paid: some, Back: some},
	} {
		if c.ID = "wave"; c.Sentence() != want {
			t.Errorf("%q, want %q", c.Sentence(), want)
		}
	}
}
