package planning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Input is what a cycle knows when its search begins.
type Input struct {
	Cycle   uint64    // its number; the draws of strategy random depend on it
	From    grid.Time // no window starts earlier
	Horizon grid.Time // no window ends later
	Terms   Terms
	Jobs    []Job  // in serving order: earlier jobs have the first claim
	Sites   []Site // that were asked for offers, in order of name
	Away    bool   // a site that was not asked may take part in a later cycle
}

// Terms are the broker's settings on which a plan depends.
type Terms struct {
	Algorithm       search.Algorithm
	Weights         search.Weights // of algorithm best
	Minimize        grid.Goal
	Urgency         grid.Urgency    // under GoalValue: for jobs without one of their own
	Slowdown        int64           // under GoalValue: what a wait as long as its run costs such a job at least, in thousandths of its budget
	Weight          int64           // under GoalValue: of a credit, in thousandths, at least 1,000; 0: like 1,000, but no window is rejected for its loss
	Patience        grid.Duration   // under GoalValue: how long a job may wait for a better window
	Wait            grid.Duration   // under GoalValue: how long a job left without a window waits for its next chance
	BudgetLimit     grid.Credits    // B*; selection.Auto: by the formula
	TimeLimit       grid.Duration   // T*; selection.Auto: by the formula
	MaxAlternatives int             // for one job, at least 1
	Strategy        choice.Strategy // how jobs are placed
	Alpha           choice.Alpha    // of strategy alpha
	Draws           uint64          // seed of strategy random
	OfferWait       grid.Duration   // how long the sites had to answer; only used in reasons
	Refuses         bool            // a job that is too dear for whatever the sites have is given up
}

// Job is a job as a cycle sees it.
type Job struct {
	Name     string
	User     string
	Submit   grid.Time
	Priority int
	// Request is its request for this cycle: ready once the jobs it comes after have
	// ended, and due in time for the jobs that come after it.
	Request  grid.Request
	Deadline grid.Time          // the job's own; the Request's may be earlier
	Pending  bool               // a job it comes after is not done, so it may be ready earlier than the Request says
	Gone     bool               // it no longer takes part, and is listed for the record only
	Barred   []facts.UserBarred // sites that are closed to its user, in order of name
	Bound    grid.Reason        // the bound of its user or tenant that makes it ready no sooner

	Elsewhere bool // a site that was not asked may be able to serve it
}

// Site is a site's answer to the request for offers.
type Site struct {
	Name    string
	Answer  Answer
	Refusal grid.Reason         // why it is closed
	Version uint64              // of its state
	Now     grid.Time           // by its clock
	Groups  []agents.GroupOffer // groups of equal nodes, with what is free on them until the horizon
}

// Answer is how a site answered a request for offers.
type Answer uint8

// The answers.
const (
	Silent Answer = iota
	Closed        // closed to this broker, or its offers make no sense
	Skewed        // its clock is off, so its times mean nothing
	Usable
)

var answerNames = [...]string{"silent", "closed", "skewed", "usable"}

// String names the answer.
func (a Answer) String() string { return answerNames[a] }

// OneByOne reports whether jobs are taken one by one rather than weighed against each
// other.
func (t *Terms) OneByOne() bool { return t.Strategy.OneByOne() }

// ByValue reports whether the jobs of a batch are placed by their value rather than by the
// papers' rules.
func (t *Terms) ByValue() bool {
	return t.Minimize == grid.GoalValue && !t.OneByOne() && !t.Asks()
}

// Asks reports whether somebody outside chooses among the windows of a batch.
func (t *Terms) Asks() bool { return t.Strategy.Asks() }

// paper is the goal of the papers' selection.
func (t *Terms) paper() selection.Goal {
	switch t.Minimize {
	case grid.GoalCost:
		return selection.MinCost
	case grid.GoalFinish:
		return selection.MinFinish
	}
	return selection.MinTime
}

// BindsBudget reports whether B* limits the selection: always if an operator has set it,
// otherwise unless the goal is cost or value.
func (t *Terms) BindsBudget() bool {
	return t.BudgetLimit != selection.Auto || t.Minimize != grid.GoalCost && !t.ByValue()
}

// BindsTime reports whether T* limits the selection: if an operator has set it, or the
// goal is cost.
func (t *Terms) BindsTime() bool {
	return t.TimeLimit != selection.Auto || t.Minimize == grid.GoalCost
}

// capped reports whether a job's price cap holds for each of its nodes.
func (t *Terms) capped() bool { return t.Algorithm.CapsPrice() }

// search are the options of a search for windows that start at from or later.
func (t *Terms) search(from grid.Time) search.Options {
	return search.Options{Algorithm: t.Algorithm, MaxAlternatives: t.MaxAlternatives, Notice: from, Weights: t.Weights}
}

