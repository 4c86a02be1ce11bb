package sites

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"

	"pgregory.net/rapid"
)

// Whatever brokers say, in whatever order, while the cluster is silent, loses
// nodes and the site dies: the invariants of one site hold after every step.
func TestSite_HoldsItsInvariantsWhateverIsSaid(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"open", "capped", "shared", "crowded"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { wildLife(t, name) })
		})
	}
}

// wildLife is one life of a site at which anything is said.
func wildLife(t *rapid.T, name string) {
	cfg := storyConfig(4)
	cfg.Key = agents.DerivedKey(1, cfg.Name)
	switch name {
	case "capped":
		cfg.Cap = 400_000
	case "shared":
		cfg.VOShare = 60
	case "crowded":
		cfg.MaxWork, cfg.MaxKept = 2, 12
	}
	w := &wild{tale: newStory(cfg, backfill.EASY, []grid.LocalJob{
		{ID: 1, Nodes: 2, Run: 60 * grid.Second, Estimate: 90 * grid.Second},
		{ID: 2, Submit: 20_000, Nodes: 3, Run: 60 * grid.Second, Estimate: 60 * grid.Second}}),
		t: t, states: map[grid.LegID]grid.LegState{}, held: map[grid.LegID]grid.Fare{}}
	w.check = w.step
	for range rapid.IntRange(10, 50).Draw(t, "steps") {
		w.act()
		w.rest()
		w.trace = w.trace[max(0, len(w.trace)-40):]
	}
}

// wild is a story in which anything is said.
type wild struct {
	*tale
	t       *rapid.T
	counted int
	states  map[grid.LegID]grid.LegState // as the facts have them
	held    map[grid.LegID]grid.Fare
	out, in grid.Credits // posted, by the facts
}

// act does one thing, and the same again: n copies have one effect (I6).
func (w *wild) act() {
	switch rapid.IntRange(0, 11).Draw(w.t, "what") {
	case 0:
		w.advance(w.now.Add(grid.Duration(rapid.SampledFrom([]int{1, 500, 3000, 31_000, 120_000, 1_000_000, 100_000_000}).Draw(w.t, "time"))))
	case 1:
		w.silent = rapid.Bool().Draw(w.t, "silent")
	case 2:
		w.lossy = rapid.Bool().Draw(w.t, "lossy")
	case 3:
		w.born()
	case 4:
		w.put(theCluster, "", agents.NodesLost{Group: "main", Count: rapid.IntRange(1, 4).Draw(w.t, "lost"),
			For: grid.Duration(rapid.IntRange(1, 200).Draw(w.t, "for")) * grid.Second})
		w.settle()
	default:
		m := w.natural()
		if m == nil {
			m = w.message()
		}
		from := agents.ID("broker:vo1")
		w.say(from, m)
		before := len(w.facts)
		w.say(from, m)
		if len(w.facts) != before && !w.silent && !w.lossy {
			w.t.Fatalf("I6: the second %s has facts of its own: %s", m.Kind(), traced.Say(w.facts[before].fact))
		}
	}
}

func (w *wild) leg(what string) grid.LegID {
	inc := uint32(rapid.IntRange(1, 3).Draw(w.t, "incarnation"))
	id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: inc, Nonce: uint64(inc), Seq: uint64(rapid.IntRange(1, 4).Draw(w.t, what))}}
	if rapid.IntRange(0, 9).Draw(w.t, "twin") == 0 {
		id.Tx.Nonce = 99
	}
	return id
}

// natural is what a sound broker would say next of a leg that there is, most of
// the time; nil to say anything.
func (w *wild) natural() agents.Message {
	t := w.t
	if len(w.site.kept) == 0 || rapid.IntRange(0, 3).Draw(t, "wild") == 0 {
		return nil
	}
	l := w.site.kept[rapid.IntRange(0, len(w.site.kept)-1).Draw(t, "which")]
	id, by := l.Leg, w.site.life("vo1").highest
	other := rapid.IntRange(0, 2).Draw(t, "other")
	switch l.State {
	case grid.Held:
		if other == 0 {
			return agents.Confirm{Leg: id, DecidedBy: by}
		}
		return agents.Prepare{Leg: id, For: 15 * grid.Minute}
	case grid.Prepared:
		return []agents.Message{agents.Cancel{Leg: id, DecidedBy: by}, agents.Confirm{Leg: id, DecidedBy: by},
			agents.Answer{Leg: id, DecidedBy: by, Verdict: agents.Commit}}[other]
	case grid.Confirmed, grid.Running:
		if other == 0 {
			return agents.Release{Leg: id, DecidedBy: by}
		}
		next := id
		next.Tx.Seq, next.Tx.Incarnation, next.Tx.Nonce = uint64(5+len(w.site.kept)), by, w.site.life("vo1").seen[len(w.site.life("vo1").seen)-1].Nonce
		what := l.What
		what.Nodes, what.Start = rapid.IntRange(1, 4).Draw(t, "nodes"), max(what.Start, w.now.Add(5*grid.Second))
		what.End = max(what.End, what.Start) + grid.Time(other*10_000)
		return agents.Hold{Leg: next, What: what, Job: "job", Limit: 10 * grid.Credit, For: 30 * grid.Second, Replaces: id, Version: l.Version}
	}
	if n := w.site.notices.notice(l); n != nil && !l.noted {
		return agents.Noted{Leg: id, Step: n.Kind()}
	}
	return nil
}

