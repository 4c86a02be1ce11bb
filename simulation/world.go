package simulation

import (
	"fmt"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/sites"
)

// world is a running scenario for one seed: its agents and their virtual time.
type world struct {
	scenario *configs.Scenario
	sim      *sim.World
	sites    map[agents.ID]*sites.Site
	clusters map[agents.ID]*cluster.Agent
	queues   map[agents.ID]*queue.Backend // of sites that have any
	brokers  map[agents.ID]*broker.Broker
	logs     map[string]*report.LogSummary // by site: of its local jobs, if they are from a log with waits
	rec      Record
}

// The addresses of agents.
func siteID(name string) agents.ID    { return agents.ID("site:" + name) }
func clusterID(name string) agents.ID { return agents.ID("cluster:" + name) }
func brokerID(name string) agents.ID  { return agents.ID("broker:" + name) }
func usersID(name string) agents.ID   { return agents.ID("users:" + name) }

// newWorld makes the agents of a scenario: sites in the scenario's order, each cluster before
// its site, then brokers in an order drawn from the seed. How the run is recorded determines how much brokers record
// and remember; nothing else depends on it.
func newWorld(sc *configs.Scenario, seed uint64, load *Workloads, rec Record) (*world, error) {
	w := &world{scenario: sc, rec: rec, sim: sim.New(), sites: map[agents.ID]*sites.Site{},
		clusters: map[agents.ID]*cluster.Agent{}, queues: map[agents.ID]*queue.Backend{}, brokers: map[agents.ID]*broker.Broker{}, logs: map[string]*report.LogSummary{}}
	for i := range sc.Sites {
		if err := w.addSite(&sc.Sites[i], seed, load); err != nil {
			return nil, fmt.Errorf("site %q: %w", sc.Sites[i].Name, err)
		}
	}
	for _, i := range brokersOrder(len(sc.Brokers), seed) {
		if err := w.addBroker(&sc.Brokers[i], seed, load); err != nil {
			return nil, fmt.Errorf("broker %q: %w", sc.Brokers[i].Name, err)
		}
	}
	return w, nil
}

// brokersOrder is the order in which brokers and their users act in the same instant. It is
// drawn from the seed: no place in the file comes first in every run.
func brokersOrder(n int, seed uint64) []int {
	return rand.New(rand.NewPCG(SeedOf(seed, "order of brokers"), 0)).Perm(n)
}

// addSite adds a site and its cluster.
func (w *world) addSite(s *configs.Site, seed uint64, load *Workloads) error {
	work, err := load.work(s, seed)
	if err != nil {
		return err
	}
	if log := &work.Log; log.Jobs > 0 {
		wait := grid.Duration(log.MeanWait() * float64(grid.Second))
		w.logs[s.Name] = &report.LogSummary{Jobs: log.Jobs, MeanWait: wait, BoundedSlowdown: log.BoundedSlowdown()}
	}
	cfg, err := s.Agent(clusterID(s.Name), w.longestHorizon(), 0)
	if err != nil {
		return err
	}
	cfg.Lossless = !w.rec.lossy
	nodes := NewBackend(s, work, &cfg)
	if q, ok := nodes.(*queue.Backend); ok {
		w.queues[siteID(s.Name)] = q
	}
	behind, site := cluster.New(w.clusterConfig(s), nodes), sites.New(cfg)
	w.clusters[clusterID(s.Name)], w.sites[siteID(s.Name)] = behind, site
	if w.rec.cluster != nil {
		w.sim.Add(clusterID(s.Name), w.rec.cluster(behind))
	} else {
		w.sim.Add(clusterID(s.Name), behind)
	}
	w.sim.Add(siteID(s.Name), site)
	w.fail(s, seed)
	return nil
}

// clusterConfig returns the configuration of a site's cluster. If only sums are needed of a
// run, no one can see when its local jobs are simulated.
func (w *world) clusterConfig(s *configs.Site) cluster.Config {
	c := cluster.Config{Site: siteID(s.Name), Volatile: true, Lossless: !w.rec.lossy}
	if !w.rec.Keep && w.rec.Events == nil && w.rec.Hook == nil && !w.rec.prompt {
		c.Unwatched = grid.Time(w.scenario.Until)
	}
	return c
}

// longestHorizon returns the farthest that any broker looks ahead: the span over which the
// sites' vo_share is counted.
func (w *world) longestHorizon() grid.Duration {
	longest := grid.Duration(0)
	for i := range w.scenario.Brokers {
		longest = max(longest, w.scenario.Brokers[i].Horizon)
	}
	return longest
}

// addBroker adds a broker and its users.
func (w *world) addBroker(b *configs.Broker, seed uint64, load *Workloads) error {
	jobs, err := load.vo(b, w.scenario.MeanPrice(), seed)
	if err != nil {
		return err
	}
	cfg, err := b.Agent(broker.Defaults(b.Name))
	if err != nil {
		return err
	}
	for i := range w.scenario.Sites {
		if s := &w.scenario.Sites[i]; s.Joins == 0 && !s.SellsNothing {
			cfg.Sites = append(cfg.Sites, siteID(s.Name))
		}
	}
	if w.rec.Keep {
		cfg.Explain = keptDetail
	} else if w.rec.Events == nil && b.Workload != nil { // forgotten jobs are not read, and no job comes after another
		cfg.KeepJobs = keptJobs
	}
	cfg.Lossless = !w.rec.lossy
	cfg.Nonce, cfg.Draws = SeedOf(seed, "nonce "+b.Name), SeedOf(seed, "draws "+b.Name)
	if len(w.scenario.Brokers) > 1 { // so that none of them chooses first in every cycle
		cfg.Phases = SeedOf(seed, "cycle phases "+b.Name) | 1
	}
	if b.Strategy.Asks() {
		if cfg.Chooser, err = w.rec.choosers.of(b, w.sim); err != nil {
			return err
		}
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	agent := broker.New(cfg)
	w.brokers[brokerID(b.Name)] = agent
	w.sim.Add(brokerID(b.Name), agent)
	wishes := wishesOf(b.Workload, len(jobs), SeedOf(seed, "wishes "+b.Name))
	w.sim.Add(usersID(b.Name), newUsers(brokerID(b.Name), jobs, wishes))
	if wishes != nil {
		w.notify(brokerID(b.Name), usersID(b.Name))
	}
	w.announce(brokerID(b.Name))
	return nil
}

// announce tells a broker, each at its time, about sites that join after the start and
// sites that leave before the end. Alarms come before messages: a cycle due at that instant
// has already begun, and goes on with the sites it has asked.
func (w *world) announce(broker agents.ID) {
	for i := range w.scenario.Sites {
		s := &w.scenario.Sites[i]
		if s.SellsNothing {
			continue
		}
		if s.Joins > 0 {
			w.sim.Post(grid.Time(s.Joins), broker, agents.SiteJoined{Site: siteID(s.Name)})
		}
		if s.Leaves < w.scenario.Until {
			w.sim.Post(grid.Time(s.Leaves), broker, agents.SiteLeft{Site: siteID(s.Name)})
		}
	}
}