// Better reports whether x is tried before y once the chosen alternative could not be had:
// by what is minimised, then by cost, then by the order found.
func (t *Terms) Better(x, y *Alternative) bool {
	first := 0
	switch t.Minimize {
	case grid.GoalValue:
		first = cmp.Compare(x.Loss, y.Loss)
	case grid.GoalTime:
		first = cmp.Compare(x.Time, y.Time)
	case grid.GoalFinish:
		first = cmp.Compare(x.End, y.End)
	}
	return cmp.Or(first, cmp.Compare(x.Cost, y.Cost), cmp.Compare(x.Number, y.Number)) < 0
}

// Answered is the number of sites with usable offers.
func (in *Input) Answered() int {
	n := 0
	for i := range in.Sites {
		if in.Sites[i].Answer == Usable {
			n++
		}
	}
	return n
}

// complete reports whether every site has usable offers, so that nobody has what they lack.
func (in *Input) complete() bool {
	n := in.Answered()
	return n == len(in.Sites) && n > 0
}

// Skewed names the sites whose clocks are off.
func (in *Input) Skewed() []string {
	var list []string
	for i := range in.Sites {
		if in.Sites[i].Answer == Skewed {
			list = append(list, in.Sites[i].Name)
		}
	}
	return list
}

// silence says why there are no offers to search.
func (in *Input) silence() grid.Reason {
	if len(in.Sites) == 0 {
		return reason(grid.NoOffer, "no site is there at present")
	}
	answered := 0
	for i := range in.Sites {
		s := &in.Sites[i]
		if s.Answer != Silent {
			answered++
		}
		if s.Answer == Closed && s.Refusal.Refused() {
			return reason(grid.NoOffer, "no site offers anything; %s: %v", s.Name, s.Refusal)
		}
	}
	if off := in.Skewed(); len(off) > 0 {
		return reason(grid.NoOffer, "no site offers anything that can be used; the clock of %s is more than %s off", off[0], grid.ClockSkew.Words())
	}
	if answered > 0 {
		return reason(grid.NoOffer, "%d of %s answered, none with offers that can be used", answered, grid.Count(len(in.Sites), "site"))
	}
	return reason(grid.NoOffer, "none of %s answered within %v s", grid.Count(len(in.Sites), "site"), in.Terms.OfferWait)
}

// serves reports whether nodes of a group suit a request, in windows that the group allows.
func serves(g *grid.Group, r *grid.Request) bool {
	return Suits(g, r) && g.Allows(g.Performance.Runtime(r.Shortest()))
}

// Suits reports whether nodes of a group suit a request, if it is not too long for them.
func Suits(g *grid.Group, r *grid.Request) bool {
	return g.Performance >= r.MinPerformance && r.Require.MetBy(g.Machine) && r.Portion.Fits(g) && grid.May(g.Site, r.Sites, r.Avoid)
}

// Named are the sites that the jobs name as the only ones for them or for one of their parts,
// each once, in order of the jobs.
func (in *Input) Named() (list []string) {
	add := func(sites []string) {
		for _, s := range sites {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	for i := range in.Jobs {
		r := &in.Jobs[i].Request
		if add(r.Sites); r.Composed() {
			for k := range r.Parts {
				add(r.Parts[k].Sites)
			}
		}
	}
	return list
}

// Quickest is how long a request takes on the fastest suitable nodes that the sites offer.
// It reports false if there are none.
func Quickest(sites []Site, r *grid.Request) (grid.Duration, bool) {
	if r.Composed() {
		return quickestOf(sites, r)
	}
	var best grid.Performance
	for i := range sites {
		if sites[i].Answer != Usable {
			continue
		}
		for k := range sites[i].Groups {
			if g := &sites[i].Groups[k].Group; serves(g, r) {
				best = max(best, g.Performance)
			}
		}
	}
	if best == 0 {
		return 0, false
	}
	return best.Runtime(r.Shortest()), true
}

// barredSites marks, by site, those that are closed to a job's user; nil if none is.
func (in *Input) barredSites(j *Job) []bool {
	if len(j.Barred) == 0 {
		return nil
	}
	list := make([]bool, len(in.Sites))
	for _, x := range j.Barred {
		i, there := slices.BinarySearchFunc(in.Sites, x.Site, func(s Site, name string) int { return strings.Compare(s.Name, name) })
		if there {
			list[i] = true
		}
	}
	return list
}

// Quotes is what a choice depends on besides the Input: what has become known since the
// search.
type Quotes struct {
	Sites  [][]grid.Quote          // by site: the answer to Draft.Wanted, leg by leg; nil: none in time
	Sets   [][]grid.Quote          // by site: the answer to Draft.Together for the first choice; nil: none in time, or not asked
	Left   grid.Credits            // what the VO can still promise
	Quotas map[string]grid.Credits // what each user with a quota can still spend under it; negative: it is exceeded
	Gone   []bool                  // by job: it no longer takes part; nil: as in the Input
	Away   bool                    // as Input.Away
}

// userLeft is what a user can still spend.
func (q *Quotes) userLeft(user string) grid.Credits {
	if left, ok := q.Quotas[user]; ok {
		return left
	}
	return grid.MaxCredits
}
