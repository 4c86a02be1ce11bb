package web

import (
	"slices"
	"sync"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
)

// Bounds of the history kept for the live page.
const (
	pastSpan  = 24 * grid.Hour // older steps are not shown
	pastSteps = 160            // beyond this, every second step of the older half is dropped
)

// past is the state of the sites over time by their offers, which the broker itself does not
// keep. It begins with the process.
type past struct {
	mu    sync.Mutex
	steps []step
	nodes map[string][]view.Group // of each site in its last offer; kept even if it offers nothing now
	heard map[string]grid.Time    // when each site last answered, by its clock
	taken int                     // number of steps so far, to see whether there is a new one
	away  map[string][]outage     // of each site, in order
	purse []purse                 // in order
}

// step is the state of the sites at an instant, by name.
type step struct {
	at    grid.Time
	sites map[string]point
}

// point is the state of one site: nodes that could not be reserved, and the mean base price
// of a node-hour.
type point struct{ taken, price float64 }

func newPast() *past { return &past{nodes: map[string][]view.Group{}, away: map[string][]outage{}} }

// take adds a step if a site has answered since the last one.
func (p *past) take(now grid.Time, b *broker.Broker) {
	p.stand(standings(b), b, now)
	p.mu.Lock()
	defer p.mu.Unlock()
	s, fresh, heard := step{now, map[string]point{}}, false, map[string]grid.Time{}
	for v := range b.Sites() {
		if !v.Member || len(v.Groups) == 0 {
			continue
		}
		heard[v.Name] = v.Now
		fresh = fresh || v.Now > p.heard[v.Name]
		s.sites[v.Name] = pointOf(&v, now)
		groups := make([]view.Group, len(v.Groups))
		for i := range v.Groups {
			groups[i] = view.Group{Name: v.Groups[i].Group.Name, Nodes: v.Groups[i].Group.Nodes}
		}
		p.nodes[v.Name] = groups
	}
	if n := len(p.steps); !fresh || n > 0 && now <= p.steps[n-1].at {
		return
	}
	p.heard = heard
	p.add(s)
}

// groups returns the groups in a site's last offer, nil if it has never made one.
func (p *past) groups(site string) []view.Group {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nodes[site]
}

// add appends a step. It drops steps that are too old and, if there are too many, every
// second one of the older half.
func (p *past) add(s step) {
	p.steps = slices.DeleteFunc(p.steps, func(x step) bool { return x.at < s.at.Add(-pastSpan) })
	if len(p.steps) >= pastSteps {
		i := -1
		p.steps = slices.DeleteFunc(p.steps, func(step) bool { i++; return i < pastSteps/2 && i%2 == 1 })
	}
	p.steps = append(p.steps, s)
	p.taken++
}

func pointOf(v *broker.SiteView, now grid.Time) (x point) {
	nodes := 0
	for i := range v.Groups {
		g := groupOf(&v.Groups[i], now)
		nodes += g.Nodes
		x.taken += float64(g.Nodes - g.Free)
		x.price += g.Price.Float() * float64(g.Nodes)
	}
	x.price /= max(float64(nodes), 1)
	return x
}

// loads returns the steps in the form for charts. vo returns how many nodes of a site the
// caller's bars take at an instant, and their price per node-hour; the rest belongs to
// others. A step lasts until the next, and the last one until now, so it takes the caller's
// bars as of now.
func (p *past) loads(sites []view.Site, epoch, now grid.Time, vo func(site string, at grid.Time) (nodes, price float64)) (list []view.Load) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.steps) == 0 {
		return nil
	}
	at := make([]int64, len(p.steps))
	for i := range p.steps {
		at[i] = int64(p.steps[i].at - epoch)
	}
	for i := range sites {
		l := view.Load{Site: sites[i].Name, At: at, Local: make([]float64, len(at)), VO: make([]float64, len(at)), Paid: make([]*float64, len(at)), Asked: make([]*float64, len(at))}
		for _, g := range sites[i].Groups {
			l.Nodes += g.Nodes
		}
		for k := range l.VO {
			own, price := vo(l.Site, p.steps[k].at)
			was := own
			if k == len(at)-1 {
				own, price = vo(l.Site, now)
			}
			l.VO[k] = own
			if own > 0 {
				l.Paid[k] = &price
			}
			if x, ok := p.steps[k].sites[l.Site]; ok {
				l.Local[k], l.Asked[k] = max(x.taken-was, 0), &x.price
			}
		}
		if l.Nodes > 0 {
			list = append(list, l)
		}
	}
	return list
}
