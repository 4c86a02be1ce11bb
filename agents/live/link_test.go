package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// lane is a carrier that only notes what it is to carry.
type lane struct {
	carried []*wire.Parcel
	acks    []*wire.Ack
	to      []string
	hung    []string
	resting bool
}

func (l *lane) address() string                                    { return "here:1" }
func (l *lane) ready(string) bool                                  { return !l.resting }
func (l *lane) hangUp(to string)                                   { l.hung = append(l.hung, to) }
func (*lane) close()                                               {}
func (*lane) call(context.Context, members.Member) (uint64, error) { return 0, nil }
func (l *lane) carry(to string, m proto.Message) {
	if p, ok := m.(*wire.Parcel); ok {
		l.carried, l.to = append(l.carried, p), append(l.to, to)
	}
	if a, ok := m.(*wire.Ack); ok {
		l.acks = append(l.acks, a)
	}
}

// last returns the parcel carried last.
func (l *lane) last() *wire.Parcel { return l.carried[len(l.carried)-1] }

func numbered(i int) *wire.Envelope { return &wire.Envelope{Trace: fmt.Sprint(i)} }

var north = members.Member{Agent: "site:north", Address: "north:1", Life: 7}

// open returns a link whose window is open, with nothing under way.
func openLink(t *testing.T, now time.Time) (*link, *lane) {
	t.Helper()
	wires := &lane{}
	l := newLink("site:north", wires)
	l.send(north, numbered(0), 1, now)
	if p := wires.last(); p.Seq != 1 || p.ReplyTo != "here:1" {
		t.Fatalf("the first parcel is number %d and says that this process is at %q", p.Seq, p.ReplyTo)
	}
	l.acknowledged(wires.last().Session, 1, now)
	wires.carried, wires.to = nil, nil
	return l, wires
}

// A new session begins with one envelope; the first acknowledgement opens the
// window; the rest waits.
func TestLink_AtMostAWindowIsUnderWay(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	wires := &lane{}
	l := newLink("site:north", wires)
	for i := range linkWindow + 10 {
		l.send(north, numbered(i), 3, now)
	}
	if len(wires.carried) != 1 {
		t.Fatalf("%d carried before the first acknowledgement", len(wires.carried))
	}
	l.acknowledged(wires.last().Session, 1, now)
	if flying, waiting := l.load(); flying != linkWindow || waiting != 9 {
		t.Fatalf("%d under way and %d waiting", flying, waiting)
	}
	l.acknowledged(wires.last().Session+1, 20, now) // of another session
	l.acknowledged(wires.last().Session, 1, now)    // again
	l.acknowledged(wires.last().Session, 999, now)  // never sent
	if flying, _ := l.load(); flying != linkWindow {
		t.Errorf("a void acknowledgement counted: %d under way", flying)
	}
	l.acknowledged(wires.last().Session, uint64(linkWindow+1), now)
	if flying, waiting := l.load(); flying != 9 || waiting != 0 {
		t.Errorf("%d under way and %d waiting after all were acknowledged", flying, waiting)
	}
}

// At the bound the newest is refused, by number or by bytes.
func TestLink_TheNewestIsDroppedAtTheBound(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l := newLink("site:north", &lane{})
	for i := range linkQueue + 1 { // one is under way
		if taken, _ := l.send(north, numbered(i), 3, now); !taken {
			t.Fatalf("number %d was refused", i)
		}
	}
	if taken, _ := l.send(north, numbered(0), 3, now); taken {
		t.Error("one more than the bound was taken")
	}
	l = newLink("site:north", &lane{})
	large := &wire.Envelope{Trace: strings.Repeat("x", wire.MaxMessage-16)}
	taken := 0
	for range 20 {
		if ok, _ := l.send(north, large, proto.Size(large), now); ok {
			taken++
		}
	}
	if taken != 1+linkBytes/wire.MaxMessage {
		t.Errorf("%d messages of 16 MiB were taken", taken)
	}
}

// All envelopes under way fit into one message of the remote, whatever the window.
func TestLink_FewLargeMessagesAreUnderWay(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l, wires := openLink(t, now)
	large := &wire.Envelope{Trace: strings.Repeat("x", wire.MaxMessage/3)}
	for range 6 {
		l.send(north, large, proto.Size(large), now)
	}
	if len(wires.carried) != 2 {
		t.Errorf("%d thirds of the bound are under way", len(wires.carried))
	}
}

