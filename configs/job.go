package configs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse"
)

// Job is one job of a batch, or of a broker in a scenario. Its times count from
// its submission; At turns it into a job of the vocabulary.
type Job struct {
	Name           string             // of its own within the batch or broker
	User           string             // default "": the one who submits
	Submit         bourse.Duration    // in a scenario: after its zero; default 0
	Nodes          int                // N, 1..1,000,000; of a moldable job those of the size that takes least in all
	Length         bourse.Duration    // L, runtime at performance 1 on them, above 0
	Sizes          []bourse.Size      // of a moldable job, in ascending order of nodes; default: none
	Run            bourse.Duration    // what it really takes at performance 1, for simulated clusters; default 0: its Length
	MinPerformance bourse.Performance // P; default 1
	MaxPrice       bourse.Price       // C; where only a budget is given, what the budget implies
	Budget         bourse.Credits     // S; where only a price is given, what the price implies
	Ready          Moment             // default: at its submission
	Deadline       Moment             // after Ready; default: none
	Priority       int                // -1,000,000..1,000,000, higher first; default 0
	Flexible       bourse.Duration    // may start up to this later once accepted; default 0
	Fix            Thousandths        // the share of its wait after which a flexible window is fixed, 0..1; default 1: when it starts
	Alternatives   Thousandths        // how far outside its window a site may offer another place, over its runtime, 0..100; default 0: not at all
	OneSite        bool               // spread = "one-site"; default "any"
	Require        bourse.Requirement // default: nothing
	After          []string           // names of jobs that must have ended; default: none
	Gap            bourse.Duration    // after the last of them has ended; default 0
	Minimize       bourse.Goal        // what its owner wants of a window; default: what the broker says
	Urgency        bourse.Urgency     // what an hour until its end is worth; default: what the broker says
	Runs           bool               // it has a command or a script
	Work           *bourse.Work       // that; nil: none, or a script in a simulation, which opens none
}

// Moment is a span after a submission, or a date.
type Moment struct {
	After bourse.Duration // where there is no date; Never if it does not come
	Date  time.Time       // zero where there is none
}

// at returns the instant; zero is the date of the run's zero.
func (m Moment) at(submit bourse.Time, zero time.Time) bourse.Time {
	if m.Date.IsZero() {
		return min(submit.Add(m.After), bourse.Never)
	}
	return bourse.Time(m.Date.UnixMilli() - zero.UnixMilli())
}

// At returns the job as submitted at an instant. zero is the date of the run's
// zero (the Unix epoch on a live site); a simulation's jobs have no dates and
// it may be left zero. A date turns into an instant only here, so whoever
// submits checks that the deadline is still ahead.
func (j *Job) At(submit bourse.Time, zero time.Time) bourse.Job {
	out := bourse.Job{
		Request: bourse.Request{
			Nodes: j.Nodes, Length: j.Length, MinPerformance: j.MinPerformance,
			MaxPrice: j.MaxPrice, Budget: j.Budget,
			Ready: max(submit, j.Ready.at(submit, zero)), Deadline: j.Deadline.at(submit, zero),
			Require: j.Require, OneSite: j.OneSite, Phi: int(j.Alternatives), Sizes: j.Sizes,
			Minimize: j.Minimize, Urgency: j.Urgency,
		},
		Name: j.Name, User: j.User, Submit: submit, Priority: j.Priority, Run: j.Run,
		After: j.After, Gap: j.Gap, Work: j.Work,
	}
	out.Flexible, out.Fix = freedom(j.Flexible, j.Fix)
	return out
}

// freedom is what a job leaves its site, as the vocabulary has it: a window that is
// fixed at once is none, and one that is fixed when it starts has no fix.
func freedom(flexible bourse.Duration, fix Thousandths) (bourse.Duration, int) {
	switch {
	case fix == 0 || flexible == 0:
		return 0, 0
	case fix == One:
		return flexible, 0
	}
	return flexible, int(fix)
}

// Batch is a list of jobs to submit together: at least one, in order of the file.
type Batch struct{ Jobs []Job }

// ReadBatch reads a batch of jobs. An error that is not of the file system is
// a *Problems.
func ReadBatch(file string) (*Batch, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return ParseBatch(file, text)
}

