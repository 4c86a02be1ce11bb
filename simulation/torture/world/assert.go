package world

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/linear"
)

// What a member asserts that means no good. It has a broker's certificate, and so
// the broker's name, the numbers of its lives and the proofs that sites have given
// it: a key of theirs it does not have.

// spied is what the hostile member knows.
type spied struct {
	asked map[grid.LegID]agents.Hold
	sold  map[agents.ID][]agents.ListedLeg // what a site has answered, with its proofs
}

// maxSpied bounds what it remembers of a site.
const maxSpied = 64

// assert makes the broker of a fault claim, next to a step of a leg, what that leg, or one
// that never existed, was supposed to be. It reports whether it did.
func (w *World) assert(f sim.Fault, draw uint64, from, to agents.ID, m agents.Message) bool {
	if from != f.Host {
		w.spied.hear(from, m)
		return false
	}
	w.spied.say(m)
	id, ok := linear.StepOf(m)
	if !ok || int(draw>>8%1000) >= f.Share {
		return false
	}
	a := invented(id, draw)
	if h, known := w.spied.asked[id]; known {
		a.What.Group = h.What.Group
	}
	if sold := w.spied.sold[to]; draw&1 == 0 && len(sold) > 0 {
		a = sold[draw>>20%uint64(len(sold))]
	}
	w.Inject(w.Now().Add(grid.Duration(draw>>32%5_000)), from, to, agents.Reassert{Leg: a, Incarnation: id.Tx.Incarnation, Nonce: id.Tx.Nonce})
	return true
}

func (x *spied) say(m agents.Message) {
	if h, ok := m.(agents.Hold); ok {
		if x.asked == nil {
			x.asked, x.sold = map[grid.LegID]agents.Hold{}, map[agents.ID][]agents.ListedLeg{}
		}
		x.asked[h.Leg] = h
	}
}

// hear keeps what a site proves.
func (x *spied) hear(site agents.ID, m agents.Message) {
	var a agents.ListedLeg
	switch m := m.(type) {
	case agents.Held:
		h, known := x.asked[m.Leg]
		if !known {
			return
		}
		a = agents.ListedLeg{Leg: m.Leg, What: h.What, Job: h.Job, User: h.User, Limit: h.Limit, State: grid.Prepared, Left: InDoubtLimit,
			Fare: m.Fare, Version: m.Version, Proof: m.Proof}
		if m.End > 0 {
			a.What.Start, a.What.End = m.Start, m.End
		}
	case agents.Confirmed:
		i := slices.IndexFunc(x.sold[site], func(o agents.ListedLeg) bool { return o.Leg == m.Leg })
		if i < 0 {
			return
		}
		a = x.sold[site][i]
		a.State, a.Left, a.Proof = grid.Confirmed, 0, m.Proof
	}
	if a.Proof == (grid.Proof{}) {
		return
	}
	list := append(x.sold[site], a)
	x.sold[site] = list[max(0, len(list)-maxSpied):]
}

// invented returns a leg that no site ever had: all nodes of the site for nothing, or a
// refund above what was ever paid, with a made-up proof.
func invented(near grid.LegID, draw uint64) agents.ListedLeg {
	a := agents.ListedLeg{Leg: near, Job: "mine", State: grid.Confirmed, Version: 1,
		What: grid.Leg{Group: "g1", Nodes: 4, Start: Start.Add(Storm + 5*grid.Minute), End: Start.Add(Storm + grid.Hour)}}
	a.Leg.Tx.Seq += 1_000_000 + draw>>40
	switch draw >> 4 % 4 {
	case 1:
		a.State, a.Refund = grid.Released, 1_000_000*grid.Credit
	case 2:
		a.State, a.Left = grid.Prepared, InDoubtLimit
	case 3:
		a.State, a.Fare.Base, a.Refund, a.Penalty = grid.Lost, grid.Credit, grid.Credit, 10*grid.Credit
	}
	if draw&2 != 0 {
		a.Proof = agents.DerivedKey(draw, "nobody").Prove(&a, agents.Stamp{Epoch: draw, Seq: 1 << 40})
	}
	return a
}
