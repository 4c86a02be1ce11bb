package configs

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// maxNodes bounds the nodes of a group and of a request.
const maxNodes = 1_000_000

// Queue is one of a site's queues for best-effort jobs. The first of a site,
// without a name, is there always: it serves the jobs that name no queue, at
// priority 0, rate 1 and delay cost 1.
type Queue struct {
	Name      string
	Priority  int         // -1000..1000, higher first; default 0
	Rate      Thousandths // multiple of the base price that its jobs pay, 0..1000; default 1
	DelayCost Thousandths // weight of its jobs' delay in a reservation's price, 0..1000; default 1
	Limits    queue.JobLimits
}

// Limits are what a site's operator sets on reservations.
type Limits struct {
	MinNotice  bourse.Duration // a reservation starts at least this far ahead; default 0
	MaxHorizon bourse.Duration // and ends at most this far ahead; default MaxDuration: no limit
	MaxShare   Thousandths     // most of a group's nodes that reservations may hold at once, 0..1; default 1
	Users      []string        // who may reserve, in order of the file; nil: everybody
}

// Reservations returns the limits in the form that a site checks them by.
func (l Limits) Reservations() pricing.Limits {
	out := pricing.Limits{MinNotice: l.MinNotice, MaxHorizon: l.MaxHorizon, MaxShare: int(l.MaxShare), Users: l.Users}
	if out.MaxShare == 0 {
		out.MaxShare = -1 // none at all; 0 would be no limit there
	}
	return out
}

// groupKeys lists what a [[group]] of a site may hold.
func groupKeys(g *bourse.Group, names map[string]int) keys {
	m := (*bourse.Requirement)(&g.Machine)
	return append(keys{
		named("name", &g.Name, names, "main", "one of its own in the site"),
		whole("nodes", &g.Nodes, 1, 1, maxNodes, "how many; they are alike").must("128"),
		amount("performance", &g.Performance, bourse.Unit, "jobs of length L take L over this"),
		amount("price", &g.Price, 0, "for a node and hour").must("1.0"),
	}, machineKeys(m)...)
}

// groups lists the key of the [[group]] tables of a site: at least one.
func groups(to *[]bourse.Group, site *string) keys {
	names := map[string]int{}
	return keys{
		each("group", to, 0, func(g *bourse.Group) keys { g.Site = *site; return groupKeys(g, names) }, "alike nodes; one or more"),
		rule(func(t *table) {
			if len(*to) == 0 && t.clean("group") {
				t.wrong("group", "missing; a site has at least one [[%s]]", t.path.key("group"))
			}
		}),
	}
}

// machineKeys lists what a node has, or what a request asks of one.
func machineKeys(m *bourse.Requirement) keys {
	return keys{
		size("memory", &m.Memory, "of a node"),
		size("disk", &m.Disk, "of a node"),
		whole("gpus", &m.GPUs, 0, 0, maxNodes, "of a node"),
		text("os", &m.OS, "", "operating system"),
		text("arch", &m.Arch, "", "processor architecture"),
		texts("features", &m.Features, "words that nodes have and jobs may ask for"),
		rule(func(t *table) {
			for i, f := range m.Features {
				if slices.Index(m.Features, f) < i {
					t.wrongAt(t.path.key("features").at(i), "%q stands here twice", f)
				}
			}
		}),
	}
}

// keys lists what a [[queue]] of a site may hold.
func (q *Queue) keys(names map[string]int) keys {
	return keys{
		named("name", &q.Name, names, "express", "one of its own in the site"),
		whole("priority", &q.Priority, 0, -1000, 1000, "higher first; jobs that name no queue have 0"),
		share("rate", &q.Rate, One, 0, 1000*One, "multiple of the price that its jobs pay"),
		share("delay_cost", &q.DelayCost, One, 0, 1000*One, "weight of its jobs' delay in the price of a reservation"),
		section("limits", func() keys { return jobLimits(&q.Limits) }, "what its jobs may have"),
	}
}

// jobLimits lists what local jobs may have.
func jobLimits(l *queue.JobLimits) keys {
	number := func(name string, to *int, doc string) key {
		return whole(name, to, 0, 1, 10_000_000, doc).byDefault("no limit")
	}
	return keys{
		amount("longest", &l.Length, 0, "longest time that a job may request; a longer one is refused").byDefault("no limit"),
		number("running", &l.Running, "jobs that run at once; more wait"),
		number("waiting", &l.Waiting, "jobs that wait; more are refused"),
		number("nodes", &l.Nodes, "nodes that jobs have at once; more wait, a larger job is refused"),
		number("user_running", &l.UserRunning, "`running` of each user"),
		number("user_waiting", &l.UserWaiting, "`waiting` of each user"),
		number("user_nodes", &l.UserNodes, "`nodes` of each user"),
	}
}

// queues is the key of the [[queue]] tables of a site; the unnamed one stands first.
func queues(to *[]Queue) key {
	names := map[string]int{}
	*to = []Queue{{Rate: One, DelayCost: One}}
	return each("queue", to, 0, func(q *Queue) keys { return q.keys(names) }, "queues of local jobs beside the one without a name")
}

// queue returns the index of the queue that a key names, 0 if it names none.
func (t *table) queue(key string, queues []Queue) int {
	name := t.text(key, "")
	return t.queueNamed(t.path.key(key), name, queues)
}

func (t *table) queueNamed(p path, name string, queues []Queue) int {
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

// keys lists what the [limits] of a site may hold, all open by default.
func (l *Limits) keys() keys {
	return keys{
		amount("min_notice", &l.MinNotice, 0, "a reservation starts at least this far ahead"),
		span("max_horizon", &l.MaxHorizon, bourse.MaxDuration, bourse.Second, "and ends at most this far ahead").byDefault("no limit"),
		share("max_share", &l.MaxShare, One, 0, One, "most of a group's nodes that reservations hold at once"),
		texts("users", &l.Users, "who may reserve").byDefault("everybody"),
		rule(func(t *table) {
			if t.has("users") && t.clean("users") && len(l.Users) == 0 {
				t.wrong("users", "is empty; name those who may reserve, or leave the key out for everybody")
			}
			if l.MinNotice >= l.MaxHorizon && t.clean("min_notice") {
				t.wrong("min_notice", "%s leaves nothing under max_horizon, %s", l.MinNotice.Words(), l.MaxHorizon.Words())
			}
		}),
	}
}
