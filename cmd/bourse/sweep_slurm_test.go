package main

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/process/federation"
)

// The array that plan prints runs on a real Slurm cluster, and the merge that it names
// gives the bytes of one machine. The script is submitted as it is printed.
func TestSlurm_SweepOfAnArrayIsThatOfOneMachine(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOURSE_SLURM") != "1" {
		t.Skip("needs a real Slurm: install slurmctld, slurmd, slurm-client and munge, and set BOURSE_SLURM=1")
	}
	dir, err := os.MkdirTemp("/tmp", "bourse-sweep-") // the paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, d := range []string{dir, filepath.Join(dir, "work")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	bourse := "#!/bin/sh\n" + federation.ChildMark + "=1 exec " + "'" + strings.ReplaceAll(self, "'", `'\''`) + "'" + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "bin", "bourse"), []byte(bourse), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := slurmClusters("stop", dir); err != nil {
			t.Error(err)
		}
	})
	if err := slurmClusters("start", dir, "1", "2"); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	for name, text := range map[string]string{"sweep.toml": smallSweep, "base.toml": smallScenario} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute) // a generous limit
	defer stop()
	run := func(script string) string {
		t.Helper()
		cmd := exec.CommandContext(ctx, "sh", "-e", "-c", script)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "c1", "slurm.conf"), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			logs, _ := filepath.Glob(filepath.Join(work, "*.log"))
			for _, name := range logs {
				text, _ := os.ReadFile(name)
				t.Logf("%s: %s", filepath.Base(name), text)
			}
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	run("bourse sweep sweep.toml --out one")
	run("bourse sweep plan sweep.toml --engine slurm --parts 4 --cpus 1 --memory 0 --time 5m --out all > array.sh")
	// Both as the plan says: the array, and the merge that waits for it.
	array := strings.TrimSpace(run("sbatch --parsable array.sh"))
	after := commentOf(t, filepath.Join(work, "array.sh"), "#   sbatch ")
	run("sbatch " + strings.Replace(after, "afterok:J", "afterok:"+array, 1))
	run(`until [ -z "$(squeue -h -t PD,R,CG -o %A)" ]; do sleep 0.1; done`)
	parts, err := filepath.Glob(filepath.Join(work, "all", "part-*", "part.jsonl"))
	if err != nil || len(parts) != 4 {
		run("false # to show the logs")
	}
	if got, want := filesOf(t, filepath.Join(work, "all")), filesOf(t, filepath.Join(work, "one")); !maps.Equal(got, want) {
		t.Errorf("merged there are\n%v, want\n%v", got, want)
	}
}

// commentOf is what follows a prefix in a line of a script.
func commentOf(t *testing.T, file, prefix string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest)
		}
	}
	t.Fatalf("no line of %s begins with %q", file, prefix)
	return ""
}

// filesOf reads the files of a folder, not those of the folders in it.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}
