package study

import (
	"testing"

	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// That other weeks of a log are not covered is said of a study that read one, and only if no row
// covers them.
func TestStudy_SaysThatOtherWeeksAreNotCovered(t *testing.T) {
	t.Parallel()
	seeds, weeks := evidence.Row{Over: "seed"}, evidence.Row{Over: "seed", Blocks: 20}
	for _, c := range []struct {
		flags studyFlags
		rows  []evidence.Row
		want  string
	}{
		{studyFlags{}, []evidence.Row{seeds}, ""},
		{studyFlags{traces: []string{"a.swf"}}, []evidence.Row{seeds}, simulation.OneLog},
		{studyFlags{folder: "logs"}, []evidence.Row{seeds, seeds}, simulation.OneLog},
		{studyFlags{traces: []string{"a.swf"}}, []evidence.Row{seeds, weeks}, ""},
		{studyFlags{traces: []string{"a.swf"}}, []evidence.Row{{Over: "interval of the trace"}}, ""},
	} {
		if got := c.flags.uncovered(c.rows); got != c.want {
			t.Errorf("%+v: %q, want %q", c.flags, got, c.want)
		}
	}
}
