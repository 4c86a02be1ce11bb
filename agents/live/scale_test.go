package live

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/gossip"
)

var scaleMembers = flag.Int("members", 200, "so many processes gossip in TestScale; beyond 200 it is slow")

// 200 sites in one process, started at once, find each other, and all notice one
// that is killed: within 2 s with the fast profile, 20 s with LAN timings. Time
// is virtual, so that a machine too slow for 200 processes does not count for a
// slow network.
func TestScale_200MembersFindEachOtherAndMissOneKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile string
		bound   time.Duration
	}{{"fast", 2 * time.Second}, {"lan", 20 * time.Second}} {
		t.Run(c.profile, func(t *testing.T) {
			t.Parallel()
			members, bound := *scaleMembers, c.bound
			if members > 200 { // what is known of so many takes longer to spread
				bound *= 3
			}
			if testing.Short() || raceEnabled {
				members = 50
			}
			bubble(t, func(t *testing.T) { scale(t, c.profile, members, bound) })
		})
	}
}

func scale(t *testing.T, profile string, members int, bound time.Duration) {
	memory, start := newMemory(), time.Now()
	list := []testNode{startPeer(t, NodeOptions{Name: "broker:vo", network: memory, Gossip: gossip.Options{Profile: profile}})}
	for i := range members - 1 {
		seed := list[i/8].Gossip()
		list = append(list, startPeer(t, NodeOptions{Name: agents.ID(fmt.Sprintf("site:s%03d", i)), network: memory, Gossip: gossip.Options{Profile: profile}}, seed))
	}
	eventually(t, bound, "all know all", func() bool {
		return !slices.ContainsFunc(list, func(p testNode) bool { return p.size() != members })
	})
	found := time.Since(start)
	if members > 200 {
		time.Sleep(time.Minute) // until the news of all has been told often enough
		packets, bytes := memory.packets.Load(), memory.bytes.Load()
		time.Sleep(10 * time.Second)
		packets, bytes = memory.packets.Load()-packets, memory.bytes.Load()-bytes
		t.Logf("at rest a member sends %.1f packets and %.0f bytes a second", float64(packets)/10/float64(members), float64(bytes)/10/float64(members))
	}
	victim := list[len(list)/2]
	victim.Close()
	others := slices.DeleteFunc(list, func(p testNode) bool { return p.Node == victim.Node })
	took := eventually(t, bound, "all miss the one killed", func() bool {
		return !slices.ContainsFunc(others, func(p testNode) bool { return p.knows(victim.opt.Name) })
	})
	t.Logf("%d members found each other in %v and missed one killed after %v", members, found, took)
	for _, p := range others {
		if p.size() != members-1 {
			t.Errorf("%s knows %d of %d others", p.opt.Name, p.size(), members-1)
		}
	}
	if broker := others[0]; broker.heard(agents.SiteLeft{Site: victim.opt.Name}) != 1 {
		t.Error("the broker was not told")
	}
}

// bubble runs a test of nodes over a network in memory in virtual time, and some more of it
// afterwards, in which what memberlist has begun runs out.
func bubble(t *testing.T, test func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) })
		test(t)
	})
}

func (p testNode) size() int {
	return len(p.directory.Members())
}