// ParseBatch is ReadBatch of a text; file is the name that its errors give.
func ParseBatch(file string, text []byte) (*Batch, error) {
	return parseBatch(file, text, false, 0)
}

func parseBatch(file string, text []byte, simulated bool, until bourse.Duration) (*Batch, error) {
	t, err := open(file, text)
	if err != nil {
		return nil, err
	}
	b := &Batch{}
	t.fill(b.keys(simulated, until))
	return finish(t, b)
}

// keys lists what a batch may hold.
func (b *Batch) keys(simulated bool, until bourse.Duration) keys {
	return keys{
		jobs(&b.Jobs, simulated, until),
		rule(func(t *table) {
			if len(b.Jobs) == 0 && t.clean("job") {
				t.wrong("job", "missing; a batch has at least one [[job]]")
			}
		}),
	}
}

// jobs is the key of [[job]] tables.
func jobs(to *[]Job, simulated bool, until bourse.Duration) key {
	what := about{kind: "tables", below: func() keys { return new(Job).keys(until, map[string]int{}) }, shape: brackets}
	return custom("job", what, func(t *table, key string) {
		if t.has(key) {
			*to = t.jobs(simulated, until)
		}
	}, "jobs, one by one")
}

// jobs reads [[job]] tables. The jobs of a simulation have a time of
// submission, not after until (0: no end), and no dates.
func (t *table) jobs(simulated bool, until bourse.Duration) []Job {
	list := t.tables("job")
	out := make([]Job, 0, len(list))
	names := map[string]int{}
	for _, j := range list {
		var one Job
		j.in = inBatch
		if simulated {
			j.in = inScenario
		}
		j.fill(one.keys(until, names))
		out = append(out, one)
	}
	return inOrder(out, list, simulated)
}

// inOrder puts jobs behind those that they come after, and refuses loops. What the
// jobs of a simulation come after is in the same file, of the same user and
// submitted no later; a batch may name jobs that its broker knows from before.
func inOrder(jobs []Job, tables []*table, simulated bool) []Job {
	names, after, place := make([]string, len(jobs)), make([][]string, len(jobs)), map[string]int{}
	chained := false
	for i := range jobs {
		names[i], after[i], place[jobs[i].Name] = jobs[i].Name, jobs[i].After, i
		chained = chained || len(jobs[i].After) > 0
	}
	if !chained {
		return jobs
	}
	order, loop := bourse.InOrder(names, after)
	if loop != nil {
		tables[place[loop[0]]].wrong("after", "the jobs come after one another in a loop: %s", strings.Join(loop, " -> "))
		return jobs
	}
	for i := range jobs {
		for _, name := range jobs[i].After {
			p, known := place[name]
			switch {
			case !known && simulated:
				tables[i].wrong("after", "%q is no job of this file", name)
			case !known:
			case jobs[p].User != jobs[i].User:
				tables[i].wrong("after", "%q is a job of another user; a job comes after others of the same user", name)
			case jobs[p].Submit > jobs[i].Submit:
				tables[i].wrong("after", "%q is submitted later, %s after the start; it has to be known when this one comes", name, jobs[p].Submit.Words())
			}
		}
	}
	out := make([]Job, len(jobs))
	for i, at := range order {
		out[i] = jobs[at]
	}
	return out
}

