package broker

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/pilots"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Config is what a VO decides about its broker. Defaults returns one that only lacks
// Sites and Budget.
type Config struct {
	Name   string
	Sites  []agents.ID  // "site:NAME"; used in order of name
	Budget grid.Credits // of the VO, for each budget period
	// BudgetUntil is how long the budget must last, counted from the broker's first
	// start; BudgetEnd is the instant until which it must last. At most one is set;
	// both 0: no matter. With BudgetPeriod, it is when the last period ends.
	BudgetUntil  grid.Duration
	BudgetEnd    grid.Time
	BudgetPeriod grid.Duration           // how often Budget is added again, on top of what is left; 0: never
	Quotas       map[string]grid.Credits // what a user may spend over the broker's life; no entry: no such bound
	Users        map[string]UserTerms    // terms that differ for single users
	Holders      []grid.Holder           // tenants, their members, and further terms, in order
	TermsStay    bool                    // terms on record take precedence over this configuration

	Cycle   grid.Duration // a cycle fires once in every span of Cycle, Phase after its begin
	Phase   grid.Duration // below Cycle; see the function Phase
	Phases  uint64        // not 0: each cycle has a phase of its own, drawn from this seed, in place of Phase
	Horizon grid.Duration // how far ahead windows are searched for
	Lead    grid.Duration // the least time from now to a window's start; 0 only without latency

	Algorithm   search.Algorithm
	Weights     search.Weights // of Best, see search.Options
	Minimize    grid.Goal
	Urgency     grid.Urgency  // under GoalValue, for jobs without one of their own
	PriceCap    *grid.Price   // of jobs that come with neither a price nor a budget; nil: see Broker.PriceCap
	Slowdown    int64         // under GoalValue, for such jobs: what a wait as long as their run costs at least, in thousandths of their budget
	BudgetLimit grid.Credits  // B* of each cycle; selection.Auto: the formula
	TimeLimit   grid.Duration // T* of each cycle; selection.Auto: the formula
	// Patience is how long a job may wait for a better window under GoalValue: until
	// it has waited that long, it takes no window that starts further ahead than
	// that. Auto: eight cycles; 0: every job takes what there is.
	Patience        grid.Duration
	MaxAlternatives int // per job and cycle

	Strategy choice.Strategy // how jobs are placed
	// Chooser chooses for a strategy that asks somebody outside, in a simulation only: see
	// planning.Planner.Outside. It must answer alike to a run that is repeated.
	Chooser func(*planning.Question) []int
	Alpha   choice.Alpha // of strategy alpha
	Draws   uint64       // seed of strategy random, and of AcceptShifts

	// AcceptShifts is the share of offers to shift a job that are accepted at once, in
	// thousandths; the others are declined at once. 0: users answer for themselves.
	// For simulations.
	AcceptShifts int

	BatchSize  int // how many new jobs start a cycle at once, and the most that one cycle looks at
	MaxCycles  int // how many cycles may follow one another when one fires; see cycle
	MaxQueue   int // how many jobs may wait; more are refused with QueueFull
	MaxWaiting int // how many of one user's jobs may wait; more are refused with QueueFull
	MaxTries   int // how many transactions a cycle may begin for one job
	MaxAsked   int // how many sites a cycle asks for offers; 0: all. See asking.go

	Hold      grid.Duration // how long a hold may last
	InDoubt   grid.Duration // how long a prepared leg may stay in doubt
	OfferWait grid.Duration // how long to wait for answers to requests for offers and quotes
	RoundWait grid.Duration // how long to wait for answers about pilots; 0: OfferWait
	LostAfter grid.Duration // how long a site with a leg that is due may be silent before it is lost; 0: see limitOf, NeverLost: for ever

	// Lossless says that every message arrives exactly once, in the instant in which
	// it is sent, as in a simulation in virtual time. The steps of a transaction are
	// then never repeated, and waiting for an answer needs no limit.
	Lossless bool

	Nonce uint64 // for a life whose runtime draws none

	// Refuse says that what can never run here is refused at submission, and that a job which
	// no price curve can ever make cheap enough is abandoned; see never.go. Otherwise, as in
	// scenarios, every sound job is taken, and such a job waits.
	Refuse bool

	// KeepJobs is how long a job is remembered after it is over. Then its name is
	// free again. 0: for ever.
	KeepJobs grid.Duration
	// Explain is how many bytes an hour the broker may record about what its cycles
	// saw and chose, so that each can be planned again; see input.go. Beyond that it
	// records only the figures, not what was free. 0: it records none of that, nor
	// that a leg has started.
	Explain int
	// Refusals is how many refused submissions of one user are recorded in an hour;
	// for all users together it is 50 times as many. See refusals.go. 0: all.
	Refusals int
}

