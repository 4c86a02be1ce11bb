package invariant

import (
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I8 of jobs that are gathered: a site charges for a pilot once. Money is set aside for what their
// pilots may idle, and for the work while no transaction has it. A pilot is paid for once, at its
// group's price at most, and out of what is set aside. A job that is forgotten leaves nothing set aside.

// gathering is the money of a job that is gathered.
type gathering struct {
	aside grid.Credits
	state grid.Gathering // as it was last recorded
	paid  map[grid.LegID]bool
}

// gathered takes how far a job is gathered: it pays for pilots that are over, and what is set
// aside changes.
func (r *money) gathered(f facts.Gathered) {
	g := r.gathers[f.Job]
	if g == nil {
		g = &gathering{paid: map[grid.LegID]bool{}}
		r.gathers[f.Job] = g
	}
	left := g.aside
	for i := range f.Idled {
		r.paidOnce(g, &f, &f.Idled[i])
		left -= f.Idled[i].Posted
	}
	if left < 0 {
		r.breaks("I8", "for pilots of job %s %v credits are posted, and %v were set aside", f.Job, g.aside-left, g.aside)
	}
	if f.Pending < 0 {
		r.breaks("I8", "for pilots of job %s %v credits are set aside", f.Job, f.Pending)
	}
	g.aside, g.state = f.Pending, f.State
}

// paidOnce checks what is posted for a pilot that is over.
func (r *money) paidOnce(g *gathering, f *facts.Gathered, p *facts.PilotIdled) {
	awaited := func(s *grid.Gathering) bool {
		return p.Pilot.Tx == s.ID && slices.ContainsFunc(s.Pilots, func(x grid.GatheringPilot) bool { return x.Part+grid.MaxParts*x.Number == p.Pilot.Leg })
	}
	switch part := p.Pilot.Leg % grid.MaxParts; {
	case g.paid[p.Pilot]:
		r.breaks("I8", "pilot %v of job %s is paid for a second time, with %v credits", p.Pilot, f.Job, p.Posted)
	case !awaited(&g.state) || awaited(&f.State):
		r.breaks("I8", "pilot %v of job %s is paid for, and its end is not awaited before or still is after", p.Pilot, f.Job)
	case part < 0 || part >= len(f.State.Parts) || f.State.Parts[part].Site != p.Site:
		r.breaks("I8", "pilot %v of job %s is paid for at %s, which has no such part", p.Pilot, f.Job, p.Site)
	default:
		if most := grid.Cost(f.State.Parts[part].Price, grid.Duration(p.Idle)*grid.Second); p.Posted < 0 || p.Posted > most {
			r.breaks("I8", "pilot %v of job %s costs %v credits, and %v are posted", p.Pilot, f.Job, most, p.Posted)
		}
	}
	g.paid[p.Pilot] = true
}

// asideFor is what is set aside for a job.
func (r *money) asideFor(job string) grid.Credits {
	if g := r.gathers[job]; g != nil {
		return g.aside
	}
	return 0
}

// charges checks what a site charges for a pilot: once.
func (r *money) charges(f facts.PilotCharged) {
	switch {
	case r.charged[f.Pilot]:
		r.breaks("I8", "pilot %v is charged for a second time, with %v credits", f.Pilot, f.Cost)
	case f.Cost < 0 || f.Idled <= 0:
		r.breaks("I8", "pilot %v is charged %v credits for having idled %s", f.Pilot, f.Cost, f.Idled.Words())
	}
	if r.charged == nil {
		r.charged = map[grid.LegID]bool{}
	}
	r.charged[f.Pilot] = true
}

// setAside holds what an image has set aside for a job to the facts. Where the journal has lost
// its beginning the image is believed.
func (r *money) setAside(m *facts.JobMemory) {
	g := r.gathers[m.Job.Name]
	switch {
	case r.whole && g == nil && m.SetAside != 0:
		r.breaks("I8", "the image has %v credits set aside for job %s, the facts nothing", m.SetAside, m.Job.Name)
	case r.whole && g != nil && m.SetAside != g.aside:
		r.breaks("I8", "the image has %v credits set aside for job %s, by the facts it is %v", m.SetAside, m.Job.Name, g.aside)
	case g == nil && m.Gathering != nil:
		r.gathers[m.Job.Name] = &gathering{m.SetAside, *m.Gathering, map[grid.LegID]bool{}}
	}
}

// forgets drops jobs that are long over.
func (r *money) forgets(jobs []string) {
	for _, name := range jobs {
		if g := r.gathers[name]; g != nil && g.aside != 0 {
			r.breaks("I8", "job %s is forgotten, and %v credits stay set aside for it", name, g.aside)
		}
		delete(r.gathers, name)
	}
}
