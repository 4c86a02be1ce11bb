package broker

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// arrayOf makes a job an array.
func arrayOf(t interface{ Fatalf(string, ...any) }, j grid.Job, text string) grid.Job {
	a, err := grid.ParseArray(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	j.Array = a
	return j
}

// each makes an array come after another one, element by element.
func each(j grid.Job, name string) grid.Job {
	j.After = append(j.After, grid.Dependencies(grid.IfEach, name)...)
	return j
}

// tallyOf is how many of an array's elements are in each state.
func (w *testWorld) tallyOf(name string) string { return grid.Tally(w.job(name).Elements) }

// asker hands on what it is told to, and keeps the answers.
type asker struct{ w *testWorld }

func (a asker) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if m, ok := m.(later); ok {
		out.Send(m.to, m.m)
		return
	}
	recorder(a).Step(now, from, m, out)
}

// most watches how many elements of an array are in play, and returns the most so far.
func (w *testWorld) most(name string) *int {
	most := new(int)
	w.After(func(grid.Time, agents.ID, *agents.Outbox) {
		if j := w.b.mem.Names[name]; j != nil {
			n := 0
			for _, e := range j.Array.Elements {
				if e.State.Open() {
					n++
				}
			}
			if n != j.Array.InPlay() {
				w.t.Fatalf("%s has %d elements in play and counts %d", name, n, j.Array.InPlay())
			}
			*most = max(*most, n)
		}
	})
	return most
}

func TestArray_EachElementRunsOnce(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(north), north)
	w.submit(0, arrayOf(t, testJob("a", 1, 100*grid.Second, grid.Credit), "0-9,20"))
	w.Run(500)
	if got := w.tallyOf("a"); got != "11 placed" {
		t.Errorf("%s", got)
	}
	w.finish(t, 5000*sec)
	if v := w.job("a"); v.State != grid.JobDone || w.tallyOf("a") != "11 done" {
		t.Errorf("a is %v: %s, %v", v.State, w.tallyOf("a"), v.Reason)
	}
	runs := map[string]int{}
	for _, f := range only[facts.TxDecided](w) {
		if f.Commit {
			runs[f.Job]++
		}
	}
	for _, i := range []int{0, 1, 9, 20} {
		if runs[grid.ElementName("a", i)] != 1 {
			t.Errorf("a[%d] has %d windows", i, runs[grid.ElementName("a", i)])
		}
	}
	if len(runs) != 11 || len(only[facts.JobSubmitted](w)) != 1 || len(only[facts.ArrayOver](w)) != 1 {
		t.Errorf("%v", runs)
	}
}

func TestArray_NoMoreAtOnceThanItsThrottle(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 8, 0)
	w := newTestWorld(t, testConfig(north), north)
	most := w.most("a")
	w.submit(0, arrayOf(t, testJob("a", 1, 100*grid.Second, grid.Credit), "0-9%3"))
	w.finish(t, 8000*sec)
	if got := w.tallyOf("a"); got != "10 done" || *most != 3 {
		t.Errorf("%s, at most %d in play at once", got, *most)
	}
}

// A user who may have five jobs waiting has no more of an array in the queue.
func TestArray_ElementsInPlayCountAgainstBounds(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 1, 0)
	cfg := testConfig(north)
	cfg.MaxWaiting, cfg.Horizon = 5, 1000*grid.Second
	w := newTestWorld(t, cfg, north)
	w.submit(0, arrayOf(t, testJob("a", 1, 900*grid.Second, grid.Credit), "0-19"))
	for at := grid.Time(0); at < 5000*sec; at += 500 * sec {
		w.Run(at)
		if n := w.b.mem.Queue.Of(""); n > 5 {
			t.Fatalf("%d wait", n)
		}
	}
	w.check.rest()
	if n := w.job("a").Elements; n[grid.JobDone] < 4 || n[grid.JobWaiting] < 10 {
		t.Errorf("%s", w.tallyOf("a"))
	}
}

// alike is so many jobs alike, and the grid that they are given to at once.
type alike struct {
	elements, batch, cycles, nodes int
	length                         grid.Duration
	sites                          []int
}

