package web

import (
	"slices"
	"sync"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/report/view"
)

// Bounds of what is kept of the past for the live page.
const (
	pastSpan  = 24 * bourse.Hour // what is older is not shown
	pastSteps = 160              // beyond, every second step of the older half goes
)

// past is how the sites stood over time, by what they have offered: what a broker cannot
// tell afterwards. It begins with the process.
type past struct {
	mu    sync.Mutex
	steps []step
	nodes map[string][]view.Group // of each site as it has offered last: one that offers nothing has them still
	heard map[string]bourse.Time  // when each site has answered last, by its clock
	taken int                     // steps in all: whether there is anything new
}

// step is how the sites stood at an instant, by their names.
type step struct {
	at    bourse.Time
	sites map[string]point
}

// point is how one site stood: nodes that nobody could reserve, and the mean base price
// of a node-hour.
type point struct{ taken, price float64 }

func newPast() *past { return &past{nodes: map[string][]view.Group{}} }

// take notes how the sites stand, if one of them has answered since the last step.
func (p *past) take(now bourse.Time, b *broker.Broker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, fresh, heard := step{now, map[string]point{}}, false, map[string]bourse.Time{}
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

// groups are those of a site as it has offered them last, nil if it never has.
func (p *past) groups(site string) []view.Group {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nodes[site]
}

// add appends a step. What is too old goes and, of too many, every second of the older half.
func (p *past) add(s step) {
	p.steps = slices.DeleteFunc(p.steps, func(x step) bool { return x.at < s.at.Add(-pastSpan) })
	if len(p.steps) >= pastSteps {
		i := -1
		p.steps = slices.DeleteFunc(p.steps, func(step) bool { i++; return i < pastSteps/2 && i%2 == 1 })
	}
	p.steps = append(p.steps, s)
	p.taken++
}

func pointOf(v *broker.SiteView, now bourse.Time) (x point) {
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

// loads are the steps as charts show them, of sites by name with their nodes. vo tells
// how many nodes of a site the bars of a caller take at an instant, and what their
// node-hour costs: the rest is others'. A step holds until the next, the last until now:
// the bars of a caller in it are those of now.
func (p *past) loads(sites []view.Site, epoch, now bourse.Time, vo func(site string, at bourse.Time) (nodes, price float64)) (list []view.Load) {
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
