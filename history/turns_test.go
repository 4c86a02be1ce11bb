package history

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Every turn of a job follows from one fact, and says whose it is.
func TestTurns_EachFactTellsItsTurn(t *testing.T) {
	t.Parallel()
	id := func(seq uint64) grid.TxID { return grid.TxID{Broker: "vo1", Incarnation: 1, Seq: seq} }
	begun := func(seq uint64) facts.TxBegun {
		return facts.TxBegun{Tx: id(seq), Job: "wave", Sites: []string{"north", "south"}, Legs: []grid.Leg{{Group: "main", Nodes: 4, Start: 5}, {Group: "main", Nodes: 2, Start: 5}},
			Limits: []grid.Credits{grid.Credit, grid.Credit}}
	}
	leg := func(seq uint64, i int) grid.LegID { return grid.LegID{Tx: id(seq), Leg: i} }
	why := grid.Reason{Code: grid.Busy, Detail: "in use"}
	repair, move := begun(2), begun(3)
	repair.Repairs, repair.Sites, repair.Legs = leg(1, 1), []string{"west"}, repair.Legs[:1]
	move.Request.Nodes = 4
	var turns Turns
	for i, x := range []struct {
		fact agents.Fact
		want What
		site string
	}{
		{facts.JobSubmitted{Job: grid.Job{Name: "wave"}}, Submitted, ""},
		{facts.SubmissionRefused{Job: "wave", Reason: why}, NotTaken, ""},
		{facts.JobPostponed{Job: "wave", Reason: why}, Postponed, ""},
		{facts.JobPostponed{Job: "wave", Reason: why, Final: true}, Abandoned, ""},
		{facts.Gathered{Job: "wave", Acts: []facts.GatherAct{{Do: "submit", Value: 600}}, State: grid.Gathering{Parts: []grid.GatheringPart{{Site: "north"}}}}, Gathering, ""},
		{begun(1), Trying, ""},
		{facts.LegPriced{Leg: leg(1, 0), Fare: grid.Fare{Base: 5}}, Priced, "north"},
		{facts.TxDecided{Tx: id(1), Job: "wave", Commit: true}, Placed, ""},
		{facts.LegClosed{Leg: leg(1, 0), Commit: true, Posted: 5}, Confirmed, "north"},
		{facts.LegStarted{Leg: leg(1, 0)}, Started, "north"},
		{facts.LegDone{Leg: leg(1, 1), State: grid.Lost, Refund: 3, Penalty: 1, Reason: why}, LegLost, "south"},
		{repair, Trying, ""},
		{facts.TxDecided{Tx: id(2), Job: "wave", Commit: true}, Repaired, ""},
		{facts.LegClosed{Leg: leg(2, 0), Reason: why}, LegLost, "west"},
		{facts.LegDone{Leg: leg(1, 0), State: grid.Settled, End: 9}, LegEnded, "north"},
		{move, Trying, ""},
		{facts.TxDecided{Tx: id(3), Job: "wave", Commit: true}, Moved, ""},
		{facts.LegDone{Leg: leg(3, 1), State: grid.Released, Refund: 2}, LegEnded, "south"},
		{facts.TxReversed{Tx: id(3), Job: "wave", Reason: why}, Reversed, ""},
		{begun(4), Trying, ""},
		{facts.TxDecided{Tx: id(4), Job: "wave", Reason: why}, TryFailed, ""},
		{facts.JobBroken{Job: "wave", Reason: why}, Broken, ""},
		{facts.JobCancelled{Job: "wave"}, Withdrawn, ""},
		{facts.JobsForgotten{Jobs: []string{"wave"}}, Forgotten, ""},
	} {
		got := turns.Take(grid.Time(i), x.fact)
		if len(got) == 0 || got[0].What != x.want || got[0].Job != "wave" || got[0].Site != x.site || got[0].At != grid.Time(i) || got[0].Words == "" {
			t.Errorf("%s: %+v, want %s of wave at %q", x.fact.Kind(), got, x.want, x.site)
		}
		if ends := len(got) == 2 && got[1].What == Done; ends != (x.want == LegEnded && x.site == "north") {
			t.Errorf("%s: %+v; its window is over with the last leg", x.fact.Kind(), got)
		}
	}
	for _, f := range []agents.Fact{facts.LegClosed{Leg: leg(4, 0), Reason: why}, facts.CycleSeen{}, facts.SiteJoined{}, facts.TxForgotten{Txs: []grid.TxID{id(1)}}} {
		if got := turns.Take(0, f); len(got) > 0 {
			t.Errorf("%s: %+v", f.Kind(), got)
		}
	}
	if got := turns.Take(0, facts.LegStarted{Leg: leg(1, 0)}); len(got) != 1 || got[0].Job != "" {
		t.Errorf("of a forgotten transaction: %+v", got)
	}
}