// keys lists what a [[job]] may hold: of a batch, or of a broker in a scenario, which
// lasts until.
func (j *Job) keys(until bourse.Duration, names map[string]int) keys {
	var least, most int
	var fast speedup
	return append(keys{
		named("name", &j.Name, names, "wave", "one of its own in the batch or broker"),
		custom("nodes", about{kind: "whole number, or range in a string", limits: "1..1000000, such as 16 or \"4..16\""}, func(t *table, _ string) { least, most = t.nodes() },
			"how many at once").must("16"),
		rule(func(t *table) {
			if !t.tabled() {
				t.need("length", `"2h"`)
			}
		}),
		text("user", &j.User, "", "who owns it").byDefault("who submits it"),
		span("length", &j.Length, bourse.Hour, bourse.Millisecond, "the work at performance 1, by the user's estimate").byDefault("that of `speedup`; without one it must be given"),
		span("run", &j.Run, 0, bourse.Millisecond, "what it really takes at performance 1, at simulated clusters").byDefault("its length"),
		amount("min_performance", &j.MinPerformance, bourse.Unit, "P, of every node at least"),
		amount("max_price", &j.MaxPrice, 0, "C, for every node at most").byDefault("what the budget implies; one of both must be given"),
		amount("budget", &j.Budget, 0, "S, for the whole job").byDefault("what the price implies"),
		moment("ready", &j.Ready, 0, "it starts no sooner").byDefault("its submission"),
		moment("deadline", &j.Deadline, bourse.Duration(bourse.Never), "it must have ended").byDefault("none"),
		whole("priority", &j.Priority, 0, -1_000_000, 1_000_000, "higher first"),
		amount("flexible", &j.Flexible, 0, "it may start up to this later than agreed, on one site"),
		share("fix", &j.Fix, One, 0, One, "the share of its wait after which a flexible window is fixed; 1: when it starts"),
		share("alternatives", &j.Alternatives, 0, 0, 100*One, "how far outside its window a site may offer another place, over its runtime"),
		custom("spread", about{kind: "word", def: `"any"`, words: spreads}, func(t *table, key string) {
			j.OneSite = t.oneOf(key, "any", spreads) == "one-site"
		}, "over how many sites it may spread"),
		amount("submit", &j.Submit, 0, "after the start of the scenario").only(inScenario, ""),
		rule(func(t *table) {
			if until > 0 && j.Submit > until {
				t.wrong("submit", "%s lies after the end of the scenario, %s; the job would never come", j.Submit.Words(), until.Words())
			}
		}),
		option("require", func() keys { return machineKeys(&j.Require) }, "what each of its nodes must have"),
		texts("after", &j.After, fmt.Sprintf("names of jobs that must have ended; at most %d", maxAfter)),
		amount("gap", &j.Gap, 0, "so long after the last of them has ended"),
		rule(j.follows),
		custom("minimize", about{kind: "word", words: criteria}, func(t *table, key string) { j.Minimize = t.goal(key) },
			"what of a window its owner wants least of, with a broker that minimises value").byDefault("the broker's"),
		urgency(&j.Urgency, 0, "what an hour until its end is worth to its owner").byDefault("the broker's"),
		option("speedup", fast.keys, "how a job on a range of nodes gets faster; one of its keys"),
		rule(func(t *table) { t.mold(j, &fast, least, most) }),
		rule(func(t *table) { t.window(j) }),
		rule(func(t *table) { t.money(j) }),
	}, j.workKeys()...)
}

var spreads = []string{"any", "one-site"}

// follows checks what a job comes after.
func (j *Job) follows(t *table) {
	if len(j.After) == 0 {
		j.After = nil
	}
	switch {
	case len(j.After) > maxAfter:
		t.wrong("after", "%d jobs; the most that one comes after is %d", len(j.After), maxAfter)
	case len(j.After) == 0 && j.Gap > 0 && t.clean("after"):
		t.wrong("gap", "has a meaning only with after; leave it out")
	}
}

// maxAfter bounds the jobs that one may come after.
const maxAfter = 100

// goal reads what a job wants; none where it is not given.
func (t *table) goal(key string) bourse.Goal {
	if !t.has(key) {
		return bourse.NoGoal
	}
	g, _ := bourse.ParseGoal(t.oneOf(key, "value", criteria))
	return g
}

type urgencyField struct {
	to  *bourse.Urgency
	def bourse.Urgency
}

// urgency is what an hour is worth: credits, or a share of a job's budget.
func urgency(to *bourse.Urgency, def bourse.Urgency, doc string) key {
	return key{name: "urgency", field: urgencyField{to, def}, doc: doc}
}

func (f urgencyField) read(t *table, key string) { *f.to = value(t, key, f.def) }
func (f urgencyField) about() about {
	return about{kind: "credits an hour, or a percentage of the budget", def: quoted(f.def.String()), limits: "0..1e9, or \"0%\"..\"1000%\""}
}

type momentField struct {
	to  *Moment
	def bourse.Duration
}

