package configs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// The speedups of a batch file are those of the laws: Amdahl's, T(R) = s + (1-s)/R
// of the work of one node; a power of the nodes; a table as it stands.
func TestReadBatch_MoldableJobs(t *testing.T) {
	t.Parallel()
	const minute = grid.Minute
	for _, c := range []struct {
		keys  string
		nodes int
		want  []grid.Size
	}{
		{`nodes = "1..4"
length = "100m"
speedup = { amdahl = 0.2 }`, 1, []grid.Size{{Nodes: 1, Length: 100 * minute}, {Nodes: 2, Length: 60 * minute}, {Nodes: 3, Length: 2_800_000}, {Nodes: 4, Length: 40 * minute}}},
		{`nodes = "4..6"
length = "90m"
speedup = { power = 1.0 }`, 4, []grid.Size{{Nodes: 4, Length: 90 * minute}, {Nodes: 5, Length: 72 * minute}, {Nodes: 6, Length: 60 * minute}}},
		{`nodes = "4..16"
speedup = { table = { 16 = "40m", 4 = "2h", 8 = "50m" } }`, 8, []grid.Size{{Nodes: 4, Length: 120 * minute}, {Nodes: 8, Length: 50 * minute}, {Nodes: 16, Length: 40 * minute}}},
		{`nodes = "4..4"
length = "90m"
speedup = { amdahl = 0 }`, 4, nil},
	} {
		b, err := ParseBatch("f.toml", fmt.Appendf(nil, "[[job]]\nname = \"wave\"\nmax_price = 2\ndeadline = \"1d\"\n%s\n", c.keys))
		if err != nil {
			t.Errorf("%s: %v", c.keys, err)
			continue
		}
		j := b.Jobs[0].At(0, time.Unix(0, 0))
		if !slices.Equal(j.Sizes, c.want) || j.Nodes != c.nodes || !j.Molded() {
			t.Errorf("%s: %d nodes for %v, sizes %v; want %v", c.keys, j.Nodes, j.Length, j.Sizes, c.want)
		}
		if j.Budget != j.DefaultBudget() {
			t.Errorf("%s: budget %v", c.keys, j.Budget)
		}
	}
}

// The deadline binds the shortest of a moldable job's lengths, not the first.
func TestReadBatch_DeadlineOfTheWidestSize(t *testing.T) {
	t.Parallel()
	const file = "[[job]]\nname = \"wave\"\nnodes = \"1..2\"\nlength = \"2h\"\nspeedup = { power = 1.0 }\nmax_price = 2\ndeadline = %q\n"
	if _, err := ParseBatch("f.toml", fmt.Appendf(nil, file, "1h")); err != nil {
		t.Error(err)
	}
	if _, err := ParseBatch("f.toml", fmt.Appendf(nil, file, "59m")); err == nil {
		t.Error("59 minutes are taken for a job that takes an hour at least")
	}
}

// A job is of one node if it does not say of how many, as on the command line.
func TestParseBatch_OneNodeByDefault(t *testing.T) {
	t.Parallel()
	b, err := ParseBatch("a.toml", []byte("[[job]]\nname = \"a\"\nlength = \"1m\"\nbudget = 5.0\n"))
	if err != nil || b.Jobs[0].Nodes != 1 {
		t.Errorf("%+v, %v", b, err)
	}
}
