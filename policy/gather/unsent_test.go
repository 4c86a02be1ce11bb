package gather

import "testing"

// A submission that has failed, as without a network, is not refused by anybody: it may fail as often
// as it likes, and the job is not given up for it.
func TestUnsent_IsNoDenial(t *testing.T) {
	t.Parallel()
	g := New(Order{Length: 3600, Waste: WasteUnit / 5, Deadline: 86_400, Parts: []Part{{Nodes: 4, Cluster: 8}, {Nodes: 8, Cluster: 8}}})
	for k := range 2 * mostDenials {
		at := int64(k) * 120
		g.Round(Look{At: at, Room: []int{1, 1}})
		if n := g.Pilot(1); n != k {
			t.Fatalf("at %d its pilot is %d, must be %d", at, n, k)
		}
		g.Round(Look{At: at + 60, Room: []int{1, 1}, Pilots: []Sight{{Part: 1, Pilot: k, State: Unsent, Begin: Never, Words: "no connection"}}})
	}
	if g.Phase() != Gathering || g.Spent() != 0 {
		t.Errorf("it is in phase %d, %d node-seconds are spent", g.Phase(), g.Spent())
	}
}

// A pilot that was seen to begin is not believed never to have begun, as a cluster says that has lost
// its memory: all that it was granted counts.
func TestOver_WhatWasSeenToBeginCounts(t *testing.T) {
	t.Parallel()
	g := New(Order{Length: 3600, Waste: WasteUnit / 5, Deadline: 86_400, Parts: []Part{{Nodes: 4, Cluster: 8}, {Nodes: 8, Cluster: 8}}})
	g.Round(Look{At: 0})
	g.Round(Look{At: 60, Pilots: []Sight{{Part: 1, State: Running, Begin: 20}}})
	g.Withdraw(70)
	g.Seen(Sight{Part: 1, State: Ended, Begin: Never}, Sight{Part: 0, State: Ended, Begin: Never})
	if s := g.Spent(); s != 8*90 {
		t.Errorf("spent %d", s)
	}
}

// A pilot that its manager has requeued has idled since it first began.
func TestOver_ARequeuedPilotIdledSinceItFirstBegan(t *testing.T) {
	t.Parallel()
	g := New(Order{Length: 3600, Waste: WasteUnit / 5, Deadline: 86_400, Parts: []Part{{Nodes: 4, Cluster: 8}, {Nodes: 8, Cluster: 8}}})
	g.Round(Look{At: 0})
	g.Round(Look{At: 60, Pilots: []Sight{{Part: 1, State: Running, Begin: 20}}})
	g.Withdraw(70)
	g.Seen(Sight{Part: 1, State: Ended, Begin: 75, End: 76}, Sight{Part: 0, State: Ended, Begin: Never})
	if s := g.Spent(); s != 8*56 {
		t.Errorf("spent %d", s)
	}
}
