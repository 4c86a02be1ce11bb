package configs

import (
	"slices"
	"strings"
	"time"

	"bourse"
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
		},
		Name: j.Name, User: j.User, Submit: submit, Priority: j.Priority, Run: j.Run,
		After: j.After, Gap: j.Gap,
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
	b := &Batch{Jobs: t.jobs(simulated, until)}
	if len(b.Jobs) == 0 && t.clean("job") {
		t.wrong("job", "missing; a batch has at least one [[job]]")
	}
	return finish(t, b)
}

// jobs reads [[job]] tables. The jobs of a simulation have a time of
// submission, not after until (0: no end), and no dates.
func (t *table) jobs(simulated bool, until bourse.Duration) []Job {
	list := t.tables("job")
	out := make([]Job, 0, len(list))
	names := map[string]int{}
	for _, j := range list {
		out = append(out, j.job(simulated, until, names))
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

func (t *table) job(simulated bool, until bourse.Duration, names map[string]int) Job {
	t.need("nodes", "16")
	if !t.tabled() {
		t.need("length", `"2h"`)
	}
	least, most := t.nodes()
	j := Job{
		Name:           t.name("name", "wave", names),
		User:           t.text("user", ""),
		Length:         t.span("length", bourse.Hour, bourse.Millisecond),
		Run:            t.span("run", 0, bourse.Millisecond),
		MinPerformance: value(t, "min_performance", bourse.Unit),
		MaxPrice:       value[bourse.Price](t, "max_price", 0),
		Budget:         value[bourse.Credits](t, "budget", 0),
		Ready:          t.moment("ready", 0, simulated),
		Deadline:       t.moment("deadline", bourse.Duration(bourse.Never), simulated),
		Priority:       t.whole("priority", 0, -1_000_000, 1_000_000),
		Flexible:       value[bourse.Duration](t, "flexible", 0),
		Fix:            t.share("fix", One, 0, One),
		Alternatives:   t.share("alternatives", 0, 0, 100*One),
		OneSite:        t.oneOf("spread", "any", []string{"any", "one-site"}, nil) == "one-site",
	}
	if simulated {
		j.Submit = value[bourse.Duration](t, "submit", 0)
		if until > 0 && j.Submit > until {
			t.wrong("submit", "%s lies after the end of the scenario, %s; the job would never come", j.Submit.Words(), until.Words())
		}
	}
	if r := t.table("require"); r != nil {
		j.Require = bourse.Requirement(r.machine())
		r.done()
	}
	if after := t.texts("after"); len(after) > 0 {
		j.After = after
	}
	j.Gap = value[bourse.Duration](t, "gap", 0)
	switch {
	case len(j.After) > maxAfter:
		t.wrong("after", "%d jobs; the most that one comes after is %d", len(j.After), maxAfter)
	case len(j.After) == 0 && j.Gap > 0 && t.clean("after"):
		t.wrong("gap", "has a meaning only with after; leave it out")
	}
	t.mold(&j, least, most)
	t.window(&j)
	t.money(&j)
	t.done()
	return j
}

// maxAfter bounds the jobs that one may come after.
const maxAfter = 100

// moment reads a span after the submission or an RFC 3339 date.
func (t *table) moment(key string, def bourse.Duration, simulated bool) Moment {
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
		t.wrong(key, `is a date, which a simulation does not know; a span after the submission such as "1d" is wanted`)
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
