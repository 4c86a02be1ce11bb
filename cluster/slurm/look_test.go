package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// versions are those that testdata has recorded output of.
var versions = []string{"22.05", "26.05"}

func recorded(t testing.TB, version, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", version, file))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func printed(t testing.TB, version string) *Printed {
	return &Printed{At: 1_000, Jobs: recorded(t, version, "squeue.json"), Nodes: recorded(t, version, "sinfo.json"), Reservations: recorded(t, version, "reservations.txt")}
}

// The scene of testdata/scene.sh looks the same in each version.
func TestLook_TheSameSceneLooksTheSameInEachVersion(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			look, err := printed(t, version).Read()
			if err != nil {
				t.Fatal(err)
			}
			if want := "slurm " + version; !strings.HasPrefix(look.Source, want) {
				t.Errorf("source %q; must begin with %q", look.Source, want)
			}
			checkScene(t, look)
		})
	}
}

func checkScene(t *testing.T, look *grid.Look) {
	t.Helper()
	if len(look.Nodes) != 6 {
		t.Fatalf("%d nodes; must be 6", len(look.Nodes))
	}
	first, drained, last := look.Nodes[0], look.Nodes[4], look.Nodes[5]
	if first.Name != "site1n1" || first.State != grid.NodeUp || first.CPUs != 4 || first.Busy != 4 || first.Memory != 100<<20 ||
		!slices.Equal(first.Features, []string{"ssd", "ib"}) || !slices.Equal(first.Partitions, []string{"batch", "wide"}) {
		t.Errorf("first node %+v", first)
	}
	if look.Nodes[2].Busy != 1 || drained.State != grid.NodeDrained || last.State != grid.NodeUp || last.Busy != 0 || last.Features != nil {
		t.Errorf("nodes %+v", look.Nodes)
	}

	var names []string
	jobs := map[string]grid.ManagedJob{}
	for _, j := range look.Jobs {
		names = append(names, j.Number+" "+j.Name)
		jobs[j.Number] = j
		if j.Submit < 1_790_000_000_000 || j.User == "" {
			t.Errorf("job %+v has no submit time or user", j)
		}
	}
	order := []string{"1 cfd", "2 shared one", "4 big", "6_1 many", "6_2 many", "6_3 many", "7 endless", "8 bourse.2c3d", "5 held", "3 fails", "9 gone"}
	if !slices.Equal(names, order) {
		t.Errorf("jobs in the order %q\nmust be %q", names, order)
	}
	run := jobs["1"]
	if run.State != grid.ManagedRunning || run.User != "ana_vo1" || !slices.Equal(run.Nodes, []string{"site1n1", "site1n2"}) || run.Count != 2 ||
		!run.Exclusive || run.Limit != 30*grid.Minute || run.End != run.Start.Add(30*grid.Minute) || run.Partition != "wide" {
		t.Errorf("running job %+v", run)
	}
	if jobs["2"].Exclusive {
		t.Errorf("job that shares %+v", jobs["2"])
	}
	if j := jobs["3"]; j.State != grid.ManagedEnded || j.Why != "" || j.Exit != 3 || j.Signal != 0 {
		t.Errorf("failed job %+v", j)
	}
	if j := jobs["4"]; j.State != grid.ManagedPending || j.Why != "Resources" || j.Count != 4 || j.Nodes != nil || j.Start <= j.Submit {
		t.Errorf("planned job %+v", j)
	}
	if j := jobs["5"]; j.State != grid.ManagedHeld || j.Why != "JobHeldUser" || j.Start != 0 {
		t.Errorf("held job %+v", j)
	}
	if j := jobs["7"]; j.Limit != 0 || j.End != 0 {
		t.Errorf("job without a limit %+v", j)
	}
	if j := jobs["8"]; j.Reservation != "bourse.2c3d" || j.Why != "BeginTime" {
		t.Errorf("job in a reservation %+v", j)
	}
	if j := jobs["9"]; j.State != grid.ManagedEnded || j.Why != "CANCELLED" {
		t.Errorf("cancelled job %+v", j)
	}

	if len(look.Reservations) != 3 {
		t.Fatalf("reservations %+v", look.Reservations)
	}
	hold, taken, foreign := look.Reservations[0], look.Reservations[1], look.Reservations[2]
	if hold.Name != "bourse.0a1b" || !slices.Equal(hold.Nodes, []string{"site1n3", "site1n4"}) || !slices.Equal(hold.Users, []string{"bholder"}) || hold.End != hold.Start.Add(grid.Hour) {
		t.Errorf("hold %+v", hold)
	}
	if taken.Name != "bourse.2c3d" || !slices.Equal(taken.Users, []string{"ana_vo1"}) || jobs["8"].Start != taken.Start {
		t.Errorf("assigned reservation %+v", taken)
	}
	if foreign.Name != "maint" || len(foreign.Nodes) != 6 {
		t.Errorf("foreign reservation %+v", foreign)
	}
}

