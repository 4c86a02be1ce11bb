package planning

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/placement"
)

// Draft is a plan before the quotes: the alternatives of each job at their base prices.
// Callers must not change it.
type Draft struct {
	in        *Input
	Groups    []grid.Group // of the sites with usable offers, in order of site
	Slots     int          // how many slots were searched
	Jobs      []Plan       // by job of the Input
	Wanted    []Wanted     // by site: the quotes to ask for
	Postponed []Postponed  // in the order decided

	siteOf     []int32 // by group
	fastest    grid.Performance
	admissible []grid.Profile
	clear      []grid.Profile
	opened     [][]grid.Opened
	queued     []grid.Duration
	shared     []bool
	order      order           // of the groups, in a search by the papers' rules
	ties       *placement.Ties // among groups of time-shared nodes, made when needed
	has        *Reach          // of what the sites have, made when needed
}

// Plan is the plan for one job.
type Plan struct {
	Alternatives []Alternative // those left, in the order found
	Found        int           // alternatives found so far, including those dropped
	Choice       int           // index into Alternatives, -1: none
	Over         bool          // the job takes no part: it is gone or postponed
	Why          grid.Reason   // why the last alternative was dropped
}

// Alternative is a window that a job could have: legs that start together, on
// groups of one site or several.
type Alternative struct {
	Number  int           // from 1, in the order found
	Size    grid.Size     // the job's size in this alternative
	Time    grid.Duration // of the longest leg
	End     grid.Time
	Cost    grid.Credits // of all legs: at base price in a Draft, as quoted in an Outcome
	Loss    grid.Credits // under GoalValue: its loss by the job's goal, with the cost weighted
	Copies  int          // under GoalValue: how many more windows there are that differ in nothing that matters
	Bounded bool         // the search for it reached its bound: there may be a better one
	Legs    []Leg        // by part of the job, then in order of group
	Quotes  []grid.Quote // leg by leg, in an Outcome; for a clear leg its base price
}

// What are the alternative's legs as sites know them.
func (a *Alternative) What() []grid.Leg {
	list := make([]grid.Leg, len(a.Legs))
	for i := range a.Legs {
		list[i] = a.Legs[i].What
	}
	return list
}

// Leg is one leg of an alternative.
type Leg struct {
	What      grid.Leg
	Group     int32     // index into Draft.Groups
	Site      int32     // index into Input.Sites
	Contended bool      // jobs in the site's queue are in its way, so it may cost more than the base price
	Base      grid.Fare // its lowest possible price
	Part      int32     // the part of the job that it carries, an index
}

// Wanted are the contended legs at one site.
type Wanted struct {
	Legs  []grid.Leg  // in the order of jobs, their alternatives and the alternatives' legs
	Users []string    // the jobs' users, leg by leg
	base  []grid.Fare // leg by leg
}

// Postponed is a job that gets no window in this cycle.
type Postponed struct {
	Job    int // index into Input.Jobs
	Reason grid.Reason
	Final  bool // it will never get one
}

// Outcome is what a cycle decides.
type Outcome struct {
	Jobs         []Plan        // by job of the Input, with the alternatives left and the choice
	Postponed    []Postponed   // by the choice, in the order decided
	Alternatives int           // left when the selection began, over all jobs
	BudgetLimit  grid.Credits  // B* if it binds, otherwise MaxCredits
	TimeLimit    grid.Duration // T* if it binds, otherwise MaxDuration
	Formula      Limits        // the selection's B* and T*, whether they bind or not
	Cost         grid.Credits  // of the chosen alternatives
	Time         grid.Duration // of the chosen alternatives, summed over the jobs
	Regret       grid.Credits  // under GoalValue: what the jobs with a window lose beyond the least that each could lose alone
	Behind       int           // under GoalValue: jobs whose batch leaves them no window nearly as good as they could have alone
	Bounded      bool          // the selection reached its bound on memory: it is within the limits, but perhaps not the best

	// Of a second choice.
	together []Wanted      // the quotes asked for
	sets     []Alternative // by job: its window of the first choice, at the price of the set; Number 0: none
}

// Limits are B* and T*.
type Limits struct {
	Budget grid.Credits
	Time   grid.Duration
}

// Start is the start of the window: that of its legs or, of a job of parts with offsets, of
// the earliest.
func (a *Alternative) Start() grid.Time {
	start := a.Legs[0].What.Start
	for i := range a.Legs {
		start = min(start, a.Legs[i].What.Start)
	}
	return start
}

