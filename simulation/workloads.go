package simulation

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

// Workloads draws and reads the jobs of scenarios. A trace is read once and
// shared by all seeds. It is safe for concurrent use.
type Workloads struct {
	mu      sync.Mutex
	traces  map[traceKey]*traceEntry
	ignored map[string]string // by broker: that its jobs have work which is not run
}

type traceKey struct {
	file string
	skip int
	zone string // of times that name none
}

// keyOf is the key of a trace. A nil zone is UTC.
func keyOf(file string, skip int, zone *time.Location) traceKey {
	return traceKey{file, skip, zone.String()}
}

type traceEntry struct {
	once  sync.Once
	trace *workload.Trace
	parts map[int64]*workload.Trace // by partition
	err   error
}

// NewWorkloads returns a Workloads that has read nothing yet.
func NewWorkloads() *Workloads {
	return &Workloads{traces: map[traceKey]*traceEntry{}, ignored: map[string]string{}}
}

// Put makes a trace that was read elsewhere stand for its file.
func (l *Workloads) Put(t *workload.Trace) {
	e := &traceEntry{}
	e.once.Do(func() { e.trace = t })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.traces[keyOf(t.Name, 0, nil)] = e
}

// trace returns a trace, or one partition of it.
func (l *Workloads) trace(file string, skip, partition int, zone *time.Location) (*workload.Trace, error) {
	key := keyOf(file, skip, zone)
	l.mu.Lock()
	e := l.traces[key]
	if e == nil {
		e = &traceEntry{}
		l.traces[key] = e
	}
	l.mu.Unlock()
	e.once.Do(func() {
		e.trace, e.err = workload.Open(file, workload.Options{Skip: skip, Zone: zone})
		if e.err != nil {
			return
		}
		if why := e.trace.Useless(); why != "" {
			e.err = fmt.Errorf("%s: %s", file, why)
			return
		}
		e.parts = map[int64]*workload.Trace{}
		for _, p := range e.trace.Partitions() {
			e.parts[p.Number] = p.Trace
		}
	})
	switch {
	case e.err != nil:
		return nil, e.err
	case partition == 0:
		return e.trace, nil
	case e.parts[int64(partition)] == nil:
		return nil, fmt.Errorf("%s has no records of partition %d; %s", file, partition, partitionsWith(e.parts))
	}
	return e.parts[int64(partition)], nil
}

// partitionsWith says which partitions have records.
func partitionsWith(parts map[int64]*workload.Trace) string {
	const most = 10
	numbers := slices.Sorted(maps.Keys(parts))
	numbers = slices.DeleteFunc(numbers, func(n int64) bool { return n <= 0 }) // not known
	if len(numbers) == 0 {
		return "it names none: leave partition out"
	}
	list := make([]string, min(most, len(numbers)))
	for i := range list {
		list[i] = strconv.FormatInt(numbers[i], 10)
	}
	more := ""
	if len(numbers) > most {
		more = fmt.Sprintf(" and %d more", len(numbers)-most)
	}
	return "name one that has: " + strings.Join(list, ", ") + more + "; or leave the site out"
}

// Remarks returns, in lines for display, what was repaired in the traces read so far, in
// order of their names, and which brokers' jobs have work that is not run.
func (l *Workloads) Remarks() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(l.traces), func(a, b traceKey) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.skip, b.skip))
	})
	var traces []*workload.Trace
	for _, k := range keys {
		if e := l.traces[k]; e.trace != nil {
			traces = append(traces, e.trace)
		}
	}
	lines := remarksOf(traces)
	for _, broker := range slices.Sorted(maps.Keys(l.ignored)) {
		lines = append(lines, l.ignored[broker])
	}
	return lines
}

// remarksOf returns the remarks on traces, each of them once: a table that is read in
// several ways has one set of columns, and many files have the same columns.
func remarksOf(traces []*workload.Trace) (lines []string) {
	first := map[string]string{} // by note: the first file that has it
	like := map[string][]string{}
	for _, t := range traces {
		for _, line := range t.Remarks() {
			note := strings.TrimPrefix(line, t.Name+": ") // a remark on a line of the file stays whole
			said, again := first[note]
			switch {
			case !again:
				first[note] = t.Name
				lines = append(lines, line)
			case said != t.Name && !slices.Contains(like[said], t.Name):
				like[said] = append(like[said], t.Name)
			}
		}
	}
	for _, said := range slices.Sorted(maps.Keys(like)) {
		names, more := like[said], ""
		if n := len(names) - 3; n > 0 {
			names, more = names[:3], fmt.Sprintf(" and %d more", n)
		}
		lines = append(lines, fmt.Sprintf("%s%s: else as %s", strings.Join(names, ", "), more, said))
	}
	return lines
}

// SeedOf returns the seed of one owner's draws under a run's seed.
func SeedOf(seed uint64, owner string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, owner)
	return h.Sum64()
}

// Local returns a site's own jobs in order of submit, from the scenario's zero.
func (l *Workloads) Local(s *configs.Site, seed uint64) ([]grid.LocalJob, error) {
	w := s.Workload
	if w == nil {
		return nil, nil
	}
	seed = SeedOf(seed, "site "+s.Name)
	switch {
	case w.Trace != "":
		jobs, _, err := l.localTrace(w, seed)
		return jobs, err
	case w.Model == "uniform":
		return uniform(w, seed)
	}
	jobs, err := lublinOf(w, seed).Until(w.Days)
	if w.Jobs > 0 && len(jobs) > w.Jobs {
		jobs = jobs[:w.Jobs]
	}
	return jobs, err
}

