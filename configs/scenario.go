package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/fairshare"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Scenario is a world to simulate: sites with local jobs, and brokers.
type Scenario struct {
	Name    string        // default "scenario"
	Until   grid.Duration // the simulated span, above 0
	Sites   []Site        // at least one, in order of the file
	Brokers []Broker      // in order of the file
	Dir     string        // the folder for relative file names; "": the working directory
	Source  Source        // what it was read from
	Traces  []TraceFile   // found by ResolveTraces, in the order in which the scenario names them
}

// Site is one cluster of a scenario.
type Site struct {
	Name       string
	Policy     backfill.Policy // default EASY
	SLA        *SLA            // policy = "sla-*": agreements instead of a queue; nil: none
	Shared     *Shared         // policy = "libra", "edf" and the like: deadlines instead of a queue; nil: none
	Slurm      *Slurm          // policy = "slurm": a queue by Slurm's own rules; Policy is how prices plan it; nil: none
	Pricing    pricing.Scheme  // default adaptive
	Overrun    string          // what happens to a local job at its estimate: "kill" (default) or "extend"
	Estimates  estimates.Rule  // which run times plans assume for local jobs: "request" (default), or a rule of policy/estimates
	HalfLife   grid.Duration   // of the users' past usage, with policy easy-fair or an order by usage; default 7 days
	Groups     []grid.Group    // at least one, in order of the file
	PriceFile  string          // the file of their price curve; "": none
	Queues     []Queue         // the unnamed one first, then in order of the file
	Limits     Limits
	JobLimits  queue.JobLimits // of local jobs, of all queues together
	VOShare    Thousandths     // share of the node-seconds over the horizon that VOs may hold, 0..1; default 1
	VOShares   []VOShare       // the same for single VOs, in order of name; other VOs have no limit of their own
	Hold       grid.Duration   // how long a hold lasts, from 1 s; default 30 s
	InDoubt    grid.Duration   // how long a prepared leg waits for the decision, at least Hold; default 15 min
	QueueLimit int             // local jobs that may wait, 1..10,000,000; more are turned away and counted; default 100,000
	Workload   *Workload       // nil: no local jobs
	Forecast   bool            // local jobs are forecast, and who asks is told when one would start

	// Cap is how many node-seconds one broker may hold unconfirmed at the site, 1..10^12;
	// 0, if the key is left out: no cap. A single hold is always allowed.
	Cap int
	// Penalty is the share of a confirmed leg's price that the site adds to the refund if it
	// loses the leg, 0..10; default 0, or 1 at a site of agreements.
	Penalty Thousandths
	// RefundFullUntil is the share of the time from a leg's hold to its start during which
	// the base price is refunded in full to a user who gives the leg up, 0..1; default 0.5.
	// After that the refund falls linearly to nothing at the start. With 1 the refund is full
	// until the start; with 0 it falls from the hold on.
	RefundFullUntil Thousandths
	// HoldingFee is the share of its base price that such a leg pays for each hour since its
	// hold, 0..1; default 0.
	HoldingFee Thousandths
	// RefundScheduleOnly applies that schedule even if a broker says that a window has broken
	// elsewhere and asks for a full refund; default false.
	RefundScheduleOnly bool

	// Joins and Leaves say when brokers learn that the site joins and leaves: spans from the
	// scenario's zero, 0 <= Joins < Leaves <= Until. By default the site stays from the start
	// to the end. Local jobs run all the time, and legs that are confirmed when it leaves run
	// to their end.
	Joins, Leaves grid.Duration
	SellsNothing  bool // brokers do not know the site; the process of such a site is a shadow

	// Outages say which of its nodes fail. Only in a scenario.
	Outages Outages
}

// VOShare is the share of a site's node-seconds that one VO may hold, 0..1.
type VOShare struct {
	VO    string // the name of its broker
	Share Thousandths
}

// ReadScenario reads a scenario, the batch files that its brokers name, and the outages, prices
// and files of Slurm that its sites do. An error that does not come from the file system is a *Problems. Traces are not opened.
func ReadScenario(file string) (*Scenario, error) {
	text, err := kinds.ReadFile(file)
	if err != nil {
		return nil, err
	}
	with := &opened{dir: filepath.Dir(file)}
	s, err := parseScenario(file, text, with)
	if err != nil {
		return nil, err
	}
	s.Dir = with.dir
	s.Source = Source{Name: filepath.Base(file), Text: string(text)}
	for _, f := range with.read {
		s.Source.add(f.Name, []byte(f.Text))
	}
	if err := s.loadOutages(s.Dir); err != nil {
		return nil, err
	}
	for i := range s.Brokers {
		text, err := s.Brokers[i].loadBatch(s.Dir, s.Until, s.siteNames())
		if err != nil {
			return nil, err
		}
		s.Source.add(s.Brokers[i].Batch, text)
	}
	return s, nil
}

