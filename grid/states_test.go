package grid

import (
	"slices"
	"strings"
	"testing"
)

func TestJobState_EachNameIsReadBack(t *testing.T) {
	t.Parallel()
	list := JobStates()
	if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) != AllJobStates {
		t.Errorf("%v has not each of the %d states once", list, AllJobStates)
	}
	for _, s := range list {
		if got, ok := ParseJobState(s.String()); !ok || got != s {
			t.Errorf("%v is read as %v, %t", s, got, ok)
		}
		if s.Queued() && !s.Open() || s.Open() && s.GivenUp() {
			t.Errorf("%v: queued %t, open %t, given up %t", s, s.Queued(), s.Open(), s.GivenUp())
		}
		if ways := []bool{s.Open(), s.Ended(), s.GivenUp()}; !slices.Contains(ways, true) || len(slices.DeleteFunc(ways, func(is bool) bool { return !is })) != 1 {
			t.Errorf("%v is not one of open, ended and given up", s)
		}
		if s.Says() == "" {
			t.Errorf("%v is not explained", s)
		}
	}
	if _, ok := ParseJobState("lost"); ok {
		t.Error("a job is never lost")
	}
}

// The rows of a broker's table in the document are exactly the moves of the code.
func TestTxState_MovesAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	written := writtenMoves(t, "| B", txStates[:], strings.NewReplacer("undecided", "holding, preparing"))
	for s := TxHolding; s <= TxAborted; s++ {
		for next := TxHolding; next <= TxAborted; next++ {
			if want := slices.Contains(written[s.String()], next.String()); s.CanMove(next) != want {
				t.Errorf("%v to %v: the code says %t, the document %t", s, next, s.CanMove(next), want)
			}
		}
		if s.Decided() != (s == TxCommitted || s == TxAborted) {
			t.Errorf("%v: decided is %t", s, s.Decided())
		}
	}
}
