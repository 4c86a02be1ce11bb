package cluster

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// plain is a backend of endless nodes: what it is asked it writes down. Work runs
// from the start of its window to the end.
type plain struct {
	host    Host
	asked   []string
	windows map[grid.LegID]grid.Leg // of legs that are placed
	runs    map[grid.LegID]bool
	agreed  map[grid.LegID]bool
	later   int  // so often it does not know yet
	unsure  bool // whether work has begun
}

func newPlain() *plain {
	return &plain{windows: map[grid.LegID]grid.Leg{}, runs: map[grid.LegID]bool{}, agreed: map[grid.LegID]bool{}}
}

func (p *plain) Begin(h Host, l Life) {
	p.host = h
	for _, x := range l.Locks {
		if x.State != facts.LockEnded && x.State != facts.LockLost {
			p.windows[x.Leg], p.runs[x.Leg], p.agreed[x.Leg] = x.What, x.State == facts.LockRunning, x.State != facts.LockHeld
		}
	}
}

func (p *plain) Replay(at grid.Time, _ agents.Fact) grid.Time { return at }
func (p *plain) Save(*facts.ClusterImage)                     {}
func (p *plain) Settle(grid.Time)                             {}
func (p *plain) Audit() error                                 { return nil }

func (p *plain) Next() grid.Time {
	next := grid.Never
	for id, w := range p.windows {
		if next = min(next, w.End); p.agreed[id] && !p.runs[id] {
			next = min(next, w.Start)
		}
	}
	return next
}

func (p *plain) Reach(now grid.Time, due bool) {
	if !due {
		now--
	}
	for _, id := range p.inOrder() {
		w := p.windows[id]
		if p.agreed[id] && !p.runs[id] && w.Start <= now {
			p.runs[id] = true
			p.host.Record(facts.LockMoved{Leg: id, State: facts.LockRunning, When: p.host.When(w.Start)})
		}
		if w.End > now {
			continue
		}
		p.forget(id)
		p.host.Record(facts.NodesFreed{Leg: id, When: p.host.When(w.End)})
		state := facts.LockExpired
		if p.agreed[id] {
			state = facts.LockEnded
		}
		p.host.Record(facts.LockMoved{Leg: id, State: state, When: p.host.When(w.End)})
	}
}

func (p *plain) inOrder() []grid.LegID {
	var list []grid.LegID
	for id := range p.windows {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b grid.LegID) int { return int(a.Tx.Seq) - int(b.Tx.Seq) })
	return list
}

func (p *plain) forget(id grid.LegID) { delete(p.windows, id); delete(p.runs, id) }

func (p *plain) Suits(m agents.ClusterHold) (why grid.Reason) {
	if m.What.Nodes < 1 {
		why.Code = grid.Unknown
	}
	return why
}

func (p *plain) Place(now grid.Time, m agents.ClusterHold) grid.Reason {
	p.asked = append(p.asked, "place "+m.Leg.String())
	if p.later > 0 {
		p.later--
		return Later
	}
	if m.What.End <= now {
		return grid.Reason{Code: grid.Past}
	}
	p.windows[m.Leg], p.agreed[m.Leg] = m.What, false
	f := facts.NodesLocked{Leg: m.Leg, What: m.What, Ends: m.What.End}
	if _, ok := p.windows[m.Replaces]; ok && m.Replaces != m.Leg {
		f.Beside = m.Replaces
	}
	p.host.Record(f)
	return grid.Reason{}
}

func (p *plain) Elsewhere(grid.Time, agents.ClusterHold) ([]grid.Time, []agents.LegShift) {
	return []grid.Time{7}, nil
}

func (p *plain) Confirm(now grid.Time, id grid.LegID, _ *grid.Handover) {
	p.asked = append(p.asked, "confirm "+id.String())
	p.agreed[id] = true
}

func (p *plain) Release(now grid.Time, id grid.LegID) (begun bool) {
	p.asked = append(p.asked, "release "+id.String())
	if _, placed := p.windows[id]; placed {
		p.forget(id)
		p.host.Record(facts.NodesFreed{Leg: id})
	}
	return p.unsure
}

func (p *plain) Show(uint64) agents.Snapshot { return agents.Snapshot{Version: 1} }

