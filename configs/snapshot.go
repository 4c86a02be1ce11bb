package configs

import (
	"slices"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/formula"
)

// Snapshot is a site at one instant, the basis of a quote. The names of jobs and
// reservations all differ; running and reserved nodes fit into their groups at every
// instant from Now on.
type Snapshot struct {
	Name     string          // of the site; default "site"
	Now      grid.Time       // default 0
	Policy   backfill.Policy // default EASY
	Groups   []grid.Group    // at least one, in order of the file
	Queues   []Queue         // the unnamed one first, then in order of the file
	Limits   Limits
	Running  []RunningJob  // in order of the file
	Reserved []Reservation // in order of the file
	Queued   []QueuedJob   // in order of arrival
}

// RunningJob holds nodes now.
type RunningJob struct {
	Job   string
	Group int       // index into Groups; default the first
	Nodes int       // 1..the group's
	Start grid.Time // not after Now; default Now
	End   grid.Time // by its estimate, after Now
}

// Reservation is an advance reservation that has not ended.
type Reservation struct {
	Job        string
	Group      int // index into Groups; default the first
	Nodes      int // 1..the group's
	Start, End grid.Time
}

// QueuedJob waits in a local queue.
type QueuedJob struct {
	Job      string
	Group    int           // index into Groups; default the first that is large enough
	Nodes    int           // 1..the group's
	Estimate grid.Duration // above 0
	Submit   grid.Time     // not after Now; default Now
	Queue    int           // index into Queues; default 0
}

// ReadSite reads a site's snapshot. An error that does not come from the file system is a
// *Problems.
func ReadSite(file string) (*Snapshot, error) {
	text, err := kinds.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ParseSite(file, text)
}

// ParseSite is ReadSite for a text; file is its name in errors.
func ParseSite(file string, text []byte) (*Snapshot, error) {
	t, err := openFile(file, text)
	if err != nil {
		return nil, err
	}
	if err := kinds.Must(t, kinds.Site); err != nil {
		return nil, err
	}
	s := &Snapshot{}
	t.Fill(s.keys())
	return keys.Finish(t, s)
}

// keys lists the keys of a snapshot.
func (s *Snapshot) keys() keys.List {
	jobs := map[string]int{}
	free := make([]grid.Profile, 0, 1)
	return slices.Concat(keys.List{
		keys.Title("name", &s.Name, "site", "name of the site"),
		keys.Amount("now", &s.Now, 0, "time of the snapshot"),
		keys.Custom("policy", ofPolicies(backfill.Policies()), func(t *keys.Table, key string) { s.Policy = queuePolicy(t, key, backfill.Policies()) }, "how the queue is served"),
	}, ordersBy(&s.Policy, func() bool { return true }), keys.List{
		keys.Rule(func(t *keys.Table) {
			for i, f := range []*formula.Formula{s.Policy.By, s.Policy.FillBy} {
				if f != nil && f.Uses(formula.Usage) {
					t.Wrong([]string{"order", "backfill_order"}[i], "%q: a snapshot does not say what users have had; leave usage out", f)
				}
			}
		}),
	}, groups(&s.Groups, &s.Name), prices(&s.Groups, new(string)), keys.List{
		queues(&s.Queues),
		keys.Section("limits", s.Limits.keys, "the operator's limits on reservations"),
		keys.Rule(func(*keys.Table) {
			for _, g := range s.Groups {
				free = append(free, grid.NewProfile(s.Now, g.Nodes))
			}
		}),
		keys.Each("running", &s.Running, 0, func(j *RunningJob) keys.List { return j.keys(s, jobs, free) }, "jobs that hold nodes now").When(s.grouped()),
		keys.Each("reserved", &s.Reserved, 0, func(j *Reservation) keys.List { return j.keys(s, jobs, free) }, "reservations that have not ended").When(s.grouped()),
		keys.Each("queued", &s.Queued, 0, func(j *QueuedJob) keys.List { return j.keys(s, jobs) }, "waiting jobs, in order of arrival").When(s.grouped()),
	})
}

// keys lists the keys of [[running]].
func (j *RunningJob) keys(s *Snapshot, jobs map[string]int, free []grid.Profile) keys.List {
	return keys.List{
		keys.Named("job", &j.Job, jobs, "A", "name, unique in the file"),
		keys.Amount("start", &j.Start, s.Now, "its start, not after `now`").ByDefault("`now`"),
		s.end(&j.End, func() grid.Time { return s.Now }),
		s.nodes(&j.Group, &j.Nodes, false), groupName(),
		keys.Rule(func(t *keys.Table) {
			if t.Clean("start") && j.Start > s.Now {
				t.Wrong("start", "%v is after now, %v; a job that has not started is [[queued]] or [[reserved]]", j.Start, s.Now)
			}
			s.take(t, free, j.Group, j.Nodes, s.Now, j.End)
		}),
	}
}

