package broker

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The legs of a window of several have one start, which no site moves alone.
func TestAdopted_AWindowToMoveInIsOfOneLegAlone(t *testing.T) {
	t.Parallel()
	b := New(testConfig(newFakeSite("north", 4, grid.Price(grid.Credit)), newFakeSite("south", 4, grid.Price(grid.Credit))))
	tx := grid.TxID{Broker: b.mem.cfg.Name, Incarnation: 1, Nonce: 1, Seq: 1}
	f := facts.LegAdopted{Leg: grid.LegID{Tx: tx}, Site: "north", Job: "wave", State: grid.Confirmed,
		What: grid.Leg{Group: "main", Nodes: 4, Start: 100 * sec, End: 200 * sec}, Flex: grid.Flex{Ready: 100 * sec, Due: 900 * sec}}
	b.Replay(0, f)
	if got := b.mem.Txs.Get(tx).Flex(); got != f.Flex {
		t.Errorf("alone it may be moved within %v, want %v", got, f.Flex)
	}
	f.Leg.Leg, f.Site = 1, "south"
	b.Replay(0, f)
	if got := b.mem.Txs.Get(tx).Flex(); got != (grid.Flex{}) {
		t.Errorf("one of two may be moved within %v", got)
	}
}

// A broker with its whole journal is begun again, and a site that it has bought from lists
// 12,000 confirmed legs of a life that is over, with nonces that nobody has drawn, all of
// one job: nothing is adopted, and one fact says so. With the nonce of the last life, of
// which the journal might have lost the end, no more are adopted than one job can have.
func TestAdopt_AListOfLegsThatNeverWere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		nonce func(i int) uint64
		most  int
		facts int
	}{
		"random nonces":          {func(i int) uint64 { return 1000 + uint64(i) }, 0, 1},
		"nonce of the last life": {func(int) uint64 { return 1 }, transaction.MaxJobAdopted, 1},
	} {
		cfg := testConfig(newFakeSite("north", 4, grid.Price(grid.Credit)))
		cfg.Budget = 1_000_000 * grid.Credit
		b := New(cfg)
		var out agents.Outbox
		b.Step(0, "", agents.Started{Nonce: 1}, &out)
		tx := grid.TxID{Broker: cfg.Name, Incarnation: 1, Nonce: 1, Seq: 1}
		b.Replay(0, facts.JobSubmitted{Job: grid.Job{Name: "tide", User: "ana"}})
		b.Replay(0, facts.TxBegun{Tx: tx, Job: "tide", Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main", Nodes: 1, Start: 100 * sec, End: 200 * sec}}, Limits: []grid.Credits{5}})
		again := New(cfg)
		again.Replay(0, b.Image())
		again.Step(0, "", agents.Started{Nonce: 2}, &out)
		list := agents.Listing{Incarnation: 2, Nonce: 2, Stamp: agents.Stamp{Epoch: 1, Seq: 1}}
		for i := range 12_000 {
			list.Legs = append(list.Legs, agents.ListedLeg{Leg: grid.LegID{Tx: grid.TxID{Broker: cfg.Name, Incarnation: 1, Nonce: c.nonce(i), Seq: 1000 + uint64(i)}},
				What: grid.Leg{Group: "main", Nodes: 1, Start: 1000 * sec, End: 2000 * sec}, Job: "x", User: "ana", State: grid.Confirmed, Fare: grid.Fare{Base: 300 * grid.Credit}, Version: 1})
		}
		out = agents.Outbox{}
		again.Step(0, "site:north", list, &out)
		adopted, disowned := 0, 0
		for _, f := range out.Facts {
			switch f := f.(type) {
			case facts.LegAdopted:
				adopted++
			case facts.LegsDisowned:
				if disowned++; f.Legs != 12_000-c.most || f.Site != "north" {
					t.Errorf("%s: %+v is disowned", name, f)
				}
			}
		}
		if adopted != c.most || disowned != c.facts {
			t.Errorf("%s: %d legs are adopted, %d facts disown others, want %d and %d", name, adopted, disowned, c.most, c.facts)
		}
	}
}

// The legs of a job's other transactions are collected once per job: the view of a window of n
// transactions looks at their legs n times in all, not n times n.
func TestView_OthersAreTheOpenLegsOfTheRestOfTheWindow(t *testing.T) {
	t.Parallel()
	b := New(testConfig(newFakeSite("north", 4, grid.Price(grid.Credit))))
	for i := range uint64(3) {
		tx := grid.TxID{Broker: b.mem.cfg.Name, Incarnation: 1, Nonce: 1, Seq: 1 + i}
		b.Replay(0, facts.LegAdopted{Leg: grid.LegID{Tx: tx}, Site: "north", Job: "wave", State: grid.Confirmed,
			What: grid.Leg{Group: "main", Nodes: 4, Start: 100 * sec, End: 200 * sec}})
		b.Replay(0, facts.TxDecided{Tx: tx, Job: "wave", Commit: i < 2})
	}
	for i, v := range b.Window("wave") {
		if v.Others != 1 {
			t.Errorf("transaction %d of the window has %d others, want 1", i, v.Others)
		}
	}
	var others []int
	for v := range b.Transactions() {
		others = append(others, v.Others)
	}
	if !slices.Equal(others, []int{1, 1, 2}) {
		t.Errorf("others of all: %v, want 1 1 2", others)
	}
}
