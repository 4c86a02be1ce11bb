package report

import (
	"cmp"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/report/weeks"
)

// slowdownBound is the least runtime used to compute a slowdown, so that very short jobs do
// not dominate the mean (Feitelson's bounded slowdown).
const slowdownBound = 10 * grid.Second

// site sums up one site: its cluster's local jobs and the legs it carries. It folds
// their facts itself: node-time needs the instants and nodes of local jobs, which no
// other view has.
type site struct {
	name   string
	groups []group
	index  map[string]int // of groups by name
	log    *LogSummary

	started, ended, killed, waiting int
	refused                         map[grid.Code]int // local jobs turned away
	classes                         map[string]int
	waits                           grid.Duration // of all started
	slowdowns                       float64       // of all ended
	weeks                           *weeks.Figures

	legs     map[grid.LegState]int // moves to each state
	refusals map[grid.Code]int
	income   grid.Fare
	refunded grid.Credits
	due      Deadlines
	open     map[grid.LegID]*openLeg // held or further on, not yet at an end

	rows    []localRow      // kept only
	running map[int64]int32 // job to its row, kept only
}

// group is a group of a site and the node-time used of it.
type group struct {
	grid.Group
	local usage
	vo    int64 // node-milliseconds of legs that are over
}

// usage sums node-time without remembering what uses it: what has ended is in
// done; of what runs, the nodes are summed and the nodes times their starts.
type usage struct{ done, nodes, since int64 }

func (u *usage) begin(nodes int, at grid.Time) {
	u.nodes += int64(nodes)
	u.since += int64(nodes) * int64(at)
}

func (u *usage) end(nodes int, start, end grid.Time) {
	u.begin(-nodes, start)
	u.done += int64(nodes) * int64(end-start)
}

// by returns the node-milliseconds used by the instant t.
func (u *usage) by(t grid.Time) int64 { return u.done + u.nodes*int64(t) - u.since }

func newSite(s Site, keep bool) *site {
	one := &site{name: s.Name, log: s.Log, index: map[string]int{}, classes: map[string]int{}, legs: map[grid.LegState]int{},
		refused: map[grid.Code]int{}, refusals: map[grid.Code]int{}, open: map[grid.LegID]*openLeg{}}
	for i, g := range s.Groups {
		one.groups = append(one.groups, group{Group: g})
		one.index[g.Name] = i
	}
	if s.ByWeek {
		one.weeks = weeks.NewFigures(weekUnits)
	}
	if keep {
		one.running = map[int64]int32{}
	}
	return one
}

// group returns the group of that name. One that the header does not know is a
// broken invariant: the run was wired with other groups than the report.
func (s *site) group(name string) int {
	if len(s.groups) > 0 && s.groups[0].Name == name { // mostly the only one
		return 0
	}
	i, ok := s.index[name]
	if !ok {
		panic("report: site " + s.name + " has no group " + name)
	}
	return i
}

// clusterFact counts a fact of the site's cluster.
func (s *site) clusterFact(now grid.Time, f any) {
	switch f := f.(type) {
	case facts.JobStarted:
		now = cmp.Or(f.Begun, now)
		g := s.group(f.Group)
		s.started++
		s.classes[f.Class]++
		s.waits += now.Sub(f.Submit)
		s.weeks.Mean(LocalWait, f.Submit, float64(now.Sub(f.Submit)), 1)
		if f.Due == 0 {
			s.groups[g].local.begin(f.Nodes, now)
		}
		if s.running != nil {
			s.running[f.Job] = int32(len(s.rows))
			s.rows = append(s.rows, localRow{job: f.Job, submit: f.Submit, start: now, end: grid.Never,
				nodes: int32(f.Nodes), group: int32(g), class: f.Class, status: Running})
		}
	case facts.JobEnded:
		now = cmp.Or(f.Ended, now)
		s.ended++
		slow := slowdown(f.Start.Sub(f.Submit), now.Sub(f.Start))
		s.slowdowns += slow
		s.weeks.Mean(localSlowdown, f.Submit, slow, 1)
		if g := &s.groups[s.group(f.Group)].local; f.Due > 0 {
			g.done += int64(f.Nodes) * int64(f.Work)
			s.due.count(now, f.Due)
		} else {
			g.end(f.Nodes, f.Start, now)
		}
		status := Ended
		if f.Killed {
			s.killed++
			status = Killed
		}
		if i, ok := s.running[f.Job]; ok {
			s.rows[i].end, s.rows[i].status, s.rows[i].work = now, status, f.Work
			delete(s.running, f.Job)
		}
	case facts.JobRefused:
		s.refused[f.Reason.Code]++
		if s.running != nil {
			s.rows = append(s.rows, localRow{job: f.Job, submit: f.Submit, start: grid.Never, end: grid.Never,
				nodes: int32(f.Nodes), group: noGroup, status: refused, reason: f.Reason.Code})
		}
	}
}

