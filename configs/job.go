package configs

import (
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
)

// Job is one job of a batch, or of a broker in a scenario. Its times count from its
// submission; At turns it into a grid.Job.
type Job struct {
	Name           string             // unique in the batch or broker
	User           string             // default "": the submitter
	Submit         grid.Duration      // in a scenario: after its zero; default 0
	Nodes          int                // N, 1..1,000,000; of a moldable job, of the size with the least node-seconds
	Length         grid.Duration      // L, run time at performance 1 on these nodes, above 0
	Sizes          []grid.Size        // of a moldable job, in ascending order of nodes; default: none
	Run            grid.Duration      // real run time at performance 1, for simulated clusters; default 0: Length
	Fails          Thousandths        // in a scenario: the probability that its work fails, 0..1; default 0
	FailsAfter     Range[Thousandths] // when it does, as a share of its real run time; default 0..1
	MinPerformance grid.Performance   // P; default 1
	AnyPerformance bool               // P is not given: a broker of processes takes that of the slowest suited nodes
	MaxPrice       grid.Price         // C; if only a budget is given, implied by the budget
	Unpriced       bool               // in a batch: neither price nor budget is given, so that the broker's price cap holds
	Budget         grid.Credits       // S; if only a price is given, implied by the price
	Ready          Moment             // earliest start; default: its submission
	Deadline       Moment             // after Ready; default: none
	Priority       int                // -1,000,000..1,000,000, higher first; default 0
	Flexible       grid.Duration      // may start up to this later once accepted; default 0
	Fix            Thousandths        // share of its wait after which a flexible window is fixed, 0..1; default 1: at its start
	Alternatives   Thousandths        // how far outside its window a site may offer another one, as a multiple of its run time, 0..100; default 0: not at all
	OneSite        bool               // spread = "one-site"; default "any"
	Require        grid.Requirement   // default: nothing
	Portion        grid.Portion       // of each node; default: all of it
	After          []grid.Dependency  // jobs that must have ended first, and how; default: none
	Array          grid.Array         // its elements, of an array; default: it is one job
	Recurrence     grid.Recurrence    // of a job that recurs; Count 0: until Until. Default: it does not
	Until          Moment             // no window of a job that recurs is ready then or later; default: none
	Gap            grid.Duration      // time between the end of the last of them and its start; default 0
	Minimize       grid.Goal          // its owner's goal; default: the broker's
	Urgency        grid.Urgency       // what it is worth to end an hour earlier; default: the broker's
	Runs           bool               // it has a command or a script
	Work           *grid.Work         // the command or script; nil: none, or a script in a simulation, which reads no scripts
	Sites          []string           // the only sites that may carry it; default: any
	Avoid          []string           // sites that must not carry it; default: none
	Parts          []grid.JobPart     // of a job of unlike parts, complete; default: none
	Gather         *grid.Gather       // its parts are gathered by pilots; default: windows are bought
	Together       bool               // one site carries all parts; default false
	Apart          bool               // no site carries two parts; default false
}

// Moment is a span after a submission, or a date.
type Moment struct {
	After grid.Duration // without a date; Never: at no time
	Date  time.Time     // zero: no date
}

// at returns the instant; zero is the date of the run's time zero.
func (m Moment) at(submit grid.Time, zero time.Time) grid.Time {
	if m.Date.IsZero() {
		return min(submit.Add(m.After), grid.Never)
	}
	return grid.Time(m.Date.UnixMilli() - zero.UnixMilli())
}