// Silence, or the end of the connection, gives up what is under way and goes on
// with one envelope after a pause.
func TestLink_SilenceBeginsANewSession(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		now := time.Unix(0, 0)
		l, wires := openLink(t, now)
		for i := range linkWindow + 2 {
			l.send(north, numbered(i), 3, now)
		}
		first := wires.last().Session
		if lost := l.tick(now.Add(silence - 1)); lost != 0 {
			t.Fatalf("%d given up too early", lost)
		}
		now = now.Add(silence)
		lost := 0
		if wires.resting = true; broken {
			lost = l.broken("north:1")
		} else if lost = l.tick(now); !slices.Equal(wires.hung, []string{"north:1"}) {
			t.Errorf("hung up %q", wires.hung)
		}
		if lost != linkWindow || len(wires.carried) != linkWindow {
			t.Fatalf("broken=%v: %d given up, %d carried in all", broken, lost, len(wires.carried))
		}
		wires.resting = false
		l.tick(now)
		if p := wires.last(); len(wires.carried) != linkWindow+1 || p.Session == first || p.Seq != 1 || p.Envelope.Trace != fmt.Sprint(linkWindow) {
			t.Errorf("broken=%v: %d carried, the last is %v", broken, len(wires.carried), p)
		}
		l.acknowledged(first, 5, now)
		if flying, waiting := l.load(); flying != 1 || waiting != 1 {
			t.Errorf("an acknowledgement of the session before counted: %d under way, %d wait", flying, waiting)
		}
	}
}

// Messages that wait for a peer go to its next life, wherever that is; a peer that
// gossip begins to know is the one that was known by its word.
func TestLink_WhatWaitsGoesToTheNextLife(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l, wires := openLink(t, now)
	for i := range linkWindow + 1 {
		l.send(north, numbered(i), 3, now)
	}
	if lost := l.moved(members.Member{Agent: "site:north", Address: "north:2", Life: 8}, now); lost != linkWindow {
		t.Errorf("%d given up", lost)
	}
	if to, p := wires.to[len(wires.to)-1], wires.last(); to != "north:2" || p.Seq != 1 || p.Envelope.Trace != fmt.Sprint(linkWindow) {
		t.Errorf("carried %v to %s", p, to)
	}
	wires = &lane{}
	l = newLink("site:north", wires)
	l.send(members.Member{Agent: "site:north", Address: "north:1"}, numbered(0), 3, now)
	if lost := l.moved(north, now); lost != 0 || l.life != 7 {
		t.Errorf("%d given up as gossip told of a peer that was met before", lost)
	}
	if lost := l.end(); lost != 1 {
		t.Errorf("%d given up at the end", lost)
	}
}

// Whatever happens, envelopes are carried in the order in which they were sent,
// none twice, each is accounted for, and the bounds hold.
func TestLink_KeepsOrderAndAccounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(0, 0)
		wires := &lane{}
		l := newLink("site:north", wires)
		sent, lost, acked, life := 0, 0, 0, north
		flying := func() int { f, _ := l.load(); return f }
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "count") {
					taken, gave := l.send(life, numbered(sent), proto.Size(numbered(sent)), now)
					if lost += gave; !taken {
						t.Fatal("refused below the bound")
					}
					sent++
				}
			},
			"ack": func(t *rapid.T) {
				if len(wires.carried) == 0 {
					return
				}
				before := flying()
				p := wires.carried[rapid.IntRange(max(0, len(wires.carried)-80), len(wires.carried)-1).Draw(t, "which")]
				if p.Session != l.session.Load() {
					l.acknowledged(p.Session, p.Seq, now)
					if flying() != before {
						t.Fatal("an old session was acknowledged")
					}
					return
				}
				first := l.sent - uint64(before)
				l.acknowledged(p.Session, p.Seq, now)
				acked += int(max(p.Seq, first) - first)
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(silence)).Draw(t, "for")))
				lost += l.tick(now)
			},
			"break": func(*rapid.T) { lost += l.broken("north:1") },
			"rest":  func(t *rapid.T) { wires.resting = rapid.Bool().Draw(t, "resting") },
			"move":  func(*rapid.T) { life.Life++; lost += l.moved(life, now) },
			"": func(t *rapid.T) {
				f, waiting := l.load()
				if f > l.window || l.window > linkWindow || f+waiting+lost+acked != sent || len(wires.carried) != sent-waiting {
					t.Fatalf("sent %d: %d under way, %d waiting, %d given up, %d acknowledged, %d carried", sent, f, waiting, lost, acked, len(wires.carried))
				}
				for i, p := range wires.carried {
					if p.Envelope.Trace != fmt.Sprint(i) {
						t.Fatalf("number %d was carried as number %s", i, p.Envelope.Trace)
					}
				}
			},
		})
	})
}

