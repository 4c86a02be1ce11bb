package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/shadow"
	"github.com/bourse-grid/bourse/process/federation"
)

// slurmFederation lays out two sites beside two real Slurm clusters of four nodes.
func slurmFederation(t *testing.T) (dir, managers string, members []federation.Member) {
	t.Helper()
	if os.Getenv("BOURSE_SLURM") != "1" {
		t.Skip("needs a real Slurm: install slurmctld, slurmd, slurm-client and munge, and set BOURSE_SLURM=1")
	}
	managers, err := os.MkdirTemp("/tmp", "bourse-slurm-") // the paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(managers, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := slurmClusters("stop", managers); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(managers)
	})
	if err := slurmClusters("start", managers, "2", "4"); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(managers, "federation")
	if members, err = federation.LayOut(dir, 2, 0, testPort(6), federation.Local); err != nil {
		t.Fatal(err)
	}
	as, err := federation.WorkAccount()
	if err != nil {
		t.Fatal(err)
	}
	change(t, members[0].File, `cycle = "5s"`, `cycle = "1s"`)
	for i, m := range members[1:] {
		change(t, m.File, `name = "main"`, `name = "batch"`)
		change(t, m.File, fmt.Sprintf("nodes = %d", federation.Sites[i].Nodes), "nodes = 4")
		change(t, m.File, `kind = "local"`, fmt.Sprintf("kind = \"slurm\"\nconf = %q\npartition = \"batch\"\nholder = \"mail\"\nfolder = %q", filepath.Join(managers, fmt.Sprintf("c%d/slurm.conf", i+1)), filepath.Join(managers, "work-"+m.Name)))
		change(t, m.File, fmt.Sprintf("as = %q", as), fmt.Sprintf("as = %q", slurmUser(t)))
	}
	return dir, managers, members
}

