package slurm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// waitsFor is a look at 1,000 s of jobs in squeue's JSON: plain numbers as older versions write
// them, or objects as newer ones do. A job is lines "key=value"; 0 is the number of a job that
// is not in an array.
func waitsFor(t *testing.T, newer bool, jobs ...string) *grid.Look {
	t.Helper()
	text := map[string]bool{"job_state": true, "state_reason": true, "partition": true, "array_task_string": true, "dependency": true, "user_name": true, "resv_name": true,
		"name": true, "nodes": true, "qos": true, "account": true, "features": true, "required_nodes": true, "licenses": true, "tres_per_node": true}
	var list []string
	for _, j := range jobs {
		fields := []string{}
		for line := range strings.FieldsSeq("job_state=PENDING user_name=ana name=j partition=batch node_count=1 time_limit=60 priority=10 submit_time=900 " + j) {
			key, value, _ := strings.Cut(line, "=")
			switch value = strings.ReplaceAll(value, "_SPACE_", " "); {
			case key == "job_state" && newer:
				value = fmt.Sprintf("[%q]", value)
			case text[key]:
				value = fmt.Sprintf("%q", value)
			case newer && key != "job_id":
				value = fmt.Sprintf(`{"set": true, "infinite": false, "number": %s}`, value)
			}
			fields = append(fields, fmt.Sprintf("%q: %s", key, value))
		}
		list = append(list, "{"+strings.Join(fields, ", ")+"}")
	}
	p := &Printed{At: 1_000_000, Jobs: []byte(`{"jobs": [` + strings.Join(list, ",\n") + `]}`), Nodes: []byte(`{"nodes": []}`)}
	look, err := p.Read()
	if err != nil {
		t.Fatal(err)
	}
	return look
}