func (w *wild) message() agents.Message {
	t := w.t
	id := w.leg("leg")
	by := uint32(rapid.IntRange(1, 3).Draw(t, "by"))
	what := grid.Leg{Group: "main", Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), Start: w.now.Add(grid.Duration(rapid.IntRange(0, 300).Draw(t, "ahead")) * grid.Second)}
	what.End = what.Start.Add(grid.Duration(rapid.IntRange(1, 100).Draw(t, "long")) * grid.Second)
	switch rapid.IntRange(0, 12).Draw(t, "message") {
	case 0, 1, 2:
		return agents.Hold{Leg: id, What: what, Job: "job", Limit: grid.Credits(rapid.IntRange(0, 6_000_000).Draw(t, "limit")), For: 30 * grid.Second}
	case 3:
		return agents.Hold{Leg: id, What: what, Job: "job", Limit: 10 * grid.Credit, For: 30 * grid.Second,
			Replaces: w.leg("old"), Version: uint32(rapid.IntRange(1, 2).Draw(t, "version"))}
	case 4, 5:
		return agents.Prepare{Leg: id, For: 15 * grid.Minute}
	case 6, 7:
		return agents.Confirm{Leg: id, DecidedBy: by}
	case 8:
		return agents.Cancel{Leg: id, DecidedBy: by}
	case 9:
		return agents.Release{Leg: id, DecidedBy: by, Full: rapid.Bool().Draw(t, "full")}
	case 10:
		return agents.List{Broker: "vo1", Incarnation: by, Nonce: uint64(by), Known: []grid.LegID{id}}
	case 11:
		if rapid.Bool().Draw(t, "noted") {
			return agents.Noted{Leg: id}
		}
		return agents.Answer{Leg: id, DecidedBy: by, Verdict: agents.Verdict(rapid.IntRange(0, 3).Draw(t, "verdict"))}
	}
	state := grid.LegState(rapid.IntRange(0, int(grid.Lost)+1).Draw(t, "state"))
	a := agents.ListedLeg{Leg: id, What: what, State: state, Fare: grid.Fare{Base: 1_000_000}, Left: 20 * grid.Second}
	if state == grid.Released || state == grid.Lost && rapid.Bool().Draw(t, "paid") {
		a.Refund = 500_000
	}
	return agents.Reassert{Leg: a, Incarnation: by, Nonce: uint64(by)}
}

// step checks what one step did.
func (w *wild) step(id agents.ID, out *agents.Outbox) {
	if id == theCluster {
		if err := w.cluster.Audit(w.now); err != nil {
			w.t.Fatalf("I1: %v", err)
		}
		return
	}
	for _, f := range out.Facts {
		switch f := f.(type) {
		case facts.LegMoved:
			w.moved(f)
		case facts.LegRestored:
			w.restored(f.Was)
		case facts.Tombstone:
			w.states[f.Leg] = grid.Cancelled
		case facts.LegsForgotten:
			for _, id := range f.Legs {
				delete(w.states, id)
			}
		}
	}
}

