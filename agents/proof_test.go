package agents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse"
)

// A proof is bound to one key, one leg, one content, one state and one stamp. None of
// these can be changed.
func TestProof_BindsAllThatIsRestored(t *testing.T) {
	t.Parallel()
	key := DerivedKey(7, "north")
	leg := ListedLeg{Leg: bourse.LegID{Tx: bourse.TxID{Broker: "vo1", Incarnation: 2, Nonce: 9, Seq: 4}, Leg: 1},
		What: bourse.Leg{Group: "main", Nodes: 4, Start: 1000, End: 2000, Work: 5}, Job: "wave", User: "ana", State: bourse.Released,
		Fare: bourse.Fare{Base: 40, Additive: 2}, Version: 3, Refund: 30, Penalty: 1}
	leg.Proof = key.Prove(&leg, Stamp{Epoch: 11, Seq: 70, From: 60})
	if want := (bourse.Proof{State: bourse.Released, Epoch: 11, Seq: 70, MAC: leg.Proof.MAC}); leg.Proof != want || !key.Proves(&leg) {
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
		"state":       func(l *ListedLeg) { l.Proof.State = bourse.Confirmed },
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

// What there is nothing to restore from is not proved, nor anything without a key,
// whose proofs anybody could make.
func TestProof_ThereIsNoneOfWhatIsNotRestored(t *testing.T) {
	t.Parallel()
	for state := bourse.Asked; state <= bourse.Lost; state++ {
		l := ListedLeg{State: state}
		want := map[bourse.LegState]bourse.LegState{bourse.Held: bourse.Held, bourse.Prepared: bourse.Held, bourse.Confirmed: bourse.Confirmed,
			bourse.Running: bourse.Confirmed, bourse.Released: bourse.Released, bourse.Lost: bourse.Lost}[state]
		if got := DerivedKey(1, "north").Prove(&l, Stamp{Epoch: 1}).State; got != want {
			t.Errorf("of %v it proves %v, want %v", state, got, want)
		}
		l.Proof = Key(nil).Prove(&l, Stamp{Epoch: 1})
		if l.Proof != (bourse.Proof{}) || Key(nil).Proves(&l) {
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
