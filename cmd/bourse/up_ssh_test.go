package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/process/federation"
)

// sshHere is a program named ssh: it runs its last argument here, with the home and the Slurm
// cluster that its destination stands for. What it runs outlives it, as at the other end of a
// connection that is cut. While there is a file named cut, no connection can be made.
const sshHere = `#!/bin/sh
here=%s
[ -e "$here/cut" ] && { echo 'ssh: connect to host north port 22: Network is unreachable' >&2; exit 255; }
for last; do :; done
while [ "$1" != -- ]; do shift; done
case $2 in *@north.*) n=1 ;; *) n=2 ;; esac
SLURM_CONF=$here/c$n/slurm.conf HOME=$here/home$n
export SLURM_CONF HOME
echo $$ >"$here/calls/$$"
exec 3<&0
(cd && exec sh -c "$last" <&3 3<&-) &
wait $!
status=$?
rm -f "$here/calls/$$"
exit $status
`

// laptop is a federation that one command has laid out for a plain account of this machine, over
// two real Slurm clusters in which others' jobs run and wait.
type laptop struct {
	*testing.T
	dir     string // with the clusters, and the homes of the account there
	fed     string // the folder of up
	account *user.User
	up      *exec.Cmd
}

// laptopNodes is how many each cluster has.
const laptopNodes = 6

// newLaptop starts the clusters, lets others in, and runs up.
func newLaptop(t *testing.T) *laptop {
	t.Helper()
	if os.Getenv("BOURSE_SLURM") != "1" {
		t.Skip("needs a real Slurm: install slurmctld, slurmd, slurm-client and munge, and set BOURSE_SLURM=1")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become an account without rights")
	}
	dir, err := os.MkdirTemp("/tmp", "bourse-slurm-") // the paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	l := &laptop{T: t, dir: dir, fed: filepath.Join(dir, "fed")}
	t.Cleanup(func() {
		if err := slurmClusters("stop", dir); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	if l.account, err = user.Lookup("games"); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(dir, "bin", "ssh"), fmt.Appendf(nil, sshHere, dir), 0o755),
		exec.Command("cp", self, filepath.Join(dir, "bin", "bourse")).Run()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"fed", "calls", "home1", "home2"} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("chown", l.account.Username, path).Run(); err != nil {
			t.Fatal(err)
		}
	}
	if err := slurmClusters("start", dir, "2", strconv.Itoa(laptopNodes)); err != nil {
		t.Fatal(err)
	}
	return l
}

// others submits jobs of others as long as the test runs, so that there is a queue as a rule.
func (l *laptop) others() {
	ctx := l.Context()
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			for c := 1; c <= 2; c++ {
				if waiting := l.slurm(c, "squeue", "--noheader", "--user=daemon,mail", "--states=PENDING", "--format=%A"); len(strings.Fields(waiting)) < 2 {
					l.slurm(c, "sbatch", "--uid="+[]string{"daemon", "mail"}[i%2], "--chdir=/", "--output=/dev/null", "--exclusive", "--time=1",
						fmt.Sprintf("--nodes=%d", 1+(i*7+c*3)%4), fmt.Sprintf("--wrap=sleep %d", 15+(i*11+c*5)%25))
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(4 * time.Second):
			}
		}
	}()
}

// slurm runs one of Slurm's commands beside a cluster, as the administrator.
func (l *laptop) slurm(cluster int, name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(l.dir, fmt.Sprintf("c%d", cluster), "slurm.conf"), "TZ=UTC", "SLURM_TIME_FORMAT=%s")
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// run is one command of bourse as the plain account.
func (l *laptop) run(args ...string) *exec.Cmd {
	uid, _ := strconv.Atoi(l.account.Uid)
	gid, _ := strconv.Atoi(l.account.Gid)
	cmd := exec.Command(filepath.Join(l.dir, "bin", "bourse"), args...)
	cmd.Dir = l.fed
	cmd.Env = []string{federation.ChildMark + "=1", "HOME=" + l.fed, "PATH=" + filepath.Join(l.dir, "bin") + ":" + os.Getenv("PATH"), "LANG=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return cmd
}

// start lays the federation out and runs it.
func (l *laptop) start() {
	l.Helper()
	l.up = l.run("up", "--ssh", l.account.Username+"@north.example", "--ssh", l.account.Username+"@south.example", "--json", "--port", strconv.Itoa(testPort(46)))
	stdout, stderr := &written{}, &written{}
	l.up.Stdout, l.up.Stderr = stdout, stderr
	if err := l.up.Start(); err != nil {
		l.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = l.up.Wait(); close(ended) }()
	l.Cleanup(func() {
		_ = l.up.Process.Signal(syscall.SIGTERM)
		<-ended
		if l.Failed() {
			l.Log(stderr.String())
		}
	})
	eventually(l.T, 5*time.Minute, "ready", func() bool {
		select {
		case <-ended:
			l.Fatalf("it has ended: %s", stderr)
		default:
		}
		return strings.HasSuffix(stdout.String(), "}\n")
	})
}

// bourse runs a user's command.
func (l *laptop) bourse(args ...string) (string, error) {
	out, err := l.run(args...).Output()
	return string(out), err
}

// waveSeconds is the length of the job, and waveIdle what its pilots may idle, in node-seconds.
const (
	waveSeconds = 600
	waveNodes   = 2 + 3
	waveIdle    = waveSeconds * waveNodes
)

// submit submits a job of two and three nodes, which may idle as much as it works.
func (l *laptop) submit(name string) {
	l.Helper()
	file := filepath.Join(l.fed, name+".toml")
	text := fmt.Sprintf("[[job]]\nname = %q\nlength = \"%ds\"\nbudget = 100.0\ncommand = [\"sh\", \"-c\", \"date +%%s.%%N; echo $BOURSE_NODES; sleep 5\"]\n[job.gather]\nparts = [\"north:2\", \"south:3\"]\nwaste = 1.0\ndeadline = \"1h\"\n", name, waveSeconds)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		l.Fatal(err)
	}
	if out, err := l.bourse("submit", file); err != nil {
		l.Fatalf("%v: %s", err, out)
	}
}

