package live

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

const mainBroker agents.ID = "broker:main"

// sharedSite is a site of several VOs: one host, and a node in the gossip of each.
type sharedSite struct {
	memory *memoryNetwork
	host   *Host
	vos    *VOs
	nodes  map[string]*Node
}

func shareSite(t testing.TB, names ...string) *sharedSite {
	t.Helper()
	s := &sharedSite{memory: newMemory(), host: quiet(Options{}), nodes: map[string]*Node{}}
	addSite(t, s.host, "north", 8, memories())
	s.vos = NewVOs(s.host, zerolog.New(io.Discard))
	for _, vo := range names {
		s.enter(t, vo)
	}
	t.Cleanup(func() {
		for _, n := range s.nodes {
			n.Close()
		}
		stop(t, s.host)
	})
	return s
}

// enter takes the site into a VO.
func (s *sharedSite) enter(t testing.TB, vo string) {
	t.Helper()
	in, err := s.vos.In(vo)
	if err != nil {
		t.Fatal(err)
	}
	n, err := StartNode(NodeOptions{Name: siteNorth, Host: in, network: s.memory, Log: zerolog.New(io.Discard), Gossip: gossip.Options{Label: vo, Profile: "fast"}})
	if err != nil {
		t.Fatal(err)
	}
	s.nodes[vo] = n
}

// peer is a broker of a VO of which the test is the host.
func (s *sharedSite) peer(t testing.TB, vo string, name agents.ID) testNode {
	t.Helper()
	p := startPeer(t, NodeOptions{Name: name, network: s.memory, Gossip: gossip.Options{Label: vo}}, s.nodes[vo].Gossip())
	poll(t, "the site and its broker know each other", func() bool {
		_, known := s.nodes[vo].directory.Find(name)
		return known && p.knows(siteNorth)
	})
	return p
}

