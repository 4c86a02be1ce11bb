package shadow

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// Group is nodes that a site offers.
type Group struct {
	grid.Group
	Names []string // of its nodes
}

// State is what a cluster shows at an instant.
type State struct {
	Now    grid.Time
	Conf   *slurm.Config
	Groups []Group     // what the site offers of it
	Nodes  []string    // names, by place
	Jobs   []slurm.Job // that run and that wait, as slurm.Resume takes them
}

// Terms are what a market goes by.
type Terms struct {
	Pricing pricing.Scheme
	Limits  pricing.Limits // of the operator
	Share   int            // of the jobs that are submitted, in millionths
	// Recorded are windows that are asked for in addition, in order of After.
	Recorded []Wanted
	// VOShare is how much of the node-time over Span from now windows may take, in
	// thousandths; Span 0: all of it.
	VOShare int
	Span    grid.Duration
}

// Wanted is a window that somebody has once asked for.
type Wanted struct {
	After  grid.Duration // the first look
	Nodes  int
	Length grid.Duration
}

// MaxRecorded bounds the windows of a record.
const MaxRecorded = 1_000_000

// Millionths are all.
const Millionths = 1_000_000

// local is the jobs without those that have a window instead, and without one at a place, if
// there is one: they keep their places, but are held.
func (l *look) local(i int) []slurm.Job {
	jobs := slices.Clone(l.Jobs)
	for k := range jobs {
		if k == i || l.market.asked[nameOf(&jobs[k])] {
			jobs[k].Held, jobs[k].Started, jobs[k].On = true, grid.Never, nil
		}
	}
	return jobs
}

// MaxAsks bounds the windows that are priced at one look; the others are at the next.
const MaxAsks = 16

// Market is what would have been sold. It changes by events alone.
type Market struct {
	terms Terms
	first grid.Time       // look; Never: there was none
	sold  []*soldAt       // windows that are not over
	asked map[string]bool // jobs that have asked; true: a window was sold, and they queue no more
	met   map[string]bool // jobs in the way
	next  int             // how many of the recorded have asked
}

type soldAt struct {
	*Sold
	at grid.Time
}

// kept is until when the window keeps its nodes.
func (s *Sold) kept() grid.Time { return s.End.Add(s.Padding) }

// NewMarket returns a market in which nothing has happened.
func NewMarket(t Terms) *Market {
	return &Market{terms: t, first: grid.Never, asked: map[string]bool{}, met: map[string]bool{}}
}

// Take makes an event part of the market's state: one that Look has returned, or one of an
// earlier life, in order.
func (m *Market) Take(e Event) {
	switch {
	case e.Looked != nil:
		m.first = min(m.first, e.At)
		m.sold = slices.DeleteFunc(m.sold, func(s *soldAt) bool { return s.kept() <= e.At })
	case e.Sold != nil:
		m.sold = append(m.sold, &soldAt{e.Sold, e.At})
		m.took(&e.Sold.Ask, true)
	case e.Refused != nil:
		m.took(&e.Refused.Ask, false)
	case e.InTheWay != nil:
		m.met[e.InTheWay.Job] = true
	}
}

// took takes who has asked, and whether a window was sold.
func (m *Market) took(a *Ask, sold bool) {
	if a.Number > 0 {
		m.next = a.Number
		return
	}
	m.asked[a.Job] = sold
}

// Look returns what there is to say of a state, in order, and takes it. Jobs that are in the
// queue at the first look ask for nothing. It costs a few plans of the queue for each
// window that is asked for.
func (m *Market) Look(s *State) []Event {
	l := look{since: m.first, market: m, State: s, place: map[string]int{}, present: map[string]bool{}}
	for i, name := range s.Nodes {
		l.place[name] = i
	}
	l.see()
	for _, i := range l.newcomers() {
		j := &l.Jobs[i]
		l.ask(Ask{Job: nameOf(j), Nodes: j.Nodes, Length: j.Limit}, l.local(i))
	}
	for _, a := range l.recorded() {
		l.ask(a, l.local(-1))
	}
	l.meet()
	for _, of := range [...]map[string]bool{m.asked, m.met} { // who has gone comes no more
		for job := range of {
			if !l.present[job] {
				delete(of, job)
			}
		}
	}
	return l.events
}

