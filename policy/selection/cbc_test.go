package selection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// An integer program solver is the oracle for batches too large to enumerate.
func TestSelect_EqualsIntegerProgram(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "asks a solver")
	cbc, err := exec.LookPath("cbc")
	if err != nil {
		t.Skip("cbc is not installed (coinor-cbc)")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var s Selector
	for k := range 6 {
		jobs := make([][]Alternative, 10+5*k)
		for j := range jobs {
			for range 10 {
				quick := .3 + rng.Float64()
				jobs[j] = append(jobs[j], Alternative{Time: grid.Duration(1000 * quick), Cost: grid.Credits(1000 / quick * (.5 + rng.Float64()))})
			}
		}
		r := s.Select(jobs, MinTime, Limits{Auto, Auto})
		if got := -solveLP(t, cbc, jobs, incomeOf, timeOf, int64(r.Limits.Time)); got != int64(r.Limits.Cost) {
			t.Errorf("%d jobs: B* is %d, cbc finds %d", len(jobs), r.Limits.Cost, got)
		}
		if got := solveLP(t, cbc, jobs, timeOf, costOf, int64(r.Limits.Cost)); got != int64(r.Time) {
			t.Errorf("%d jobs: least time is %d, cbc finds %d", len(jobs), r.Time, got)
		}
		r = s.Select(jobs, MinCost, Limits{Auto, Auto})
		if got := solveLP(t, cbc, jobs, costOf, timeOf, int64(r.Limits.Time)); got != int64(r.Cost) {
			t.Errorf("%d jobs: least cost is %d, cbc finds %d", len(jobs), r.Cost, got)
		}
	}
}

var objective = regexp.MustCompile(`Objective value: +(-?[0-9.]+)`)

// solveLP returns the least sum of g with the sum of z within limit.
func solveLP(t *testing.T, cbc string, jobs [][]Alternative, g, z criterion, limit int64) int64 {
	var least, bound, one, names strings.Builder
	for j := range jobs {
		for i := range jobs[j] {
			a := &jobs[j][i]
			fmt.Fprintf(&least, " %+d x%d_%d\n", g(a), j, i)
			fmt.Fprintf(&bound, " %+d x%d_%d\n", z(a), j, i)
			fmt.Fprintf(&one, " + x%d_%d", j, i)
			fmt.Fprintf(&names, " x%d_%d\n", j, i)
		}
		one.WriteString(" = 1\n")
	}
	file := filepath.Join(t.TempDir(), "batch.lp")
	text := fmt.Sprintf("Minimize\n%sSubject To\n%s <= %d\n%sBinary\n%sEnd\n", least.String(), bound.String(), limit, one.String(), names.String())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(cbc, file, "ratioGap", "0", "allowableGap", "0", "solve").CombinedOutput()
	found := objective.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("cbc: %v\n%s", err, out)
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(math.Round(v))
}