// asks sends the site a message and returns what it answers.
func (p testNode) asks(t testing.TB, m agents.Message) agents.Message {
	t.Helper()
	before := p.received()
	p.send(t, p.opt.Name, siteNorth, m)
	poll(t, m.Kind()+" is answered", func() bool { return p.received() > before })
	var e *wire.Envelope
	p.with(func() { e = p.got[before] })
	answer, err := wire.Decode(e)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// legs are those that hold nodes at the site.
func (s *sharedSite) legs(t testing.TB) (list []sites.OpenLeg) {
	t.Helper()
	if err := s.host.View(t.Context(), siteNorth, func(_ grid.Time, a agents.Agent) { list = a.(*sites.Site).OpenLegs() }); err != nil {
		t.Fatal(err)
	}
	return list
}

// confirm has a broker commit a leg.
func (s *sharedSite) confirm(t testing.TB, p testNode, leg grid.LegID, job, user string) {
	t.Helper()
	p.asks(t, agents.List{Broker: leg.Tx.Broker, Incarnation: leg.Tx.Incarnation, Nonce: leg.Tx.Nonce})
	start := s.host.Now().Add(10 * grid.Minute)
	held := p.asks(t, agents.Hold{Leg: leg, What: grid.Leg{Group: "main", Nodes: 2, Start: start, End: start.Add(grid.Hour)},
		Job: job, User: user, Limit: 100 * grid.Credit, For: grid.Minute})
	if h, ok := held.(agents.Held); !ok || h.Leg != leg {
		t.Fatalf("%+v", held)
	}
	if c, ok := p.asks(t, agents.Confirm{Leg: leg, DecidedBy: leg.Tx.Incarnation}).(agents.Confirmed); !ok || c.Leg != leg {
		t.Fatalf("%+v", c)
	}
}

// Two VOs have a broker of the same name, which even uses the same numbers. One of them
// knows all there is to know of the other's leg and says everything about it that a
// broker can say, under its own name and under that by which the site knows the other:
// it neither changes nor learns anything.
func TestVOs_NoBrokerSpeaksOfAnothersLegs(t *testing.T) {
	t.Parallel()
	s := shareSite(t, "atlas", "cms")
	atlas := s.peer(t, "atlas", mainBroker)
	leg := legOf("main")
	s.confirm(t, atlas, leg, "secret-job", "secret-user")
	before := s.legs(t)
	if len(before) != 1 || before[0].Leg.Tx.Broker != "atlas/main" || before[0].Broker != "broker:atlas/main" || before[0].User != "atlas/secret-user" {
		t.Fatalf("%+v", before)
	}
	for _, name := range []string{"main", "atlas/main"} { // the guard refuses the second one
		cms := s.peer(t, "cms", agents.ID("broker:"+name))
		theirs := legOf(name)
		for _, m := range []agents.Message{
			agents.Prepare{Leg: theirs, For: grid.Hour},
			agents.Confirm{Leg: theirs, DecidedBy: 1},
			agents.Cancel{Leg: theirs, DecidedBy: 1},
			agents.Release{Leg: theirs, DecidedBy: 1},
			agents.LegOutputRequest{Leg: theirs, Ref: 1},
			agents.Hold{Leg: grid.LegID{Tx: grid.TxID{Broker: name, Incarnation: 1, Nonce: 2, Seq: 4}}, What: before[0].What, Limit: grid.Credit, For: grid.Minute, Replaces: theirs, Version: 1},
			agents.List{Broker: name, Incarnation: 9, Nonce: 9, Known: []grid.LegID{theirs}},
			agents.Release{Leg: theirs, DecidedBy: 9, Full: true},
			agents.Reassert{Leg: agents.ListedLeg{Leg: theirs, What: before[0].What, State: grid.Released}, Incarnation: 9, Nonce: 9},
		} {
			if l, ok := cms.asks(t, m).(agents.Listing); ok && (len(l.Legs) != 1 || l.Legs[0].State != grid.Refused || l.Legs[0].Leg.Tx.Seq != 4) {
				t.Errorf("%s is listed %+v, beside what it was refused itself", name, l.Legs)
			}
		}
		cms.with(func() {
			for _, e := range cms.got {
				if said := prototext.Format(e); strings.Contains(said, "secret") || name == "main" && strings.Contains(said, "atlas") {
					t.Errorf("cms reads of atlas: %s", said)
				}
			}
		})
	}
	if after := s.legs(t); !slices.Equal(before, after) {
		t.Errorf("the leg was\n%+v and is\n%+v", before, after)
	}
	l, ok := atlas.asks(t, agents.List{Broker: "main", Incarnation: 1, Nonce: 2}).(agents.Listing)
	if !ok || l.Refusal.Refused() || len(l.Legs) != 1 || l.Legs[0].Leg != leg || l.Legs[0].User != "secret-user" || l.Legs[0].State != grid.Confirmed {
		t.Errorf("atlas is listed %+v", l)
	}
	if r, ok := atlas.asks(t, agents.Release{Leg: leg, DecidedBy: 1}).(agents.Released); !ok || r.Leg != leg {
		t.Errorf("atlas gives its leg up: %+v", r)
	}
}

// Each of two brokers of one name has its own legs at the site, of the same numbers,
// and a new life of one fences its own earlier one only.
func TestVOs_OneNameInTwoVOsIsTwoBrokers(t *testing.T) {
	t.Parallel()
	s := shareSite(t, "atlas", "cms")
	atlas, cms := s.peer(t, "atlas", mainBroker), s.peer(t, "cms", mainBroker)
	leg := legOf("main")
	s.confirm(t, atlas, leg, "one", "ana")
	s.confirm(t, cms, leg, "two", "ana")
	if list := s.legs(t); len(list) != 2 || list[0].Leg.Tx.Broker != "atlas/main" || list[1].Leg.Tx.Broker != "cms/main" {
		t.Fatalf("%+v", list)
	}
	if l := cms.asks(t, agents.List{Broker: "main", Incarnation: 7, Nonce: 7}).(agents.Listing); len(l.Legs) != 1 || l.Legs[0].Job != "two" {
		t.Errorf("cms is listed %+v", l.Legs)
	}
	if o := cms.asks(t, agents.OfferRequest{Cycle: 1, Horizon: s.host.Now().Add(grid.Hour), Incarnation: 1, Nonce: 2}).(agents.Offers); o.Refusal.Code != grid.Fenced {
		t.Errorf("an earlier life of cms is offered %+v", o)
	}
	if o := atlas.asks(t, agents.OfferRequest{Cycle: 1, Horizon: s.host.Now().Add(grid.Hour), Incarnation: 1, Nonce: 2}).(agents.Offers); o.Refusal.Refused() || len(o.Groups) != 1 {
		t.Errorf("atlas is offered %+v", o)
	}
}

// A VO's legs at a site stay when the site lets the VO go, and are there when the VO comes
// back. In between nobody of that VO is heard, and the other VO goes on.
func TestVOs_AVOIsLetGoAndTakenInAgain(t *testing.T) {
	t.Parallel()
	s := shareSite(t, "atlas", "cms")
	if _, err := s.vos.In("cms"); err == nil {
		t.Error("a process is in a VO twice")
	}
	cms := s.peer(t, "cms", mainBroker)
	s.confirm(t, cms, legOf("main"), "two", "ana")
	s.vos.LetGo("cms")
	if err := s.nodes["cms"].Leave(context.Background()); err != nil {
		t.Fatal(err)
	}
	poll(t, "cms is told that the site has left", func() bool { return cms.heard(agents.SiteLeft{Site: siteNorth}) > 0 })
	s.confirm(t, s.peer(t, "atlas", mainBroker), legOf("main"), "one", "ana")
	s.vos.Send("broker:cms/main", &wire.Envelope{From: "site:north", To: "broker:cms/main"})
	if n := s.vos.Stats().Nobody; n == 0 {
		t.Error("a message to a VO that is let go is carried")
	}
	s.enter(t, "cms")
	again := s.peer(t, "cms", "broker:second")
	if l := again.asks(t, agents.List{Broker: "second", Incarnation: 1, Nonce: 1}).(agents.Listing); len(l.Legs) > 0 {
		t.Errorf("another broker of cms is listed %+v", l.Legs)
	}
	if list := s.legs(t); len(list) != 2 || list[0].Leg.Tx.Broker != "cms/main" || list[0].State != grid.Confirmed {
		t.Errorf("%+v", list)
	}
}

// A message of the host to a VO about another VO is not sent.
func TestVOs_NothingOfAnotherVOLeaves(t *testing.T) {
	t.Parallel()
	d := &fakeHost{}
	v := NewVOs(d, zerolog.New(io.Discard))
	out := &fakeNetwork{}
	in, err := v.In("cms")
	if err != nil {
		t.Fatal(err)
	}
	in.Connect(out)
	d.send(t, siteNorth, "broker:cms/main", agents.Held{Leg: legOf("cms/main")})
	for _, m := range []agents.Message{agents.Held{Leg: legOf("atlas/main")}, agents.Held{Leg: legOf("main")},
		agents.Listing{Legs: []agents.ListedLeg{{Leg: legOf("cms/main"), User: "cms/ana"}, {Leg: legOf("cms/main"), User: "atlas/ana"}}}} {
		d.send(t, siteNorth, "broker:cms/main", m)
	}
	d.send(t, siteNorth, "broker:main", agents.Held{Leg: legOf("main")})
	if s := v.Stats(); s.Foreign != 3 || s.Nobody != 1 || len(out.sent) != 1 {
		t.Errorf("%+v, sent %v", s, out.sent)
	}
	if e := out.sent[0]; e.To != "broker:main" || e.Trace != legOf("main").Tx.String() || wire.Brokers(e)[0] != "main" {
		t.Errorf("%v", e)
	}
	for _, vo := range []string{"", "a/b", "cms"} {
		if _, err := v.In(vo); err == nil {
			t.Errorf("it is in VO %q", vo)
		}
	}
}

type fakeNetwork struct{ sent []*wire.Envelope }

func (n *fakeNetwork) Send(_ agents.ID, e *wire.Envelope) { n.sent = append(n.sent, e) }

// Brokers need not know that a site has another VO: those of today place their jobs.
func TestVOs_JobsOfBothArePlaced(t *testing.T) {
	t.Parallel()
	s := shareSite(t, "atlas", "cms")
	for _, vo := range []string{"atlas", "cms"} {
		cfg := broker.Defaults("main")
		cfg.Budget, cfg.BatchSize, cfg.Cycle = 1_000_000*grid.Credit, 1, grid.Second
		cfg.MaxCycles, cfg.Phase, cfg.Lead = 1000, broker.Phase("main", cfg.Cycle), grid.Minute
		h := quiet(Options{})
		if err := h.Add(mainBroker, broker.New(cfg), &journal.Memory{}, journal.Options{}); err != nil {
			t.Fatal(err)
		}
		f := &fourSites{memory: s.memory, nodes: map[agents.ID]*Node{siteNorth: s.nodes[vo]}, hosts: map[agents.ID]*Host{}, label: vo}
		f.node(t, mainBroker, h)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := f.nodes[mainBroker].Leave(ctx); err != nil {
				t.Error(err)
			}
		})
		for i := range 3 {
			j := grid.Job{Name: fmt.Sprint("job", i), User: "ana", Request: grid.Request{Nodes: 2, Length: 10 * grid.Minute, MinPerformance: grid.Unit,
				MaxPrice: grid.Price(2 * grid.Credit), Deadline: grid.Never}}
			j.Budget = j.DefaultBudget()
			if _, err := h.Ask(t.Context(), "user:ana", mainBroker, agents.Submit{Job: j}); err != nil {
				t.Fatal(err)
			}
		}
	}
	poll(t, "three jobs of each VO are confirmed", func() bool {
		confirmed := map[string]int{}
		for _, l := range s.legs(t) {
			if l.State == grid.Confirmed {
				confirmed[l.Leg.Tx.Broker]++
			}
		}
		return confirmed["atlas/main"] == 3 && confirmed["cms/main"] == 3
	})
}

