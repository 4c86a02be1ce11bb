package choice

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
)

// Strategy says how a broker places a job.
type Strategy uint8

// The strategies. All but Batch and Program take jobs one by one as they arrive, and place
// each whole on one group of one site.
const (
	Batch         Strategy = iota // jobs are weighed against each other; see policy/selection
	ByPreference                  // the start that alpha prefers, over all sites
	Earliest                      // the earliest start
	ShortestQueue                 // where the least work waits per node
	Random                        // on any site that has room
	Program                       // whatever somebody outside says, of the windows of a batch
	SoonestQueue                  // where it would start first in the queue
)

type strategyIs struct {
	order func(r Rule, list []Candidate) func(x, y *Candidate) int // which of two comes first; nil: jobs are weighed in batches
	alpha bool                                                     // it goes by Rule.Alpha
	asks  bool                                                     // somebody outside chooses, for a batch
	queue bool                                                     // it goes by Candidate.Queued
}

// strategies is the table of them. A new one is a constant and a line here; its
// comparison may be in a file of its own.
var strategies = names.Table[Strategy, strategyIs]{Kind: "strategy", Lines: []names.Line[strategyIs]{
	Batch: {Name: "batch", Means: "weighs the jobs of a cycle against each other"},
	ByPreference: {Name: "alpha", Means: "one by one: the start that `alpha` prefers, over all sites", Is: strategyIs{alpha: true,
		order: func(r Rule, list []Candidate) func(x, y *Candidate) int { return byPreference(list, r.Alpha) }}},
	Earliest: {Name: "earliest", Means: "one by one: the earliest start", Is: strategyIs{
		order: func(Rule, []Candidate) func(x, y *Candidate) int { return soonest }}},
	ShortestQueue: {Name: "shortest-queue", Means: "one by one: where the least work waits per node", Is: strategyIs{
		order: func(Rule, []Candidate) func(x, y *Candidate) int { return byBacklog }}},
	Random: {Name: "random", Means: "one by one: on any site that has room", Is: strategyIs{
		order: func(r Rule, list []Candidate) func(x, y *Candidate) int { return bySite(draw(list, r.Draw)) }}},
	Program: {Name: "program", Means: "a program of yours, `chooser`, picks among the windows of a cycle; only in a scenario", Is: strategyIs{asks: true}},
	SoonestQueue: {Name: "soonest-queue", Means: "one by one: where it would start first in the queue, by the queue's plan", Is: strategyIs{queue: true,
		order: func(Rule, []Candidate) func(x, y *Candidate) int { return byQueue }}},
}}

// String names the strategy as configuration files do.
func (s Strategy) String() string { return strategies.Name(s) }

// Known reports whether there is such a strategy.
func (s Strategy) Known() bool { return strategies.Known(s) }

// OneByOne reports whether jobs are taken one by one, by a Rule, and not in batches.
func (s Strategy) OneByOne() bool { return strategies.Is(s).order != nil }

// TakesAlpha reports whether the strategy goes by Rule.Alpha.
func (s Strategy) TakesAlpha() bool { return strategies.Is(s).alpha }

// Queues reports whether the strategy goes by Candidate.Queued.
func (s Strategy) Queues() bool { return strategies.Is(s).queue }

// Asks reports whether somebody outside chooses, of the windows of a batch.
func (s Strategy) Asks() bool { return strategies.Is(s).asks }

// Asking returns the names of those that Asks holds for.
func Asking() []string { return strategies.With(func(p *strategyIs) bool { return p.asks }) }

// ParseStrategy reads the name of a strategy.
func ParseStrategy(s string) (Strategy, error) { return strategies.Parse(s) }

// Strategies returns the strategies with what they do.
func Strategies() []names.Policy { return strategies.Policies() }

// TakingAlpha returns the names of those that TakesAlpha holds for.
func TakingAlpha() []string { return strategies.With(func(p *strategyIs) bool { return p.alpha }) }

// Candidate is a start for which a group of a site has room.
type Candidate struct {
	Site       int // its number, the same for all candidates of a site
	Start, End grid.Time
	Cost       grid.Credits  // base and additive part
	Backlog    grid.Duration // what waits in the group's queue, per node
	Queued     grid.Time     // when the job would start in that queue if all jobs ran to their limits; only if Queues holds
}

// Rule is a strategy with its parameters.
type Rule struct {
	Strategy Strategy
	Alpha    Alpha  // of ByPreference
	Draw     uint64 // of Random: any number, a new one for each job
	// Tie orders two candidates, given by their places in the list, that are equal
	// otherwise; nil: the first is taken.
	Tie func(i, k int) int
}

// Best returns the index of the candidate that the rule takes, -1 if there is
// none. ByPreference weighs cost against start as ByAlpha does, over the
// candidates of all sites together. Ties of a rule go to the earliest start, then the
// earliest end, then the least cost, then by Tie. Batch is no such rule: it panics.
func (r Rule) Best(list []Candidate) int {
	order := strategies.Is(r.Strategy).order
	if order == nil {
		panic("choice: " + r.Strategy.String() + " takes no job by itself")
	}
	first := order(r, list)
	best := -1
	for i := range list {
		if best < 0 {
			best = i
			continue
		}
		c := cmp.Or(first(&list[i], &list[best]), soonest(&list[i], &list[best]))
		if c == 0 && r.Tie != nil {
			c = r.Tie(i, best)
		}
		if c < 0 {
			best = i
		}
	}
	return best
}

func byBacklog(x, y *Candidate) int { return cmp.Compare(x.Backlog, y.Backlog) }

func byQueue(x, y *Candidate) int { return cmp.Compare(x.Queued, y.Queued) }

// bySite puts the candidates of one site first.
func bySite(site int) func(x, y *Candidate) int {
	return func(x, y *Candidate) int { return cmp.Compare(away(x, site), away(y, site)) }
}

func soonest(x, y *Candidate) int {
	return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.End, y.End), cmp.Compare(x.Cost, y.Cost))
}

func byPreference(list []Candidate, alpha Alpha) func(x, y *Candidate) int {
	var price, start extent
	for i := range list {
		price = price.with(int64(list[i].Cost), i == 0)
		start = start.with(int64(list[i].Start), i == 0)
	}
	p := prefer(price, start, alpha)
	return func(x, y *Candidate) int {
		return p.score(int64(x.Cost), int64(x.Start)).compare(p.score(int64(y.Cost), int64(y.Start)))
	}
}

// draw picks one of the sites in the list.
func draw(list []Candidate, n uint64) int {
	var all []int
	for i := range list {
		all = append(all, list[i].Site)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return -1
	}
	return all[n%uint64(len(all))]
}

func away(c *Candidate, site int) int {
	if c.Site == site {
		return 0
	}
	return 1
}