// Links drop at once what can go nowhere, and count each cause.
func TestLinks_CountWhatTheyDrop(t *testing.T) {
	t.Parallel()
	d := members.New()
	d.Hear(members.Member{Agent: "site:north", Address: "north:1", Life: 7, Oldest: 1, Version: 1}, true)
	d.Hear(members.Member{Agent: "site:future", Address: "future:1", Life: 7, Oldest: wire.Version + 1, Version: wire.Version + 1}, true)
	n := newLinks(d, func(*wire.Envelope) bool { return true }, zerolog.Nop())
	n.lane = &lane{}
	n.Send("site:south", numbered(1))
	n.Send("site:future", numbered(1)) // speaks no version in common
	n.Send("site:north", &wire.Envelope{Trace: strings.Repeat("x", wire.MaxMessage)})
	n.Send("site:north", numbered(1))
	n.receive(&wire.Parcel{})
	n.receive(&wire.Envelope{})
	s := n.stats()
	if s.Sent != 4 || s.Unknown != 2 || s.Large != 1 || s.Stray != 2 || len(s.Peers) != 1 || s.Peers[0].UnderWay != 1 {
		t.Errorf("%+v", s)
	}
	n.gone("site:north")
	if s = n.stats(); s.Lost != 1 || len(s.Peers) != 0 {
		t.Errorf("after it had gone: %+v", s)
	}
}

// An acknowledgement may have been lost in a connection that has broken: it is said again
// to who was heard lately, once.
func TestLinks_WhatABrokenConnectionMayHaveLostIsAcknowledgedAgain(t *testing.T) {
	t.Parallel()
	n := newLinks(members.New(), func(*wire.Envelope) bool { return true }, zerolog.Nop())
	n.lane = &lane{}
	n.receive(&wire.Parcel{Session: 9, Seq: 1, ReplyTo: "vo:1", Envelope: &wire.Envelope{From: "broker:vo", To: "site:north"}})
	for what, x := range map[string]struct {
		broken func()
		want   int
	}{
		"at first":    {func() { n.acknowledgeAgain("vo:1", time.Now()) }, 1},
		"again":       {func() { n.broken("vo:1") }, 1},
		"elsewhere":   {func() { n.broken("vo:2") }, 0},
		"long silent": {func() { n.acknowledgeAgain("vo:1", time.Now().Add(contact)) }, 0},
	} {
		_ = n.acks()
		x.broken()
		if got := n.acks(); len(got) != x.want || x.want > 0 && (got[0].addr != "vo:1" || got[0].ack.Session != 9 || got[0].ack.Upto != 1) {
			t.Errorf("%s: %+v", what, got)
		}
		if got := n.acks(); len(got) > 0 {
			t.Errorf("%s: twice, %+v", what, got)
		}
	}
}

// An acknowledgement waits a short time for a message that goes the same way, but not if
// the sender's window is full.
func TestLinks_AcknowledgementsHaveCompany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, wires := newLinks(members.New(), func(*wire.Envelope) bool { return true }, zerolog.Nop()), &lane{}
		n.start(wires)
		seq := uint64(0)
		hear := func(count int) {
			for range count {
				seq++
				n.receive(&wire.Parcel{Session: 9, Seq: seq, ReplyTo: "vo:1", Envelope: &wire.Envelope{From: "broker:vo", To: "site:north"}})
			}
			synctest.Wait()
		}
		acks := func(want int, what string) {
			t.Helper()
			if len(wires.acks) != want || wires.acks[want-1].Upto > seq {
				t.Fatalf("%s: %v, want %d", what, wires.acks, want)
			}
		}
		hear(1)
		acks(1, "the first of a session")
		hear(2)
		acks(1, "nothing goes there")
		n.Send("broker:vo", numbered(1))
		if acks(2, "an answer goes there"); wires.acks[1].Upto != 3 || len(wires.carried) != 1 {
			t.Errorf("%v with %d parcels", wires.acks[1], len(wires.carried))
		}
		hear(1)
		time.Sleep(ackDelay)
		synctest.Wait()
		acks(3, "it has waited long enough")
		hear(ackEvery - 1)
		acks(3, "the window is open")
		hear(1)
		acks(4, "a quarter of the window waits")
		hear(1)
		n.stop()
		if acks(5, "the end"); wires.acks[4].Upto != seq {
			t.Errorf("%v after %d", wires.acks[4], seq)
		}
	})
}

// A process that is heard before gossip has announced it is answered, for a while, at the
// address that it gives itself.
func TestLinks_ANewcomerIsAnsweredWhereItSaysItIs(t *testing.T) {
	t.Parallel()
	n := newLinks(members.New(), func(*wire.Envelope) bool { return true }, zerolog.Nop())
	wires := &lane{}
	n.lane = wires
	n.receive(&wire.Parcel{Session: 9, Seq: 1, ReplyTo: "vo:1", Envelope: &wire.Envelope{From: "broker:vo", To: "site:north"}})
	n.Send("broker:vo", numbered(1))
	if len(wires.to) != 1 || wires.to[0] != "vo:1" {
		t.Errorf("answered at %q", wires.to)
	}
	if _, known := n.find("broker:vo", time.Now().Add(contact)); known {
		t.Error("it is answered for ever")
	}
}

