package check

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// The checker sees an agent that still remembers, or has on its way, anything after a day.
func TestForgottenAtLast_NobodyRemembersAnything(t *testing.T) {
	t.Parallel()
	world := func() (*Checker, *mirror) {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		if err := check.w.Run(world.Start); err != nil {
			t.Fatal(err)
		}
		for i := range check.w.Sites {
			check.process(i, world.SiteID(check.w.Sites[i].Config.Name))
		}
		return check, check.procs[0]
	}
	check, _ := world()
	holds(t, "nothing", check.sitesForget(), "")
	check, m := world()
	m.set(facts.LegMoved{Leg: first(firstTx), State: grid.Settled})
	holds(t, "a leg", check.sitesForget(), "S57: after a day "+string(m.id))
}
