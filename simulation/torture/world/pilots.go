package world

import (
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation/manager"
)

// Pilots: in a third of the worlds, but for the first and those of time-shared nodes, two sites
// grant no reservations. A fifth of the jobs have a part at each of them, and are gathered by
// pilots, which wait in the queues behind others' jobs. In half of these worlds others go into the
// queue of one of the two.

// Piloting reports whether sites of a seed's world have their nodes by pilots.
func Piloting(seed uint64) bool {
	return seed > 70 && !sharing(seed) && rand.New(rand.NewPCG(seed, streamPilots)).IntN(3) == 0
}

// pilotSites draws the two sites, in the order of the jobs' parts.
func pilotSites(r *rand.Rand) []int { return r.Perm(len(SiteNames))[:2] }

// drawPilots makes two sites grant no reservations, and gives jobs their parts there.
func (w *World) drawPilots() {
	r := rand.New(rand.NewPCG(w.seed, streamPilotSites))
	at := pilotSites(r)
	for _, i := range at {
		s := &w.Sites[i]
		s.Behind, s.Config.Pilots, s.promises, s.Config.Promises, s.maxPilots = Piloted, true, nil, nil, 2+r.IntN(3)
		if s.accounts == nil {
			s.accounts = []managed.Account{{User: "*", As: "guest"}}
		}
	}
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			if r.IntN(5) == 0 {
				w.gatherJob(r, &jobs[k], at)
			}
		}
	}
	if queueing(w.seed) {
		w.drawQueueJobs(at)
	}
}

// queueing reports whether jobs of a seed's world go into the queues of these sites, in half of them.
func queueing(seed uint64) bool {
	return Piloting(seed) && rand.New(rand.NewPCG(seed, streamQueueJobs)).IntN(2) == 0
}

// drawQueueJobs makes a sixth of the other jobs go into the queue in which they will begin first.
func (w *World) drawQueueJobs(at []int) {
	r := rand.New(rand.NewPCG(w.seed, streamQueueJobs))
	for _, i := range at {
		w.Sites[i].oracle = func(string) managed.Oracle { return guess{} }
	}
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			if jobs[k].Gather != nil || r.IntN(6) > 0 {
				continue
			}
			w.gatherJob(r, &jobs[k], at)
			j := &jobs[k]
			part := j.Parts[0]
			j.Parts, j.Apart, j.Nodes, j.Length, j.MinPerformance = nil, false, part.Nodes, max(part.Length, grid.LeastQueued), grid.Unit
			j.Gather = grid.GatherQueued(j.Length)
			j.Budget = grid.Cost(j.MaxPrice, 2*j.Length+20*grid.Minute).Times(j.Nodes)
		}
	}
}

// guess forecasts by the work that waits and runs, and learns nothing.
type guess struct{}

func (guess) SubmittedBy(*backfill.State, *backfill.Queued, string) {}
func (guess) Arrived(grid.Time, *backfill.Queued, string)           {}
func (guess) Unseen(grid.Time, grid.Time)                           {}
func (guess) Known(*backfill.Queued, string)                        {}
func (guess) Started(int64, grid.Time)                              {}
func (guess) Ended(int64, grid.Time)                                {}
func (guess) Canceled(int64)                                        {}
func (guess) Save() func() []byte                                   { return func() []byte { return []byte("null") } }
func (guess) Load([]byte) error                                     { return nil }

func (guess) BestEffort(s *backfill.State, _ *backfill.Queued) grid.BestEffort {
	var work grid.Duration
	for i := range s.Running {
		work += max(0, s.Running[i].End.Sub(s.Now)) * grid.Duration(s.Running[i].Nodes)
	}
	for i := range s.Queue {
		work += s.Queue[i].Estimate * grid.Duration(s.Queue[i].Nodes)
	}
	at := s.Now.Add(min(work, 30*grid.Day) / grid.Duration(max(s.Nodes, 1)))
	return grid.BestEffort{Median: at, Lower: at, Upper: at, Level: 80}
}