// Each address that a peer names costs a connection: it is followed to a new one
// once a second at most, in a session of its own or not.
func TestLinks_WhoNamesManyAddressesIsFollowedToFew(t *testing.T) {
	t.Parallel()
	n := newLinks(members.New(), func(*wire.Envelope) bool { return true }, zerolog.Nop())
	n.lane = &lane{}
	at, now := map[string]bool{}, time.Now()
	for i := range 3000 {
		n.hear("broker:vo", &wire.Parcel{Session: uint64(i + 1), Seq: 1, ReplyTo: fmt.Sprintf("vo:%d", i+1)}, now.Add(time.Duration(i)*time.Millisecond))
		m, _ := n.find("broker:vo", now)
		at[m.Address] = true
	}
	if len(at) != 3 || !at["vo:1"] || !at["vo:1001"] || !at["vo:2001"] {
		t.Errorf("answered at %d addresses in three seconds: %v", len(at), at)
	}
}

// Each of two processes of one name receives the answers to its own questions, wherever
// gossip says that the name is. Everything else goes where gossip says.
func TestLinks_EachOfTwoProcessesIsAnsweredWhatItAsked(t *testing.T) {
	t.Parallel()
	d := members.New()
	d.Hear(members.Member{Agent: "broker:vo", Address: "vo:2", Life: 8, Oldest: 1, Version: 1}, true)
	n := newLinks(d, func(*wire.Envelope) bool { return true }, zerolog.Nop())
	wires := &lane{}
	n.lane = wires
	begin := time.Now().Add(-3 * removal)
	asks := func(session, seq uint64, addr, trace string) {
		begin = begin.Add(removal / 10)
		n.hear("broker:vo", &wire.Parcel{Session: session, Seq: seq, ReplyTo: addr, Envelope: &wire.Envelope{Trace: trace}}, begin)
	}
	at := func(trace string) string {
		wires.to = nil
		n.Send("broker:vo", &wire.Envelope{Trace: trace})
		for _, l := range n.all() { // they take more than the first
			l.acknowledged(l.session.Load(), 1, time.Now())
		}
		slices.Sort(wires.to)
		return strings.Join(wires.to, " ")
	}
	asks(1, 1, "vo:1", "first") // of the later one this process has heard by gossip only
	if to := at("first"); to != "vo:1" {
		t.Errorf("the earlier process is answered at %s", to)
	}
	begin = begin.Add(removal)
	asks(2, 1, "vo:2", "second")
	asks(1, 2, "", "")
	asks(2, 2, "", "")
	for trace, want := range map[string]string{"first": "vo:1", "second": "vo:2", "": "vo:1 vo:2", "a leg of which nobody has asked": "vo:2"} {
		if to := at(trace); to != want {
			t.Errorf("what was asked about as %q is answered at %s, want %s", trace, to, want)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.from["broker:vo"].list {
		if s.id == 0 || s.addr != fmt.Sprint("vo:", s.id) {
			t.Errorf("session %d is of %s", s.id, s.addr)
		}
	}
}

// Gossip loses a peer for a moment. If the peer speaks during that time, in its old
// session, it is answered.
func TestLinks_WhoSpeaksIsAnsweredThoughGossipHasLostIt(t *testing.T) {
	t.Parallel()
	d := members.New()
	vo := members.Member{Agent: "broker:vo", Address: "vo:1", Life: 8, Oldest: 1, Version: 1}
	d.Hear(vo, true)
	n := newLinks(d, func(*wire.Envelope) bool { return true }, zerolog.Nop())
	wires := &lane{}
	n.lane = wires
	says := func(seq uint64, addr string) {
		n.receive(&wire.Parcel{Session: 9, Seq: seq, ReplyTo: addr, Envelope: &wire.Envelope{From: "broker:vo", To: "site:north"}})
	}
	says(1, "vo:1")
	d.Hear(vo, false)
	n.gone("broker:vo")
	n.Send("broker:vo", numbered(1))
	if len(wires.to) != 0 || n.count.unknown.Load() != 1 {
		t.Fatalf("who is gone and silent was answered at %v", wires.to)
	}
	says(2, "")
	n.Send("broker:vo", numbered(2))
	if len(wires.to) != 1 || wires.to[0] != "vo:1" {
		t.Errorf("who has spoken again was answered at %v", wires.to)
	}
}