// starts runs the jobs, given singly or as an array, and returns when their windows start, in
// order of submission. All of them get one.
func (x *alike) starts(t interface{ Fatalf(string, ...any) }, singly bool) []grid.Time {
	var sites []*fakeSite
	for i, size := range x.sites {
		sites = append(sites, newFakeSite(fmt.Sprintf("s%d", i), size, 0))
	}
	cfg := testConfig(sites...)
	cfg.BatchSize, cfg.MaxCycles = x.batch, x.cycles
	w := newTestWorld(t, cfg, sites...)
	one := testJob("a", x.nodes, x.length, grid.Credit)
	if !singly {
		w.submit(0, arrayOf(t, one, fmt.Sprintf("0-%d", x.elements-1)))
	}
	var names []string
	for i := range x.elements {
		names = append(names, grid.ElementName("a", i))
		if singly {
			one.Name = fmt.Sprintf("a%d", i)
			names[i] = one.Name
			w.submit(0, one)
		}
	}
	w.Run(60_000 * sec)
	w.check.rest()
	var list []grid.Time
	for _, name := range names {
		list = append(list, w.window(name).Start)
	}
	return list
}

// compare holds an array to its promise: its windows begin when those of single jobs do, one by
// one if one firing looks at all jobs, otherwise taken together. Single jobs that a firing did not
// come to are next, ahead of those that found nothing; so the last may get an earlier window than
// one before it, while of an array few wait and the others begin in order. It makes no difference
// to jobs alike. Nor is it promised which of several sites alike they get: ties are drawn anew for
// each cycle, and an array of which fewer wait needs fewer cycles.
func (x *alike) compare(t interface{ Fatalf(string, ...any) }) {
	array, single := x.starts(t, false), x.starts(t, true)
	if x.elements > x.cycles*x.batch {
		slices.Sort(array)
		slices.Sort(single)
	}
	for i := range array {
		if array[i] != single[i] {
			t.Fatalf("the elements start at %v, and single jobs at %v", array, single)
		}
	}
}

// An array waits for its turn as so many single jobs do.
func TestArray_HasTheWindowsOfSingleJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		(&alike{
			elements: rapid.IntRange(1, 10).Draw(t, "elements"),
			batch:    rapid.IntRange(1, 12).Draw(t, "batch"),
			cycles:   rapid.IntRange(1, 10).Draw(t, "cycles"),
			nodes:    rapid.IntRange(1, 4).Draw(t, "nodes"),
			length:   grid.Duration(rapid.IntRange(1, 30).Draw(t, "length")) * 100 * grid.Second,
			sites:    rapid.SliceOfN(rapid.IntRange(4, 8), 1, 3).Draw(t, "sites"),
		}).compare(t)
	})
}

// Three of eight jobs get windows at once. The next firing comes to four of the other five, in
// vain, and the one after that to the fifth, which of single jobs has the fourth window.
func TestArray_KeepsItsOrderWhereSingleJobsTakeTurns(t *testing.T) {
	t.Parallel()
	x := alike{elements: 8, batch: 1, cycles: 4, nodes: 3, length: 3000 * grid.Second, sites: []int{4}}
	x.compare(t)
	if at := x.starts(t, false); !slices.IsSorted(at) {
		t.Errorf("the elements start at %v", at)
	}
	if at := x.starts(t, true); at[7] != 9000*sec || at[3] != 12_000*sec {
		t.Errorf("the single jobs start at %v", at)
	}
}

// Of ten jobs the last two find nothing at first. Of an array only one of them is a job meanwhile,
// which takes fewer cycles, so that a tie between the sites is drawn otherwise.
func TestArray_HasTheTimesOfSingleJobsWhereTiesAreDrawnOtherwise(t *testing.T) {
	t.Parallel()
	(&alike{elements: 10, batch: 1, cycles: 10, nodes: 4, length: 2500 * grid.Second, sites: []int{5, 5}}).compare(t)
}

