package simulation

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// divided are two nodes of 8 GPUs and 64 cores, each sold in eighths, and the jobs of the worked
// example for parts of nodes.
const divided = `
until = "2d"
[[site]]
name = "north"
[[site.group]]
name = "gpu"
nodes = 2
price = 8.0
slices = 8
cores = 64
gpus = 8
[[broker]]
name = "vo1"
budget = 100000.0
cycle = "30m"
horizon = "1d"
algorithm = "amp"
minimize = %q
[[broker.job]]
name = "a"
nodes = 1
length = "4h"
max_price = 20.0
gpus_per_node = 4
[[broker.job]]
name = "b"
nodes = 1
length = "2h"
max_price = 20.0
gpus_per_node = 1
cores_per_node = 20
[[broker.job]]
name = "c"
nodes = 1
length = "6h"
max_price = 20.0
gpus_per_node = 1
[[broker.job]]
name = "d"
nodes = 2
length = "1h"
max_price = 20.0
gpus_per_node = 2
[[broker.job]]
name = "e"
nodes = 1
length = "1h"
max_price = 20.0
[[broker.job]]
name = "f"
nodes = 1
length = "2h"
max_price = 20.0
gpus_per_node = 8
`

// Jobs of parts of nodes and of whole ones are placed beside each other, each for the price of
// what it takes; the invariants check that no slice is sold twice.
func TestSlices_JobsShareNodesForTheirShareOfThePrice(t *testing.T) {
	t.Parallel()
	for _, goal := range []string{"value", "time", "cost", "finish"} {
		r, files := simulated(t, strings.Replace(divided, "%q", `"`+goal+`"`, 1), 1)
		s := r.Summary.Brokers[0]
		if s.Jobs.Placed != 6 || s.Spent != 56*grid.Credit {
			t.Errorf("%s: %d of 6 are placed for %v credits, not 56:\n%s", goal, s.Jobs.Placed, s.Spent, files)
		}
	}
}
