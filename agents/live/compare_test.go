package live

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

// A process whose clock more others contradict than confirm waits, and so does
// one whose journal ends in its future; what is said names who, by how much and
// the remedy.
func TestCompare_WhoMayBegin(t *testing.T) {
	t.Parallel()
	const now = grid.Time(1_700_000_000_000)
	off := func(list ...time.Duration) (of []opinion) {
		for i, d := range list {
			of = append(of, opinion{peer: agents.ID("site:" + string(rune('a'+i))), off: d})
		}
		return of
	}
	past := Latest{"site:north", now.Add(-grid.Day)}
	for _, c := range []struct {
		name string
		s    situation
		kind string
		says []string // nil: the agents begin
	}{
		{"no fact", situation{opinions: off(time.Hour), peers: 1}, fresh, nil},
		{"nobody has answered yet", situation{latest: past, peers: 2, patience: 10 * time.Second, waited: 9 * time.Second}, unasked, []string{"0 of 2", "in 1s"}},
		{"nobody answers", situation{latest: past, peers: 2, patience: 10 * time.Second, waited: 10 * time.Second}, alone, nil},
		{"nobody answers, and windows have passed", situation{latest: past, peers: 2, patience: 10 * time.Second, long: time.Hour, waited: 10 * time.Minute, passed: 144}, cutOff, []string{"144 windows", "in 50m0s", "wait = \"0s\""}},
		{"nobody answers for long, and windows have passed", situation{latest: past, peers: 2, patience: 10 * time.Second, long: time.Hour, waited: time.Hour, passed: 144}, alone, nil},
		{"somebody agrees, though windows have passed", situation{latest: past, opinions: off(0), peers: 1, patience: 10 * time.Second, long: time.Hour, waited: 10 * time.Minute, passed: 144}, agreed, nil},
		{"nobody is asked, though windows have passed", situation{latest: past, peers: 2, long: time.Hour, passed: 144}, unwanted, nil},
		{"nobody is asked", situation{latest: past, peers: 2}, unwanted, nil},
		{"most agree", situation{latest: past, opinions: off(0, 0), peers: 3, patience: 10 * time.Second}, agreed, nil},
		{"half of those known", situation{latest: past, opinions: off(0), peers: 2, patience: 10 * time.Second}, unasked, []string{"1 of 2"}},
		{"half, and the others are silent", situation{latest: past, opinions: off(0), peers: 2, patience: 10 * time.Second, gathered: gather}, agreed, nil},
		{"two hours ahead", situation{latest: past, opinions: off(-2 * time.Hour), peers: 1, patience: 10 * time.Second, waited: time.Hour}, disagree, []string{"that of site:a is 2h0m0s behind it", "set the clock right"}},
		{"one of three is with it", situation{latest: past, opinions: off(0, 5*time.Second, 5*time.Second), peers: 3, patience: 10 * time.Second, waited: time.Hour}, disagree, []string{"site:b is 5s ahead of it", "site:c"}},
		{"one against one", situation{latest: past, opinions: off(0, time.Hour), peers: 2, patience: 10 * time.Second, waited: 10 * time.Second}, undecided, nil},
		{"within the skew", situation{latest: past, opinions: off(2 * time.Second), peers: 1, patience: 10 * time.Second}, agreed, nil},
		{"a slow answer", situation{latest: past, opinions: []opinion{{peer: "site:a", off: 3 * time.Second, slack: time.Second}}, peers: 1, patience: 10 * time.Second}, agreed, nil},
		{"a journal of the future", situation{latest: Latest{"site:north", now.Add(2 * grid.Hour)}, patience: 10 * time.Second, waited: time.Hour}, future,
			[]string{"site:north", "2h0m0s later", "rebase", "goes on by itself"}},
		{"the same, and others agree with the clock", situation{latest: Latest{"site:north", now.Add(2 * grid.Hour)}, opinions: off(0), peers: 1, patience: 10 * time.Second}, wrongOnce,
			[]string{"site:a agrees with this clock", "bourse journal rebase"}},
		{"a journal two seconds ahead", situation{latest: Latest{"site:north", now.Add(2 * grid.Second)}, opinions: off(0), peers: 1, patience: 10 * time.Second}, agreed, nil},
	} {
		c.s.now = now
		kind, why := c.s.judge()
		if kind != c.kind || (why == nil) != (c.says == nil) {
			t.Errorf("%s: %s, %v; want %s", c.name, kind, why, c.kind)
		}
		for _, text := range c.says {
			if why == nil || !strings.Contains(why.Error(), text) {
				t.Errorf("%s: %v does not say %q", c.name, why, text)
			}
		}
	}
}