func TestArray_IsCancelledInPart(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(north), north)
	w.submit(0, arrayOf(t, testJob("a", 1, 500*grid.Second, grid.Credit), "0-9%4"))
	cancel := func(at grid.Time, word string) { w.Post(at, "broker:vo1", agents.JobCancel{Job: word}) }
	cancel(100*sec, "a[3-5]") // 3 has a window, 4 and 5 have not begun
	w.Run(200 * sec)
	for i, want := range []grid.JobState{grid.JobPlaced, grid.JobPlaced, grid.JobPlaced, grid.JobWithdrawn, grid.JobWithdrawn, grid.JobWithdrawn} {
		if v := w.job(grid.ElementName("a", i)); v.State.Open() != want.Open() || v.State.GivenUp() != want.GivenUp() {
			t.Errorf("a[%d] is %v, want %v", i, v.State, want)
		}
	}
	w.finish(t, 8000*sec)
	if v := w.job("a"); v.State != grid.JobWithdrawn || w.tallyOf("a") != "7 done, 3 withdrawn" || !strings.Contains(v.Reason.String(), "a[") {
		t.Errorf("a is %v: %s; %v", v.State, w.tallyOf("a"), v.Reason)
	}
}

func TestArray_IsCancelledAsAWhole(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 4, 3_600_000)
	w := newTestWorld(t, testConfig(north), north)
	w.submit(0, arrayOf(t, testJob("a", 1, 500*grid.Second, grid.Credit), "0-9%4"))
	w.Add("asker", asker{w})
	w.Post(100*sec, "asker", later{"broker:vo1", agents.JobCancel{Job: "a"}})
	w.finish(t, 8000*sec)
	if v := w.job("a"); v.State != grid.JobWithdrawn || w.tallyOf("a") != "10 withdrawn" {
		t.Errorf("a is %v: %s", v.State, w.tallyOf("a"))
	}
	if len(w.client) != 1 {
		t.Fatalf("the user is answered %v", w.client)
	}
	if r := w.client[0].(agents.JobReply); r.Job != "a" || r.Reason.Refused() {
		t.Errorf("the user is answered %+v", r)
	}
	if n := len(only[facts.ElementsBegun](w)); n != 1 {
		t.Errorf("elements began %d times", n)
	}
}

// A job after an array runs when every element has succeeded; one element that has not is
// enough to give it up, at once.
func TestArray_AJobAfterItWaitsForAll(t *testing.T) {
	t.Parallel()
	for _, cancelled := range []bool{false, true} {
		north := newFakeSite("north", 4, 0)
		w := newTestWorld(t, testConfig(north), north)
		w.submit(0, arrayOf(t, testJob("a", 1, 500*grid.Second, grid.Credit), "0-9%4"),
			after(testJob("b", 1, 100*grid.Second, grid.Credit), 0, "a"))
		if cancelled {
			w.Post(100*sec, "broker:vo1", agents.JobCancel{Job: "a[9]"})
		}
		w.Run(200 * sec)
		if v := w.job("b"); cancelled != (v.State == grid.JobAbandoned) || !cancelled && v.State != grid.JobWaiting {
			t.Errorf("cancelled %t: b is %v: %v", cancelled, v.State, v.Reason)
		}
		w.finish(t, 9000*sec)
		if v := w.job("b"); !cancelled {
			var last grid.Time
			for i := range 10 {
				last = max(last, w.window(grid.ElementName("a", i)).End)
			}
			if v.State != grid.JobDone || w.window("b").Start < last {
				t.Errorf("b is %v from %v on, a ends at %v", v.State, w.window("b").Start, last)
			}
		}
	}
}

func TestArray_AfterEachGoesElementByElement(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(north), north)
	w.submit(0, arrayOf(t, testJob("a", 1, 500*grid.Second, grid.Credit), "0-7%4"),
		each(arrayOf(t, testJob("b", 1, 100*grid.Second, grid.Credit), "0-7"), "a"))
	w.Post(100*sec, "broker:vo1", agents.JobCancel{Job: "a[2]"})
	w.Post(100*sec, "broker:vo1", agents.JobCancel{Job: "a[7]"})
	w.finish(t, 9000*sec)
	if got, want := w.tallyOf("b"), "6 done, 2 abandoned"; got != want || w.job("b").State != grid.JobAbandoned {
		t.Errorf("b: %s, want %s; %v %v", got, want, w.job("b").State, w.job("b").Reason)
	}
	for _, i := range []int{0, 1, 3, 4, 5, 6} {
		if a, b := w.window(grid.ElementName("a", i)), w.window(grid.ElementName("b", i)); b.Start < a.End {
			t.Errorf("b[%d] starts at %v, a[%d] ends at %v", i, b.Start, i, a.End)
		}
	}
}

