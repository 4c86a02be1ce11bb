package costart

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// outcome is what came of a job.
type outcome struct {
	begun bool
	after grid.Duration // from its submission to its begin, if it has begun
	idle  float64       // % of its work
}

// The times of the experiment.
const (
	patience    = 72 * grid.Hour // then a job is given up
	leastSubmit = 5              // seconds that a submission takes
	mostSubmit  = 60
)

// site is a part's cluster in the replay of a job, with the instant at which the job is submitted.
type site struct {
	*machine
	zero   grid.Time
	nodes  int64
	pilots []*pilot // in order of submission
}

// at lets a site's time pass to a second of the job.
func (s *site) at(second int64) { s.advance(s.zero.Add(grid.Duration(second) * grid.Second)) }

// claim submits a job of ours, which takes a while to arrive.
func (s *site) claim(r *rand.Rand, limit int64, second int64) {
	took := grid.Duration(leastSubmit*1000+r.Int64N((mostSubmit-leastSubmit)*1000+1)) * grid.Millisecond
	s.pilots = append(s.pilots, s.submit(int(s.nodes), grid.Duration(limit)*grid.Second, s.zero.Add(grid.Duration(second)*grid.Second+took)))
}

// seconds is an instant in the job's time, and Never before it is known.
func (s *site) seconds(t grid.Time) int64 {
	if t == grid.Never {
		return gather.Never
	}
	return int64(t.Sub(s.zero) / grid.Second)
}

// follow has a job gathered by the rules, and says what came of it. What is submitted comes from r.
func follow(o gather.Order, sites []*site, r *rand.Rand) outcome {
	if o.Check() != nil {
		return outcome{} // its allowance is less than a first grant: refused
	}
	g := gather.New(o)
	for g.Phase() == gather.Gathering {
		now := g.Next()
		for _, s := range sites {
			s.at(now)
		}
		for _, a := range g.Round(look(&o, g, sites, now)) {
			carryOut(&o, g, a, sites, r)
		}
	}
	spent := g.Spent()
	x := outcome{begun: g.Phase() == gather.Committing}
	if x.begun {
		x.after = grid.Duration(g.Start()) * grid.Second
		for i, s := range sites {
			spent += s.nodes * (g.Start() - s.seconds(s.pilots[g.Pilot(i)].begin))
		}
	}
	x.idle = percent(spent, &o)
	return x
}

// percent is an idling as a share of the work.
func percent(idle int64, o *gather.Order) float64 {
	nodes := int64(0)
	for _, p := range o.Parts {
		nodes += p.Nodes
	}
	return 100 * float64(idle) / float64(o.Length*nodes)
}

// look is what is to be seen at a round. Whether the parts would start now is asked only as far as
// that matters: all must.
func look(o *gather.Order, g *gather.Gather, sites []*site, now int64) gather.Look {
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
		if l.Fits[i] = sites[i].startsNow(int(sites[i].nodes), grid.Duration(o.Limit(i))*grid.Second); !l.Fits[i] {
			break
		}
	}
	return l
}

// carryOut does what the rules say. What is given up is over at once, and seen to be.
func carryOut(o *gather.Order, g *gather.Gather, a gather.Act, sites []*site, r *rand.Rand) {
	switch a.Do {
	case gather.Submit:
		sites[a.Part].claim(r, a.Value, a.At)
	case gather.Begin: // a place that is not kept: it is submitted anew, at the end of the queue
		s := sites[a.Part]
		s.pilots = s.pilots[:a.Pilot]
		s.claim(r, o.Limit(a.Part), a.At)
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

// waitForAll submits all parts at once and has each idle until all run, for as long as a job waits.
func waitForAll(o gather.Order, sites []*site, r *rand.Rand) outcome {
	last, idle := int64(0), int64(0)
	for _, s := range sites {
		s.claim(r, o.Length+int64(patience/grid.Second), 0)
		s.at(int64(patience / grid.Second))
		if b := s.seconds(s.pilots[0].begin); b == gather.Never {
			last = int64(patience / grid.Second)
		} else {
			last = max(last, b)
		}
	}
	x := outcome{begun: true, after: grid.Duration(last) * grid.Second}
	for _, s := range sites {
		if b := s.seconds(s.pilots[0].begin); b == gather.Never {
			x.begun = false
		} else {
			idle += s.nodes * (last - b)
		}
	}
	x.idle = percent(idle, &o)
	return x
}

// plain submits all parts as plain jobs: the last has begun when it has, together with nothing.
func plain(o gather.Order, sites []*site, r *rand.Rand) outcome {
	x := outcome{begun: true}
	for _, s := range sites {
		s.claim(r, o.Length, 0)
		s.at(int64(patience / grid.Second))
		if b := s.pilots[0].begin; b == grid.Never {
			x.begun = false
		} else {
			x.after = max(x.after, b.Sub(s.zero))
		}
	}
	return x
}
