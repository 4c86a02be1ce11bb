package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// What jobs that are gathered by pilots must never do ("Co-start without rights", section Never),
// held against what has truly happened in the managers: G1 idle above the allowance; G2 work in a
// pilot without COMMIT, twice, or after it has left; G3 a pilot that outlasts its job; G4 a node of
// a pilot sold twice, or beyond the pilot's limit; G5 more pilots than a site takes, or what is not
// ours touched (that is I21). A gather whose broker has lost facts is exempt from G1: it is not the
// one that is on record.

// pilots is what is known of them.
type pilots struct {
	b      *behind
	names  map[string]grid.LegID      // of pilots, by what they are called in a manager
	of     map[grid.TxID]*gatherTruth // by the gather's identity
	window map[grid.LegID]grid.Time   // by pilot: when the window begins that was committed on its nodes
	leg    map[grid.LegID]grid.LegID  // by pilot: the leg that has its nodes
	charge map[grid.LegID]charge
	lossy  map[string]bool // sites that have lost facts, or their clusters
}

// gatherTruth is a job that is gathered.
type gatherTruth struct {
	broker, job string
	most        grid.Duration            // that all its pilots may idle: node-time
	without     map[grid.LegID]grid.Time // since when a pilot is not wanted any more
	there       map[grid.LegID]bool      // wanted
	paid        map[grid.LegID]grid.Credits
	exempt      bool
}

// charge is what a site has charged for a pilot, and when.
type charge struct {
	site string
	cost grid.Credits
	at   grid.Time
}

func newPilots(b *behind) *pilots {
	return &pilots{b: b, names: map[string]grid.LegID{}, of: map[grid.TxID]*gatherTruth{}, window: map[grid.LegID]grid.Time{}, leg: map[grid.LegID]grid.LegID{}, charge: map[grid.LegID]charge{}, lossy: map[string]bool{}}
}

// step takes note of the pilots that clusters are asked for.
func (p *pilots) step(s *sim.Step) {
	if m, ok := s.Message.(agents.ClusterPilotsRequest); ok {
		for _, o := range m.Ask.Orders {
			p.names[managed.Name(world.Prefix, o.Pilot)] = o.Pilot
		}
	}
}

// take takes what a broker and a site record of pilots.
func (p *pilots) take(s *sim.Step, m *mirror, f agents.Fact) {
	switch f := f.(type) {
	case facts.Gathered:
		p.gathered(s, m, f)
	case facts.PilotCharged:
		p.charges(s, f)
	}
}

// gathered takes how far a job is by its broker's record.
func (p *pilots) gathered(s *sim.Step, m *mirror, f facts.Gathered) {
	g := p.of[f.State.ID]
	if g == nil {
		g = &gatherTruth{broker: f.State.ID.Broker, job: f.Job, without: map[grid.LegID]grid.Time{}, there: map[grid.LegID]bool{}, paid: map[grid.LegID]grid.Credits{}}
		p.of[f.State.ID] = g
	}
	j := m.jobs[f.Job]
	parts, nodes := j.Parts, int64(0)
	if j.Gather != nil && j.Gather.Queue {
		parts = []grid.JobPart{{Nodes: j.Nodes, Length: j.Length}}
	}
	for i := range parts {
		nodes += int64(parts[i].Nodes)
	}
	if j.Gather != nil && len(parts) > 0 {
		seconds := j.Gather.Waste * (int64(parts[0].Length/grid.Second) * nodes) / grid.WasteUnit
		g.most = max(g.most, grid.Duration(seconds)*grid.Second)
	}
	there := map[grid.LegID]bool{}
	for _, x := range f.State.Pilots {
		if id := (grid.LegID{Tx: f.State.ID, Leg: x.Part + grid.MaxParts*x.Number}); !x.Given {
			there[id] = true
			delete(g.without, id)
		}
	}
	for id := range g.there {
		if !there[id] {
			g.without[id] = s.At
		}
	}
	g.there = there
	for _, x := range f.Idled {
		g.paid[x.Pilot] += x.Posted
	}
}

// committed takes note of the windows on pilots' nodes.
func (p *pilots) committed(f *facts.TxBegun) {
	for i, id := range f.Pilots {
		p.window[id] = f.Legs[i].Start
	}
}