// keys lists the keys of [[reserved]].
func (j *Reservation) keys(s *Snapshot, jobs map[string]int, free []grid.Profile) keys.List {
	return keys.List{
		keys.Amount("start", &j.Start, s.Now, "its start").Must("4"),
		keys.Named("job", &j.Job, jobs, "R", "name, unique in the file"),
		s.end(&j.End, func() grid.Time { return j.Start }),
		s.nodes(&j.Group, &j.Nodes, false), groupName(),
		keys.Rule(func(t *keys.Table) { s.take(t, free, j.Group, j.Nodes, j.Start, j.End) }),
	}
}

// keys lists the keys of [[queued]].
func (j *QueuedJob) keys(s *Snapshot, jobs map[string]int) keys.List {
	return keys.List{
		keys.Named("job", &j.Job, jobs, "C", "name, unique in the file"),
		keys.Custom("queue", keys.About{Kind: "name of a [[queue]]"}, func(t *keys.Table, key string) { j.Queue = queueOf(t, key, s.Queues) }, "the queue in which it waits").ByDefault("the queue without a name"),
		keys.Span("estimate", &j.Estimate, grid.Hour, grid.Millisecond, "its run time as its user estimates it").Must(`"1h"`),
		keys.Amount("submit", &j.Submit, s.Now, "its submission, not after `now`").ByDefault("`now`"),
		keys.Rule(func(t *keys.Table) {
			if t.Clean("submit") && j.Submit > s.Now {
				t.Wrong("submit", "%v is after now, %v", j.Submit, s.Now)
			}
		}),
		s.nodes(&j.Group, &j.Nodes, true), groupName(),
	}
}

// grouped holds if the site has groups. Without any, which has been reported, its jobs
// cannot be checked and are not read.
func (s *Snapshot) grouped() *keys.Condition {
	return &keys.Condition{Holds: func(*keys.Table) bool { return len(s.Groups) > 0 }}
}

// take takes nodes of a group, or reports that too few are left.
func (s *Snapshot) take(t *keys.Table, free []grid.Profile, group, nodes int, start, end grid.Time) {
	if !t.Clean("nodes") || !t.Clean("group") || !t.Clean("start") || !t.Clean("end") {
		return
	}
	start = max(start, s.Now)
	if least := free[group].Min(start, end); least < nodes {
		t.Wrong("nodes", "%d, but only %d of the %s of group %q are left between %v and %v",
			nodes, max(least, 0), grid.Count(s.Groups[group].Nodes, "node"), s.Groups[group].Name, start, end)
		return
	}
	free[group].Add(start, end, -nodes)
}

// end is the key of an end, which must be given and must be after the start and after now.
func (s *Snapshot) end(to *grid.Time, start func() grid.Time) keys.Key {
	return keys.Custom("end", keys.About{Kind: "time"}, func(t *keys.Table, key string) { *to = s.readEnd(t, start()) }, "its end, after `now` and after its start; must be given")
}

// nodes is the key of a number of nodes. Reading it also finds the group.
func (s *Snapshot) nodes(group, nodes *int, largeEnough bool) keys.Key {
	return keys.Custom("nodes", keys.About{Kind: "whole number", Limits: "1 to those of the group"}, func(t *keys.Table, _ string) {
		*group, *nodes = s.place(t, largeEnough)
	}, "number of nodes; must be given")
}

// groupName is the key of a group, which is read with the nodes.
func groupName() keys.Key {
	return keys.Custom("group", keys.About{Kind: "name of a [[group]]"}, func(t *keys.Table, key string) { t.Has(key) }, "its group").ByDefault("the first; for a waiting job, the first that is large enough")
}

// readEnd reads an end, which must be given and must be after the start and after now.
func (s *Snapshot) readEnd(r *keys.Table, start grid.Time) grid.Time {
	r.Need("end", "6")
	end := keys.Value(r, "end", start.Add(1))
	switch {
	case !r.Clean("end"):
	case end <= s.Now:
		r.Wrong("end", "%v is not after now, %v; leave out what has ended", end, s.Now)
	case end <= start:
		r.Wrong("end", "%v is not after the start, %v", end, start)
	}
	return end
}

// place reads a group and a number of nodes in it. The default group is the first or, with
// largeEnough, the first that is large enough.
func (s *Snapshot) place(r *keys.Table, largeEnough bool) (group, nodes int) {
	r.Need("nodes", "4")
	nodes = r.Whole("nodes", 1, 1, maxNodes)
	if largeEnough {
		group = max(0, slices.IndexFunc(s.Groups, func(g grid.Group) bool { return g.Nodes >= nodes }))
	}
	if r.Has("group") {
		name := r.Text("group", "")
		i := slices.IndexFunc(s.Groups, func(g grid.Group) bool { return g.Name == name })
		if i < 0 && r.Clean("group") {
			names := make([]string, len(s.Groups))
			for i, g := range s.Groups {
				names[i] = g.Name
			}
			r.Wrong("group", "no [[group]] is named %q%s", name, keys.Choose(name, names))
		}
		group = max(i, 0)
	}
	if g := s.Groups[group]; r.Clean("nodes") && r.Clean("group") && nodes > g.Nodes {
		r.Wrong("nodes", "%d, but group %q has %s", nodes, g.Name, grid.Count(g.Nodes, "node"))
	}
	return group, nodes
}
