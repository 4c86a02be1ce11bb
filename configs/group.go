package configs

import (
	"slices"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// maxNodes bounds the nodes of a group and of a request.
const maxNodes = 1_000_000

// Queue is one of a site's queues for best-effort jobs. The first queue of a site has no
// name and always exists: it serves the jobs that name no queue, with priority 0, rate 1
// and delay cost 1.
type Queue struct {
	Name      string
	Priority  int         // -1000..1000, higher first; default 0
	Rate      Thousandths // factor on the base price for its jobs, 0..1000; default 1
	DelayCost Thousandths // weight of its jobs' delay in the price of a reservation, 0..1000; default 1
	Limits    queue.JobLimits
}

// Limits are an operator's limits on reservations.
type Limits struct {
	MinNotice  grid.Duration // a reservation starts at least this far ahead; default 0
	MaxHorizon grid.Duration // a reservation ends at most this far ahead; default MaxDuration: no limit
	MaxShare   Thousandths   // share of a group's nodes that reservations may hold at once, 0..1; default 1
	Users      []string      // who may reserve, in order of the file; nil: everybody
}

// Reservations returns the limits in the form that a site uses.
func (l Limits) Reservations() pricing.Limits {
	out := pricing.Limits{MinNotice: l.MinNotice, MaxHorizon: l.MaxHorizon, MaxShare: int(l.MaxShare), Users: l.Users}
	if out.MaxShare == 0 {
		out.MaxShare = -1 // no nodes; 0 would mean no limit
	}
	return out
}

// groupKeys lists the keys of a site's [[group]].
func groupKeys(g *grid.Group, names map[string]int) keys {
	m := (*grid.Requirement)(&g.Machine)
	return append(keys{
		named("name", &g.Name, names, "main", "name, unique in the site"),
		whole("nodes", &g.Nodes, 1, 1, maxNodes, "number of identical nodes").must("128"),
		amount("performance", &g.Performance, grid.Unit, "a job of length L takes L divided by this"),
		amount("price", &g.Price, 0, "price of a node-hour").must("1.0"),
	}, slices.Concat(machineKeys(m), keys{
		whole("cores", &g.Cores, 0, 1, maxNodes, "cores of a node").byDefault("not stated"),
		whole("slices", &g.Slices, 0, 1, grid.MaxSlices, "equal shares of a node in each resource that the group states, for several users at once; as a rule its GPUs, or its cores").byDefault("1: nodes are whole"),
		rule(func(t *table) {
			switch k := g.Slices; {
			case k <= 1 || !t.clean("slices"):
			case g.Cores == 0 && g.Machine.GPUs == 0:
				t.wrong("slices", "%d slices of a node need cores or gpus in its [[%s]]", k, t.path)
			case g.Cores > 0 && k > g.Cores:
				t.wrong("slices", "%d is more than cores, %d; must be 1 to %d", k, g.Cores, min(g.Cores, grid.MaxSlices))
			}
		}),
	})...)
}

// dividedBy refuses slices where nodes cannot be divided.
func dividedBy(groups *[]grid.Group, why func() string) key {
	return rule(func(t *table) {
		for i, list := 0, t.tables("group"); i < len(*groups) && i < len(list); i++ {
			if because := why(); (*groups)[i].Slices > 1 && because != "" {
				list[i].wrong("slices", "%s; leave the key out", because)
			}
		}
	})
}

// portionKeys lists what a job takes of each of its nodes.
func portionKeys(p *grid.Portion) keys {
	return keys{
		whole("gpus_per_node", &p.GPUs, 0, 1, grid.MaxPortion, "GPUs that it takes of each node, beside others where the site divides nodes").byDefault("all of the node"),
		whole("cores_per_node", &p.Cores, 0, 1, grid.MaxPortion, "cores that it takes of each node").byDefault("all of the node, or the share that goes with its GPUs"),
		size("memory_per_node", &p.Memory, "memory that it takes of each node"),
	}
}

// groups lists the key of a site's [[group]] tables, and the rule that there is at least
// one.
func groups(to *[]grid.Group, site *string) keys {
	names := map[string]int{}
	return keys{
		each("group", to, 0, func(g *grid.Group) keys { g.Site = *site; return groupKeys(g, names) }, "identical nodes; one or more"),
		rule(func(t *table) {
			if len(*to) == 0 && t.clean("group") {
				t.wrong("group", "missing; a site has at least one [[%s]]", t.path.key("group"))
			}
		}),
	}
}

// machineKeys lists what a node has, or what a request requires of one.
func machineKeys(m *grid.Requirement) keys {
	return keys{
		size("memory", &m.Memory, "memory of a node"),
		size("disk", &m.Disk, "disk of a node"),
		whole("gpus", &m.GPUs, 0, 0, maxNodes, "GPUs of a node"),
		text("os", &m.OS, "", "operating system"),
		text("arch", &m.Arch, "", "processor architecture"),
		texts("features", &m.Features, "words that nodes have and jobs may ask for"),
		rule(func(t *table) {
			for i, f := range m.Features {
				if slices.Index(m.Features, f) < i {
					t.wrongAt(t.path.key("features").at(i), "%q appears twice", f)
				}
			}
		}),
	}
}

// keys lists the keys of a site's [[queue]].
func (q *Queue) keys(names map[string]int) keys {
	return keys{
		named("name", &q.Name, names, "express", "name, unique in the site"),
		whole("priority", &q.Priority, 0, -1000, 1000, "higher first; jobs that name no queue have 0"),
		share("rate", &q.Rate, One, 0, 1000*One, "factor on the price for its jobs"),
		share("delay_cost", &q.DelayCost, One, 0, 1000*One, "weight of its jobs' delay in the price of a reservation"),
		section("limits", func() keys { return jobLimits(&q.Limits) }, "limits on its jobs"),
	}
}

// jobLimits lists the limits on local jobs.
func jobLimits(l *queue.JobLimits) keys {
	number := func(name string, to *int, doc string) key {
		return whole(name, to, 0, 1, 10_000_000, doc).byDefault("no limit")
	}
	return keys{
		amount("longest", &l.Length, 0, "longest time that a job may request; longer jobs are refused").byDefault("no limit"),
		number("running", &l.Running, "jobs that may run at once; more wait"),
		number("waiting", &l.Waiting, "jobs that may wait; more are refused"),
		number("nodes", &l.Nodes, "nodes that running jobs may use at once; more wait, a larger job is refused"),
		number("user_running", &l.UserRunning, "`running` for each user"),
		number("user_waiting", &l.UserWaiting, "`waiting` for each user"),
		number("user_nodes", &l.UserNodes, "`nodes` for each user"),
	}
}

// queues is the key of a site's [[queue]] tables; the unnamed queue comes first.
func queues(to *[]Queue) key {
	names := map[string]int{}
	*to = []Queue{{Rate: One, DelayCost: One}}
	return each("queue", to, 0, func(q *Queue) keys { return q.keys(names) }, "queues of local jobs, besides the one without a name")
}

// queue returns the index of the queue that a key names, 0 if it names none.
func queueOf(t *table, key string, queues []Queue) int {
	name := t.text(key, "")
	return queueNamed(t, t.path.key(key), name, queues)
}

func queueNamed(t *table, p path, name string, queues []Queue) int {
	i := slices.IndexFunc(queues, func(q Queue) bool { return q.Name == name })
	if i >= 0 {
		return i
	}
	names := make([]string, 0, len(queues))
	for _, q := range queues[1:] {
		names = append(names, q.Name)
	}
	t.wrongAt(p, "no [[queue]] is named %q%s", name, choose(name, names))
	return 0
}

// keys lists the keys of a site's [limits]; by default there are no limits.
func (l *Limits) keys() keys {
	return keys{
		amount("min_notice", &l.MinNotice, 0, "a reservation must start at least this far ahead"),
		span("max_horizon", &l.MaxHorizon, grid.MaxDuration, grid.Second, "a reservation must end at most this far ahead").byDefault("no limit"),
		share("max_share", &l.MaxShare, One, 0, One, "share of a group's nodes that reservations may hold at once"),
		texts("users", &l.Users, "users who may reserve").byDefault("all users"),
		rule(func(t *table) {
			if t.has("users") && t.clean("users") && len(l.Users) == 0 {
				t.wrong("users", "is empty; name the users who may reserve, or leave the key out to allow all users")
			}
			if l.MinNotice >= l.MaxHorizon && t.clean("min_notice") {
				t.wrong("min_notice", "%s must be less than max_horizon, %s", l.MinNotice.Words(), l.MaxHorizon.Words())
			}
		}),
	}
}