// Each line is a job that waits, and what a look makes of it.
func TestSettle_AJobThatWaits(t *testing.T) {
	t.Parallel()
	const s = 1000
	running := "job_id=5 job_state=RUNNING nodes=n1 start_time=800 end_time=4400"
	task := func(n int) string { return fmt.Sprintf("job_id=%d array_job_id=20 array_task_id=%d", 20+n, n) }
	for name, c := range map[string]struct {
		job  string
		want grid.ManagedJob
	}{
		"for nodes":        {"state_reason=Resources eligible_time=900 start_time=3000", grid.ManagedJob{State: "pending"}},
		"held by its user": {"state_reason=JobHeldUser eligible_time=0 start_time=0", grid.ManagedJob{State: "held"}},
		"for its time":     {"state_reason=BeginTime eligible_time=2000 start_time=2000", grid.ManagedJob{State: "pending", Begin: 2000 * s}},
		"for a time that older versions tell as its start": {"state_reason=BeginTime eligible_time=0 start_time=2000", grid.ManagedJob{State: "pending", Begin: 2000 * s}},
		"for a time that has come":                         {"state_reason=BeginTime eligible_time=990", grid.ManagedJob{State: "pending"}},
		"for a time that is not said":                      {"state_reason=BeginTime", grid.ManagedJob{State: "held"}},
		"for its turn, but it begins later":                {"state_reason=Priority eligible_time=2000", grid.ManagedJob{State: "pending", Begin: 2000 * s}},
		"for another job":                                  {"state_reason=Dependency dependency=afterok:5(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"5"}}},
		"for a job and a time":                             {"state_reason=Dependency dependency=afterany:5(unfulfilled) eligible_time=2000", grid.ManagedJob{State: "pending", After: []string{"5"}, Begin: 2000 * s}},
		"for two jobs":                                     {"state_reason=Dependency dependency=afterok:5(unfulfilled),afterany:6(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"5", "6"}}},
		"for two jobs of one kind":                         {"state_reason=Dependency dependency=afterok:5:6", grid.ManagedJob{State: "pending", After: []string{"5", "6"}}},
		"for one of two jobs":                              {"state_reason=Dependency dependency=afterok:5(unfulfilled)?afterok:6(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"5", "6"}, Any: true}},
		"for a job or an array":                            {"state_reason=Dependency dependency=afterok:5(unfulfilled)?afterany:20_*(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"5"}}},
		"for one of two, of which one is gone":             {"state_reason=Dependency dependency=afterok:77(unfulfilled)?afterok:6(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"6"}}},
		"for an array":                                     {"state_reason=Dependency dependency=afterok:20_*(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"20_*"}}},
		"for a task":                                       {"state_reason=Dependency dependency=afterok:20_2(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"20_2"}}},
		"for a job that has just ended":                    {"state_reason=Dependency dependency=afterany:4(unfulfilled)", grid.ManagedJob{State: "pending"}},
		"for what has been met":                            {"state_reason=Dependency dependency=afterany:77(fulfilled),afterok:5(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"5"}}},
		"for a job that nobody shows":                      {"state_reason=Dependency dependency=afterok:77(unfulfilled)", grid.ManagedJob{State: "held"}},
		"for a failure":                                    {"state_reason=Dependency dependency=afternotok:5(unfulfilled)", grid.ManagedJob{State: "held"}},
		"for it knows not what":                            {"state_reason=Dependency", grid.ManagedJob{State: "held"}},
		"for what has failed":                              {"state_reason=Dependency dependency=afterok:5(failed)", grid.ManagedJob{State: "held"}},
		"for a while after another's start":                {"state_reason=Dependency dependency=after:5+10(unfulfilled)", grid.ManagedJob{State: "pending", Begin: 1400 * s}},
		"for another's start":                              {"state_reason=Dependency dependency=after:6(unfulfilled)", grid.ManagedJob{State: "pending", After: []string{"6"}}},
		"to be the only one of its name":                   {"state_reason=Dependency dependency=singleton(unfulfilled) name=s", grid.ManagedJob{State: "pending", After: []string{"7"}}},
		"for a node, planned":                              {"state_reason=ReqNodeNotAvail start_time=5000 required_nodes=n9", grid.ManagedJob{State: "pending", Begin: 5000 * s}},
		"for a node that is away":                          {"state_reason=ReqNodeNotAvail start_time=0", grid.ManagedJob{State: "held"}},
		"for a limit of its QOS":                           {"state_reason=QOSMaxJobsPerUserLimit qos=small", grid.ManagedJob{State: "held"}},
		"for a licence":                                    {"state_reason=Licenses licenses=matlab:2", grid.ManagedJob{State: "held"}},
		"in a partition that is down":                      {"state_reason=PartitionDown", grid.ManagedJob{State: "held"}},
		"in one of two, of which one is down":              {"state_reason=PartitionDown partition=batch,long", grid.ManagedJob{State: "pending"}},
		"for what is not known":                            {"state_reason=Moonlight", grid.ManagedJob{State: "pending"}},
		"for its reservation":                              {"state_reason=Reservation resv_name=theirs", grid.ManagedJob{State: "pending"}},
		"for a reservation that it does not name":          {"state_reason=Reservation", grid.ManagedJob{State: "held"}},
		"requeued":                                         {"state_reason=BeginTime eligible_time=1100 start_time=1100 restart_cnt=1", grid.ManagedJob{State: "pending", Begin: 1100 * s}},
		"held since it was requeued":                       {"state_reason=None job_state=REQUEUE_HOLD", grid.ManagedJob{State: "held"}},
		"without priority":                                 {"state_reason=Dependency priority=0 dependency=afterok:5", grid.ManagedJob{State: "held"}},
	} {
		for _, newer := range []bool{false, true} {
			look := waitsFor(t, newer, running, "job_id=4 job_state=COMPLETED name=over", "job_id=6 name=six", "job_id=7 name=s", "job_id=11 name=s", task(1), task(2), "job_id=9 name=nine "+c.job)
			j := look.Jobs[slices.IndexFunc(look.Jobs, func(j grid.ManagedJob) bool { return j.Number == "9" })]
			got := grid.ManagedJob{State: j.State, Begin: j.Begin, After: j.After, Any: j.Any}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("a job waits %s (newer: %v): %+v; must be %+v", name, newer, got, c.want)
			}
			if reason, _, _ := strings.Cut(strings.TrimPrefix(c.job, "state_reason="), " "); j.Why != reason && reason != "None" {
				t.Errorf("a job waits %s: why is %q; must be %q", name, j.Why, reason)
			}
			was := slices.Clone(look.Jobs)
			if Settle(look); !reflect.DeepEqual(was, look.Jobs) {
				t.Errorf("a job waits %s: settled twice the look is another", name)
			}
		}
	}
}

// The tasks of an array may run so many at once as either form says; what runs has no throttle
// in its own row.
func TestSettle_AnArrayKeepsItsThrottle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows     []string
		throttle int
		tasks    int
	}{
		"in the list of tasks": {[]string{"job_id=20 array_job_id=20 array_task_string=1-9%2 state_reason=JobArrayTaskLimit"}, 2, 9},
		"as a number":          {[]string{"job_id=20 array_job_id=20 array_task_string=1-9 array_max_tasks=3 state_reason=Priority"}, 3, 9},
		"with steps":           {[]string{"job_id=20 array_job_id=20 array_task_string=[1-9:4,20]%3 array_max_tasks=3"}, 3, 4},
		"none":                 {[]string{"job_id=20 array_job_id=20 array_task_string=1-9 array_max_tasks=0"}, 0, 9},
		"of a task with a row of its own": {[]string{"job_id=20 array_job_id=20 array_task_string=3-9%2 state_reason=JobArrayTaskLimit",
			"job_id=22 array_job_id=20 array_task_id=2 state_reason=BeginTime eligible_time=1100 array_max_tasks=0"}, 2, 8},
		"not known, but reached": {[]string{"job_id=20 array_job_id=20 array_task_string=3-9,... state_reason=JobArrayTaskLimit",
			"job_id=21 array_job_id=20 array_task_id=1 job_state=RUNNING nodes=n1 start_time=900", "job_id=22 array_job_id=20 array_task_id=2 job_state=RUNNING nodes=n2 start_time=900"}, 2, 7},
	} {
		look, tasks := waitsFor(t, true, c.rows...), 0
		for _, j := range look.Jobs {
			if j.State != grid.ManagedPending {
				continue
			}
			if tasks++; j.Throttle != c.throttle {
				t.Errorf("%s: task %s has %d", name, j.Number, j.Throttle)
			}
		}
		if tasks != c.tasks {
			t.Errorf("%s: %d tasks wait; must be %d", name, tasks, c.tasks)
		}
	}
}

// Fields that decide when a job may start stay in the snapshot as Slurm prints them.
func TestSettle_ALookKeepsWhatSlurmSaid(t *testing.T) {
	t.Parallel()
	j := waitsFor(t, true, "job_id=9 state_reason=Dependency dependency=afterok:5(unfulfilled) eligible_time=2000 qos=small account=chem features=ib required_nodes=n[1-2] "+
		"licenses=matlab:1 tres_per_node=gres/gpu:2").Jobs[0]
	want := grid.ManagedJob{Dependency: "afterok:5(unfulfilled)", Eligible: 2_000_000, QOS: "small", Account: "chem", Features: "ib", Required: "n[1-2]", Licences: "matlab:1", GRES: "gres/gpu:2", Why: "Dependency"}
	got := grid.ManagedJob{Dependency: j.Dependency, Eligible: j.Eligible, QOS: j.QOS, Account: j.Account, Features: j.Features, Required: j.Required, Licences: j.Licences, GRES: j.GRES, Why: j.Why}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("kept %+v", got)
	}
}

// A job of partitions in which nothing starts is held, whatever its reason.
func TestSettle_NothingStartsInAPartitionThatIsDown(t *testing.T) {
	t.Parallel()
	look := waitsFor(t, false, "job_id=1 state_reason=Priority", "job_id=2 state_reason=PartitionInactive partition=batch,long", "job_id=3 state_reason=Priority partition=batch,far", "job_id=4 state_reason=None partition=deep")
	look.Partitions = readPartitions([]byte("PartitionName=batch Default=YES MaxNodes=UNLIMITED MaxTime=1-00:00:00 PriorityTier=3 QoS=N/A State=DOWN\n" +
		"PartitionName=long MaxNodes=4 MaxTime=UNLIMITED State=INACTIVE QoS=big\nPartitionName=deep State=DRAIN\n"))
	Settle(look)
	want := map[string]string{"1": "held PartitionDown", "2": "held PartitionInactive", "3": "pending Priority", "4": "pending "}
	for _, j := range look.Jobs {
		if got := string(j.State) + " " + j.Why; got != want[j.Number] {
			t.Errorf("job %s is %s; must be %s", j.Number, got, want[j.Number])
		}
	}
	parts := []grid.ManagedPartition{{Name: "batch", State: "down", Default: true, Limit: grid.Day, Tier: 3}, {Name: "deep", State: "drain"}, {Name: "long", State: "inactive", MaxNodes: 4, QOS: "big"}}
	if !reflect.DeepEqual(look.Partitions, parts) {
		t.Errorf("partitions %+v", look.Partitions)
	}
	if p := readPartitions([]byte("No reservations in the system\nslurm_load_partitions error: x=y\n")); p != nil {
		t.Errorf("of what is no partition %+v is read", p)
	}
}

// Another manager's words are its own.
func TestSettle_LeavesTheLookOfAnotherManager(t *testing.T) {
	t.Parallel()
	look := &grid.Look{Source: "local", Jobs: []grid.ManagedJob{{Number: "1", State: grid.ManagedPending, Why: "BadConstraints"}}}
	if Settle(look); look.Jobs[0].State != grid.ManagedPending {
		t.Errorf("%+v", look.Jobs[0])
	}
}

// A job that must be the only one of its name waits for a bounded number of those before it.
func TestSettle_ALongRowOfOneNameIsBounded(t *testing.T) {
	t.Parallel()
	var rows []string
	for n := 1; n <= 60; n++ {
		rows = append(rows, fmt.Sprintf("job_id=%d name=s state_reason=Dependency dependency=singleton(unfulfilled)", n))
	}
	for _, j := range waitsFor(t, false, rows...).Jobs {
		if n := int(numberOf(j.Number)); len(j.After) != min(n-1, maxBefore+1) || n > 1 && !slices.Contains(j.After, fmt.Sprint(n-1)) {
			t.Errorf("job %d waits for %q", n, j.After)
		}
	}
}

func TestGPUs_AreCountedFromGRES(t *testing.T) {
	t.Parallel()
	for gres, want := range map[string]int{
		"": 0, "(null)": 0, "N/A": 0, "gpu": 1, "gpu:2": 2, "gpu:a100": 1, "gpu:a100:4": 4, "gpu:a100:4(S:0-1)": 4, "gpu:a100:2(S:0,2),gpu:v100:1,nic:4": 3,
		"nic:ib:2": 0, "gpu:a100:2(IDX:0-1,3),mps:400": 2, "gpu:99999999": 1,
	} {
		if got := gpus(gres); got != want {
			t.Errorf("%q: %d GPUs; must be %d", gres, got, want)
		}
	}
}

// The GPUs of a group are those of its nodes, unless its file says others.
func TestGroups_GPUsAreReadFromSlurm(t *testing.T) {
	t.Parallel()
	look := &Printed{Nodes: []byte(`{"sinfo": [
		{"node": {"state": ["IDLE"]}, "nodes": {"nodes": ["n1"]}, "cpus": {"total": 8}, "memory": {"minimum": 1024}, "gres": {"total": "gpu:a100:4(S:0-1)", "used": "gpu:a100:1(IDX:0)"}, "partition": {"name": "gpu"}},
		{"node": {"state": ["IDLE"]}, "nodes": {"nodes": ["n2"]}, "cpus": {"total": 8}, "memory": {"minimum": 1024}, "gres": {"total": "gpu:a100:2"}, "partition": {"name": "gpu"}},
		{"node": {"state": ["IDLE"]}, "nodes": {"nodes": ["n3"]}, "cpus": {"total": 4}, "memory": {"minimum": 1024}, "gres": {"total": ""}, "partition": {"name": "gpu"}}]}`), Jobs: []byte(`{}`)}
	got, err := look.Read()
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Nodes[0]; n.GRES != "gpu:a100:4(S:0-1)" || n.GRESUsed != "gpu:a100:1(IDX:0)" || n.GPUs != 4 || got.Nodes[2].GPUs != 0 {
		t.Errorf("nodes %+v", got.Nodes)
	}
	want := []grid.Group{{Name: "gpu-8c-1g-4gpu", Nodes: 1}, {Name: "gpu-8c-1g-2gpu", Nodes: 1, Machine: grid.Machine{GPUs: 1}}, {Name: "gpu-4c-1g", Nodes: 1}}
	groups, _, _, err := Groups(got, []string{"gpu"}, want)
	if err != nil || groups[0].Machine.GPUs != 4 || groups[1].Machine.GPUs != 1 || groups[2].Machine.GPUs != 0 {
		t.Errorf("groups %+v, %v", groups, err)
	}
}