// slowdown returns how many times longer than its run a job took from submission to end, at
// least 1. Runs count as at least slowdownBound.
func slowdown(wait, run grid.Duration) float64 {
	return max(1, float64(wait+run)/float64(max(run, slowdownBound)))
}

// openLeg is what is counted of a leg that has not come to an end.
type openLeg struct {
	What  grid.Leg
	State grid.LegState
}

// legMoved counts a move of a leg. Only the first fact of a leg must say what the leg
// is; a later one that does has changed it.
func (s *site) legMoved(now grid.Time, m facts.LegMoved) {
	old := s.open[m.Leg]
	if old != nil && m.What.Nodes == 0 {
		m.What = old.What
	}
	s.legs[m.State]++
	switch m.State {
	case grid.Refused:
		s.refusals[m.Reason.Code]++
	case grid.Confirmed:
		s.income.Base = s.income.Base.Plus(m.Fare.Base)
		s.income.Additive = s.income.Additive.Plus(m.Fare.Additive)
	case grid.Released, grid.Lost:
		s.refunded = s.refunded.Plus(m.Refund).Plus(m.Penalty)
	}
	if !m.State.Terminal() {
		if old == nil {
			old = &openLeg{}
			s.open[m.Leg] = old
		}
		*old = openLeg{m.What, m.State}
		return
	}
	delete(s.open, m.Leg)
	if m.What.Work > 0 {
		if m.State == grid.Settled {
			s.due.count(m.End, m.What.End)
			s.groups[s.group(m.What.Group)].vo += int64(m.What.Nodes) * int64(s.takes(m.What, m.Run))
		}
		return
	}
	if end := history.LetGo(now, m); old != nil && old.State >= grid.Confirmed && end > m.What.Start {
		s.groups[s.group(m.What.Group)].vo += m.What.Part.Time(m.What.Nodes, end.Sub(m.What.Start))
	}
}

// takes returns how long the work of a leg that shares its nodes occupies each of them. run
// is the actual runtime at performance 1; 0: as long as it asked for.
func (s *site) takes(what grid.Leg, run grid.Duration) grid.Duration {
	if run <= 0 {
		run = what.Work
	}
	return s.groups[s.group(what.Group)].Performance.Runtime(run)
}

// took is the same for a settled leg, 0 before that.
func (s *site) took(l *history.Leg) grid.Duration {
	if l.State != grid.Settled {
		return 0
	}
	return s.takes(l.What, l.Run)
}

// count counts an accepted deadline once its work is over.
func (d *Deadlines) count(end, deadline grid.Time) {
	if d.Kept++; end > deadline {
		d.Kept--
		d.Missed++
	}
}

// NodeHours returns the node-hours of a leg, as asked for.
func NodeHours(l grid.Leg) float64 {
	d := l.Duration()
	if l.Work > 0 {
		d = l.Work
	}
	return d.Hours() * float64(l.Nodes)
}

// wait records the jobs that are still queued when the run ends.
func (s *site) wait(list []Waiting, until grid.Time) {
	for _, j := range list {
		if j.Submit > until {
			continue // yet to come
		}
		s.waiting++
		if s.running == nil {
			continue
		}
		g := noGroup
		if j.Group != "" {
			g = s.group(j.Group)
		}
		s.rows = append(s.rows, localRow{job: j.Job, submit: j.Submit, start: grid.Never, end: grid.Never,
			nodes: int32(j.Nodes), group: int32(g), status: waiting})
	}
}

// voTime returns the node-time used by legs in each group by the instant t, in
// node-milliseconds.
func (s *site) voTime(t grid.Time) []int64 {
	used := make([]int64, len(s.groups))
	for i := range s.groups {
		used[i] = s.groups[i].vo
	}
	for _, m := range s.open { // a sum: the order does not show
		end := min(m.What.End, t)
		if m.State >= grid.Confirmed && m.What.Work == 0 && end > m.What.Start {
			used[s.group(m.What.Group)] += m.What.Part.Time(m.What.Nodes, end.Sub(m.What.Start))
		}
	}
	return used
}
