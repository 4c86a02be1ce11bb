package batsim

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/simulation/driven"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// heard is what a scheduler reads.
type heard struct {
	Now    float64 `json:"now"`
	Events []struct {
		Timestamp float64        `json:"timestamp"`
		Type      string         `json:"type"`
		Data      map[string]any `json:"data"`
	} `json:"events"`
}

// scheduler answers at an endpoint of its own until the test is over.
func scheduler(t *testing.T, answer func(*heard) string) *Peer {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	socket := zmq4.NewRep(ctx)
	if err := socket.Listen("tcp://127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			said, err := socket.Recv()
			if err != nil {
				return
			}
			var h heard
			if err := json.Unmarshal(said.Bytes(), &h); err != nil {
				t.Error(err)
			}
			if text := answer(&h); text != "" && socket.Send(zmq4.NewMsgString(text)) != nil {
				return
			}
		}
	}()
	p, err := Dial("tcp://"+socket.Addr().String(), 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		stop()
		_ = socket.Close()
	})
	return p
}

func execute(at float64, id string, alloc string) string {
	return fmt.Sprintf(`{"timestamp":%v,"type":"EXECUTE_JOB","data":{"job_id":%q,"alloc":%q}}`, at, id, alloc)
}

// FCFS on numbered nodes has the schedule of the policy, though it thinks for half a second each
// time, if the log has no event within it.
func TestRun_FirstComeIsThePolicys(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(400, 16, 0.9, 1)
	for i := range jobs {
		jobs[i].Nodes = min(jobs[i].Nodes, 16)
		jobs[i].Submit = jobs[i].Submit / 1000 * 1000
		jobs[i].Run = jobs[i].Run / 1000 * 1000
		jobs[i].Estimate = max(1000, jobs[i].Estimate/1000*1000)
	}
	want, err := simulation.RunReplay(jobs, simulation.ReplayOptions{Nodes: 16, Policy: backfill.FCFS})
	if err != nil {
		t.Fatal(err)
	}
	type waiting struct {
		id  string
		res int
	}
	var queue []waiting
	taken, has := make([]bool, 16), map[string][]int{}
	kinds := map[string]int{}
	p := scheduler(t, func(h *heard) string {
		for _, e := range h.Events {
			kinds[e.Type]++
			switch id, _ := e.Data["job_id"].(string); e.Type {
			case "JOB_SUBMITTED":
				queue = append(queue, waiting{id, int(e.Data["job"].(map[string]any)["res"].(float64))})
			case "JOB_COMPLETED":
				for _, n := range has[id] {
					taken[n] = false
				}
			}
		}
		var list []string
		for len(queue) > 0 {
			var free []int
			for n := range taken {
				if !taken[n] {
					free = append(free, n)
				}
			}
			if len(free) < queue[0].res {
				break
			}
			q := queue[0]
			queue, has[q.id] = queue[1:], free[len(free)-q.res:]
			for _, n := range has[q.id] {
				taken[n] = true
			}
			list = append(list, execute(h.Now, q.id, strings.Trim(fmt.Sprint(has[q.id]), "[]")))
		}
		return fmt.Sprintf(`{"now":%v,"events":[%s]}`, h.Now, strings.Join(list, ","))
	})
	w, err := driven.New(jobs, 16, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(p, w, 16, "log.swf", func(int64) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.Outcomes(), want.Outcomes) {
		t.Error("another schedule than the policy's")
	}
	if kinds["SIMULATION_BEGINS"] != 1 || kinds["SIMULATION_ENDS"] != 1 || kinds["NOTIFY"] != 1 || kinds["JOB_SUBMITTED"] != 400 || kinds["JOB_COMPLETED"] != 400 {
		t.Errorf("said %v", kinds)
	}
}

// two is a job that runs into its limit and one that comes 2 s later.
func two(t *testing.T) *driven.World {
	t.Helper()
	w, err := driven.New([]grid.LocalJob{{ID: 1, Nodes: 2, Run: 20_000, Estimate: 10_000}, {ID: 2, Nodes: 2, Run: 5000, Estimate: 8000, Submit: 2000}}, 4, false)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A story: thinking, calls, a kill. What the scheduler hears, in its order.
func TestRun_TellsWhatIsDocumented(t *testing.T) {
	t.Parallel()
	var log []string
	answers := []string{
		`{"now":0,"events":[]}`,
		`{"now":1.0004,"events":[` + execute(1.0004, "w0!1", "0 1") + `]}`, // up to the next millisecond
		`{"now":4,"events":[{"timestamp":2.5,"type":"CALL_ME_LATER","data":{"timestamp":6}},` + execute(3, "w0!2", "2-3") + `]}`,
		`{"now":6,"events":[{"timestamp":6,"type":"KILL_JOB","data":{"job_ids":["w0!2"]}}]}`,
	}
	p := scheduler(t, func(h *heard) string {
		line := fmt.Sprint(h.Now)
		for _, e := range h.Events {
			line += " " + e.Type
			for _, key := range []string{"job_id", "job_state", "type", "job_ids"} {
				if x := e.Data[key]; x != nil {
					line += fmt.Sprintf(":%v", x)
				}
			}
		}
		log = append(log, line)
		if n := len(log); n <= len(answers) {
			return answers[n-1]
		}
		return fmt.Sprintf(`{"now":%v,"events":[]}`, h.Now)
	})
	w := two(t)
	if err := Run(p, w, 4, "log.swf", func(id int64) bool { return id == 1 }); err != nil {
		t.Fatal(err)
	}
	want := `0 SIMULATION_BEGINS
0 JOB_SUBMITTED:w0!1
2 JOB_SUBMITTED:w0!2 NOTIFY:no_more_static_job_to_submit
6 REQUESTED_CALL
6 JOB_COMPLETED:w0!2:COMPLETED_KILLED JOB_KILLED:[w0!2]
11.001 JOB_COMPLETED:w0!1:COMPLETED_WALLTIME_REACHED
11.001 SIMULATION_ENDS`
	if got := strings.Join(log, "\n"); got != want {
		t.Errorf("heard\n%s\nwant\n%s", got, want)
	}
	if o := w.Outcomes(); o[0].Start != 1001 || o[0].End != 11_001 || o[1].Start != 3000 || o[1].End != 6000 {
		t.Errorf("%+v", o)
	}
}

// The schedulers of pybatsim read the delay of a profile of type delay. No run time is told by it.
func TestBegins_TheProfileHasADelayThatSaysNothing(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(begins(2, "log.swf"))
	if err != nil || !strings.Contains(string(text), `"profiles":{"w0":{"opaque":{"delay":-1,"type":"delay"}}}`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestRun_EndsWithAWrongScheduler(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ first, then, want string }{
		"no JSON":             {"hello", "", "at 0: the answer is no message"},
		"past":                {`{"now":-1,"events":[]}`, "", "at 0: the answer is of -1, which is past"},
		"silent":              {"", "", "at 0: no answer within 2s"},
		"too few nodes":       {`{"now":0,"events":[]}`, execute(0, "w0!1", "0"), `at 0: start of job 1: alloc "0" has 1 node; must be exactly 2`},
		"a node that is none": {`{"now":0,"events":[]}`, execute(0, "w0!1", "3-4"), `"3-4" is no range of nodes; must be numbers from 0 to 3`},
		"a node twice":        {`{"now":0,"events":[]}`, execute(0, "w0!1", "1,1"), "node 1 is not free, or is there twice"},
		"a node of another":   {`{"now":0,"events":[]}`, execute(0, "w0!1", "0-1") + "," + execute(0, "w0!2", "1-2"), "at 0: start of job 2, which is unknown"},
		"twice":               {`{"now":0,"events":[]}`, execute(0, "w0!1", "0-1") + "," + execute(0, "w0!1", "2-3"), "at 0: start of job 1, which runs already"},
		"an unknown job":      {`{"now":0,"events":[]}`, execute(0, "x!1", "0-1"), `event 1, "EXECUTE_JOB": job "x!1" is unknown; names are such as w0!7`},
		"kills what waits":    {`{"now":0,"events":[]}`, `{"timestamp":0,"type":"KILL_JOB","data":{"job_ids":["w0!1"]}}`, "kill of job 1, which waits"},
		"kills nothing":       {`{"now":0,"events":[]}`, `{"timestamp":0,"type":"KILL_JOB","data":{"job_ids":["w0!7"]}}`, "kill of job 7, which is unknown"},
		"energy":              {`{"now":0,"events":[]}`, `{"timestamp":0,"type":"SET_RESOURCE_STATE","data":{}}`, `event 1, "SET_RESOURCE_STATE": bourse does not know it; a scheduler may say EXECUTE_JOB`},
		"storage":             {`{"now":0,"events":[]}`, `{"timestamp":0,"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"0-1","storage_mapping":{}}}`, `unknown field "storage_mapping"`},
		"another time":        {`{"now":0,"events":[]}`, execute(7, "w0!1", "0-1"), "its timestamp 7 is not between 0 and the answer's now, 0"},
		"a call now":          {`{"now":0,"events":[]}`, `{"timestamp":0,"type":"CALL_ME_LATER","data":{"timestamp":0}}`, "the call at 0 is not later than now"},
		"waits for ever":      {`{"now":0,"events":[]}`, "", "at 2: 2 jobs wait for ever"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			p := scheduler(t, func(h *heard) string {
				if n++; n == 1 {
					return x.first
				}
				then := x.then
				if n > 2 {
					then = ""
				}
				return fmt.Sprintf(`{"now":%v,"events":[%s]}`, h.Now, then)
			})
			if err := Run(p, two(t), 4, "log.swf", func(int64) bool { return false }); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %s", err, x.want)
			}
		})
	}
}

func TestDial_SaysThatNobodyIsThere(t *testing.T) {
	t.Parallel()
	if _, err := Dial("tcp://127.0.0.1:1", 300*time.Millisecond); err == nil || !strings.Contains(err.Error(), "no scheduler at tcp://127.0.0.1:1") {
		t.Error(err)
	}
}

// FuzzTake: whatever allocation comes, nodes are taken once or the error says what is wrong.
func FuzzTake(f *testing.F) {
	for _, x := range []string{"0 2-5", "0,2-5", "", "-", "7-3", "1-1 1", "99999999999999999999"} {
		f.Add(x, 2)
	}
	f.Fuzz(func(t *testing.T, alloc string, n int) {
		x := nodes{make([]bool, 8)}
		x.taken[3] = true
		list, err := x.take(alloc, n)
		taken := 0
		for _, is := range x.taken {
			if is {
				taken++
			}
		}
		if err == nil && (len(list) != n || taken != n+1) || err != nil && taken != 1 {
			t.Fatalf("%q: %v, %v, %d taken", alloc, list, err, taken)
		}
	})
}