// At returns the job as submitted at an instant. zero is the date of the run's time zero:
// the Unix epoch on a live site; the jobs of a simulation have no dates and need none. A
// date becomes an instant only here, so callers must check that the deadline is still
// ahead.
func (j *Job) At(submit grid.Time, zero time.Time) grid.Job {
	out := grid.Job{
		Request: grid.Request{
			Nodes: j.Nodes, Length: j.Length, MinPerformance: j.MinPerformance,
			MaxPrice: j.MaxPrice, Budget: j.Budget,
			Ready: max(submit, j.Ready.at(submit, zero)), Deadline: j.Deadline.at(submit, zero),
			Require: j.Require, Portion: j.Portion, OneSite: j.OneSite, Phi: int(j.Alternatives), Sizes: j.Sizes,
			Minimize: j.Minimize, Urgency: j.Urgency,
			Sites: j.Sites, Avoid: j.Avoid, Parts: j.Parts, Together: j.Together, Apart: j.Apart,
		},
		Name: j.Name, User: j.User, Submit: submit, Priority: j.Priority, Run: j.Run,
		After: j.After, Gap: j.Gap, Array: j.Array, Work: j.Work, Gather: j.Gather,
	}
	out.Flexible, out.Fix = freedom(j.Flexible, j.Fix)
	if r := j.Recurrence; r.Some() {
		if r.Count == 0 {
			r.Count = grid.CountUntil(out.Ready, j.Until.at(submit, zero), r.Every)
		}
		out.Recur(r)
	}
	return out
}