// An image tells to whom the legs belong of transactions that began before it, even if
// they are in an earlier part of it.
func TestTurns_GoOnFromAnImage(t *testing.T) {
	t.Parallel()
	id := grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}
	var turns Turns
	turns.Take(0, facts.BrokerImage{Txs: []facts.TxMemory{{}}}) // which the next one makes forgotten
	turns.Take(0, facts.BrokerImage{Parts: 2, Txs: []facts.TxMemory{{State: grid.TxCommitted, Memory: make([]facts.LegRecord, 1),
		TxBegun: facts.TxBegun{Tx: id, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main", Nodes: 4}}}}}})
	turns.Take(0, facts.BrokerImage{Part: 1, Parts: 2})
	if len(turns.txs) != 1 {
		t.Errorf("%d transactions are remembered", len(turns.txs))
	}
	got := turns.Take(5, facts.LegDone{Leg: grid.LegID{Tx: id}, State: grid.Settled})
	if len(got) != 2 || got[0].Job != "wave" || got[1].What != Done {
		t.Errorf("%+v", got)
	}
}

// The parts of a transaction that was adopted are named as they are listed, in
// whatever order, and those of which nothing is known are left out.
func TestTurns_NameAdoptedParts(t *testing.T) {
	t.Parallel()
	var turns Turns
	id := grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}
	adopt := func(leg, nodes int, site string) {
		turns.Take(0, facts.LegAdopted{Leg: grid.LegID{Tx: id, Leg: leg}, Site: site, Job: "wave",
			What: grid.Leg{Group: "main", Nodes: nodes, Start: 60, End: 90}, Fare: grid.Fare{Base: 5 * grid.Credit}})
	}
	adopt(3, 2, "south")
	adopt(1, 4, "north")
	got := turns.Take(0, facts.TxDecided{Tx: id, Job: "wave", Commit: true})
	if len(got) != 1 || got[0].Words != "placed: 4 nodes of north/main, 2 nodes of south/main, for 10 credits" || got[0].Start != 60 {
		t.Errorf("%+v", got)
	}
	if got := turns.Take(0, facts.LegStarted{Leg: grid.LegID{Tx: id, Leg: 3}}); len(got) != 1 || got[0].Site != "south" {
		t.Errorf("%+v", got)
	}
}

// A view with access to the broker learns from it about transactions that began before it
// listened, and keeps no memory of them.
func TestTurns_AskWhoKnowsTheTransactions(t *testing.T) {
	t.Parallel()
	id := grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}
	known := Transaction{Tx: id, Job: "wave", Legs: []Leg{{Site: "north", What: grid.Leg{Group: "main", Nodes: 4, Start: 5}, Fare: grid.Fare{Base: 7 * grid.Credit}}},
		Open: 1, Commit: true, Becomes: Becomes(grid.LegID{Tx: id, Leg: 1}, false)}
	turns := Turns{Find: func(x grid.TxID) (Transaction, bool) { return known, x == id }}
	leg := grid.LegID{Tx: id}
	for _, c := range []struct {
		fact  agents.Fact
		want  What
		words grid.Phrase
	}{
		{facts.TxBegun{Tx: id, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{known.Legs[0].What}}, Trying, "asks to hold 4 nodes of north/main, for at most 0 credits"},
		{facts.TxDecided{Tx: id, Job: "wave", Commit: true}, Repaired, "repaired: 4 nodes of north/main, for 7 credits"},
		{facts.LegClosed{Leg: leg, Reason: grid.Because(grid.Busy, "in use")}, LegLost, "its part at north is gone, nothing was paid for it: in use"},
		{facts.LegStarted{Leg: leg}, Started, "runs at north"},
	} {
		got := turns.Take(1, c.fact)
		if len(got) != 1 || got[0].What != c.want || got[0].Words != c.words || got[0].Job != "wave" {
			t.Errorf("%s: %+v, want %s, %q", c.fact.Kind(), got, c.want, c.words)
		}
	}
	if len(turns.txs) > 0 {
		t.Errorf("%d transactions are remembered", len(turns.txs))
	}
	if got := turns.Take(1, facts.LegStarted{Leg: grid.LegID{Tx: grid.TxID{Seq: 9}}}); len(got) != 1 || got[0].Job != "" {
		t.Errorf("of an unknown transaction: %+v", got)
	}
}

// A turn says where a leg with a window lies, once its site has said so.
func TestTurns_AWindowStartsWhereItsSiteHasPlacedIt(t *testing.T) {
	t.Parallel()
	id := grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}
	var turns Turns
	turns.Take(0, facts.TxBegun{Tx: id, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main", Nodes: 4, Start: 5, End: 9}}})
	turns.Take(0, facts.LegPriced{Leg: grid.LegID{Tx: id}, Start: 7, End: 11})
	if got := turns.Take(0, facts.TxDecided{Tx: id, Job: "wave", Commit: true}); len(got) != 1 || got[0].What != Placed || got[0].Start != 7 {
		t.Errorf("%+v, want placed at 7", got)
	}
}

// A window of which a part was repaired is over with the last of what makes it up, in
// whatever order that ends, also from an image on and where somebody else knows the parts.
func TestTurns_ARepairedWindowIsOverWithItsLastPart(t *testing.T) {
	t.Parallel()
	id := func(seq uint64) grid.TxID { return grid.TxID{Broker: "vo1", Incarnation: 1, Seq: seq} }
	leg := func(seq uint64, i int) grid.LegID { return grid.LegID{Tx: id(seq), Leg: i} }
	first := facts.TxBegun{Tx: id(1), Job: "wave", Sites: []string{"north", "south"}, Legs: make([]grid.Leg, 2), Limits: make([]grid.Credits, 2)}
	repair := facts.TxBegun{Tx: id(2), Job: "wave", Sites: []string{"west"}, Legs: make([]grid.Leg, 1), Limits: make([]grid.Credits, 1), Repairs: leg(1, 1)}
	recorded := []agents.Fact{first, facts.TxDecided{Tx: id(1), Job: "wave", Commit: true}, facts.LegDone{Leg: leg(1, 1), State: grid.Lost},
		repair, facts.TxDecided{Tx: id(2), Job: "wave", Commit: true}}
	image := facts.BrokerImage{Txs: []facts.TxMemory{
		{TxBegun: first, State: grid.TxCommitted, Memory: []facts.LegRecord{{State: grid.Confirmed}, {State: grid.Lost}}},
		{TxBegun: repair, State: grid.TxCommitted, Memory: []facts.LegRecord{{State: grid.Confirmed}}}}}
	for name, begin := range map[string]func(*Turns){
		"from the facts": func(x *Turns) {
			for _, f := range recorded {
				x.Take(0, f)
			}
		},
		"from an image": func(x *Turns) { x.Take(0, image) },
		"by a broker": func(x *Turns) {
			open := 2
			x.Find = func(of grid.TxID) (Transaction, bool) { // it is asked after each end
				open--
				return Transaction{Tx: of, Job: "wave", Commit: true, Others: open, Becomes: Placed}, true
			}
		},
	} {
		for _, order := range [][2]grid.LegID{{leg(1, 0), leg(2, 0)}, {leg(2, 0), leg(1, 0)}} {
			var turns Turns
			begin(&turns)
			for i, l := range order {
				got := turns.Take(9, facts.LegDone{Leg: l, State: grid.Settled, End: 9})
				if over := len(got) == 2 && got[1].What == Done; over != (i == 1) {
					t.Errorf("%s, after %d of the parts %v: %+v", name, i+1, order, got)
				}
			}
		}
	}
	var turns Turns
	for _, f := range append(recorded, facts.TxReversed{Tx: id(2), Job: "wave"}) {
		turns.Take(0, f)
	}
	if got := turns.Take(9, facts.LegDone{Leg: leg(1, 0), State: grid.Settled}); len(got) != 2 {
		t.Errorf("a repair that was taken back is waited for: %+v", got)
	}
}
