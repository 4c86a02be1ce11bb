package examine

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Reasons that a snapshot does not know are said, each with the number of its jobs.
func TestSnapshot_SaysWhichReasonsAreNotKnown(t *testing.T) {
	t.Parallel()
	var look grid.Look
	for _, why := range []string{"Moonlight", "Priority", "Moonlight", "Tide", ""} {
		look.Jobs = append(look.Jobs, grid.ManagedJob{State: grid.ManagedPending, Why: why})
	}
	if said := unknownReasons(&look); said != "not known why these wait, so that they count as ready: Moonlight (2 jobs), Tide (1 job)" {
		t.Errorf("a snapshot says %q", said)
	}
	look.Jobs = look.Jobs[1:2]
	if said := unknownReasons(&look); said != "" {
		t.Errorf("of what is known it says %q", said)
	}
}