// loadBatch reads the jobs of the batch that a broker names, for a scenario with these sites.
func (b *Broker) loadBatch(dir string, until grid.Duration, sites []string) (text []byte, err error) {
	if b.Batch == "" {
		return nil, nil
	}
	file := keys.Resolve(dir, b.Batch)
	if text, err = kinds.ReadFile(file); err != nil {
		return nil, fmt.Errorf("batch of broker %q: %w", b.Name, err)
	}
	return text, b.takeBatch(file, text, until, sites)
}

// takeBatch makes the jobs of a batch the broker's.
func (b *Broker) takeBatch(file string, text []byte, until grid.Duration, sites []string) error {
	batch, err := parseBatch(file, text, true, until, around{sites: sites, horizon: b.Horizon, algorithm: b.Algorithm})
	if err != nil {
		return err
	}
	b.Jobs = batch.Jobs
	return nil
}

// ParseScenario is ReadScenario for a text, without the batch files; file is its name in
// errors.
func ParseScenario(file string, text []byte) (*Scenario, error) {
	return parseScenario(file, text, &opened{})
}

func parseScenario(file string, text []byte, with *opened) (*Scenario, error) {
	t, err := openFile(file, text)
	if err != nil {
		return nil, err
	}
	aroundOf(t).files = with
	if err := kinds.Must(t, kinds.Scenario, kinds.Broker); err != nil {
		return nil, err
	}
	t.In = kinds.InScenario
	s := &Scenario{}
	t.Fill(s.keys())
	return keys.Finish(t, s)
}

// keys lists the keys of a scenario.
func (s *Scenario) keys() keys.List {
	sites, brokers := map[string]int{}, map[string]int{}
	return keys.List{
		keys.Title("name", &s.Name, "scenario", "its name in reports"),
		keys.Span("until", &s.Until, grid.Day, grid.Second, "length of the simulated time").Must(`"30d"`),
		keys.Each("site", &s.Sites, 0, func(one *Site) keys.List { return one.keys(s.Until, sites) }, "the clusters; one or more"),
		keys.Rule(func(t *keys.Table) {
			if len(s.Sites) == 0 && t.Clean("site") {
				t.Wrong("site", "missing; a scenario has at least one [[site]]")
			}
			aroundOf(t).sites = s.siteNames()
		}),
		keys.Each("broker", &s.Brokers, 0, func(b *Broker) keys.List { return b.keys(s.Until, 0, brokers) }, "the virtual organisations"),
	}
}

// siteNames lists the names of the sites.
func (s *Scenario) siteNames() []string {
	names := make([]string, len(s.Sites))
	for i := range s.Sites {
		names[i] = s.Sites[i].Name
	}
	return names
}

