package simulation

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// A larger share adds jobs of several sites, and leaves all others as they were. Nodes are
// as even as it goes, the first parts larger, and what a job pays at most is the sum of its
// parts.
func TestCoallocate_ALargerShareAddsJobsAndChangesNoOther(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed, sites := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(2, 8).Draw(t, "sites")
		few := configs.Thousandths(rapid.Int64Range(0, 1000).Draw(t, "few"))
		many := configs.Thousandths(rapid.Int64Range(int64(few), 1000).Draw(t, "many"))
		draw := func(share configs.Thousandths) []grid.Job {
			jobs := make([]grid.Job, 100)
			for i := range jobs {
				jobs[i].Nodes, jobs[i].Length, jobs[i].Run = 1+i%20, grid.Hour, grid.Duration(i%3)*20*grid.Minute
				jobs[i].MinPerformance, jobs[i].MaxPrice = grid.Unit, grid.Price(1_000_000)
				jobs[i].Budget = jobs[i].DefaultBudget()
			}
			coallocate(&configs.VOWorkload{Coallocated: []configs.Coallocated{{Sites: sites, Share: share}}}, jobs, seed)
			return jobs
		}
		whole, a, b := draw(0), draw(few), draw(many)
		for i := range a {
			if a[i].Composed() && !reflect.DeepEqual(a[i], b[i]) || !b[i].Composed() && !reflect.DeepEqual(b[i], whole[i]) {
				t.Fatalf("job %d: %+v with %v, %+v with %v", i, a[i], few, b[i], many)
			}
			if many == configs.One && !b[i].Composed() {
				t.Fatalf("job %d is of one piece", i)
			}
			if !b[i].Composed() {
				continue
			}
			if wrong := grid.CheckParts(&b[i].Request, 1000); wrong != nil {
				t.Fatalf("job %d: %v", i, wrong.Err)
			}
			sum := 0
			for k, p := range b[i].Parts {
				sum += p.Nodes
				if p.Run != whole[i].Run || k > 0 && (p.Nodes > b[i].Parts[k-1].Nodes || p.Nodes < b[i].Parts[0].Nodes-1) {
					t.Fatalf("job %d of %d nodes has parts %+v", i, whole[i].Nodes, b[i].Parts)
				}
			}
			if !b[i].Apart || len(b[i].Parts) != sites || sum != max(whole[i].Nodes, sites) || b[i].Budget != grid.Cost(1_000_000, grid.Hour).Times(sum) {
				t.Fatalf("job %d of %d nodes became %+v", i, whole[i].Nodes, b[i])
			}
		}
	})
}

// All jobs of two sites really run on two at once, their work is as long as it would be on
// one, and those that fail end early on both.
func TestCoallocate_EachPartRunsOnASiteOfItsOwn(t *testing.T) {
	t.Parallel()
	const text = `
until = "3d"
[[site]]
name = "north"
[[site.group]]
name = "main"
nodes = 40
price = 1.0
[[site]]
name = "south"
[[site.group]]
name = "main"
nodes = 40
price = 1.0
[[broker]]
name = "vo1"
budget = 100000.0
cycle = "30m"
horizon = "1d"
[broker.workload]
model = "uniform"
jobs = 30
days = 1
nodes = [1, 9]
sites = [2]
sites_share = [%s]
fails = 0.3
`
	none, _ := simulated(t, fmt.Sprintf(text, "0.0"), 3)
	all, files := simulated(t, fmt.Sprintf(text, "1.0"), 3)
	if n := none.Summary.Brokers[0].Jobs; n.CoAllocated != 0 || n.Placed != 30 {
		t.Errorf("without a share: %+v", n)
	}
	if n := all.Summary.Brokers[0].Jobs; n.CoAllocated != 30 || n.Placed != 30 || n.Failed == 0 || n.Failed != none.Summary.Brokers[0].Jobs.Failed {
		t.Errorf("with a share of all: %+v, without %+v", n, none.Summary.Brokers[0].Jobs)
	}
	ends := map[string][]string{}
	for _, line := range strings.Split(files, "\n") {
		if f := strings.Split(line, ","); len(f) > 9 && f[0] == "vo1" && f[3] == "vo" {
			ends[f[2]] = append(ends[f[2]], f[1], f[5]+" to "+f[6])
		}
	}
	for job, e := range ends {
		if len(e) != 4 || e[0] == e[2] || e[1] != e[3] {
			t.Errorf("%s ran %v", job, e)
		}
	}
}
