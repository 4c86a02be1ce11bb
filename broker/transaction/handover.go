package transaction

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// A job's work goes to the site of each leg with the Confirm. By then the transaction is
// decided, and each site has said in Held what the others must know. The handover
// follows from the facts alone, so that a later life sends the same one.

// Handover is the work that a leg runs, or nil if its job, or its part of the job, has none.
// The legs of all parts are its peers.
func (s *State) Handover(t *Tx, i int) *grid.Handover {
	w := s.host.WorkOf(t.job, t.Part(i))
	if w == nil {
		return nil
	}
	whole, part := s.txs.window(t, i)
	h := &grid.Handover{Work: *w, Job: t.job.Name, User: t.job.User, Leg: part, Legs: len(whole.legs), Part: t.Part(i), Parts: whole.parts}
	names := 0
	for k := range whole.legs {
		if k == part {
			continue
		}
		o, at := whole.carrier(k)
		p := grid.Peer{Site: o.sites[at]}
		if list := o.legs[at].onNodes().names; len(list) > 0 && names+len(list) <= grid.MaxPeerNames {
			p.Nodes = list
			names += len(list)
		}
		h.Peers = append(h.Peers, p)
	}
	for k := range whole.legs {
		if l := whole.legs[k].onNodes(); w.Rendezvous && l.meeting != "" {
			h.Meeting, h.Token = l.meeting, l.token
			break
		}
	}
	return h
}

// window is the transaction that began a leg's window, and the leg's place in it. A leg
// of a repair has the place of the leg it replaces.
func (x *List) window(t *Tx, i int) (*Tx, int) {
	for range x.list { // a bound: no chain of repairs is longer
		of := t.repairs
		if x.Lookup(of) == nil {
			break
		}
		t, i = x.Get(of.Tx), of.Leg
	}
	return t, i
}

// carrier is the leg that now carries part i of a transaction's window: leg i itself, or
// the last leg that replaced it.
func (t *Tx) carrier(i int) (*Tx, int) {
	for _, o := range t.job.txs { // in order of commitment
		if o.repairs == t.LegID(i) {
			t, i = o, 0
		}
	}
	return t, i
}

// Shown is the leg that carries a part of a job's window, or last did; nil if the job
// never had one. Cost: the number of transactions, if the window is lost and another try was begun.
func (x *List) Shown(j *Job, part int) (*Tx, int) {
	var first *Tx
	switch {
	case len(j.txs) > 0:
		first, _ = x.window(j.txs[0], 0)
	case j.last != nil && j.last.state == grid.TxCommitted:
		first, _ = x.window(j.last, 0)
	case j.last != nil: // what ran in a window that is lost stays to be read while others are tried
		for _, t := range slices.Backward(x.list) {
			if t.job == j && t.state == grid.TxCommitted {
				first, _ = x.window(t, 0)
				break
			}
		}
	}
	if first == nil || part < 0 || part >= len(first.legs) {
		return nil, 0
	}
	return first.carrier(part)
}