// keys lists the keys of a site: of a [[site]] in a scenario of length until, or at the top
// level of a process's file.
func (s *Site) keys(until grid.Duration, names map[string]int) keys.List {
	const stays = "is only for scenarios; a real site exists while its process runs"
	local, sells := until, true
	if local == 0 {
		local = grid.MaxDuration
	}
	return slices.Concat(keys.List{
		keys.Named("name", &s.Name, names, "north", "name, unique among sites"),
		keys.Policy("pricing", &s.Pricing, pricing.Adaptive, pricing.ParseScheme, pricing.Schemes(), "adaptive: a reservation also pays for the delay that it causes in the queue"),
		keys.Word("overrun", &s.Overrun, "kill", []string{"kill", "extend"}, "what happens to a local job at its estimate"),
		keys.Policy("estimates", &s.Estimates, estimates.Request, estimates.ParseRule, estimates.Rules(), "run times that plans assume for local jobs; jobs are killed at the requested time in any case"),
		keys.Span("half_life", &s.HalfLife, fairshare.HalfLife, fairshare.LeastHalfLife, "time after which a user's past usage counts half").When(withFairShare),
		keys.Boolean("forecast", &s.Forecast, false, "forecast when local jobs start: dry runs and explanations then say when a job in the queue would (100 draws for each job that waits; behind a resource manager for at most 4 new ones of a look)").When(&keys.Condition{
			Text: "with a queue of a policy other than slurm", Holds: func(*keys.Table) bool { return s.SLA == nil && s.Shared == nil && s.Slurm == nil }}),
		queues(&s.Queues),
		keys.Section("job_limits", func() keys.List { return jobLimits(&s.JobLimits) }, "limits on local jobs in each group, for all queues together"),
		keys.Section("limits", s.Limits.keys, "the operator's limits on reservations"),
		keys.Share("vo_share", &s.VOShare, One, 0, One, "share of the node-time that virtual organisations may hold"),
		keys.Span("hold", &s.Hold, 30*grid.Second, grid.Second, "how long a hold lasts"),
		keys.Span("in_doubt", &s.InDoubt, 15*grid.Minute, grid.Second, "how long a prepared leg waits for the decision; at least `hold`"),
		keys.Whole("queue_limit", &s.QueueLimit, 100_000, 1, 10_000_000, "local jobs that may wait; more are turned away"),
		keys.Whole("cap", &s.Cap, 0, 1, 1_000_000_000_000, "node-seconds that one broker may hold unconfirmed").ByDefault("no cap"),
		keys.Share("penalty", &s.Penalty, 0, 0, 10*One, "share of its price that the site adds to the refund of a confirmed leg that it loses").ByDefault("0; 1 at a site of agreements (sla-*)"),
		keys.Share("refund_full_until", &s.RefundFullUntil, One/2, 0, One, "share of the time from hold to start during which a cancelled leg is refunded in full; after that the refund falls to nothing at the start"),
		keys.Share("holding_fee", &s.HoldingFee, 0, 0, One, "share of its base price that such a leg pays for each hour since its hold"),
		keys.Boolean("refund_schedule_only", &s.RefundScheduleOnly, false, "apply that schedule also if the window broke at another site, instead of a full refund"),
		keys.Entries("vo_shares", keys.About{Kind: "numbers by broker", Limits: "0..1"}, s.voShare, "`vo_share` for single virtual organisations"),
	}, s.slaKeys(), s.sharedKeys(), s.slurmKeys(), keys.List{
		keys.Custom("policy", ofPolicies(allPolicies()), s.policy, "how local jobs are served: as a queue, by agreements (sla-*), or by shares and deadlines"),
	}, ordersBy(&s.Policy, func() bool { return s.SLA == nil && s.Shared == nil && s.Slurm == nil }), groups(&s.Groups, &s.Name), prices(&s.Groups, &s.PriceFile), s.outages(until), keys.List{
		keys.Rule(s.openSlurm),
		dividedBy(&s.Groups, s.undivided),
		keys.Rule(func(t *keys.Table) {
			if t.Clean("hold") && t.Clean("in_doubt") && s.InDoubt < s.Hold {
				t.Wrong("in_doubt", "%s is shorter than hold, %s", s.InDoubt.Words(), s.Hold.Words())
			}
		}),
		keys.Refuse("time_shared", notYet), keys.Refuse("refund", notYet), keys.Refuse("fix", notYet),
		keys.Span("joins", &s.Joins, 0, 0, "when brokers learn that the site joins").Only(kinds.InScenario, stays),
		keys.Span("leaves", &s.Leaves, until, 0, "when brokers learn that the site leaves").ByDefault("the scenario's `until`").Only(kinds.InScenario, stays),
		keys.Rule(func(t *keys.Table) { s.stay(t, until) }),
		keys.Boolean("sell", &sells, true, "false: nothing is sold. In a scenario brokers do not know the site; a process beside Slurm only finds what would have been sold ([ADOPT.md](ADOPT.md))"),
		keys.Rule(func(*keys.Table) { s.SellsNothing = !sells }),
		keys.Option("workload", func() keys.List { s.Workload = &Workload{}; return s.Workload.keys(s, local) }, "local jobs"),
	})
}

// undivided says why the site cannot divide its nodes, "" if it can.
func (s *Site) undivided(*grid.Group) string {
	switch {
	case s.SLA != nil:
		return "nodes are not divided at a site of agreements (sla-*)"
	case s.Shared != nil:
		return "nodes that are time-shared are not divided into slices"
	case s.Slurm != nil:
		return "nodes of a simulated Slurm are not divided yet"
	}
	return ""
}

