package slurm

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// seeds adds some entries of a recorded list, each as a list of its own: a whole
// one is too long to be varied.
func seeds(f *testing.F, version, file, key string, which ...int) {
	f.Helper()
	var all map[string]json.RawMessage
	var list []map[string]any
	if err := json.Unmarshal(recorded(f, version, file), &all); err != nil {
		f.Fatal(err)
	}
	if err := json.Unmarshal(all[key], &list); err != nil {
		f.Fatal(err)
	}
	for _, i := range which {
		for _, long := range []string{"job_resources", "partition"} {
			if _, deep := list[i][long].(map[string]any); deep {
				list[i][long] = map[string]any{"name": "p", "nodes": map[string]any{"whole": true}}
			}
		}
		one, err := json.Marshal(list[i])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(fmt.Appendf(nil, `{%q:[%s]}`, key, one))
	}
}

func FuzzHosts(f *testing.F) {
	for _, s := range []string{"n[01-03,7],b", "r[1-2]c[1-2]", "n[", "(null)", "a,,b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		names, err := Hosts(s)
		if err == nil && len(names) > maxHosts {
			t.Errorf("%q is %d names", s, len(names))
		}
		for _, n := range names {
			if n == "" {
				t.Errorf("%q has an empty name", s)
			}
		}
	})
}

func FuzzJobs(f *testing.F) {
	for _, v := range versions {
		seeds(f, v, "squeue.json", "jobs", 0, 2, 5, 6)
	}
	f.Add([]byte(`{"jobs":[{"job_id":6,"array_job_id":6,"array_task_string":"1-9:2,12,...","time_limit":{"set":true,"infinite":true,"number":0},"exit_code":9}]}`))
	f.Add([]byte(`{"jobs":[{"job_id":6,"array_job_id":6,"array_task_string":"1-9%2"},{"job_id":7,"job_state":"PENDING","state_reason":"Dependency","dependency":"aftercorr:6_*?after:5+3(unfulfilled),singleton"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		jobs, err := readJobs(b)
		if err != nil {
			return
		}
		look := &grid.Look{At: 1, Source: "slurm", Jobs: slices.Clone(jobs)}
		Settle(look)
		for _, j := range look.Jobs {
			if j.State == grid.ManagedPending && (j.Begin < 0 || j.Throttle < 0 || causeOf(j.Why).treat == held) {
				t.Errorf("job %+v", j)
			}
		}
		for _, j := range jobs {
			if j.State == "" || j.Number == "" || j.Count < len(j.Nodes) || j.Limit < 0 || j.Start < 0 || j.End < 0 || j.Submit < 0 || j.Exit < 0 {
				t.Errorf("job %+v", j)
			}
		}
	})
}

func FuzzNodes(f *testing.F) {
	seeds(f, "22.05", "sinfo.json", "nodes", 0, 4)
	seeds(f, "26.05", "sinfo.json", "sinfo", 0, 9)
	f.Add([]byte(`{"nodes":[{"name":"a","state":"idle","state_flags":["DRAIN"],"cpus":4,"active_features":"x,y","partitions":["p","q"]}]}`))
	f.Add([]byte(`{"sinfo":[{"node":{"state":["IDLE"]},"nodes":{"nodes":["a"]},"cpus":{"total":4},"partition":{"name":"p"}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		nodes, _, err := readNodes(b)
		if err != nil {
			return
		}
		for i, n := range nodes {
			if n.Name == "" || n.State == "" || n.CPUs < 0 || n.Memory < 0 || i > 0 && nodes[i-1].Name >= n.Name {
				t.Errorf("node %+v", n)
			}
		}
	})
}

func FuzzRecords(f *testing.F) {
	for _, v := range versions {
		f.Add(recorded(f, v, "reservations.txt"))
		f.Add(recorded(f, v, "jobs.txt"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if all, err := readReservations(b); err == nil {
			for _, r := range all {
				if r.Start < 0 || r.End < 0 {
					t.Errorf("reservation %+v", r)
				}
			}
		}
		if j, err := readJob(b); err == nil && (j.number == "" || j.state == "") {
			t.Errorf("job %+v", j)
		}
	})
}

func FuzzLists(f *testing.F) {
	f.Add([]byte("8|ana_vo1|1795363152|PENDING|bourse.2c3d|BeginTime|\n14|ana_vo1|1795364127|COMPLETED|(null)|None|n[1-2]\n"))
	f.Add([]byte("n1|planned|batch|infinite\nn1|planned|deep|1-02:00:30\nn2|drained*|deep|1:00:00\n"))
	f.Add([]byte("41|ana|CANCELLED by 0|0:15|1795363152|1795363200|1795363260|n[1-2]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if jobs, err := readNamed(b); err == nil {
			for _, j := range jobs {
				if j.number == "" || j.state == "" || j.submit < 0 {
					t.Errorf("job %+v", j)
				}
			}
		}
		if nodes, err := readNodesNow(b); err == nil {
			for name, n := range nodes {
				for p, limit := range n.limits {
					if limit < 0 || n.state == "" {
						t.Errorf("node %s is %+v, in %s %v", name, n, p, limit)
					}
				}
			}
		}
		for _, j := range readAccounts(b) {
			if j.State == "" || j.Exit < 0 || j.Exit > 255 || j.End < 0 {
				t.Errorf("job %+v", j)
			}
		}
	})
}