// moment is a span after the submission or, in a batch, an RFC 3339 date.
func moment(name string, to *Moment, def bourse.Duration, doc string) key {
	return key{name: name, field: momentField{to, def}, doc: doc}
}

func (f momentField) read(t *table, key string) {
	*f.to = t.moment(key, f.def, t.in == inScenario, "the submission")
}
func (f momentField) about() about {
	return about{kind: "duration after the submission, or a date in a batch"}
}

// moment reads a span after something or an RFC 3339 date.
func (t *table) moment(key string, def bourse.Duration, simulated bool, after string) Moment {
	v, _ := t.take(key)
	date, isDate := v.(time.Time)
	if s, ok := v.(string); ok && !isDate {
		var err error
		date, err = time.Parse(time.RFC3339, s)
		isDate = err == nil
	}
	switch {
	case !isDate:
		return Moment{After: value(t, key, def)}
	case simulated:
		t.wrong(key, `is a date, which a simulation does not know; must be a span after %s such as "1d"`, after)
	case slices.Contains([]string{"datetime-local", "date-local", "time-local"}, date.Location().String()):
		t.wrong(key, "has no offset from UTC; write for instance %s", date.Format("2006-01-02T15:04:05Z"))
	case date.Year() < 1970 || date.Year() > 2200:
		t.wrong(key, "%d is outside the years 1970..2200", date.Year())
	default:
		return Moment{Date: date}
	}
	return Moment{After: def}
}

// window checks that the job's times can be met at all.
func (t *table) window(j *Job) {
	if !t.has("deadline") || !t.clean("ready") || !t.clean("deadline") || j.Ready.Date.IsZero() != j.Deadline.Date.IsZero() {
		return
	}
	if j.Deadline.After <= j.Ready.After && j.Deadline.Date.IsZero() {
		t.wrong("deadline", "%s is not after ready, %s", j.Deadline.After.Words(), j.Ready.After.Words())
	}
	if !j.Deadline.Date.IsZero() && !j.Deadline.Date.After(j.Ready.Date) {
		t.wrong("deadline", "is not after ready, %s", j.Ready.Date.Format(time.RFC3339))
	}
	if !t.clean("deadline") || !t.clean("length") || !t.clean("speedup") || !t.clean("min_performance") {
		return
	}
	// Nodes of more than performance 1 may be quicker; who counts on them says so.
	r := bourse.Request{Length: j.Length, Sizes: j.Sizes}
	takes := max(j.MinPerformance, bourse.Unit).Runtime(r.Shortest())
	left := j.Deadline.After - j.Ready.After
	if !j.Deadline.Date.IsZero() {
		left = bourse.Duration(j.Deadline.Date.Sub(j.Ready.Date).Milliseconds())
	}
	if takes > left {
		t.wrong("deadline", "leaves %s after ready, and the job takes %s at performance %v; give it more time, or a min_performance that makes it quicker",
			left.Words(), takes.Words(), max(j.MinPerformance, bourse.Unit))
	}
}

// money fills in the price or the budget, whichever is not given.
func (t *table) money(j *Job) {
	price, budget := t.has("max_price"), t.has("budget")
	if !price && !budget {
		t.wrong("max_price", "missing; write max_price = 2.5 (credits per node-hour) or budget = 100.0 (credits)")
	}
	if t.doc.faulty[t.path] {
		return
	}
	r := bourse.Request{Nodes: j.Nodes, Length: j.Length, MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice, Budget: j.Budget, Sizes: j.Sizes}
	longest := j.Length
	if len(j.Sizes) > 0 {
		longest = j.Sizes[0].Length
	}
	if j.MinPerformance.Runtime(longest) > bourse.MaxDuration {
		t.wrong("length", "%s at performance %v is longer than a schedule can hold", longest.Words(), j.MinPerformance)
		return
	}
	if !budget {
		if j.Budget = r.DefaultBudget(); j.Budget > bourse.MaxBudget {
			t.wrong("max_price", "%v for %d nodes and %s comes to more than %v credits; give a budget",
				j.MaxPrice, j.Nodes, j.Length.Words(), bourse.MaxBudget)
		}
	}
	if !price {
		j.MaxPrice = min(r.PriceWithin(), bourse.MaxPrice)
	}
}
