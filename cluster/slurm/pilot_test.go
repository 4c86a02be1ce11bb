package slurm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// virtual makes the seconds of a pilot's script virtual: its sleep only moves the clock, and does
// what a story has at that second.
func virtual(script, clock, story string) string {
	fakes := "fake_date() { read -r fake_t <" + quote(clock) + "; echo \"$fake_t\"; }\nfake_sleep() {\nread -r fake_t <" + quote(clock) +
		"; fake_t=$((fake_t + 1)); echo \"$fake_t\" >" + quote(clock) + "\n[ $fake_t -lt 2000 ] || exit 99\ncase $fake_t in\n" + story + "\nesac\n}\n"
	script = strings.Replace(script, "bourse_find date; bourse_date=$bourse_tool", "bourse_date=fake_date", 1)
	script = strings.Replace(script, "bourse_find sleep; bourse_sleep=$bourse_tool", "bourse_sleep=fake_sleep", 1)
	if !strings.Contains(script, "bourse_date=fake_date") || !strings.Contains(script, "bourse_sleep=fake_sleep") {
		panic("the script has other tools")
	}
	return strings.Replace(script, "umask 077\n", "umask 077\n"+fakes, 1)
}

// A pilot's life by the second, from 1000 on. It is granted 20 s.
func TestPilot_DecidesOnceBetweenGoingAndLeaving(t *testing.T) {
	t.Parallel()
	const again = `1003) printf 'start=%s\nwrapper=%s\n' 1011 "$work/wrapper" >"$bourse_here/go"`
	for name, c := range map[string]struct {
		story  string
		env    string
		status int
		at     int    // when it has ended, or the work has begun
		work   bool   // it became the work
		left   string // "left": it says that it has left
	}{
		"leaves five seconds before its grant is over":     {status: 0, at: 1015, left: "left"},
		"the grant is from its begin by the manager":       {env: "SLURM_JOB_START_TIME=990", at: 1005, left: "left"},
		"a begin that is no number does not count":         {env: "SLURM_JOB_START_TIME=now", at: 1015, left: "left"},
		"a grant prolongs":                                 {story: `1010) echo grant=40 >"$bourse_here/grant";;`, at: 1035, left: "left"},
		"a grant never shrinks":                            {story: `1002) echo grant=7 >"$bourse_here/grant";;`, at: 1015, left: "left"},
		"a grant that is no number does not count":         {story: `1002) echo 'grant=99; exit' >"$bourse_here/grant";;`, at: 1015, left: "left"},
		"a grant that was cut off does not count":          {story: `1002) : >"$bourse_here/grant";;`, at: 1015, left: "left"},
		"leaves when it is told":                           {story: `1004) : >"$bourse_here/leave";;`, at: 1004, left: "left"},
		"leaves at SIGTERM":                                {story: `1004) kill -TERM $$;;`, at: 1004, left: "left"},
		"leaves when its folder cannot be read for 30 s":   {story: `1002) mv "$bourse_here" "$bourse_here.gone";;`, at: 1015},
		"so it does in the midst of a long grant":          {story: `1001) echo grant=500 >"$bourse_here/grant";; 1003) mv "$bourse_here" "$bourse_here.gone";;`, at: 1032},
		"a folder that comes back in time is no loss":      {story: `1001) echo grant=60 >"$bourse_here/grant";; 1003) mv "$bourse_here" "$bourse_here.gone";; 1030) mv "$bourse_here.gone" "$bourse_here";;`, at: 1055, left: "left"},
		"becomes the work at its second":                   {story: again + ";;", at: 1011, work: true},
		"its start may be long after its grant":            {story: `1003) printf 'start=%s\nwrapper=%s\n' 1090 "$work/wrapper" >"$bourse_here/go";;`, at: 1090, work: true},
		"a start that is over begins at once":              {story: `1003) printf 'start=%s\nwrapper=%s\n' 900 "$work/wrapper" >"$bourse_here/go";;`, at: 1003, work: true},
		"goes if that was decided, though it is told then": {story: again + `; mkdir "$bourse_here/decided"; : >"$bourse_here/leave";;`, at: 1011, work: true},
		"leaves if it is told before it is decided":        {story: again + `; : >"$bourse_here/leave";;`, at: 1003, left: "left"},
		"does not go after it has left":                    {story: `1015) exit 98;; 1014) : >"$bourse_here/leave"; : ;;`, at: 1014, left: "left"},
		"does not begin work that was given up":            {story: again + `;; 1008) : >"$work/begun";;`, at: 1008},
		"SIGTERM before the start ends it":                 {story: again + `;; 1008) kill -TERM $$;;`, at: 1008},
		"the decision may be seen before the word to go":   {story: `1014) mkdir "$bourse_here/decided";; 1020) printf 'start=%s\nwrapper=%s\n' 1025 "$work/wrapper" >"$bourse_here/go";;`, at: 1025, work: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			here, work, clock := filepath.Join(top, "it's here"), filepath.Join(top, "work"), filepath.Join(top, "clock")
			for _, dir := range []string{here, work} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range map[string]string{clock: "1000\n", filepath.Join(work, "wrapper"): "read -r t <" + quote(clock) + "; echo began $t\n", filepath.Join(here, "grant"): "grant=20\n"} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("/bin/sh", "-s")
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SLURM_JOB_ID=41", "SLURM_JOB_NODELIST=n[1-2]", "work=" + work, c.env}
			cmd.Stdin = strings.NewReader(virtual(pilot("p", here, 20*grid.Second), clock, c.story))
			out, err := cmd.CombinedOutput()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			want := ""
			if c.work {
				want = fmt.Sprintf("began %d\n", c.at)
			}
			at := strings.TrimSpace(string(must(os.ReadFile(clock))))
			if printed, _ := os.ReadFile(filepath.Join(work, "output")); string(printed) != want { // what the work prints is its own, not the pilot's
				t.Errorf("the work has printed %q; must be %q", printed, want)
			}
			if len(out) > 0 || cmd.ProcessState.ExitCode() != c.status || at != fmt.Sprint(c.at) {
				t.Errorf("status %d at %s, the pilot has printed %q; must be %d at %d, nothing", cmd.ProcessState.ExitCode(), at, out, c.status, c.at)
			}
			if _, err := os.Stat(filepath.Join(here, "left")); (err == nil) != (c.left != "") {
				t.Errorf("that it has left: %v", err)
			}
		})
	}
}

