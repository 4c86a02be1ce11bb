package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/grid"
)

// sshHere is a program named ssh: its destination is an account of this machine and one of the
// clusters, and it runs its last argument here.
const sshHere = `#!/bin/sh
for last; do :; done
while [ "$1" != -- ]; do shift; done
user=${2%%@*} SLURM_CONF=%[1]s/${2#*@}/slurm.conf HOME=%[1]s/home-${2%%@*}
export SLURM_CONF HOME
echo "Welcome to ${2#*@}"
[ "$(id -u)" = 0 ] || exec sh -c "$last"
exec setpriv --reuid="$user" --regid="$user" --init-groups sh -c "$last"
`

// newPlain is a driver over that ssh, as an account without any rights.
func newPlain(t *testing.T) *real {
	t.Helper()
	r := alone(t, 1)
	a, err := accountNamed(r.user)
	if err != nil {
		t.Fatal(err)
	}
	bin, home := filepath.Join(realDir, "bin"), filepath.Join(realDir, "home-"+r.user)
	for _, dir := range []string{bin, home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(home, int(a.uid), int(a.gid)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "ssh"), fmt.Appendf(nil, sshHere, realDir), 0o755); err != nil {
		t.Fatal(err)
	}
	h := &ssh.Host{Destination: r.user + "@c1", Control: filepath.Join(realDir, "c"), Program: filepath.Join(bin, "ssh")}
	r.d, err = New(Config{Commands: Commands{Shell: h}, Partitions: []string{"batch"}, Folder: ".bourse/north", Unreserved: true})
	if err != nil {
		t.Fatal(err)
	}
	r.d.Offer(map[string]Offer{"batch": {Partition: "batch"}})
	return r
}

// seen is the job of a name in a look that is made now; its state is "" if there is none.
func (r *real) seen(name string) (j grid.ManagedJob) {
	r.Helper()
	r.d.spaced = spaced{}
	for _, x := range r.jobs(name) {
		j = x
	}
	return j
}

// As an account without rights, over ssh: a pilot starts, work begins in it at its second, another
// pilot leaves by itself at its grant, and nothing of them is left.
func TestReal_APilotOfAPlainAccount(t *testing.T) {
	r := newPlain(t)
	p, w, idle := r.pilot(3*grid.Minute), r.window(time.Hour, time.Minute), r.pilot(15*grid.Second)
	r.must(agents.Claim, p)
	r.must(agents.Claim, p) // its answer was lost
	r.must(agents.Claim, idle)
	var job, lone grid.ManagedJob // on a busy machine the lone one may have left before it is seen
	r.until("the pilot runs", func() bool {
		job = r.seen(p.Name)
		return job.State == grid.ManagedRunning && job.Granted == 3*grid.Minute
	})
	p.Granted = 4 * grid.Minute
	r.must(agents.Grant, p)
	w.In, w.Nodes, w.Work = p.Name, job.Nodes, script("id -un; date +%s; echo $BOURSE_NODES; sleep 2; exit 3\n")
	w.Start = seconds(wallClock()) + 20_000
	r.must(agents.Run, w)
	r.must(agents.Run, w)
	var work grid.ManagedJob
	r.until("the work has ended", func() bool { work = r.seen(w.Name); return work.State == grid.ManagedEnded })
	if work.Start < w.Start || work.Start > w.Start.Add(2*grid.Second) || work.Exit != 3 || work.In != p.Name || work.Number != job.Number || !slices.Equal(work.Nodes, job.Nodes) {
		t.Errorf("it has run as %+v; must begin at %v", work, w.Start)
	}
	printed := string(r.output(agents.OutputRequest{Name: w.Name, From: -1}).Data)
	var user, nodes string
	var began int64
	if _, err := fmt.Sscan(printed, &user, &began, &nodes); err != nil || user != r.user || began < int64(w.Start/1000) || began > int64(w.Start/1000)+2 {
		t.Errorf("it printed %q; must be %s, at %d", printed, r.user, int64(w.Start/1000))
	}
	r.until("the lone pilot has left", func() bool { lone = r.seen(idle.Name); return lone.State == grid.ManagedEnded })
	if idled := lone.End.Sub(lone.Start); idled > 15*grid.Second || lone.Exit != 0 || lone.Signal != 0 {
		t.Errorf("it idled for %s of 15s: %+v", idled.Words(), lone)
	}
	w.In = idle.Name
	w.Name += "x"
	r.mustDeny(agents.Run, w, grid.BadState, "it has left")
	r.until("the pilot is over with its work", func() bool { return over(r.seen(p.Name).State) })
	for _, name := range []string{p.Name, idle.Name} {
		if left := r.hand("squeue", "--noheader", "--name="+name, "--states=RUNNING,PENDING"); left != "" {
			t.Errorf("there is still %s", left)
		}
	}
}

// pilot is the claim of one with two nodes.
func (r *real) pilot(granted grid.Duration) agents.Command {
	m := agents.Command{Name: "bourse.pilot." + strconv.Itoa(os.Getpid()) + "." + strconv.FormatInt(names.Add(1), 10), Group: "batch", Count: 2,
		Limit: 10 * grid.Minute, Granted: granted, User: r.user}
	r.Cleanup(func() {
		r.until("the pilot is deleted", func() bool { outcome, _ := r.do(agents.Delete, m); return outcome == agents.Done })
	})
	return m
}
