package world

import (
	"fmt"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/sla"
	"github.com/bourse-grid/bourse/sites"
)

// What a seed draws of a federation: its sites with their local work, its brokers with their jobs.

// drawSite draws a site of one or two groups and its local work.
func drawSite(r *rand.Rand, name string) Site {
	s := Site{Config: sites.Config{
		Name: name, Cluster: ClusterID(name), Pricing: pricing.Fixed, VOShare: 1000, Span: 3 * grid.Hour,
		Hold: HoldLimit, InDoubt: InDoubtLimit, MaxWork: 1000, Lead: LeadTime, Penalty: 100,
	}}
	if r.IntN(3) == 0 {
		s.Config.Cap = 8 * 20 * int64(grid.Minute)
	}
	if r.IntN(2) == 0 {
		s.Config.Pricing = pricing.Adaptive
	}
	for i := range 1 + r.IntN(2) {
		g := grid.Group{Site: name, Name: fmt.Sprintf("g%d", i+1), Nodes: 4 + r.IntN(9),
			Performance: grid.Performance(1000 + 250*r.IntN(5)), Price: grid.Price((1 + r.IntN(3)) * 1_000_000)}
		s.Config.Groups = append(s.Config.Groups, g)
		s.Local = append(s.Local, drawLocal(r, g.Nodes))
	}
	return s
}

// drawLocal draws the local jobs of a group: a light load, so that VOs find room.
func drawLocal(r *rand.Rand, nodes int) []grid.LocalJob {
	var jobs []grid.LocalJob
	at := Start
	for id := int64(1); at < Start.Add(Storm); id++ {
		at = at.Add(grid.Duration(1 + r.Int64N(int64(15*grid.Minute))))
		run := grid.Duration(1 + r.Int64N(int64(20*grid.Minute)))
		jobs = append(jobs, grid.LocalJob{ID: id, Submit: at, Run: run, Estimate: run + grid.Duration(r.Int64N(int64(10*grid.Minute))), Nodes: 1 + r.IntN(max(nodes/2, 1))})
	}
	return jobs
}

// drawVO draws a broker, its budget and its jobs.
func drawVO(r *rand.Rand, name string) VO {
	c := broker.Defaults(name)
	for _, s := range SiteNames {
		c.Sites = append(c.Sites, SiteID(s))
	}
	credits := 40 + r.Int64N(200)
	c.Budget = grid.Credits(credits) * grid.Credit
	if credits%3 > 0 { // two in three by the papers' rule, the others by value
		c.Minimize = grid.GoalTime
	}
	c.Quotas = map[string]grid.Credits{"ben": c.Budget / 3}
	c.Cycle = grid.Duration(2+r.IntN(3)) * grid.Minute
	c.Phase = broker.Phase(name, c.Cycle)
	c.Horizon, c.Lead, c.OfferWait = 2*grid.Hour, LeadTime, 4*grid.Second
	c.Hold, c.InDoubt = HoldLimit, InDoubtLimit
	if r.IntN(3) == 0 {
		c.Algorithm = search.ALP
	}
	v := VO{Config: c}
	at := Start
	for i := range jobsPerBroker {
		at = at.Add(grid.Duration(1 + r.Int64N(2*int64(Storm)/jobsPerBroker*9/10)))
		v.Jobs = append(v.Jobs, drawJob(r, fmt.Sprintf("%s-%02d", name, i+1), at))
	}
	return v
}

const jobsPerBroker = 36

// drawJob draws a job: every third one is too large for one group and needs
// several sites.
func drawJob(r *rand.Rand, name string, at grid.Time) grid.Job {
	j := grid.Job{Name: name, User: []string{"ana", "ben", "eva"}[r.IntN(3)], Submit: at}
	j.Nodes = 1 + r.IntN(8)
	if r.IntN(3) == 0 {
		j.Nodes = 10 + r.IntN(14)
	}
	j.Length = grid.Duration(3+r.IntN(20)) * grid.Minute
	j.MinPerformance = 1000
	j.MaxPrice = grid.Price((3 + r.IntN(4)) * 1_000_000)
	j.Deadline = at.Add(grid.Duration(40+r.IntN(120)) * grid.Minute)
	j.Priority = r.IntN(3)
	if r.IntN(3) == 0 {
		j.Run = j.Length * grid.Duration(1+r.IntN(9)) / 10
	}
	return j
}

// drawPromises turns half of the sites into sites with service level agreements, lets half
// of the jobs give their sites a choice, and makes every sixth or so come after another
// one. It has its own stream, so everything else of a seed stays the same.
func (w *World) drawPromises(r *rand.Rand) {
	for i := range w.Sites {
		if r.IntN(2) == 0 {
			continue
		}
		w.Sites[i].drawPromise(r, w.seed)
	}
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			if j := &jobs[k]; r.IntN(2) == 0 {
				j.Flexible, j.Phi = grid.Duration(r.IntN(60))*grid.Minute, 300*r.IntN(7)
				j.Fix = 500 * r.IntN(2)
			}
			if k > 0 && r.IntN(6) == 0 {
				jobs[k].After, jobs[k].Gap = grid.Dependencies(grid.IfDone, jobs[r.IntN(k)].Name), grid.Duration(r.IntN(3))*grid.Minute
			}
		}
	}
}

// drawPromise turns a site into one with service level agreements.
func (s *Site) drawPromise(r *rand.Rand, seed uint64) {
	schedule := sla.Options{Order: []sla.Order{sla.EDF, sla.FIFO, sla.LFF, sla.BJF}[r.IntN(4)],
		Shares: pricing.DefaultFlexibility, MaxPhi: 2000, Waiting: 1000}
	s.Config.Promises = &sites.Promises{Schedule: schedule, Shares: pricing.DefaultFlexibility, Disclose: sla.Disclosure(r.IntN(3))}
	s.promises = &queue.PromiseOptions{Schedule: schedule, Flexible: 600, Deadline: 4000, Fix: 300, Replan: r.IntN(2) == 0, Alternatives: 500, Seed: seed}
}
