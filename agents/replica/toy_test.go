package replica

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// register is an agent that keeps one number, and counts what it has done. Writes
// come with a number of the client's, so that one that is said again is not done
// again: applying it twice is what the tests would see.
type register struct {
	value   int
	done    map[agents.ID]int // by client, its last write
	changes []changed
	twice   int // writes applied again: must stay 0
	lives   []uint64
	rung    int // alarms that came, as facts
	// Of this life.
	alive bool
}

// The messages of a register.
type (
	write struct{ N, Value int }
	read  struct{ N int }
	reply struct {
		N, Value int
		Write    bool
	}
	ringing struct{ N int }
	knock   struct{} // nothing follows from it
)

func (write) Kind() string   { return "write" }
func (read) Kind() string    { return "read" }
func (reply) Kind() string   { return "reply" }
func (ringing) Kind() string { return "ringing" }
func (knock) Kind() string   { return "knock" }

// Its facts.
type (
	changed struct {
		Client agents.ID `json:"client"`
		N      int       `json:"n"`
		Value  int       `json:"value"`
	}
	begun struct {
		Nonce uint64 `json:"nonce"`
	}
	rang  struct{}
	noted struct {
		N int `json:"n"`
	}
	registerImage struct {
		Changes []changed `json:"changes"`
		Lives   []uint64  `json:"lives"`
		Rung    int       `json:"rung"`
		Part    int       `json:"part"`
	}
)

func (changed) Kind() string       { return "changed" }
func (begun) Kind() string         { return "begun" }
func (rang) Kind() string          { return "rang" }
func (noted) Kind() string         { return "noted" }
func (registerImage) Kind() string { return "register-image" }

func newRegister() agents.Durable { return &register{done: map[agents.ID]int{}} }

func (g *register) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	do := func(f agents.Fact) {
		g.Replay(now, f)
		out.Record(f)
	}
	switch m := m.(type) {
	case agents.Started:
		if g.alive {
			panic("a register is begun twice")
		}
		g.alive = true
		do(begun{m.Nonce})
		out.Alarm(now.Add(2000), ringing{len(g.lives)})
	case ringing:
		if m.N != len(g.lives) {
			panic("an alarm of another life")
		}
		do(rang{})
		out.Alarm(now.Add(2000), m)
	case knock:
		do(rang{})
	case write:
		if g.done[from] < m.N {
			do(changed{from, m.N, m.Value})
			do(noted{m.N})
		}
		out.Send(from, reply{m.N, m.Value, true})
	case read:
		out.Send(from, reply{m.N, g.value, false})
	default:
		panic(m.Kind())
	}
}

func (g *register) Replay(_ grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case changed:
		if g.done[f.Client] >= f.N {
			g.twice++
		}
		g.value, g.done[f.Client] = f.Value, f.N
		g.changes = append(g.changes, f)
	case begun:
		g.lives = append(g.lives, f.Nonce)
	case rang:
		g.rung++
	case registerImage:
		if f.Part == 0 {
			*g = register{done: map[agents.ID]int{}}
		}
		for _, c := range f.Changes {
			g.Replay(0, c)
		}
		g.lives = append(g.lives, f.Lives...)
		g.rung += f.Rung
	}
}

const partOf = 20

// Parts has the image in pieces of some changes each.
func (g *register) Parts() int { return max(1, (len(g.changes)+partOf-1)/partOf) }

func (g *register) Part(i int) agents.Fact {
	f := registerImage{Part: i}
	if i == 0 {
		f.Lives, f.Rung = slices.Clone(g.lives), g.rung
	}
	f.Changes = slices.Clone(g.changes[min(i*partOf, len(g.changes)):min((i+1)*partOf, len(g.changes))])
	return f
}

func (g *register) Image() agents.Fact {
	return registerImage{Changes: slices.Clone(g.changes), Lives: slices.Clone(g.lives), Rung: g.rung}
}