// listener is an agent that records each message and its sender.
type listener struct {
	*purse
	from []agents.ID
}

func (l *listener) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	l.from = append(l.from, from)
	l.purse.Step(now, from, m, out)
}

// However many messages of one VO wait, one of another VO, and what the site is told by
// its own cluster, is handled after few of them; each VO's come in the order in which
// they were sent.
func TestVOs_AMessageWaitsForFewOfAnotherVO(t *testing.T) {
	t.Parallel()
	h := quiet(Options{})
	site := &listener{purse: &purse{}}
	if err := h.Add(siteNorth, site, &journal.Memory{}, toyJournal); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, h) })
	v := NewVOs(h, zerolog.New(io.Discard))
	in := map[string]Local{}
	for _, vo := range []string{"atlas", "cms"} {
		var err error
		if in[vo], err = v.In(vo); err != nil {
			t.Fatal(err)
		}
	}
	looks, done := make(chan struct{}), make(chan struct{})
	seen := make(chan error, 1)
	go func() {
		seen <- h.View(context.Background(), siteNorth, func(grid.Time, agents.Agent) { close(looks); <-done })
	}()
	<-looks // the agent is at it, and takes nothing
	for i := range uint64(200) {
		for _, vo := range []string{"cms", "atlas"}[:1+i/199] { // atlas says one thing, at the end
			e, err := wire.Encode(mainBroker, siteNorth, agents.OfferRequest{Cycle: i, Horizon: grid.Time(grid.Day)})
			if err != nil {
				t.Fatal(err)
			}
			if !in[vo].Deliver(e) {
				t.Fatalf("message %d of %s is not taken", i, vo)
			}
		}
	}
	if err := h.Tell("cluster:north", siteNorth, word{"own"}); err != nil {
		t.Fatal(err)
	}
	close(done)
	if err := <-seen; err != nil {
		t.Fatal(err)
	}
	poll(t, "all are handled", func() bool { s := v.Stats(); return s.Waiting["cms"]+s.Waiting["atlas"] == 0 })
	var from []agents.ID
	if err := h.View(context.Background(), siteNorth, func(_ grid.Time, a agents.Agent) { from = slices.Clone(a.(*listener).from) }); err != nil {
		t.Fatal(err)
	}
	for _, who := range []agents.ID{"broker:atlas/main", "cluster:north"} {
		if at := slices.Index(from, who); at < 0 || at > 40 {
			t.Errorf("what %s says is handled as number %d of %d", who, at, len(from))
		}
	}
	if len(from) != 203 {
		t.Errorf("%d messages were handled, want 203", len(from))
	}
}