// waveJob is what is shown of a job.
type waveJob struct {
	State  string
	Reason *struct{ Code, Detail string }
	Legs   []struct {
		Site, State string
		Exit        *int
		Begin       string
	}
}

// job is what is shown of a job, false while its broker does not answer.
func (l *laptop) job(name string) (j waveJob, ok bool) {
	out, err := l.bourse("jobs", name, "--json")
	return j, err == nil && json.Unmarshal([]byte(out), &j) == nil
}

// until waits until a job is in one of some states, and says how it changes.
func (l *laptop) until(name string, most time.Duration, states ...string) (j waveJob) {
	l.Helper()
	last := ""
	for end := time.Now().Add(most); ; time.Sleep(time.Second) {
		now, ok := l.job(name)
		if ok {
			j = now
			words := j.State
			if j.Reason != nil {
				words += ": " + j.Reason.Detail
			}
			if words != last {
				l.Logf("%s %s is %s", time.Now().Format(time.TimeOnly), name, words)
				last = words
			}
			if slices.Contains(states, j.State) {
				return j
			}
		}
		if time.Now().After(end) {
			l.Fatalf("%s is %s, and not %v within %v", name, last, states, most)
		}
	}
}

// pidOf is the process of an agent, 0 if there is none at the moment.
func (l *laptop) pidOf(file string) int {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		text, _ := os.ReadFile(name)
		if args := strings.Split(string(text), "\x00"); len(args) > 3 && strings.HasSuffix(args[2], file) && strings.HasPrefix(args[0], l.dir) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			return pid
		}
	}
	return 0
}

// kill kills an agent.
func (l *laptop) kill(file string) {
	l.Helper()
	pid := l.pidOf(file)
	if pid == 0 {
		l.Fatalf("there is no process of %s", file)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		l.Fatal(err)
	}
}

// cut kills the programs named ssh and lets no connection be made for a while.
func (l *laptop) cut(most time.Duration) {
	l.Helper()
	mark := filepath.Join(l.dir, "cut")
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		l.Fatal(err)
	}
	calls, _ := filepath.Glob(filepath.Join(l.dir, "calls", "*"))
	for _, name := range calls {
		pid, _ := strconv.Atoi(filepath.Base(name))
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); pid > 1 && strings.Contains(string(line), filepath.Join(l.dir, "bin", "ssh")) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	time.Sleep(most) // no connection for a while is what is tried
	if err := os.Remove(mark); err != nil {
		l.Fatal(err)
	}
}

// managedJob is a job of ours as the manager has recorded it after its end.
type managedJob struct {
	name       string
	start, end time.Time
	nodes      int
}

// ended are our jobs of a cluster that ended after an instant.
func (l *laptop) ended(cluster int, after time.Time) (list []managedJob) {
	l.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, fmt.Sprintf("c%d/log/jobs", cluster)))
	if err != nil {
		l.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := map[string]string{}
		for _, field := range strings.Fields(line) {
			key, value, _ := strings.Cut(field, "=")
			f[key] = value
		}
		if !strings.HasPrefix(f["Name"], "bourse.") {
			continue
		}
		j := managedJob{name: f["Name"]}
		j.start, _ = time.Parse("2006-01-02T15:04:05", f["StartTime"])
		j.end, _ = time.Parse("2006-01-02T15:04:05", f["EndTime"])
		j.nodes, _ = strconv.Atoi(f["NodeCnt"])
		if f["NodeList"] == "(null)" || j.start.IsZero() {
			j.start = j.end
		}
		if j.end.After(after) {
			list = append(list, j)
		}
	}
	return list
}