// lasting shows what follows from facts.
func (g *register) lasting() string {
	return fmt.Sprintf("%d %v %v %d", g.value, g.changes, g.lives, g.rung)
}

// client writes and reads, one request at a time, and repeats each to whoever it believes
// leads until it is answered. It does not forget.
type client struct {
	id      agents.ID
	members []agents.ID
	to      int
	n       int
	said    int // times
	waits   bool
	history *history
	stop    grid.Time
	// answered is what the group has said was written, in order.
	answered []int
}

type poke struct{}

func (poke) Kind() string { return "poke" }

func (c *client) Step(now grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case reply:
		if !c.waits || m.N != c.n {
			return
		}
		c.waits = false
		c.history.returns(c.id, m, now)
		if m.Write {
			c.answered = append(c.answered, m.N)
		}
	case agents.ReplicaRedirect:
		if i := slices.Index(c.members, m.Leader); c.waits && i >= 0 {
			c.to = i
			c.say(out)
		}
	default:
		out.Alarm(now.Add(150), poke{})
		switch {
		case c.waits:
			if c.said++; c.said%2 == 0 {
				c.to = (c.to + 1) % len(c.members)
			}
			c.say(out)
		case now < c.stop:
			c.n++
			c.waits, c.said = true, 0
			c.history.calls(c.id, c.op(), now)
			c.say(out)
		}
	}
}

// op is the present operation: two in three are writes, but for the third client, who
// only reads, and so stays with a leader that can't write any more.
func (c *client) op() agents.Message {
	if c.n%3 == 0 || c.id == "client:3" {
		return read{c.n}
	}
	return write{c.n, c.n*10 + int(c.id[len(c.id)-1]-'0')}
}

func (c *client) say(out *agents.Outbox) { out.Send(c.members[c.to], c.op()) }

// history is what clients have seen, for porcupine.
type history struct {
	ops   []porcupine.Operation
	open  map[agents.ID]int
	clock int64
}

func (h *history) calls(id agents.ID, m agents.Message, _ grid.Time) {
	h.clock++
	h.open[id] = len(h.ops)
	h.ops = append(h.ops, porcupine.Operation{ClientId: int(id[len(id)-1] - '0'), Input: m, Call: h.clock, Return: -1})
}

func (h *history) returns(id agents.ID, m reply, _ grid.Time) {
	h.clock++
	op := &h.ops[h.open[id]]
	op.Output, op.Return = m, h.clock
}

// linearizable reports whether the history is that of one register.
func (h *history) linearizable() bool {
	ops := slices.Clone(h.ops)
	for i := range ops {
		if ops[i].Return < 0 {
			if _, reads := ops[i].Input.(read); reads {
				ops[i].Return = h.clock + 1
				ops[i].Output = nil
			}
			ops[i].Return = h.clock + 1
		}
	}
	return porcupine.CheckOperations(porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, in, out any) (bool, any) {
			switch m := in.(type) {
			case write:
				return true, m.Value
			default:
				return out == nil || out.(reply).Value == state.(int), state
			}
		},
		Equal: func(a, b any) bool { return a == b },
	}, ops)
}

// group is a world with some replicas of a register, and clients.
type group struct {
	*sim.Faulty
	ids         []agents.ID
	clients     []*client
	history     *history
	twoLed      int                  // steps at which two believed that they lead
	leaderships int                  // begun
	values      map[agents.ID]uint64 // the term in which each has led last
}

const groupName = agents.ID("broker:register")

var codec = journal.NewCodec(changed{}, begun{}, rang{}, noted{}, registerImage{})

// config is that of a replica in tests.
func config(self agents.ID, founders []agents.ID) Config {
	return Config{Group: groupName, Self: self, Founders: founders, New: newRegister, Codec: codec,
		Heartbeat: 50, Silence: 500, Stagger: 150, EntryBytes: 100, CompactEntries: 60, CompactBytes: 1 << 20,
		Answers: func(m agents.Message) bool { return m.Kind() == "write" || m.Kind() == "read" }}
}

