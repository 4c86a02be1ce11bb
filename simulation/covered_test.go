package simulation

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// Where any jobs are read from a log it is said what is covered: the seeds, its weeks, or both;
// where all are drawn there is nothing to say.
func TestCovered_IsSaidWhereALogIsRead(t *testing.T) {
	t.Parallel()
	drawn, read := &configs.Workload{Model: "lublin", Days: 70 * grid.Day}, &configs.Workload{Trace: "a.swf", Days: 70 * grid.Day}
	for _, c := range []struct {
		sc               configs.Scenario
		overWeeks, drawn bool
		runs             int
		want             string
		long             bool
	}{
		{configs.Scenario{Sites: []configs.Site{{}, {Workload: drawn}}, Brokers: []configs.Broker{{}, {Workload: &configs.VOWorkload{Model: "uniform"}}}}, false, true, 2, "", false},
		{configs.Scenario{Sites: []configs.Site{{Workload: drawn}, {Workload: read}}}, false, true, 2, "they do not cover. Intervals over its weeks need 8", true},
		{configs.Scenario{Sites: []configs.Site{{Workload: read}}}, false, false, 1, "there is no interval", true},
		{configs.Scenario{Sites: []configs.Site{{Workload: read}}}, true, false, 1, "not what another seed might have drawn", true},
		{configs.Scenario{Sites: []configs.Site{{Workload: read}}}, true, false, 5, "All seeds agree", true},
		{configs.Scenario{Sites: []configs.Site{{}}, Brokers: []configs.Broker{{Workload: &configs.VOWorkload{Trace: "b.swf", Days: 49 * grid.Day}}}}, true, true, 5, "± behind a figure is over seeds", false},
	} {
		c.sc.Until = 100 * grid.Day
		if got := Covered(&c.sc, c.overWeeks, c.drawn, c.runs); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q, want %q", got, c.want)
		}
		if byWeek(&c.sc) != c.long {
			t.Errorf("%q: by week is %t", c.want, !c.long)
		}
	}
}
