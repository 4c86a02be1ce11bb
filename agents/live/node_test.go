package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// fakeHost is a host of one agent that only notes what it is given.
type fakeHost struct {
	mu      sync.Mutex
	network Network
	got     []*wire.Envelope
	told    []agents.Message
	full    bool // takes nothing
	stopped bool
}

func (d *fakeHost) Connect(n Network) { d.with(func() { d.network = n }) }

func (d *fakeHost) Deliver(e *wire.Envelope) (taken bool) {
	d.with(func() {
		if taken = !d.full; taken {
			d.got = append(d.got, e)
		}
	})
	return taken
}

func (d *fakeHost) Tell(_, _ agents.ID, m agents.Message) (err error) {
	d.with(func() {
		if d.full {
			err = errors.New("full")
		} else {
			d.told = append(d.told, m)
		}
	})
	return err
}

func (d *fakeHost) Stop(context.Context) error { d.with(func() { d.stopped = true }); return nil }

func (d *fakeHost) with(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	do()
}

// heard returns how often the broker has been told so of a site.
func (d *fakeHost) heard(m agents.Message) (n int) {
	d.with(func() {
		for _, told := range d.told {
			if told == m {
				n++
			}
		}
	})
	return n
}

func (d *fakeHost) received() (n int) {
	d.with(func() { n = len(d.got) })
	return n
}

// send sends m in the name of an agent.
func (d *fakeHost) send(t testing.TB, from, to agents.ID, m agents.Message) {
	t.Helper()
	e, err := wire.Encode(from, to, m)
	if err != nil {
		t.Fatal(err)
	}
	var n Network
	d.with(func() { n = d.network })
	n.Send(to, e)
}

// testNode is a node over a fakeHost.
type testNode struct {
	*Node
	*fakeHost
}

// startPeer starts a node with the fast profile, closed at the test's end.
func startPeer(t testing.TB, o NodeOptions, seeds ...string) testNode {
	t.Helper()
	d := &fakeHost{}
	o.Host, o.Gossip.Seeds = d, seeds
	if o.Gossip.Label == "" {
		o.Gossip.Label = "vo"
	}
	if o.Gossip.Profile == "" {
		o.Gossip.Profile = "fast"
	}
	if o.network == nil {
		o.Listen, o.Gossip.Listen, o.Plain = "127.0.0.1:0", "127.0.0.1:0", o.Transport.plain()
	}
	if testing.Verbose() && o.Log.GetLevel() == zerolog.TraceLevel {
		o.Log = zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.InfoLevel).With().Str("node", string(o.Name)).Timestamp().Logger()
	} else if !testing.Verbose() {
		o.Log = zerolog.Nop()
	}
	n, err := StartNode(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return testNode{n, d}
}

// eventually polls until ok, and fails the test after the time given.
func eventually(t testing.TB, within time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		took := time.Since(start)
		if ok() {
			return took
		}
		if took > within {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

func (p testNode) knows(id agents.ID) bool { _, ok := p.directory.Find(id); return ok }

// federation starts a broker and sites over a memory network, the first being
// the seed of all, and waits until all know all.
func federation(t testing.TB, memory *memoryNetwork, sites int, profile string) (broker testNode, list []testNode) {
	t.Helper()
	broker = startPeer(t, NodeOptions{Name: "broker:vo", network: memory, Gossip: gossip.Options{Profile: profile}})
	for i := range sites {
		list = append(list, startPeer(t, NodeOptions{Name: agents.ID(fmt.Sprintf("site:s%03d", i)), network: memory, Gossip: gossip.Options{Profile: profile}}, broker.Gossip()))
	}
	eventually(t, 30*time.Second, "all know all", func() bool {
		return !slices.ContainsFunc(append([]testNode{broker}, list...), func(p testNode) bool { return len(p.directory.Members()) != sites+1 })
	})
	return broker, list
}

// The broker is told of each site, and messages go both ways.
func TestNode_SitesThatJoinAreToldToTheBroker(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		broker, sites := federation(t, newMemory(), 1, "fast")
		site := sites[0]
		eventually(t, 10*time.Second, "the broker is told", func() bool { return broker.heard(agents.SiteJoined{Site: "site:s000"}) == 1 })
		broker.send(t, "broker:vo", "site:s000", agents.OfferRequest{Cycle: 1, Horizon: 5})
		eventually(t, 10*time.Second, "the request arrives", func() bool { return site.received() == 1 })
		site.send(t, "site:s000", "broker:vo", agents.Offers{Cycle: 1})
		eventually(t, 10*time.Second, "the offers arrive", func() bool { return broker.received() == 1 })
		for range 500 {
			broker.send(t, "broker:vo", "site:s000", agents.OfferRequest{Cycle: 2, Horizon: 5})
		}
		eventually(t, 10*time.Second, "500 more arrive in spite of the window", func() bool { return site.received() == 501 })
		if len(site.told) > 0 {
			t.Errorf("a site was told %v", site.told)
		}
		eventually(t, 5*time.Second, "all is acknowledged", func() bool {
			return broker.Node.Stats().Links.Peers[0] == PeerStats{Agent: "site:s000"}
		})
	})
}

