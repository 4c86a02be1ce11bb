package torture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Seeds that have broken something once, of the product or of the checker.
func TestTorture_SeedsThatOnceBroke(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{501656, 502619, 200089, 200116, 200141, 200379, 1560, 1000} {
		if r := Run(seed, Options{Alone: true}); r.Broken != nil {
			t.Errorf("seed %d: %v", seed, r.Broken)
		}
	}
}

// Forty seeds under the faults hold every invariant; eight in the quick step. They begin at 41, so
// that half lie beyond 60: no site reloads its file, or divides its nodes, in a world before.
func TestTorture_EveryInvariantHolds(t *testing.T) {
	t.Parallel()
	seeds := thorough.Count(40, 8)
	sum := NewReport("")
	_ = Each(41, seeds, Options{}, func(r Result) error {
		sum.Add(r)
		return nil
	})
	for _, v := range sum.Violations {
		t.Errorf("seed %d: %s\nreplay: %s", v.Seed, v.Detail, v.Command)
	}
	if sum.Transactions < 100*seeds || sum.Injected() < 20*seeds {
		t.Errorf("%d transactions and %d faults in %d seeds; want 100 and 20 a seed", sum.Transactions, sum.Injected(), seeds)
	}
	for k, n := range sum.Faults {
		if !thorough.Check() {
			break // some kinds strike one world of 16
		}
		least := seeds / 5
		if k == string(world.AllSilent) { // one for each broker, in one world of 16
			least = seeds * 3 / 20
		}
		if n < least {
			t.Errorf("%s struck %d times in %d seeds, want %d", k, n, seeds, least)
		}
	}
	t.Logf("%d transactions, %d committed, %d faults: %v", sum.Transactions, sum.Committed, sum.Injected(), sum.Faults)
}

func TestTorture_WithoutFaultsNothingIsAborted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seed  uint64
		share int // of the tries that commit, in tenths
	}{
		{4, 9},
		// Managers stand behind four sites. What they offer counts nodes, and a leg takes
		// the same ones all through: a hold is refused where only others follow each other.
		{1, 8},
	} {
		r := Run(c.seed, Options{Faults: []sim.Fault{}, Rerun: true})
		if r.Broken != nil {
			t.Fatal(r.Broken)
		}
		if r.Committed < 60 || r.Committed < r.Transactions*c.share/10 {
			t.Errorf("seed %d: %d of %d tries committed", c.seed, r.Committed, r.Transactions)
		}
	}
}

func TestTorture_TheSameSeedGivesTheSameTrace(t *testing.T) {
	t.Parallel()
	trace := func(seed uint64) []string {
		var lines []string
		Run(seed, Options{Trace: func(l string) { lines = append(lines, l) }})
		return lines
	}
	for _, seed := range []uint64{5, 17}[:thorough.Count(2, 1)] { // in the second, sites show plans of promises
		if !slices.Equal(trace(seed), trace(seed)) {
			t.Errorf("seed %d gives another trace the second time", seed)
		}
	}
	if slices.Equal(trace(5), trace(6)) {
		t.Error("another seed gives the same trace")
	}
}

func TestFaults_AreReadAsTheyAreShown(t *testing.T) {
	t.Parallel()
	list := world.Faults(3)
	var b strings.Builder
	for _, f := range list {
		b.WriteString(f.String() + " # a note\n\n")
	}
	read, err := ParseFaults(b.String())
	if err != nil || !slices.Equal(read, list) {
		t.Errorf("%v, %v", read, err)
	}
	if _, err := ParseFaults("drop at=1\ndrop in=2"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("an error that names no line: %v", err)
	}
}

// Every row of docs/internals/FAILURES.md names what shows it: a scenario or a test that
// there is. Every kind of fault stands in it.
func TestFailures_EachRowNamesItsTest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/internals/FAILURES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range world.Kinds() {
		if !strings.Contains(string(text), "`"+string(k)+"`") {
			t.Errorf("no row is about %s", k)
		}
	}
	name := regexp.MustCompile("`([^`]+)`")
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || strings.HasPrefix(cells[1], "---") || cells[5] == " shown by " {
			continue
		}
		shown := name.FindAllStringSubmatch(cells[5], -1)
		if len(shown) == 0 {
			t.Errorf("row%snames no test", cells[1])
		}
		for _, m := range shown {
			if !exists(t, m[1]) {
				t.Errorf("row%snames %s, which there is not", cells[1], m[1])
			}
		}
	}
}

// exists reports whether there is a scenario or a test of that name.
func exists(t *testing.T, name string) bool {
	for _, dir := range []string{"agents/sim/testdata/faults", "sites/testdata/transaction", "broker/testdata/transaction"} {
		if _, err := os.Stat(filepath.Join("../..", dir, name+".txt")); err == nil {
			return true
		}
	}
	for _, dir := range []string{"agents/sim", "agents/journal", "agents/live", "agents/mirror", "agents/replica", "cluster", "cluster/*", "cluster/*/*", "process", "process/*", "sites", "broker", "broker/*", "web", "web/*", "simulation/torture", "simulation/torture/*", "simulation/manager", "simulation/drill", "cmd/bourse"} {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), "func "+name+"(") {
				return true
			}
		}
	}
	return false
}
