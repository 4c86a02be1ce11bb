package configs

import (
	"slices"

	"bourse"
	"bourse/policy/pricing"
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

// groups reads the [[group]] tables of a site: at least one. Name, nodes and
// price must be given; the performance is 1 by default.
func (t *table) groups(site string) []bourse.Group {
	list := t.tables("group")
	if len(list) == 0 && t.clean("group") {
		t.wrong("group", "missing; a site has at least one [[%s]]", t.path.key("group"))
	}
	out := make([]bourse.Group, 0, len(list))
	names := map[string]int{}
	for _, g := range list {
		g.need("nodes", "128")
		g.need("price", "1.0")
		out = append(out, bourse.Group{
			Site:        site,
			Name:        g.name("name", "main", names),
			Nodes:       g.whole("nodes", 1, 1, maxNodes),
			Performance: value(g, "performance", bourse.Unit),
			Price:       value[bourse.Price](g, "price", 0),
			Machine:     g.machine(),
		})
		g.done()
	}
	return out
}

// machine reads what a node has, or what a request asks of one.
func (t *table) machine() bourse.Machine {
	m := bourse.Machine{
		Memory:   t.size("memory"),
		Disk:     t.size("disk"),
		GPUs:     t.whole("gpus", 0, 0, maxNodes),
		OS:       t.text("os", ""),
		Arch:     t.text("arch", ""),
		Features: t.texts("features"),
	}
	for i, f := range m.Features {
		if slices.Index(m.Features, f) < i {
			t.wrongAt(t.path.key("features").at(i), "%q stands here twice", f)
		}
	}
	return m
}

// queues reads the [[queue]] tables of a site and puts the unnamed one first.
func (t *table) queues() []Queue {
	out := []Queue{{Rate: One, DelayCost: One}}
	names := map[string]int{}
	for _, q := range t.tables("queue") {
		out = append(out, Queue{
			Name:      q.name("name", "express", names),
			Priority:  q.whole("priority", 0, -1000, 1000),
			Rate:      q.share("rate", One, 0, 1000*One),
			DelayCost: q.share("delay_cost", One, 0, 1000*One),
		})
		q.done()
	}
	return out
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

// limits reads the [limits] of a site, all open by default.
func (t *table) limits() Limits {
	out := Limits{MaxHorizon: bourse.MaxDuration, MaxShare: One}
	l := t.table("limits")
	if l == nil {
		return out
	}
	out.MinNotice = value[bourse.Duration](l, "min_notice", 0)
	out.MaxHorizon = l.span("max_horizon", out.MaxHorizon, bourse.Second)
	out.MaxShare = l.share("max_share", One, 0, One)
	out.Users = l.texts("users")
	if l.has("users") && l.clean("users") && len(out.Users) == 0 {
		l.wrong("users", "is empty; name those who may reserve, or leave the key out for everybody")
	}
	if out.MinNotice >= out.MaxHorizon && l.clean("min_notice") {
		l.wrong("min_notice", "%s leaves nothing under max_horizon, %s", out.MinNotice.Words(), out.MaxHorizon.Words())
	}
	l.done()
	return out
}
