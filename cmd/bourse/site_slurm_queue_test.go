package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/process/federation"
)

// occupied has jobs of somebody else run on all nodes of two clusters: they may take so many
// minutes, and take some seconds.
func occupied(t *testing.T, managers string, nodes int, minutes [2]int, seconds int) {
	t.Helper()
	for i, n := range minutes {
		slurm := func(name string, args ...string) string {
			cmd := exec.Command(name, args...)
			cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(managers, fmt.Sprintf("c%d/slurm.conf", i+1)))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return string(out)
		}
		slurm("sbatch", "--uid="+slurmUser(t), "--chdir=/", "--output=/dev/null", fmt.Sprintf("--nodes=%d", nodes), "--exclusive", fmt.Sprintf("--time=%d", n), fmt.Sprintf("--wrap=sleep %d", seconds))
		eventually(t, time.Minute, "running", func() bool { return slurm("squeue", "--noheader", "--states=RUNNING") != "" })
	}
}

// A site sees its manager's queue: a dry run says when a job would begin behind what is there, beside
// what a window costs.
func TestSlurm_AQueueIsForecastBesideWindows(t *testing.T) {
	minutes := [2]int{20, 50}
	u := newSlurmUp(t, func(members []federation.Member) {
		for _, m := range members[1:] {
			change(t, m.File, `pricing = "adaptive"`, "pricing = \"adaptive\"\nforecast = true")
		}
		occupied(t, filepath.Dir(filepath.Dir(filepath.Dir(members[1].File))), 4, minutes, 1200)
	})
	batch := filepath.Join(u.managers, "one.toml")
	if err := os.WriteFile(batch, []byte("[[job]]\nname = \"one\"\nnodes = 2\nlength = \"5m\"\nmin_performance = 0.5\nmax_price = 9.0\ncommand = [\"true\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out string
	var lines [][]string
	line := regexp.MustCompile(`(north|south): queued, likely (\d+) min \(80 %: \d+ min to \d+ min, not calibrated\); reserved: (?:now|\d+ min), \S+ credits`)
	eventually(t, 3*time.Minute, "forecast at both", func() bool {
		out, _, _ = runCommand(t.Context(), "submit", batch, "--dry-run", "--context", u.context)
		lines = line.FindAllStringSubmatch(strings.Join(strings.Fields(out), " "), -1)
		return len(lines) == 2
	})
	for i, l := range lines { // the limits of the others, and the time that this has taken
		if n, _ := strconv.Atoi(l[2]); l[1] != []string{"north", "south"}[i] || n > minutes[i] || n < minutes[i]-5 {
			t.Errorf("%s; must be %d min", l[0], minutes[i])
		}
	}
}

// A job of a plain account goes into the queue where it will begin first, waits there as a job of the
// manager, and begins with the first pilot that it has.
func TestSlurm_APlainAccountInTheBestQueue(t *testing.T) {
	l := newLaptop(t)
	occupied(t, l.dir, laptopNodes, [2]int{50, 3}, 60)
	l.start()
	file := filepath.Join(l.fed, "train.toml")
	if err := os.WriteFile(file, []byte("[[job]]\nname = \"train\"\nnodes = 2\nlength = \"5m\"\nbudget = 20.0\nqueue = \"best\"\ncommand = [\"sh\", \"-c\", \"sleep 5\"]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := l.bourse("submit", file, "--dry-run"); err != nil || !strings.Contains(out, "it goes into a queue instead") {
		t.Errorf("%v: %s", err, out)
	}
	submitted := time.Now()
	if out, err := l.bourse("submit", file); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if j := l.until("train", 5*time.Minute, "gathering"); j.Reason != nil && !strings.Contains(j.Reason.Detail, "queued at south, likely to begin") {
		t.Errorf("it waits: %+v", j.Reason)
	}
	if out, err := l.bourse("explain", "train"); err != nil || !strings.Contains(out, "submit pilot 0 at south") || !strings.Contains(out, "north: queued, likely") {
		t.Errorf("%v: %s", err, out)
	}
	if j := l.until("train", 10*time.Minute, "done", "failed", "abandoned"); j.State != "done" || len(j.Legs) != 1 || j.Legs[0].Site != "south" {
		t.Errorf("it is %+v", j)
	}
	var pilots []managedJob
	eventually(t, time.Minute, "over", func() bool { pilots = l.ended(2, submitted.Add(-time.Minute)); return len(pilots) > 0 })
	if len(pilots) != 1 || len(l.ended(1, submitted.Add(-time.Minute))) > 0 {
		t.Errorf("its pilots were %+v", pilots)
	}
}
