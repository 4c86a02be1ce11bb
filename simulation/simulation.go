package simulation

import (
	"fmt"
	"io"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/report"
)

// Simulation is one scenario to run in virtual time. Its traces have been resolved.
type Simulation struct {
	Scenario  *configs.Scenario
	Workloads *Workloads // shared by all runs
	// Check checks the invariants after every step and ends the run at the first that is
	// broken.
	Check bool
	// Choosers starts the program that chooses for a broker whose strategy asks one, for a
	// run with a seed. nil: such a broker is an error.
	Choosers func(b *configs.Broker, dir string, seed uint64) (Chooser, error)
}

// keptDetail is how many bytes a broker records, per hour of virtual time, of what its
// cycles saw and chose, if there will be a report: a few batches of a hundred jobs. The
// report lacks the alternatives of cycles beyond that.
const keptDetail = 4 << 20

// keptJobs is how long a broker remembers a job that is over if nothing is written about
// the broker, so that ten years take no more memory than one.
const keptJobs = 7 * grid.Day

// Record says what to keep of a run.
type Record struct {
	Keep   bool      // the rows of all jobs, the alternatives they had, and the pictures
	Events io.Writer // if set, called with every fact as it is recorded
	// Hook, if set, is called after each step with what the agent has done. Without Keep
	// and Events a broker also says which jobs it has forgotten.
	Hook func(now grid.Time, id agents.ID, out *agents.Outbox)

	choosers *choosers                       // programs that choose for brokers; nil: none can be started
	prompt   bool                            // everything is done at its instant, though only sums are wanted
	lossy    bool                            // the agents take it that messages may be late or lost, which they are not
	cluster  func(agents.Agent) agents.Agent // if set, returns a replacement for a cluster's agent
}

// Violation says that a run broke an invariant: an error of the program, never
// of its input.
type Violation struct {
	Seed uint64
	Err  error
}

func (v *Violation) Error() string {
	return fmt.Sprintf("seed %d breaks an invariant: %v", v.Seed, v.Err)
}

// Unwrap returns the violated invariant's error.
func (v *Violation) Unwrap() error { return v.Err }

// Run runs the scenario with one seed, until its end. The same seed gives the
// same report, byte for byte.
func (s *Simulation) Run(seed uint64, rec Record) (*report.Report, error) {
	rec.prompt = rec.prompt || s.Check // invariants are held against every step
	outside := choosers{start: s.Choosers, dir: s.Scenario.Dir, seed: seed}
	defer outside.close()
	rec.choosers = &outside
	w, err := newWorld(s.Scenario, seed, s.Workloads, rec)
	if err != nil {
		return nil, err
	}
	c := report.NewCollector(w.header(seed), report.Options{Keep: rec.Keep, Events: rec.Events})
	w.sim.After(c.Hook)
	if rec.Hook != nil {
		w.sim.After(rec.Hook)
	}
	broken := w.check(s.Check)
	until := grid.Time(s.Scenario.Until)
	if w.sim.Run(until); *broken != nil {
		return nil, &Violation{Seed: seed, Err: *broken}
	}
	if outside.failed != nil {
		return nil, outside.failed
	}
	return c.Finish(w.end(until))
}

// RunSeeds runs the scenario with runs seeds from first on, as many at once as there are
// processors, and calls done after each, in order of seed. Only the first run is recorded
// according to rec; the others are only summed up.
func (s *Simulation) RunSeeds(first uint64, runs int, rec Record, done func(*report.Report) error) error {
	type result struct {
		report *report.Report
		err    error
	}
	return parallel.Do(runs, func() func(int) result {
		return func(i int) result {
			r := rec
			if i > 0 {
				r = Record{}
			}
			rep, err := s.Run(first+uint64(i), r)
			return result{rep, err}
		}
	}, func(_ int, r result) error {
		if r.err != nil {
			return r.err
		}
		return done(r.report)
	})
}

// header returns what the report must know about the run's configuration.
func (w *world) header(seed uint64) report.Header {
	h := report.Header{Scenario: w.scenario.Name, Seed: seed, Settings: Settings(w.scenario)}
	long := byWeek(w.scenario)
	for _, s := range w.scenario.Sites {
		h.Sites = append(h.Sites, report.Site{Name: s.Name, Groups: s.Groups, Log: w.logs[s.Name], ByWeek: long && s.Workload != nil && s.Workload.Trace != ""})
	}
	for _, b := range w.scenario.Brokers {
		h.Brokers = append(h.Brokers, report.Broker{Name: b.Name, Budget: b.Budget, Urgency: b.Urgency, ByWeek: long})
	}
	return h
}

// end gathers what the facts do not tell.
func (w *world) end(until grid.Time) report.End {
	e := report.End{Until: until, Waiting: map[string][]report.Waiting{}, Ledgers: map[agents.ID][]grid.Account{}}
	for _, s := range w.scenario.Sites {
		for g, group := range s.Groups {
			nodes := w.queues[siteID(s.Name)]
			if nodes == nil {
				break // jobs only wait under EDF, which promises no starts
			}
			for _, q := range nodes.Waiting(g) {
				e.Waiting[s.Name] = append(e.Waiting[s.Name],
					report.Waiting{Job: q.ID, Group: group.Name, Nodes: q.Nodes, Submit: q.Submit})
			}
		}
		e.Ledgers[siteID(s.Name)] = w.sites[siteID(s.Name)].Ledger().Accounts()
	}
	for _, b := range w.scenario.Brokers {
		e.Ledgers[brokerID(b.Name)] = w.brokers[brokerID(b.Name)].Ledger().Accounts()
	}
	return e
}

// check adds the invariants to the world if asked to. The result points to the first broken
// one.
func (w *world) check(on bool) *error {
	broken := new(error)
	if !on {
		return broken
	}
	v := newInvariants(w)
	w.sim.After(func(now grid.Time, id agents.ID, out *agents.Outbox) {
		if *broken == nil {
			*broken = v.After(now, id, out)
		}
	})
	return broken
}
