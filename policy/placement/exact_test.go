package placement

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// An integer program solver finds the least sum of losses that a small batch can
// have. The exchange is allowed to miss it: by no more than 1 % in the mean.
func TestChoose_WithinOnePercentOfTheBest(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "asks a solver")
	cbc, err := exec.LookPath("cbc")
	if err != nil {
		t.Skip("cbc is not installed (coinor-cbc)")
	}
	r := rand.New(rand.NewPCG(7, 8))
	sum, worst, batches := 0.0, 0.0, 12
	for range batches {
		m, jobs := smallMarket(r), smallJobs(r)
		var got grid.Credits
		for i, c := range New(m, jobs, Unlimited).Choose(nil) {
			if !c.Placed {
				t.Fatalf("job %d of %d is not placed", i, len(jobs))
			}
			got += c.Window.Loss
		}
		best := exact(t, cbc, m, jobs)
		gap := got.Float()/best - 1
		if gap < -1e-4 {
			t.Errorf("%v credits are lost, less than the least, %.6f", got, best)
		}
		sum, worst = sum+gap, max(worst, gap)
	}
	t.Logf("%d batches: %.2f %% above the least in the mean, %.2f %% at worst", batches, 100*sum/float64(batches), 100*worst)
	if mean := sum / float64(batches); mean > .01 {
		t.Errorf("%.2f %% above the least in the mean", 100*mean)
	}
}

func smallMarket(r *rand.Rand) *Market {
	m := &Market{To: grid.Time(36 * tick)}
	for g := range 3 {
		n := 4 + r.IntN(5)
		free := grid.NewProfile(0, n)
		for range 2 {
			s := grid.Time(r.IntN(8)) * grid.Time(tick)
			e := s.Add(tick * grid.Duration(1+r.IntN(4)))
			free.Add(s, e, -r.IntN(free.Min(s, e)+1))
		}
		m.Groups = append(m.Groups, grid.Group{Site: fmt.Sprint("s", g), Name: "main", Nodes: n,
			Performance: []grid.Performance{500, 1000, 2000}[r.IntN(3)], Price: grid.Price(1+r.IntN(5)) * grid.Price(grid.Credit)})
		m.Admissible = append(m.Admissible, free)
	}
	m.Clear = m.Admissible
	return m
}

func smallJobs(r *rand.Rand) []Job {
	jobs := make([]Job, 3+r.IntN(4))
	for i := range jobs {
		jobs[i] = Job{Seed: r.Uint64(), Goal: grid.GoalValue, Worth: grid.Credits(1+r.IntN(12)) * grid.Credit}
		jobs[i].Request = grid.Request{Nodes: 1 + r.IntN(4), Length: tick * grid.Duration(1+r.IntN(4)), MinPerformance: 500,
			Deadline: grid.Never, Budget: grid.MaxBudget}
	}
	return jobs
}

var objective = regexp.MustCompile(`Objective value: +(-?[0-9.]+)`)

// exact is the least sum of losses in credits. Of each job it has a variable for
// each start and longest runtime, and how many nodes of each group it takes then.
func exact(t *testing.T, cbc string, m *Market, jobs []Job) float64 {
	var goal, one, nodes, room, binaries, whole strings.Builder
	const half = tick / 2
	uses := map[[2]int][]string{} // by group and half tick
	for i := range jobs {
		j := &jobs[i]
		for s := grid.Time(0); s < m.To; s += grid.Time(half) {
			var lengths []grid.Duration
			for g := range m.Groups {
				lengths = append(lengths, m.Groups[g].Performance.Runtime(j.Length))
			}
			slices.Sort(lengths)
			for k, longest := range slices.Compact(lengths) {
				y := fmt.Sprintf("y_%d_%d_%d", i, s/grid.Time(half), k)
				fmt.Fprintf(&nodes, " -%d %s", j.Nodes, y)
				wait := j.Worth.Float() * float64(s.Add(longest)) / float64(grid.Hour)
				fmt.Fprintf(&goal, " +%.6f %s\n", wait, y)
				fmt.Fprintf(&one, " +%s\n", y)
				fmt.Fprintf(&binaries, " %s\n", y)
				for g := range m.Groups {
					length := m.Groups[g].Performance.Runtime(j.Length)
					if length > longest || s.Add(length) > m.To || m.Admissible[g].Min(s, s.Add(length)) == 0 {
						continue
					}
					n := fmt.Sprintf("n_%d_%d_%d_%d", i, s/grid.Time(half), k, g)
					fmt.Fprintf(&goal, " +%.6f %s\n", grid.Cost(m.Groups[g].Price, length).Float(), n)
					fmt.Fprintf(&nodes, " +%s", n)
					fmt.Fprintf(&whole, " %s\n", n)
					for x := s; x < s.Add(length); x += grid.Time(half) {
						at := [2]int{g, int(x / grid.Time(half))}
						uses[at] = append(uses[at], n)
					}
				}
				nodes.WriteString(" = 0\n")
			}
		}
		one.WriteString(" = 1\n")
	}
	for g := range m.Groups {
		for x := grid.Time(0); x < m.To; x += grid.Time(half) {
			if list := uses[[2]int{g, int(x / grid.Time(half))}]; len(list) > 0 {
				fmt.Fprintf(&room, " +%s <= %d\n", strings.Join(list, " +"), max(0, m.Admissible[g].At(x)))
			}
		}
	}
	file := filepath.Join(t.TempDir(), "batch.lp")
	text := fmt.Sprintf("Minimize\n%sSubject To\n%s%s%sBinary\n%sGeneral\n%sEnd\n", goal.String(), one.String(), nodes.String(), room.String(), binaries.String(), whole.String())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(cbc, file, "ratioGap", "0.0001", "solve").CombinedOutput()
	found := objective.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("cbc: %v\n%s", err, out)
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
