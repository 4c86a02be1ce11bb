package studies

import (
	"fmt"

	"bourse"
	"bourse/agents"
	"bourse/agents/sim"
	"bourse/broker"
	"bourse/configs"
	"bourse/policy/pricing"
	"bourse/policy/search"
	"bourse/policy/selection"
	"bourse/sites"
)

// world is a scenario brought to life for one seed: its agents, and the virtual
// time they live in.
type world struct {
	scenario *configs.Scenario
	sim      *sim.World
	sites    map[agents.ID]*sites.Site
	clusters map[agents.ID]*sites.Cluster
	brokers  map[agents.ID]*broker.Broker
}

// The addresses of agents.
func siteID(name string) agents.ID    { return agents.ID("site:" + name) }
func clusterID(name string) agents.ID { return agents.ID("cluster:" + name) }
func brokerID(name string) agents.ID  { return agents.ID("broker:" + name) }
func usersID(name string) agents.ID   { return agents.ID("users:" + name) }

// newWorld makes the agents of a scenario. The order in which they are added is
// that of the scenario, each cluster before its site, sites before brokers.
func newWorld(sc *configs.Scenario, seed uint64, load *Workloads) (*world, error) {
	w := &world{scenario: sc, sim: sim.New(), sites: map[agents.ID]*sites.Site{},
		clusters: map[agents.ID]*sites.Cluster{}, brokers: map[agents.ID]*broker.Broker{}}
	for i := range sc.Sites {
		if err := w.addSite(&sc.Sites[i], seed, load); err != nil {
			return nil, fmt.Errorf("site %q: %w", sc.Sites[i].Name, err)
		}
	}
	for i := range sc.Brokers {
		if err := w.addBroker(&sc.Brokers[i], seed, load); err != nil {
			return nil, fmt.Errorf("broker %q: %w", sc.Brokers[i].Name, err)
		}
	}
	return w, nil
}

// addSite adds a site and its cluster.
func (w *world) addSite(s *configs.Site, seed uint64, load *Workloads) error {
	jobs, err := load.local(s, seed)
	if err != nil {
		return err
	}
	scheme, err := pricing.ParseScheme(s.Pricing)
	if err != nil {
		return err
	}
	queues := make([]*sites.Queue, len(s.Groups))
	for i, list := range spread(jobs, s.Groups) {
		queues[i] = sites.NewQueue(sites.QueueOptions{Nodes: s.Groups[i].Nodes, Policy: s.Policy,
			Queues: localQueues(s.Queues), Extend: s.Overrun == "extend", Limit: s.QueueLimit})
		queues[i].Feed(sites.Jobs(list))
	}
	cluster := sites.NewCluster(siteID(s.Name), s.Groups, queues)
	site := sites.New(sites.Config{
		Name: s.Name, Cluster: clusterID(s.Name), Groups: s.Groups, Pricing: scheme,
		Limits: s.Limits.Reservations(), VOShare: int(s.VOShare), Span: w.longestHorizon(),
		Hold: s.Hold, InDoubt: s.InDoubt, MaxWork: maxWork, Cap: int64(s.Cap) * int64(bourse.Second), Penalty: int(s.Penalty),
		Cancellation: bourse.Cancellation{Full: int(s.RefundFullUntil)}, FallsAtOnce: s.RefundFullUntil == 0,
	})
	w.clusters[clusterID(s.Name)], w.sites[siteID(s.Name)] = cluster, site
	w.sim.Add(clusterID(s.Name), cluster)
	w.sim.Add(siteID(s.Name), site)
	return nil
}

// maxWork bounds the requests that wait at a site for its cluster.
const maxWork = 100_000

// longestHorizon is the farthest that any broker looks ahead: the span that the
// sites' vo_share is reckoned over.
func (w *world) longestHorizon() bourse.Duration {
	longest := bourse.Duration(0)
	for i := range w.scenario.Brokers {
		longest = max(longest, w.scenario.Brokers[i].Horizon)
	}
	return longest
}

func localQueues(list []configs.Queue) []sites.LocalQueue {
	out := make([]sites.LocalQueue, len(list))
	for i, q := range list {
		out[i] = sites.LocalQueue{Name: q.Name, Priority: q.Priority, Rate: int64(q.Rate), DelayCost: int64(q.DelayCost)}
	}
	return out
}

// addBroker adds a broker and the users who submit to it.
func (w *world) addBroker(b *configs.Broker, seed uint64, load *Workloads) error {
	jobs, err := load.vo(b, w.scenario.MeanPrice(), seed)
	if err != nil {
		return err
	}
	cfg, err := brokerConfig(b)
	if err != nil {
		return err
	}
	for i := range w.scenario.Sites {
		if s := &w.scenario.Sites[i]; s.Joins == 0 {
			cfg.Sites = append(cfg.Sites, siteID(s.Name))
		}
	}
	cfg.Nonce = derived(seed, "nonce "+b.Name)
	if err := cfg.Validate(); err != nil {
		return err
	}
	agent := broker.New(cfg)
	w.brokers[brokerID(b.Name)] = agent
	w.sim.Add(brokerID(b.Name), agent)
	w.sim.Add(usersID(b.Name), &users{broker: brokerID(b.Name), jobs: jobs})
	w.announce(brokerID(b.Name))
	return nil
}

// announce has a broker learn, each at its time, of the sites that join after the
// start and of those that leave before the end. Alarms come before messages: a
// cycle that is due in that instant has begun, and goes on with whom it has asked.
func (w *world) announce(broker agents.ID) {
	for i := range w.scenario.Sites {
		s := &w.scenario.Sites[i]
		if s.Joins > 0 {
			w.sim.Post(bourse.Time(s.Joins), broker, agents.SiteJoined{Site: siteID(s.Name)})
		}
		if s.Leaves < w.scenario.Until {
			w.sim.Post(bourse.Time(s.Leaves), broker, agents.SiteLeft{Site: siteID(s.Name)})
		}
	}
}

// brokerConfig turns the words of a file into a broker's configuration.
func brokerConfig(b *configs.Broker) (broker.Config, error) {
	cfg := broker.Defaults(b.Name)
	algorithm, err := search.ParseAlgorithm(b.Algorithm)
	if err != nil {
		return cfg, err
	}
	cfg.Budget, cfg.Algorithm = b.Budget, algorithm
	if cfg.Minimize, err = selection.ParseGoal(b.Minimize); err != nil {
		return cfg, err
	}
	if b.BudgetLimit != nil {
		cfg.BudgetLimit = *b.BudgetLimit
	}
	if b.TimeLimit != nil {
		cfg.TimeLimit = *b.TimeLimit
	}
	for _, q := range b.Quotas {
		if cfg.Quotas == nil {
			cfg.Quotas = map[string]bourse.Credits{}
		}
		cfg.Quotas[q.User] = q.Credits
	}
	cfg.Cycle, cfg.Phase = b.Cycle, broker.Phase(b.Name, b.Cycle)
	cfg.Horizon, cfg.Lead = b.Horizon, b.Lead
	cfg.Weights = search.Weights{Time: int64(b.Weights.Time), Cost: int64(b.Weights.Cost), Finish: int64(b.Weights.Finish)}
	cfg.MaxAlternatives, cfg.BatchSize = b.MaxAlternatives, b.BatchSize
	return cfg, nil
}
