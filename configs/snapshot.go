package configs

import (
	"slices"

	"bourse"
	"bourse/policy/backfill"
)

// Snapshot is a site at one instant: what a quote is reckoned on. Jobs and
// reservations have names of their own, different from each other; their
// running and reserved nodes fit into their groups at every instant from Now.
type Snapshot struct {
	Name     string          // of the site; default "site"
	Now      bourse.Time     // default 0
	Policy   backfill.Policy // default EASY
	Groups   []bourse.Group  // at least one, in order of the file
	Queues   []Queue         // the unnamed one first, then in order of the file
	Limits   Limits
	Running  []RunningJob  // in order of the file
	Reserved []Reservation // in order of the file
	Queued   []QueuedJob   // in order of arrival
}

// RunningJob holds nodes now.
type RunningJob struct {
	Job   string
	Group int         // index into Groups; default the first
	Nodes int         // 1..the group's
	Start bourse.Time // not after Now; default Now
	End   bourse.Time // by its estimate, after Now
}

// Reservation is an advance reservation that has not ended.
type Reservation struct {
	Job        string
	Group      int // index into Groups; default the first
	Nodes      int // 1..the group's
	Start, End bourse.Time
}

// QueuedJob waits in a local queue.
type QueuedJob struct {
	Job      string
	Group    int             // index into Groups; default the first that is large enough
	Nodes    int             // 1..the group's
	Estimate bourse.Duration // above 0
	Submit   bourse.Time     // not after Now; default Now
	Queue    int             // index into Queues; default 0
}

// ReadSite reads a site's snapshot. An error that is not of the file system is
// a *Problems.
func ReadSite(file string) (*Snapshot, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return ParseSite(file, text)
}

// ParseSite is ReadSite of a text; file is the name that its errors give.
func ParseSite(file string, text []byte) (*Snapshot, error) {
	t, err := open(file, text)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{
		Name:   t.title("name", "site"),
		Now:    value[bourse.Time](t, "now", 0),
		Policy: t.policy("policy", "easy"),
	}
	s.Groups = t.groups(s.Name)
	s.Queues = t.queues()
	s.Limits = t.limits()
	if len(s.Groups) > 0 {
		s.work(t)
	}
	return finish(t, s)
}

// work reads what runs, is reserved and waits.
func (s *Snapshot) work(t *table) {
	jobs := map[string]int{}
	free := make([]bourse.Profile, len(s.Groups))
	for i, g := range s.Groups {
		free[i] = bourse.NewProfile(s.Now, g.Nodes)
	}
	take := func(r *table, group, nodes int, start, end bourse.Time) {
		if !r.clean("nodes") || !r.clean("group") || !r.clean("start") || !r.clean("end") {
			return
		}
		start = max(start, s.Now)
		if least := free[group].Min(start, end); least < nodes {
			r.wrong("nodes", "%d, but only %d of the %d nodes of group %q are left between %v and %v",
				nodes, max(least, 0), s.Groups[group].Nodes, s.Groups[group].Name, start, end)
			return
		}
		free[group].Add(start, end, -nodes)
	}
	for _, r := range t.tables("running") {
		j := RunningJob{Job: r.name("job", "A", jobs), Start: value(r, "start", s.Now), End: s.end(r, s.Now)}
		j.Group, j.Nodes = s.place(r, false)
		if r.clean("start") && j.Start > s.Now {
			r.wrong("start", "%v lies after now, %v; what has not started is queued or reserved", j.Start, s.Now)
		}
		take(r, j.Group, j.Nodes, s.Now, j.End)
		s.Running = append(s.Running, j)
		r.done()
	}
	for _, r := range t.tables("reserved") {
		r.need("start", "4")
		j := Reservation{Job: r.name("job", "R", jobs), Start: value(r, "start", s.Now)}
		j.End = s.end(r, j.Start)
		j.Group, j.Nodes = s.place(r, false)
		take(r, j.Group, j.Nodes, j.Start, j.End)
		s.Reserved = append(s.Reserved, j)
		r.done()
	}
	for _, r := range t.tables("queued") {
		r.need("estimate", `"1h"`)
		j := QueuedJob{Job: r.name("job", "C", jobs), Queue: r.queue("queue", s.Queues)}
		j.Estimate = r.span("estimate", bourse.Hour, bourse.Millisecond)
		j.Submit = value(r, "submit", s.Now)
		if r.clean("submit") && j.Submit > s.Now {
			r.wrong("submit", "%v lies after now, %v", j.Submit, s.Now)
		}
		j.Group, j.Nodes = s.place(r, true)
		s.Queued = append(s.Queued, j)
		r.done()
	}
}

// end reads an end, which must be given, after the start and after now.
func (s *Snapshot) end(r *table, start bourse.Time) bourse.Time {
	r.need("end", "6")
	end := value(r, "end", start.Add(1))
	switch {
	case !r.clean("end"):
	case end <= s.Now:
		r.wrong("end", "%v is not after now, %v; leave out what has ended", end, s.Now)
	case end <= start:
		r.wrong("end", "%v is not after the start, %v", end, start)
	}
	return end
}

// place reads a group and a number of nodes that it has. Without a group it is
// the first, or where asked the first that is large enough.
func (s *Snapshot) place(r *table, largeEnough bool) (group, nodes int) {
	r.need("nodes", "4")
	nodes = r.whole("nodes", 1, 1, maxNodes)
	if largeEnough {
		group = max(0, slices.IndexFunc(s.Groups, func(g bourse.Group) bool { return g.Nodes >= nodes }))
	}
	if r.has("group") {
		name := r.text("group", "")
		i := slices.IndexFunc(s.Groups, func(g bourse.Group) bool { return g.Name == name })
		if i < 0 && r.clean("group") {
			names := make([]string, len(s.Groups))
			for i, g := range s.Groups {
				names[i] = g.Name
			}
			r.wrong("group", "no [[group]] is named %q%s", name, choose(name, names))
		}
		group = max(i, 0)
	}
	if g := s.Groups[group]; r.clean("nodes") && r.clean("group") && nodes > g.Nodes {
		r.wrong("nodes", "%d, but group %q has %d nodes", nodes, g.Name, g.Nodes)
	}
	return group, nodes
}
