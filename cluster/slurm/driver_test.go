package slurm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// refusalTexts reads what testdata/refusals.sh has recorded: by label the text and the
// exit status.
func refusalTexts(t *testing.T, version string) map[string]*Failed {
	t.Helper()
	texts := map[string]*Failed{}
	for block := range strings.SplitSeq(string(recorded(t, version, "refusals.txt")), "# ") {
		if label, rest, ok := strings.Cut(block, "\n"); ok {
			text, status, _ := strings.Cut(rest, "= ")
			exit, err := strconv.Atoi(strings.TrimSpace(status))
			if err != nil || exit == 0 {
				t.Fatalf("%s of %s: exit status %q", label, version, status)
			}
			texts[label] = &Failed{Command: label, Text: words(text), Exit: exit}
		}
	}
	return texts
}

func TestRefusal_TextsOfBothVersionsAreToldApart(t *testing.T) {
	t.Parallel()
	type meaning struct {
		outcome agents.Outcome
		code    grid.Code
	}
	denied := func(c grid.Code) meaning { return meaning{agents.Denied, c} }
	down := meaning{agents.Failure, grid.NoCluster}
	means := map[string]meaning{
		"duplicate": denied(grid.Conflict), "overlaps": denied(grid.Busy), "busy": denied(grid.Busy), "no-node": denied(grid.NoNode), "backwards": denied(grid.Past),
		"update-missing": denied(grid.Unknown), "update-no-user": denied(grid.NotAllowed), "delete-missing": denied(grid.Unknown), "delete-in-use": denied(grid.Busy),
		"show-missing": denied(grid.Unknown), "show-no-job": denied(grid.Unknown), "submit-not-for": denied(grid.NotAllowed), "submit-missing": denied(grid.Unknown),
		"submit-no-partition": denied(grid.Invalid), "no-accounts": denied(grid.Invalid),
		"rights-create": denied(grid.NotAllowed), "rights-update": denied(grid.NotAllowed), "rights-delete": denied(grid.NotAllowed), "rights-cancel": denied(grid.NotAllowed), "rights-submit": denied(grid.NotAllowed),
		"down-create": down, "down-update": down, "down-delete": down, "down-show": down, "down-submit": down, "down-cancel": down, "down-list": down,
	}
	for _, version := range versions {
		texts := refusalTexts(t, version)
		for label, want := range means {
			f := texts[label]
			if f == nil {
				t.Errorf("%s: %s is not recorded", version, label)
				continue
			}
			outcome, why := judge(f)
			if outcome != want.outcome || why.Code != want.code {
				t.Errorf("%s: %q is %s, %s; must be %s, %s", version, f.Text, outcome, why.Code, want.outcome, want.code)
			}
			if rights := strings.HasPrefix(label, "rights-"); rights != strings.Contains(why.String(), "AdminLevel=Operator") && label != "update-no-user" {
				t.Errorf("%s: %s names a right that is missing: %v", version, label, why)
			}
		}
		// Newer versions know no such user by no name of its own.
		if outcome, _ := judge(texts["no-user"]); outcome != agents.Denied {
			t.Errorf("%s: %q is %s", version, texts["no-user"].Text, outcome)
		}
	}
	for text, want := range map[string]meaning{
		"sbatch: error: Batch job submission failed: Requested node configuration is not available":                                         denied(grid.Invalid),
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation":                                               down,
		"scontrol: error: Reservation update rejected because of JobId=8\nRequested reservation is in use":                                  denied(grid.Busy),
		"sbatch: error: Batch job submission failed: Invalid qos specification":                                                             denied(grid.NotAllowed),
		"sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)": denied(grid.NotAllowed),
		"": down,
	} {
		if outcome, why := judge(&Failed{Command: "x", Text: words(text), Exit: 1}); outcome != want.outcome || why.Code != want.code {
			t.Errorf("%q is %s, %s; must be %s, %s", text, outcome, why.Code, want.outcome, want.code)
		}
	}
	if outcome, _ := judge(&Failed{Late: true}); outcome != agents.Failure {
		t.Errorf("a call that took too long is %s; it is not known what it did", outcome)
	}
	if outcome, _ := judge(errors.New("pipe")); outcome != agents.Failure {
		t.Errorf("a call that could not be made is %s", outcome)
	}
	if outcome, why := judge(nil); outcome != agents.Done || why.Refused() {
		t.Errorf("a call without an error is %s, %v", outcome, why)
	}
}

