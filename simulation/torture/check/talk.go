package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// talk is what the checker knows of messages: what end states do not show.
type talk struct {
	*Checker
	heard map[heardKey]bool // by live brokers
	first map[limitKey]grid.Time
	hold  map[limitKey]grid.Duration
	sent  map[sentKey]grid.Time // by when a live broker must have what it asks for
}

// sentKey is a step that a broker takes of all legs of a transaction.
type sentKey struct {
	tx   grid.TxID
	step string
}

// heardKey is a reply that a life of a broker has heard.
type heardKey struct {
	process int
	life    uint64
	leg     grid.LegID
	kind    string
}

func newTalk(c *Checker) *talk {
	return &talk{Checker: c, heard: map[heardKey]bool{}, first: map[limitKey]grid.Time{}, hold: map[limitKey]grid.Duration{},
		sent: map[sentKey]grid.Time{}}
}

// begin forgets what an earlier life of a process had been asked.
func (t *talk) begin(l *sim.Life) {
	for k := range t.first {
		if k.process == l.Process {
			delete(t.first, k)
		}
	}
}

// before notes what a step was handed, before its facts are taken in.
func (t *talk) before(s *sim.Step, m *mirror) error {
	t.told.asks(s, m)
	if m.fenced && len(s.Sends) > 0 {
		if _, anew := s.Message.(agents.Started); !anew {
			return fmt.Errorf("I7: %s knows that it is fenced and sends a %s", s.ID, s.Sends[0].Message.Kind())
		}
	}
	for _, x := range s.Sends {
		if latest, ok := fencing(x); ok && latest != m.seen[strings.TrimPrefix(string(x.To), "broker:")] {
			return fmt.Errorf("I7: %s fences %s and names life %d, it has seen life %d", s.ID, x.To, latest, m.seen[strings.TrimPrefix(string(x.To), "broker:")])
		}
	}
	switch x := s.Message.(type) {
	case agents.Held, agents.Prepared:
		t.heard[heardKey{s.Process, s.Life, x.(agents.OfLeg).LegID(), x.Kind()}] = true
	case agents.Refused:
		if x.Step == "Hold" {
			t.leg(x.Leg).refused = true
		}
	case agents.Hold:
		k := limitKey{s.Process, x.Leg}
		if _, again := t.first[k]; !again {
			t.first[k], t.hold[k] = s.Now, min(x.For, world.HoldLimit)
		}
		old := x.Leg.Tx.Incarnation < m.seen[x.Leg.Tx.Broker]
		twin := m.otherNonce(x.Leg.Tx.Broker, x.Leg.Tx.Incarnation, x.Leg.Tx.Nonce)
		if (old || twin) && !s.Died && !slices.ContainsFunc(s.Sends, fencedOff) {
			return fmt.Errorf("I7: a Hold of leg %v is not fenced: incarnation %d has spoken, another nonce of its own: %t", x.Leg, m.seen[x.Leg.Tx.Broker], twin)
		}
		return conflict(s, m, x)
	case agents.List:
		if m.otherNonce(x.Broker, x.Incarnation, x.Nonce) && slices.ContainsFunc(s.Sends, listed) {
			return fmt.Errorf("I7: %v lists legs to a process of %s that has another's counter", s.ID, x.Broker)
		}
	case agents.Decision:
		if a, ok := x.(agents.Answer); ok && a.Verdict != agents.Commit && a.Verdict != agents.Abort && moves(s.Facts, a.Leg) {
			return fmt.Errorf("S34: the answer %v moves leg %v", a.Verdict, a.Leg)
		}
		return t.fenced(s, m, x.LegID(), x.Decider())
	case agents.Prepare:
		if x.Leg.Tx.Incarnation < m.seen[x.Leg.Tx.Broker] && moves(s.Facts, x.Leg) {
			return fmt.Errorf("I7: leg %v is prepared, incarnation %d has spoken", x.Leg, m.seen[x.Leg.Tx.Broker])
		}
	}
	return nil
}

// fenced checks I7 on a decision: taken by a life before one that has listed its
// legs, it has no effect.
func (t *talk) fenced(s *sim.Step, m *mirror, leg grid.LegID, by uint32) error {
	if by < m.listed[leg.Tx.Broker] && moves(s.Facts, leg) {
		return fmt.Errorf("I7: a decision of incarnation %d moves leg %v, incarnation %d has listed it", by, leg, m.listed[leg.Tx.Broker])
	}
	return nil
}

