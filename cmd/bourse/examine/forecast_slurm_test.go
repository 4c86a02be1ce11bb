package examine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/grid"
)

// ruledLook is a snapshot that keeps what Slurm goes by: a job runs on one of two nodes, an array of
// a hundred tasks lets one run at a time, and a job waits for the array's user, who has reached a limit
// of the QOS.
func ruledLook(t *testing.T) string {
	t.Helper()
	const at = grid.Time(1_795_000_000_000)
	look := &grid.Look{At: at, Source: "slurm 22.05.8", Rules: &grid.ManagerRules{
		Config:     "AccountingStorageEnforce = associations,limits,qos\nPriorityType = priority/basic\nSchedulerType = sched/backfill\n",
		Partitions: "PartitionName=batch Nodes=n[1-2] MaxTime=1-00:00:00 State=UP TotalCPUs=2 TotalNodes=2\n",
		QOS:        "Name|GrpJobs|\nsmall|1|\n",
	}}
	for _, n := range []string{"n1", "n2"} {
		look.Nodes = append(look.Nodes, grid.ManagedNode{Name: n, State: grid.NodeUp, CPUs: 1, Partitions: []string{"batch"}})
	}
	job := grid.ManagedJob{User: "ann", State: grid.ManagedPending, Partition: "batch", Count: 1, Limit: grid.Hour, Submit: at - 60_000, Priority: 1000}
	runs := job
	runs.Number, runs.State, runs.Start, runs.Nodes, runs.QOS = "5_0", grid.ManagedRunning, at-60_000, []string{"n1"}, "small"
	look.Jobs = append(look.Jobs, runs)
	for task := 1; task <= 100; task++ {
		one := job
		one.Number, one.Why, one.Throttle = fmt.Sprintf("5_%d", task), "JobArrayTaskLimit", 1
		look.Jobs = append(look.Jobs, one)
	}
	limited := job
	limited.Number, limited.State, limited.Why, limited.QOS, limited.Priority = "6", grid.ManagedHeld, "QOSGrpJobsLimit", "small", 900
	look.Jobs = append(look.Jobs, limited)
	var text bytes.Buffer
	if err := input.WriteLook(&text, look); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "now.json")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A hundred tasks that may run one at a time are in nobody's way: the new job starts at once, where
// without the rules of the array it would wait for days; and each of the others says what it waits for.
func TestForecast_AThrottledArrayIsInNobodysWay(t *testing.T) {
	t.Parallel()
	file := ruledLook(t)
	ask := func(f forecasting) (out, messages bytes.Buffer, err error) {
		f.duration, f.priority, f.draws, f.level = grid.Hour, "last", 20, 80
		err = f.run(context.Background(), []string{file}, nil, &out, &messages)
		return out, messages, err
	}
	out, messages, err := ask(forecasting{nodes: 1, json: true})
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Policy   string
		At       float64
		Limits   float64
		Waits    map[string]int
		Forecast struct{ StartsNow bool }
		Queue    []struct {
			Job, Why string
			Start    *float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	if a.Policy != "slurm" || !a.Forecast.StartsNow || a.Limits > a.At+60 || a.Waits["JobArrayTaskLimit"] != 100 || a.Waits["QOSLimit"] != 1 || len(a.Waits) != 2 {
		t.Errorf("%s\n%s", &out, &messages)
	}
	if q := a.Queue; len(q) != 101 || q[0].Job != "5_1" || *q[0].Start < a.At+59*60-1 || *q[0].Start > a.At+60*60 || *q[1].Start < *q[0].Start+3600 || q[100].Why != "QOSLimit" || *q[100].Start > a.At+60*60 {
		t.Errorf("the queue is %v", q)
	}
	if out, _, err = ask(forecasting{nodes: 2}); err != nil { // one node has a job for 59 min
		t.Fatal(err)
	}
	for _, want := range []string{"policy slurm", "5_1 and 99 more", "JobArrayTaskLimit 100, QOSLimit 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, &out)
		}
	}
	reserving := &flags.Replayed{Policy: livePolicy()}
	if out, _, err = ask(forecasting{nodes: 1, policy: reserving, json: true}); err != nil || !strings.Contains(out.String(), `"waits": null`) {
		t.Errorf("by %v: %v, %s", reserving, err, &out)
	}
}

