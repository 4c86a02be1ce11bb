package configs

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/broker"
)

// Broker is a broker that serves one virtual organisation. Where its jobs come
// from is for simulations: a process may have the same keys in its file, which
// are checked, but its jobs are those that users submit.
type Broker struct {
	Name            string
	Budget          bourse.Credits   // the VO's account, for each of its periods
	BudgetUntil     Moment           // for how long the budget is to last, after the first start; zero: for ever, which only one with a period does
	BudgetPeriod    bourse.Duration  // so often the budget is added again, from 1 min; default 0: it is not
	Quotas          []Quota          // what single users may spend of it, by name of user; default: none
	Cycle           bourse.Duration  // from 1 s
	Horizon         bourse.Duration  // how far ahead it looks, more than Lead
	Algorithm       string           // "alp", "amp", "amp-literal", "best"
	Minimize        string           // "value", "time", "cost", "finish"
	Urgency         bourse.Urgency   // of jobs without one of their own; default 5 % of a job's budget an hour
	Patience        *bourse.Duration // how long a job may wait for a better window; nil: eight cycles ("auto"); default: that in a scenario, 0 as a process
	Weights         Weights          // of algorithm best
	BudgetLimit     *bourse.Credits  // B* of a cycle; nil: by the formula ("auto", the default)
	TimeLimit       *bourse.Duration // T* of a cycle; nil: by the formula ("auto", the default)
	Strategy        string           // "batch", the default, or one by one: "alpha", "earliest", "shortest-queue", "random"
	Alpha           Thousandths      // of strategy alpha, 0..1; default 0.5
	AcceptShifts    Thousandths      // of scenarios: how many of the offers to shift a job its users accept, the others being declined, 0..1; default 0: none is answered
	MaxAlternatives int              // of a job, 1..10,000; default 20
	BatchSize       int              // waiting jobs that start a cycle at once, 1..1,000,000; default 100
	MaxAsked        int              // sites asked for offers in a cycle, 0..100,000; default 0: all
	MaxWaiting      int              // jobs of one user that wait at once, 1..100,000; default 100,000 in a scenario, 10,000 as a process
	Users           []User           // [[broker.user]]: what differs for single users; nil if none
	Tenants         []Tenant         // [[broker.tenant]]: groups of users; nil if none
	Lead            bourse.Duration  // no window starts sooner than this: 0 or from 10 s; default 0 in a scenario, 60 s as a process
	LostAfter       *bourse.Duration // how long a site with a leg that is due may leave questions unanswered, from 2 s; nil: a share of the leg's notice ("auto", the default)
	NeverLost       bool             // only an operator's word makes a site a lost one ("never")
	Workload        *VOWorkload      // nil if none
	Jobs            []Job            // [[broker.job]] or the file under Batch; nil if none
	Batch           string           // file of a batch, relative to the scenario; "" if none
}

// Weights say what algorithm best weighs a window's time, cost and finish by,
// each 0..1,000,000. Where those of time and cost are 0, the default, they turn
// from pass to pass.
type Weights struct{ Time, Cost, Finish Thousandths }

// User is what an operator grants a user whose jobs wait beside those of others.
type User struct {
	Name       string
	Share      int           // jobs taken into a batch in each of the user's turns, 1..1000; default 1
	Priority   int           // users with a higher one come first, -1000..1000; default 0
	MaxWaiting int           // of this user, 1..100,000; default: the broker's
	Terms      bourse.Grants // further terms, those that are given; never nil
}

// maxUsers bounds the users of a broker that are named.
const maxUsers = 10_000

// Quota is the most that one user may spend of a VO's budget.
type Quota struct {
	User    string
	Credits bourse.Credits
}

var (
	algorithms = []string{"alp", "amp", "amp-literal", "best"}
	criteria   = bourse.Goals()
	strategies = []string{"batch", "alpha", "earliest", "shortest-queue", "random"}
)

