package live

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/members"
)

// Between the replicas of one broker pass their own messages and nothing else, and those
// get nowhere else.
func TestGuard_BetweenReplicasPassTheirMessagesAlone(t *testing.T) {
	t.Parallel()
	const one, two agents.ID = "replica:vo1/1", "replica:vo1/2"
	g := plainReplicas(one, zerolog.Nop())
	step := agents.ReplicaStep{Group: brokerOne, Raft: []byte{1}}
	among := func(agent agents.ID) peer { return peer{name: string(agent), agent: agent} }
	for _, c := range []struct {
		name  string
		guard *Guard
		peer  peer
		from  agents.ID
		to    agents.ID
		m     agents.Message
		cause Cause // "": it passes
	}{
		{"of another replica", g, among(brokerOne), two, one, step, ""},
		{"of a part of an image", g, among(brokerOne), two, one, agents.ReplicaPart{Group: brokerOne, Part: []byte("{}")}, ""},
		{"as this replica itself", g, among(brokerOne), one, one, step, BadFrom},
		{"as the broker", g, among(brokerOne), brokerOne, one, step, BadFrom},
		{"as a replica of another broker", g, among(brokerOne), "replica:vo2/2", one, step, BadFrom},
		{"as one whose name begins like it", g, among(brokerOne), "replica:vo10/2", one, step, BadFrom},
		{"to another replica", g, among(brokerOne), two, "replica:vo1/3", step, BadTo},
		{"to the broker", g, among(brokerOne), two, brokerOne, step, BadTo},
		{"of a site's", g, among(brokerOne), two, one, agents.Held{Leg: legOf("vo1"), Start: 1, End: 2}, BadKind},
		{"of a broker's", g, among(brokerOne), two, one, agents.Cancel{Leg: legOf("vo1")}, BadKind},
	} {
		e := sealed(t, c.from, c.to, c.m).Envelope
		b := c.guard.envelope(c.peer, e)
		if c.cause == "" && b != nil || c.cause != "" && (b == nil || b.Cause != c.cause) {
			t.Errorf("a message %s: %v; want %q", c.name, b, c.cause)
		}
	}
	site := newGuard(siteNorth, zerolog.Nop(), nil)
	for _, from := range []agents.ID{brokerOne, two} {
		e := sealed(t, from, siteNorth, step).Envelope
		if b := site.envelope(among(brokerOne), e); b == nil {
			t.Errorf("a replica's message of %s gets to a site", from)
		}
	}
	if err := g.siblings.admits("broker:vo2"); err == nil || !strings.Contains(err.Error(), "broker:vo2") {
		t.Errorf("another broker of the VO is let in: %v", err)
	}
	if err := g.siblings.admits(brokerOne); err != nil {
		t.Error(err)
	}
	if g.isAt("replica:vo1/2", "broker:vo2") || !g.isAt("replica:vo1/2", brokerOne) || g.isAt("replica:vo10/2", brokerOne) {
		t.Error("what is for a replica goes to the process of another broker, or not to its own")
	}
}

// Of the processes that hold a broker sites ask the one that leads, and of two that
// believe so the one of the later term, whichever was started later.
func TestDirectory_TheReplicaOfTheLatestTermIsMeant(t *testing.T) {
	t.Parallel()
	if beforeIsMeant() {
		t.Error("one that has led before is asked because it was started later")
	}
	d := members.New()
	at := func(address string, life, term uint64, flags members.Flags) members.Member {
		return members.Member{Agent: brokerOne, Address: address, Life: life, Term: term, Flags: flags, Oldest: 1, Version: 1}
	}
	d.Hear(at("a:1", 10, 3, 0), true)
	d.Hear(at("b:1", 30, 0, members.Waiting), true)
	if m, _ := d.Find(brokerOne); m.Address != "a:1" {
		t.Errorf("%s is asked while a:1 leads", m.Address)
	}
	if c := d.Hear(at("c:1", 5, 4, 0), true); c.Kind != members.Came || c.Address != "c:1" {
		t.Errorf("the one that leads since is %v, %v", c.Kind, c.Address)
	}
	if c := d.Hear(at("c:1", 5, 4, members.Waiting), true); c.Address != "a:1" || c.Kind != members.Came {
		t.Errorf("it has stepped down: %v, %v", c.Kind, c.Address)
	}
	m := at("a:1", 10, 3, members.Waiting)
	meta, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := members.Decode(m.Node(), meta); err != nil || got != m {
		t.Errorf("%+v is read back as %+v: %v", m, got, err)
	}
}

// beforeIsMeant reports whether, of two that believe that they lead, the one started later
// is used, and not the one of the later term.
func beforeIsMeant() bool {
	d := members.New()
	d.Hear(members.Member{Agent: brokerOne, Address: "a:1", Life: 30, Term: 3, Oldest: 1, Version: 1}, true)
	d.Hear(members.Member{Agent: brokerOne, Address: "b:1", Life: 10, Term: 4, Oldest: 1, Version: 1}, true)
	m, _ := d.Find(brokerOne)
	return m.Address != "b:1"
}
