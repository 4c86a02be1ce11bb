package configs

import (
	"path/filepath"
	"slices"
	"strconv"

	"bourse"
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

// liveWorkload reads the [workload] of a site's process, nil if there is none.
// Without days it goes on as long as its trace lasts, or for ever.
func (t *table) liveWorkload(site *Site) *Workload {
	w := t.table("workload")
	if w == nil {
		return nil
	}
	speed, seed := w.share("speed_up", One, 1, 100_000*One), w.whole("seed", 1, 0, 1<<53)
	out := w.workloadKeys(site, bourse.MaxDuration)
	out.SpeedUp, out.Seed = speed, uint64(seed)
	if out.Trace != "" {
		out.Trace = within(filepath.Dir(t.doc.file), out.Trace)
	}
	if out.Model == "uniform" && !w.has("load") && !w.has("days") {
		w.wrong("days", "missing; over how many days do the jobs come? Or write load in place of jobs")
	}
	w.done()
	return out
}

// localWorkload reads a [site.workload], nil if there is none.
func (t *table) localWorkload(site *Site, until bourse.Duration) *Workload {
	w := t.table("workload")
	if w == nil {
		return nil
	}
	out := w.workloadKeys(site, until)
	w.only("in the file of a site's process", "speed_up", "seed")
	w.done()
	return out
}

// workloadKeys reads the keys that the workload of a scenario's site and that of
// a process share.
func (w *table) workloadKeys(site *Site, days bourse.Duration) *Workload {
	out := &Workload{Days: w.days(days)}
	for _, g := range site.Groups {
		out.Processors = max(out.Processors, g.Nodes)
	}
	out.Processors = w.whole("procs", out.Processors, 1, maxNodes)
	out.Trace, out.Model = w.source([]string{"lublin", "uniform"})
	switch {
	case out.Trace != "":
		out.Skip = w.whole("skip", 0, 0, 1_000_000_000)
		out.Partition = w.whole("partition", 0, 1, 1_000_000)
		out.NeverRan = w.oneOf("never_ran", "drop", []string{"drop", "zero"}, nil)
		out.Copy = w.share("copy", 0, 0, One)
		out.Queues = w.queueMap(site.Queues)
		w.only("with a model; the load of a trace is raised by copy", "load")
		w.only("with a model", "jobs", "nodes", "length")
	default:
		out.Load = w.share("load", 0, 1, 10*One)
		out.Jobs = w.whole("jobs", 0, 1, maxJobs)
		w.only("with a trace", "skip", "partition", "never_ran", "copy", "queues")
	}
	if out.Model == "uniform" {
		out.Nodes, out.Length = w.uniform()
		if !w.has("load") && !w.has("jobs") {
			w.wrong("jobs", "missing; a uniform workload needs load = 0.7 or jobs = 1000")
		}
	} else if out.Model != "" {
		w.only("with the uniform model", "nodes", "length")
	}
	return out
}

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
}

// voWorkload reads a [broker.workload], nil if there is none. until is 0 where
// there is no scenario around.
func (t *table) voWorkload(until, horizon bourse.Duration) *VOWorkload {
	w := t.table("workload")
	if w == nil {
		return nil
	}
	out := &VOWorkload{Days: w.days(until)}
	out.Trace, out.Model = w.source([]string{"uniform"})
	out.MinPerformance = valueRange(w, "min_performance", Range[bourse.Performance]{bourse.Unit / 2, bourse.Unit})
	out.MaxPrice = w.shareRange("max_price", Range[Thousandths]{One, 2 * One}, 1, 1000*One)
	out.Deadline = w.span("deadline", horizon, bourse.Second)
	out.Flexible = valueRange(w, "flexible", Range[bourse.Duration]{})
	out.Fix, out.Alternatives = w.share("fix", One, 0, One), w.share("alternatives", 0, 0, 100*One)
	if out.Trace != "" {
		out.Jobs = w.whole("jobs", 0, 1, maxJobs)
		out.Skip = w.whole("skip", 0, 0, 1_000_000_000)
		out.Partition = w.whole("partition", 0, 1, 1_000_000)
		w.only("with a model", "nodes", "length")
	} else {
		w.need("jobs", "200")
		out.Jobs = w.whole("jobs", 1, 1, maxJobs)
		out.Nodes, out.Length = w.uniform()
		w.only("with a trace", "skip", "partition")
	}
	w.done()
	return out
}