// Defaults returns the configuration that scenario files document as default, for a
// broker of that name. The caller must set Sites and Budget.
func Defaults(name string) Config {
	c := Config{
		Name:    name,
		Cycle:   30 * grid.Minute,
		Horizon: 7 * grid.Day,

		Algorithm:       search.AMP,
		Minimize:        grid.GoalValue,
		Urgency:         grid.DefaultUrgency(),
		BudgetLimit:     selection.Auto,
		TimeLimit:       selection.Auto,
		Patience:        Auto,
		MaxAlternatives: 20,

		BatchSize:  100,
		MaxCycles:  4,
		MaxQueue:   100_000,
		MaxWaiting: tenancy.DefaultMaxWaiting,
		MaxTries:   4,

		Hold:      30 * grid.Second,
		InDoubt:   15 * grid.Minute,
		OfferWait: 10 * grid.Second,
	}
	c.Phase = Phase(name, c.Cycle)
	return c
}

// ServiceDefaults returns Defaults with the bounds needed by a process that serves for
// years. Jobs are forgotten 7 days after they are over. At most 64 MB of detail an hour
// and 100 refused submissions of a user an hour are recorded. No user may have more than
// 10,000 waiting jobs, and no job waits for a better window. Answers about pilots are awaited for
// pilots.RoundWait. Each cycle has a phase of its own, drawn from the name and the cycle.
func ServiceDefaults(name string) Config {
	c := Defaults(name)
	c.KeepJobs, c.Explain, c.Refusals, c.MaxWaiting = 7*grid.Day, 64<<20, 100, 10_000
	c.Refuse, c.RoundWait = true, pilots.RoundWait
	c.Patience, c.Phases = 0, uint64(Phase(name, grid.MaxDuration))|1
	return c
}

// Phase is the offset of a broker's cycles: the 64-bit FNV-1a hash of its name, modulo
// the cycle, which must not be 0. It keeps brokers with equal cycles from firing
// together. If there are several brokers, Config.Phases is set too: with the same phase in
// every cycle, the same broker would always choose first.
func Phase(name string, cycle grid.Duration) grid.Duration {
	h := fnv.New64a()
	h.Write([]byte(name))
	return grid.Duration(h.Sum64() % uint64(cycle))
}

