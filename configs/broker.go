package configs

import (
	"slices"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
)

// Broker is a broker that serves one virtual organisation. The source of its jobs is for
// simulations: the file of a process may have these keys, and they are checked, but its
// jobs are those that users submit.
type Broker struct {
	Name            string
	Budget          grid.Credits  // the VO's account, for each of its periods
	BudgetUntil     Moment        // how long after the first start the budget must last; zero: for ever, only with a period
	BudgetPeriod    grid.Duration // the budget is added again after each period, from 1 min; default 0: never
	Quotas          []Quota       // most that single users may spend of it, by name of user; default: none
	Cycle           grid.Duration // from 1 s
	Horizon         grid.Duration // how far ahead it looks, more than Lead
	Algorithm       search.Algorithm
	Minimize        string         // "value", "time", "cost", "finish"
	Slowdown        Thousandths    // what a wait as long as its run costs such a job at least, of its budget; default 0 in a scenario, 0.11 in a process
	Urgency         grid.Urgency   // of jobs without one of their own; default 5 % of a job's budget per hour
	Patience        *grid.Duration // how long a job may wait for a better window; nil: eight cycles ("auto"); default: nil in a scenario, 0 in a process
	Weights         Weights        // of an algorithm that weighs windows
	BudgetLimit     *grid.Credits  // B* of a cycle; nil: by the formula ("auto", the default)
	PriceCap        *grid.Price    // of jobs with neither a price nor a budget; nil: by the mean of what suits ("auto", the default)
	TimeLimit       *grid.Duration // T* of a cycle; nil: by the formula ("auto", the default)
	Strategy        choice.Strategy
	Chooser         []string       // for strategy program, in scenarios: the program and its arguments
	Alpha           Thousandths    // for strategy alpha, 0..1; default 0.5
	AcceptShifts    Thousandths    // in scenarios: share of the offers to shift a job that users accept, 0..1; they decline the others; default 0: no offer is answered
	MaxAlternatives int            // of a job, 1..10,000; default 20
	BatchSize       int            // number of waiting jobs that starts a cycle at once, 1..1,000,000; default 100
	MaxAsked        int            // sites asked for offers in a cycle, 0..100,000; default 0: all
	MaxWaiting      int            // jobs that one user may have waiting, 1..100,000; default 100,000 in a scenario, 10,000 in a process
	Users           []User         // [[broker.user]]: users with settings of their own; nil if none
	Tenants         []Tenant       // [[broker.tenant]]: groups of users; nil if none
	Lead            grid.Duration  // least time until a window may start: 0 or from 10 s; default 0 in a scenario, 60 s in a process
	LostAfter       *grid.Duration // how long a site with a due leg may leave questions unanswered, from 2 s; nil: a share of the leg's notice ("auto", the default)
	NeverLost       bool           // only an operator can declare a site lost ("never")
	Workload        *VOWorkload    // nil if none
	Jobs            []Job          // [[broker.job]] or the file under Batch; nil if none
	Batch           string         // file of a batch, relative to the scenario; "" if none
}

// Weights are the weights of a window's time, cost and finish in algorithm best, each
// 0..1,000,000. If those of time and cost are 0, the default, they vary from pass to pass.
type Weights struct{ Time, Cost, Finish Thousandths }

// User holds the terms that an operator sets for a user.
type User struct {
	Name       string
	Share      int         // jobs taken into a batch in each of the user's turns, 1..1000; default 1
	Priority   int         // users with a higher one come first, -1000..1000; default 0
	MaxWaiting int         // jobs that this user may have waiting, 1..100,000; default: the broker's
	Terms      grid.Grants // further terms that the file gives; never nil
}

// maxUsers bounds the [[user]] tables of a broker.
const maxUsers = 10_000

// Quota is the most that one user may spend of a VO's budget.
type Quota struct {
	User    string
	Credits grid.Credits
}

var (
	criteria = grid.Goals()
)

// ParseBroker reads the broker of a process from a text: one [broker] or one [[broker]].
// file is its name in errors, which are a *Problems.
func ParseBroker(file string, text []byte) (*Broker, error) {
	t, err := openFile(file, text)
	if err != nil {
		return nil, err
	}
	t.In = kinds.InProcess
	var out Broker
	t.Fill(keys.List{oneBroker(&out)})
	return keys.Finish(t, &out)
}

// oneBroker is the key of the only [broker] or [[broker]] of a file; more holds further
// keys and rules of that file.
func oneBroker(to *Broker, more ...keys.Key) keys.Key {
	of := func() keys.List { return append(to.keys(0, grid.Minute, map[string]int{}), more...) }
	return keys.Custom("broker", keys.About{Kind: "table", Below: of, Shape: keys.Bracket}, func(t *keys.Table, key string) {
		if b := single(t, key); b != nil {
			b.Fill(of())
		}
	}, "the virtual organisation; must be given")
}