func slurmClusters(args ...string) error {
	cmd := exec.Command("bash", append([]string{"../../cluster/slurm/testdata/clusters.sh"}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// slurmUser is the account whose work runs: as root one that every Debian has.
func slurmUser(t *testing.T) string {
	t.Helper()
	if os.Geteuid() == 0 {
		return "games"
	}
	as, err := federation.WorkAccount()
	if err != nil {
		t.Fatal(err)
	}
	return as
}

// slurmUp is a federation over two real clusters that is up.
type slurmUp struct {
	*testing.T
	managers, context string
	begun             string // where the work of a job leaves a line at each begin
	north             int    // pid of that site
}

func newSlurmUp(t *testing.T, prepare ...func([]federation.Member)) *slurmUp {
	t.Helper()
	dir, managers, members := slurmFederation(t)
	for _, f := range prepare {
		f(members)
	}
	stdout, _, _ := startUp(t, dir)
	u := &slurmUp{T: t, managers: managers, context: filepath.Join(dir, federation.ContextFile), begun: filepath.Join(managers, "begun")}
	var said struct {
		Agents []struct {
			Agent string
			PID   int
		}
	}
	if err := json.Unmarshal([]byte(stdout.String()), &said); err != nil || said.Agents[1].Agent != "site:north" {
		t.Fatalf("%v: %s", err, stdout)
	}
	u.north = said.Agents[1].PID
	if err := os.Mkdir(u.begun, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(u.begun, 0o777); err != nil {
		t.Fatal(err)
	}
	return u
}

// place submits a job that needs both clusters, whose work exits with that status, and waits
// until it has its window.
func (u *slurmUp) place(ready string, status int) {
	u.Helper()
	if out, messages, err := runCommand(u.Context(), "submit", u.batch(ready, 2, status), "--wait", "--context", u.context); err != nil || !strings.Contains(out, "placed") {
		u.Fatalf("%v\n%s%s", err, out, messages)
	}
}

// batch is the file of that job, whose work sleeps for some seconds.
func (u *slurmUp) batch(ready string, sleep, status int) string {
	u.Helper()
	batch := filepath.Join(u.managers, "batch.toml")
	text := fmt.Sprintf("[[job]]\nname = \"pair\"\nnodes = 6\nlength = \"1m\"\nready = %q\nmin_performance = 0.5\nmax_price = 9.0\ncommand = [\"sh\", \"-c\", \"echo $BOURSE_START $(date +%%s) $BOURSE_NODES >> %s/$BOURSE_SITE; sleep %d; exit %d\"]\n", ready, u.begun, sleep, status)
	if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
		u.Fatal(err)
	}
	u.Cleanup(func() {
		if u.Failed() {
			out, _, _ := runCommand(context.Background(), "explain", "pair", "--context", u.context)
			u.Log(out)
			for i := 1; i <= 2; i++ {
				for _, args := range [][]string{{"scontrol", "show", "reservation", "-o"}, {"squeue", "--states=all"}} {
					cmd := exec.Command(args[0], args[1:]...)
					cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(u.managers, fmt.Sprintf("c%d/slurm.conf", i)))
					said, _ := cmd.CombinedOutput()
					u.Logf("%s", said)
				}
			}
		}
	})
	return batch
}

// over waits until the job's window is over or lost, and returns its state.
func (u *slurmUp) over() (state string) {
	u.Helper()
	self, err := os.Executable()
	if err != nil {
		u.Fatal(err)
	}
	eventually(u.T, 2*time.Minute, "over", func() bool {
		time.Sleep(300 * time.Millisecond)                                  // a process each time,
		ask := exec.Command(self, "jobs", "--json", "--context", u.context) // whose end closes its connection
		ask.Env = append(os.Environ(), federation.ChildMark+"=1")
		out, err := ask.Output()
		var said struct {
			Jobs []struct{ State string } `json:"jobs"`
		}
		if err != nil || json.Unmarshal(out, &said) != nil || len(said.Jobs) != 1 {
			u.Fatalf("%v: %s", err, out)
		}
		state = said.Jobs[0].State
		return state != "placed" && state != "trying" && state != "running"
	})
	return state
}

// killNorth kills the process of the site north and the controller of its cluster, which is
// then started again.
func (u *slurmUp) killNorth() {
	u.Helper()
	child, err := os.FindProcess(u.north)
	if err == nil {
		err = child.Kill()
	}
	for _, do := range []string{"kill", "resume"} {
		if err == nil {
			err = slurmClusters(do, u.managers, "1")
		}
	}
	if err != nil {
		u.Fatal(err)
	}
}

func TestSlurm_AJobOverTwoClustersBeginsOnBothInItsWindow(t *testing.T) {
	u := newSlurmUp(t)
	u.place("0s", 3)
	if state := u.over(); state != "failed" {
		t.Errorf("the job is %s", state)
	}
	if out, _, err := runCommand(t.Context(), "jobs", "pair", "--context", u.context); err != nil || !strings.Contains(out, "exited with status 3") {
		t.Errorf("%v: %s", err, out)
	}
	north, south := slurmBegun(t, u.begun, "north"), slurmBegun(t, u.begun, "south")
	if len(north) != 1 || len(south) != 1 || north[0].window != south[0].window || max(north[0].late(), south[0].late()) > 15 || min(north[0].late(), south[0].late()) < 0 {
		t.Errorf("begun at north %v, at south %v", north, south)
	}
	slurmEmpty(t, u.managers)
}

// A controller is killed between the confirmation and the start, and the site's
// process with it: the work begins at most once in each window, or the leg is lost and
// made good; nothing of it stays.
func TestSlurm_AJobOutlivesAControllerAndASite(t *testing.T) {
	u := newSlurmUp(t)
	u.place("20s", 0)
	u.killNorth()
	state := u.over()
	if state != "done" { // its window is lost, and another one is looked for: that is enough
		out, _, err := runCommand(t.Context(), "explain", "pair", "--context", u.context)
		if !strings.Contains(out, "is lost, ") || !strings.Contains(out, "credits come back") {
			t.Errorf("the job is %s, %v: %s", state, err, out)
		}
		if out, _, err := runCommand(t.Context(), "cancel", "pair", "--context", u.context); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	for _, site := range []string{"north", "south"} {
		list := slurmBegun(t, u.begun, site)
		for i, b := range list {
			if i > 0 && b.window == list[i-1].window || b.late() < 0 {
				t.Errorf("%s has begun as %v", site, list)
			}
		}
		if len(list) == 0 && state == "done" {
			t.Errorf("%s is done and has never begun", site)
		}
	}
	slurmEmpty(t, u.managers)
}

// slurmEmpty waits until no manager has a reservation of ours.
func slurmEmpty(t *testing.T, managers string) {
	t.Helper()
	for i := 1; i <= 2; i++ {
		conf := filepath.Join(managers, fmt.Sprintf("c%d/slurm.conf", i))
		eventually(t, 90*time.Second, "all deleted", func() bool {
			cmd := exec.Command("scontrol", "show", "reservation", "-o")
			cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
			out, err := cmd.Output()
			return err == nil && !strings.Contains(string(out), "bourse.")
		})
	}
}

// slurmStart is a begin of work: the window that it was told of, and when it was.
type slurmStart struct{ window, at int64 }

func (s slurmStart) late() int64 { return s.at - s.window }

// slurmBegun reads what the work of a job has left at a site.
func slurmBegun(t *testing.T, dir, name string) []slurmStart {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []slurmStart
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		window, err1 := strconv.ParseInt(f[0], 10, 64)
		at, err2 := strconv.ParseInt(f[1], 10, 64)
		if err1 != nil || err2 != nil || len(f) != 3 {
			t.Fatalf("%s has the line %q", name, line)
		}
		out = append(out, slurmStart{window, at})
	}
	return out
}

// A job as long as its partition lets work run gets a window of that length; a longer one
// is told at once, and Slurm is not asked.
func TestSlurm_AJobAsLongAsItsPartitionAllows(t *testing.T) {
	t.Setenv("SLURM_EXTRA", "PartitionName=short Nodes=ALL MaxTime=1:00:00 State=UP")
	dir, managers, members := slurmFederation(t)
	for _, m := range members[1:] {
		change(t, m.File, `name = "batch"`, `name = "short"`)
		change(t, m.File, `partition = "batch"`, `partition = "short"`)
	}
	startUp(t, dir)
	context := filepath.Join(dir, federation.ContextFile)
	submit := func(name, length string) string {
		batch := filepath.Join(managers, name+".toml")
		text := fmt.Sprintf("[[job]]\nname = %q\nnodes = 1\nlength = %q\nmin_performance = 1.0\nmax_price = 9.0\ncommand = [\"sleep\", \"600\"]\n", name, length)
		if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, messages, _ := runCommand(t.Context(), "submit", batch, "--wait", "--context", context)
		return out + messages
	}
	if out := submit("fits", "1h"); !strings.Contains(out, "placed") {
		t.Errorf("an hour: %s", out)
	}
	submit("long", "2h")
	if out, _, _ := runCommand(t.Context(), "explain", "long", "--context", context); !strings.Contains(out, "allow no window longer than 1h") {
		t.Errorf("two hours: %s", out)
	}
	if out, _, _ := runCommand(t.Context(), "sites", "--context", context); !strings.Contains(out, "longest") || !strings.Contains(out, "1h") {
		t.Errorf("sites:\n%s", out)
	}
	var shown string // by both clusters: the window is where it is cheaper
	for _, c := range []string{"c1", "c2"} {
		cmd := exec.Command("scontrol", "show", "reservation", "-o")
		cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(managers, c, "slurm.conf"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("reservations of %s: %v", c, err)
		}
		shown += string(out)
	}
	if strings.Count(shown, "ReservationName=bourse.") != 1 || !strings.Contains(shown, "Duration=01:02:0") {
		t.Errorf("reservations:\n%s", shown)
	}
}

// A shadow runs beside a real cluster as an account that may only look: what it would have
// sold leaves nothing there.
func TestSlurm_AShadowOnlyLooks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become an account without rights")
	}
	_, managers, members := slurmFederation(t)
	conf := filepath.Join(managers, "c1/slurm.conf")
	account, err := user.Lookup("games")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	home, err := os.MkdirTemp("/tmp", "bourse-shadow-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	self, err := os.Executable()
	if err == nil {
		err = exec.Command("cp", self, filepath.Join(home, "bourse")).Run()
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(members[1].File)
	}
	file := filepath.Join(home, "north.toml")
	if err == nil {
		err = os.WriteFile(file, append([]byte("sell = false\n"), text...), 0o644)
	}
	if err == nil {
		err = exec.Command("chown", "-R", "games", home).Run()
	}
	if err != nil {
		t.Fatal(err)
	}
	slurm := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v %s", name, err, out)
		}
		return string(out)
	}
	look := exec.CommandContext(t.Context(), filepath.Join(home, "bourse"), "site", file, "--every", "5s", "--for", "40s", "--demand", "1", "--json")
	look.Env, look.Dir = append(os.Environ(), federation.ChildMark+"=1", "HOME="+home), home
	look.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	var out, messages bytes.Buffer
	look.Stdout, look.Stderr = &out, &messages
	if err := look.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "it looks", func() bool {
		text, _ := os.ReadFile(filepath.Join(home, "shadow-north.jsonl"))
		return bytes.Contains(text, []byte(`"looked"`))
	})
	time.Sleep(2 * time.Second) // Slurm counts whole seconds: these are submitted after the first look
	for _, limit := range []string{"10", "20"} {
		slurm("sbatch", "--uid=games", "--chdir=/", "--output=/dev/null", "-N", "3", "-t", limit, "--wrap", "sleep 600")
	}
	if err := look.Wait(); err != nil {
		t.Fatalf("%v %s", err, messages.String())
	}
	var r shadow.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Sold != 2 || r.SoldTime != 90*grid.Minute || r.Failed != 0 || r.Busy == 0 {
		t.Errorf("%v %s%s", err, out.String(), messages.String())
	}
	if shown := slurm("scontrol", "show", "reservation", "-o"); !strings.Contains(shown, "No reservations") {
		t.Errorf("reservations: %s", shown)
	}
	if shown := slurm("squeue", "--noheader", "--format=%j"); strings.Count(shown, "wrap") != 2 || strings.Count(shown, "\n") != 2 {
		t.Errorf("jobs: %s", shown)
	}
}
