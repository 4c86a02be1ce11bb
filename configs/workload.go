package configs

import (
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
)

// maxJobs bounds the jobs of a workload.
const maxJobs = 10_000_000

// Range is an inclusive range, Lo <= Hi.
type Range[T any] struct{ Lo, Hi T }

// Workload is a site's own jobs: the records of a trace or the draws of a
// model. The jobs that a seed draws differ; nothing else here does.
type Workload struct {
	Trace      string                 // file in SWF or GWF, see Scenario.ResolveTraces; "" for a model
	Model      string                 // "lublin" or "uniform"; "" for a trace
	Days       bourse.Duration        // span of submits from the first record or draw, above 0; default: the scenario's until
	Processors int                    // size of the machine it was made for; default: the nodes of the largest group
	Skip       int                    // trace: records of the file to pass over first; default 0
	Partition  int                    // trace: only the records of this partition; default 0: all
	NeverRan   string                 // trace: "drop" (default) records that never ran, or run them for "zero"
	Copy       Thousandths            // trace: share of the jobs doubled, 0..1; default 0
	Load       Thousandths            // model: offered node-seconds over capacity, .001..10; default 0: as the model, or Jobs, has it
	Jobs       int                    // model: at most so many jobs; default 0: as many as the days bring
	Nodes      Range[int]             // uniform: default 1..16
	Length     Range[bourse.Duration] // uniform: default 10m..4h, log-uniform
	Queues     map[int]int            // trace: its queue numbers to indices into the site's Queues; others go to 0

	// Of a site's process: SpeedUp is how many times shorter submits, runs and
	// estimates are than the trace or model has them, .001..100,000, default 1;
	// Seed is that of its draws, default 1. Of a scenario's site both are 0.
	SpeedUp Thousandths
	Seed    uint64
}

// What the keys of a workload depend on.
var (
	withTrace   = &condition{text: "with a trace", holds: ofTrace}
	withModel   = &condition{text: "with a model", holds: func(t *table) bool { return !ofTrace(t) }}
	copyHasLoad = &condition{text: "with a model; the load of a trace is raised by copy", holds: withModel.holds}
	withUniform = &condition{text: "with the uniform model", holds: func(t *table) bool { return t.keys["model"] == "uniform" }}
)

func ofTrace(t *table) bool {
	v, given := t.keys["trace"]
	return given && v != ""
}

// keys lists what the workload of a site may hold. duration is how long it lasts if
// nothing is said: at a site's process as long as its trace, or for ever.
func (w *Workload) keys(site *Site, duration bourse.Duration) keys {
	for _, g := range site.Groups {
		w.Processors = max(w.Processors, g.Nodes)
	}
	const elsewhere = "has a meaning only in the file of a site's process; leave the key out"
	models := []string{"lublin", "uniform"}
	return keys{
		share("speed_up", &w.SpeedUp, One, 1, 100_000*One, "submissions, runs and estimates are so many times shorter").only(inProcess, elsewhere),
		whole("seed", &w.Seed, 1, 0, 1<<53, "of the draws").only(inProcess, elsewhere),
		days("days", &w.Days, duration, "span of submissions").byDefault("the scenario's `until`; in a process as long as the trace, or for ever"),
		whole("procs", &w.Processors, w.Processors, 1, maxNodes, "size of the machine that the workload was made for").byDefault("the nodes of the largest group"),
		custom("trace", about{kind: "file"}, func(t *table, _ string) { w.Trace, w.Model = t.source(models) }, "file in SWF or GWF; or a `model`"),
		custom("model", about{kind: "word", words: models}, withSource, "what draws the jobs; or a `trace`"),
		whole("skip", &w.Skip, 0, 0, 1_000_000_000, "records of the file to pass over first").when(withTrace),
		whole("partition", &w.Partition, 0, 1, 1_000_000, "only the records of this partition").byDefault("all").when(withTrace),
		word("never_ran", &w.NeverRan, "drop", []string{"drop", "zero"}, "records that never ran are left out, or run for 0s").when(withTrace),
		share("copy", &w.Copy, 0, 0, One, "share of the jobs that come twice").when(withTrace),
		custom("queues", about{kind: "names of [[queue]] by number"}, func(t *table, _ string) { w.Queues = t.queueMap(site.Queues) },
			"the queues that a trace's queue numbers stand for").byDefault("the queue without a name").when(withTrace),
		share("load", &w.Load, 0, 1, 10*One, "node-time asked for, over what there is").byDefault("as the model, or `jobs`, has it").when(copyHasLoad),
		whole("jobs", &w.Jobs, 0, 1, maxJobs, "at most so many").byDefault("as many as the days bring").when(withModel),
		wholes("nodes", &w.Nodes, Range[int]{1, 16}, 1, maxNodes, "drawn evenly").when(withModel, withUniform),
		between("length", &w.Length, Range[bourse.Duration]{10 * bourse.Minute, 4 * bourse.Hour}, "drawn evenly in its logarithm; above 0").when(withModel, withUniform),
		rule(aboveZero(&w.Length)),
		rule(w.enough),
	}
}

