package transaction

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Image writes what an image has of the state besides single transactions.
func (s *State) Image(f *facts.BrokerImage) {
	f.Seq = s.txs.begun()
	s.peers.image(f)
}

// ImageOf is the image of the i-th transaction on record.
func (s *State) ImageOf(i int) facts.TxMemory { return s.txs.All()[i].image(s.cfg.Starts) }

// Load replaces the state by that of an image, whose transactions are still to be loaded. The
// lives must have been loaded before them.
func (s *State) Load(at grid.Time, f *facts.BrokerImage) {
	s.txs.load(f.Seq)
	s.peers.load(at, f)
}

// A way is that from the state to an image, or back. What is kept of a transaction or a leg
// stands in one line for both.
type way bool

const (
	toImage   way = true
	fromImage way = false
)

// both copies a field to an image, or back.
func both[T any](w way, field, image *T) {
	if w == toImage {
		*image = *field
	} else {
		*field = *image
	}
}

// kept copies what is kept of a transaction beyond the fact that began it.
func (t *Tx) kept(w way, m *facts.TxMemory) {
	both(w, &t.state, &m.State)
	both(w, &t.givenUp, &m.GivenUp)
	both(w, &t.apart, &m.Detached)
	if w == fromImage {
		t.because(m.Reason)
		return
	}
	m.Reason = t.reason
	if m.State == grid.TxPreparing {
		m.State = grid.TxHolding // Preparing is not on record
	}
}

// kept copies what is kept of a leg beyond the fact that began it, and its state.
func (l *Leg) kept(w way, r *facts.LegRecord) {
	both(w, &l.fare, &r.Fare)
	both(w, &l.end, &r.End)
	both(w, &l.version, &r.Version)
	both(w, &l.priced, &r.Priced)
	both(w, &l.charged, &r.Charged)
	both(w, &l.closed, &r.Closed)
	both(w, &l.mended, &r.Mended)
	both(w, &l.moved, &r.Moved)
	both(w, &l.proof, &r.Proof)
	both(w, &l.claim, &r.Claim)
	odd := l.oddities
	if w == fromImage && (r.Shifts > 0 || r.Back != 0 || r.Borne != 0 || r.InFull || r.Undone) {
		odd = l.own()
	}
	if w == toImage || odd != &noOddities {
		both(w, &odd.shifts, &r.Shifts)
		both(w, &odd.inFull, &r.InFull)
		both(w, &odd.undone, &r.Undone)
		both(w, &odd.back, &r.Back)
		both(w, &odd.borne, &r.Borne)
	}
	x := l.onNodes()
	both(w, &x.names, &r.Names)
	both(w, &x.meeting, &r.Meeting)
	both(w, &x.token, &r.Token)
	both(w, &x.result, &r.Result)
	if w == fromImage {
		l.know(x)
	}
}

func (t *Tx) image(started bool) facts.TxMemory {
	m := facts.TxMemory{TxBegun: facts.TxBegun{Tx: t.id, Job: t.job.Name, Alternative: t.number, Sites: t.sites,
		Repairs: t.repairs, Spare: t.spare, Flex: t.flex, Offer: t.offer, Parts: t.parts, Pilots: t.pilots}}
	if t.request != nil {
		m.TxBegun.Request = *t.request
	}
	t.kept(toImage, &m)
	for i := range t.legs {
		l := &t.legs[i]
		m.Legs, m.Limits = append(m.Legs, l.what), append(m.Limits, l.limit)
		if l.Replaces() != (grid.LegID{}) {
			m.Replaces = append(m.Replaces, make([]grid.LegID, i+1-len(m.Replaces))...)
			m.Replaces[i] = l.Replaces()
		}
		r := facts.LegRecord{State: l.Recorded(started), Settled: l.given && !l.claim}
		l.kept(toImage, &r)
		m.Memory = append(m.Memory, r)
	}
	return m
}

// Recorded is the state of a leg as far as the facts tell. started says whether the
// facts tell that a leg has started.
func (l *Leg) Recorded(started bool) grid.LegState {
	switch {
	case l.state == grid.Prepared:
		return grid.Held
	case l.state == grid.Running && !started:
		return grid.Confirmed
	case l.state == grid.Refused, l.state == grid.Cancelled && !l.closed:
		if l.priced {
			return grid.Held
		}
		return grid.Asked
	}
	return l.state
}

// LoadTx adds a transaction of an image.
func (s *State) LoadTx(at grid.Time, m facts.TxMemory) *Tx {
	t := s.begun(m.TxBegun)
	t.kept(fromImage, &m)
	s.txs.keep(t)
	for i := range m.Memory {
		l, r := &t.legs[i], &m.Memory[i]
		l.kept(fromImage, r)
		l.state, l.given = r.State, r.Claim || r.Settled
		if t.sites[i] == "" {
			continue
		}
		if p := s.peers.Ensure(at, t.Site(i)); s.lives.Presumes(t.id) { // images of earlier versions do not say it elsewhere
			p.deals(t.id.Incarnation)
		}
		if !l.closed && t.state != grid.TxAborted {
			amount := l.limit
			if l.priced {
				amount = l.fare.Total()
			}
			s.accounts.Reserve(t.LegID(i), t.job.User, t.sites[i], amount)
		}
	}
	if t.state == grid.TxCommitted && !t.apart {
		t.job.txs = append(t.job.txs, t)
	}
	return t
}