// Before Begin an agent receives neither Started nor due alarms, and its journal does not
// change. If the clock is set right during that time, the host notices at once.
func TestHost_NothingHappensBeforeBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wall, disk := &wallClock{}, &journal.Memory{}
		h, _ := hosting(t, disk, Options{Now: wall.now})
		give(t, h, 1)
		stop(t, h)
		before := h.Now()

		wall.set(2 * time.Hour)
		h, _ = hosting(t, disk, Options{Now: wall.now, Wait: true})
		time.Sleep(time.Minute)
		if _, err := h.Ask(t.Context(), "user:ana", toy, put{1}); err == nil || !strings.Contains(err.Error(), "compares its clock") {
			t.Errorf("an agent that has not begun answers: %v", err)
		}
		e, err := wire.Encode("broker:vo1", toy, agents.OfferRequest{Cycle: 1, Horizon: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if h.Deliver(e) || h.Stats().Waiting != 1 {
			t.Errorf("what comes from the network is taken: %+v", h.Stats())
		}
		if at := instants(t, h); len(at) != 0 {
			t.Errorf("handed something at %v", at)
		}
		if l := h.Latest(); l.Agent != toy || l.At > before {
			t.Errorf("the last fact is %+v", l)
		}
		names, _ := disk.Names()
		stop(t, h)
		if after, _ := disk.Names(); len(after) != len(names) {
			t.Errorf("it has written %v", after)
		}

		h, _ = hosting(t, disk, Options{Now: wall.now, Wait: true})
		time.Sleep(time.Minute)
		wall.set(0)
		h.Begin()
		h.Begin()
		synctest.Wait()
		if at := instants(t, h); len(at) != 1 || at[0] > before.Add(3*grid.Minute) {
			t.Errorf("it began at %v, a clock two hours ahead has been set right before", at)
		}
		if m := give(t, h, 2); m.Sum != 3 {
			t.Errorf("the purse has %d", m.Sum)
		}
		stop(t, h)
	})
}

// beginning starts a node of an agent over a host with a purse on a disk; patience is
// for Begin, whose end comes by the channel.
func beginning(t *testing.T, memory *memoryNetwork, name agents.ID, disk journal.Disk, wall *wallClock, patience time.Duration, seeds ...string) (*Host, *Node, chan error) {
	t.Helper()
	h, _ := hosting(t, disk, Options{Now: wall.now, Wait: true})
	n, err := StartNode(NodeOptions{Name: name, Host: h, Begins: h, network: memory, Log: zerolog.Nop(),
		Gossip: gossip.Options{Label: "vo", Profile: "fast", Seeds: seeds}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	begun := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() { begun <- n.Begin(ctx, patience, time.Hour) }()
	return h, n, begun
}

// A site that starts two hours ahead of its broker waits and says so. Until its clock is
// set right nobody asks it anything; then it begins by itself.
func TestCompare_ASiteWithAWrongClockWaits(t *testing.T) {
	t.Parallel()
	memory, disk := newMemory(), &journal.Memory{}
	right := &wallClock{}
	h, _ := hosting(t, disk, Options{})
	give(t, h, 1)
	stop(t, h)

	broker, vo, begun := beginning(t, memory, "broker:vo", &journal.Memory{}, right, time.Minute)
	defer stop(t, broker)
	if err := <-begun; err != nil { // it has no fact yet
		t.Fatal(err)
	}
	wrong := &wallClock{}
	wrong.set(2 * time.Hour)
	h, n, begun := beginning(t, memory, "site:north", disk, wrong, time.Minute, vo.Gossip())
	eventually(t, 20*time.Second, "it says what is wrong", func() bool {
		why := n.Waiting()
		return why != nil && strings.Contains(why.Error(), "that of broker:vo is 2h0m0s behind it")
	})
	if at := instants(t, h); len(at) != 0 {
		t.Errorf("handed something at %v", at)
	}
	if m, _ := vo.directory.Find("site:north"); m.Flags&members.Waiting == 0 {
		t.Errorf("others are not told that it waits: %+v", m)
	}
	wrong.set(0)
	if err := <-begun; err != nil || n.Waiting() != nil {
		t.Errorf("%v, %v", err, n.Waiting())
	}
	eventually(t, 20*time.Second, "others hear that it has begun", func() bool {
		m, ok := vo.directory.Find("site:north")
		return ok && m.Flags&members.Waiting == 0
	})
	if m := give(t, h, 2); m.Sum != 3 {
		t.Errorf("the purse has %d", m.Sum)
	}
	stop(t, h)
}

// An answer counts once, of whom was asked only, and to a question of this life.
func TestCompare_AnswersAreOfWhomWasAsked(t *testing.T) {
	t.Parallel()
	h, _ := hosting(t, &journal.Memory{}, Options{Wait: true})
	defer stop(t, h)
	c := newClocks(&Node{opt: NodeOptions{Name: "site:north", Host: h, Begins: h}})
	now := time.Now()
	c.asked[7] = clockQuestion{"broker:vo", now, h.Now()}
	for _, m := range []*wire.ClockReply{{From: "broker:vo", Nonce: 8}, {From: "broker:other", Nonce: 7}, {From: "broker:vo", Nonce: 7, Now: 1 << 62}} {
		if c.heard(m); len(c.opinions) != 0 {
			t.Errorf("%v is believed", m)
		}
	}
	c.heard(&wire.ClockReply{From: "broker:vo", Nonce: 7, Now: int64(h.Now())})
	c.heard(&wire.ClockReply{From: "broker:vo", Nonce: 7, Now: int64(h.Now().Add(grid.Hour))})
	if list, _ := c.fresh(now); len(list) != 1 || !list[0].agrees() {
		t.Errorf("opinions %+v", list)
	}
	if list, _ := c.fresh(now.Add(2 * freshFor)); len(list) != 0 {
		t.Errorf("an old one counts: %+v", list)
	}
}
