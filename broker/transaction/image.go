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

func (t *Tx) image(started bool) facts.TxMemory {
	m := facts.TxMemory{State: t.state, GivenUp: t.givenUp, Detached: t.apart, Reason: t.reason}
	m.TxBegun = facts.TxBegun{Tx: t.id, Job: t.job.Name, Alternative: t.number, Sites: t.sites,
		Repairs: t.repairs, Spare: t.spare, Flex: t.flex, Offer: t.offer}
	if t.request != nil {
		m.TxBegun.Request = *t.request
	}
	if m.State == grid.TxPreparing {
		m.State = grid.TxHolding // Preparing is not on record
	}
	for i := range t.legs {
		l := &t.legs[i]
		x := l.onNodes()
		m.Legs, m.Limits = append(m.Legs, l.what), append(m.Limits, l.limit)
		if l.Replaces() != (grid.LegID{}) {
			m.Replaces = append(m.Replaces, make([]grid.LegID, i+1-len(m.Replaces))...)
			m.Replaces[i] = l.Replaces()
		}
		m.Memory = append(m.Memory, facts.LegRecord{State: l.Recorded(started), Fare: l.fare, End: l.end, Back: l.back, Version: l.version,
			Priced: l.priced, Charged: l.charged, Closed: l.closed, Mended: l.mended, Moved: l.moved, InFull: l.inFull, Undone: l.undone, Shifts: l.shifts, Proof: l.proof,
			Claim: l.claim, Settled: l.given && !l.claim, Borne: l.borne,
			Names: x.names, Meeting: x.meeting, Token: x.token, Result: x.result})
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
	t.state, t.givenUp, t.apart = m.State, m.GivenUp, m.Detached
	t.because(m.Reason)
	s.txs.keep(t)
	for i, r := range m.Memory {
		l := &t.legs[i]
		l.state, l.fare, l.end, l.version = r.State, r.Fare, r.End, r.Version
		l.priced, l.charged, l.closed, l.mended, l.moved = r.Priced, r.Charged, r.Closed, r.Mended, r.Moved
		l.inFull, l.undone, l.proof = r.InFull, r.Undone, r.Proof
		l.claim, l.given = r.Claim, r.Claim || r.Settled
		if r.Shifts > 0 || r.Back != 0 || r.Borne != 0 {
			own := l.own()
			own.shifts, own.back, own.borne = r.Shifts, r.Back, r.Borne
		}
		l.know(realLeg{r.Names, r.Meeting, r.Token, r.Result})
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
