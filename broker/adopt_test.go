package broker

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

// The legs of a window of several have one start, which no site moves alone.
func TestAdopted_AWindowToMoveInIsOfOneLegAlone(t *testing.T) {
	t.Parallel()
	b := New(testConfig(newFakeSite("north", 4, bourse.Price(bourse.Credit)), newFakeSite("south", 4, bourse.Price(bourse.Credit))))
	tx := bourse.TxID{Broker: b.cfg.Name, Incarnation: 1, Nonce: 1, Seq: 1}
	f := bourse.LegAdopted{Leg: bourse.LegID{Tx: tx}, Site: "north", Job: "wave", State: bourse.Confirmed,
		What: bourse.Leg{Group: "main", Nodes: 4, Start: 100 * sec, End: 200 * sec}, Flex: bourse.Flex{Ready: 100 * sec, Due: 900 * sec}}
	b.Replay(0, f)
	if got := b.txs.get(tx).flex; got != f.Flex {
		t.Errorf("alone it may be moved within %v, want %v", got, f.Flex)
	}
	f.Leg.Leg, f.Site = 1, "south"
	b.Replay(0, f)
	if got := b.txs.get(tx).flex; got != (bourse.Flex{}) {
		t.Errorf("one of two may be moved within %v", got)
	}
}