// newDraft is a draft with the groups on offer and an empty plan for each job.
func newDraft(in *Input) *Draft {
	n := 0
	for i := range in.Sites {
		if in.Sites[i].Answer == Usable {
			n += len(in.Sites[i].Groups)
		}
	}
	d := &Draft{in: in, Jobs: make([]Plan, len(in.Jobs)), Groups: make([]grid.Group, 0, n), siteOf: make([]int32, 0, n),
		admissible: make([]grid.Profile, 0, n), clear: make([]grid.Profile, 0, n), opened: make([][]grid.Opened, 0, n), queued: make([]grid.Duration, 0, n), shared: make([]bool, 0, n)}
	for i := range in.Jobs {
		d.Jobs[i] = Plan{Choice: -1, Over: in.Jobs[i].Gone}
	}
	for site := range in.Sites {
		s := &in.Sites[site]
		if s.Answer != Usable {
			continue
		}
		for i := range s.Groups {
			o := &s.Groups[i]
			d.Groups = append(d.Groups, groupOf(s.Name, o))
			d.siteOf, d.fastest = append(d.siteOf, int32(site)), max(d.fastest, o.Group.Performance)
			d.admissible = append(d.admissible, o.Admissible)
			d.clear = append(d.clear, o.Clear)
			d.opened = append(d.opened, o.Opened)
			d.queued = append(d.queued, o.Queued)
			d.shared = append(d.shared, o.Shared)
		}
	}
	return d
}

// groupOf is the group of a site's offer. Longest bounds how long nodes are held, and a share of
// time-shared nodes holds none: whatever such an offer says, nothing bounds it.
func groupOf(site string, o *agents.GroupOffer) grid.Group {
	g := o.Group
	if g.Site = site; o.Shared {
		g.Longest = 0
	}
	return g
}

// barredGroups marks the groups of sites that are closed to a job's user; nil if there are
// none.
func (d *Draft) barredGroups(j *Job) []bool {
	sites := d.in.barredSites(j)
	if sites == nil {
		return nil
	}
	list := make([]bool, len(d.Groups))
	for g, site := range d.siteOf {
		list[g] = sites[site]
	}
	return list
}

// add turns windows into alternatives. A leg is clear, and its base price exact, if the
// group has enough clear nodes from its start to its end.
func (p *Plan) add(d *Draft, j *Job, windows []grid.Window) {
	parts := 0
	for i := range windows {
		parts += len(windows[i].Parts)
	}
	legs := make([]Leg, 0, parts)
	p.Alternatives = slices.Grow(p.Alternatives, len(windows))
	for i := range windows {
		w := &windows[i]
		first := len(legs)
		for _, part := range w.Parts {
			l := Leg{Group: part.Group, Site: d.siteOf[part.Group],
				What: grid.Leg{Group: d.Groups[part.Group].Name, Nodes: int(part.Count), Start: part.Start, End: part.End}}
			if p := j.Request.PortionOf(int(part.Of)); !p.Whole() {
				l.What.Part = p.Part(&d.Groups[part.Group])
			}
			l.Contended = d.clear[part.Group].Min(part.Start, part.End) < l.What.Nodes
			l.Base.Base, l.Part = part.Cost, part.Of
			legs = append(legs, l)
		}
		own := legs[first:len(legs):len(legs)]
		slices.SortFunc(own, func(a, b Leg) int { return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Group, b.Group)) })
		p.Found++
		p.Alternatives = append(p.Alternatives,
			Alternative{Number: p.Found, Size: j.Request.SizeOn(w.Nodes()), Time: w.Time, End: w.End(), Cost: w.Cost, Bounded: w.Bounded, Legs: own})
	}
}

// parts are the slots, with padding, that hold any one of a job's alternatives. Those of a
// rigid job never overlap; those of different sizes may, and are merged.
func (p *Plan) parts(d *Draft, j *Job) []grid.Part {
	var list []grid.Part
	for k := range p.Alternatives {
		for _, l := range p.Alternatives[k].Legs {
			if l.What.Work == 0 { // work on time-shared nodes takes no slot
				start, end := d.Groups[l.Group].Padded(l.What.Start, l.What.End)
				list = append(list, grid.Part{Group: l.Group, Count: int32(l.What.Nodes), Start: start, End: end})
			}
		}
	}
	if len(j.Request.Sizes) > 0 {
		list = grid.Cover(list)
	}
	return list
}

// want adds a leg to the quotes to ask for.
func (w *Wanted) want(l *Leg, user string) {
	w.Legs, w.Users, w.base = append(w.Legs, l.What), append(w.Users, user), append(w.base, l.Base)
}

// list lists, by site, the quotes to ask for.
func (d *Draft) list() {
	d.Wanted = make([]Wanted, len(d.in.Sites))
	for i := range d.Jobs {
		for k := range d.Jobs[i].Alternatives {
			for n := range d.Jobs[i].Alternatives[k].Legs {
				if l := &d.Jobs[i].Alternatives[k].Legs[n]; l.Contended {
					d.Wanted[l.Site].want(l, d.in.Jobs[i].User)
				}
			}
		}
	}
}