const notYet = "not available yet; leave the key out"

// voShare reads the share of one broker.
func (s *Site) voShare(t *keys.Table, vo string) {
	s.VOShares = append(s.VOShares, VOShare{VO: vo, Share: t.Share(vo, One, 0, One)})
}

// policy reads how local jobs are served, unless the policy is one of agreements or of
// deadlines, which is read before.
func (s *Site) policy(t *keys.Table, key string) {
	s.Policy = backfill.EASY
	switch {
	case s.Shared != nil || s.Slurm != nil:
	case s.SLA == nil:
		s.Policy = queuePolicy(t, key, allPolicies())
	default:
		if !t.Has("penalty") {
			s.Penalty = Thousandths(s.SLA.Shares.Penalty)
		}
		s.SLA.Shares.Penalty = int(s.Penalty)
	}
	t.Has(key)
}

// stay checks when a site joins and leaves.
func (s *Site) stay(t *keys.Table, until grid.Duration) {
	joins, leaves := s.Joins, s.Leaves
	switch {
	case t.In != kinds.InScenario:
	case !t.Clean("joins") || !t.Clean("leaves"):
	case joins >= until:
		t.Wrong("joins", "%s is not before the end of the scenario, %s", joins.Words(), until.Words())
	case leaves > until:
		t.Wrong("leaves", "%s is after the end of the scenario, %s; leave the key out for a site that stays", leaves.Words(), until.Words())
	case leaves <= joins:
		t.Wrong("leaves", "%s is not after joins, %s", leaves.Words(), joins.Words())
	}
}

// Nodes returns the nodes of all groups.
func (s *Site) Nodes() int {
	n := 0
	for _, g := range s.Groups {
		n += g.Nodes
	}
	return n
}

// MeanPrice returns the mean, over the sites, of the average price of their nodes, rounded
// half up. The prices of VOWorkload are multiples of it. Changes of prices over time do not
// count.
func (s *Scenario) MeanPrice() grid.Price {
	sum := new(big.Rat)
	for i := range s.Sites {
		site := new(big.Int)
		for _, g := range s.Sites[i].Groups {
			site.Add(site, new(big.Int).Mul(big.NewInt(int64(g.Nodes)), big.NewInt(int64(g.Price))))
		}
		sum.Add(sum, new(big.Rat).SetFrac(site, big.NewInt(int64(s.Sites[i].Nodes()))))
	}
	sum.Quo(sum, new(big.Rat).SetInt64(int64(len(s.Sites))))
	sum.Add(sum, big.NewRat(1, 2))
	return grid.Price(new(big.Int).Quo(sum.Num(), sum.Denom()).Int64())
}

// ResolveTraces resolves every relative trace against dir or, if that is "", against the
// scenario's own folder. A missing trace is an error that names the remedy; the traces are
// not read. Call it once.
func (s *Scenario) ResolveTraces(dir string) error {
	if dir == "" {
		dir = s.Dir
	}
	owners := map[TraceFile][]string{} // in order
	resolve := func(owner string, trace *string) {
		if *trace == "" {
			return
		}
		f := TraceFile{Name: *trace, Path: keys.Resolve(dir, *trace)}
		*trace = f.Path
		if owners[f] == nil {
			s.Traces = append(s.Traces, f)
		}
		owners[f] = append(owners[f], owner)
	}
	for i := range s.Sites {
		if w := s.Sites[i].Workload; w != nil {
			resolve(fmt.Sprintf("site %q", s.Sites[i].Name), &w.Trace)
		}
	}
	for i := range s.Brokers {
		if w := s.Brokers[i].Workload; w != nil {
			resolve(fmt.Sprintf("broker %q", s.Brokers[i].Name), &w.Trace)
		}
	}
	var all []error
	for _, f := range s.Traces {
		who := owners[f][0]
		if more := len(owners[f]) - 1; more > 0 {
			who += fmt.Sprintf(" and %d more", more)
		}
		all = append(all, f.check(who))
	}
	return errors.Join(all...)
}

// check checks that the file exists; who names its owners in the error.
func (f TraceFile) check(who string) error {
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no trace %s; give the folder of the traces with --traces DIR", who, f.Path)
	case err != nil:
		return fmt.Errorf("%s: %w", who, err)
	case info.IsDir():
		return fmt.Errorf("%s: trace %s is a folder; must be a file", who, f.Path)
	}
	return nil
}