// look is one look.
type look struct {
	market *Market
	*State
	since   grid.Time // jobs that were there before ask for nothing
	place   map[string]int
	present map[string]bool
	events  []Event
}

func (l *look) tell(e Event) {
	e.At = l.Now
	l.market.Take(e)
	l.events = append(l.events, e)
}

// set is the nodes of these names, as far as there are any.
func (l *look) set(names []string) slurm.Set {
	s := slurm.NewSet(len(l.Nodes))
	for _, n := range names {
		if i, ok := l.place[n]; ok {
			s.Add(i)
		}
	}
	return s
}

// nameOf is the name of a job, which it keeps when it starts.
func nameOf(j *slurm.Job) string {
	if j.Array != j.ID || j.Task != 0 {
		return fmt.Sprintf("%d_%d", j.Array, j.Task)
	}
	return fmt.Sprint(j.ID)
}

func (l *look) runs(j *slurm.Job) bool { return j.Started <= l.Now }

// see tells how full the cluster is.
func (l *look) see() {
	up := l.up()
	var offered []string
	for _, g := range l.Groups {
		for _, n := range g.Names {
			if i, ok := l.place[n]; ok && up.Has(i) {
				offered = append(offered, n)
			}
		}
	}
	own, busy := l.set(offered), slurm.NewSet(len(l.Nodes))
	e := Looked{Nodes: own.Count()}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		l.present[nameOf(j)] = true
		if !l.runs(j) {
			e.Waiting++
			continue
		}
		j.On.Each(func(n int) {
			if own.Has(n) {
				busy.Add(n)
			}
		})
	}
	e.Busy = busy.Count()
	l.tell(Event{Looked: &e})
}

// meet tells which local jobs are newly in the way of windows.
func (l *look) meet() {
	m := l.market
	for i := range l.Jobs {
		j := &l.Jobs[i]
		if name := nameOf(j); !l.runs(j) || m.met[name] || m.asked[name] {
			continue
		}
		var worst *soldAt
		for _, w := range m.sold {
			if w.at < j.Started && j.Started < w.kept() && w.Start < j.Started.Add(j.Limit) && (worst == nil || worst.kept() < w.kept()) && shares(l.set(w.Names), j.On) {
				worst = w
			}
		}
		if worst != nil {
			l.tell(Event{InTheWay: &InTheWay{Delayed: Delayed{Job: nameOf(j), Nodes: j.Nodes, By: worst.kept().Sub(j.Started)}, Window: worst.Job}})
		}
	}
}

// shares reports whether two sets have a node in common.
func shares(a, b slurm.Set) (some bool) {
	a.Each(func(n int) { some = some || n>>6 < len(b) && b.Has(n) })
	return some
}

// newcomers are the jobs that have come since the first look and ask now, by place, in the
// order of their submission. Jobs that depend on others or that others depend on, and arrays
// with a throttle, only queue.
func (l *look) newcomers() []int {
	var list []int
	needed := map[int]bool{}
	for i := range l.Jobs {
		for _, k := range l.Jobs[i].After {
			needed[k] = true
		}
	}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		name := nameOf(j)
		_, asked := l.market.asked[name]
		if asked || j.Submit <= l.since || j.Held || j.Throttle > 0 || len(j.After) > 0 || needed[i] || !drawn(name, l.market.terms.Share) {
			continue
		}
		list = append(list, i)
	}
	slices.SortStableFunc(list, func(a, b int) int { return int(min(max(l.Jobs[a].Submit-l.Jobs[b].Submit, -1), 1)) })
	return list[:min(len(list), MaxAsks)]
}

// recorded are the windows of the record that are due, in order.
func (l *look) recorded() (list []Ask) {
	m := l.market
	for i := m.next; i < len(m.terms.Recorded) && len(list) < MaxAsks; i++ {
		w := &m.terms.Recorded[i]
		if m.first.Add(w.After) > l.Now {
			break
		}
		list = append(list, Ask{Job: fmt.Sprintf("recorded-%d", i+1), Number: i + 1, Nodes: w.Nodes, Length: w.Length})
	}
	return list
}

// drawn reports whether a job is one of a share of all, by its name alone.
func drawn(job string, share int) bool {
	h := fnv.New64a()
	h.Write([]byte(job))
	x := h.Sum64()
	x ^= x >> 33 // names that differ at their ends alone are far apart after this
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x%Millionths < uint64(share)
}