// Validate returns an error that names the first unusable field and the range it must
// be in, or nil.
func (c *Config) Validate() error {
	for _, d := range []struct {
		key   string
		value grid.Duration
	}{
		{"cycle", c.Cycle}, {"horizon", c.Horizon}, {"hold", c.Hold},
		{"in_doubt", c.InDoubt}, {"offer_wait", c.OfferWait},
	} {
		if d.value <= 0 || d.value > grid.MaxDuration {
			return fmt.Errorf("broker %q: %s %v is outside 0.001..%v seconds", c.Name, d.key, d.value, grid.MaxDuration)
		}
	}
	for _, n := range []struct {
		key   string
		value int
	}{
		{"max_alternatives", c.MaxAlternatives}, {"batch_size", c.BatchSize}, {"max_cycles", c.MaxCycles},
		{"max_queue", c.MaxQueue}, {"max_waiting", c.MaxWaiting}, {"max_tries", c.MaxTries},
	} {
		if n.value < 1 {
			return fmt.Errorf("broker %q: %s %d is below 1", c.Name, n.key, n.value)
		}
	}
	switch {
	case c.KeepJobs < 0 || c.KeepJobs > grid.MaxDuration:
		return fmt.Errorf("broker %q: keep_jobs %v is outside 0..%v seconds", c.Name, c.KeepJobs, grid.MaxDuration)
	case c.RoundWait < 0 || c.RoundWait > grid.MaxDuration:
		return fmt.Errorf("broker %q: the wait for answers about pilots, %v, is outside 0..%v seconds", c.Name, c.RoundWait, grid.MaxDuration)
	case c.LostAfter < NeverLost || c.LostAfter > grid.MaxDuration || c.LostAfter > 0 && c.LostAfter < minLostAfter:
		return fmt.Errorf("broker %q: lost_after %v is neither auto nor never, nor within %v..%v seconds", c.Name, c.LostAfter, minLostAfter, grid.MaxDuration)
	case c.Patience < Auto || c.Patience > grid.MaxDuration:
		return fmt.Errorf("broker %q: patience %v is neither auto nor within 0..%v seconds", c.Name, c.Patience, grid.MaxDuration)
	case c.AcceptShifts < 0 || c.AcceptShifts > 1000:
		return fmt.Errorf("broker %q: accept_shifts %v is outside 0..1", c.Name, grid.Performance(c.AcceptShifts))
	case c.MaxAsked < 0:
		return fmt.Errorf("broker %q: max_asked %d is below 0", c.Name, c.MaxAsked)
	case c.Refusals < 0:
		return fmt.Errorf("broker %q: refusals %d is below 0 an hour", c.Name, c.Refusals)
	case c.Explain < 0:
		return fmt.Errorf("broker %q: explain %d is below 0 bytes an hour", c.Name, c.Explain)
	case c.Name == "":
		return fmt.Errorf("broker without a name; its transactions are known by it")
	case c.Phase < 0 || c.Phase >= c.Cycle:
		return fmt.Errorf("broker %q: phase %v is outside 0..cycle %v", c.Name, c.Phase, c.Cycle)
	case c.Lead < 0 || c.Lead >= c.Horizon:
		return fmt.Errorf("broker %q: lead %v is outside 0..horizon %v", c.Name, c.Lead, c.Horizon)
	case c.Budget < 0 || c.Budget > grid.MaxBudget:
		return fmt.Errorf("broker %q: budget %v is outside 0..%v credits", c.Name, c.Budget, grid.MaxBudget)
	case c.BudgetUntil < 0 || c.BudgetUntil > grid.MaxDuration:
		return fmt.Errorf("broker %q: budget_until %v is outside 0..%v seconds", c.Name, c.BudgetUntil, grid.MaxDuration)
	case c.BudgetEnd < 0 || c.BudgetEnd > grid.MaxTime || c.BudgetEnd > 0 && c.BudgetUntil > 0:
		return fmt.Errorf("broker %q: budget_until %v is neither a span nor an instant up to %v", c.Name, c.BudgetEnd, grid.MaxTime)
	case c.BudgetPeriod != 0 && (c.BudgetPeriod < MinBudgetPeriod || c.BudgetPeriod > grid.MaxDuration):
		return fmt.Errorf("broker %q: budget_period %v is outside %v..%v seconds", c.Name, c.BudgetPeriod, MinBudgetPeriod, grid.MaxDuration)
	case c.BudgetLimit < selection.Auto || c.BudgetLimit > grid.MaxBudget:
		return fmt.Errorf("broker %q: budget_limit %v is neither auto nor within 0..%v credits", c.Name, c.BudgetLimit, grid.MaxBudget)
	case c.TimeLimit < selection.Auto || c.TimeLimit > grid.MaxDuration:
		return fmt.Errorf("broker %q: time_limit %v is neither auto nor within 0..%v seconds", c.Name, c.TimeLimit, grid.MaxDuration)
	}
	return cmp.Or(c.checkStrategy(), c.checkUsers(), c.checkSites())
}