func TestRecord_AJobAsScontrolShowsIt(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		lines := strings.Split(strings.TrimSpace(string(recorded(t, version, "jobs.txt"))), "\n")
		var got []jobRecord
		for _, line := range lines {
			j, err := readJob([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, j)
		}
		if j := got[1]; j.number != "3" || j.name != "fails" || j.user != "ben_vo1" || j.state != grid.ManagedEnded || j.why != "" || j.exit != 3 || j.end < j.start || j.start < j.submit {
			t.Errorf("%s: failed job %+v", version, j)
		}
		if j := got[2]; j.state != grid.ManagedPending || j.why != "Resources" || j.submit == 0 {
			t.Errorf("%s: pending job %+v", version, j)
		}
	}
}

// A comment or a reason that looks like a key changes nothing.
func TestRecord_TheFirstOfTwoKeysCounts(t *testing.T) {
	t.Parallel()
	got, err := readReservations([]byte("ReservationName=a StartTime=10 EndTime=20 Nodes=n[1-2] Users=x Comment=Users=root Nodes=n9\n"))
	if err != nil || len(got) != 1 || len(got[0].Nodes) != 2 || got[0].Users[0] != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHosts_ListsInShortForm(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":                       "",
		"(null)":                 "",
		"n1":                     "n1",
		"n[1-3]":                 "n1 n2 n3",
		"n[01-03,7],b":           "n01 n02 n03 n7 b",
		"a[9-11]":                "a9 a10 a11",
		"r[1-2]c[1-2],x":         "r1c1 r1c2 r2c1 r2c2 x",
		"node-a[1,3].example":    "node-a1.example node-a3.example",
		"b,a":                    "b a",
		"c[008-010]":             "c008 c009 c010",
		"e[5]":                   "e5",
		"site1n[3-4],site2n[10]": "site1n3 site1n4 site2n10",
	} {
		got, err := Hosts(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q is %q, %v; must be %q", list, got, err, want)
		}
	}
	for _, list := range []string{"n[", "n]", "n[1-", "n[3-1]", "n[x]", "n[[1]]", ",", "a,,b", "n[1-99999999]", "n[1-300]m[1-300]", "n[-1]", "[]", "n[1-60000],m[1-60000]"} {
		if got, err := Hosts(list); err == nil {
			t.Errorf("%q is taken as %d names; must be refused", list, len(got))
		}
	}
}

// A state that is not known is unknown, never running or free.
func TestStates_WhatIsNotKnownIsUnknown(t *testing.T) {
	t.Parallel()
	if s, why := stateOf(listed{"DREAMING"}, "", false); s != grid.ManagedUnknown || why != "DREAMING" {
		t.Errorf("job is %s, %s", s, why)
	}
	if s := nodeState(listed{"DREAMING"}, nil); s != grid.NodeUnknown {
		t.Errorf("node is %s", s)
	}
	if s := nodeState(listed{"IDLE", "NOT_RESPONDING"}, nil); s != grid.NodeUnknown {
		t.Errorf("node that does not respond is %s", s)
	}
	if s := nodeState(listed{"mixed"}, listed{"DRAIN"}); s != grid.NodeDrained {
		t.Errorf("draining node is %s", s)
	}
	if s, _ := stateOf(listed{"CANCELLED", "COMPLETING"}, "", false); s != grid.ManagedRunning {
		t.Errorf("a job whose nodes are not free yet is %s", s)
	}
}

// Work that has gone with its node has not run: it is lost, at the site's expense.
func TestStates_AJobThatWentWithItsNodeIsLost(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED"} {
		if s, why := stateOf(listed{word}, "", false); s != grid.ManagedLost || why != word {
			t.Errorf("a job that is %s is %s, %s", word, s, why)
		}
	}
	if s, why := stateOf(listed{"TIMEOUT"}, "", false); s != grid.ManagedEnded || why != "TIMEOUT" {
		t.Errorf("a job at its limit is %s, %s", s, why)
	}
}