// began is when the work of a leg printed its first line.
func (l *laptop) began(name string, leg int) (at time.Time) {
	l.Helper()
	eventually(l.T, 3*time.Minute, "printed", func() bool {
		out, _ := l.bourse("logs", name, "--leg", strconv.Itoa(leg))
		seconds, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
		s, err := strconv.ParseFloat(seconds, 64)
		at = time.UnixMicro(int64(s * 1e6))
		return err == nil
	})
	return at
}

// judge waits for the end of a job that has begun everywhere, and holds it to what is promised:
// its parts began within 2 s of each other, its pilots idled no longer than they may, and of it
// nothing is left.
func (l *laptop) judge(name string, submitted time.Time) {
	l.Helper()
	j := l.until(name, 20*time.Minute, "done", "failed", "abandoned", "withdrawn")
	if j.State != "done" || len(j.Legs) != 2 {
		l.Errorf("%s is %s: %+v", name, j.State, j)
		return
	}
	at := [2]time.Time{l.began(name, 0), l.began(name, 1)}
	apart := at[1].Sub(at[0]).Abs()
	l.gone(name)
	idled, pilots := 0, 0
	for c := 1; c <= 2; c++ {
		for _, p := range l.ended(c, submitted) {
			idle := p.end.Sub(p.start)
			if work := at[c-1]; work.After(p.start) && !work.After(p.end.Add(time.Second)) {
				idle = work.Sub(p.start)
			}
			idled += p.nodes * int(idle.Round(time.Second)/time.Second)
			pilots++
		}
	}
	l.Logf("%s: began %v apart, %v after its submission; %d pilots idled %d of %d node-seconds", name, apart.Round(time.Millisecond), at[0].Sub(submitted).Round(time.Second), pilots, idled, waveIdle)
	if apart > 2*time.Second {
		l.Errorf("%s began %v apart", name, apart)
	}
	if idled > waveIdle {
		l.Errorf("%s: its pilots idled %d node-seconds, and may %d", name, idled, waveIdle)
	}
}

// gone waits until nothing of a job is left: no job of the account in either manager, no process
// of its work, and no file beyond the site's folders.
func (l *laptop) gone(name string) {
	l.Helper()
	begin := time.Now()
	left := ""
	for end := begin.Add(10 * time.Minute); ; time.Sleep(time.Second) {
		left = l.slurm(1, "squeue", "--noheader", "--user="+l.account.Username) + l.slurm(2, "squeue", "--noheader", "--user="+l.account.Username)
		lines, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range lines {
			if text, _ := os.ReadFile(file); strings.Contains(string(text), "SLURM_JOB_NAME=bourse.") && strings.Contains(string(text), "SLURM_CONF="+l.dir) {
				left += file
			}
		}
		if left == "" {
			break
		}
		if time.Now().After(end) {
			l.Errorf("of %s is left after 10 minutes: %s", name, left)
			return
		}
	}
	for home, site := range map[string]string{"home1": "north", "home2": "south"} {
		err := filepath.WalkDir(filepath.Join(l.dir, home), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.HasPrefix(path, filepath.Join(l.dir, home, ".bourse", site)+"/") {
				l.Errorf("%s is left", path)
			}
			return err
		})
		if err != nil {
			l.Error(err)
		}
	}
	l.Logf("nothing of %s is left, %v after its end", name, time.Since(begin).Round(time.Second))
}

// A user with a plain account at two centres, and nothing else, starts one job at both: whatever
// is killed while it is gathered.
func TestSlurm_APlainAccountStartsAJobOnTwoClusters(t *testing.T) {
	l := newLaptop(t)
	l.start()
	l.others()
	south := filepath.Join("site-south", "site.toml")
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"plain", func() {}},
		{"site", func() { l.kill(south) }},
		{"broker", func() { l.kill(filepath.Join("broker-vo1", "broker.toml")) }},
		{"connection", func() { l.cut(40 * time.Second) }},
		{"controller", func() {
			if err := slurmClusters("kill", l.dir, "2"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second) // a controller that is down for a while is what is tried
			if err := slurmClusters("resume", l.dir, "2"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		submitted := time.Now()
		l.submit(c.name)
		l.idles(c.name)
		c.do()
		l.judge(c.name, submitted)
	}
}

// idles waits until a pilot of a job runs, or the job has got further.
func (l *laptop) idles(name string) {
	l.Helper()
	eventually(l.T, 15*time.Minute, "idle", func() bool {
		time.Sleep(time.Second) // a process each time
		j, ok := l.job(name)
		return ok && (j.State != "waiting" && j.State != "gathering" || j.Reason != nil && strings.Contains(j.Reason.Detail, " idles"))
	})
}
