package slurm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// These tests have two real clusters, and begin with TestReal. BOURSE_SLURM=1 runs
// them where Slurm is installed. Of the first cluster each test has nodes of its own, for
// they run side by side: what is done to a node may show on it after its test has ended, as
// on one that is resumed. The second is for the one that kills its controller.

// realDir is where the clusters are; "": there are none.
var realDir string

func TestMain(m *testing.M) { os.Exit(withClusters(m.Run)) }

func withClusters(run func() int) (status int) {
	if os.Getenv("BOURSE_SLURM") != "1" {
		return run()
	}
	dir, err := os.MkdirTemp("/tmp", "bourse-slurm-") // the paths of sockets are short
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := clusters("stop", dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
		if status == 0 {
			_ = os.RemoveAll(dir)
		} else {
			fmt.Fprintf(os.Stderr, "the clusters' logs are in %s\n", dir)
		}
	}()
	for name, value := range map[string]string{"SLURM_EXTRA": "PartitionName=short Nodes=ALL MaxTime=1:00:00 State=UP", "NODE_CPUS": "8", "NODE_GPUS": "8"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if err := clusters("start", dir, "2", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	realDir = dir
	return run()
}

func clusters(args ...string) error {
	cmd := exec.Command("bash", append([]string{"testdata/clusters.sh"}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// real is a driver of one of the clusters, with what tests do to it by hand.
type real struct {
	*testing.T
	d       *Driver
	cluster int
	user    string // whose work runs
	other   string // another account; "" if we are not root
}

var names atomic.Int64

func newReal(t *testing.T, cluster int) *real {
	t.Helper()
	r := alone(t, cluster)
	t.Parallel()
	return r
}

// alone is newReal for a test beside which no other runs: pilots have whatever nodes are free,
// which others may want to reserve.
func alone(t *testing.T, cluster int) *real {
	t.Helper()
	if realDir == "" {
		t.Skip("needs a real Slurm: install slurmctld, slurmd, slurm-client and munge, and set BOURSE_SLURM=1")
	}
	r := &real{T: t, cluster: cluster, user: "games", other: "news"} // accounts that every Debian has
	if os.Geteuid() != 0 {
		own, err := ownerOf(uint32(os.Geteuid()))
		if err != nil {
			t.Fatal(err)
		}
		r.user, r.other = own.name, ""
	}
	work := filepath.Join(realDir, fmt.Sprintf("work-%d", names.Add(1)))
	var err error
	r.d, err = New(Config{Commands: Commands{Conf: filepath.Join(realDir, fmt.Sprintf("c%d/slurm.conf", cluster))}, Partitions: []string{"batch"}, Holder: "mail", Folder: work})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// window is a command for a new reservation that begins in some seconds.
func (r *real) window(in, long time.Duration, nodes ...int) agents.Command {
	start := time.Now().Add(in).Truncate(time.Second)
	m := agents.Command{Name: fmt.Sprintf("bourse.%d.%d", os.Getpid(), names.Add(1)), Start: grid.Time(start.UnixMilli()), End: grid.Time(start.Add(long).UnixMilli()), User: r.user, Site: "north"}
	for _, n := range nodes {
		m.Nodes = append(m.Nodes, fmt.Sprintf("c%dn%d", r.cluster, n))
	}
	r.Cleanup(func() {
		m.Verb = agents.Delete
		r.until("what was left is deleted", func() bool { outcome, _ := r.d.carryOut(context.Background(), m); return outcome == agents.Done })
	})
	return m
}

// do carries out a command by the door that a host uses.
func (r *real) do(verb agents.CommandVerb, m agents.Command) (agents.Outcome, grid.Reason) {
	r.Helper()
	m.Verb, m.Ref = verb, 7
	var done agents.CommandDone
	r.d.Do(context.Background(), m, func(a agents.Message) { done = a.(agents.CommandDone) })
	if done.Ref != 7 || done.Name != m.Name {
		r.Fatalf("answer %+v to %+v", done, m)
	}
	return done.Outcome, done.Reason
}

func (r *real) must(verb agents.CommandVerb, m agents.Command) {
	r.Helper()
	if outcome, why := r.do(verb, m); outcome != agents.Done {
		r.Fatalf("%s: %s, %s: %v", verb, outcome, why.Code, why)
	}
}

func (r *real) mustDeny(verb agents.CommandVerb, m agents.Command, code grid.Code, words string) {
	r.Helper()
	outcome, why := r.do(verb, m)
	if outcome != agents.Denied || why.Code != code || !strings.Contains(why.String(), words) {
		r.Fatalf("%s: %s, %s: %v; must be denied, %s: ...%s...", verb, outcome, why.Code, why, code, words)
	}
}

func (r *real) look() *grid.Look {
	r.Helper()
	var looked agents.Looked
	r.d.Do(context.Background(), agents.LookRequest{Ref: 3}, func(a agents.Message) { looked = a.(agents.Looked) })
	if looked.Ref != 3 || looked.Look == nil {
		r.Fatalf("no look: %v", looked.Failure)
	}
	return looked.Look
}

func (r *real) reservation(name string) *grid.ManagedReservation {
	r.Helper()
	look := r.look()
	i := slices.IndexFunc(look.Reservations, func(x grid.ManagedReservation) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &look.Reservations[i]
}

func (r *real) jobs(name string) []grid.ManagedJob {
	r.Helper()
	return slices.DeleteFunc(r.look().Jobs, func(x grid.ManagedJob) bool { return x.Name != name })
}

// until waits for what must come about within a minute.
func (r *real) until(what string, holds func() bool) {
	r.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("not within a minute: %s", what)
		}
	}
}

// hand is what an administrator or a user does by hand.
func (r *real) hand(name string, args ...string) string {
	r.Helper()
	out, err := r.d.c.Run(context.Background(), name, args...)
	if err != nil {
		r.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func script(text string) *grid.Handover {
	return &grid.Handover{Work: grid.Work{Script: "#!/bin/sh\n" + text}, Job: "job-1", Legs: 1}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

func (r *real) output(m agents.OutputRequest) (out agents.Output) {
	r.d.Do(context.Background(), m, func(a agents.Message) { out = a.(agents.Output) })
	return out
}
