package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// fakeCommand makes a folder with one command, a shell script.
func fakeCommand(t *testing.T, name, script string) Commands {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Commands{Folder: dir}
}

// sbatch --test-only answers on stderr, in the form of versions 22.05 and later; the limit is in whole minutes, rounded up.
func TestPlanned_ReadsWhatSbatchAnswers(t *testing.T) {
	t.Parallel()
	c := fakeCommand(t, "sbatch", `
[ "$*" = "--test-only --nodes=2 --time=61 --wrap=true --partition=batch" ] || { echo "sbatch: error: asked $*" >&2; exit 1; }
echo "sbatch: Job 12 to start at 1795364741 using 4 processors on nodes site1n[1-2] in partition batch" >&2`)
	at, err := Planned(context.Background(), c, "batch", 2, &grid.Portion{}, grid.Hour+1)
	if err != nil || at != 1_795_364_741_000 {
		t.Errorf("planned at %v, %v", at, err)
	}
}

// Of a part of each node Slurm is asked as our own work of parts asks.
func TestPlanned_OfAPartOfEachNode(t *testing.T) {
	t.Parallel()
	c := fakeCommand(t, "sbatch", `
[ "$*" = "--test-only --nodes=2 --time=60 --wrap=true --ntasks-per-node=1 --cpus-per-task=1 --mem=65536M --gres=gpu:2" ] || { echo "sbatch: error: asked $*" >&2; exit 1; }
echo "sbatch: Job 12 to start at 1795364741 using 4 processors on nodes site1n[1-2] in partition batch" >&2`)
	if at, err := Planned(context.Background(), c, "", 2, &grid.Portion{GPUs: 2, Memory: 64 << 30}, grid.Hour); err != nil || at != 1_795_364_741_000 {
		t.Errorf("planned at %v, %v", at, err)
	}
}

func TestPlanned_SaysWhySlurmRefuses(t *testing.T) {
	t.Parallel()
	c := fakeCommand(t, "sbatch", `echo "allocation failure: Requested node configuration is not available" >&2; exit 1`)
	_, err := Planned(context.Background(), c, "", 9, &grid.Portion{}, grid.Hour)
	var refused *Failed
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "Requested node configuration is not available") {
		t.Errorf("refused by %v", err)
	}
	if _, err = Planned(context.Background(), fakeCommand(t, "sbatch", "echo later >&2"), "", 1, &grid.Portion{}, 1); err == nil || !strings.Contains(err.Error(), `no start in "later`) {
		t.Errorf("an answer without a start gives %v", err)
	}
	if _, err = Planned(context.Background(), Commands{Folder: t.TempDir()}, "", 1, &grid.Portion{}, 1); !errors.As(err, &refused) || !refused.Missing {
		t.Errorf("without sbatch: %v", err)
	}
}

// A line is a job; one that never started, or has no limit of its own, is left out.
// The last ones are kept, by their ends.
func TestEnded_ReadsWhatAccountingPrints(t *testing.T) {
	t.Parallel()
	text := "7|ana|60|1700000000|1700000100|1700001900|4|batch\n" +
		"8|ana|60|1700000000|Unknown|1700000500|4|batch\n" +
		"9_2|ben|1440|1700000000|1700000200|1700000800|4|batch\n" +
		"10|ben|UNLIMITED|1700000000|1700000200|1700000800|4|batch\n" +
		"11|ben|Partition_Limit|1700000000|1700000200|1700000800|4|batch\n" +
		"12|cyd|5|1700000000|1700000300|1700000300|4|batch\n\n"
	jobs, err := readEnded([]byte(text), 10)
	var got []string
	for _, j := range jobs {
		got = append(got, j.Number+" "+j.User+" "+j.Limit.String()+" "+j.End.Sub(j.Start).String()+fmt.Sprintf(" %d %s", j.Count, j.Partition))
	}
	if want := []string{"9_2 ben 86400 600 4 batch", "7 ana 3600 1800 4 batch"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("jobs %q, %v; want %q", got, err, want)
	}
	if jobs, _ := readEnded([]byte(text), 1); len(jobs) != 1 || jobs[0].Number != "7" {
		t.Errorf("the last one is %+v", jobs)
	}
	if _, err := readEnded([]byte("7|ana\n"), 1); err == nil || !strings.Contains(err.Error(), "2 fields, not 8") {
		t.Errorf("a short line gives %v", err)
	}
}

func FuzzReadEnded(f *testing.F) {
	f.Add([]byte("7|ana|60|1700000000|1700000100|1700001900|4|batch\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		jobs, err := readEnded(text, 3)
		if err == nil && len(jobs) > 3 {
			t.Errorf("%d jobs", len(jobs))
		}
		for _, j := range jobs {
			if j.Limit <= 0 || j.Start <= 0 || j.End <= j.Start {
				t.Errorf("job %+v", j)
			}
		}
	})
}