// ParseBroker reads the broker of a process out of a text: one [broker] or one
// [[broker]]; file is the name that its errors give, which are a *Problems.
func ParseBroker(file string, text []byte) (*Broker, error) {
	t, err := open(file, text)
	if err != nil {
		return nil, err
	}
	t.in = inProcess
	var out Broker
	t.fill(keys{oneBroker(&out)})
	return finish(t, &out)
}

// oneBroker is the key of the one [broker] or [[broker]] of a file; more are
// rules of the file.
func oneBroker(to *Broker, more ...key) key {
	of := func() keys { return append(to.keys(0, bourse.Minute, map[string]int{}), more...) }
	return custom("broker", about{kind: "table", below: of, shape: bracket}, func(t *table, key string) {
		if b := t.single(key); b != nil {
			b.fill(of())
		}
	}, "the virtual organisation; must be given")
}

// single returns the one [broker] or [[broker]] of a file, nil if there is none.
func (t *table) single(key string) *table {
	if _, single := t.keys[key].(map[string]any); single {
		return t.table(key)
	}
	list := t.tables(key)
	switch {
	case len(list) > 1:
		list[1].wrongAt(list[1].path, "a second broker; one process is one broker")
	case len(list) == 0 && t.clean(key):
		t.wrong(key, "missing; write [broker]")
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// keys lists what a broker may hold. until is the length of the scenario around
// it, 0 if there is none.
func (b *Broker) keys(until, lead bourse.Duration, names map[string]int) keys {
	users, tenants, members := map[string]int{}, map[string]int{}, map[string]int{}
	return keys{
		named("name", &b.Name, names, "vo1", "that of the virtual organisation (VO)"),
		amount("budget", &b.Budget, 0, "what the VO has to spend, in each period").must("50000.0"),
		span("budget_period", &b.BudgetPeriod, 0, broker.MinBudgetPeriod, "so often `budget` is added again; what is left stays").byDefault("it is not"),
		custom("budget_until", about{kind: "duration, or a date in a process", limits: "from " + broker.MinBudgetPeriod.Words()}, b.budgetUntil(until),
			"for how long after the first start `budget` is to last or, with a `budget_period`, is added again").byDefault(`the end of a scenario, "30d" as a process, where a period goes on for ever`),
		entries("quota", about{kind: "credits by user"}, b.quota, "what single users may spend of the budget"),
		span("cycle", &b.Cycle, 30*bourse.Minute, bourse.Second, "how often waiting jobs are planned").must(`"30m"`),
		span("horizon", &b.Horizon, 7*bourse.Day, bourse.Second, "how far ahead windows are looked for; more than `lead`").must(`"7d"`),
		word("algorithm", &b.Algorithm, "amp", algorithms, "the search for windows").must(`"amp"`),
		word("minimize", &b.Minimize, "value", criteria, "what the chosen combination of windows has least of; value: cost + urgency x (end - ready)"),
		urgency(&b.Urgency, bourse.DefaultUrgency(), "what an hour until its end is worth to a job under minimize = \"value\""),
		custom("patience", about{kind: "duration", def: `"auto" in a scenario, "0s" as a process`, words: []string{"auto"}},
			func(t *table, key string) { b.Patience = patience(t, key, until) },
			"under minimize = \"value\": a window that starts further ahead is not taken until the job has waited so long; auto: eight cycles, 0s: every job takes what there is"),
		word("strategy", &b.Strategy, "batch", strategies, "jobs are placed as a batch, or one by one by this rule"),
		whole("max_alternatives", &b.MaxAlternatives, 20, 1, 10_000, "windows that are looked for, for a job and cycle"),
		whole("batch_size", &b.BatchSize, 100, 1, 1_000_000, "so many waiting jobs start a cycle at once"),
		whole("max_asked", &b.MaxAsked, 0, 0, 100_000, "so many sites are asked for offers in one cycle: those that promised most, and a quarter in turn; 0: all"),
		whole("max_waiting", &b.MaxWaiting, maxWaiting(until), 1, 100_000, "so many jobs of one user wait; more are refused").byDefault("100000 in a scenario, 10000 as a process"),
		amount("lead", &b.Lead, lead, "no window starts sooner; 0 (only in a scenario) or from 10s").byDefault(`"0s" in a scenario, "60s" as a process`),
		auto("budget_limit", &b.BudgetLimit, "B*, what a cycle may spend; auto: by the formula. Of strategy batch"),
		auto("time_limit", &b.TimeLimit, "T*, what a cycle's jobs may take together; auto: by the formula. Of strategy batch"),
		each("user", &b.Users, maxUsers, func(u *User) keys { return u.keys(b.MaxWaiting, users) }, "users who are not like the others; `*`: everyone who has nothing of their own"),
		each("tenant", &b.Tenants, maxTenants, func(x *Tenant) keys { return x.keys(tenants, members) }, "groups of users: what they may have together"),
		custom("lost_after", about{kind: "duration", def: `"auto"`, limits: "from 2s", words: []string{"auto", "never"}}, b.lostAfter,
			"how long a site with a leg that is due may leave questions unanswered; auto: a share of the leg's notice"),
		share("accept_shifts", &b.AcceptShifts, 0, 0, One, "share of the offers to shift a job that its users accept; only in a scenario"),
		option("weights", b.Weights.keys, "what algorithm best weighs a window by; time and cost 0: they turn from pass to pass"),
		rule(b.weightsOfBest),
		rule(b.lookAhead),
		share("alpha", &b.Alpha, One/2, 0, One, "of strategy alpha: 0 takes the earliest start whatever it costs, 1 the least price whenever it is"),
		rule(b.oneByOne),
		rule(oneSource),
		option("workload", func() keys { b.Workload = &VOWorkload{}; return b.Workload.keys(until, b.Horizon) }, "the VO's jobs, drawn or from a trace"),
		jobs(&b.Jobs, true, until),
		text("batch", &b.Batch, "", "the VO's jobs: file with [[job]] tables, relative to this one"),
		rule(func(t *table) {
			if b.Batch == "" && t.has("batch") && t.clean("batch") {
				t.wrong("batch", "is empty; must be the name of a file with [[job]] tables")
			}
		}),
	}
}

// budgetUntil reads for how long the budget is to last: in a scenario, which lasts
// until, to its end unless it says otherwise.
func (b *Broker) budgetUntil(until bourse.Duration) func(*table, string) {
	return func(t *table, key string) {
		def := until
		switch {
		case until > 0:
		case b.BudgetPeriod == 0:
			def = 30 * bourse.Day
		}
		b.BudgetUntil = t.moment(key, def, until > 0, "the start")
		if d := b.BudgetUntil.After; t.has(key) && t.clean(key) && b.BudgetUntil.Date.IsZero() && d < broker.MinBudgetPeriod {
			t.wrong(key, "%s is too short; must be at least %s", d.Words(), broker.MinBudgetPeriod.Words())
		}
	}
}

// quota reads what one user may spend.
func (b *Broker) quota(t *table, user string) {
	b.Quotas = append(b.Quotas, Quota{User: user, Credits: value[bourse.Credits](t, user, 0)})
}

// keys lists what differs for a user; waiting is how many jobs of others may wait.
func (u *User) keys(waiting int, names map[string]int) keys {
	u.Terms = bourse.Grants{}
	return slices.Concat(keys{
		named("name", &u.Name, names, "ana", "the user"),
		whole("share", &u.Share, 1, 1, broker.MaxShare, "jobs taken into a batch in each of the user's turns"),
		whole("priority", &u.Priority, 0, -1000, 1000, "users with a higher one come first"),
		whole("max_waiting", &u.MaxWaiting, waiting, 1, 100_000, "so many jobs of the user wait; more are refused").byDefault("the broker's"),
	}, terms(u.Terms, func(t bourse.Term) bool {
		return t.Name != bourse.TermShare && t.Name != bourse.TermPriority && t.Name != bourse.TermMaxWaiting && t.Name != bourse.TermQuota
	}))
}

// keys lists what algorithm best alone looks at.
func (w *Weights) keys() keys {
	return keys{
		share("time", &w.Time, 0, 0, maxThousandths, "of its length, over that of the job at its least performance"),
		share("cost", &w.Cost, 0, 0, maxThousandths, "of its cost, over the job's budget"),
		share("finish", &w.Finish, 0, 0, maxThousandths, "of its end after the earliest start, over the job's length"),
	}
}

func (b *Broker) weightsOfBest(t *table) {
	if _, given := t.keys["weights"].(map[string]any); given && b.Algorithm != "best" && t.clean("algorithm") {
		t.wrong("weights", "have a meaning only with algorithm = \"best\"; leave them out")
	}
}

// patience reads how long a job may wait for a better window. Users of a process are
// told at once unless its file says otherwise.
func patience(t *table, key string, until bourse.Duration) *bourse.Duration {
	if !t.has(key) && until == 0 {
		return new(bourse.Duration)
	}
	return autoOr[bourse.Duration](t, key)
}

// lostAfter reads when a silent site is lost: "auto", "never", or a time.
func (b *Broker) lostAfter(t *table, key string) {
	if v, _ := t.take(key); v == "never" {
		b.NeverLost = true
		return
	}
	b.LostAfter = autoOr[bourse.Duration](t, key)
	if d := b.LostAfter; d != nil && *d < 2*bourse.Second {
		t.wrong(key, "%s is shorter than an answer may take; must be \"auto\", \"never\" or at least 2s", d.Words())
	}
}

func (b *Broker) lookAhead(t *table) {
	if t.clean("lead") && b.Lead > 0 && b.Lead < 10*bourse.Second {
		t.wrong("lead", "%s is too short for an exchange between sites; must be 0s (no latency at all) or at least 10s", b.Lead.Words())
	}
	if t.clean("horizon") && t.clean("lead") && b.Horizon <= b.Lead {
		t.wrong("horizon", "%s leaves nothing after the lead, %s", b.Horizon.Words(), b.Lead.Words())
	}
}

// oneByOne refuses what a strategy has no use for.
func (b *Broker) oneByOne(t *table) {
	if !t.clean("strategy") {
		return
	}
	if b.Strategy != "alpha" {
		if t.has("alpha") && t.clean("alpha") {
			t.wrong("alpha", "has a meaning only with strategy = \"alpha\"; leave it out")
		}
		b.Alpha = 0
	}
	if b.Strategy == "batch" {
		return
	}
	for _, key := range []string{"budget_limit", "time_limit"} {
		if v, given := t.keys[key]; given && v != "auto" && t.clean(key) {
			t.wrong(key, "limits the jobs of a batch together; with strategy = %q leave it out", b.Strategy)
		}
	}
}

// oneSource refuses a second place where a broker's jobs would come from.
func oneSource(t *table) {
	given := 0
	for _, k := range []string{"workload", "job", "batch"} {
		if !t.has(k) {
			continue
		}
		if given++; given == 2 {
			t.wrong(k, "a second source of jobs; a broker has one of [broker.workload], [[broker.job]] and batch; leave the others out")
		}
	}
}

// maxWaiting is how many jobs of a user may wait unless the file says so: in a
// scenario, which is of some length, as many as of all users.
func maxWaiting(until bourse.Duration) int {
	if until > 0 {
		return 100_000
	}
	return 10_000
}

// autoOr reads "auto", as nil, or a value of the vocabulary.
func autoOr[T any, P fromTOML[T]](t *table, key string) *T {
	v, ok := t.take(key)
	if !ok || v == "auto" {
		return nil
	}
	var none T
	if err := P(&none).UnmarshalTOML(v); err != nil && scalar(v) {
		t.wrong(key, "%v; must be \"auto\" or a number", err)
		return nil
	}
	out := value[T, P](t, key, none)
	return &out
}
