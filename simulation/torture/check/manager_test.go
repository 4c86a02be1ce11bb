package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// The checker sees errors in a manager itself, whatever the agents say.
func TestBehind_LooksIntoTheManagers(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}}
	name := managed.Name(world.Prefix, leg)
	command := func(v agents.CommandVerb, name string) agents.Message {
		return agents.Command{Verb: v, Name: name, Start: world.Start.Add(10 * grid.Second), End: world.Start.Add(grid.Hour), Nodes: []string{"elm-g1-01"}, User: "guest", Work: &grid.Handover{}}
	}
	run := func(name string) []agents.Message {
		return []agents.Message{command(agents.Reserve, name), command(agents.Assign, name), command(agents.Run, name)}
	}
	purged := append(run(name), command(agents.End, name), manager.Heal{})
	for what, c := range map[string]struct {
		says      []agents.Message
		confirmed bool
		want      string
	}{
		"a reservation of no leg":     {[]agents.Message{command(agents.Reserve, "bourse.x")}, false, "I19"},
		"work of no leg":              {run("bourse.x"), false, "I19"},
		"work of an unconfirmed leg":  {run(name), false, "I20"},
		"work of a confirmed leg":     {run(name), true, ""},
		"another's is deleted":        {[]agents.Message{manager.Strike{Is: manager.Foreign, For: grid.Hour, Salt: 1}, agents.Command{Verb: agents.Delete, Name: "-"}}, false, "I21"},
		"submitted anew once it ran":  {append(purged, run(name)[2]), true, ""}, // the driver finds its mark
		"nothing that was ever there": {nil, false, ""},
	} {
		w := world.NewPlain(1, nil, sim.Options{})
		check := New(w)
		check.behind.legs[name] = leg
		check.leg(leg).confirmed = c.confirmed
		m, at := check.behind.sites[world.DriverID("elm")].manager, world.Start
		var err error
		step := func(x agents.Message) {
			var out agents.Outbox
			m.Step(at, world.ClusterID("elm"), x, &out)
			if err == nil {
				err = check.behind.step(&sim.Step{ID: world.DriverID("elm"), At: at, Message: x})
			}
		}
		if err := w.Run(world.Start); err != nil {
			t.Fatal(err)
		}
		for _, x := range c.says {
			if d, ok := x.(agents.Command); ok && d.Name == "-" {
				d.Name = m.Kept()[0].Name
				x = d
			}
			steps := 8 // until it is done
			if _, ok := x.(manager.Heal); ok {
				steps = 80 // until jobs that are over are forgotten
			}
			for range steps {
				step(x)
				x = agents.Started{}
				at = at.Add(5 * grid.Second)
			}
		}
		if got := ""; err != nil || c.want != "" {
			if err != nil {
				got, _, _ = strings.Cut(err.Error(), ":")
			}
			if got != c.want {
				t.Errorf("%s: %v, want %s", what, err, c.want)
			}
		}
	}
}

// Work that begins a second time is seen, and so is a cluster that leaves it to its
// driver that it does not.
func TestBehind_WorkBeginsOnce(t *testing.T) {
	t.Parallel()
	first := &manager.Run{Job: 1, Name: "bourse.a", Begun: 100}
	for what, c := range map[string]struct {
		r    manager.Run
		want bool
	}{
		"submitted after it had begun":  {manager.Run{Job: 2, Name: "bourse.a", Issued: 101}, true},
		"submitted before":              {manager.Run{Job: 2, Name: "bourse.a", Issued: 99}, false},
		"submitted late, ended at once": {manager.Run{Job: 2, Name: "bourse.a", Issued: 101, Late: true}, false},
		"the same job":                  {manager.Run{Job: 1, Name: "bourse.a", Issued: 101}, false},
		"other work":                    {manager.Run{Job: 2, Name: "bourse.b", Issued: 101}, false},
	} {
		if got := before([]*manager.Run{first}, &c.r) != nil; got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}}
	b := newBehind(New(world.NewPlain(1, nil, sim.Options{})))
	step := func(state facts.LockState) error {
		run := agents.Command{Verb: agents.Run, Name: managed.Name(world.Prefix, leg)}
		return b.ofCluster(&sim.Step{ID: world.ClusterID("elm"), At: world.Start, Facts: []agents.Fact{facts.LockMoved{Leg: leg, State: state}}, Sends: []agents.Send{{To: world.DriverID("elm"), Message: run}}})
	}
	if err := step(facts.LockSubmitted); err != nil {
		t.Error(err)
	}
	if err := step(facts.LockRunning); err == nil || !strings.HasPrefix(err.Error(), "I22: ") {
		t.Errorf("submitted again while it runs by its record: %v", err)
	}
	if err := step(facts.LockReleased); err != nil { // its cluster may have forgotten how it went
		t.Error(err)
	}
}