func newGroup(n, clients int, opt sim.Options, edit func(*Config)) *group {
	g := &group{history: &history{open: map[agents.ID]int{}}, values: map[agents.ID]uint64{}}
	for i := range n {
		g.ids = append(g.ids, agents.ID(fmt.Sprintf("replica:%d", i+1)))
	}
	if opt.Hi == 0 {
		opt.Lo, opt.Hi = 1, 10
	}
	opt.Codec = codec
	g.Faulty = sim.NewFaulty(opt)
	for _, id := range g.ids {
		g.join(id, edit)
	}
	for i := range clients {
		c := &client{id: agents.ID(fmt.Sprintf("client:%d", i+1)), members: g.ids, history: g.history, stop: 32_000}
		g.clients = append(g.clients, c)
		// In two worlds of three clients still reach a replica that others do not.
		g.Add(sim.Host{ID: c.id, New: func() agents.Agent { return c }, Sturdy: true, Near: opt.Seed%3 != 0})
	}
	g.After(g.watch)
	return g
}

// join adds a replica.
func (g *group) join(id agents.ID, edit func(*Config)) {
	c := config(id, g.ids)
	if edit != nil {
		edit(&c)
	}
	g.Add(sim.Host{ID: id, New: func() agents.Agent { return New(c) }})
}

func (g *group) replica(id agents.ID) *Replica {
	r, _ := g.Agent(id).(*Replica)
	return r
}

// watch holds every step against what must never be.
func (g *group) watch(s *sim.Step) {
	r := g.replica(s.ID)
	if r == nil {
		return
	}
	leaders := map[uint64]agents.ID{}
	n := 0
	for _, id := range g.ids {
		x := g.replica(id)
		if x == nil {
			continue
		}
		if term, leads := x.Leads(); leads {
			n++
			if other, dup := leaders[term]; dup {
				g.Stop(fmt.Errorf("%s and %s lead term %d", id, other, term))
			}
			leaders[term] = id
		}
	}
	if n > 1 {
		g.twoLed++
	}
	if term, leads := r.Leads(); leads && g.values[s.ID] != term {
		g.values[s.ID] = term
		g.leaderships++
	}
	if x := r.Inner().(*register); x.twice > 0 {
		g.Stop(fmt.Errorf("%s has applied a write twice", s.ID))
	}
	if r.Lost() {
		g.Stop(fmt.Errorf("%s holds its journal for one of the past", s.ID))
	}
}

// tester is a test, or what looks whether one would fail.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// settled checks what must hold once all faults are over for some time.
func (g *group) settled(t tester) {
	t.Helper()
	leader := ""
	for _, id := range g.ids {
		r := g.replica(id)
		if r == nil {
			t.Fatalf("%s is not up", id)
		}
		if _, leads := r.Leads(); leads {
			leader += string(id)
		}
	}
	first := g.replica(g.ids[0])
	if leader == "" {
		t.Fatalf("nobody leads at %v", g.Now())
	}
	want := first.Inner().(*register)
	for _, id := range g.ids[1:] {
		if r := g.replica(id); r.Inner().(*register).lasting() != want.lasting() {
			t.Fatalf("%s has\n%s\nafter %d, %s\n%s\nafter %d", id, r.Inner().(*register).lasting(), r.Applied(), g.ids[0], want.lasting(), first.Applied())
		}
	}
	for _, c := range g.clients {
		for _, n := range c.answered {
			if !slices.ContainsFunc(want.changes, func(x changed) bool { return x.Client == c.id && x.N == n }) {
				t.Fatalf("write %d of %s was answered and is lost", n, c.id)
			}
		}
		if c.waits {
			t.Fatalf("%s still waits for the answer to %d", c.id, c.n)
		}
	}
	if !g.history.linearizable() {
		t.Fatalf("the clients have not seen one register: %v", g.history.ops)
	}
}