func TestArray_IsRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(north), north)
	a := arrayOf(t, testJob("a", 1, 500*grid.Second, grid.Credit), "0-9")
	huge := testJob("huge", 1, 500*grid.Second, grid.Credit)
	huge.Array.Indices = grid.Ranges{{First: 0, Last: 999_999_999}}
	w.submit(0, a, huge, testJob("a[3]", 1, 500*grid.Second, grid.Credit), testJob("x[12]", 1, 500*grid.Second, grid.Credit),
		each(testJob("single", 1, 500*grid.Second, grid.Credit), "a"),
		each(arrayOf(t, testJob("b", 1, 500*grid.Second, grid.Credit), "0-8"), "a"))
	w.Run(0)
	words := map[string]string{}
	for _, f := range only[facts.SubmissionRefused](w) {
		words[f.Job] = f.Reason.String()
	}
	for name, want := range map[string]string{"huge": "at most 100000: submit several", "x[12]": "choose a name", "single": "write after = [", "b": "0-9 and not 0-8"} {
		if !strings.Contains(words[name], want) {
			t.Errorf("%s: %q, want %q", name, words[name], want)
		}
	}
}

// A broker that replays the facts, or an image taken at any instant and the facts since, is
// the same broker.
func TestArray_FactsAndImagesGiveTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		north := newFakeSite("north", rapid.IntRange(1, 6).Draw(t, "nodes"), 0)
		cfg := testConfig(north)
		cfg.BatchSize = rapid.IntRange(1, 5).Draw(t, "batch")
		w := newTestWorld(t, cfg, north)
		throttle := rapid.SampledFrom([]string{"", "%1", "%3"}).Draw(t, "throttle")
		w.submit(0, arrayOf(t, testJob("a", 1, 700*grid.Second, grid.Credit), "0-8"+throttle), each(arrayOf(t, testJob("b", 1, 100*grid.Second, grid.Credit), "0-8%2"), "a"),
			after(testJob("c", 1, 100*grid.Second, grid.Credit), 0, "b"))
		for range rapid.IntRange(0, 3).Draw(t, "cancels") {
			from := rapid.IntRange(0, 8).Draw(t, "from")
			word := fmt.Sprintf("%s[%d-%d]", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "array"), from, rapid.IntRange(from, 8).Draw(t, "to"))
			w.Post(grid.Time(rapid.IntRange(0, 5000).Draw(t, "when"))*sec, "broker:vo1", agents.JobCancel{Job: word})
		}
		w.Run(grid.Time(rapid.IntRange(0, 9000).Draw(t, "until")) * sec)
		again := New(cfg)
		again.Replay(w.Now(), w.b.Image())
		if got, want := again.Image(), w.b.Image(); !reflect.DeepEqual(got, want) {
			t.Fatalf("an image gives\n%s\nand not\n%s", asJSON(got), asJSON(want))
		}
		for i, j := range w.b.mem.Jobs {
			x := again.mem.Jobs[i]
			if j.Array != nil && (x.Array.InPlay() != j.Array.InPlay() || x.Array.Queued != j.Array.Queued || x.Array.Ended != j.Array.Ended || len(x.Array.Elements) != len(j.Array.Elements) || !reflect.DeepEqual(x.Array.Bought(), j.Array.Bought())) {
				t.Fatalf("%s: %+v and not %+v", j.Name, x.Array, j.Array)
			}
		}
		if got, want := len(again.mem.Arrays), len(w.b.mem.Arrays); got != want || len(w.check.replay.mem.Arrays) != want {
			t.Fatalf("%d arrays are open, want %d", got, want)
		}
		if throttle == "%1" && w.b.mem.Names["a"].Array.InPlay() > 1 {
			t.Fatalf("%d in play", w.b.mem.Names["a"].Array.InPlay())
		}
	})
}

