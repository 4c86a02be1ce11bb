package configs

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

const gatheredBatch = `[[job]]
name = "wave"
length = "4h"
budget = 300.0
command = ["./wave"]
[job.gather]
parts = ["north:16", "south:32"]
`

// A gather table makes parts of a job, each for one site, and each with the job's length, work and
// share of the budget.
func TestGather_PartsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	b, err := ParseBatch("b.toml", []byte(gatheredBatch))
	if err != nil {
		t.Fatal(err)
	}
	j := b.Jobs[0]
	if j.Gather == nil || *j.Gather != (grid.Gather{Waste: 50_000, Deadline: 3 * grid.Day, Odds: 900}) {
		t.Errorf("%+v", j.Gather)
	}
	if len(j.Parts) != 2 || j.Nodes != 48 || j.Budget != 300*grid.Credit {
		t.Fatalf("%d parts, %d nodes for %v credits", len(j.Parts), j.Nodes, j.Budget)
	}
	for i, site := range []string{"north", "south"} {
		p := &j.Parts[i]
		if p.Sites[0] != site || p.Nodes != 16*(i+1) || p.Length != 4*grid.Hour || p.Work == nil || p.Work.Command[0] != "./wave" {
			t.Errorf("%+v", p)
		}
	}
}

func TestGather_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{"command", "min_performance = 1.5\ncommand", "min_performance: stands beside gather, whose sites are asked for nodes alone"},
		{"command", "min_performance = 0.5\ncommand", "min_performance: stands beside gather"},
		{"command", "cores_per_node = 4\ncommand", "cores_per_node: stands beside gather"},
		{"command", "gpus_per_node = 1\ncommand", "gpus_per_node: stands beside gather"},
		{"[job.gather]", "[job.require]\ngpus = 1\n[job.gather]", "require: stands beside gather"},
		{`parts = ["north:16", "south:32"]`, `waste = 0.1`, `parts`},
		{`["north:16", "south:32"]`, `["north:16"]`, `1 part; must be 2 to 8`},
		{`"south:32"`, `"south"`, `"south": must be SITE:NODES`},
		{`"south:32"`, `"south:0"`, `must be SITE:NODES with 1 to`},
		{`"south:32"`, `"north:32"`, `"north:32" is a second part at north`},
		{`["north:16", "south:32"]`, "[\"north:16\", \"south:32\"]\nwaste = 0.001", `waste`},
		{`["north:16", "south:32"]`, "[\"north:16\", \"south:32\"]\nwaste = 2.0", `waste`},
		{`length = "4h"`, `length = "10m"`, `gather: waste 0.05 of 10m is 30 s a node, a first grant 90 s; allow 0.15`},
		{`length = "4h"`, "length = \"4h\"\nnodes = 4", `nodes`},
		{`length = "4h"`, "length = \"4h\"\nsites = [\"north\"]", `sites`},
		{`length = "4h"`, "length = \"4h\"\narray = \"0-9\"", `array`},
	} {
		text := strings.Replace(gatheredBatch, c.old, c.new, 1)
		if _, err := ParseBatch("b.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

const queuedBatch = `[[job]]
name = "train"
nodes = 8
length = "2h"
budget = 20.0
queue = "best"
command = ["./train"]
`

// A job for a queue stays of one piece, and may idle ten minutes of its nodes: a twelfth of its
// work, or all of a shorter one.
func TestQueue_AJobForTheBestQueue(t *testing.T) {
	t.Parallel()
	b, err := ParseBatch("b.toml", []byte(queuedBatch))
	if err != nil {
		t.Fatal(err)
	}
	j := b.Jobs[0]
	if j.Gather == nil || *j.Gather != (grid.Gather{Waste: 83_334, Deadline: 30 * grid.Day, Queue: true}) || len(j.Parts) != 0 || j.Nodes != 8 || j.Work == nil {
		t.Errorf("%+v of %+v", j.Gather, j)
	}
	for length, waste := range map[grid.Duration]int64{3 * grid.Minute: grid.WasteUnit, 10 * grid.Minute: grid.WasteUnit, 20 * grid.Minute: grid.WasteUnit / 2, 10 * grid.Day: grid.LeastWaste} {
		if g := grid.GatherQueued(length); g.Waste != waste {
			t.Errorf("%v: %d", length, g.Waste)
		}
	}
	for _, c := range []struct{ old, new, want string }{
		{`"best"`, `"first"`, `queue: "first"`},
		{`nodes = 8`, `nodes = "4..8"`, `nodes`},
		{`length = "2h"`, `length = "2m"`, `length: 2m is too short beside queue; must be 3m or more`},
		{`nodes = 8`, "nodes = 8\narray = \"0-9\"", `array: stands beside queue`},
		{`nodes = 8`, "nodes = 8\nmin_performance = 2.0", `min_performance: stands beside queue`},
		{`nodes = 8`, "nodes = 8\ngpus_per_node = 1", `gpus_per_node: stands beside queue`},
		{`nodes = 8`, "nodes = 8\nflexible = \"1h\"", `flexible: stands beside queue`},
	} {
		text := strings.Replace(queuedBatch, c.old, c.new, 1)
		if _, err := ParseBatch("b.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}