// freedom returns the freedom that a job leaves its site, in the form of grid.Job: none
// if the window is fixed at once, and no fix if it is fixed at its start.
func freedom(flexible grid.Duration, fix Thousandths) (grid.Duration, int) {
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

// ReadBatch reads a batch of jobs. An error that does not come from the file system is a
// *Problems.
func ReadBatch(file string) (*Batch, error) {
	text, err := kinds.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ParseBatch(file, text)
}

// ParseBatch is ReadBatch for a text; file is its name in errors.
func ParseBatch(file string, text []byte) (*Batch, error) {
	return parseBatch(file, text, false, 0, around{})
}

func parseBatch(file string, text []byte, simulated bool, until grid.Duration, by around) (*Batch, error) {
	t, err := openFile(file, text)
	if err != nil {
		return nil, err
	}
	*aroundOf(t) = by
	if err := kinds.Must(t, kinds.Batch); err != nil {
		return nil, err
	}
	b := &Batch{}
	t.Fill(b.keys(simulated, until))
	return keys.Finish(t, b)
}

// keys lists the keys of a batch.
func (b *Batch) keys(simulated bool, until grid.Duration) keys.List {
	return keys.List{
		jobs(&b.Jobs, simulated, until),
		keys.Rule(func(t *keys.Table) {
			if len(b.Jobs) == 0 && t.Clean("job") {
				t.Wrong("job", "missing; a batch has at least one [[job]]")
			}
		}),
	}
}

// jobs is the key of [[job]] tables.
func jobs(to *[]Job, simulated bool, until grid.Duration) keys.Key {
	what := keys.About{Kind: "tables", Below: func() keys.List { return new(Job).keys(until, map[string]int{}) }, Shape: keys.Brackets}
	return keys.Custom("job", what, func(t *keys.Table, key string) {
		if t.Has(key) {
			*to = readJobs(t, simulated, until)
		}
	}, "jobs, one in each table")
}

// jobs reads [[job]] tables. Jobs of a simulation have a time of submission, not after
// until (0: no end), and no dates.
func readJobs(t *keys.Table, simulated bool, until grid.Duration) []Job {
	list := t.Tables("job")
	out := make([]Job, 0, len(list))
	names := map[string]int{}
	for _, j := range list {
		var one Job
		j.In = kinds.InBatch
		if simulated {
			j.In = kinds.InScenario
		}
		j.Fill(one.keys(until, names))
		out = append(out, one)
	}
	return inOrder(out, list, simulated)
}

// inOrder puts jobs behind those that they depend on, and refuses cycles. Jobs of a
// simulation can depend only on jobs in the same file, of the same user, that are submitted
// no later. A batch may also name jobs that its broker already knows.
func inOrder(jobs []Job, tables []*keys.Table, simulated bool) []Job {
	names, after, place := make([]string, len(jobs)), make([][]string, len(jobs)), map[string]int{}
	chained := false
	for i := range jobs {
		names[i], after[i], place[jobs[i].Name] = jobs[i].Name, grid.Names(jobs[i].After), i
		chained = chained || len(jobs[i].After) > 0
	}
	if !chained {
		return jobs
	}
	order, loop := grid.InOrder(names, after)
	if loop != nil {
		first := jobs[place[loop[0]]]
		key := first.After[slices.Index(grid.Names(first.After), loop[1])].On.Key()
		tables[place[loop[0]]].Wrong(key, "the jobs depend on each other in a cycle: %s", strings.Join(loop, " -> "))
		return jobs
	}
	for i := range jobs {
		for _, d := range jobs[i].After {
			name, key := d.Job, d.On.Key()
			p, known := place[name]
			switch {
			case !known && simulated:
				tables[i].Wrong(key, "%q is not a job of this file", name)
			case !known:
			case d.On == grid.IfEach && unlike(&jobs[p], &jobs[i]):
				tables[i].Wrong(key, "%q has the elements %s, and this job %s; both must be arrays of the same indices", name, elements(&jobs[p]), elements(&jobs[i]))
			case jobs[p].User != jobs[i].User:
				tables[i].Wrong(key, "%q is a job of another user; a job can depend only on jobs of the same user", name)
			case jobs[p].Submit > jobs[i].Submit:
				tables[i].Wrong(key, "%q is submitted later, %s after the start; it must be submitted before this job", name, jobs[p].Submit.Words())
			}
		}
	}
	out := make([]Job, len(jobs))
	for i, at := range order {
		out[i] = jobs[at]
	}
	return out
}

// keys lists the keys of a [[job]] of a batch, or of a broker in a scenario of length
// until.
func (j *Job) keys(until grid.Duration, names map[string]int) keys.List {
	var least, most int
	var fast speedup
	work, gather := &grid.Work{}, &gathering{}
	return slices.Concat(keys.List{
		keys.Named("name", &j.Name, names, "wave", "name, unique in the batch or broker"),
		keys.Custom("nodes", keys.About{Kind: "whole number, or range in a string", Limits: "1..1000000, such as 16 or \"4..16\""}, func(t *keys.Table, _ string) { least, most = readNodes(t) },
			"number of nodes at once").ByDefault("1; of its parts, if it has any"),
		keys.Rule(func(t *keys.Table) {
			if !tabled(t) && !t.Has("part") {
				t.Need("length", `"2h"`)
			}
		}),
		keys.Text("user", &j.User, "", "its owner").ByDefault("the submitter"),
		keys.Rule(func(t *keys.Table) {
			if j.User == "" {
			} else if err := grid.CheckName(j.User); err != nil && t.Clean("user") {
				t.Wrong("user", "%v", err)
			}
		}),
		keys.Span("length", &j.Length, grid.Hour, grid.Millisecond, "run time at performance 1, as the user estimates it").ByDefault("from `speedup` or its parts; must be given without a table there"),
		keys.Span("run", &j.Run, 0, grid.Millisecond, "real run time at performance 1, for simulated clusters").ByDefault("its length"),
		keys.Share("fails", &j.Fails, 0, 0, One, "probability that its work fails, with exit status 1").Only(kinds.InScenario, failsReally),
		keys.Factors("fails_after", &j.FailsAfter, keys.FromTo(0, One), 0, One, "when it does, as a share of its real run time, drawn uniformly").Only(kinds.InScenario, failsReally),
		keys.Amount("min_performance", &j.MinPerformance, grid.Unit, "P, least performance of every node").ByDefault("1 in a scenario; on a network that of the slowest suited nodes known, at most 1"),
		keys.Rule(func(t *keys.Table) { j.AnyPerformance = !t.Has("min_performance") }),
		keys.Amount("max_price", &j.MaxPrice, 0, "C, highest price of a node").ByDefault("implied by the budget; without either, the broker's `price_cap`. In a scenario one of the two must be given"),
		keys.Amount("budget", &j.Budget, 0, "S, for the whole job").ByDefault("implied by the price"),
		moment("ready", &j.Ready, 0, "earliest start").ByDefault("its submission"),
		moment("deadline", &j.Deadline, grid.Duration(grid.Never), "latest end").ByDefault("none"),
		keys.Whole("priority", &j.Priority, 0, -1_000_000, 1_000_000, "higher first"),
		keys.Amount("flexible", &j.Flexible, 0, "the site may start it up to this much later than agreed; for jobs on one site"),
		keys.Share("fix", &j.Fix, One, 0, One, "share of its wait after which a flexible window is fixed; 1: at its start"),
		keys.Share("alternatives", &j.Alternatives, 0, 0, 100*One, "how far outside its window a site may offer another one, as a multiple of its run time"),
		keys.Custom("spread", keys.About{Kind: "word", Default: `"any"`, Words: spreads}, func(t *keys.Table, key string) {
			j.OneSite = t.OneOf(key, "any", spreads) == "one-site"
		}, "sites over which it may spread"),
		keys.Amount("submit", &j.Submit, 0, "submission, after the start of the scenario").Only(kinds.InScenario, ""),
		keys.Rule(func(t *keys.Table) {
			if until > 0 && j.Submit > until {
				t.Wrong("submit", "%s is after the end of the scenario, %s; the job would never be submitted", j.Submit.Words(), until.Words())
			}
		}),
		keys.Option("require", func() keys.List { return machineKeys(&j.Require) }, "what each of its nodes must have"),
	}, portionKeys(&j.Portion), keys.List{j.arrayKey()}, j.recurrenceKeys(), dependencyKeys(&j.After), keys.List{
		keys.Amount("gap", &j.Gap, 0, "time between the end of the last of them and its start"),
		keys.Rule(j.follows),
		keys.Custom("minimize", keys.About{Kind: "word", Words: criteria}, func(t *keys.Table, key string) { j.Minimize = goal(t, key) },
			"its owner's goal, if the broker minimizes value").ByDefault("the broker's"),
		urgency(&j.Urgency, 0, "what it is worth to its owner to end an hour earlier").ByDefault("the broker's"),
		keys.Option("speedup", fast.keys, "how a job on a range of nodes gets faster; give one of its keys"),
		keys.Rule(func(t *keys.Table) {
			if !t.Has("part") {
				j.mold(t, &fast, least, most)
			}
		}),
	}, siteKeys(&j.Sites, &j.Avoid), keys.List{
		keys.Boolean("together", &j.Together, false, "one site carries all of its parts"),
		keys.Boolean("apart", &j.Apart, false, "no site carries two of its parts"),
	}, j.workKeys(work), keys.List{
		j.partKey(work), gather.key(),
		keys.Rule(func(t *keys.Table) { j.gathered(t, gather) }), j.queueKey(), keys.Rule(j.queued),
		keys.Rule(j.compose),
		keys.Rule(j.window),
		keys.Rule(j.money), keys.Rule(j.recurs),
	})
}

const failsReally = "is only for scenarios; work that really runs fails by itself"

var spreads = []string{"any", "one-site"}

// goal reads a job's goal; none if it is not given.
func goal(t *keys.Table, key string) grid.Goal {
	if !t.Has(key) {
		return grid.NoGoal
	}
	g, _ := grid.ParseGoal(t.OneOf(key, "value", criteria))
	return g
}

// urgency is the worth of an hour: credits, or a share of a job's budget.
func urgency(to *grid.Urgency, def grid.Urgency, doc string) keys.Key {
	what := keys.About{Kind: "credits per hour, or a percentage of the budget", Default: keys.Quoted(def.String()), Limits: "0..1e9, or \"0%\"..\"1000%\""}
	return keys.Custom("urgency", what, func(t *keys.Table, key string) { *to = keys.Value(t, key, def) }, doc)
}

// moment is a span after the submission or, in a batch, an RFC 3339 date.
func moment(name string, to *Moment, def grid.Duration, doc string) keys.Key {
	return keys.Custom(name, keys.About{Kind: "duration after the submission, or a date in a batch"}, func(t *keys.Table, key string) {
		*to = readMoment(t, key, def, t.In == kinds.InScenario, "the submission")
	}, doc)
}

// readMoment reads a span after something, or an RFC 3339 date.
func readMoment(t *keys.Table, key string, def grid.Duration, simulated bool, after string) Moment {
	v, _ := t.Take(key)
	date, isDate := v.(time.Time)
	if s, ok := v.(string); ok && !isDate {
		var err error
		date, err = time.Parse(time.RFC3339, s)
		isDate = err == nil
	}
	switch {
	case !isDate:
		return Moment{After: keys.Value(t, key, def)}
	case simulated:
		t.Wrong(key, `is a date, but a simulation has no dates; must be a span after %s, such as "1d"`, after)
	case slices.Contains([]string{"datetime-local", "date-local", "time-local"}, date.Location().String()):
		t.Wrong(key, "has no offset from UTC; write for example %s", date.Format("2006-01-02T15:04:05Z"))
	case date.Year() < 1970 || date.Year() > 2200:
		t.Wrong(key, "%d is outside the years 1970..2200", date.Year())
	default:
		return Moment{Date: date}
	}
	return Moment{After: def}
}

// window checks that the job's times can be met.
func (j *Job) window(t *keys.Table) {
	if !t.Has("deadline") || !t.Clean("ready") || !t.Clean("deadline") || j.Ready.Date.IsZero() != j.Deadline.Date.IsZero() {
		return
	}
	if j.Deadline.After <= j.Ready.After && j.Deadline.Date.IsZero() {
		t.Wrong("deadline", "%s is not after ready, %s", j.Deadline.After.Words(), j.Ready.After.Words())
	}
	if !j.Deadline.Date.IsZero() && !j.Deadline.Date.After(j.Ready.Date) {
		t.Wrong("deadline", "is not after ready, %s", j.Ready.Date.Format(time.RFC3339))
	}
	if !t.Clean("deadline") || !t.Clean("length") || !t.Clean("speedup") || !t.Clean("min_performance") {
		return
	}
	// Faster nodes could make up for it, but only min_performance asks for them.
	r := grid.Request{Length: j.Length, Sizes: j.Sizes}
	takes := max(j.MinPerformance, grid.Unit).Runtime(r.Shortest())
	left := j.Deadline.After - j.Ready.After
	if !j.Deadline.Date.IsZero() {
		left = grid.Duration(j.Deadline.Date.Sub(j.Ready.Date).Milliseconds())
	}
	if takes > left {
		t.Wrong("deadline", "leaves %s after ready, but the job takes %s at performance %v; give it more time, or a higher min_performance",
			left.Words(), takes.Words(), max(j.MinPerformance, grid.Unit))
	}
}

// money fills in the price or the budget, whichever is not given.
func (j *Job) money(t *keys.Table) {
	price, budget := t.Has("max_price"), t.Has("budget")
	if !price && !budget && !t.Has("part") && !t.Has("gather") {
		if j.Unpriced = t.In == kinds.InBatch; !j.Unpriced {
			t.Wrong("max_price", "missing; write max_price = 2.5 (credits per node-hour) or budget = 100.0 (credits)")
		}
	}
	if !t.Sound() || t.Has("part") || t.Has("gather") {
		return
	}
	r := grid.Request{Nodes: j.Nodes, Length: j.Length, MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice, Budget: j.Budget, Sizes: j.Sizes}
	longest := j.Length
	if len(j.Sizes) > 0 {
		longest = j.Sizes[0].Length
	}
	if j.MinPerformance.Runtime(longest) > grid.MaxDuration {
		t.Wrong("length", "%s at performance %v is too long for a schedule", longest.Words(), j.MinPerformance)
		return
	}
	if j.Unpriced {
		return
	}
	if !budget {
		if j.Budget = r.DefaultBudget(); j.Budget > grid.MaxBudget {
			t.Wrong("max_price", "%v for %s and %s is more than %v credits; give a budget",
				j.MaxPrice, grid.Count(j.Nodes, "node"), j.Length.Words(), grid.MaxBudget)
		}
	}
	if !price {
		j.MaxPrice = min(r.PriceWithin(), grid.MaxPrice)
	}
}