// A site may start before those that it is to find.
func TestNode_SeedsNeedNotBeThereAtTheStart(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		memory := newMemory()
		site := startPeer(t, NodeOptions{Name: "site:north", network: memory}, "127.0.0.1:7777")
		time.Sleep(200 * time.Millisecond) // the first looks find nobody
		broker := startPeer(t, NodeOptions{Name: "broker:vo", network: memory, Gossip: gossip.Options{Listen: "127.0.0.1:7777"}})
		eventually(t, 10*time.Second, "they find each other", func() bool { return site.knows("broker:vo") && broker.knows("site:north") })
	})
}

// A site that leaves announces it, so the broker need not wait until the site is missed.
func TestNode_LeavingIsAnnouncedBeforeTheHostStops(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		broker, sites := federation(t, newMemory(), 3, "lan")
		took := eventually(t, 5*time.Second, "the broker is told of who leaves", func() func() bool {
			go func() { _ = sites[1].Leave(context.Background()) }()
			return func() bool { return broker.heard(agents.SiteLeft{Site: "site:s001"}) == 1 }
		}())
		t.Logf("told after %v with LAN timings", took)
		eventually(t, 5*time.Second, "its host is stopped", func() bool { return sites[1].halted() })
		eventually(t, 10*time.Second, "it is gone from all directories", func() bool {
			return !broker.knows("site:s001") && !sites[0].knows("site:s001") && !sites[2].knows("site:s001")
		})
		if err := sites[1].Leave(context.Background()); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("leaving twice: %v", err)
		}
	})
}

func (d *fakeHost) halted() (yes bool) {
	d.with(func() { yes = d.stopped })
	return yes
}

// A killed process announces nothing. With ten sites the broker finds out, as a rule, within 1 s
// with the fast profile and within 10 s with LAN timings, and sends to it then fail at once. Who
// asks whom is drawn, so the rule is that of most kills. No kill is missed later than the broker's
// own questions say, were it alone.
func TestNode_AKilledSiteIsMissed(t *testing.T) {
	t.Parallel()
	for profile, rule := range map[string]time.Duration{"fast": time.Second, "lan": 10 * time.Second} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				broker, sites := federation(t, newMemory(), 10, profile)
				worst, late := missedWithin(t, profile, 11), 0
				for i, s := range sites[:5] {
					s.Close()
					took := eventually(t, worst, "the broker is told", func() bool { return broker.heard(agents.SiteLeft{Site: s.opt.Name}) == 1 })
					t.Logf("missed after %v of at most %v", took, worst)
					if took > rule {
						late++
					}
					broker.send(t, "broker:vo", s.opt.Name, agents.OfferRequest{})
					if l := broker.Node.Stats().Links; l.Unknown != uint64(i+1) || len(l.Peers) != 0 {
						t.Errorf("a send to the dead: %+v", l)
					}
				}
				if late > 2 {
					t.Errorf("%d of 5 were missed later than %v", late, rule)
				}
			})
		})
	}
}

// missedWithin is the longest that one of n members can be dead and not missed by another, if no
// third one says a word. It is asked in turns of a drawn order, so at worst as the first of one
// turn and the last of the next; its silence is noticed an interval later, or two by one who was
// answered late before; and what nobody else confirms is believed after the longest suspicion.
func missedWithin(t *testing.T, profile string, n int) time.Duration {
	t.Helper()
	c, err := gossip.Options{Profile: profile, Label: "vo", Listen: "127.0.0.1:0"}.Config()
	if err != nil {
		t.Fatal(err)
	}
	asked := 2*(n-1) - 1
	believed := float64(c.SuspicionMaxTimeoutMult*c.SuspicionMult) * max(1, math.Log10(float64(n)))
	return time.Duration((float64(asked+2) + believed) * float64(c.ProbeInterval))
}