// source reads the trace or the model, one of which must be given.
func (t *table) source(models []string) (trace, model string) {
	switch {
	case t.has("trace") && t.has("model"):
		t.wrong("model", "a workload is of a trace or of a model, not both")
	case t.has("trace"):
		if t.text("trace", "") == "" && t.clean("trace") {
			t.wrong("trace", "is empty; the name of a trace file is wanted")
		}
	case t.has("model"):
		return "", t.oneOf("model", models[0], models, nil)
	default:
		t.wrong("model", "missing; write trace = \"FILE.swf.gz\" or model = %q", models[0])
		return "", models[0]
	}
	return t.text("trace", "trace"), ""
}

// only refuses keys that have no meaning here.
func (t *table) only(where string, keys ...string) {
	for _, k := range keys {
		if t.has(k) {
			t.wrong(k, "has a meaning only %s; leave the key out", where)
		}
	}
}

// days reads a number of days above 0.
func (t *table) days(def bourse.Duration) bourse.Duration {
	if n := t.share("days", 0, 1, 100_000*One); n > 0 {
		return bourse.Duration(n) * bourse.Day / bourse.Duration(One)
	}
	return def
}

// uniform reads the ranges of the uniform model.
func (t *table) uniform() (Range[int], Range[bourse.Duration]) {
	nodes := Range[int]{1, 16}
	if p, lo, hi, ok := t.pair("nodes"); ok {
		nodes.Lo = t.wholeAt(p.at(0), lo, 1, 1, maxNodes)
		nodes.Hi = t.wholeAt(p.at(1), hi, 16, 1, maxNodes)
		if t.clean("nodes") && nodes.Lo > nodes.Hi {
			t.wrong("nodes", "%d..%d runs backwards; write the smaller number first", nodes.Lo, nodes.Hi)
		}
	}
	length := valueRange(t, "length", Range[bourse.Duration]{10 * bourse.Minute, 4 * bourse.Hour})
	if t.clean("length") && length.Lo <= 0 {
		t.wrong("length", "starts at 0; a length above 0 is wanted")
	}
	return nodes, length
}

// pair returns the two elements of an array, if the key is given and has two.
func (t *table) pair(key string) (p path, lo, hi any, ok bool) {
	v, given := t.take(key)
	if !given {
		return "", nil, nil, false
	}
	list, array := v.([]any)
	if !array || len(list) != 2 {
		t.wrong(key, "a range is wanted, two values in brackets: [least, most]")
		return "", nil, nil, false
	}
	return t.path.key(key), list[0], list[1], true
}

// valueRange reads a range of values of the vocabulary.
func valueRange[T ~int64, P fromTOML[T]](t *table, key string, def Range[T]) Range[T] {
	p, lo, hi, ok := t.pair(key)
	if !ok {
		return def
	}
	r := Range[T]{element[T, P](t, p.at(0), lo, def.Lo), element[T, P](t, p.at(1), hi, def.Hi)}
	if t.clean(key) && r.Lo > r.Hi {
		t.wrong(key, "%v..%v runs backwards; write the smaller value first", lo, hi)
	}
	return r
}

// shareRange reads a range of factors within least..most.
func (t *table) shareRange(key string, def Range[Thousandths], least, most Thousandths) Range[Thousandths] {
	p, lo, hi, ok := t.pair(key)
	if !ok {
		return def
	}
	r := Range[Thousandths]{t.shareAt(p.at(0), lo, def.Lo, least, most), t.shareAt(p.at(1), hi, def.Hi, least, most)}
	if t.clean(key) && r.Lo > r.Hi {
		t.wrong(key, "%v..%v runs backwards; write the smaller number first", lo, hi)
	}
	return r
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
			m.wrong(k, "%q is not a queue number of a trace; a whole number from 0 is wanted", k)
			continue
		}
		if name := m.text(k, ""); m.clean(k) {
			out[n] = m.queueNamed(m.path.key(k), name, queues)
		}
	}
	return out
}