// moved holds a move against the state table (I5) and its price against Held's
// (I10), and counts the money (I8).
func (w *wild) moved(f facts.LegMoved) {
	was := w.states[f.Leg]
	if !was.CanMove(f.State) {
		w.t.Fatalf("I5: leg %v goes from %v to %v", f.Leg, was, f.State)
	}
	w.states[f.Leg] = f.State
	switch f.State {
	case grid.Held:
		w.held[f.Leg] = f.Fare
		if f.Fare.Total() > f.Limit {
			w.t.Fatalf("I10: leg %v is held at %v, above its limit %v", f.Leg, f.Fare, f.Limit)
		}
	case grid.Confirmed:
		w.out += f.Fare.Total()
		if f.Fare != w.held[f.Leg] {
			w.t.Fatalf("I10: leg %v was held at %v and costs %v", f.Leg, w.held[f.Leg], f.Fare)
		}
	case grid.Released, grid.Lost:
		w.in += f.Refund + f.Penalty
		if f.Refund > f.Fare.Total() {
			w.t.Fatalf("I8: leg %v gives %v of %v back", f.Leg, f.Refund, f.Fare)
		}
	}
}

func (w *wild) restored(f facts.LegMoved) {
	was := w.states[f.Leg]
	paidBefore := was == grid.Confirmed || was == grid.Running
	switch f.State {
	case grid.Confirmed, grid.Settled, grid.Released, grid.Lost:
		if !paidBefore && (f.State != grid.Lost || f.Refund > 0) {
			w.out += f.Fare.Total()
		}
	}
	if f.State == grid.Released || f.State == grid.Lost {
		w.in += f.Refund + f.Penalty
	}
	w.states[f.Leg], w.held[f.Leg] = f.State, f.Fare
}

// rest checks the site between two steps.
func (w *wild) rest() {
	w.advance(w.now) // alarms of this instant
	if err := w.site.Ledger().Check(); err != nil {
		w.t.Fatalf("I8: %v", err)
	}
	if a := w.site.Ledger().Account("broker:vo1"); a.Debit != w.out || a.Credit != w.in {
		w.t.Fatalf("I8: the account says out %v in %v, the facts say %v and %v", a.Debit, a.Credit, w.out, w.in)
	}
	locks := w.locks()
	for _, l := range w.site.OpenLegs() {
		if l.State < grid.Confirmed && l.Limit < w.now {
			w.t.Fatalf("I4: leg %v is %v at %v, its limit was %v", l.Leg, l.State, w.now, l.Limit)
		}
		k, kept := locks[l.Leg]
		if !w.silent && len(w.site.requests.line) == 0 && !gives(k) {
			// The word of its loss, or of its confirmation, is still on its way.
			if kept || w.site.legs[l.Leg].order == confirmOrder {
				continue
			}
			w.t.Fatalf("I1: leg %v is %v and has no nodes\n%s", l.Leg, l.State, strings.Join(w.trace, "\n"))
		}
	}
	w.counted++
	if w.counted%4 != 0 {
		return
	}
	image := w.site.Image()
	replayed := New(w.cfg)
	for _, f := range w.facts {
		replayed.Replay(f.at, f.fact)
	}
	w.same("replaying the facts", replayed.Image(), image)
	b, err := json.Marshal(image)
	if err != nil {
		w.t.Fatal(err)
	}
	var read facts.SiteImage
	if err := json.Unmarshal(b, &read); err != nil {
		w.t.Fatal(err)
	}
	again := New(w.cfg)
	again.Replay(w.now, read)
	w.same("beginning with the image", again.Image(), image)
	if byFacts, byImage := story.Lasting(replayed.memory, passing...), story.Lasting(again.memory, passing...); byFacts != byImage {
		w.t.Fatalf("by its facts it knows\n%s\nby its image\n%s", byFacts, byImage)
	}
	w.site.part = 3
	parts := New(w.cfg)
	for i := range w.site.Parts() {
		parts.Replay(w.now, w.site.Part(i))
	}
	w.same("beginning with the parts of the image", parts.Image(), image)
	if p, q := pendings(parts), pendings(w.site); p != q {
		w.t.Fatalf("the parts bring back pending %s, not %s", p, q)
	}
	if p, q := pendings(again), pendings(w.site); p != q {
		w.t.Fatalf("the image brings back pending %s, not %s", p, q)
	}
}

// passing are the fields of the memory that are of one life only, or follow from others.
var passing = []string{"memory.cfg", "memory.part", "memory.open", "memory.epoch", "memory.started", "memory.began", "memory.compared",
	"leg.order", "leg.place", "leg.grace", "leg.ends"}

func pendings(s *Site) string {
	var sum string
	for l := range s.open.each {
		x, ok := s.Ledger().Pending(l.Leg)
		sum += fmt.Sprint(l.Leg, x, ok, " ")
	}
	return sum
}

func (w *wild) same(what string, got, want agents.Fact) {
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		v, _ := json.Marshal(want)
		w.t.Fatalf("%s gives\n%s\nwant\n%s", what, g, v)
	}
}
