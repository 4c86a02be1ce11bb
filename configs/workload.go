package configs

import (
	"slices"
	"strconv"
	"time"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

// maxJobs bounds the jobs of a workload.
const maxJobs = 10_000_000

// Workload describes a site's local jobs: the records of a trace, or draws from a model,
// which differ from seed to seed.
type Workload struct {
	Trace      string               // see workload.Open and Scenario.ResolveTraces; "" for a model
	Model      string               // "lublin" or "uniform"; "" for a trace
	Days       grid.Duration        // span of submits from the first record or draw, above 0; default: the scenario's until
	Processors int                  // size of the machine that it was made for; default: the nodes of the largest group
	Skip       int                  // trace: records to skip at the start of the file; default 0
	Partition  int                  // trace: only the records of this partition; default 0: all
	Zone       *time.Location       // trace of sacct, CSV or Parquet: zone of times that name none; default nil: UTC
	NeverRan   string               // trace: "drop" (default) records that never ran, or give them a run time of "zero"
	Copy       Thousandths          // trace: share of the jobs that are doubled, 0..1; default 0
	Load       Thousandths          // model: offered node-seconds over capacity, .001..10; default 0: given by the model, or by Jobs
	Jobs       int                  // model: most jobs to draw; default 0: as many as come in Days
	Nodes      Range[int]           // uniform: default 1..16
	Length     Range[grid.Duration] // uniform: default 10m..4h, log-uniform
	Queues     map[int]int          // trace: from its queue numbers to indices into the site's Queues; others go to 0

	// Only in a site's process: SpeedUp divides the submits, runs and estimates of the trace
	// or model, .001..100,000, default 1; Seed is the seed of its draws, default 1. In a
	// scenario both are 0.
	SpeedUp Thousandths
	Seed    uint64
}

// Conditions for the keys of a workload.
var (
	withTrace   = &keys.Condition{Text: "with a trace", Holds: ofTrace}
	withTable   = &keys.Condition{Text: "with a trace of sacct, CSV or Parquet", Holds: ofTable}
	withModel   = &keys.Condition{Text: "with a model", Holds: func(t *keys.Table) bool { return !ofTrace(t) }}
	copyHasLoad = &keys.Condition{Text: "with a model; the load of a trace is raised by copy", Holds: withModel.Holds}
	withGPUs    = &keys.Condition{Text: "with the model of GPUs", Holds: func(t *keys.Table) bool { return t.Keys["model"] == "gpus" }}
	withParts   = &keys.Condition{Text: "with a trace, or with the model of GPUs", Holds: func(t *keys.Table) bool { return ofTrace(t) || withGPUs.Holds(t) }}
	withUniform = &keys.Condition{Text: "with the uniform model", Holds: func(t *keys.Table) bool { return t.Keys["model"] == "uniform" }}
)

func ofTrace(t *keys.Table) bool {
	v, given := t.Keys["trace"]
	return given && v != ""
}

// ofTable reports whether the trace has times that may name no zone.
func ofTable(t *keys.Table) bool {
	file, _ := t.Keys["trace"].(string)
	return workload.HasZone(workload.FormatOf(file))
}

// keys lists the keys of a site's workload. duration is the default of days: in a site's
// process as long as its trace, or for ever.
func (w *Workload) keys(site *Site, duration grid.Duration) keys.List {
	for _, g := range site.Groups {
		w.Processors = max(w.Processors, g.Nodes)
	}
	const elsewhere = "can be used only in the file of a site's process; leave the key out"
	models := []string{"lublin", "uniform"}
	return keys.List{
		keys.Share("speed_up", &w.SpeedUp, One, 1, 100_000*One, "divide the times between submissions, run times and estimates by this").Only(kinds.InProcess, elsewhere),
		keys.Whole("seed", &w.Seed, 1, 0, 1<<53, "seed of the draws").Only(kinds.InProcess, elsewhere),
		keys.Days("days", &w.Days, duration, "span of submissions").ByDefault("the scenario's `until`; in a process as long as the trace, or for ever"),
		keys.Whole("procs", &w.Processors, w.Processors, 1, maxNodes, "size of the machine that the workload was made for").ByDefault("the nodes of the largest group"),
		keys.Custom("trace", keys.About{Kind: "file"}, func(t *keys.Table, _ string) { w.Trace, w.Model = source(t, models) }, "trace file in SWF, GWF, as Slurm's sacct prints it (.sacct), another table (.csv) or Parquet; or a `model`"),
		keys.Custom("model", keys.About{Kind: "word", Words: models}, withSource, "model that draws the jobs; or a `trace`"),
		keys.Whole("skip", &w.Skip, 0, 0, 1_000_000_000, "records to skip at the start of the file").When(withTrace),
		keys.Whole("partition", &w.Partition, 0, 1, 1_000_000, "use only the records of this partition").ByDefault("all").When(withTrace),
		zoneKey(&w.Zone),
		keys.Word("never_ran", &w.NeverRan, "drop", []string{"drop", "zero"}, "drop records that never ran, or give them a run time of zero").When(withTrace),
		keys.Share("copy", &w.Copy, 0, 0, One, "share of the jobs that are doubled").When(withTrace),
		keys.Custom("queues", keys.About{Kind: "names of [[queue]] by number"}, func(t *keys.Table, _ string) { w.Queues = queueMap(t, site.Queues) },
			"the queue for each queue number of the trace").ByDefault("the queue without a name").When(withTrace),
		keys.Share("load", &w.Load, 0, 1, 10*One, "offered node-time over capacity").ByDefault("given by the model, or by `jobs`").When(copyHasLoad),
		keys.Whole("jobs", &w.Jobs, 0, 1, maxJobs, "most jobs to draw").ByDefault("as many as come in `days`").When(withModel),
		keys.Wholes("nodes", &w.Nodes, keys.FromTo(1, 16), 1, maxNodes, "nodes of a job, drawn uniformly").When(withModel, withUniform),
		keys.Between("length", &w.Length, keys.FromTo(10*grid.Minute, 4*grid.Hour), "length of a job, drawn log-uniformly; above 0").When(withModel, withUniform),
		keys.Rule(aboveZero(&w.Length)),
		keys.Rule(w.enough),
	}
}

// enough reports keys that do not determine the number of jobs.
func (w *Workload) enough(t *keys.Table) {
	if w.Model == "uniform" && !t.Has("load") && !t.Has("jobs") {
		t.Wrong("jobs", "missing; a uniform workload needs load = 0.7 or jobs = 1000")
	}
	if t.In != kinds.InProcess {
		return
	}
	if w.Trace != "" {
		w.Trace = t.Resolve(w.Trace)
	}
	if w.Model == "uniform" && !t.Has("load") && !t.Has("days") {
		t.Wrong("days", "missing; give the days over which the jobs are submitted, or load instead of jobs")
	}
}

// withSource is the model of a workload, which is read with its trace.
func withSource(t *keys.Table, key string) { t.Has(key) }

// VOWorkload describes the jobs of a broker: draws from the uniform model, or the records
// of a trace with prices and deadlines added.
type VOWorkload struct {
	Trace          string                  // see workload.Open and Scenario.ResolveTraces; "" for a model
	Model          string                  // "uniform" or "gpus"; "" for a trace
	Days           grid.Duration           // span of submits, above 0; default: the scenario's until
	Jobs           int                     // number of jobs; trace: at most, default 0: all in Days
	Skip           int                     // trace: records to skip at the start of the file; default 0
	Partition      int                     // trace: only the records of this partition; default 0: all
	Zone           *time.Location          // trace of sacct, CSV or Parquet: zone of times that name none; default nil: UTC
	Nodes          Range[int]              // uniform: default 1..16
	Length         Range[grid.Duration]    // uniform: default 10m..4h, log-uniform
	MinPerformance Range[grid.Performance] // drawn uniformly; default .5..1
	MaxPrice       Range[Thousandths]      // drawn uniformly, as a multiple of Scenario.MeanPrice; default 1..2
	Deadline       grid.Duration           // after the submit; default: the broker's horizon

	// Flexible is how much later than agreed a job on one site may start, drawn uniformly;
	// default 0..0. Fix and Alternatives are as in Job.
	Flexible          Range[grid.Duration]
	Fix, Alternatives Thousandths

	// Ahead is the time from a job's submission to its earliest start; default 0.
	Ahead grid.Duration

	Composed Composed // the share of the jobs that have unlike parts

	// GPUs and Cores are of the nodes that the jobs are made for: see workload.GPUs, for which
	// they are 8 and 0 by default, and workload.Node. Of a trace they are 0 by default.
	GPUs, Cores int
	Uneven      Thousandths // gpus: share of the jobs of a part that ask for more cores than GPUs, 0..1; default 0

	// Coallocated are the shares of the jobs that need several sites at once, together at
	// most 1; default none.
	Coallocated []Coallocated

	// Run is a job's real run time over its length, drawn uniformly; default 1..1. For a
	// trace it is relative to the run time in the trace.
	Run Range[Thousandths]

	// Fails is the share of the jobs whose work fails, with exit status 1. FailsAfter says
	// when, as a share of its real run time, drawn uniformly; default 0..1.
	Fails      Thousandths
	FailsAfter Range[Thousandths]

	// Cancel and Modify are the shares of jobs with a window that their users cancel, or
	// whose length they change. CancelAt and ModifyAt say when, as shares of the time from
	// the booking to the start, drawn uniformly. ModifyLength is the new length over the old.
	Cancel, Modify                   Thousandths
	CancelAt, ModifyAt, ModifyLength Range[Thousandths]
}

// keys lists the keys of [broker.workload]. until is 0 outside a scenario.
func (w *VOWorkload) keys(until, horizon grid.Duration) keys.List {
	const wishes = "is only for scenarios; a broker's process has real users"
	models := []string{"uniform", "gpus"}
	return slices.Concat(keys.List{
		keys.Days("days", &w.Days, until, "span of submissions").ByDefault("the scenario's `until`"),
		keys.Custom("trace", keys.About{Kind: "file"}, func(t *keys.Table, _ string) { w.Trace, w.Model = source(t, models) }, "trace file in SWF, GWF, as Slurm's sacct prints it (.sacct), another table (.csv) or Parquet, whose jobs get prices and deadlines; or a `model`"),
		keys.Custom("model", keys.About{Kind: "word", Words: models}, withSource, "model that draws the jobs; or a `trace`"),
		keys.Between("min_performance", &w.MinPerformance, keys.FromTo(grid.Unit/2, grid.Unit), "least performance of a job's nodes, drawn uniformly"),
		keys.Factors("max_price", &w.MaxPrice, keys.FromTo(One, 2*One), 1, 1000*One, "highest price per node-hour, as a multiple of the mean price of the sites, drawn uniformly"),
		keys.Span("deadline", &w.Deadline, horizon, grid.Second, "time from submission to deadline").ByDefault("the broker's `horizon`"),
		keys.Between("flexible", &w.Flexible, Range[grid.Duration]{}, "how much later than agreed a job on one site may start, drawn uniformly"),
		keys.Share("fix", &w.Fix, One, 0, One, "share of its wait after which a flexible window is fixed; 1: at its start"),
		keys.Share("alternatives", &w.Alternatives, 0, 0, 100*One, "how far outside its window a site may offer another one, as a multiple of its run time"),
		keys.Span("ahead", &w.Ahead, 0, 0, "time from a job's submission to its earliest start"),
		keys.Factors("run", &w.Run, keys.FromTo(One, One), 1, One, "real run time of a job over its length, drawn uniformly; for a trace, over the run time in the trace"),
		keys.Share("fails", &w.Fails, 0, 0, One, "share of the jobs whose work fails, with exit status 1").Only(kinds.InScenario, wishes),
		keys.Factors("fails_after", &w.FailsAfter, keys.FromTo(0, One), 0, One, "when it does, as a share of its real run time, drawn uniformly").Only(kinds.InScenario, wishes),
		keys.Share("cancel", &w.Cancel, 0, 0, One, "share of the jobs with a window that their users cancel").Only(kinds.InScenario, wishes),
		keys.Factors("cancel_at", &w.CancelAt, keys.FromTo(0, One), 0, One, "when they do, as a share of the time from the booking to the start, drawn uniformly").Only(kinds.InScenario, wishes),
		keys.Share("modify", &w.Modify, 0, 0, One, "share of the jobs with a window whose users ask for another length").Only(kinds.InScenario, wishes),
		keys.Factors("modify_at", &w.ModifyAt, keys.FromTo(0, One), 0, One, "when they do, as for `cancel_at`").Only(kinds.InScenario, wishes),
		keys.Factors("modify_length", &w.ModifyLength, keys.FromTo(One/2, 3*One/2), 1, 100*One, "new length over the old one, drawn uniformly").Only(kinds.InScenario, wishes),
		keys.Rule(func(t *keys.Table) {
			if withModel.Holds(t) {
				t.Need("jobs", "200")
			}
		}),
		keys.Whole("jobs", &w.Jobs, 0, 1, maxJobs, "number of jobs; with a trace, at most").ByDefault("with a trace all in `days`; with a model it must be given"),
		keys.Wholes("nodes", &w.Nodes, keys.FromTo(1, 16), 1, maxNodes, "nodes of a job, drawn uniformly").When(withModel, withUniform),
		keys.Between("length", &w.Length, keys.FromTo(10*grid.Minute, 4*grid.Hour), "length of a job, drawn log-uniformly; above 0").When(withModel),
		keys.Rule(aboveZero(&w.Length)),
		keys.Whole("gpus", &w.GPUs, 8, 1, grid.MaxPortion, "GPUs of a node. Of 98 jobs 56 ask for 1, 13 for 2, 12 for 4, 11 for 8 and 6 for 16 to 64; less than a node's are a part of one. With a trace: jobs ask for as many as it says, of nodes that have so many").ByDefault("8; with a trace its GPUs do not matter").When(withParts),
		keys.Whole("cores", &w.Cores, 0, 0, grid.MaxPortion, "cores of a node, for `uneven`. With a trace: its processors are cores, and a job takes its part of the fewest nodes that have them").ByDefault("0: jobs ask for no cores; of a trace each processor is a node").When(withParts),
		keys.Rule(w.parts),
		keys.Share("uneven", &w.Uneven, 0, 0, One, "share of the jobs of a part that ask for twice their share of the cores").When(withGPUs),
		keys.Whole("skip", &w.Skip, 0, 0, 1_000_000_000, "records to skip at the start of the file").When(withTrace),
		keys.Whole("partition", &w.Partition, 0, 1, 1_000_000, "use only the records of this partition").ByDefault("all").When(withTrace),
		zoneKey(&w.Zone),
	}, w.Composed.keys(), w.coallocationKeys())
}

// parts completes the nodes that the jobs of a trace are made for.
func (w *VOWorkload) parts(t *keys.Table) {
	switch {
	case !ofTrace(t):
	case !t.Has("gpus"):
		w.GPUs = 0
	case w.Cores == 0 && t.Clean("cores"):
		t.Wrong("gpus", "needs the cores of a node, too; write for example cores = 64")
	}
}

// zoneKey is the zone of a trace's times.
func zoneKey(to **time.Location) keys.Key {
	return keys.Custom("zone", keys.About{Kind: "time zone"}, func(t *keys.Table, key string) { *to = zone(t, key) },
		"zone of times that name none, such as `\"Europe/Berlin\"`").ByDefault("UTC").When(withTable)
}

// zone reads the name of a time zone; nil if there is none. The machine's own is refused,
// because a file must mean the same everywhere.
func zone(t *keys.Table, key string) *time.Location {
	if !t.Has(key) {
		return nil
	}
	name := t.Text(key, "")
	if !t.Clean(key) {
		return nil
	}
	zone, err := workload.ParseZone(name)
	if err != nil || name == "" || zone == time.Local {
		t.Wrong(key, "%q is an unknown time zone; must be a name such as Europe/Berlin or UTC", name)
		return nil
	}
	return zone
}

// aboveZero refuses lengths from 0.
func aboveZero(length *Range[grid.Duration]) func(*keys.Table) {
	return func(t *keys.Table) {
		if t.Has("length") && t.Clean("length") && length.Lo <= 0 {
			t.Wrong("length", "starts at 0; must be a length above 0")
		}
	}
}

// source reads the trace or the model, one of which must be given.
func source(t *keys.Table, models []string) (trace, model string) {
	switch {
	case t.Has("trace") && t.Has("model"):
		t.Wrong("model", "cannot be combined with a trace; leave one of them out")
	case t.Has("trace"):
		if t.Text("trace", "") == "" && t.Clean("trace") {
			t.Wrong("trace", "is empty; must be the name of a trace file")
		}
	case t.Has("model"):
		return "", t.OneOf("model", models[0], models)
	default:
		t.Wrong("model", "missing; write trace = \"FILE.swf.gz\" or model = %q", models[0])
		return "", models[0]
	}
	return t.Text("trace", "trace"), ""
}

// queueMap reads the table that maps a trace's queue numbers to the site's queues: queues =
// { 1 = "express" }.
func queueMap(t *keys.Table, queues []Queue) map[int]int {
	m := t.Table("queues")
	if m == nil {
		return nil
	}
	numbers := make([]string, 0, len(m.Keys))
	for k := range m.Keys {
		numbers = append(numbers, k)
	}
	slices.Sort(numbers)
	out := make(map[int]int, len(numbers))
	for _, k := range numbers {
		n, err := strconv.Atoi(k)
		if err != nil || n < 0 || strconv.Itoa(n) != k {
			m.Wrong(k, "%q is not a queue number of a trace; must be a whole number from 0", k)
			continue
		}
		if name := m.Text(k, ""); m.Clean(k) {
			out[n] = queueNamed(m, m.Path.Key(k), name, queues)
		}
	}
	return out
}