// A restarted site is used at once, at the same address or another, even if its earlier
// life has not been missed yet.
func TestNode_ARestartedSiteIsBackAtOnce(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		t.Run(fmt.Sprint("elsewhere=", elsewhere), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				memory := newMemory()
				broker, sites := federation(t, memory, 3, "lan")
				broker.send(t, "broker:vo", "site:s001", agents.OfferRequest{Cycle: 1})
				eventually(t, 5*time.Second, "the first life gets a message", func() bool { return sites[1].received() == 1 })
				o := NodeOptions{Name: "site:s001", network: memory, Life: sites[1].self.Life + 1, Gossip: gossip.Options{Profile: "lan"}}
				if !elsewhere {
					o.Listen, o.Gossip.Listen = sites[1].Address(), sites[1].Gossip()
				}
				sites[1].Close()
				again := startPeer(t, o, broker.Gossip())
				took := eventually(t, 5*time.Second, "the broker is told again", func() bool { return broker.heard(agents.SiteJoined{Site: "site:s001"}) == 2 })
				t.Logf("back after %v with LAN timings", took)
				broker.send(t, "broker:vo", "site:s001", agents.OfferRequest{Cycle: 2})
				eventually(t, 5*time.Second, "the new life gets a message", func() bool { return again.received() == 1 })
				if n := broker.heard(agents.SiteLeft{Site: "site:s001"}); n != 0 {
					t.Errorf("the broker was told %d times that it had left", n)
				}
			})
		})
	}
}

// Each side of a partition goes on by itself; healed, they find each other.
func TestNode_APartitionHeals(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		memory := newMemory()
		broker, sites := federation(t, memory, 5, "fast")
		away := map[string]bool{}
		for _, s := range sites[3:] {
			away[s.Gossip()], away[s.Address()] = true, true
		}
		memory.Cut(func(from, to string) bool { return away[from] != away[to] })
		eventually(t, 10*time.Second, "each side misses the other", func() bool {
			return len(broker.directory.Members()) == 4 && len(sites[4].directory.Members()) == 2
		})
		memory.Cut(nil)
		eventually(t, 20*time.Second, "all know all again", func() bool {
			return len(broker.directory.Members()) == 6 && len(sites[4].directory.Members()) == 6
		})
		eventually(t, 5*time.Second, "the broker is told", func() bool { return broker.heard(agents.SiteJoined{Site: "site:s004"}) >= 2 })
	})
}

// Of two living processes of one name the later one is used, and both say so. When it
// goes, the other one is used again.
func TestNode_OfTwoProcessesOfOneNameTheLaterIsUsed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		memory := newMemory()
		broker, sites := federation(t, memory, 2, "fast")
		twin := startPeer(t, NodeOptions{Name: "site:s000", network: memory, Life: sites[0].self.Life + 1000}, broker.Gossip())
		at := func(p testNode) func() bool {
			return func() bool { m, _ := broker.directory.Find("site:s000"); return m.Address == p.Address() }
		}
		eventually(t, 5*time.Second, "the later one is meant", at(twin))
		eventually(t, 5*time.Second, "both are warned", func() bool { return sites[0].Node.Stats().Rivals > 0 && twin.Node.Stats().Rivals > 0 })
		twin.Close()
		eventually(t, 10*time.Second, "the earlier one is meant again", at(sites[0]))
		if n := broker.heard(agents.SiteLeft{Site: "site:s000"}); n != 0 {
			t.Errorf("the broker was told %d times that it had left", n)
		}
	})
}

// A site's description of itself reaches the others; one that cannot be read is
// ignored and counted.
func TestNode_NewsSpreadAndGarbageIsIgnored(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		memory := newMemory()
		broker, sites := federation(t, memory, 2, "fast")
		if err := sites[0].announce(func(m *members.Member) { m.Digest = 77 }); err != nil {
			t.Fatal(err)
		}
		eventually(t, 5*time.Second, "the news arrive", func() bool {
			m, _ := broker.directory.Find("site:s000")
			return m.Digest == 77
		})
		if n := broker.heard(agents.SiteJoined{Site: "site:s000"}); n != 1 {
			t.Errorf("the broker was told %d times that it joined", n)
		}
		transport, err := memory.gossip("")
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := gossip.Start(gossip.Options{Listen: "127.0.0.1:0", Label: "vo", Profile: "fast", Seeds: []string{broker.Gossip()}}, transport,
			"site:evil#1", []byte("no such form"), zerolog.Nop(), func(string, []byte, bool) {})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stranger.Stop() })
		eventually(t, 5*time.Second, "the garbage is counted", func() bool { return broker.Node.Stats().Garbage > 0 })
		if broker.knows("site:evil") {
			t.Error("a node that says nothing sensible was taken in")
		}
	})
}