// A VO that floods a site fills only its own part of the mailbox. A message of another VO
// is accepted, and waits for no more of the first VO's messages than fit into that part.
func TestVOs_AFloodFillsItsOwnPartOfTheMailbox(t *testing.T) {
	t.Parallel()
	h := quiet(Options{Mailbox: 64})
	addSite(t, h, "north", 8, memories())
	t.Cleanup(func() { stop(t, h) })
	v := NewVOs(h, zerolog.New(io.Discard))
	in := map[string]Local{}
	for _, vo := range []string{"atlas", "cms"} {
		x, err := v.In(vo)
		if err != nil {
			t.Fatal(err)
		}
		x.Connect(&fakeNetwork{})
		in[vo] = x
	}
	looks, done := make(chan struct{}), make(chan struct{})
	seen := make(chan error, 1)
	go func() {
		seen <- h.View(context.Background(), siteNorth, func(grid.Time, agents.Agent) { close(looks); <-done })
	}()
	<-looks // the agent is at it, and takes nothing
	deliver := func(vo string, cycle uint64) bool {
		e, err := wire.Encode(mainBroker, siteNorth, agents.OfferRequest{Cycle: cycle, Horizon: grid.Time(grid.Day)})
		if err != nil {
			t.Fatal(err)
		}
		return in[vo].Deliver(e)
	}
	taken := 0
	for i := range uint64(100) {
		if deliver("cms", i) {
			taken++
		}
	}
	if s := v.Stats(); taken != 32 || s.Held["cms"] != 68 || s.Waiting["cms"] != 32 {
		t.Errorf("of 100 messages of cms %d are taken: %+v", taken, s)
	}
	if !deliver("atlas", 1) {
		t.Error("a message of atlas is not taken")
	}
	close(done)
	if err := <-seen; err != nil {
		t.Fatal(err)
	}
	poll(t, "all are handled", func() bool { s := v.Stats(); return s.Waiting["cms"]+s.Waiting["atlas"] == 0 })
	if !deliver("cms", 1000) {
		t.Error("afterwards cms is not heard")
	}
}
