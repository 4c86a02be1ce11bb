package configs

import (
	"slices"

	"bourse"
	"bourse/broker"
)

// Broker is a broker that serves one virtual organisation. Where its jobs come
// from is for simulations: a process may have the same keys in its file, which
// are checked, but its jobs are those that users submit.
type Broker struct {
	Name            string
	Budget          bourse.Credits   // the VO's account over its life
	Quotas          []Quota          // what single users may spend of it, by name of user; default: none
	Cycle           bourse.Duration  // from 1 s
	Horizon         bourse.Duration  // how far ahead it looks, more than Lead
	Algorithm       string           // "alp", "amp", "amp-literal", "best"
	Minimize        string           // "time", "cost", "finish"
	Weights         Weights          // of algorithm best
	BudgetLimit     *bourse.Credits  // B* of a cycle; nil: by the formula ("auto", the default)
	TimeLimit       *bourse.Duration // T* of a cycle; nil: by the formula ("auto", the default)
	Strategy        string           // "batch", the default, or one by one: "alpha", "earliest", "shortest-queue", "random"
	Alpha           Thousandths      // of strategy alpha, 0..1; default 0.5
	AcceptShifts    Thousandths      // of scenarios: how many of the offers to shift a job its users accept, the others being declined, 0..1; default 0: none is answered
	MaxAlternatives int              // of a job, 1..10,000; default 20
	BatchSize       int              // waiting jobs that start a cycle at once, 1..1,000,000; default 100
	MaxWaiting      int              // jobs of one user that wait at once, 1..100,000; default 100,000 in a scenario, 10,000 as a process
	Users           []User           // [[broker.user]]: what differs for single users; nil if none
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
	Share      int // jobs taken into a batch in each of the user's turns, 1..1000; default 1
	Priority   int // users with a higher one come first, -1000..1000; default 0
	MaxWaiting int // of this user, 1..100,000; default: the broker's
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
	criteria   = []string{"time", "cost", "finish"}
	strategies = []string{"batch", "alpha", "earliest", "shortest-queue", "random"}
)

// ReadBroker reads the broker of a process: one [broker] or one [[broker]]. An
// error that is not of the file system is a *Problems.
func ReadBroker(file string) (*Broker, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return ParseBroker(file, text)
}

// ParseBroker is ReadBroker of a text; file is the name that its errors give.
func ParseBroker(file string, text []byte) (*Broker, error) {
	t, err := open(file, text)
	if err != nil {
		return nil, err
	}
	var out Broker
	if b := t.oneBroker(); b != nil {
		out = b.broker(0, bourse.Minute, map[string]int{})
	}
	return finish(t, &out)
}