// A broker that has no room for the news hears them later, the last word only.
func TestNode_ABrokerWithoutRoomIsToldLater(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		memory := newMemory()
		broker, _ := federation(t, memory, 1, "fast")
		broker.with(func() { broker.full = true })
		site := startPeer(t, NodeOptions{Name: "site:late", network: memory}, broker.Gossip())
		eventually(t, 5*time.Second, "gossip has spread", func() bool { return broker.knows("site:late") })
		site.Close()
		eventually(t, 10*time.Second, "it is missed", func() bool { return !broker.knows("site:late") })
		broker.with(func() { broker.full = false })
		eventually(t, 5*time.Second, "the broker is told", func() bool { return broker.heard(agents.SiteLeft{Site: "site:late"}) == 1 })
		if n := broker.heard(agents.SiteJoined{Site: "site:late"}); n != 0 {
			t.Errorf("told of %d joins that are long over", n)
		}
	})
}

func TestStartNode_RefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	memory := newMemory()
	first := startPeer(t, NodeOptions{Name: "site:first", network: memory})
	for _, c := range []struct {
		change func(*NodeOptions)
		want   string
	}{
		{func(o *NodeOptions) { o.Name = "user:ana" }, "site:NAME"},
		{func(o *NodeOptions) { o.Name = agents.ID("site:" + strings.Repeat("x", 200)) }, "site:NAME"},
		{func(o *NodeOptions) { o.Plain = false }, "bourse ca"},
		{func(o *NodeOptions) { o.Listen = "192.0.2.1:0" }, "not a loopback"},
		{func(o *NodeOptions) { o.Gossip.Listen = "0.0.0.0:0" }, "not a loopback"},
		{func(o *NodeOptions) { o.Listen = taken.Addr().String() }, "another process"},
		{func(o *NodeOptions) { o.network, o.Listen = memory, first.Address() }, "is taken"},
		{func(o *NodeOptions) { o.network, o.Gossip.Listen = memory, first.Gossip() }, "is taken"},
		{func(o *NodeOptions) { o.Gossip.Label = "" }, "name of the VO"},
		{func(o *NodeOptions) { o.Gossip.Profile = "wan" }, "lan and fast"},
		{func(o *NodeOptions) { o.Gossip.Keys = [][]byte{make([]byte, 31)} }, "31 bytes"},
		{func(o *NodeOptions) { o.Gossip.Listen = "nowhere" }, "gossip cannot listen"},
		{func(o *NodeOptions) { o.Gossip.Advertise = "127.0.0.1" }, "gossip cannot advertise"},
	} {
		o := NodeOptions{Name: "site:second", Host: &fakeHost{}, Listen: "127.0.0.1:0", Plain: true, Gossip: gossip.Options{Listen: "127.0.0.1:0", Label: "vo"}}
		c.change(&o)
		n, err := StartNode(o)
		if err == nil {
			n.Close()
			t.Errorf("started, want an error with %q", c.want)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %q, want one with %q", err, c.want)
		}
	}
}

// The gossip port, too, may be taken.
func TestStartGossip_SaysWhichAddressIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o := gossip.Options{Listen: taken.Addr().String(), Label: "vo"}
	if _, err := gossip.Start(o, nil, "site:a#1", nil, zerolog.Nop(), nil); err == nil || !strings.Contains(err.Error(), o.Listen) {
		t.Errorf("error %v, want one that names %s", err, o.Listen)
	}
}

// A site that a broker knows from an earlier life and that is not there is
// reported to have left: once gossip has had its time, which follows the profile.
func TestNode_AKnownSiteThatIsGoneIsReportedInTheTimeOfTheProfile(t *testing.T) {
	t.Parallel()
	for profile, settled := range map[string]time.Duration{"lan": 15 * time.Second, "fast": 2 * time.Second} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				o := NodeOptions{Name: "broker:vo1", network: newMemory(), Known: []agents.ID{"site:gone"}}
				o.Gossip.Profile = profile
				broker := startPeer(t, o)
				took := eventually(t, settled+time.Second, "it is reported", func() bool { return broker.heard(agents.SiteLeft{Site: "site:gone"}) == 1 })
				if took < settled-time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