// single returns the only [broker] or [[broker]] of a file, nil if there is none.
func single(t *keys.Table, key string) *keys.Table {
	if _, single := t.Keys[key].(map[string]any); single {
		return t.Table(key)
	}
	list := t.Tables(key)
	switch {
	case len(list) > 1:
		list[1].WrongAt(list[1].Path, "is a second broker; a process runs one broker")
	case len(list) == 0 && t.Clean(key):
		t.Wrong(key, "missing; write [broker]")
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// keys lists the keys of a broker. until is the length of its scenario, 0 in a process.
func (b *Broker) keys(until, lead grid.Duration, names map[string]int) keys.List {
	users, tenants, members := map[string]int{}, map[string]int{}, map[string]int{}
	return keys.List{
		keys.Named("name", &b.Name, names, "vo1", "name of the virtual organisation (VO)"),
		keys.Amount("budget", &b.Budget, 0, "what the VO may spend, in each period if there is a `budget_period`").Must("50000.0"),
		keys.Span("budget_period", &b.BudgetPeriod, 0, broker.MinBudgetPeriod, "`budget` is added again after each such period; unspent credits stay").ByDefault("it is added once"),
		keys.Custom("budget_until", keys.About{Kind: "duration, or a date in a process", Limits: "from " + broker.MinBudgetPeriod.Words()}, b.budgetUntil(until),
			"how long after the first start `budget` must last or, with a `budget_period`, is added again").ByDefault(`to the end of a scenario; "30d" in a process, or for ever with a period`),
		keys.Entries("quota", keys.About{Kind: "credits by user"}, b.quota, "most that single users may spend of the budget"),
		keys.Span("cycle", &b.Cycle, 30*grid.Minute, grid.Second, "how often waiting jobs are planned").Must(`"30m"`),
		keys.Span("horizon", &b.Horizon, 7*grid.Day, grid.Second, "how far ahead to look for windows; must be more than `lead`").Must(`"7d"`),
		keys.Policy("algorithm", &b.Algorithm, search.AMP, search.ParseAlgorithm, search.Algorithms(), "algorithm that searches for windows"),
		keys.Word("minimize", &b.Minimize, "value", criteria, "what the chosen combination of windows minimizes; value: cost + urgency x (end - ready)"),
		urgency(&b.Urgency, grid.DefaultUrgency(), "with minimize = \"value\": what it is worth to a job to end an hour earlier"),
		keys.Share("slowdown", &b.Slowdown, slowdown(until), 0, 10*One, "with minimize = \"value\": what a wait as long as its own run (of a minute at least) costs a job without an urgency of its own, as a share of its budget; so short jobs do not wait for a price that is little lower").ByDefault(`0 in a scenario, 0.11 in a process`),
		keys.Custom("patience", keys.About{Kind: "duration", Default: `"auto" in a scenario, "0s" as a process`, Words: []string{"auto"}},
			func(t *keys.Table, key string) { b.Patience = patience(t, key, until) },
			"with minimize = \"value\": a job refuses windows that start further ahead than this until it has waited this long; auto: eight cycles; 0s: every job takes what there is"),
		keys.Policy("strategy", &b.Strategy, choice.Batch, choice.ParseStrategy, choice.Strategies(), "place jobs as a batch, or one by one by this rule"),
		keys.Whole("max_alternatives", &b.MaxAlternatives, 20, 1, 10_000, "most windows to look for, for each job and cycle"),
		keys.Whole("batch_size", &b.BatchSize, 100, 1, 1_000_000, "number of waiting jobs that starts a cycle at once"),
		keys.Whole("max_asked", &b.MaxAsked, 0, 0, 100_000, "most sites to ask for offers in one cycle: the most promising ones, and a quarter in turn; 0: all"),
		keys.Whole("max_waiting", &b.MaxWaiting, maxWaiting(until), 1, 100_000, "jobs that one user may have waiting; more are refused").ByDefault("100000 in a scenario, 10000 in a process"),
		keys.Amount("lead", &b.Lead, lead, "least time until a window may start; 0 (only in a scenario) or from 10s").ByDefault(`"0s" in a scenario, "60s" in a process`),
		keys.Auto("budget_limit", &b.BudgetLimit, "B*, what a cycle may spend; auto: by the formula. For strategy batch"),
		keys.Auto("price_cap", &b.PriceCap, "most that a job pays for a node-hour if it gives neither `max_price` nor `budget`; auto: three times the mean base price of the sites that suit it").Only(kinds.InProcess, "is for the broker of a process; a job of a scenario has a max_price or a budget"),
		keys.Auto("time_limit", &b.TimeLimit, "T*, total time of a cycle's jobs; auto: by the formula. For strategy batch"),
		keys.Each("user", &b.Users, maxUsers, func(u *User) keys.List { return u.keys(b.MaxWaiting, users) }, "users with terms of their own; `*`: all other users"),
		keys.Each("tenant", &b.Tenants, maxTenants, func(x *Tenant) keys.List { return x.keys(tenants, members) }, "groups of users with common terms"),
		keys.Custom("lost_after", keys.About{Kind: "duration", Default: `"auto"`, Limits: "from 2s", Words: []string{"auto", "never"}}, b.lostAfter,
			"how long a site with a due leg may leave questions unanswered before it counts as lost; auto: a share of the leg's notice; never: only an operator can declare it lost"),
		keys.Share("accept_shifts", &b.AcceptShifts, 0, 0, One, "share of the offers to shift a job that users accept; only in a scenario"),
		keys.Option("weights", b.Weights.keys, "weights of a window in algorithm best; if time and cost are 0, they vary from pass to pass"),
		keys.Rule(b.weightsOfBest),
		keys.Rule(b.lookAhead),
		keys.Share("alpha", &b.Alpha, One/2, 0, One, "for strategy alpha: 0 takes the earliest start at any price, 1 the lowest price at any time"),
		keys.Custom("chooser", keys.About{Kind: "array of strings"}, func(t *keys.Table, key string) {
			if t.Has(key) {
				b.Chooser = t.Texts(key)
			}
		}, "for strategy program: the program that chooses and its arguments, started in the scenario's folder (docs/SCHEDULERS.md)").ByDefault("none").Only(kinds.InScenario, "is only for scenarios; the broker of a process chooses by itself"),
		keys.Rule(b.oneByOne),
		keys.Rule(b.asksOutside),
		keys.Rule(oneSource),
		keys.Rule(func(t *keys.Table) { aroundOf(t).horizon, aroundOf(t).algorithm = b.Horizon, b.Algorithm }),
		keys.Option("workload", func() keys.List { b.Workload = &VOWorkload{}; return b.Workload.keys(until, b.Horizon) }, "the VO's jobs, drawn or from a trace"),
		keys.Rule(b.composes),
		jobs(&b.Jobs, true, until),
		keys.Text("batch", &b.Batch, "", "file with the VO's jobs as [[job]] tables, relative to this file"),
		keys.Rule(func(t *keys.Table) {
			if b.Batch == "" && t.Has("batch") && t.Clean("batch") {
				t.Wrong("batch", "is empty; must be the name of a file with [[job]] tables")
			}
		}),
	}
}

// budgetUntil reads how long the budget must last. In a scenario, whose length is until,
// the default is its end.
func (b *Broker) budgetUntil(until grid.Duration) func(*keys.Table, string) {
	return func(t *keys.Table, key string) {
		def := until
		switch {
		case until > 0:
		case b.BudgetPeriod == 0:
			def = 30 * grid.Day
		}
		b.BudgetUntil = readMoment(t, key, def, until > 0, "the start")
		if d := b.BudgetUntil.After; t.Has(key) && t.Clean(key) && b.BudgetUntil.Date.IsZero() && d < broker.MinBudgetPeriod {
			t.Wrong(key, "%s is too short; must be at least %s", d.Words(), broker.MinBudgetPeriod.Words())
		}
	}
}

// quota reads the most that one user may spend.
func (b *Broker) quota(t *keys.Table, user string) {
	b.Quotas = append(b.Quotas, Quota{User: user, Credits: keys.Value[grid.Credits](t, user, 0)})
}

// keys lists the keys of a user; waiting is the broker's limit of waiting jobs.
func (u *User) keys(waiting int, names map[string]int) keys.List {
	u.Terms = grid.Grants{}
	return slices.Concat(keys.List{
		keys.Named("name", &u.Name, names, "ana", "name of the user"),
		keys.Whole("share", &u.Share, 1, 1, broker.MaxShare, "jobs taken into a batch in each of the user's turns"),
		keys.Whole("priority", &u.Priority, 0, -1000, 1000, "users with a higher priority come first"),
		keys.Whole("max_waiting", &u.MaxWaiting, waiting, 1, 100_000, "jobs that the user may have waiting; more are refused").ByDefault("the broker's"),
	}, terms(u.Terms, func(t grid.Term) bool {
		return t.Name != grid.TermShare && t.Name != grid.TermPriority && t.Name != grid.TermMaxWaiting && t.Name != grid.TermQuota
	}))
}

// keys lists the weights of algorithm best.
func (w *Weights) keys() keys.List {
	return keys.List{
		keys.Share("time", &w.Time, 0, 0, keys.MaxThousandths, "weight of its length, relative to that of the job at its least performance"),
		keys.Share("cost", &w.Cost, 0, 0, keys.MaxThousandths, "weight of its cost, relative to the job's budget"),
		keys.Share("finish", &w.Finish, 0, 0, keys.MaxThousandths, "weight of its end after the earliest start, relative to the job's length"),
	}
}

func (b *Broker) weightsOfBest(t *keys.Table) {
	if _, given := t.Keys["weights"].(map[string]any); given && !b.Algorithm.Weighs() && t.Clean("algorithm") {
		t.Wrong("weights", "need algorithm = %s; leave them out", names.Quoted(search.Weighing()))
	}
}

// patience reads how long a job may wait for a better window. The default in a process is
// not to wait, so that users get an answer at once.
func patience(t *keys.Table, key string, until grid.Duration) *grid.Duration {
	if !t.Has(key) && until == 0 {
		return new(grid.Duration)
	}
	return keys.AutoOr[grid.Duration](t, key)
}

// lostAfter reads when a silent site counts as lost: "auto", "never", or a time.
func (b *Broker) lostAfter(t *keys.Table, key string) {
	if v, _ := t.Take(key); v == "never" {
		b.NeverLost = true
		return
	}
	b.LostAfter = keys.AutoOr[grid.Duration](t, key)
	if d := b.LostAfter; d != nil && *d < 2*grid.Second {
		t.Wrong(key, "%s is shorter than the time an answer may take; must be \"auto\", \"never\" or at least 2s", d.Words())
	}
}

func (b *Broker) lookAhead(t *keys.Table) {
	if t.Clean("lead") && b.Lead > 0 && b.Lead < 10*grid.Second {
		t.Wrong("lead", "%s is too short for an exchange with sites; must be 0s (no latency at all) or at least 10s", b.Lead.Words())
	}
	if t.Clean("horizon") && t.Clean("lead") && b.Horizon <= b.Lead {
		t.Wrong("horizon", "%s must be more than the lead, %s", b.Horizon.Words(), b.Lead.Words())
	}
}

// oneByOne refuses keys that the strategy does not use.
func (b *Broker) oneByOne(t *keys.Table) {
	if !t.Clean("strategy") {
		return
	}
	if !b.Strategy.TakesAlpha() {
		if t.Has("alpha") && t.Clean("alpha") {
			t.Wrong("alpha", "needs strategy = %s; leave it out", names.Quoted(choice.TakingAlpha()))
		}
		b.Alpha = 0
	}
	if !b.Strategy.OneByOne() && !b.Strategy.Asks() {
		return
	}
	for _, key := range []string{"budget_limit", "time_limit"} {
		if v, given := t.Keys[key]; given && v != "auto" && t.Clean(key) {
			t.Wrong(key, "limits what a batch's own rule chooses; with strategy = %q leave it out", b.Strategy.String())
		}
	}
}

// asksOutside refuses a program without a strategy that asks one, and the other way round.
func (b *Broker) asksOutside(t *keys.Table) {
	switch asks := b.Strategy.Asks(); {
	case !t.Clean("strategy") || !t.Clean("chooser"):
	case asks && t.In != kinds.InScenario:
		t.Wrong("strategy", "%q is only for scenarios; the broker of a process chooses by itself", b.Strategy.String())
	case asks && len(b.Chooser) == 0:
		t.Wrong("strategy", "%q needs the program that chooses and its arguments; write chooser = [\"python3\", \"my.py\"]", b.Strategy.String())
	case !asks && t.Has("chooser"):
		t.Wrong("chooser", "needs strategy = %s; leave it out", names.Quoted(choice.Asking()))
	}
}

// oneSource refuses a second source of a broker's jobs.
func oneSource(t *keys.Table) {
	given := 0
	for _, k := range []string{"workload", "job", "batch"} {
		if !t.Has(k) {
			continue
		}
		if given++; given == 2 {
			t.Wrong(k, "is a second source of jobs; a broker has only one of [broker.workload], [[broker.job]] and batch: leave the others out")
		}
	}
}

// maxWaiting is the default limit of a user's waiting jobs. In a scenario (until > 0) it
// is the limit for all users together.
func maxWaiting(until grid.Duration) int {
	if until > 0 {
		return 100_000
	}
	return 10_000
}

// slowdown is the default of that key: none in a scenario, whose jobs wait as its urgency says.
func slowdown(until grid.Duration) Thousandths {
	if until > 0 {
		return 0
	}
	return 110
}
