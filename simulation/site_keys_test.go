package simulation

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// liveWorld brings a scenario to life with all invariants on. It keeps the facts
// of the run; finish lives on to an instant and fails if an invariant is broken.
type liveWorld struct {
	*world
	t      *testing.T
	broken *error
	facts  []agents.Fact
}

func live(t *testing.T, text string) *liveWorld {
	t.Helper()
	sc, err := configs.ParseScenario("scenario.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(sc, 1, NewWorkloads(), Record{})
	if err != nil {
		t.Fatal(err)
	}
	l := &liveWorld{world: w, t: t, broken: w.check(true)}
	w.sim.After(func(_ grid.Time, _ agents.ID, out *agents.Outbox) { l.facts = append(l.facts, out.Facts...) })
	return l
}

func (l *liveWorld) finish(until grid.Time) {
	l.t.Helper()
	if l.sim.Run(until); *l.broken != nil {
		l.t.Fatal(*l.broken)
	}
}

func (l *liveWorld) job(name string) broker.JobView {
	l.t.Helper()
	v, ok := l.brokers["broker:vo"].Job(name)
	if !ok {
		l.t.Fatalf("no job %s", name)
	}
	return v
}

// end returns the fact of a site by which the only leg of that end came to it.
func (l *liveWorld) end(s grid.LegState) facts.LegMoved {
	l.t.Helper()
	var found []facts.LegMoved
	for _, f := range l.facts {
		if m, ok := f.(facts.LegMoved); ok && m.State == s {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		l.t.Fatalf("%d legs are %v, want 1", len(found), s)
	}
	return found[0]
}

// fickle gives up one job of broker vo when told to.
type fickle struct{}

func (fickle) Step(_ grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	if c, ok := m.(agents.JobCancel); ok {
		out.Send("broker:vo", c)
	}
}

// oneLeg is a world of a job that starts, without any other, at its ready time:
// three hours after the cycle that places it, for 8 credits. KEYS stands for keys
// of the site.
const oneLeg = `until = "1d"
[[site]]
name = "north"
pricing = "fixed"
KEYS
[[site.group]]
name = "a"
nodes = 4
price = 1.0
[[site.group]]
name = "b"
nodes = 4
price = 1.0
[[broker]]
name = "vo"
budget = 1000.0
cycle = "1h"
horizon = "1d"
algorithm = "amp"
minimize = "time"
batch_size = 1
[[broker.job]]
name = "j"
nodes = NODES
length = "2h"
max_price = 2.0
submit = "0s"
ready = "4h"
deadline = "1d"
`

func oneLegWith(nodes, keys string) string {
	return strings.NewReplacer("KEYS", keys, "NODES", nodes).Replace(oneLeg)
}

// The leg is held at 0, to start at 4 h.
func TestSite_RefundFullUntilIsWhereTheRefundBeginsToFall(t *testing.T) {
	t.Parallel()
	const price = 8 * grid.Credit
	for _, c := range []struct {
		keys string
		at   grid.Duration
		want grid.Credits
	}{
		{"", 2 * grid.Hour, price},
		{"", 3 * grid.Hour, price / 2},
		{"refund_full_until = 0.25", grid.Hour, price},
		{"refund_full_until = 0.25", 2 * grid.Hour, price * 2 / 3},
		{"refund_full_until = 1", 4*grid.Hour - grid.Second, price},
		{"refund_full_until = 0", grid.Hour, price * 3 / 4},
		{"refund_full_until = 0", 2 * grid.Hour, price / 2},
	} {
		w := live(t, oneLegWith("4", c.keys))
		w.sim.Add("users:fickle", fickle{})
		w.sim.Post(grid.Time(c.at), "users:fickle", agents.JobCancel{Job: "j"})
		w.finish(grid.Time(grid.Day))
		if f := w.end(grid.Released); f.Fare.Total() != price || f.Refund != c.want {
			t.Errorf("%q, given up after %s: %v of %v back, want %v", c.keys, c.at.Words(), f.Refund, f.Fare.Total(), c.want)
		}
	}
}

func TestSite_PenaltyIsAddedToTheRefundOfALostLeg(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]grid.Credits{"": 0, "penalty = 0.25": 2 * grid.Credit, "penalty = 10": 80 * grid.Credit} {
		w := live(t, oneLegWith("4", keys))
		leg := agents.NodesLost{Group: "a", Count: 4, For: 12 * grid.Hour}
		w.sim.Post(grid.Time(grid.Hour), "cluster:north", leg)
		w.finish(grid.Time(grid.Day))
		if f := w.end(grid.Lost); f.Refund != 8*grid.Credit || f.Penalty != want {
			t.Errorf("%q: %v back and %v added, want 8 and %v", keys, f.Refund, f.Penalty, want)
		}
	}
}

// A window of both groups holds two legs at once. They are of one transaction, which counts as
// a lone hold whatever the cap; sites' scenarios of row S11 have another one beside it.
func TestSite_CapBindsAllButALoneHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes, keys string
		placed      bool
	}{
		{"8", "", true},
		{"8", "cap = 57600", true},
		{"8", "cap = 57599", true},
		{"4", "cap = 1", true}, // a lone hold
	} {
		w := live(t, oneLegWith(c.nodes, c.keys))
		w.finish(grid.Time(grid.Hour / 2))
		v := w.job("j")
		if v.State == grid.JobPlaced != c.placed {
			t.Errorf("%s nodes, %q: %v, %v", c.nodes, c.keys, v.State, v.Reason)
		}
	}
}
