package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Jobs of a controller, by name and then as squeue lists them in namedFormat.
const (
	ownJob     = "bourse.0a1b 8|ana|1800000000|RUNNING|bourse.0a1b|None|n[1-2]\n"
	foreignJob = "theirs 8|eve|1800000100|RUNNING|(null)|None|n1\n" // with the number of ours
)

// endedJobs makes the driver carry out a command to end a job that was seen as number 8,
// and returns the names of the jobs that the controller is told to end. After it has
// listed its jobs the driver begins anew, with other jobs if any are given.
func endedJobs(t *testing.T, verb agents.CommandVerb, jobs, then string) []string {
	t.Helper()
	dir := t.TempDir()
	f, err := newFolder(filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"jobs": jobs, "next": then} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commands, err := filepath.Abs("testdata/controller")
	if err != nil {
		t.Fatal(err)
	}
	d := &Driver{c: Commands{Conf: dir, Folder: commands}, work: f}
	m := example(grid.Work{})
	m.Verb, m.Work, m.Number, m.Submit = verb, nil, "8", 1_800_000_000_400
	if outcome, why := d.carryOut(t.Context(), m); outcome != agents.Done {
		t.Fatalf("%s is %s: %v", verb, outcome, why)
	}
	text, err := os.ReadFile(filepath.Join(dir, "ended"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// A controller that begins anew may have forgotten a job of ours, and give its number
// to somebody else's: before the driver lists its jobs, or between that and the end.
func TestEnd_OfAJobWhoseNumberIsAnothersNowTouchesNothing(t *testing.T) {
	t.Parallel()
	for _, verb := range []agents.CommandVerb{agents.End, agents.Delete} {
		if got := endedJobs(t, verb, ownJob, ""); !slices.Equal(got, []string{"bourse.0a1b"}) {
			t.Errorf("%s of a job that is there ends %q", verb, got)
		}
		if got := endedJobs(t, verb, foreignJob, ""); len(got) > 0 {
			t.Errorf("%s of a job that is not there any more ends %q", verb, got)
		}
		if got := endedJobs(t, verb, ownJob, foreignJob); len(got) > 0 {
			t.Errorf("%s of a job that goes meanwhile ends %q", verb, got)
		}
	}
}