// The controller of 22.05 is down: squeue and sinfo exit with 0, and show nothing.
func TestLook_AnAnswerWithErrorsShowsNoEmptyCluster(t *testing.T) {
	t.Parallel()
	down := []byte(`{"meta":{"Slurm":{"release":"22.05.8"}},"errors":[{"description":"Failed while looking for jobs","error_number":-1,"error":"Unspecified error","source":"slurm_load_jobs"}],"jobs":[]}`)
	if jobs, err := readJobs(down); err == nil {
		t.Errorf("taken for a queue of %d jobs", len(jobs))
	}
	if nodes, _, err := readNodes([]byte(`{"errors":[{"error":"Unspecified error","errno":-1}],"nodes":[]}`)); err == nil {
		t.Errorf("taken for a cluster of %d nodes", len(nodes))
	}
}

// example is the command to run a work.
func example(work grid.Work) agents.Command {
	return agents.Command{Verb: agents.Run, Name: "bourse.0a1b", Start: 1_800_000_000_500, End: 1_800_000_090_000, Nodes: []string{"n1", "n2"}, User: "ana",
		Site: "north", Work: &grid.Handover{Work: work, Job: "job-7", Leg: 1, Legs: 2, Peers: []grid.Peer{{Site: "south", Nodes: []string{"s1"}}}}}
}

