package simulation

import (
	"testing"

	"github.com/bourse-grid/bourse/configs"
)

// Where any jobs are read from a log, intervals over seeds do not cover its weeks; where all are
// drawn there is nothing to say.
func TestUncovered_IsSaidWhereALogIsRead(t *testing.T) {
	t.Parallel()
	drawn, read := &configs.Workload{Model: "lublin"}, &configs.Workload{Trace: "a.swf"}
	for _, c := range []struct {
		sc   configs.Scenario
		want string
	}{
		{configs.Scenario{Sites: []configs.Site{{}, {Workload: drawn}}, Brokers: []configs.Broker{{}, {Workload: &configs.VOWorkload{Model: "uniform"}}}}, ""},
		{configs.Scenario{Sites: []configs.Site{{Workload: drawn}, {Workload: read}}}, OneLog},
		{configs.Scenario{Sites: []configs.Site{{}}, Brokers: []configs.Broker{{Workload: &configs.VOWorkload{Trace: "b.swf"}}}}, OneLog},
	} {
		if got := Uncovered(&c.sc); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
