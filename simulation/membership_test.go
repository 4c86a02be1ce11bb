package simulation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// comings is a world of two sites of 8 nodes each, of which south is there
// from 2 h to 10 h. NORTH stands for keys of the other.
// Cycles fire every hour at a phase of vo's own.
const comings = `until = "1d"
[[site]]
name = "north"
pricing = "fixed"
NORTH
[[site.group]]
name = "main"
nodes = 8
price = 1.0
[[site]]
name = "south"
pricing = "fixed"
joins = "2h"
leaves = "10h"
[[site.group]]
name = "main"
nodes = 8
price = 1.0
[[broker]]
name = "vo"
budget = 10000.0
cycle = "1h"
horizon = "1d"
algorithm = "amp"
minimize = "time"
`

// jobOf is a job of that many nodes; 16 need both sites. Its ready time and its
// deadline are counted from its submission.
func jobOf(name string, nodes int, submit, ready, deadline string) string {
	return fmt.Sprintf("[[broker.job]]\nname = %q\nnodes = %d\nlength = \"2h\"\nmax_price = 2.0\nsubmit = %q\nready = %q\ndeadline = %q\n",
		name, nodes, submit, ready, deadline)
}

// watch lists, as the world goes on, the instants at which an agent records what
// keep picks.
func (l *liveWorld) watch(keep func(agents.ID, agents.Fact) bool) *[]grid.Time {
	list := new([]grid.Time)
	l.sim.After(func(now grid.Time, id agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			if keep(id, f) {
				*list = append(*list, now)
			}
		}
	})
	return list
}

// heldAt lists when a site grants holds.
func (l *liveWorld) heldAt(site agents.ID) *[]grid.Time {
	return l.watch(func(id agents.ID, f agents.Fact) bool {
		m, ok := f.(facts.LegMoved)
		return ok && id == site && m.State == grid.Held
	})
}

// The answers to users.
const (
	tooWide = "asks for 16 nodes; 8 are suited"
	noSite  = "no site is there at present"
)

func TestMembership_ASiteThatJoinsIsUsedInTheNextCycle(t *testing.T) {
	t.Parallel()
	w := live(t, strings.Replace(comings, "NORTH", "", 1)+
		jobOf("early", 16, "0s", "0s", "3h")+ // over before south is asked
		jobOf("later", 16, "2h", "0s", "12h"))
	decided := w.watch(func(_ agents.ID, f agents.Fact) bool {
		d, ok := f.(facts.TxDecided)
		return ok && d.Job == "later" && d.Commit
	})
	w.finish(grid.Time(grid.Day))
	if v := w.job("early"); v.State != grid.JobAbandoned || v.Reason.String() != tooWide {
		t.Errorf("16 nodes of one site of 8: %v, %v", v.State, v.Reason)
	}
	v := w.job("later")
	if v.State != grid.JobDone || len(v.Last.Legs) != 2 || v.Last.Legs[1].Site != "south" {
		t.Errorf("with south there the job is %v, %v", v.State, v.Reason)
	}
	next := broker.Phase("vo", grid.Hour) + 2*grid.Hour
	if len(*decided) != 1 || (*decided)[0] != grid.Time(next) {
		t.Errorf("placed at %v, the first cycle after south has joined is at %v", *decided, next)
	}
}

func TestMembership_ASiteThatHasLeftRunsWhatIsConfirmedAndGetsNothingNew(t *testing.T) {
	t.Parallel()
	w := live(t, strings.Replace(comings, "NORTH", "", 1)+
		jobOf("before", 16, "8h", "4h", "1d")+ // confirmed before south leaves, runs after
		jobOf("after", 16, "10h", "4h", "14h")+
		jobOf("first", 8, "10h", "4h", "14h")+jobOf("second", 8, "10h", "4h", "14h")) // south would have room for it
	heldAtSouth := w.heldAt("site:south")
	w.finish(grid.Time(grid.Day))
	v := w.job("before")
	if v.State != grid.JobDone || len(v.Last.Legs) != 2 {
		t.Fatalf("what south has confirmed: %v, %v", v.State, v.Reason)
	}
	there := func(at grid.Time) bool {
		return at >= grid.Time(2*grid.Hour) && at <= grid.Time(10*grid.Hour)
	}
	if h := *heldAtSouth; len(h) == 0 || slices.ContainsFunc(h, func(at grid.Time) bool { return !there(at) }) {
		t.Errorf("south holds legs at %v, it is there from 2 h to 10 h", *heldAtSouth)
	}
	for _, l := range v.Last.Legs {
		if l.State != grid.Settled || l.Start < grid.Time(12*grid.Hour) {
			t.Errorf("leg at %s from %v is %v", l.Site, l.Start, l.State)
		}
	}
	if v := w.job("after"); v.State != grid.JobWaiting || v.Last != nil || v.Reason.String() != tooWide {
		t.Errorf("south has left, and may come back within the horizon: %v, %v", v.State, v.Reason)
	}
	for _, name := range []string{"first", "second"} {
		if v := w.job(name); v.State != grid.JobDone || v.Last.Legs[0].Site != "north" {
			t.Errorf("job %s, for north alone: %v, %v", name, v.State, v.Reason)
		}
	}
}

func TestMembership_WithNoSiteThereUsersAreToldSo(t *testing.T) {
	t.Parallel()
	w := live(t, strings.Replace(comings, "NORTH", "joins = \"3h\"\nleaves = \"4h\"", 1)+
		jobOf("early", 8, "0s", "0s", "12h")+jobOf("late", 8, "11h", "3h", "1d"))
	w.finish(grid.Time(2*grid.Hour) - 1)
	if v := w.job("early"); v.State != grid.JobWaiting || v.Reason.String() != noSite {
		t.Errorf("before any site is there: %v, %v", v.State, v.Reason)
	}
	w.finish(grid.Time(grid.Day))
	if v := w.job("early"); v.State != grid.JobDone || v.Last.Legs[0].Site != "south" {
		t.Errorf("when south is there: %v, %v", v.State, v.Reason)
	}
	if v := w.job("late"); v.Last != nil || v.Reason.String() != noSite {
		t.Errorf("after all have left: %v, %v", v.State, v.Reason)
	}
}

// Of a site that sells nothing brokers do not know, from the start or when it would join.
func TestMembership_ASiteThatSellsNothingIsUnknown(t *testing.T) {
	t.Parallel()
	for _, north := range []string{"sell = false", "sell = false\njoins = \"3h\""} {
		w := live(t, strings.Replace(comings, "NORTH", north, 1)+jobOf("wide", 16, "3h", "1h", "12h")+jobOf("narrow", 8, "3h", "1h", "12h"))
		held := w.heldAt("site:north")
		w.finish(grid.Time(grid.Day))
		if v := w.job("wide"); v.Last != nil || len(*held) > 0 {
			t.Errorf("%s: a job for both sites is %v, and north holds legs at %v", north, v.State, *held)
		}
		if v := w.job("narrow"); v.State != grid.JobDone || v.Last.Legs[0].Site != "south" {
			t.Errorf("%s: a job for one is %v, %v", north, v.State, v.Reason)
		}
	}
}
