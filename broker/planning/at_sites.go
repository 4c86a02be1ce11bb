package planning

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// AtSite is what one site has for a job: a place in its queue, and a window. The first is shown
// beside the second, and nothing is decided by it.
type AtSite struct {
	Site     string
	Queued   grid.BestEffort
	Reserved JobOutcome // alone there
}

// InQueues asks sites when jobs would start in their queues, and answers by site of the Input,
// job by job: nil for one that does not forecast, or has not answered.
type InQueues func(wanted [][]grid.Queueing) [][]grid.BestEffort

// mostAtSites bounds the sites of which a dry run says so.
const mostAtSites = 10

// atSites adds to what is foreseen what each site that forecasts has for the jobs. It costs a
// question to all sites, and a plan of the jobs for each that answers, up to mostAtSites.
func (p *Planner) atSites(in *Input, funds Quotes, ask Ask, queues InQueues, out []Foreseen) {
	wanted, of := in.queueing()
	answers := queues(wanted)
	shown := 0
	for s := range in.Sites {
		if s >= len(answers) || len(answers[s]) != len(wanted[s]) || shown == mostAtSites {
			continue
		}
		best := make([]grid.BestEffort, len(in.Jobs))
		some := false
		for n, b := range answers[s] {
			for _, i := range of[s][n] {
				if b.Sooner(&best[i]) {
					best[i], some = b, true
				}
			}
		}
		if !some {
			continue
		}
		shown++
		alone := p.alone(in, funds, ask, in.Sites[s].Name, best)
		for i := range best {
			if best[i].Known() {
				out[i].Sites = append(out[i].Sites, AtSite{Site: in.Sites[s].Name, Queued: best[i], Reserved: alone[i]})
			}
		}
	}
}

// queueing lists, by site, the jobs that could be in the queues of its groups, equal ones once,
// and which jobs of the Input each stands for. Jobs of parts, of slices of nodes and of shared
// nodes have no place in a queue.
func (in *Input) queueing() (wanted [][]grid.Queueing, of [][][]int) {
	wanted, of = make([][]grid.Queueing, len(in.Sites)), make([][][]int, len(in.Sites))
	for i := range in.Jobs {
		j := &in.Jobs[i]
		if j.Gone || j.Request.Composed() || !j.Request.Portion.Whole() {
			continue
		}
		barred := in.barredSites(j)
		for s := range in.Sites {
			if barred != nil && barred[s] {
				continue
			}
			for k := range in.Sites[s].Groups {
				x := &in.Sites[s].Groups[k]
				g := x.Group
				g.Site = in.Sites[s].Name
				if x.Shared || !Suits(&g, &j.Request) || j.Request.Nodes > g.Nodes {
					continue
				}
				q := grid.Queueing{Group: g.Name, Nodes: j.Request.Nodes, Limit: g.Performance.Runtime(j.Request.Length)}
				at := slices.Index(wanted[s], q)
				if at < 0 {
					if at = len(wanted[s]); at == agents.MaxQueued {
						continue
					}
					wanted[s], of[s] = append(wanted[s], q), append(of[s], nil)
				}
				of[s][at] = append(of[s][at], i)
			}
		}
	}
	return wanted, of
}

// alone plans the jobs that a site has forecast as if there were no other.
func (p *Planner) alone(in *Input, funds Quotes, ask Ask, site string, of []grid.BestEffort) []JobOutcome {
	other := *in
	other.Jobs = slices.Clone(in.Jobs)
	funds.Gone = make([]bool, len(other.Jobs))
	for i := range other.Jobs {
		other.Jobs[i].Request.Sites = []string{site}
		other.Jobs[i].Gone = other.Jobs[i].Gone || !of[i].Known()
		funds.Gone[i] = other.Jobs[i].Gone
	}
	return p.outcomes(&other, funds, ask)
}