// runWrapper has a shell of this machine run a work's wrapper as Slurm would.
func runWrapper(t *testing.T, m agents.Command, here string) (status int, printed string) {
	t.Helper()
	cmd := exec.Command("/bin/sh")
	cmd.Env = append(os.Environ(), "SLURM_JOB_ID=41", "SLURM_JOB_NODELIST=n[1-2]")
	cmd.Stdin = strings.NewReader(wrapper(m, here))
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func newWork(t *testing.T) (folder, agents.Command, string) {
	t.Helper()
	f, err := newFolder(filepath.Join(t.TempDir(), "it's work"))
	if err != nil {
		t.Fatal(err)
	}
	m := example(grid.Work{Command: []string{"sh", "-c", `echo "$BOURSE_JOB $BOURSE_LEG/$BOURSE_LEGS $BOURSE_SITE $BOURSE_NODES $BOURSE_START $BOURSE_END $BOURSE_PEERS|$ODD|$0|$1"; exit 3`, "it's", "$HOME\n`id`"},
		Env: []grid.EnvVar{{Name: "ODD", Value: "a'b\"c\n$PATH"}}})
	here := f.of(m.Name)
	if err := os.Mkdir(here, 0o700); err != nil {
		t.Fatal(err)
	}
	return f, m, here
}

func TestWrapper_WorkIsToldOfItsWindowAndItsExitStatusIsKept(t *testing.T) {
	t.Parallel()
	f, m, here := newWork(t)
	status, out := runWrapper(t, m, here)
	want := "job-7 1/2 north n1,n2 1800000001 1800000090 south:s1|a'b\"c\n$PATH|it's|$HOME\n`id`\n"
	if status != 3 || out != want {
		t.Errorf("status %d, printed %q; must be 3, %q", status, out, want)
	}
	got, err := f.traces(t.Context(), m.Name)
	if err != nil || !got.begun || !got.ended || got.exit != 3 || got.signal != 0 || got.number != "41" || !slices.Equal(got.nodes, []string{"n1", "n2"}) || got.begin == 0 || got.end < got.begin {
		t.Errorf("it has left %+v, %v", got, err)
	}
}

func TestWrapper_WorkBeginsOnce(t *testing.T) {
	t.Parallel()
	_, m, here := newWork(t)
	m.Work.Work = grid.Work{Command: []string{"sh", "-c", `echo begun >>"$0"`, filepath.Join(filepath.Dir(here), "count")}}
	first, _ := runWrapper(t, m, here)
	second, said := runWrapper(t, m, here)
	count, _ := os.ReadFile(filepath.Join(filepath.Dir(here), "count"))
	if first != 0 || second != 125 || !strings.Contains(said, "has begun before") || string(count) != "begun\n" {
		t.Errorf("statuses %d and %d, %q, begun %q", first, second, said, count)
	}
	if err := os.RemoveAll(here); err != nil {
		t.Fatal(err)
	}
	if status, said := runWrapper(t, m, here); status != 126 || !strings.Contains(said, "must share this folder") {
		t.Errorf("without its folder: status %d, %q", status, said)
	}
}

func TestWrapper_OutputGoesWhereTheJobSays(t *testing.T) {
	t.Parallel()
	f, m, here := newWork(t)
	m.Work.Work = grid.Work{Script: "#!/bin/sh\necho here\necho there >&2\nkill -9 $$\n", Output: "out-%j.%l"}
	if err := os.WriteFile(filepath.Join(here, "script"), []byte(m.Work.Work.Script), 0o700); err != nil {
		t.Fatal(err)
	}
	status, said := runWrapper(t, m, here)
	out, err := os.ReadFile(filepath.Join(here, "out-job-7.1"))
	if status != 128+9 || string(out) != "here\nthere\n" || err != nil {
		t.Errorf("status %d, %q, %v; said %q", status, out, err, said)
	}
	if got, _ := f.traces(t.Context(), m.Name); got.exit != 137 || got.signal != 9 {
		t.Errorf("a signal is told as %+v", got)
	}
	m.Work.Job = "../../etc"
	if got := outputFile(m, here); !strings.HasPrefix(got, here+"/") {
		t.Errorf("output goes to %s", got)
	}
}

// Work that is asked to end cleans up: its own exit status counts.
func TestWrapper_WorkMayCleanUpWhenItIsEnded(t *testing.T) {
	t.Parallel()
	f, m, here := newWork(t)
	m.Work.Work = grid.Work{Command: []string{"sh", "-c", `trap 'echo cleaned; exit 7' TERM; kill -TERM $PPID; kill -TERM $$; while :; do :; done`}}
	status, said := runWrapper(t, m, here)
	if got, err := f.traces(t.Context(), m.Name); status != 7 || said != "cleaned\n" || got.exit != 7 || err != nil {
		t.Errorf("status %d, %q, %+v, %v", status, said, got, err)
	}
}

func TestSubmission_HasAllThatKeepsItInItsWindow(t *testing.T) {
	t.Parallel()
	got := strings.Join((&Driver{}).submission(example(grid.Work{}), "batch", "/work/bourse.0a1b"), " ")
	for _, want := range []string{"--job-name=bourse.0a1b", "--reservation=bourse.0a1b", "--partition=batch", "--nodes=2", "--nodelist=n1,n2", "--time=2", "--no-requeue", "--begin=uts1800000001", "--exclusive"} {
		if !slices.Contains(strings.Fields(got), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	m := example(grid.Work{})
	m.Start = 1_000
	m.Options = []string{"--account=physics", "--time=1"}
	if got := strings.Join((&Driver{}).submission(m, "batch", "/x"), " "); !strings.HasPrefix(got, "--account=physics --time=1 --parsable ") {
		t.Errorf("the options of its account are not the first, so that ours count: %s", got)
	}
	if got := strings.Join((&Driver{}).submission(m, "batch", "/x"), " "); strings.Contains(got, "--begin") {
		t.Errorf("a window that has begun is waited for: %s", got)
	}
}

// A user may put anything into the folder of the work.
func TestFolder_FollowsNoLinkAndReadsNoPipe(t *testing.T) {
	t.Parallel()
	f, m, here := newWork(t)
	secret := filepath.Join(filepath.Dir(filepath.Dir(here)), "secret")
	if err := os.WriteFile(secret, []byte("job=1\nbegin=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := filepath.Join(here, "begun")
	if err := os.Symlink(secret, begun); err != nil {
		t.Fatal(err)
	}
	if got, err := f.traces(t.Context(), m.Name); err == nil {
		t.Errorf("a link out of the folder was read: %+v", got)
	}
	if err := os.Remove(begun); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("mkfifo", begun).Run(); err != nil {
		t.Fatal(err)
	}
	if got, err := f.traces(t.Context(), m.Name); err == nil {
		t.Errorf("a pipe was read: %+v", got)
	}
}

// Slurm ends a job that its node could not launch as one that failed, or at its limit.
// The files that the wrapper has left tell whether the work ever began.
func TestComplete_WorkThatNeverBeganIsLost(t *testing.T) {
	t.Parallel()
	f, m, here := newWork(t)
	d := &Driver{work: f}
	seen := func(state grid.ManagedState, exit int, nodes ...string) grid.ManagedJob {
		look := &grid.Look{Jobs: []grid.ManagedJob{{Number: "41", Name: m.Name, Reservation: m.Name, State: state, Exit: exit, Nodes: nodes}}}
		d.completeHere(t.Context(), look)
		return look.Jobs[0]
	}
	if got := seen(grid.ManagedEnded, 1, "n1"); got.State != grid.ManagedLost || got.Why == "" {
		t.Errorf("what its node could not launch is %s, %s", got.State, got.Why)
	}
	for what, got := range map[string]grid.ManagedJob{
		"that is cancelled before it has nodes": seen(grid.ManagedEnded, 0),
		"that finds no folder":                  seen(grid.ManagedEnded, 126, "n1"),
	} {
		if got.State != grid.ManagedEnded {
			t.Errorf("a job %s is %s", what, got.State)
		}
	}
	for after, want := range map[grid.Duration]grid.ManagedState{grid.Minute: grid.ManagedRunning, 3 * grid.Minute: grid.ManagedLost} {
		look := &grid.Look{At: 1_800_000_000_000, Jobs: []grid.ManagedJob{{Number: "41", Name: m.Name, Reservation: m.Name, State: grid.ManagedRunning, Nodes: []string{"n1"}}}}
		look.Jobs[0].Start = look.At.Add(-after)
		d.completeHere(t.Context(), look)
		if got := look.Jobs[0]; got.State != want || got.Unbegun != (want == grid.ManagedRunning) {
			t.Errorf("a job that runs for %v, for Slurm alone, is %s, not begun %v; must be %s", after, got.State, got.Unbegun, want)
		}
	}
	for _, state := range []grid.ManagedState{grid.ManagedPending, grid.ManagedHeld} { // perhaps put back by Slurm
		if got := seen(state, 0); got.State != state || !got.Unbegun {
			t.Errorf("a job that is %s has left no sign, and is %s, not begun: %v", state, got.State, got.Unbegun)
		}
	}
	if status, _ := runWrapper(t, m, here); status != 3 {
		t.Fatalf("status %d", status)
	}
	if got := seen(grid.ManagedPending, 0); got.Unbegun {
		t.Error("work that has begun and was put back counts as not begun")
	}
	for _, state := range []grid.ManagedState{grid.ManagedEnded, grid.ManagedLost} {
		if got := seen(state, 1, "n1"); got.State != grid.ManagedEnded || got.Exit != 3 {
			t.Errorf("work that has ended, whose job is %s, is %s with %d", state, got.State, got.Exit)
		}
	}
}

func TestFolder_IsPutAsideAndSwept(t *testing.T) {
	t.Parallel()
	f, m, here := newWork(t)
	a, err := ownerOf(uint32(os.Geteuid()))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.prepare(t.Context(), m.Name, a, map[string]string{"script": "#!/bin/sh\n"}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(here, "script")); err != nil || string(got) != "#!/bin/sh\n" {
		t.Errorf("%q, %v", got, err)
	}
	f.putAside(m.Name)
	if _, path, _, err := f.find(t.Context(), m.Name); err != nil || path != filepath.Join(string(f), "done", m.Name) || len(f.names()) != 0 {
		t.Errorf("it is at %s, %v; names %q", path, err, f.names())
	}
	f.sweep(time.Now().Add(-time.Hour))
	if _, _, _, err := f.find(t.Context(), m.Name); err != nil {
		t.Error("swept too early")
	}
	f.sweep(time.Now().Add(time.Hour))
	if _, _, _, err := f.find(t.Context(), m.Name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("not swept: %v", err)
	}
}

func TestNamed_ListsOfSqueueSinfoAndSacct(t *testing.T) {
	t.Parallel()
	jobs, err := readNamed([]byte("8|ana_vo1|1795363152|PENDING|bourse.2c3d|BeginTime|\n14|ana_vo1|1795364127|COMPLETED|(null)|None|n[1-2]\n"))
	if err != nil || len(jobs) != 2 || jobs[0] != (named{"8", "ana_vo1", "bourse.2c3d", grid.ManagedPending, "BeginTime", 1795363152000, ""}) || jobs[1].state != grid.ManagedEnded || jobs[1].nodes != "n[1-2]" {
		t.Errorf("%+v, %v", jobs, err)
	}
	nodes, err := readNodesNow([]byte("n1|planned|batch|infinite\nn1|planned|deep|1-02:00:30\nn2|drained*|deep|1:00:00\nn3|idle*|deep|30:00\nn4|reserved|deep|5\n"))
	if err != nil || nodes["n1"].state != grid.NodeUp || nodes["n1"].limits["deep"] != 26*grid.Hour+30*grid.Second || nodes["n1"].limits["batch"] != 0 ||
		nodes["n2"].state != grid.NodeDrained || nodes["n2"].limits["deep"] != grid.Hour || nodes["n3"].state != grid.NodeUnknown || nodes["n3"].limits["deep"] != 30*grid.Minute ||
		nodes["n4"].state != grid.NodeUp || nodes["n4"].limits["deep"] != 5*grid.Second {
		t.Errorf("%+v, %v", nodes, err)
	}
	done := readAccounts([]byte("41|ana|CANCELLED by 0|0:15|1795363152|1795363200|1795363260|n[1-2]\n42|ana|COMPLETED|3:0|1795363152|1795363200|Unknown|n1\nnonsense\n"))
	if len(done) != 2 || done[0].State != grid.ManagedEnded || done[0].Why != "CANCELLED" || done[0].Exit != 143 || done[0].Signal != 15 || done[0].Count != 2 || done[1].Exit != 3 || done[1].End != 0 {
		t.Errorf("%+v", done)
	}
}