// MinBudgetPeriod is the shortest period of a budget.
const MinBudgetPeriod = grid.Minute

// UserTerms is what an operator grants a user.
type UserTerms struct {
	Share      int // jobs taken each time the user is served, 1..MaxShare; 0: 1
	Priority   int // users with a higher one come first in every batch
	MaxWaiting int // 0: Config.MaxWaiting
}

// MaxShare bounds the share of a user.
const MaxShare = 1000

func (c *Config) checkUsers() error {
	for _, name := range slices.Sorted(maps.Keys(c.Users)) {
		switch t := c.Users[name]; {
		case t.Share < 0 || t.Share > MaxShare:
			return fmt.Errorf("broker %q: share %d of user %q is outside 1..%d", c.Name, t.Share, name, MaxShare)
		case t.MaxWaiting < 0:
			return fmt.Errorf("broker %q: max_waiting %d of user %q is below 1", c.Name, t.MaxWaiting, name)
		}
	}
	for i, h := range c.Holders {
		if err := grid.CheckHolder(h); err != nil {
			return fmt.Errorf("broker %q: %w", c.Name, err)
		}
		if i > 0 && c.Holders[i-1].Compare(h) >= 0 {
			return fmt.Errorf("broker %q: the terms of %s stand twice, or are not in order", c.Name, h.Words())
		}
	}
	return nil
}

func (c *Config) checkSites() error {
	names := slices.Clone(c.Sites)
	slices.Sort(names)
	for i, id := range names {
		if !strings.HasPrefix(string(id), transaction.SitePrefix) || len(id) == len(transaction.SitePrefix) {
			return fmt.Errorf("broker %q: site address %q is not of the form %sNAME", c.Name, id, transaction.SitePrefix)
		}
		if i > 0 && names[i-1] == id {
			return fmt.Errorf("broker %q: site %q stands twice in its list", c.Name, id)
		}
	}
	return nil
}

// transactions is the part that transactions depend on.
func (c *Config) transactions() transaction.Config {
	return transaction.Config{Name: c.Name, Lead: c.Lead, Hold: c.Hold, InDoubt: c.InDoubt, OfferWait: c.OfferWait,
		LostAfter: c.LostAfter, Lossless: c.Lossless, Starts: c.Explain > 0}
}

// NeverLost, as LostAfter, means that only an operator can declare a site lost.
const NeverLost grid.Duration = -1

// minLostAfter is the shortest silence that can be told from a slow answer.
const minLostAfter = 2 * grid.Second

// Auto, as Patience, means eight cycles.
const Auto grid.Duration = -1

// waits is how long a job may wait for a better window.
func (c *Config) waits() grid.Duration {
	if c.Patience == Auto {
		return min(8*c.Cycle, grid.MaxDuration)
	}
	return c.Patience
}

// oneByOne reports whether jobs are taken one by one.
func (c *Config) oneByOne() bool { return c.Strategy.OneByOne() }

// batch is how many jobs one cycle looks at.
func (c *Config) batch() int {
	if c.oneByOne() {
		return 1
	}
	return c.BatchSize
}

// rounds is how many cycles may follow one another when one fires: enough to look at
// MaxCycles x BatchSize jobs.
func (c *Config) rounds() int {
	if c.oneByOne() {
		return c.MaxCycles * c.BatchSize
	}
	return c.MaxCycles
}

func (c *Config) checkStrategy() error {
	switch {
	case !c.Strategy.Known():
		return fmt.Errorf("broker %q: there is no strategy %d", c.Name, c.Strategy)
	case c.Alpha < 0 || c.Alpha > choice.One:
		return fmt.Errorf("broker %q: alpha %v is outside 0..1", c.Name, c.Alpha)
	case (c.oneByOne() || c.Strategy.Asks()) && (c.BudgetLimit != selection.Auto || c.TimeLimit != selection.Auto):
		return fmt.Errorf("broker %q: budget_limit and time_limit bind the batch's own choice; with strategy %v leave them out", c.Name, c.Strategy)
	}
	return nil
}