// A kind of nodes has no queue of its own by Slurm's rules: asked for by name that is an error, else
// the queue is served as before.
func TestForecast_AKindOfNodesIsNotServedBySlurmsRules(t *testing.T) {
	t.Parallel()
	file := ruledLook(t)
	f := forecasting{nodes: 1, duration: grid.Hour, priority: "last", draws: 20, level: 80, policy: &flags.Replayed{Slurm: true}}
	f.group = "batch"
	if err := f.run(context.Background(), []string{file}, nil, &bytes.Buffer{}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "--group does not go with Slurm's own rules") {
		t.Errorf("%v", err)
	}
}

// A window on both nodes delays the next task of the array and the job at the limit of its QOS, which
// would begin in an hour, and none of the tasks behind: they would not start anyway. By the rules of
// before, a window on one node is in the way of a hundred jobs.
func TestQuote_ByTheDelaysOfSlurmsRules(t *testing.T) {
	t.Parallel()
	file := ruledLook(t)
	ask := func(q quote) (out bytes.Buffer, err error) {
		q.duration, q.price, q.json = grid.Hour, grid.Price(grid.Credit), true
		q.given = func(string) bool { return false }
		err = q.run(context.Background(), []string{file}, &out)
		return out, err
	}
	type offers struct {
		Offers []struct {
			Start    float64
			Feasible bool
			Additive *float64
			Reason   string
			Delayed  []struct {
				Job string
				By  float64
			}
		}
		Waits map[string]int
		Queue []struct{ Job, Why string }
	}
	read := func(q quote) (a offers) {
		t.Helper()
		out, err := ask(q)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &a); err != nil || len(a.Offers) == 0 {
			t.Fatalf("%v: %s", err, &out)
		}
		return a
	}
	one := read(quote{nodes: 1}).Offers[0]
	// The array goes on on the other node, and the other job begins when the window ends, a minute later.
	if !one.Feasible || len(one.Delayed) != 1 || one.Delayed[0].Job != "6" || one.Delayed[0].By > 90 || *one.Additive != one.Delayed[0].By {
		t.Errorf("one idle node: %+v", one)
	}
	two := read(quote{nodes: 2})
	if two.Waits["JobArrayTaskLimit"] != 100 || two.Waits["QOSLimit"] != 1 || len(two.Waits) != 2 || len(two.Queue) < 101 {
		t.Errorf("they wait for %v, %d in all", two.Waits, len(two.Queue))
	}
	if two.Offers[0].Feasible || two.Offers[0].Reason == "" {
		t.Errorf("two nodes, of which one has a job: %+v", two.Offers[0])
	}
	for _, o := range two.Offers {
		if !o.Feasible {
			continue
		}
		delayed := map[string]bool{}
		for _, x := range o.Delayed {
			delayed[x.Job] = true
		}
		if !delayed["5_1"] || !delayed["6"] || *o.Additive < 2*3500 {
			t.Errorf("both nodes once the job has ended: %+v", o)
		}
		return
	}
	t.Errorf("no offer of two nodes: %+v", two)
}

// Where nobody asks for Slurm's own rules, more than mostWaiting jobs that could start are too many, and the
// tasks that a throttle keeps do not count.
func TestForecast_SlurmsRulesAreLeftOutWhereManyWait(t *testing.T) {
	t.Parallel()
	look, err := input.ReadLook(ruledLook(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	one := look.Jobs[1]
	one.Throttle = 0
	for k := range mostWaiting - 1 { // beside a task of the array
		one.Number = fmt.Sprint(1000 + k)
		look.Jobs = append(look.Jobs, one)
	}
	choose := func(f *forecasting) (*liveQueue, string) {
		t.Helper()
		q, err := f.queue(look, livePolicy())
		if err != nil {
			t.Fatal(err)
		}
		f.nodes, f.duration, f.priority = 1, grid.Hour, "last"
		var messages bytes.Buffer
		if err := f.chooseRules(q, &messages); err != nil {
			t.Fatal(err)
		}
		return q, messages.String()
	}
	look.Jobs = look.Jobs[:len(look.Jobs)-1] // one less: with the one at the limit of its QOS there are as many as may
	if q, said := choose(&forecasting{}); q.twin == nil || said != "" {
		t.Errorf("as many wait as may: %q", said)
	}
	one.Number = "2000"
	look.Jobs = append(look.Jobs, one)
	if q, said := choose(&forecasting{}); q.twin != nil || !strings.Contains(said, "not by Slurm's own rules, but by reserve=100: 201 jobs wait") {
		t.Errorf("one more waits: %q", said)
	}
	if q, said := choose(&forecasting{policy: &flags.Replayed{Slurm: true}}); q.twin == nil || said != "" {
		t.Errorf("asked for: %q", said)
	}
}