// enough reports what says too little of how many jobs come.
func (w *Workload) enough(t *table) {
	if w.Model == "uniform" && !t.has("load") && !t.has("jobs") {
		t.wrong("jobs", "missing; a uniform workload needs load = 0.7 or jobs = 1000")
	}
	if t.in != inProcess {
		return
	}
	if w.Trace != "" {
		w.Trace = within(filepath.Dir(t.doc.file), w.Trace)
	}
	if w.Model == "uniform" && !t.has("load") && !t.has("days") {
		t.wrong("days", "missing; over how many days do the jobs come? Or write load in place of jobs")
	}
}

// withSource is the model of a workload, which is read with its trace.
func withSource(t *table, key string) { t.has(key) }

// VOWorkload is the jobs of a broker: draws of the uniform model, or the
// records of a trace with prices and deadlines added.
type VOWorkload struct {
	Trace          string                    // file in SWF or GWF, see Scenario.ResolveTraces; "" for a model
	Model          string                    // "uniform"; "" for a trace
	Days           bourse.Duration           // span of submits, above 0; default: the scenario's until
	Jobs           int                       // how many; a trace: at most so many, default 0: all of its days
	Skip           int                       // trace: records of the file to pass over first; default 0
	Partition      int                       // trace: only the records of this partition; default 0: all
	Nodes          Range[int]                // uniform: default 1..16
	Length         Range[bourse.Duration]    // uniform: default 10m..4h, log-uniform
	MinPerformance Range[bourse.Performance] // drawn uniform; default .5..1
	MaxPrice       Range[Thousandths]        // drawn uniform, as a multiple of Scenario.MeanPrice; default 1..2
	Deadline       bourse.Duration           // after the submit; default: the broker's horizon

	// Flexible is how much later than agreed a job on one site may start, drawn
	// evenly; default 0..0. Fix and Alternatives are those of Job.
	Flexible          Range[bourse.Duration]
	Fix, Alternatives Thousandths

	// Ahead is how long before it may start a job is submitted; default 0.
	Ahead bourse.Duration

	// Run is what a job really takes, over its length, drawn evenly; default 1..1. Of a
	// trace it is so much of what the trace says that it takes.
	Run Range[Thousandths]

	// Cancel and Modify are the shares of the jobs that their user gives up, or asks to
	// have longer or shorter, once they have a window: CancelAt and ModifyAt of the time
	// until its start have passed then, drawn evenly, and ModifyLength is the new length
	// over the old one.
	Cancel, Modify                   Thousandths
	CancelAt, ModifyAt, ModifyLength Range[Thousandths]
}