// gatherJob makes a job one that is gathered.
func (w *World) gatherJob(r *rand.Rand, j *grid.Job, at []int) {
	length := grid.Duration(3+r.IntN(15)) * grid.Minute
	work := &grid.Work{Command: []string{"true", j.Name}}
	var parts []grid.JobPart
	for k, i := range at {
		parts = append(parts, grid.JobPart{Name: string(rune('a' + k)), Nodes: 1 + r.IntN(3), Length: length, MinPerformance: grid.Unit,
			MaxPrice: 10 * grid.Price(grid.Credit), Sites: []string{SiteNames[i]}, Work: work})
	}
	j.Flexible, j.Phi, j.Fix, j.Sizes, j.Run, j.Budget, j.Portion = 0, 0, 0, nil, 0, 0, grid.Portion{}
	j.Apart, j.Together, j.Work, j.MaxPrice, j.Deadline = true, false, work, 10*grid.Price(grid.Credit), grid.Never
	j.Money(parts, false, nil)
	least := int64(90*grid.Second) * grid.WasteUnit / int64(length)
	j.Gather = &grid.Gather{Waste: min(grid.MostWaste, least+r.Int64N(grid.WasteUnit)), Deadline: grid.Duration(20+r.IntN(80)) * grid.Minute}
}

// pilotKinds are the faults of the managers of these sites. Their clocks are right: idling is
// measured by them.
var pilotKinds = []sim.Kind{manager.LostAnswer, manager.LateCommand, manager.RefusedCommand, manager.SlowCommand, manager.OldLook, manager.ManagerRestart,
	manager.NodeDrained, manager.NodeDown, manager.NodeUnknown, manager.AdminCancel, manager.AdminHold, manager.Preempted, manager.Foreign}

// pilotFaults draws what goes wrong at these sites.
func pilotFaults(seed uint64) (list []sim.Fault) {
	at := pilotSites(rand.New(rand.NewPCG(seed, streamPilotSites)))
	r := rand.New(rand.NewPCG(seed, streamPilotFaults))
	between := func(lo, hi grid.Duration) grid.Duration { return lo + grid.Duration(r.Int64N(int64(hi-lo)+1)) }
	for _, k := range pilotKinds {
		for range 1 + r.IntN(3) {
			f := sim.Fault{Kind: k, Host: DriverID(SiteNames[at[r.IntN(2)]]), At: Start.Add(between(2*grid.Minute, Storm-5*grid.Minute)), Salt: 1 + r.Uint64N(1<<32)}
			switch k {
			case manager.ManagerRestart:
				f.For = between(grid.Second, 90*grid.Second)
			case manager.LostAnswer, manager.LateCommand, manager.RefusedCommand, manager.SlowCommand, manager.OldLook:
				f.For, f.Share = between(30*grid.Second, 6*grid.Minute), 100+r.IntN(700)
			case manager.NodeDrained, manager.NodeDown, manager.NodeUnknown, manager.Foreign:
				f.For = between(grid.Minute, 15*grid.Minute)
			}
			list = append(list, f)
		}
	}
	for _, i := range at { // and at who passes messages on
		for _, k := range []sim.Kind{sim.CrashSync, sim.CrashSend} {
			list = append(list, sim.Fault{Kind: k, Host: SiteID(SiteNames[i]), At: Start.Add(between(grid.Minute, Storm-5*grid.Minute)), Salt: 1 + r.Uint64N(1<<32), For: between(100, 30*grid.Second)})
		}
	}
	return list
}

// rightClocks leaves the clocks of these sites' managers as they are.
func rightClocks(seed uint64, list []sim.Fault) []sim.Fault {
	at := pilotSites(rand.New(rand.NewPCG(seed, streamPilotSites)))
	return slices.DeleteFunc(list, func(f sim.Fault) bool {
		return f.Kind == manager.ClockSkew && (f.Host == DriverID(SiteNames[at[0]]) || f.Host == DriverID(SiteNames[at[1]]))
	})
}

// MaxPilots is how many pilots the cluster of a site takes at once; 0: its nodes are not had by
// pilots.
func (s *Site) MaxPilots() int { return s.maxPilots }