func lublinOf(w *configs.Workload, seed uint64) workload.Lublin {
	return workload.Lublin{Nodes: w.Processors, Load: w.Load.Float(), Seed: seed}
}

func uniformOf(w *configs.Workload, seed uint64) workload.Uniform {
	return workload.Uniform{Nodes: w.Processors, Load: w.Load.Float(), Seed: seed, MinNodes: w.Nodes.Lo,
		MaxNodes: min(w.Nodes.Hi, w.Processors), MinRun: w.Length.Lo, MaxRun: w.Length.Hi}
}

func uniform(w *configs.Workload, seed uint64) ([]grid.LocalJob, error) {
	m := uniformOf(w, seed)
	if w.Load == 0 {
		return m.Over(w.Jobs, w.Days)
	}
	jobs, err := m.Until(w.Days)
	if w.Jobs > 0 && len(jobs) > w.Jobs {
		jobs = jobs[:w.Jobs]
	}
	return jobs, err
}

// localTrace returns the jobs of a trace, and how they fared on its machine.
func (l *Workloads) localTrace(w *configs.Workload, seed uint64) ([]grid.LocalJob, workload.Logged, error) {
	t, err := l.trace(w.Trace, w.Skip, w.Partition, w.Zone)
	if err != nil {
		return nil, workload.Logged{}, err
	}
	jobs, tally := t.Jobs(workload.JobOptions{Span: w.Days, KeepZero: w.NeverRan == "zero", Extend: true})
	jobs = slices.Clone(jobs)
	shift(jobs, t.Zero())
	for i := range jobs {
		jobs[i].Queue = w.Queues[jobs[i].Queue]
	}
	if w.Copy == 0 {
		return jobs, tally.Logged, nil
	}
	jobs, err = workload.Copy(jobs, w.Copy.Float(), rand.New(rand.NewPCG(seed, 0)))
	return jobs, workload.Logged{}, err // the log says nothing of a load that was raised
}

// shift moves the trace's zero to the scenario's zero, so that the workloads of several
// partitions of one log stay in step.
func shift(jobs []grid.LocalJob, zero grid.Time) {
	for i := range jobs {
		jobs[i].Submit -= zero
	}
}

// vo returns a broker's jobs in order of submit.
func (l *Workloads) vo(b *configs.Broker, mean grid.Price, seed uint64) ([]grid.Job, error) {
	if b.Workload == nil {
		if said := b.Ignored(); said != "" {
			l.mu.Lock()
			l.ignored[b.Name] = said
			l.mu.Unlock()
		}
		return batch(b.Jobs, SeedOf(seed, "failures "+b.Name)), nil
	}
	w := b.Workload
	terms := workload.Terms{
		MinPerformance: w.MinPerformance.Lo, MaxPerformance: w.MinPerformance.Hi,
		MeanPrice: mean, PriceFrom: w.MaxPrice.Lo.Float(), PriceTo: w.MaxPrice.Hi.Float(),
		Horizon: w.Deadline, Seed: SeedOf(seed, "broker "+b.Name),
	}
	loose := func(jobs []grid.Job, err error) ([]grid.Job, error) {
		loosen(w, jobs, SeedOf(seed, "flexible "+b.Name))
		ahead(w, jobs)
		shorten(w, jobs, SeedOf(seed, "run "+b.Name))
		fail(w, jobs, SeedOf(seed, "failures "+b.Name))
		coallocate(w, jobs, SeedOf(seed, "coallocation "+b.Name))
		compose(w, jobs, SeedOf(seed, "parts "+b.Name))
		return jobs, err
	}
	if w.Model == "gpus" {
		return loose(workload.GPUs{Terms: terms, Count: w.Jobs, Until: w.Days, PerNode: w.GPUs, Cores: w.Cores, Uneven: w.Uneven.Float(),
			MinLength: w.Length.Lo, MaxLength: w.Length.Hi}.Jobs())
	}
	if w.Trace == "" {
		return loose(workload.VO{Terms: terms, Count: w.Jobs, Until: w.Days, MinNodes: w.Nodes.Lo, MaxNodes: w.Nodes.Hi,
			MinLength: w.Length.Lo, MaxLength: w.Length.Hi}.Jobs())
	}
	t, err := l.trace(w.Trace, w.Skip, w.Partition, w.Zone)
	if err != nil {
		return nil, err
	}
	if w.Cores > 0 {
		return loose(t.PartedJobs(terms, workload.JobOptions{Span: w.Days}, w.Jobs, workload.Node{Cores: w.Cores, GPUs: w.GPUs}))
	}
	local, _ := t.Jobs(workload.JobOptions{Span: w.Days})
	local = slices.Clone(local)
	shift(local, t.Zero())
	if w.Jobs > 0 && len(local) > w.Jobs {
		local = local[:w.Jobs]
	}
	return loose(terms.Jobs(local))
}

// batch turns the jobs of a file into jobs in order of submit. Jobs of one instant keep the
// order of the file. Their work is left out. seed is that of the draws which of them fail.
func batch(list []configs.Job, seed uint64) []grid.Job {
	jobs := make([]grid.Job, len(list))
	draws := newFailures(seed)
	for i := range list {
		jobs[i] = list[i].At(grid.Time(list[i].Submit), time.Time{})
		jobs[i].Work = nil
		draws.next(&jobs[i], list[i].Fails, list[i].FailsAfter)
	}
	slices.SortStableFunc(jobs, func(a, b grid.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return jobs
}