func (p *plain) Hear(_ grid.Time, _ agents.ID, m agents.Message) bool {
	_, mine := m.(agents.NodesLost)
	return mine
}

// life is one life of an agent on plain nodes.
type life struct {
	*Agent
	nodes *plain
	now   grid.Time
	facts []agents.Fact
	at    []grid.Time // of each fact
}

func newLife(cfg Config, replay ...agents.Fact) *life {
	cfg.Site = "site:north"
	p := newPlain()
	l := &life{Agent: New(cfg, p), nodes: p}
	for _, f := range replay {
		l.Replay(0, f)
	}
	l.facts = slices.Clone(replay)
	return l
}

func (l *life) say(m agents.Message) (said []agents.Message) {
	var out agents.Outbox
	l.Step(l.now, "site:north", m, &out)
	l.facts = append(l.facts, out.Facts...)
	for range out.Facts {
		l.at = append(l.at, l.now)
	}
	for _, x := range out.Sends {
		said = append(said, x.Message)
	}
	return said
}

func legOf(seq uint64) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq}}
}

func holdOf(seq uint64, start, end grid.Time) agents.ClusterHold {
	return agents.ClusterHold{Leg: legOf(seq), What: grid.Leg{Group: "main", Nodes: 1, Start: start, End: end}}
}

// The backend is asked once, however often the agent is; a leg that was released is
// placed again only if that is said.
func TestAgent_AsksItsBackendOnce(t *testing.T) {
	t.Parallel()
	l := newLife(Config{})
	l.say(agents.Started{Nonce: 1})
	m := holdOf(1, 10, 20)
	for range 3 {
		if r := l.say(m)[0].(agents.ClusterHeld); r.Refusal.Refused() {
			t.Fatal(r.Refusal)
		}
	}
	for range 2 {
		l.say(agents.ClusterConfirm{Leg: m.Leg})
	}
	for range 2 {
		l.say(agents.ClusterRelease{Leg: m.Leg})
	}
	if r := l.say(m)[0].(agents.ClusterHeld); r.Refusal.Code != grid.Withdrawn || len(r.Instead) != 1 {
		t.Errorf("a hold after its release is answered with %+v", r)
	}
	m.Again = true
	l.say(m)
	if want := []string{"place vo1/1/1.0", "confirm vo1/1/1.0", "release vo1/1/1.0", "place vo1/1/1.0"}; !slices.Equal(l.nodes.asked, want) {
		t.Errorf("the backend is asked %q, want %q", l.nodes.asked, want)
	}
}

// A leg whose work may have begun is never placed again, whoever has forgotten it. A leg
// that is over but not released reports how it ended.
func TestAgent_NoWorkBeginsTwice(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		now     grid.Time // it is released
		bare    bool      // without work
		unsure  bool      // its backend is, whether it has begun
		kept    bool      // it is not released
		refused bool
		places  int
	}{
		"before its work has begun":  {now: 5, places: 2},
		"once it may have begun":     {now: 5, unsure: true, refused: true, places: 1},
		"while its work runs":        {now: 12, refused: true, places: 1},
		"after its work":             {now: 25, refused: true, places: 1},
		"while nothing runs":         {now: 12, bare: true, places: 2},
		"after its work, and unsaid": {now: 25, kept: true, places: 1},
	} {
		l := newLife(Config{})
		l.say(agents.Started{Nonce: 1})
		m := holdOf(1, 10, 20)
		l.say(m)
		work := &grid.Handover{}
		if x.bare {
			work = nil
		}
		l.say(agents.ClusterConfirm{Leg: m.Leg, Work: work})
		l.now, l.nodes.unsure = x.now, x.unsure
		l.say(tick{})
		if !x.kept {
			l.say(agents.ClusterRelease{Leg: m.Leg})
		}
		l = newLife(Config{}, l.Image())
		l.now = x.now
		l.say(agents.Started{Nonce: 2})
		m.Again, m.What.End = true, 40
		r := l.say(m)[0].(agents.ClusterHeld)
		if (r.Refusal.Code == grid.Withdrawn) != x.refused || len(l.nodes.asked) != x.places-1 {
			t.Errorf("%s: asked for again it is answered %+v, and its backend is asked %q", name, r, l.nodes.asked)
		}
		if !x.kept {
			continue
		}
		l.say(agents.ClusterConfirm{Leg: m.Leg, Work: work})
		said := l.say(remind{})
		if e, ok := said[0].(agents.ClusterEnded); !ok || e.Leg != m.Leg || e.End != 20 {
			t.Errorf("%s: it says %+v", name, said)
		}
	}
}

