package configs

import (
	"slices"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
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
func groupKeys(g *grid.Group, names map[string]int) keys.List {
	m := (*grid.Requirement)(&g.Machine)
	return append(keys.List{
		keys.Named("name", &g.Name, names, "main", "name, unique in the site"),
		keys.Whole("nodes", &g.Nodes, 1, 1, maxNodes, "number of identical nodes").Must("128"),
		keys.Amount("performance", &g.Performance, grid.Unit, "a job of length L takes L divided by this"),
		keys.Amount("price", &g.Price, 0, "price of a node-hour").Must("1.0"),
	}, slices.Concat(machineKeys(m), keys.List{
		keys.Whole("cores", &g.Cores, 0, 1, maxNodes, "cores of a node").ByDefault("not stated"),
		keys.Whole("slices", &g.Slices, 0, 1, grid.MaxSlices, "equal shares of a node in each resource that the group states, for several users at once; as a rule its GPUs, or its cores").ByDefault("1: nodes are whole"),
		keys.Rule(func(t *keys.Table) {
			switch k := g.Slices; {
			case k <= 1 || !t.Clean("slices"):
			case g.Cores == 0 && g.Machine.GPUs == 0 && t.In == kinds.InProcess: // Slurm may say them: see SiteProcess.undividable
			case g.Cores == 0 && g.Machine.GPUs == 0:
				t.Wrong("slices", "%d slices of a node need cores or gpus in its [[%s]]", k, t.Path)
			case g.Cores > 0 && k > g.Cores:
				t.Wrong("slices", "%d is more than cores, %d; must be 1 to %d", k, g.Cores, min(g.Cores, grid.MaxSlices))
			}
		}),
	})...)
}

// dividedBy refuses slices where nodes cannot be divided.
func dividedBy(groups *[]grid.Group, why func(*grid.Group) string) keys.Key {
	return keys.Rule(func(t *keys.Table) {
		for i, list := 0, t.Tables("group"); i < len(*groups) && i < len(list); i++ {
			if because := why(&(*groups)[i]); (*groups)[i].Slices > 1 && because != "" {
				list[i].Wrong("slices", "%s; leave the key out", because)
			}
		}
	})
}

// portionKeys lists what a job, or a part of one, takes of each of its nodes, by default what p has.
func portionKeys(p *grid.Portion) keys.List {
	return keys.List{
		keys.Whole("gpus_per_node", &p.GPUs, p.GPUs, 1, grid.MaxPortion, "GPUs that it takes of each node, beside others where the site divides nodes").ByDefault("all of the node"),
		keys.Whole("cores_per_node", &p.Cores, p.Cores, 1, grid.MaxPortion, "cores that it takes of each node").ByDefault("all of the node, or the share that goes with its GPUs"),
		keys.Size("memory_per_node", &p.Memory, "memory that it takes of each node"),
	}
}

// ParseSize reads a size as the keys of memory and disk take it, in bytes.
func ParseSize(text string) (int64, error) { return keys.ParseSize(text) }

// groups lists the key of a site's [[group]] tables, and the rule that there is at least
// one.
func groups(to *[]grid.Group, site *string) keys.List {
	names := map[string]int{}
	return keys.List{
		keys.Each("group", to, 0, func(g *grid.Group) keys.List { g.Site = *site; return groupKeys(g, names) }, "identical nodes; one or more"),
		keys.Rule(func(t *keys.Table) {
			if len(*to) == 0 && t.Clean("group") {
				t.Wrong("group", "missing; a site has at least one [[%s]]", t.Path.Key("group"))
			}
		}),
	}
}

// machineKeys lists what a node has, or what a request requires of one.
func machineKeys(m *grid.Requirement) keys.List {
	return keys.List{
		keys.Size("memory", &m.Memory, "memory of a node"),
		keys.Size("disk", &m.Disk, "disk of a node"),
		keys.Whole("gpus", &m.GPUs, 0, 0, maxNodes, "GPUs of a node"),
		keys.Text("os", &m.OS, "", "operating system"),
		keys.Text("arch", &m.Arch, "", "processor architecture"),
		keys.Texts("features", &m.Features, "words that nodes have and jobs may ask for"),
		keys.Rule(func(t *keys.Table) {
			for i, f := range m.Features {
				if slices.Index(m.Features, f) < i {
					t.WrongAt(t.Path.Key("features").At(i), "%q appears twice", f)
				}
			}
		}),
	}
}

// keys lists the keys of a site's [[queue]].
func (q *Queue) keys(names map[string]int) keys.List {
	return keys.List{
		keys.Named("name", &q.Name, names, "express", "name, unique in the site"),
		keys.Whole("priority", &q.Priority, 0, -1000, 1000, "higher first; jobs that name no queue have 0"),
		keys.Share("rate", &q.Rate, One, 0, 1000*One, "factor on the price for its jobs"),
		keys.Share("delay_cost", &q.DelayCost, One, 0, 1000*One, "weight of its jobs' delay in the price of a reservation"),
		keys.Section("limits", func() keys.List { return jobLimits(&q.Limits) }, "limits on its jobs"),
	}
}

// jobLimits lists the limits on local jobs.
func jobLimits(l *queue.JobLimits) keys.List {
	number := func(name string, to *int, doc string) keys.Key {
		return keys.Whole(name, to, 0, 1, 10_000_000, doc).ByDefault("no limit")
	}
	return keys.List{
		keys.Amount("longest", &l.Length, 0, "longest time that a job may request; longer jobs are refused").ByDefault("no limit"),
		number("running", &l.Running, "jobs that may run at once; more wait"),
		number("waiting", &l.Waiting, "jobs that may wait; more are refused"),
		number("nodes", &l.Nodes, "nodes that running jobs may use at once; more wait, a larger job is refused"),
		number("user_running", &l.UserRunning, "`running` for each user"),
		number("user_waiting", &l.UserWaiting, "`waiting` for each user"),
		number("user_nodes", &l.UserNodes, "`nodes` for each user"),
	}
}

// queues is the key of a site's [[queue]] tables; the unnamed queue comes first.
func queues(to *[]Queue) keys.Key {
	names := map[string]int{}
	*to = []Queue{{Rate: One, DelayCost: One}}
	return keys.Each("queue", to, 0, func(q *Queue) keys.List { return q.keys(names) }, "queues of local jobs, besides the one without a name")
}

// queue returns the index of the queue that a key names, 0 if it names none.
func queueOf(t *keys.Table, key string, queues []Queue) int {
	name := t.Text(key, "")
	return queueNamed(t, t.Path.Key(key), name, queues)
}

func queueNamed(t *keys.Table, p keys.Path, name string, queues []Queue) int {
	i := slices.IndexFunc(queues, func(q Queue) bool { return q.Name == name })
	if i >= 0 {
		return i
	}
	names := make([]string, 0, len(queues))
	for _, q := range queues[1:] {
		names = append(names, q.Name)
	}
	t.WrongAt(p, "no [[queue]] is named %q%s", name, keys.Choose(name, names))
	return 0
}

// keys lists the keys of a site's [limits]; by default there are no limits.
func (l *Limits) keys() keys.List {
	return keys.List{
		keys.Amount("min_notice", &l.MinNotice, 0, "a reservation must start at least this far ahead"),
		keys.Span("max_horizon", &l.MaxHorizon, grid.MaxDuration, grid.Second, "a reservation must end at most this far ahead").ByDefault("no limit"),
		keys.Share("max_share", &l.MaxShare, One, 0, One, "share of a group's nodes that reservations may hold at once"),
		keys.Texts("users", &l.Users, "users who may reserve").ByDefault("all users"),
		keys.Rule(func(t *keys.Table) {
			if t.Has("users") && t.Clean("users") && len(l.Users) == 0 {
				t.Wrong("users", "is empty; name the users who may reserve, or leave the key out to allow all users")
			}
			if l.MinNotice >= l.MaxHorizon && t.Clean("min_notice") {
				t.Wrong("min_notice", "%s must be less than max_horizon, %s", l.MinNotice.Words(), l.MaxHorizon.Words())
			}
		}),
	}
}
