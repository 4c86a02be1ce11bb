package input

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// busy is a cluster of three nodes at 1,000,000 s, with a job in each state that a user
// meets.
const busy = `{
  "at": 1000000, "source": "slurm 22.05.8",
  "nodes": [
    {"name": "n1", "state": "up", "cpus": 8, "partitions": ["batch"]},
    {"name": "n2", "state": "up", "cpus": 8, "partitions": ["batch"]},
    {"name": "n3", "state": "up", "cpus": 8, "partitions": ["batch"]}
  ],
  "jobs": [
    {"number": "1", "user": "ana", "state": "running", "partition": "batch", "count": 3, "nodes": ["n1", "n2", "n3"], "limit": 7200, "submit": 990000, "start": 996400, "end": 1003600},
    {"number": "2", "user": "ben", "state": "pending", "partition": "batch", "count": 3, "limit": 3600, "priority": 50, "submit": 999000},
    {"number": "3", "user": "ben", "state": "pending", "partition": "batch", "count": 2, "limit": 7200, "priority": 40, "submit": 999100},
    {"number": "4", "user": "ben", "state": "held", "partition": "batch", "count": 3, "limit": 86400, "submit": 999200},
    {"number": "5", "user": "ana", "state": "ended", "partition": "batch", "count": 1, "limit": 3600, "submit": 900000, "start": 910000, "end": 911800}
  ],
  "reservations": []
}`

// A look that is written is read as it was.
func TestLook_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	first, err := parseLook([]byte(busy))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteLook(&out, first); err != nil {
		t.Fatal(err)
	}
	again, err := parseLook(out.Bytes())
	if err != nil || !reflect.DeepEqual(again, first) || len(first.Jobs) != 5 {
		t.Errorf("%d jobs, read again %+v, %v", len(first.Jobs), again, err)
	}
	out.Reset()
	if err := WriteLook(&out, &grid.Look{At: 1, Source: "slurm"}); err != nil {
		t.Fatal(err)
	}
	if empty, err := parseLook(out.Bytes()); err != nil || len(empty.Nodes) != 0 {
		t.Errorf("an empty look is read as %+v, %v", empty, err)
	}
}

// Dependencies of jobs, and the properties of partitions and nodes, are read as they were written.
// Older snapshots, which lack them, are read too.
func TestLook_KeepsWhatJobsWaitFor(t *testing.T) {
	t.Parallel()
	look := &grid.Look{At: 1_000_000, Source: "slurm 24.05.1", Nodes: []grid.ManagedNode{{Name: "n1", State: grid.NodeUp, GRES: "gpu:a100:4", GRESUsed: "gpu:a100:1", GPUs: 4}},
		Jobs: []grid.ManagedJob{{Number: "7_1", State: grid.ManagedPending, Why: "Dependency", Count: 1, Begin: 2_000_000, After: []string{"5_*", "6"}, Any: true, Throttle: 2,
			Eligible: 2_000_000, Dependency: "afterok:5_*?afterok:6", Account: "chem", QOS: "small", Features: "ib", Required: "n[1-2]", Licences: "matlab:1", GRES: "gres/gpu:1"}},
		Reservations: []grid.ManagedReservation{},
		Partitions:   []grid.ManagedPartition{{Name: "batch", State: "down", Default: true, Limit: grid.Hour, MaxNodes: 3, Tier: 2, QOS: "part"}}}
	var out bytes.Buffer
	if err := WriteLook(&out, look); err != nil {
		t.Fatal(err)
	}
	if again, err := parseLook(out.Bytes()); err != nil || !reflect.DeepEqual(again, look) {
		t.Errorf("read again %+v, %v", again, err)
	}
}

// An error in a snapshot names its place and what would be right.
func TestLook_SaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{busy, "", "must be JSON of the form"},
		{busy, "[]", "is not an object"},
		{`"at": 1000000`, `"at": "x"`, "not a number"},
		{`"at": 1000000`, `"at": -5`, "at: time -5: must be seconds since 1970"},
		{`"at": 1000000, `, ``, `"at" is missing`},
		{`"reservations": []`, `"reservations": null`, "reservations: null is not an array"},
		{`"reservations": []`, `"reservation": []`, `"reservation" is unknown; must be one of at, source`},
		{`"reservations": []`, `"reservations": [{"name": "r", "start": 5, "end": 5, "nodes": []}]`, "reservations[0]: end 5 is not after start 5"},
		{`"name": "n2"`, `"name": "n1"`, `nodes[1]: "n1" is nodes[0] too`},
		{`"name": "n2"`, `"name": ""`, "nodes[1]: the name is missing"},
		{`"name": "n3", "state": "up"`, `"name": "n3", "state": "fine"`, `nodes[2]: state "fine" is unknown; must be up`},
		{`"name": "n3", "state": "up"`, `"name": "n3", "stat": "up"`, `nodes[2]: unknown field "stat"`},
		{`"state": "held"`, `"state": "sick"`, `jobs[3]: state "sick" is unknown; must be pending`},
		{`"count": 2`, `"count": 2000000`, "jobs[2]: count 2000000: must be 0 to 1000000"},
		{`"count": 2`, `"count": 0`, "jobs[2]: count 0: must be 1 or more for a waiting job"},
		{`"limit": 3600`, `"limit": -1`, "jobs[1]: "},
		{`"submit": 999000`, `"submit": null`, "jobs[1]: time never: must be seconds"},
		{`"submit": 999000`, `"throttle": -1`, "jobs[1]: throttle -1: must be 0 or more tasks"},
		{`"submit": 999000`, `"begin": -1`, "jobs[1]: time"},
		{`"submit": 999000`, `"after": "5"`, "jobs[1]: "},
		{`"reservations": []`, `"reservations": [], "partitions": [{"name": "batch", "state": "up", "maxNodes": -5}]`, "partitions[0]: limit, maxNodes and tier must be 0 or more"},
		{`"reservations": []`, `"reservations": [], "partitions": {}`, "partitions: {} is not an array"},
		{`"number": "1"`, `"number": ""`, "jobs[0]: the name is missing"},
		{`"number": "1"`, `"number": "` + strings.Repeat("1", 5000) + `"`, "has 5000 bytes"},
	} {
		if _, err := parseLook([]byte(strings.Replace(busy, c.old, c.new, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s in place of %.40s: %v; want %q", c.new, c.old, err, c.want)
		}
	}
}

func FuzzParseLook(f *testing.F) {
	f.Add([]byte(busy))
	f.Add([]byte(`{"at": 1, "source": "s", "nodes": [{"name": "a", "state": "up", "partitions": ["p"]}], "jobs": [], "reservations": []}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		look, err := parseLook(text)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteLook(&out, look); err != nil {
			t.Fatal(err)
		}
		again, err := parseLook(out.Bytes())
		if err != nil {
			t.Fatalf("written as %s: %v", &out, err)
		}
		var twice bytes.Buffer
		if err := WriteLook(&twice, again); err != nil || twice.String() != out.String() {
			t.Errorf("%v: %s, then %s", err, &out, &twice)
		}
	})
}