// listed reports whether a message is a Listing that was not refused.
func listed(s agents.Send) bool {
	r, ok := s.Message.(agents.Listing)
	return ok && !r.Refusal.Refused()
}

func moves(recorded []agents.Fact, leg grid.LegID) bool {
	return slices.ContainsFunc(recorded, func(f agents.Fact) bool {
		x, ok := f.(facts.LegMoved)
		return ok && x.Leg == leg
	})
}

// fencedOff reports whether a message refuses something that another life or process of a
// broker has fenced.
func fencedOff(s agents.Send) bool {
	r, ok := s.Message.(agents.Refused)
	return ok && r.Reason.Code == grid.Fenced
}

// fencing returns the life that a refusal tells a fenced one of.
func fencing(s agents.Send) (latest uint32, ok bool) {
	switch x := s.Message.(type) {
	case agents.Refused:
		return x.Latest, x.Reason.Code == grid.Fenced
	case agents.Listing:
		return x.Latest, x.Refusal.Code == grid.Fenced
	case agents.Offers:
		return x.Latest, x.Refusal.Code == grid.Fenced
	}
	return 0, false
}

// after notes what a step has done: the limits that now run (I4), and what a
// site has answered and must stand by (I11).
func (t *talk) after(s *sim.Step, m *mirror) error {
	for _, f := range s.Facts {
		if r, ok := f.(facts.LegRestored); ok { // its limit counts afresh: what ran before was lost with the journal
			t.limits[limitKey{s.Process, r.Was.Leg}] = s.Now.Add(world.InDoubtLimit)
			continue
		}
		x, ok := f.(facts.LegMoved)
		if !ok {
			continue
		}
		k := limitKey{s.Process, x.Leg}
		switch x.State {
		case grid.Held:
			if at, known := t.first[k]; known {
				t.limits[k] = at.Add(t.hold[k])
			}
		case grid.Prepared:
			if p, ok := s.Message.(agents.Prepare); ok {
				t.limits[k] = s.Now.Add(min(p.For, world.InDoubtLimit))
			}
		}
	}
	for _, x := range s.Sends {
		switch r := x.Message.(type) {
		case agents.Hold:
			t.leg(r.Leg).asked = true
			t.sends(s, r.Leg.Tx, "Hold", r.For)
		case agents.Prepare:
			if err := t.inPatience(s, r.Leg.Tx, "Hold"); err != nil {
				return err
			}
			t.sends(s, r.Leg.Tx, "Prepare", r.For)
		case agents.Held:
			if err := t.stands(s, m, r.Leg, "Held", grid.LegState.Blocks); err != nil {
				return err
			}
			if l := m.legs[r.Leg]; l != nil && l.Fare != r.Fare {
				return fmt.Errorf("I10: the record has leg %v at %v, Held says %v", r.Leg, l.Fare, r.Fare)
			}
		case agents.Prepared:
			if err := t.stands(s, m, r.Leg, "Prepared", grid.LegState.Blocks); err != nil {
				return err
			}
		case agents.Inquire:
			t.leg(r.Leg).inquired = true
		case agents.Release:
			if err := t.inFull(s, m, r); err != nil {
				return err
			}
		case agents.SubmitReply, agents.JobReply:
			if err := t.saysTrue(s, m, r); err != nil {
				return err
			}
		case agents.Cancelled:
			t.leg(r.Leg).told = true
		case agents.Listing:
			if l, ok := s.Message.(agents.List); ok && !r.Refusal.Refused() {
				t.listing(l, r)
			}
		case agents.Confirmed:
			t.leg(r.Leg).acked = true
			if err := t.stands(s, m, r.Leg, "Confirmed", paid); err != nil {
				return err
			}
		}
	}
	return nil
}

// listing notes what a site has said not to have: it must never have it.
func (t *talk) listing(l agents.List, r agents.Listing) {
	for _, id := range l.Known {
		if !slices.ContainsFunc(r.Legs, func(x agents.ListedLeg) bool { return x.Leg == id }) {
			t.leg(id).told = true
		}
	}
}

