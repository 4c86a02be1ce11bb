package configs

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/sites"
)

// maxWork bounds the requests that wait at a site for its cluster.
const maxWork = 100_000

// Agent returns the configuration of the site's agent. cluster is the peer that runs its
// nodes, span the time that VOShare is a share of, lead the least time until a window may
// start: 0 only if messages take no time.
func (s *Site) Agent(cluster agents.ID, span, lead grid.Duration) (sites.Config, error) {
	var shares map[string]int
	for _, v := range s.VOShares {
		if shares == nil {
			shares = map[string]int{}
		}
		shares[v.VO] = int(v.Share)
	}
	urgency := 0
	if s.Shared != nil {
		urgency = int(s.Shared.Urgency)
	}
	return sites.Config{
		Urgency: urgency, Name: s.Name, Cluster: cluster, Groups: s.Groups, Pricing: s.Pricing, Lead: lead,
		Limits: s.Limits.Reservations(), VOShare: int(s.VOShare), VOShares: shares, Span: span,
		Hold: s.Hold, InDoubt: s.InDoubt, MaxWork: maxWork, Cap: int64(s.Cap) * int64(grid.Second), Penalty: int(s.Penalty),
		Cancellation: grid.Cancellation{Full: int(s.RefundFullUntil), Holding: int(s.HoldingFee)}, FallsAtOnce: s.RefundFullUntil == 0,
		ScheduleOnly: s.RefundScheduleOnly, Promises: s.promises(),
	}, nil
}

// ClusterQueues returns the configuration of the queues of the site's simulated cluster,
// one for each group.
func (s *Site) ClusterQueues() []queue.Options {
	local := make([]queue.Named, len(s.Queues))
	for i, q := range s.Queues {
		local[i] = queue.Named{Name: q.Name, Priority: q.Priority, Rate: int64(q.Rate), DelayCost: int64(q.DelayCost), Limits: q.Limits}
	}
	out := make([]queue.Options, len(s.Groups))
	for i, g := range s.Groups {
		out[i] = queue.Options{Nodes: g.Nodes, Policy: s.Policy, Queues: local, Extend: s.Overrun == "extend", Limit: s.QueueLimit, Promises: s.cluster(i),
			Estimates: s.Estimates, HalfLife: s.HalfLife, Limits: s.JobLimits, Slurm: s.slurmOf(i)}
		if s.Forecast {
			out[i].Oracle = s.Oracle(g.Name)
		}
	}
	return out
}

// Oracle returns what forecasts the queue of a group, and has seen nothing. Its draws depend on
// nothing but the names.
func (s *Site) Oracle(group string) *forecast.Oracle {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", s.Name, group)
	seed := h.Sum64()
	return forecast.NewOracle(func(stream uint64) forecast.Random { return rand.New(rand.NewPCG(seed, stream)) })
}

// Agent returns the configuration of the broker's agent: cfg, such as broker.Defaults,
// overridden by the keys of the file. The caller sets the sites.
func (b *Broker) Agent(cfg broker.Config) (broker.Config, error) {
	var err error
	cfg.Name, cfg.Budget, cfg.Algorithm = b.Name, b.Budget, b.Algorithm
	cfg.Urgency, cfg.Slowdown = b.Urgency, int64(b.Slowdown)
	cfg.BudgetUntil, cfg.BudgetPeriod = b.BudgetUntil.After, b.BudgetPeriod
	if d := b.BudgetUntil.Date; !d.IsZero() {
		cfg.BudgetUntil, cfg.BudgetEnd = 0, grid.Time(d.UnixMilli())
	}
	if b.Patience != nil {
		cfg.Patience = *b.Patience
	}
	if cfg.Minimize, err = grid.ParseGoal(b.Minimize); err != nil {
		return cfg, err
	}
	cfg.Strategy = b.Strategy
	cfg.Alpha = choice.Alpha(b.Alpha) * (choice.One / choice.Alpha(One))
	cfg.AcceptShifts = int(b.AcceptShifts)
	cfg.Draws = uint64(broker.Phase(b.Name, grid.MaxDuration))
	cfg.PriceCap = b.PriceCap
	if b.BudgetLimit != nil {
		cfg.BudgetLimit = *b.BudgetLimit
	}
	if b.TimeLimit != nil {
		cfg.TimeLimit = *b.TimeLimit
	}
	switch {
	case b.NeverLost:
		cfg.LostAfter = broker.NeverLost
	case b.LostAfter != nil:
		cfg.LostAfter = *b.LostAfter
	}
	for _, q := range b.Quotas {
		if cfg.Quotas == nil {
			cfg.Quotas = map[string]grid.Credits{}
		}
		cfg.Quotas[q.User] = q.Credits
	}
	cfg.MaxWaiting = b.MaxWaiting
	for _, u := range b.Users {
		if cfg.Users == nil {
			cfg.Users = map[string]broker.UserTerms{}
		}
		x := broker.UserTerms{Share: u.Share, Priority: u.Priority, MaxWaiting: u.MaxWaiting}
		if x.Share == 1 { // the default need not be set
			x.Share = 0
		}
		if x.MaxWaiting == b.MaxWaiting {
			x.MaxWaiting = 0
		}
		cfg.Users[u.Name] = x
	}
	cfg.Holders = b.holders()
	cfg.Cycle, cfg.Phase = b.Cycle, broker.Phase(b.Name, b.Cycle)
	cfg.Horizon, cfg.Lead = b.Horizon, b.Lead
	cfg.Weights = search.Weights{Time: int64(b.Weights.Time), Cost: int64(b.Weights.Cost), Finish: int64(b.Weights.Finish)}
	cfg.MaxAlternatives, cfg.BatchSize, cfg.MaxAsked = b.MaxAlternatives, b.BatchSize, b.MaxAsked
	return cfg, nil
}