// Work that began long after its window is a cause to lose its leg, also when whatever
// kept it has gone; work that began in time is none.
func TestBehind_WorkThatBeganLateIsACause(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}}
	name := managed.Name(world.Prefix, leg)
	for what, late := range map[string]grid.Duration{"in time": 0, "late": 2 * grid.Minute} {
		w := world.NewPlain(1, nil, sim.Options{})
		if err := w.Run(world.Start); err != nil {
			t.Fatal(err)
		}
		b := New(w).behind
		x, l := b.sites[world.DriverID("elm")], &legMirror{}
		l.State, l.What.Start, l.What.End = grid.Running, world.Start.Add(10*grid.Second), world.Start.Add(grid.Hour)
		c := agents.Command{Name: name, Start: l.What.Start, End: l.What.End, Nodes: []string{"elm-g1-01"}, User: "guest", Work: &grid.Handover{}}
		at := world.Start
		for _, c.Verb = range []agents.CommandVerb{agents.Reserve, agents.Assign, agents.Run} {
			var m agents.Message = c
			for range 8 { // until it is done
				var out agents.Outbox
				x.manager.Step(at, world.ClusterID("elm"), m, &out)
				m, at = agents.Started{}, at.Add(grid.Second)
			}
			if c.Verb == agents.Assign {
				at = max(at, l.What.Start).Add(late)
			}
		}
		is := slices.IndexFunc(x.manager.Runs(), func(r *manager.Run) bool { return r.Name == name })
		if is < 0 {
			t.Fatalf("%s: its work has not begun", what)
		}
		b.judge(x, leg, l, nil)
		if had := b.right[leg] > 0; had != (late == 0) {
			t.Errorf("%s: it has all that it needs: %t; it began at %v, its window at %v", what, had, x.manager.Runs()[is].Begun, l.What.Start)
		}
	}
}

// A leg that a site has restored is not looked at any more, so that it is not known to have all
// that it needs when it is lost.
func TestBehind_ARestoredLegIsNotKnownToBeRight(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}}
	w := world.NewPlain(1, nil, sim.Options{})
	c := New(w)
	if err := w.Run(world.Start.Add(grid.Second)); err != nil {
		t.Fatal(err)
	}
	l := &legMirror{restored: true}
	l.State, l.What.Start, l.What.End = grid.Confirmed, world.Start.Add(10*grid.Second), world.Start.Add(grid.Hour)
	c.of(world.SiteID("elm")).legs[leg] = l
	c.behind.right[leg] = world.Start
	if err := c.behind.compare(c.behind.sites[world.DriverID("elm")]); err != nil {
		t.Fatal(err)
	}
	if at := c.behind.right[leg]; at > 0 {
		t.Errorf("it has all that it needs since %v", at)
	}
}

// A leg that is lost for a denial that was not read back breaks I24. One that was lost before
// does not, whatever is denied while that is said again.
func TestBehind_ALossIsJudgedWhenItIsSaidFirst(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 1}}
	b := newBehind(New(world.NewPlain(1, nil, sim.Options{})))
	said := &sim.Step{Sends: []agents.Send{{Message: agents.ClusterLost{Leg: leg, Reason: grid.Reason{Code: grid.Busy}}}}}
	for _, before := range []bool{false, true} {
		b.lost[leg] = before
		x := &behindSite{denied: map[string]bool{b.name(leg): true}}
		if err := b.unread(x, said); (err == nil) != before {
			t.Errorf("lost before: %t, it says %v", before, err)
		}
	}
}