// conflict checks that the same step with other content is refused.
func conflict(s *sim.Step, m *mirror, x agents.Hold) error {
	l := m.legs[x.Leg]
	if l == nil || l.Digest == 0 || l.Digest == x.Digest() {
		return nil
	}
	for _, r := range s.Sends {
		if h, ok := r.Message.(agents.Held); ok && h.Leg == x.Leg {
			return fmt.Errorf("I6: another Hold of leg %v with other content is answered Held", x.Leg)
		}
	}
	return nil
}

// stands checks that a site's answer is on its record, unless it is the stored answer of a
// leg that has gone on since.
func (t *talk) stands(s *sim.Step, m *mirror, leg grid.LegID, word string, good func(grid.LegState) bool) error {
	l := m.legs[leg]
	if l != nil && (good(l.State) || l.State.Terminal() && l.State != grid.Refused) || t.exempt[leg] {
		return nil
	}
	state := "unknown"
	if l != nil {
		state = l.State.String()
	}
	return fmt.Errorf("I11: %s says %s for leg %v, its record has it as %s", s.ID, word, leg, state)
}

// paid reports whether a leg in state s has been confirmed and is not lost.
func paid(s grid.LegState) bool {
	return s == grid.Confirmed || s == grid.Running || s == grid.Settled
}

// sends notes the first time that a broker asks for something under a limit: by
// when it must have it.
func (t *talk) sends(s *sim.Step, tx grid.TxID, step string, limit grid.Duration) {
	k := sentKey{tx, step}
	if _, again := t.sent[k]; !again {
		t.sent[k] = s.Now.Add(max(limit*8/10-2*grid.Second, limit/2))
	}
}

// inPatience checks that a broker goes on only while it can rely on what it has
// asked for: on its own clock, so that it holds however late it hears of a lapse.
// A Prepare that is said again was in time when it was said first.
func (t *talk) inPatience(s *sim.Step, tx grid.TxID, step string) error {
	if _, again := t.sent[sentKey{tx, "Prepare"}]; again && step == "Hold" {
		return nil
	}
	if until := t.sent[sentKey{tx, step}]; s.Now >= until {
		return fmt.Errorf("I15: at %v %v is gone on with, what its %s asked for was to be given up at %v", s.Now, tx, step, until)
	}
	return nil
}

// mayCommit checks I15 at the instant of a live broker's COMMIT: it has heard what it needs
// about every leg, and no leg is gone. One may go while replicas agree on their leader's
// decision. A broker with a twin cannot know what that has done; it is fenced where its
// decision would matter.
func (t *talk) mayCommit(s *sim.Step, x *txTruth) error {
	kind, step := "Held", "Hold"
	if len(x.begun.Legs) > 1 {
		kind, step = "Prepared", "Prepare"
	}
	for i := range x.begun.Legs {
		id := grid.LegID{Tx: x.begun.Tx, Leg: i}
		if !t.heard[heardKey{int(x.by[0]), x.by[1], id, kind}] {
			return fmt.Errorf("I15: %v is committed without a %s of leg %d", x.begun.Tx, kind, i)
		}
		if l := t.leg(id); l.gone > 0 && l.gone <= s.At && !t.exempt[id] && !t.w.Twins(world.BrokerID(id.Tx.Broker)) {
			return fmt.Errorf("I15: %v is committed, its leg %d has gone", x.begun.Tx, i)
		}
	}
	return t.inPatience(s, x.begun.Tx, step)
}

// sortedLocks lists what clusters keep, in order.
func sortedLocks(locks map[lockKey]bool) []lockKey {
	return slices.SortedFunc(maps.Keys(locks), func(a, b lockKey) int {
		return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.leg.String(), b.leg.String()))
	})
}

// sortedLegs lists the legs of a map in order of their names.
func sortedLegs[V any](legs map[grid.LegID]V) []grid.LegID {
	return slices.SortedFunc(maps.Keys(legs), func(a, b grid.LegID) int {
		return cmp.Or(cmp.Compare(a.Tx.Broker, b.Tx.Broker), cmp.Compare(a.Tx.Incarnation, b.Tx.Incarnation),
			cmp.Compare(a.Tx.Seq, b.Tx.Seq), cmp.Compare(a.Tx.Nonce, b.Tx.Nonce), cmp.Compare(a.Leg, b.Leg))
	})
}
