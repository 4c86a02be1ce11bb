//go:build linux

package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Three real Slurm clusters of nodes in lanes: two nodes of each lane in each cluster,
// and one more, which is reserved for somebody else.

const (
	mostLanes = 14
	perLane   = 2
	ofOthers  = "news" // the account of somebody else
)

// slurms is the clusters, and what is seen of them.
type slurms struct {
	t     *testing.T
	dir   string
	lanes int

	mu    sync.Mutex
	truth truth
	now   []map[string]string // of each cluster by name, what of ours a manager shows: "job 12 PENDING", "reservation"
	hands map[string]int      // what was done to them
}

func startSlurms(t *testing.T, lanes int) *slurms {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "slurm-drill-") // the paths of sockets are short
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	s := &slurms{t: t, dir: dir, lanes: lanes, now: make([]map[string]string, 4), hands: map[string]int{}}
	s.truth.sights = map[string]*sight{}
	t.Cleanup(func() {
		if err := s.script("stop"); err != nil {
			t.Error(err)
		}
		if t.Failed() || *keep {
			t.Logf("the clusters' logs are in %s", dir)
			return
		}
		must(t, os.RemoveAll(dir))
	})
	must(t, s.script("start", "3", fmt.Sprint(lanes*perLane+1)))
	must(t, os.WriteFile(s.file("work.sh"), fmt.Appendf(nil, markScript, s.file("marks")), 0o755))
	must(t, os.WriteFile(s.file("foreign.sh"), fmt.Appendf(nil, "#!/bin/sh\necho begin $SLURM_CLUSTER_NAME $SLURM_JOB_ID $SLURM_JOB_NAME >>%[1]s\nsleep $1\necho end $SLURM_CLUSTER_NAME $SLURM_JOB_ID $SLURM_JOB_NAME >>%[1]s\n", s.file("foreign")), 0o755))
	for _, f := range []string{"marks", "foreign"} {
		must(t, os.WriteFile(s.file(f), nil, 0o666))
		must(t, os.Chmod(s.file(f), 0o666))
	}
	for c := 1; c <= 3; c++ {
		_, err := s.run(c, "", "scontrol", "create", "reservation", "ReservationName=bourse.theirs", "StartTime=now", "Duration=300", "Users="+ofOthers, fmt.Sprintf("Nodes=c%dn%d", c, lanes*perLane+1))
		must(t, err)
	}
	return s
}

func (s *slurms) file(name string) string { return filepath.Join(s.dir, name) }

func (s *slurms) conf(c int) string { return s.file(fmt.Sprintf("c%d/slurm.conf", c)) }

// siteOf is the site beside a cluster.
func siteOf(c int) string { return fmt.Sprintf("c%d", c) }

