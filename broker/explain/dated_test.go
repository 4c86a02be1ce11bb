package explain

import (
	"strings"
	"testing"

	"bourse"
)

// On a live process the reasons of agents have instants as seconds since 1970;
// whoever reads an explanation there is shown times.
func TestText_ShowsInstantsInReasonsByItsClock(t *testing.T) {
	t.Parallel()
	e := &Explanation{Job: "wave", State: "waiting", Reason: bourse.Reason{Code: bourse.NoWindow, Detail: "at most 2400 nodes are free from 1795226481.773 on"}}
	clock := func(t bourse.Time) string { return "<" + t.String() + ">" }
	if got := e.Text(clock); !strings.Contains(got, "at most 2400 nodes are free from <1795226481.773> on") {
		t.Errorf("said %q", got)
	}
	if got := e.Text(nil); !strings.Contains(got, "from 1795226481.773 on") {
		t.Errorf("without a clock it said %q", got)
	}
}
