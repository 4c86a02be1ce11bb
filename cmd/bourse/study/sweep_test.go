package study

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/simulation"
)

// smallSweep is four combinations of two seeds each.
//
//go:embed testdata/sweep/sweep.toml
var smallSweep string

//go:embed testdata/sweep/base.toml
var smallScenario string

func sweepFiles(t *testing.T) (file, out string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"sweep.toml": smallSweep, "base.toml": smallScenario} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "sweep.toml"), filepath.Join(dir, "out")
}

// contents reads all files of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

func TestSweep_HasARowForEachRun(t *testing.T) {
	t.Parallel()
	file, out := sweepFiles(t)
	stdout, msg, code := workloadCommand("sweep", file, "--out", out)
	if code != 0 || !strings.Contains(stdout, "4 combinations, 2 seeds each from 5 on") {
		t.Fatalf("exit %d: %s%s", code, stdout, msg)
	}
	all := contents(t, out)
	if len(all) != 7 {
		t.Errorf("%d files", len(all))
	}
	rows := strings.Split(strings.TrimSpace(all["runs.csv"]), "\n")
	if len(rows) != 9 || !strings.HasPrefix(rows[0], "point,broker.algorithm,site.pricing,seed,north: used %,") ||
		!strings.HasPrefix(rows[4], "2,alp,adaptive,6,") || !strings.HasPrefix(rows[5], "3,amp,fixed,5,") {
		t.Errorf("%q", rows)
	}
	// The sites' own jobs do not depend on the broker's algorithm: common random numbers.
	if rows[1][len("1,alp,fixed,5,"):len("1,alp,fixed,5,")+4] == rows[2][len("1,alp,fixed,6,"):len("1,alp,fixed,6,")+4] {
		t.Errorf("two seeds, one figure: %s", rows[1])
	}
}

// Wherever a sweep is interrupted, it goes on to the same files.
func TestSweep_InterruptedItEndsWithTheSameFiles(t *testing.T) {
	t.Parallel()
	file, whole := sweepFiles(t)
	if _, msg, code := workloadCommand("sweep", file, "--out", whole); code != 0 {
		t.Fatalf("exit %d: %s", code, msg)
	}
	want := contents(t, whole)
	config, err := configs.ReadSweep(file)
	if err != nil {
		t.Fatal(err)
	}
	for after, torn := range map[int]string{0: "", 1: `{"Run":3,"Fig`, 5: "", 7: "{"} {
		out := filepath.Join(t.TempDir(), "out")
		interrupt(t, config, out, after, torn)
		if _, msg, code := workloadCommand("sweep", file, "--out", out); code != 2 || !strings.Contains(msg, "--resume") {
			t.Fatalf("exit %d: %s", code, msg)
		}
		_, msg, code := workloadCommand("sweep", file, "--out", out, "--resume")
		if code != 0 || after > 0 && !strings.Contains(msg, fmt.Sprintf("already has %d of 8 runs", after)) {
			t.Fatalf("exit %d: %s", code, msg)
		}
		got := contents(t, out)
		if len(got) != len(want) {
			t.Errorf("after %d runs: %d files", after, len(got))
		}
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("after %d runs %s differs", after, name)
			}
		}
	}
}

// interrupt runs some of a sweep, and leaves what it has begun to write.
func interrupt(t *testing.T, config *configs.Sweep, out string, after int, torn string) {
	t.Helper()
	print, err := config.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	sweep := &simulation.Sweep{Config: config, Workloads: simulation.NewWorkloads()}
	sheet := newSweepSheet(sweep, print)
	if err := sheet.open(out, false); err != nil {
		t.Fatal(err)
	}
	defer sheet.close()
	stop := errors.New("interrupted")
	err = sweep.Run(sheet.has, func(r simulation.SweepRun) error {
		if sheet.Finished() == after {
			return stop
		}
		return sheet.add(r)
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	if _, err := sheet.file.WriteString(torn); err != nil {
		t.Fatal(err)
	}
}

func TestSweep_RefusesTheProgressOfAnother(t *testing.T) {
	t.Parallel()
	file, out := sweepFiles(t)
	config, err := configs.ReadSweep(file)
	if err != nil {
		t.Fatal(err)
	}
	interrupt(t, config, out, 2, "")
	if err := os.WriteFile(file, []byte(smallSweep+"# another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, msg, code := workloadCommand("sweep", file, "--out", out, "--resume"); code != 2 || !strings.Contains(msg, "belongs to another sweep") {
		t.Errorf("exit %d: %s", code, msg)
	}
	if _, msg, code := workloadCommand("sweep", file, "--resume"); code != 2 || !strings.Contains(msg, "--out DIR") {
		t.Errorf("exit %d: %s", code, msg)
	}
	if _, msg, code := workloadCommand("sweep"); code != 2 || !strings.Contains(msg, "one file") {
		t.Errorf("exit %d: %s", code, msg)
	}
}
