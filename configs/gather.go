package configs

import (
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// A job with a gather table runs on several clusters that grant no reservations: its parts are
// pilots, jobs that hold nodes until all of them run ("Co-start without rights").

// gathering is the gather table of a job.
type gathering struct {
	parts       []grid.JobPart // name, nodes and site alone
	waste, odds Thousandths
	deadline    grid.Duration
	given       bool
}

// fewestGathered is how many parts a job that is gathered has at least.
const fewestGathered = 2

// gatherKey is the key of the gather table.
func (g *gathering) key() keys.Key {
	return keys.Option("gather", func() keys.List {
		g.given = true
		return keys.List{
			keys.Custom("parts", keys.About{Kind: "array of strings", Limits: "2 to 8, each SITE:NODES, no site twice"}, g.read, "where it runs, and with how many nodes each").Must(`["north:16", "south:32"]`),
			keys.Share("waste", &g.waste, 50, 10, One, "how much its pilots may idle in all, as a share of its work; this bound always holds"),
			keys.Span("deadline", &g.deadline, 3*grid.Day, grid.Second, "after this time from its ready time it is abandoned, unless all run"),
			keys.Share("odds", &g.odds, 900, 500, 990, "how sure a promise of its start must be; nothing is promised yet"),
		}
	}, "for sites whose nodes are had by pilots: its parts, gathered until all run at once").Only(kinds.InBatch, "is for sites whose nodes are had by pilots, and a scenario has none; leave it out")
}

// read reads the parts.
func (g *gathering) read(t *keys.Table, key string) {
	t.Need(key, `["north:16", "south:32"]`)
	list := t.Texts(key)
	if !t.Has(key) || !t.Clean(key) {
		return
	}
	if len(list) < fewestGathered || len(list) > grid.MaxParts {
		t.Wrong(key, "%s; must be %d to %d, such as [\"north:16\", \"south:32\"]", grid.Count(len(list), "part"), fewestGathered, grid.MaxParts)
		return
	}
	sites := map[string]bool{}
	for i, text := range list {
		site, count, _ := strings.Cut(text, ":")
		nodes, err := strconv.Atoi(count)
		switch {
		case site == "" || err != nil || nodes < 1 || nodes > maxNodes:
			t.WrongAt(t.Path.Key(key).At(i), "%q: must be SITE:NODES with 1 to %d nodes, such as \"north:16\"", text, maxNodes)
		case sites[site]:
			t.WrongAt(t.Path.Key(key).At(i), "%q is a second part at %s; each must be at another site", text, site)
		}
		sites[site] = true
		g.parts = append(g.parts, grid.JobPart{Name: "p" + strconv.Itoa(i+1), Nodes: nodes, Sites: []string{site}})
	}
}

// gathered makes the parts of a job by its gather table.
func (j *Job) gathered(t *keys.Table, g *gathering) {
	if !g.given {
		return
	}
	for _, key := range []string{"part", "nodes", "sites", "avoid", "spread", "together", "apart", "array", "every"} {
		if t.Has(key) {
			t.Wrong(key, "stands beside gather, whose parts say where the job runs and with how many nodes; leave it out")
		}
	}
	if !t.Sound() {
		return
	}
	for i := range g.parts {
		p := &g.parts[i]
		p.Length, p.MinPerformance, p.MaxPrice, p.Require, p.Portion, p.Work = j.Length, j.MinPerformance, j.MaxPrice, j.Require, j.Portion, j.Work
	}
	if key := g.parts[0].AsksMore(); key != "" {
		t.Wrong(key, "%s", grid.NodesAlone)
		return
	}
	o := gather.Order{Length: int64((j.Length + grid.Second - 1) / grid.Second), Waste: int64(g.waste) * (grid.WasteUnit / int64(One)), Deadline: int64(g.deadline / grid.Second)}
	for _, p := range g.parts { // what its clusters have is not known here
		o.Parts = append(o.Parts, gather.Part{Nodes: int64(p.Nodes), Cluster: int64(p.Nodes)})
	}
	if err := o.Check(); err != nil {
		t.Wrong("gather", "%v", err)
		return
	}
	j.Parts = g.parts
	j.Gather = &grid.Gather{Waste: o.Waste, Deadline: g.deadline, Odds: int(g.odds)}
}

// queueKey is the key that sends a job into a queue.
func (j *Job) queueKey() keys.Key {
	return keys.Custom("queue", keys.About{Kind: "word", Words: queueWords}, func(t *keys.Table, key string) {
		if t.Has(key) && t.OneOf(key, queueWords[0], queueWords) == queueWords[0] {
			j.Gather = grid.GatherQueued(j.Length)
		}
	}, "best: it buys no window, and goes into the queue of a site in which it will probably begin first, at sites with claims = \"pilots\" that forecast").
		ByDefault("it buys a window").Only(kinds.InBatch, "is for sites whose nodes are had by pilots, and a scenario has none; leave it out")
}

var queueWords = []string{"best"}

// queued checks a job for a queue.
func (j *Job) queued(t *keys.Table) {
	if !t.Has("queue") {
		return
	}
	for _, key := range []string{"part", "gather", "array", "every", "spread", "together", "apart", "speedup", "flexible", "fix", "alternatives",
		"min_performance", "require", "gpus_per_node", "cores_per_node", "memory_per_node"} {
		if t.Has(key) {
			t.Wrong(key, "stands beside queue, which takes a job of one piece that asks for nodes alone; leave one of the two out")
		}
	}
	switch {
	case len(j.Sizes) > 0:
		t.Wrong("nodes", "is a range, and a queue takes a job of so many nodes; write one number")
	case t.Clean("length") && j.Length > 0 && j.Length < grid.LeastQueued:
		t.Wrong("length", "%s is too short beside queue; must be %s or more", j.Length.Words(), grid.LeastQueued.Words())
	}
}
