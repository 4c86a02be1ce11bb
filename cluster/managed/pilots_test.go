package managed

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// What a manager says of a pilot's begin counts as far as it can be true: a lie, or a clock that is
// off, makes it idle neither for years nor before it was submitted.
func TestPossible_ABeginLiesBetweenTheSubmissionAndNow(t *testing.T) {
	t.Parallel()
	all := &pilots{cfg: &Config{Limits: Limits{Skew: 2000}}}
	p := &pilot{PilotMemory: facts.PilotMemory{At: 50_000}}
	for said, want := range map[grid.Time]grid.Time{0: 0, 1: 47_000, 46_999: 47_000, 50_000: 50_000, 60_000: 60_000, 103_000: 103_000, 103_001: 103_000, grid.MaxTime: 103_000} {
		if got := all.possible(100_000, p, said); got != want {
			t.Errorf("a begin at %v counts as %v, must be %v", said, got, want)
		}
	}
}

// Work in a pilot is the pilot's job to the manager, submitted long before the work was. It is known
// all the same when it has ended, though no look has shown it before. Other work so old is not it.
func TestJobIs_WorkInAPilotHasThePilotsSubmission(t *testing.T) {
	t.Parallel()
	ended := &grid.ManagedJob{Number: "7", Name: "bourse.north.w", In: "bourse.north.p", State: grid.ManagedEnded, Nodes: []string{"n1"}, Submit: 10_000}
	for in, want := range map[string]jobSeen{"bourse.north.p": over, "bourse.north.q": noJob, "": noJob} {
		e := &entry{name: ended.Name, in: in, submitted: 70_000}
		if state, _, _ := e.jobIs([]*grid.ManagedJob{ended}, 6000); state != want {
			t.Errorf("of work in %q it is %v, must be %v", in, state, want)
		}
	}
}
