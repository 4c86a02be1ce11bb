package agents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A proof is bound to one key, one leg, one content, one state and one stamp. None of
// these can be changed.
func TestProof_BindsAllThatIsRestored(t *testing.T) {
	t.Parallel()
	key := DerivedKey(7, "north")
	leg := ListedLeg{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 2, Nonce: 9, Seq: 4}, Leg: 1},
		What: grid.Leg{Group: "main", Nodes: 4, Start: 1000, End: 2000, Work: 5}, Job: "wave", User: "ana", State: grid.Released,
		Fare: grid.Fare{Base: 40, Additive: 2}, Version: 3, Refund: 30, Penalty: 1}
	leg.Proof = key.Prove(&leg, Stamp{Epoch: 11, Seq: 70, From: 60})
	if want := (grid.Proof{State: grid.Released, Epoch: 11, Seq: 70, MAC: leg.Proof.MAC}); leg.Proof != want || !key.Proves(&leg) {
		t.Fatalf("%+v, proved: %t", leg.Proof, key.Proves(&leg))
	}
	for name, change := range map[string]func(*ListedLeg){
		"broker":      func(l *ListedLeg) { l.Leg.Tx.Broker = "vo2" },
		"incarnation": func(l *ListedLeg) { l.Leg.Tx.Incarnation++ },
		"nonce":       func(l *ListedLeg) { l.Leg.Tx.Nonce++ },
		"sequence":    func(l *ListedLeg) { l.Leg.Tx.Seq++ },
		"leg":         func(l *ListedLeg) { l.Leg.Leg++ },
		"group":       func(l *ListedLeg) { l.What.Group = "mai" },
		"nodes":       func(l *ListedLeg) { l.What.Nodes++ },
		"start":       func(l *ListedLeg) { l.What.Start++ },
		"end":         func(l *ListedLeg) { l.What.End++ },
		"work":        func(l *ListedLeg) { l.What.Work++ },
		"base":        func(l *ListedLeg) { l.Fare.Base-- },
		"additive":    func(l *ListedLeg) { l.Fare.Additive-- },
		"version":     func(l *ListedLeg) { l.Version++ },
		"refund":      func(l *ListedLeg) { l.Refund++ },
		"penalty":     func(l *ListedLeg) { l.Penalty++ },
		"state":       func(l *ListedLeg) { l.Proof.State = grid.Confirmed },
		"epoch":       func(l *ListedLeg) { l.Proof.Epoch++ },
		"stamp":       func(l *ListedLeg) { l.Proof.Seq++ },
		"digest":      func(l *ListedLeg) { l.Proof.MAC[15] ^= 1 },
	} {
		x := leg
		if change(&x); key.Proves(&x) {
			t.Errorf("with another %s it is still proved", name)
		}
	}
	if DerivedKey(8, "north").Proves(&leg) || DerivedKey(7, "south").Proves(&leg) || Key(nil).Proves(&leg) {
		t.Error("another key proves it too")
	}
}

// States from which nothing can be restored are not proved, nor is anything without a key,
// whose proofs anybody could make.
func TestProof_ThereIsNoneOfWhatIsNotRestored(t *testing.T) {
	t.Parallel()
	for state := grid.Asked; state <= grid.Lost; state++ {
		l := ListedLeg{State: state}
		want := map[grid.LegState]grid.LegState{grid.Held: grid.Held, grid.Prepared: grid.Held, grid.Confirmed: grid.Confirmed,
			grid.Running: grid.Confirmed, grid.Released: grid.Released, grid.Lost: grid.Lost}[state]
		if got := DerivedKey(1, "north").Prove(&l, Stamp{Epoch: 1}).State; got != want {
			t.Errorf("of %v it proves %v, want %v", state, got, want)
		}
		l.Proof = Key(nil).Prove(&l, Stamp{Epoch: 1})
		if l.Proof != (grid.Proof{}) || Key(nil).Proves(&l) {
			t.Errorf("without a key %v is proved by %v", state, l.Proof)
		}
	}
}

func TestKey_IsNotPrinted(t *testing.T) {
	t.Parallel()
	key := DerivedKey(1, "north")
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, struct{ Key Key }{key}); !strings.Contains(text, "(a key)") {
			t.Errorf("%s prints %s", format, text)
		}
	}
}
