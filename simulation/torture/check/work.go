package check

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// brings reports whether a leg brings work: its job does, as its user has submitted it.
func (b *behind) brings(id grid.LegID) bool {
	t := b.c.txs[id.Tx]
	return t != nil && t.job.Work != nil
}

// submits checks that a cluster does not rely on its driver to begin work only once: it
// must not submit what it has on record as begun, or what has really begun (I22). What it
// hands over must be its job's (I20).
func (b *behind) submits(x *behindSite, s *sim.Step) error {
	for _, f := range s.Facts {
		if f, ok := f.(facts.LockMoved); ok {
			b.begins[b.name(f.Leg)] = f.State == facts.LockRunning
		}
	}
	for _, out := range s.Sends {
		c, ok := out.Message.(agents.Command)
		if !ok || c.Verb != agents.Run {
			continue
		}
		if b.begins[c.Name] {
			return fmt.Errorf("I22: %s has on record that the work of leg %v runs, and submits it", s.ID, b.legs[c.Name])
		}
		for _, r := range x.manager.Runs() {
			if r.Name == c.Name && r.Begun < s.At {
				return fmt.Errorf("I22: the work of leg %v has begun at %v, and %s submits it", b.legs[c.Name], r.Begun, s.ID)
			}
		}
		if err := b.handsOver(x, c); err != nil {
			return err
		}
	}
	return nil
}

// handsOver checks the work submitted for a leg: it is its job's, it runs under its user's
// account there, and it meets the other legs if one of the window's sites has a place for
// them.
func (b *behind) handsOver(x *behindSite, c agents.Command) error {
	id := b.legs[c.Name]
	t := b.c.txs[id.Tx]
	if t == nil || b.c.exempt[id] || c.Work == nil {
		return nil
	}
	if !c.Work.Work.Same(t.job.Work) || c.Work.Job != t.job.Name || !x.site.RunsAs(t.job.User, c.User) {
		return fmt.Errorf("I20: for leg %v of job %s of %s, %+v is submitted as %s", id, t.job.Name, t.job.User, *c.Work, c.User)
	}
	if t.begun.Repairs.Tx.Seq > 0 || t.begun.Replaces != nil {
		return nil // its window is that of another transaction
	}
	meets := ""
	for _, name := range t.begun.Sites {
		for i := range b.c.w.Sites {
			if s := &b.c.w.Sites[i]; s.Config.Name == name && t.job.Work.Rendezvous && meets == "" {
				meets = s.Config.Meeting
			}
		}
	}
	if c.Work.Legs != len(t.begun.Legs) || c.Work.Leg != id.Leg || c.Work.Meeting != meets || (c.Work.Token != "") != (meets != "") {
		return fmt.Errorf("I20: leg %v of a window at %v is told that it is %d of %d and meets at %q", id, t.begun.Sites, c.Work.Leg, c.Work.Legs, c.Work.Meeting)
	}
	return nil
}

// result checks a broker's record of a leg that has run: its work has begun in the manager
// (I20), once (I22), and the result is true.
func (b *behind) result(f facts.LegDone) error {
	t := b.c.txs[f.Leg.Tx]
	if f.State != grid.Settled || f.Claim || b.c.exempt[f.Leg] || !b.brings(f.Leg) || f.Leg.Leg >= len(t.begun.Sites) {
		return nil
	}
	x := b.sites[world.DriverID(t.begun.Sites[f.Leg.Leg])]
	if x == nil {
		return nil
	}
	var runs []*manager.Run
	begun := false // as is said: what finds its mark has begun too, for a moment
	for _, r := range x.manager.Runs() {
		if r.Name != b.name(f.Leg) {
			continue
		}
		begun = begun || f.Result != nil && off(f.Result.Begin, r.Begun) <= world.MaxOff+grid.Second
		if !r.Again {
			runs = append(runs, r)
		}
	}
	switch {
	case len(runs) == 0:
		return fmt.Errorf("I20: leg %v has run by its broker's record, and its work has not begun", f.Leg)
	case len(runs) > 1:
		return fmt.Errorf("I22: the work of leg %v has begun %d times", f.Leg, len(runs))
	case f.Result == nil:
		return fmt.Errorf("I20: leg %v has run by its broker's record, which does not say how its work has ended", f.Leg)
	}
	if r, said := runs[0], f.Result; said.Known && (r.Over == 0 || said.Exit != r.Exit) ||
		said.Begin > 0 && !begun || said.End > 0 && said.End < r.Over.Add(-world.MaxOff) {
		return fmt.Errorf("I20: the work of leg %v ran from %v to %v with %d, and its broker has %+v", f.Leg, r.Begun, r.Over, r.Exit, *said)
	}
	return nil
}

// off is how far two instants are from each other.
func off(a, b grid.Time) grid.Duration { return max(a.Sub(b), b.Sub(a)) }