// Of two pilots of one name the second does nothing.
func TestPilot_BeginsOnce(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	if err := os.WriteFile(filepath.Join(here, "begun"), []byte("job=40\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]int{here: 125, filepath.Join(here, "none"): 126} {
		cmd := exec.Command("/bin/sh", "-s")
		cmd.Stdin = strings.NewReader(pilot("p", folder, 20*grid.Second))
		if _ = cmd.Run(); cmd.ProcessState.ExitCode() != want {
			t.Errorf("%s: status %d, must be %d", folder, cmd.ProcessState.ExitCode(), want)
		}
	}
}

// A pilot over a shell: what is submitted, what looks show, and what is denied.
func TestClaim_APilotFromItsSubmissionToItsWork(t *testing.T) {
	t.Parallel()
	d, folder, fake := newShell(t, nil)
	d.Offer(map[string]Offer{"batch-8c": {Partition: "batch", Without: []string{"c1n8", "c1n9"}}})
	p, w := "bourse.north.aa", "bourse.north.bb"
	say := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(fake, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(m agents.Command, want agents.Outcome) {
		t.Helper()
		if outcome, why := d.ask(t, m); outcome != want {
			t.Fatalf("%s is %s: %v; must be %s", m.Verb, outcome, why, want)
		}
	}
	shown := func(name string) (j grid.ManagedJob) {
		t.Helper()
		d.spaced = spaced{}
		look, err := d.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range look.Jobs {
			if x.Name == name {
				j = x
			}
		}
		return j
	}
	expect(agents.Command{Verb: agents.Claim, Name: p, Group: "none", Count: 2, Limit: grid.Hour, Granted: 90 * grid.Second, User: "ana"}, agents.Denied)
	claim := agents.Command{Verb: agents.Claim, Name: p, Group: "batch-8c", Count: 2, Limit: grid.Hour + 1, Granted: 90 * grid.Second, User: "ana", Options: []string{"--qos=low"}}
	expect(claim, agents.Done)
	args := strings.Fields(string(must(os.ReadFile(filepath.Join(fake, "submitted")))))
	for _, want := range []string{"--qos=low", "--nodes=2", "--time=61", "--partition=batch", "--exclude=c1n8,c1n9", "--job-name=" + p, "--exclusive"} {
		if !slices.Contains(args, want) {
			t.Errorf("submitted with %v, without %s", args, want)
		}
	}
	if got := string(must(os.ReadFile(filepath.Join(fake, "wrapper")))); got != pilot(p, d.work.of(p), 90*grid.Second) {
		t.Errorf("the pilot is\n%s", got)
	}
	queue := func(state string) {
		say("squeue.json", fmt.Sprintf(`{"jobs": [{"job_id": 7, "name": %q, "user_name": "ana", "job_state": %q, "nodes": "c1n[1-2]", "node_count": 2, "submit_time": 1800000000, "start_time": 1800000010}]}`, p, state))
	}
	queue("RUNNING")
	run := agents.Command{Verb: agents.Run, Name: w, In: p, Start: 1_800_000_100_500, End: 1_800_003_000_000, Nodes: []string{"c1n1"}, User: "ana", Site: "north",
		Work: &grid.Handover{Job: "7", Legs: 1, Work: grid.Work{Command: []string{"true"}}}}
	expect(run, agents.Denied) // it has not begun
	say("named", "7\n")        // squeue lists it as running from now on
	if err := os.WriteFile(filepath.Join(folder, p, "begun"), []byte("job=7\nbegin=1800000010\nnodes=c1n[1-2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(agents.Command{Verb: agents.Grant, Name: p, Granted: 150 * grid.Second}, agents.Done)
	expect(agents.Command{Verb: agents.Grant, Name: p, Granted: 100 * grid.Second}, agents.Done)
	expect(agents.Command{Verb: agents.Grant, Name: w, Granted: 100 * grid.Second}, agents.Denied)
	if j := shown(p); j.Granted != 150*grid.Second || j.State != grid.ManagedRunning {
		t.Errorf("the look shows %+v", j)
	}
	expect(run, agents.Done)
	if err := os.WriteFile(filepath.Join(folder, p, "going"), nil, 0o600); err != nil { // the pilot has seen it
		t.Fatal(err)
	}
	expect(run, agents.Done) // its answer was lost
	if got := string(must(os.ReadFile(filepath.Join(folder, p, "go")))); got != "start=1800000101\nwrapper="+d.work.of(w)+"/wrapper\n" {
		t.Errorf("the word to go is %q", got)
	}
	if got := string(must(os.ReadFile(filepath.Join(folder, w, "wrapper")))); got != wrapper(run, d.work.of(w)) {
		t.Errorf("the wrapper is %q", got)
	}
	if j := shown(w); j.State != grid.ManagedPending || j.In != p || j.Number != "7" || j.Submit != 1_800_000_000_000 || len(j.Nodes) > 0 {
		t.Errorf("the look shows %+v", j)
	}
	other := run
	other.Name = "bourse.north.cc"
	expect(other, agents.Denied)
	if err := os.WriteFile(filepath.Join(folder, w, "begun"), []byte("job=7\nbegin=1800000101\nnodes=c1n[1-2]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if j := shown(w); j.State != grid.ManagedRunning || j.Start != 1_800_000_101_000 || !slices.Equal(j.Nodes, []string{"c1n1"}) {
		t.Errorf("the look shows %+v", j)
	}
	if err := os.WriteFile(filepath.Join(folder, w, "exit"), []byte("exit=3\nend=1800000200\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	queue("FAILED")
	if j := shown(w); j.State != grid.ManagedEnded || j.Exit != 3 || j.End != 1_800_000_200_000 {
		t.Errorf("the look shows %+v", j)
	}
}

// A request to a pilot that has left, or that leaves at this moment, is denied, and its work
// is shown as over without ever having run.
func TestRunIn_ThatHasLeftIsDenied(t *testing.T) {
	t.Parallel()
	d, folder, fake := newShell(t, nil)
	p, w := "bourse.north.aa", "bourse.north.bb"
	here := filepath.Join(folder, p)
	if err := os.Mkdir(here, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{filepath.Join(here, "begun"): "job=7\nbegin=1800000010\n", filepath.Join(here, "grant"): "grant=90\n", filepath.Join(fake, "named"): "7\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := agents.Command{Verb: agents.Run, Name: w, In: p, Start: 1_800_000_100_500, End: 1_800_003_000_000, Nodes: []string{"c1n1"}, User: "ana", Site: "north",
		Work: &grid.Handover{Job: "7", Legs: 1, Work: grid.Work{Command: []string{"true"}}}}
	for _, mark := range []string{"decided", "left", "leave"} {
		if err := os.Mkdir(filepath.Join(here, mark), 0o700); err != nil {
			t.Fatal(err)
		}
		if outcome, why := d.ask(t, run); outcome != agents.Denied || why.Code != grid.BadState {
			t.Errorf("with %s: %s, %v", mark, outcome, why)
		}
		if _, err := os.Stat(filepath.Join(here, "go")); err == nil {
			t.Errorf("with %s it is told to go", mark)
		}
		if err := os.Remove(filepath.Join(here, mark)); err != nil {
			t.Fatal(err)
		}
	}
	if outcome, why := d.ask(t, run); outcome != agents.Done {
		t.Fatalf("run is %s: %v", outcome, why)
	}
	look := &grid.Look{Jobs: []grid.ManagedJob{{Number: "7", Name: p, State: grid.ManagedEnded}}}
	all := map[string]map[string]map[string]string{p: {"begun": {"job": "7"}, "go": {"start": "1800000101"}}, w: {"in": {"in": p, "nodes": "c1n1"}}}
	if d.afar.pilots(look, all); len(look.Jobs) != 2 || look.Jobs[1].State != grid.ManagedEnded || len(look.Jobs[1].Nodes) > 0 {
		t.Errorf("the look shows %+v", look.Jobs)
	}
	// Work that was given up never begins, not even if its pilot goes on.
	if outcome, why := d.ask(t, agents.Command{Verb: agents.End, Name: w}); outcome != agents.Done && outcome != agents.Failure {
		t.Errorf("end is %s: %v", outcome, why)
	}
	if got := string(must(os.ReadFile(filepath.Join(folder, w, "begun")))); got != "given=up\n" {
		t.Errorf("its mark is %q", got)
	}
}
