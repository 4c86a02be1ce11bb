package rehearsal

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// Outcome is what came of a job.
type Outcome struct {
	Begun bool
	After grid.Duration // from its submission to its begin, if it has begun
	Idle  float64       // % of its work
}

// How long a submission takes, in seconds.
const (
	leastSubmit = 5
	mostSubmit  = 60
)

// Site is a part's cluster in the replay of a job, with the instant at which the job is submitted.
type Site struct {
	*Machine
	zero   grid.Time
	Nodes  int64
	pilots []*pilot // in order of submission
}

// NewSite is a part of so many nodes at a cluster, which it changes; the job's time begins at zero.
func NewSite(m *Machine, zero grid.Time, nodes int64) *Site {
	return &Site{Machine: m, zero: zero, Nodes: nodes}
}

// At lets a site's time pass to a second of the job.
func (s *Site) At(second int64) { s.Advance(s.zero.Add(grid.Duration(second) * grid.Second)) }

// Claim submits a job of ours with a limit at a second of the job; it takes a while to arrive, drawn
// from r.
func (s *Site) Claim(r *rand.Rand, limit int64, second int64) {
	took := grid.Duration(leastSubmit*1000+r.Int64N((mostSubmit-leastSubmit)*1000+1)) * grid.Millisecond
	s.pilots = append(s.pilots, s.submit(int(s.Nodes), grid.Duration(limit)*grid.Second, s.zero.Add(grid.Duration(second)*grid.Second+took)))
}

// Began is the second at which the k-th job of ours has begun, gather.Never if it has not.
func (s *Site) Began(k int) int64 { return s.seconds(s.pilots[k].begin) }

// seconds is an instant in the job's time, and Never before it is known.
func (s *Site) seconds(t grid.Time) int64 {
	if t == grid.Never {
		return gather.Never
	}
	return int64(t.Sub(s.zero) / grid.Second)
}

// Follow has a job gathered by the rules, and says what came of it. What is submitted comes from r.
func Follow(o gather.Order, sites []*Site, r *rand.Rand) Outcome {
	if o.Check() != nil {
		return Outcome{} // its allowance is less than a first grant: refused
	}
	g := gather.New(o)
	for g.Phase() == gather.Gathering {
		now := g.Next()
		for _, s := range sites {
			s.At(now)
		}
		for _, a := range g.Round(look(&o, g, sites, now)) {
			carryOut(&o, g, a, sites, r)
		}
	}
	spent := g.Spent()
	x := Outcome{Begun: g.Phase() == gather.Committing}
	if x.Begun {
		x.After = grid.Duration(g.Start()) * grid.Second
		for i, s := range sites {
			spent += s.Nodes * (g.Start() - s.seconds(s.pilots[g.Pilot(i)].begin))
		}
	}
	x.Idle = Percent(spent, &o)
	return x
}

// Percent is an idling as a share of the work.
func Percent(idle int64, o *gather.Order) float64 {
	nodes := int64(0)
	for _, p := range o.Parts {
		nodes += p.Nodes
	}
	return 100 * float64(idle) / float64(o.Length*nodes)
}

// look is what is to be seen at a round. Whether the parts would start now is asked only as far as
// that matters: all must.
func look(o *gather.Order, g *gather.Gather, sites []*Site, now int64) gather.Look {
	l := gather.Look{At: now, Fits: make([]bool, len(sites))}
	runs := false
	for i, s := range sites {
		for k, p := range s.pilots {
			switch {
			case p.begin == grid.Never:
			case p.end == grid.Never:
				l.Pilots = append(l.Pilots, gather.Sight{Part: i, Pilot: k, State: gather.Running, Begin: s.seconds(p.begin)})
				runs = true
			default:
				l.Pilots = append(l.Pilots, gather.Sight{Part: i, Pilot: k, State: gather.Ended, Begin: s.seconds(p.begin), End: s.seconds(p.end)})
			}
		}
	}
	for i := 0; i < len(sites) && !runs; i++ {
		if l.Fits[i] = sites[i].startsNow(int(sites[i].Nodes), grid.Duration(o.Limit(i))*grid.Second); !l.Fits[i] {
			break
		}
	}
	return l
}

// carryOut does what the rules say. What is given up is over at once, and seen to be.
func carryOut(o *gather.Order, g *gather.Gather, a gather.Act, sites []*Site, r *rand.Rand) {
	switch a.Do {
	case gather.Submit:
		sites[a.Part].Claim(r, a.Value, a.At)
	case gather.Begin: // a place that is not kept: it is submitted anew, at the end of the queue
		s := sites[a.Part]
		s.pilots = s.pilots[:a.Pilot]
		s.Claim(r, o.Limit(a.Part), a.At)
	case gather.Place:
		s := sites[a.Part]
		if a.Pilot < len(s.pilots) {
			s.leave(s.pilots[a.Pilot])
			s.pilots = s.pilots[:a.Pilot]
		}
		s.pilots = append(s.pilots, &pilot{begin: grid.Never, end: grid.Never})
	case gather.Release, gather.Cancel:
		s := sites[a.Part]
		if a.Pilot >= len(s.pilots) {
			return
		}
		p := s.pilots[a.Pilot]
		s.leave(p)
		g.Seen(gather.Sight{Part: a.Part, Pilot: a.Pilot, State: gather.Ended, Begin: s.seconds(p.begin), End: s.seconds(p.end)})
	}
}
