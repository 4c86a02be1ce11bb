package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/process/federation"
)

// Two jobs share a node of a real cluster, of 2 and of 6 GPUs. Its controller and the site are
// killed between the confirmation and the start; a job from outside waits for them, and one that
// runs on another node is not displaced.
func TestSlurm_PartsOfANodeOutliveAControllerAndASite(t *testing.T) {
	t.Setenv("NODE_CPUS", "8")
	t.Setenv("NODE_GPUS", "8")
	u := newSlurmUp(t, func(members []federation.Member) {
		for _, m := range members[1:] {
			change(t, m.File, "nodes = 4", "nodes = 4\nslices = 8")
		}
	})
	managers, begun := u.managers, u.begun
	conf := filepath.Join(managers, "c1/slurm.conf")
	slurm := func(args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	running := slurm("sbatch", "--parsable", "--nodelist=c1n4", "--time=30", "--output=/dev/null", "--wrap=sleep 1200", "--chdir=/")
	u.placeParts("90s", 2, 6)
	t.Cleanup(func() {
		for _, name := range []string{"g2", "g6"} {
			if out, _, err := runCommand(context.Background(), "explain", name, "--context", u.context); t.Failed() {
				t.Log(out, err)
			}
		}
		if t.Failed() {
			t.Log(slurm("scontrol", "show", "reservation", "-o"), slurm("squeue", "--states=all"), slurm("sinfo", "-N", "-l"))
		}
	})
	if shown := slurm("scontrol", "show", "reservation", "-o"); strings.Count(shown, "ReservationName=bourse.") != 2 || strings.Count(shown, "OVERLAP") != 2 {
		t.Errorf("reservations:\n%s", shown)
	}
	u.killNorth()
	lines := func(name string) []string {
		text, _ := os.ReadFile(filepath.Join(begun, name))
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	eventually(t, 4*time.Minute, "both began", func() bool { return lines("g2")[0] != "" && lines("g6")[0] != "" })
	node := strings.Fields(lines("g2")[0])[1]
	outside := slurm("sbatch", "--parsable", "--nodelist="+node, "--gres=gpu:1", "--time=1", "--output=/dev/null", "--wrap=true", "--chdir=/")
	eventually(t, 2*time.Minute, "both ended", func() bool { return len(lines("g2")) == 2 && len(lines("g6")) == 2 })
	at := func(name string, line int) int64 {
		n, err := strconv.ParseInt(strings.Fields(lines(name)[line])[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if lines("g6")[0][10:] != " "+node+" 6" || lines("g2")[0][10:] != " "+node+" 2" || at("g2", 0) >= at("g6", 1) || at("g6", 0) >= at("g2", 1) {
		t.Errorf("they ran as %q and %q", lines("g2"), lines("g6"))
	}
	if got := slurm("squeue", "-h", "-t", "all", "-j", outside, "-o", "%T"); got == "RUNNING" || got == "COMPLETED" {
		if start := slurm("squeue", "-h", "-t", "all", "-j", outside, "-o", "%S"); start < time.Unix(min(at("g2", 1), at("g6", 1)), 0).Format("2006-01-02T15:04:05") {
			t.Errorf("the job from outside began at %s, beside %q and %q", start, lines("g2"), lines("g6"))
		}
	}
	if got := slurm("squeue", "-h", "-j", running, "-o", "%T"); got != "RUNNING" {
		t.Errorf("the job of another node is %s", got)
	}
	slurmEmpty(t, managers)
	eventually(t, time.Minute, "the job from outside ran", func() bool {
		return slurm("squeue", "-h", "-t", "all", "-j", outside, "-o", "%T") == "COMPLETED"
	})
	u.placeParts("0s", 1) // a hold is answered within the usual lead of 10 s
	if out, _, err := runCommand(t.Context(), "explain", "g1", "--context", u.context); err != nil || strings.Contains(out, "did not answer") {
		t.Errorf("one that is to begin at once: %v %s", err, out)
	}
}

// placeParts places jobs of so many GPUs each, whose work leaves a line when it begins, with the
// node and what it may use there, and one when it ends.
func (u *slurmUp) placeParts(ready string, gpus ...int) {
	u.Helper()
	batch, text := filepath.Join(u.managers, "batch.toml"), ""
	for _, n := range gpus {
		text += fmt.Sprintf("[[job]]\nname = \"g%d\"\nnodes = 1\ngpus_per_node = %d\nlength = \"2m\"\nready = %q\nsites = [\"north\"]\nmin_performance = 0.5\nmax_price = 9.0\n"+
			"command = [\"sh\", \"-c\", \"echo $(date +%%s) $BOURSE_NODES $BOURSE_GPUS >> %s/g%d; sleep 20; echo $(date +%%s) >> %s/g%d\"]\n", n, n, ready, u.begun, n, u.begun, n)
	}
	if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
		u.Fatal(err)
	}
	if out, messages, err := runCommand(u.Context(), "submit", batch, "--wait", "--context", u.context); err != nil || strings.Count(out, "placed") < len(gpus) {
		u.Fatalf("%v\n%s%s", err, out, messages)
	}
}