func asJSON(f agents.Fact) string {
	text, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// waitingJobs is a broker with that many jobs that wait: single ones, or the elements of one
// array with those of them in play that a full batch is. It also returns the bytes of the
// facts.
func waitingJobs(n int, array bool) (*Broker, int) {
	b, size := New(Defaults("vo1")), 0
	take := func(f agents.Fact) {
		text, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		size += len(text)
		b.Replay(0, f)
	}
	j := testJob("sweep-k3f9m2q7", 4, grid.Hour, 10*grid.Credit)
	j.User, j.Work = "ana", &grid.Work{Command: []string{"/opt/bin/simulate", "--seed"}}
	j.Origin = grid.Origin{Batch: "b-3f9k2m7q1x5c8v0n", Digest: strings.Repeat("d", 64), Label: "sweep"}
	if array {
		j.Array = grid.Array{Indices: grid.Ranges{{First: 0, Last: n - 1}}}
		take(facts.JobSubmitted{Job: j})
		take(facts.ElementsBegun{Job: j.Name, Elements: j.Array.Indices.First(b.mem.cfg.BatchSize)})
		return b, size
	}
	for i := range n {
		x := j
		x.Name, x.Origin.Label = fmt.Sprintf("sweep%05d-k3f9m2q7", i), fmt.Sprintf("sweep%05d", i)
		x.Work = &grid.Work{Command: []string{"/opt/bin/simulate", "--seed", "1"}}
		take(facts.JobSubmitted{Job: x})
	}
	return b, size
}

// Ten thousand elements take less than a tenth of what ten thousand jobs take. Measured: 1/100
// of the memory and 1/9,000 of the facts. Not parallel, as it measures the whole heap.
func TestMemory_OfAnArray(t *testing.T) {
	const n = 10_000
	measure := func(array bool) (heap, size int) {
		before := inUse()
		b, size := waitingJobs(n, array)
		heap = int(inUse() - before)
		runtime.KeepAlive(b)
		return heap, size
	}
	jobs, jobFacts := measure(false)
	elements, arrayFacts := measure(true)
	t.Logf("%d jobs take %d kB and %d kB of facts, as many elements %d kB and %d bytes of facts", n, jobs>>10, jobFacts>>10, elements>>10, arrayFacts)
	if elements*10 > jobs || arrayFacts*10 > jobFacts {
		t.Errorf("%d jobs take %d bytes and %d of facts, as many elements %d and %d", n, jobs, jobFacts, elements, arrayFacts)
	}
}

// BenchmarkArray is what a broker does to take ten thousand elements or jobs.
func BenchmarkArray(b *testing.B) {
	for _, array := range []bool{true, false} {
		b.Run(fmt.Sprintf("array=%t/elements=10000", array), func(b *testing.B) {
			for b.Loop() {
				before := inUse()
				x, size := waitingJobs(10_000, array)
				b.ReportMetric(float64(inUse()-before)/1e3, "kB")
				b.ReportMetric(float64(size)/1e3, "kB-facts")
				runtime.KeepAlive(x)
			}
		})
	}
}

// The cost of an array's windows stays known when the transactions that bought them are
// forgotten, and through an image.
func TestArray_SaysWhatItsWindowsComeTo(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 1, 36_000)
	cfg := testConfig(north)
	w := newTestWorld(t, cfg, north)
	w.submit(0, arrayOf(t, testJob("a", 1, 100*grid.Second, grid.Credit), "0-2"))
	w.Run(5000 * sec)
	var want grid.Bought
	for i := range 3 {
		for _, x := range w.b.Window(grid.ElementName("a", i)) {
			want.Add(x.Legs[0].Site, x.Legs[0].Start, x.Legs[0].Ended, x.Legs[0].Fare.Total())
		}
	}
	if got := Bought(w.b, "a"); !reflect.DeepEqual(got, want) || want.Cost != 3*grid.Cost(36_000, 100*grid.Second) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	w.Run(30 * grid.Time(grid.Hour))
	if n := len(w.b.mem.Txs.All()); n != 0 {
		t.Fatalf("%d transactions are on record", n)
	}
	again := New(cfg)
	again.Replay(w.Now(), w.b.Image())
	for _, b := range []*Broker{w.b, again} {
		if got := Bought(b, "a"); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