// exempts leaves out what an agent has to do with that has lost facts, or has a twin.
func (p *pilots) exempts(id agents.ID) {
	for _, g := range p.of {
		g.exempt = g.exempt || world.BrokerID(g.broker) == id
	}
	if _, name, _ := strings.Cut(string(id), ":"); id != world.BrokerID(name) {
		p.lossy[name] = true
	}
}

// idled is what the pilots of a job have truly idled so far: node-time.
func (p *pilots) idled(g *gatherTruth) (sum grid.Duration) {
	for _, x := range p.b.sites {
		for _, r := range x.manager.Runs() {
			id, known := p.names[r.Name]
			o := p.of[id.Tx]
			if !known || !r.Pilot || o == nil || o.broker != g.broker || o.job != g.job || o.exempt && !g.exempt { // the one that was lost is not on record
				continue
			}
			end := cmp.Or(r.Over, p.b.c.w.Now())
			if w := p.window[id]; w > 0 {
				end = min(end, w)
			}
			sum += max(0, end.Sub(r.Begun)) * grid.Duration(len(r.Nodes))
		}
	}
	return sum
}

// atSite checks what is at a site now (G1, G3, G5).
func (p *pilots) atSite(x *behindSite) error {
	if x.site.MaxPilots() == 0 {
		return nil
	}
	there := map[string]bool{}
	gathers := map[grid.TxID]bool{}
	for _, k := range x.manager.Kept() {
		id, known := p.names[k.Name]
		if !known || !k.Ours {
			continue
		}
		there[k.Name], gathers[id.Tx] = true, true
		if err := p.outlasts(x, id, &k); err != nil {
			return err
		}
	}
	if len(there) > x.site.MaxPilots() {
		return fmt.Errorf("G5: %d pilots are at %s, which takes %d: %v", len(there), x.site.Config.Name, x.site.MaxPilots(), slices.Sorted(maps.Keys(there)))
	}
	for id := range gathers {
		if g := p.of[id]; g != nil && !g.exempt && p.idled(g) > g.most {
			return fmt.Errorf("G1: pilots of job %s of %s have idled %v of %v", g.job, g.broker, p.idled(g), g.most)
		}
	}
	return nil
}

// atRest checks G1 of all.
func (p *pilots) atRest() error {
	for _, id := range slices.SortedFunc(maps.Keys(p.of), func(a, b grid.TxID) int { return strings.Compare(a.String(), b.String()) }) {
		if g := p.of[id]; !g.exempt && p.idled(g) > g.most {
			return fmt.Errorf("G1: pilots of job %s of %s have idled %v of %v", g.job, g.broker, p.idled(g), g.most)
		}
	}
	return nil
}

// outlasts checks that a pilot goes within ten minutes of when it is not wanted any more, or of the
// last trouble that may have kept it (G3). Nobody may be there to tell it; then it goes once
// it was not asked for for long enough.
func (p *pilots) outlasts(x *behindSite, id grid.LegID, k *manager.Kept) error {
	g, now := p.of[id.Tx], p.b.c.w.Now()
	if g == nil || g.there[id] {
		return nil
	}
	since, bound := g.without[id], orphanBound
	if since == 0 || g.exempt || p.b.c.of(world.BrokerID(g.broker)) == nil {
		bound += agents.PilotLease
	}
	key := difference{id, "its broker does not want it"}
	if p.b.since[key] == 0 {
		p.b.since[key] = now
	}
	since = max(since, p.window[id], p.troubled(x, g), p.b.since[key].Add(-agents.PilotLease))
	if l := p.leg[id]; p.window[id] > 0 && p.b.c.txs[l.Tx] != nil { // its work may go on to the end of the window
		since = max(since, p.b.c.txs[l.Tx].begun.Legs[l.Leg].End)
	}
	if now > since.Add(bound) {
		return fmt.Errorf("G3: pilot %v of job %s is not wanted since %v, and %s keeps %+v", id, g.job, since, x.site.Config.Name, *k)
	}
	return nil
}

// troubled is until when something may have kept a site or its broker from what they have to do.
func (p *pilots) troubled(x *behindSite, g *gatherTruth) grid.Time {
	t, now := p.b.trouble(x), p.b.c.w.Now()
	id := world.BrokerID(g.broker)
	t = max(t, p.b.c.begun[p.b.c.latest[id]])
	for _, f := range p.b.c.w.FaultsOf(id, "") {
		if f.At <= now {
			t = max(t, f.At.Add(f.For))
		}
	}
	return t
}