func (s *slurms) script(args ...string) error {
	cmd := exec.Command("bash", append([]string{"../../cluster/slurm/testdata/clusters.sh", args[0], s.dir}, args[1:]...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("SLURM_LANE=%d", perLane), "SLURM_PORT=24000")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("clusters.sh %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// run runs one of Slurm's commands as an account, "" for root.
func (s *slurms) run(c int, as string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	if as != "" {
		args = append([]string{"setpriv", "--reuid=" + as, "--regid=nogroup", "--clear-groups"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SLURM_CONF=" + s.conf(c), "TZ=UTC", "LC_ALL=C"}
	cmd.Dir = "/"
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return out.String(), nil
}

// look takes down what of ours a manager shows.
func (s *slurms) look(c int) error {
	at := time.Now()
	jobs, err1 := s.run(c, "", "squeue", "--all", "--noheader", "--format=%j|%A|%T")
	reserved, err2 := s.run(c, "", "scontrol", "show", "reservation", "-o")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	there := map[string]string{}
	for line := range strings.Lines(reserved) {
		for word := range strings.FieldsSeq(line) {
			if name, ok := strings.CutPrefix(word, "ReservationName="); ok && s.ours(name) {
				there[name] = "reservation"
			}
		}
	}
	for line := range strings.Lines(jobs) {
		if f := strings.Split(strings.TrimSpace(line), "|"); len(f) == 3 && s.ours(f[0]) {
			there[f[0]] = "job " + f[1] + " " + f[2]
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[c] = there
	for name := range there {
		if s.truth.sights[name] == nil {
			s.truth.sights[name] = &sight{cluster: siteOf(c), first: at}
		}
		s.truth.sights[name].last = at
	}
	return nil
}

// ours reports whether a name is of the form that docs/SLURM.md gives.
func (s *slurms) ours(name string) bool {
	p := strings.Split(name, ".")
	return len(p) == 3 && p[0] == "bourse" && len(p[2]) == 32 && strings.Trim(p[2], "0123456789abcdef") == ""
}

// mend has nodes take work again that Slurm has drained by itself: after a controller
// has forgotten a job and given its number to another one, "Duplicate jobid".
func (s *slurms) mend(c int) {
	out, err := s.run(c, "", "sinfo", "--noheader", "-N", "--states=drain", "--format=%N|%E")
	if err != nil {
		return
	}
	for line := range strings.Lines(out) {
		node, why, _ := strings.Cut(strings.TrimSpace(line), "|")
		if _, err := s.run(c, "", "scontrol", "update", "NodeName="+node, "State=RESUME"); err == nil {
			s.mu.Lock()
			s.hands["node resumed that Slurm had drained, "+why]++
			s.mu.Unlock()
		}
	}
}

// any is a name of ours that a manager shows, and what of it; "" if there is none.
func (s *slurms) any(r *rand.Rand, c int, what string) (name, is string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for n, is := range s.now[c] {
		if strings.HasPrefix(is, what) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	slices.Sort(names)
	name = names[r.IntN(len(names))]
	return name, s.now[c][name]
}

// upset takes down that a cluster is not whole until the function that it returns is
// called, and for some seconds more.
func (s *slurms) upset(c int, what string) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hands[what]++
	i := len(s.truth.upset)
	s.truth.upset = append(s.truth.upset, upset{siteOf(c), time.Now(), time.Now().Add(time.Hour), what == "controller killed"})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.truth.upset[i].to = time.Now().Add(recovers)
	}
}

// others submits a job of somebody else.
func (s *slurms) others(r *rand.Rand, c int) {
	name := []string{"wave", "bourse", "bourse." + siteOf(c) + ".mine", "bourse." + siteOf(c) + "." + strings.Repeat("0af", 10)}[r.IntN(4)]
	args := []string{"sbatch", "--parsable", "--job-name=" + name, "--output=/dev/null", "--chdir=/", "--time=1", "--no-requeue"}
	if r.IntN(3) == 0 {
		args = append(args, "--reservation=bourse.theirs")
	}
	out, err := s.run(c, ofOthers, append(args, s.file("foreign.sh"), fmt.Sprint(2+r.IntN(12)))...)
	if err != nil {
		return // the controller is down
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.truth.foreign = append(s.truth.foreign, foreignJob{cluster: siteOf(c), number: strings.TrimSpace(out), name: name, submitted: time.Now()})
}

// finish reads what is left when all is over.
func (s *slurms) finish() *truth {
	s.t.Helper()
	text, err := os.ReadFile(s.file("marks"))
	must(s.t, err)
	t := &s.truth
	t.marks, err = readMarks(string(text))
	must(s.t, err)
	said, err := os.ReadFile(s.file("foreign"))
	must(s.t, err)
	for i := range t.foreign {
		f := &t.foreign[i]
		f.begun = strings.Contains(string(said), fmt.Sprintf("begin %s %s %s\n", f.cluster, f.number, f.name))
		f.ended = strings.Contains(string(said), fmt.Sprintf("end %s %s %s\n", f.cluster, f.number, f.name))
	}
	for c := 1; c <= 3; c++ {
		must(s.t, s.look(c))
		for name, is := range s.now[c] {
			t.left = append(t.left, fmt.Sprintf("%s at %s: %s", name, siteOf(c), is))
		}
		log, err := os.ReadFile(s.file(fmt.Sprintf("c%d/log/slurmctld", c)))
		must(s.t, err)
		over, err := readOver(siteOf(c), s.file(fmt.Sprintf("c%d/log/jobs", c)), readDenied(string(log)))
		must(s.t, err)
		t.over = append(t.over, over...)
		theirs, err := s.run(c, "", "scontrol", "show", "reservation", "-o", "bourse.theirs")
		if err != nil || !strings.Contains(theirs, fmt.Sprintf("Nodes=c%dn%d ", c, s.lanes*perLane+1)) || !strings.Contains(theirs, "Users="+ofOthers+" ") {
			t.strange = append(t.strange, fmt.Sprintf("reservation bourse.theirs of %s is %v %s", siteOf(c), err, theirs))
		}
	}
	return t
}

// empty reports whether no manager shows anything of ours.
func (s *slurms) empty() bool {
	for c := 1; c <= 3; c++ {
		if s.look(c) != nil || len(s.now[c]) > 0 {
			return false
		}
	}
	return true
}

// killed ends the process of a pid file.
func (s *slurms) killed(c int, daemon string) bool {
	text, err := os.ReadFile(s.file(fmt.Sprintf("c%d/pid/%s", c, daemon)))
	var pid int
	if _, err2 := fmt.Sscan(string(text), &pid); err != nil || err2 != nil || pid <= 1 {
		return false
	}
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.HasPrefix(string(comm), "slurm") && syscall.Kill(pid, syscall.SIGKILL) == nil
}

// busy reports whether jobs, of whomever, are left.
func (s *slurms) busy() bool {
	for c := 1; c <= 3; c++ {
		if out, err := s.run(c, "", "squeue", "--all", "--noheader"); err != nil || strings.TrimSpace(out) != "" {
			return true
		}
	}
	return false
}