// oneBroker returns the one [broker] or [[broker]] of a file, nil if there is
// none or more.
func (t *table) oneBroker() *table {
	if _, single := t.keys["broker"].(map[string]any); single {
		return t.table("broker")
	}
	list := t.tables("broker")
	switch {
	case len(list) > 1:
		list[1].wrongAt(list[1].path, "a second broker; one process is one broker")
	case len(list) == 0 && t.clean("broker"):
		t.wrong("broker", "missing; write [broker]")
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// broker reads one broker. until is the length of the scenario around it, 0 if
// there is none.
func (t *table) broker(until, lead bourse.Duration, names map[string]int) Broker {
	t.need("budget", "50000.0")
	t.need("cycle", `"30m"`)
	t.need("horizon", `"7d"`)
	t.need("algorithm", `"amp"`)
	t.need("minimize", `"time"`)
	b := Broker{
		Name:            t.name("name", "vo1", names),
		Budget:          value[bourse.Credits](t, "budget", 0),
		Quotas:          t.quotas(),
		Cycle:           t.span("cycle", 30*bourse.Minute, bourse.Second),
		Horizon:         t.span("horizon", 7*bourse.Day, bourse.Second),
		Algorithm:       t.oneOf("algorithm", "amp", algorithms, nil),
		Minimize:        t.oneOf("minimize", "time", criteria, nil),
		Strategy:        t.oneOf("strategy", "batch", strategies, nil),
		MaxAlternatives: t.whole("max_alternatives", 20, 1, 10_000),
		BatchSize:       t.whole("batch_size", 100, 1, 1_000_000),
		MaxWaiting:      t.whole("max_waiting", maxWaiting(until), 1, 100_000),
		Lead:            value(t, "lead", lead),
		BudgetLimit:     autoOr[bourse.Credits](t, "budget_limit"),
		TimeLimit:       autoOr[bourse.Duration](t, "time_limit"),
	}
	b.Users = t.users(b.MaxWaiting)
	t.lostAfter(&b)
	b.AcceptShifts = t.share("accept_shifts", 0, 0, One)
	b.Weights = t.weights(b.Algorithm)
	if t.clean("lead") && b.Lead > 0 && b.Lead < 10*bourse.Second {
		t.wrong("lead", "%s is too short for an exchange between sites; 0s (no latency at all) or at least 10s is wanted", b.Lead.Words())
	}
	if t.clean("horizon") && t.clean("lead") && b.Horizon <= b.Lead {
		t.wrong("horizon", "%s leaves nothing after the lead, %s", b.Horizon.Words(), b.Lead.Words())
	}
	t.oneByOne(&b)
	t.ownJobs(&b, until)
	t.done()
	return b
}

// lostAfter reads when a silent site is lost: "auto", "never", or a time.
func (t *table) lostAfter(b *Broker) {
	if v, given := t.keys["lost_after"]; given && v == "never" {
		t.has("lost_after")
		b.NeverLost = true
		return
	}
	b.LostAfter = autoOr[bourse.Duration](t, "lost_after")
	if d := b.LostAfter; d != nil && *d < 2*bourse.Second {
		t.wrong("lost_after", "%s is shorter than an answer may take; \"auto\", \"never\" or at least 2s is wanted", d.Words())
	}
}

// oneByOne reads what a strategy needs, and refuses what it has no use for.
func (t *table) oneByOne(b *Broker) {
	b.Alpha = t.share("alpha", One/2, 0, One)
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

// ownJobs reads where the broker's jobs come from: one place at most.
func (t *table) ownJobs(b *Broker, until bourse.Duration) {
	given := 0
	for _, k := range []string{"workload", "job", "batch"} {
		if !t.has(k) {
			continue
		}
		if given++; given == 2 {
			t.wrong(k, "a second source of jobs; a broker has one of [broker.workload], [[broker.job]] and batch")
		}
	}
	b.Workload = t.voWorkload(until, b.Horizon)
	if t.has("job") {
		b.Jobs = t.jobs(true, until)
	}
	if b.Batch = t.text("batch", ""); b.Batch == "" && t.has("batch") && t.clean("batch") {
		t.wrong("batch", "is empty; the name of a file with [[job]] tables is wanted")
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

// users reads [[broker.user]].
func (t *table) users(waiting int) []User {
	list := t.tables("user")
	if len(list) > maxUsers {
		t.wrong("user", "has %d tables, at most %d are taken", len(list), maxUsers)
		return nil
	}
	names := map[string]int{}
	var out []User
	for _, u := range list {
		out = append(out, User{
			Name:       u.name("name", "ana", names),
			Share:      u.whole("share", 1, 1, broker.MaxShare),
			Priority:   u.whole("priority", 0, -1000, 1000),
			MaxWaiting: u.whole("max_waiting", waiting, 1, 100_000),
		})
		u.done()
	}
	return out
}

// quotas reads [broker.quota], credits by user.
func (t *table) quotas() []Quota {
	q := t.table("quota")
	if q == nil {
		return nil
	}
	users := make([]string, 0, len(q.keys))
	for k := range q.keys {
		users = append(users, k)
	}
	slices.Sort(users)
	out := make([]Quota, len(users))
	for i, u := range users {
		out[i] = Quota{User: u, Credits: value[bourse.Credits](q, u, 0)}
	}
	return out
}

// weights reads [broker.weights], which algorithm best alone looks at.
func (t *table) weights(algorithm string) Weights {
	w := t.table("weights")
	if w == nil {
		return Weights{}
	}
	out := Weights{
		Time:   w.share("time", 0, 0, maxThousandths),
		Cost:   w.share("cost", 0, 0, maxThousandths),
		Finish: w.share("finish", 0, 0, maxThousandths),
	}
	w.done()
	if algorithm != "best" && t.clean("algorithm") {
		t.wrong("weights", "have a meaning only with algorithm = \"best\"; leave them out")
	}
	return out
}

// autoOr reads "auto", as nil, or a value of the vocabulary.
func autoOr[T any, P fromTOML[T]](t *table, key string) *T {
	v, ok := t.take(key)
	if !ok || v == "auto" {
		return nil
	}
	var none T
	if err := P(&none).UnmarshalTOML(v); err != nil && scalar(v) {
		t.wrong(key, "%v; \"auto\" or a number is wanted", err)
		return nil
	}
	out := value[T, P](t, key, none)
	return &out
}