// begun checks a run of a pilot, or of work in one (G2).
func (p *pilots) begun(x *behindSite, r *manager.Run) error {
	if r.Pilot || x.site.MaxPilots() == 0 {
		return nil
	}
	leg := p.b.legs[r.Name]
	in := r.In()
	switch {
	case r.Again:
		return nil
	case in == nil:
		return fmt.Errorf("G2: the work of leg %v begins outside any pilot", leg)
	case in.Over > 0 && in.Over < r.Begun:
		return fmt.Errorf("G2: the work of leg %v begins at %v in a pilot that left at %v", leg, r.Begun, in.Over)
	}
	id := p.names[in.Name]
	for _, o := range x.manager.Runs() {
		if o != r && o.In() == in {
			return fmt.Errorf("G2: in pilot %v the work of leg %v begins, and that of %s before", id, leg, o.Name)
		}
	}
	t := p.b.c.txs[leg.Tx]
	if t == nil || p.b.c.exempt[leg] {
		return nil
	}
	if leg.Leg >= len(t.begun.Pilots) || t.begun.Pilots[leg.Leg] != id || p.window[id] == 0 {
		return fmt.Errorf("G2: the work of leg %v begins in pilot %v, and no COMMIT gives it that: %v", leg, id, t.begun.Pilots)
	}
	return nil
}

// locked checks that a leg has nodes of its pilot, which no other leg has, within the pilot's
// limit (G4).
func (p *pilots) locked(x *behindSite, s *sim.Step, f *facts.NodesLocked) error {
	if x.site.MaxPilots() == 0 || f.Leg.Tx.Broker == "" {
		return nil
	}
	if f.Pilot == (grid.LegID{}) {
		return fmt.Errorf("G4: leg %v has nodes of %s, and no pilot of it", f.Leg, x.site.Config.Name)
	}
	if other, is := p.leg[f.Pilot]; is && other != f.Leg && p.b.c.locks[lockKey{s.ID, other}] {
		return fmt.Errorf("G4: leg %v has nodes of pilot %v, which leg %v has", f.Leg, f.Pilot, other)
	}
	p.leg[f.Pilot] = f.Leg
	for _, k := range x.manager.Kept() {
		if p.names[k.Name] != f.Pilot || !k.Running {
			continue
		}
		if f.What.End > k.End.Add(grid.Second) {
			return fmt.Errorf("G4: leg %v is to end at %v, the limit of pilot %v is at %v", f.Leg, f.What.End, f.Pilot, k.End)
		}
		for _, n := range f.Names {
			if !slices.Contains(k.Nodes, n) {
				return fmt.Errorf("G4: leg %v has node %s, and pilot %v has %v", f.Leg, n, f.Pilot, k.Nodes)
			}
		}
	}
	return nil
}

// lacks reports whether a leg has lost the pilot whose nodes it has.
func (p *pilots) lacks(x *behindSite, id grid.LegID) bool {
	t := p.b.c.txs[id.Tx]
	if x.site.MaxPilots() == 0 || t == nil || id.Leg >= len(t.begun.Pilots) {
		return false
	}
	name := managed.Name(world.Prefix, t.begun.Pilots[id.Leg])
	return !slices.ContainsFunc(x.manager.Running(), func(r *manager.Run) bool { return r.Name == name })
}

// charges takes what a site charges for a pilot.
func (p *pilots) charges(s *sim.Step, f facts.PilotCharged) {
	_, site, _ := strings.Cut(string(s.ID), ":")
	p.charge[f.Pilot] = charge{site, f.Cost, s.At}
}

// unpaid is what a site has charged a broker of which that has not heard yet, and whether that
// tells: a broker that has lost facts may never hear of it.
func (p *pilots) unpaid(broker, site string, before grid.Time) (sum grid.Credits, tells bool) {
	tells = !p.lossy[site]
	for id, x := range p.charge {
		if x.site != site || id.Tx.Broker != broker {
			continue
		}
		g := p.of[id.Tx]
		if g == nil || g.exempt {
			return 0, false
		}
		if _, paid := g.paid[id]; !paid && x.at > before {
			sum += x.cost
		}
	}
	return sum, tells
}