// While a backend does not know whether there are nodes, nothing is answered and no
// lock is kept.
func TestAgent_AnswersAHoldWhenItsBackendKnows(t *testing.T) {
	t.Parallel()
	l := newLife(Config{})
	l.say(agents.Started{Nonce: 1})
	l.nodes.later = 2
	for range 2 {
		if said := l.say(holdOf(1, 10, 20)); len(said) > 0 {
			t.Errorf("it says %+v", said)
		}
	}
	if said := l.say(agents.ClusterInventory{}); len(said[0].(agents.ClusterLocks).Locks) > 0 {
		t.Errorf("it keeps %+v", said[0])
	}
	if r := l.say(holdOf(1, 10, 20))[0].(agents.ClusterHeld); r.Refusal.Refused() {
		t.Error(r.Refusal)
	}
}

// A leg is confirmed once the one that it replaces is released.
func TestAgent_ReleasesWhatIsReplacedFirst(t *testing.T) {
	t.Parallel()
	l := newLife(Config{})
	l.say(agents.Started{Nonce: 1})
	l.say(holdOf(1, 10, 20))
	l.say(agents.ClusterConfirm{Leg: legOf(1)})
	m := holdOf(2, 12, 30)
	m.Replaces = legOf(1)
	l.say(m)
	l.nodes.asked = nil
	l.say(agents.ClusterConfirm{Leg: legOf(2)})
	if want := []string{"release vo1/1/1.0", "confirm vo1/1/2.0"}; !slices.Equal(l.nodes.asked, want) {
		t.Errorf("the backend is asked %q, want %q", l.nodes.asked, want)
	}
}

// A volatile cluster records what reports need and nothing else, and answers as
// one does that has a journal.
func TestAgent_VolatileRecordsWhatReportsNeed(t *testing.T) {
	t.Parallel()
	durable, volatile := newLife(Config{}), newLife(Config{Volatile: true})
	for _, m := range []agents.Message{agents.Started{}, holdOf(1, 0, 20), agents.ClusterConfirm{Leg: legOf(1)}, tick{},
		agents.ClusterHeard{Leg: legOf(1)}, agents.ClusterInventory{}, agents.ClusterRelease{Leg: legOf(1)}, agents.ClusterInventory{}} {
		if a, b := durable.say(m), volatile.say(m); !reflect.DeepEqual(a, b) {
			t.Errorf("%s is answered with %+v, and by a volatile cluster with %+v", m.Kind(), a, b)
		}
	}
	want := []agents.Fact{facts.NodesLocked{Leg: legOf(1), What: holdOf(1, 0, 20).What}, facts.NodesFreed{Leg: legOf(1)}}
	if !reflect.DeepEqual(volatile.facts, want) {
		t.Errorf("it has recorded %+v, want %+v", volatile.facts, want)
	}
	if len(durable.facts) != 7 {
		t.Errorf("with a journal it has recorded %+v", durable.facts)
	}
}

