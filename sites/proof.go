package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// How a site proves its own answers to itself. Every answer about a leg that may have to be
// restored carries a proof, made with a key that is not in the journal. What a broker
// asserts later is restored only as far as the proof supports it, and only if the journal
// ends before the proved answer was given. To tell that, the site records each of its own
// lives. Rows S100 to S104.

// maxEpochs bounds how many of its own latest lives a site remembers.
const maxEpochs = 64

// lived begins a life that proves its answers.
func (m *memory) lived(f facts.SiteBegun) {
	if len(m.epochs) == maxEpochs {
		m.epochs = slices.Delete(m.epochs, 0, 1)
	}
	m.epochs = append(m.epochs, facts.SiteEpoch{Epoch: f.Epoch, From: m.facts - 1})
	if f.Groups != nil {
		m.sizes = grid.WithoutPast(f.Groups)
	}
}

// resized lists the groups of a life that begins, if the record does not say how large they
// are. A journal that an earlier build began gets no such list: that build could not read it,
// and so could not take the site back.
func (m *memory) resized() []grid.GroupNodes {
	if m.sizes == nil && m.facts > 0 || grid.SameSizes(m.cfg.Groups, m.sizes) {
		return nil
	}
	return grid.Sizes(m.cfg.Groups, m.sizes)
}

// reaches reports whether the journal has everything recorded before an answer was given.
// For a life too old to be remembered it assumes so.
func (m *memory) reaches(epoch, seq uint64) bool {
	for i, e := range m.epochs {
		if e.Epoch != epoch {
			continue
		}
		end := m.facts
		if i+1 < len(m.epochs) {
			end = m.epochs[i+1].From
		}
		return seq <= end
	}
	return len(m.epochs) == 0 || seq <= m.epochs[0].From
}

// proof is the proof for an answer about a leg, given now.
func (m *memory) proof(l *leg) grid.Proof {
	return m.cfg.Key.Prove(&agents.ListedLeg{Leg: l.Leg, What: l.What, State: l.State, Fare: l.Fare,
		Version: l.Version, Refund: l.Refund, Penalty: l.Penalty}, m.stamp())
}

// unproven says why a leg is not restored: nothing proves that the site had it and has lost
// it; no reason: a proof does. Rows S100, S101, S104.
func (r *recovery) unproven(a *agents.ListedLeg) (grid.Reason, agents.Row) {
	no := func(row agents.Row, format string, args ...any) (grid.Reason, agents.Row) {
		return grid.Because(grid.Unproven, "leg %v: %v", a.Leg, grid.Say(format, args...)), row
	}
	switch p := &a.Proof; {
	case len(r.cfg.Key) == 0:
		return no("S104", "%s has no key to prove its own answers with, and restores nothing", r.cfg.Name)
	case *p == grid.Proof{}:
		return no("S100", "there is no proof that %s has answered so", r.cfg.Name)
	case !vouches(p.State, a.State):
		return no("S100", "%s has answered that it was %v, which is no proof that it is %v", r.cfg.Name, p.State, a.State)
	case !r.cfg.Key.Proves(a):
		return no("S100", "its proof is of no answer of %s, or was made with a key that %s no longer has", r.cfg.Name, r.cfg.Name)
	case r.reaches(p.Epoch, p.Seq):
		return no("S101", "%s has forgotten nothing since it answered that", r.cfg.Name)
	}
	return grid.Reason{}, "S102"
}

// vouches reports whether the proof of one state is enough to restore another: a state to
// which the broker could have taken the leg since, without gaining by it.
func vouches(answered, asserted grid.LegState) bool {
	switch asserted {
	case grid.Held, grid.Prepared:
		return answered == grid.Held
	case grid.Confirmed, grid.Running:
		return answered == grid.Confirmed
	case grid.Settled: // paid for in full, and its nodes are free
		return answered == grid.Held || answered == grid.Confirmed
	}
	return answered == asserted
}