// keys lists what a [broker.workload] may hold. until is 0 where there is no
// scenario around.
func (w *VOWorkload) keys(until, horizon bourse.Duration) keys {
	const wishes = "is for scenarios; the users of a broker's process speak for themselves"
	models := []string{"uniform"}
	return keys{
		days("days", &w.Days, until, "span of submissions").byDefault("the scenario's `until`"),
		custom("trace", about{kind: "file"}, func(t *table, _ string) { w.Trace, w.Model = t.source(models) }, "file in SWF or GWF, whose jobs get prices and deadlines; or a `model`"),
		custom("model", about{kind: "word", words: models}, withSource, "what draws the jobs; or a `trace`"),
		between("min_performance", &w.MinPerformance, Range[bourse.Performance]{bourse.Unit / 2, bourse.Unit}, "what a job asks of a node at least, drawn evenly"),
		factors("max_price", &w.MaxPrice, Range[Thousandths]{One, 2 * One}, 1, 1000*One, "what it pays per node-hour at most, in mean prices of the sites, drawn evenly"),
		span("deadline", &w.Deadline, horizon, bourse.Second, "after the submission").byDefault("the broker's `horizon`"),
		between("flexible", &w.Flexible, Range[bourse.Duration]{}, "how much later than agreed a job on one site may start, drawn evenly"),
		share("fix", &w.Fix, One, 0, One, "the share of its wait after which a flexible window is fixed; 1: when it starts"),
		share("alternatives", &w.Alternatives, 0, 0, 100*One, "how far outside its window a site may offer another place, over its runtime"),
		span("ahead", &w.Ahead, 0, 0, "how long before it may start a job is submitted"),
		factors("run", &w.Run, Range[Thousandths]{One, One}, 1, One, "what a job really takes, over its length, drawn evenly; of a trace over what the trace says"),
		share("cancel", &w.Cancel, 0, 0, One, "the share of the jobs with a window that their user gives up").only(inScenario, wishes),
		factors("cancel_at", &w.CancelAt, Range[Thousandths]{0, One}, 0, One, "when, over the time from the booking to the start, drawn evenly").only(inScenario, wishes),
		share("modify", &w.Modify, 0, 0, One, "the share of the jobs with a window whose user asks for another length").only(inScenario, wishes),
		factors("modify_at", &w.ModifyAt, Range[Thousandths]{0, One}, 0, One, "when, as `cancel_at`").only(inScenario, wishes),
		factors("modify_length", &w.ModifyLength, Range[Thousandths]{One / 2, 3 * One / 2}, 1, 100*One, "the new length over the old one, drawn evenly").only(inScenario, wishes),
		rule(func(t *table) {
			if withModel.holds(t) {
				t.need("jobs", "200")
			}
		}),
		whole("jobs", &w.Jobs, 0, 1, maxJobs, "how many; of a trace at most so many").byDefault("of a trace all of its days, of a model none: it must be given"),
		wholes("nodes", &w.Nodes, Range[int]{1, 16}, 1, maxNodes, "drawn evenly").when(withModel),
		between("length", &w.Length, Range[bourse.Duration]{10 * bourse.Minute, 4 * bourse.Hour}, "drawn evenly in its logarithm; above 0").when(withModel),
		rule(aboveZero(&w.Length)),
		whole("skip", &w.Skip, 0, 0, 1_000_000_000, "records of the file to pass over first").when(withTrace),
		whole("partition", &w.Partition, 0, 1, 1_000_000, "only the records of this partition").byDefault("all").when(withTrace),
	}
}

// aboveZero refuses lengths from 0.
func aboveZero(length *Range[bourse.Duration]) func(*table) {
	return func(t *table) {
		if t.has("length") && t.clean("length") && length.Lo <= 0 {
			t.wrong("length", "starts at 0; must be a length above 0")
		}
	}
}

// source reads the trace or the model, one of which must be given.
func (t *table) source(models []string) (trace, model string) {
	switch {
	case t.has("trace") && t.has("model"):
		t.wrong("model", "a workload is of a trace or of a model, not both")
	case t.has("trace"):
		if t.text("trace", "") == "" && t.clean("trace") {
			t.wrong("trace", "is empty; must be the name of a trace file")
		}
	case t.has("model"):
		return "", t.oneOf("model", models[0], models)
	default:
		t.wrong("model", "missing; write trace = \"FILE.swf.gz\" or model = %q", models[0])
		return "", models[0]
	}
	return t.text("trace", "trace"), ""
}

// queueMap reads the table that sends a trace's queue numbers to the site's
// queues: queues = { 1 = "express" }.
func (t *table) queueMap(queues []Queue) map[int]int {
	m := t.table("queues")
	if m == nil {
		return nil
	}
	numbers := make([]string, 0, len(m.keys))
	for k := range m.keys {
		numbers = append(numbers, k)
	}
	slices.Sort(numbers)
	out := make(map[int]int, len(numbers))
	for _, k := range numbers {
		n, err := strconv.Atoi(k)
		if err != nil || n < 0 || strconv.Itoa(n) != k {
			m.wrong(k, "%q is not a queue number of a trace; must be a whole number from 0", k)
			continue
		}
		if name := m.text(k, ""); m.clean(k) {
			out[n] = m.queueNamed(m.path.key(k), name, queues)
		}
	}
	return out
}