// The state of a lock follows from the facts alone: a replay of the facts, of any prefix,
// or of an image gives a state from which the cluster can go on.
func TestAgent_IsWhatItsFactsSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := newLife(Config{})
		l.say(agents.Started{Nonce: 1})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			seq := uint64(rapid.IntRange(1, 5).Draw(t, "leg"))
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				m := holdOf(seq, l.now+grid.Time(rapid.IntRange(0, 9).Draw(t, "start")), l.now+10+grid.Time(rapid.IntRange(0, 9).Draw(t, "end")))
				m.Again, m.Replaces = rapid.Bool().Draw(t, "again"), legOf(uint64(rapid.IntRange(1, 5).Draw(t, "old")))
				l.say(m)
			case 2:
				l.say(agents.ClusterConfirm{Leg: legOf(seq), Work: rapid.SampledFrom([]*grid.Handover{nil, {}}).Draw(t, "work")})
			case 3:
				l.say(agents.ClusterRelease{Leg: legOf(seq)})
			case 4:
				l.say(agents.ClusterHeard{Leg: legOf(seq)})
			default:
				l.now += grid.Time(rapid.IntRange(0, 9).Draw(t, "time"))
				l.say(tick{})
			}
			image := l.Image().(facts.ClusterImage)
			for what, recorded := range map[string][]agents.Fact{"facts": l.facts, "image": {image}} {
				// The instant of a fact that says none is when it was recorded: of no matter to plain nodes but for Ends.
				got := newLife(Config{}, recorded...).Image().(facts.ClusterImage)
				if states(got) != states(image) {
					t.Fatalf("the %s say %s, it is %s", what, states(got), states(image))
				}
			}
		}
		torn := newLife(Config{}, l.facts[:rapid.IntRange(0, len(l.facts)).Draw(t, "kept")]...)
		torn.now = l.now
		torn.say(agents.Started{Nonce: 2})
		torn.now += 100
		torn.say(tick{})
		for _, x := range torn.Image().(facts.ClusterImage).Locks {
			if x.State != facts.LockEnded {
				t.Fatalf("long after all windows leg %v is %s", x.Leg, x.State)
			}
		}
	})
}

func states(f facts.ClusterImage) (s string) {
	for _, x := range f.Locks {
		s += x.Leg.String() + " " + string(x.State) + " beside " + x.Beside.String() + "; "
	}
	for _, p := range f.Past {
		s += fmt.Sprint(p.Leg, p.Begun, " ")
	}
	return s
}

// Whatever its site says, in any order, a life that replays the facts has the same locks
// as the one that recorded them, and a leg whose release came first is not locked.
func FuzzAgent_Step(f *testing.F) {
	f.Add([]byte{0x01, 0x11, 0x21, 0x31, 0x41, 0x51, 0x61})
	f.Add([]byte{0x21, 0x01, 0x11, 0x02, 0x12, 0x5f, 0x32, 0x60, 0x02})
	f.Fuzz(func(t *testing.T, data []byte) {
		l := newLife(Config{})
		l.say(agents.Started{Nonce: 1})
		over := map[grid.LegID]bool{}
		for i, x := range data[:min(len(data), 200)] { // what is said, of which leg
			n := uint64(x & 15)
			leg := legOf(n)
			switch x >> 4 {
			case 0, 8:
				m := holdOf(n, l.now.Add(grid.Duration(n)), l.now.Add(grid.Duration(2*n)))
				m.Replaces, m.Again = legOf(n/2), i%7 == 6
				said := l.say(m) // the answer comes behind word of what began meanwhile
				at := slices.IndexFunc(said, func(m agents.Message) bool { _, is := m.(agents.ClusterHeld); return is })
				if at < 0 {
					t.Fatalf("nobody answers whether leg %v is locked: %v", leg, said)
				}
				held := !said[at].(agents.ClusterHeld).Refusal.Refused()
				if held && over[leg] && !m.Again {
					t.Fatalf("leg %v is locked after its release", leg)
				}
				if m.Again && held {
					delete(over, leg)
				}
			case 1:
				l.say(agents.ClusterConfirm{Leg: leg})
			case 2:
				l.say(agents.ClusterRelease{Leg: leg})
				over[leg] = true
			case 3:
				l.say(agents.ClusterHeard{Leg: leg})
			case 4:
				l.say(agents.ClusterInventory{Ref: n})
			case 5:
				l.now = l.now.Add(grid.Duration(n))
				l.say(tick{})
			case 6:
				l.say(agents.SnapshotRequest{Ref: n})
			}
		}
		if err := l.Audit(l.now); err != nil {
			t.Fatal(err)
		}
		again := newLife(Config{})
		for i, x := range l.facts {
			again.Replay(l.at[i], x)
		}
		got, want := again.Image().(facts.ClusterImage).Locks, l.Image().(facts.ClusterImage).Locks
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("by the facts it keeps %+v, it is %+v", got, want)
		}
	})
}
