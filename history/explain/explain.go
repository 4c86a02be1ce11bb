package explain

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// Options bound an explanation; the zero Options are the defaults.
type Options struct {
	// Reruns is how many times a cycle may be planned again to find what would
	// have changed the answer; 0: 200.
	Reruns int
	// Work is how much that may cost in all: slots times jobs, summed over the
	// reruns; 0: 20 million, which takes a second or two.
	Work int
	// Options is how many alternatives are shown, beside the one chosen and the
	// runner-up; 0: 10.
	Options int
	// Stop is asked before each rerun; true: what was found so far must do. nil: never.
	Stop func() bool
}

// Explanation says why a job got what it got. Times are in seconds since zero
// (for a process: Unix time), money in credits.
type Explanation struct {
	Job         string         `json:"job"`
	User        string         `json:"user,omitempty"`
	Asked       grid.Request   `json:"asked"`
	After       []string       `json:"after,omitempty"`       // jobs that it comes after, if they succeed,
	AfterAny    []string       `json:"afterAny,omitempty"`    // once they have ended, however,
	AfterFailed []string       `json:"afterFailed,omitempty"` // or if they fail,
	AfterEach   []string       `json:"afterEach,omitempty"`   // or, of an array, element by element as they succeed,
	Gap         grid.Duration  `json:"gap,omitempty"`         // so long
	Submitted   grid.Time      `json:"submitted"`
	State       string         `json:"state"` // of grid.JobState, or not-taken
	Since       grid.Time      `json:"since"`
	Reason      grid.Reason    `json:"reason,omitzero"` // why it waits, or was abandoned
	Waiting     *Waiting       `json:"waiting,omitempty"`
	Cycles      int            `json:"cycles"`             // that it took part in, as far as the journal goes back
	Latest      []CycleLine    `json:"latest,omitempty"`   // the latest of them
	Cycle       *Cycle         `json:"cycle,omitempty"`    // the one that is explained
	Turns       []history.Turn `json:"turns"`              // what became of it
	Dropped     int            `json:"dropped,omitempty"`  // turns left out in the middle
	Changes     []Change       `json:"changes,omitempty"`  // what would have changed the answer
	Tried       []string       `json:"tried,omitempty"`    // what was tried and would not have
	Unknown     []string       `json:"unknown,omitempty"`  // what cannot be said, and why
	Journal     [2]grid.Time   `json:"journal"`            // from when to when the facts are
	Earliest    *Estimate      `json:"earliest,omitempty"` // of a job that waits
	Elements    string         `json:"elements,omitempty"` // of an array: how many are in each state

	gathered bool // by pilots: no cycle looks at it
}

// Waiting says since when a job waits for its present reason.
type Waiting struct {
	From   grid.Time `json:"from"`
	Cycles int       `json:"cycles"` // in a row
}

// CycleLine is a cycle that the job took part in, in a line.
type CycleLine struct {
	Number uint64      `json:"number"`
	At     grid.Time   `json:"at"`
	Tries  int         `json:"tries"`
	Placed bool        `json:"placed,omitempty"`
	Reason grid.Reason `json:"reason,omitzero"`
}

// Cycle is what a cycle saw and chose for the job.
type Cycle struct {
	Number      uint64        `json:"number"`
	At          grid.Time     `json:"at"`
	From        grid.Time     `json:"from"`
	Horizon     grid.Time     `json:"horizon"`
	Algorithm   string        `json:"algorithm"`
	Minimize    string        `json:"minimize"`
	Goal        string        `json:"goal,omitempty"`    // of the job, where the cycle minimises value
	Urgency     grid.Credits  `json:"urgency,omitempty"` // what an hour until its end is worth to it
	Weight      int64         `json:"weight,omitempty"`  // of a credit, in thousandths, above 1,000 while money is short
	Goals       []Goal        `json:"goals,omitempty"`   // what the job would have got with each other goal
	Batch       int           `json:"batch"`             // jobs planned together
	Place       int           `json:"place"`             // of this one among them, from 1
	BudgetLimit grid.Credits  `json:"budgetLimit,omitempty"`
	BudgetUsed  grid.Credits  `json:"budgetUsed"` // by the choice for the whole batch
	TimeLimit   grid.Duration `json:"timeLimit,omitempty"`
	TimeUsed    grid.Duration `json:"timeUsed"`
	Left        grid.Credits  `json:"left"` // in the VO's account
	Sites       []Site        `json:"sites"`
	NotAsked    int           `json:"notAsked,omitempty"` // how many other sites were not asked: their turn had not come
	Options     []Option      `json:"options,omitempty"`
	Found       int           `json:"found"`              // alternatives in all
	Chosen      int           `json:"chosen,omitempty"`   // number of the one chosen, 0: none
	RunnerUp    int           `json:"runnerUp,omitempty"` // the one that came next
	Reason      grid.Reason   `json:"reason,omitzero"`    // why none
	Bound       grid.Reason   `json:"bound,omitzero"`     // of its user or tenant, by which it was to begin no sooner than at
	NotBefore   grid.Time     `json:"notBefore,omitempty"`
}

// Site is what a site answered in the cycle.
type Site struct {
	Name   string      `json:"name"`
	Answer string      `json:"answer"` // silent, closed, skewed, usable, left, unlisted
	Reason grid.Reason `json:"reason,omitzero"`
	Groups []Group     `json:"groups,omitempty"`
}

// Group is what was free on a group of its nodes.
type Group struct {
	Name        string           `json:"name"`
	Nodes       int              `json:"nodes"`
	Performance grid.Performance `json:"performance"`
	Price       grid.Price       `json:"price"`              // base price when the cycle's windows might begin
	Free        int              `json:"free"`               // when the cycle's windows might begin
	Clear       int              `json:"clear"`              // of those, at base price
	Suits       string           `json:"unsuited,omitempty"` // why it does not suit the job; "" if it does
}

// Option is an alternative, and why it was not taken.
type Option struct {
	Number   int           `json:"number"`
	Start    grid.Time     `json:"start"`
	End      grid.Time     `json:"end"`
	Time     grid.Duration `json:"time"`
	Base     grid.Credits  `json:"base"`
	Additive grid.Credits  `json:"additive"`
	Total    grid.Credits  `json:"total"`
	Legs     []Leg         `json:"legs"`
	Taken    bool          `json:"taken,omitempty"`
	Lost     string        `json:"lost,omitempty"`   // why it was not taken
	Wait     grid.Credits  `json:"wait,omitempty"`   // what the time until its end is worth, where the cycle minimises value
	Copies   int           `json:"copies,omitempty"` // how many more there are that differ in nothing that matters
	// Bounded says that the search for it gave up before it had looked at all choices.
	Bounded bool `json:"bounded,omitempty"`
}

// Goal is what a job would have got with another goal, the rest of its batch as it was.
type Goal struct {
	Goal   string       `json:"goal"`
	Same   bool         `json:"same,omitempty"` // the very same window
	Placed bool         `json:"placed"`
	Start  grid.Time    `json:"start,omitempty"`
	End    grid.Time    `json:"end,omitempty"`
	Cost   grid.Credits `json:"cost,omitempty"`
	Guess  bool         `json:"guess,omitempty"` // a price in it was not quoted in the cycle: the cost is the least it could be
	Reason grid.Reason  `json:"reason,omitzero"`
}

// Leg is a leg of it.
type Leg struct {
	Site  string       `json:"site"`
	Group string       `json:"group"`
	Nodes int          `json:"nodes"`
	Part  string       `json:"part,omitempty"`  // of a job of parts, the one that it carries,
	Start grid.Time    `json:"start,omitempty"` // and when
	End   grid.Time    `json:"end"`
	Cost  grid.Credits `json:"cost"`
}

// Estimate is when a job could start by the latest offers on record, for it
// alone: no promise.
type Estimate struct {
	Start  grid.Time    `json:"start"`
	Cost   grid.Credits `json:"cost"`             // at least
	AsOf   grid.Time    `json:"asOf"`             // of the offers
	Cycle  uint64       `json:"cycle"`            // that they were made for
	Beyond string       `json:"beyond,omitempty"` // what of the request it passes: its budget, its deadline
	None   grid.Reason  `json:"none,omitzero"`    // why there is no such start at all
}

// ErrUnknown says that a journal has nothing on a job.
type ErrUnknown struct {
	Job  string
	From grid.Time // since when the journal goes back
}

func (e *ErrUnknown) Error() string {
	return fmt.Sprintf("the journal has nothing on a job named %q, as far as it goes back; jobs are named as \"bourse jobs\" shows them", e.Job)
}

// Explain says why a job got what it got, from the facts of its broker's journal
// in order. It reads them once and keeps little, and then plans one cycle again
// as often as Options allow. A job that the facts do not name is *ErrUnknown.
func Explain(facts iter.Seq2[grid.Time, agents.Fact], job string, o Options) (*Explanation, error) {
	o.Reruns, o.Work, o.Options = cmp.Or(o.Reruns, 200), cmp.Or(o.Work, 20_000_000), cmp.Or(o.Options, 10)
	h := gather(facts, job)
	if !h.known {
		return nil, &ErrUnknown{job, h.first}
	}
	e := &Explanation{Job: job, User: h.submitted.User, Asked: h.submitted.Request, After: grid.NamesOn(h.after, grid.IfDone), AfterAny: grid.NamesOn(h.after, grid.IfAny), AfterFailed: grid.NamesOn(h.after, grid.IfFailed), AfterEach: grid.NamesOn(h.after, grid.IfEach), Gap: h.gap, Submitted: h.at, State: h.standing.Word(), Since: h.standing.Since,
		Reason: h.standing.Reason, Cycles: h.count, Turns: h.turns, Dropped: h.dropped, Journal: [2]grid.Time{h.first, h.last}}
	if h.waits > 0 && e.waits() {
		if e.Waiting = (&Waiting{From: h.waitsFrom, Cycles: h.waits}); h.gathers {
			e.Waiting.Cycles = 0
		}
	}
	for _, c := range h.cycles[max(0, len(h.cycles)-10):] {
		l := CycleLine{Number: c.number, At: c.at, Tries: len(c.tries), Reason: c.reason}
		for _, t := range c.tries {
			l.Placed = l.Placed || t.commit
		}
		e.Latest = append(e.Latest, l)
	}
	e.doubts(h)
	if h.elements != nil { // it never takes part in a cycle itself
		e.Elements = grid.Tally(h.elements.counts())
		return e, nil
	}
	if e.gathered = h.gathers; e.gathered { // its turns say it all
		return e, nil
	}
	x := &examiner{Explanation: e, past: h, options: o}
	switch c := x.decisive(); {
	case c != nil:
		x.explain(c)
	case e.waits() && !e.Reason.Refused():
		e.unknown("why it waits: no cycle has looked at it yet")
	}
	if e.waits() {
		x.earliest()
	}
	return e, nil
}

func (e *Explanation) waits() bool {
	return e.State == grid.JobWaiting.String() || e.State == grid.JobGathering.String() || e.State == grid.JobAbandoned.String() && e.Reason.Code != grid.After
}

// unknown notes something that cannot be said.
func (e *Explanation) unknown(format string, args ...any) {
	e.Unknown = append(e.Unknown, fmt.Sprintf(format, args...))
}

// doubts says where the journal does not reach.
func (e *Explanation) doubts(h *past) {
	if h.image {
		e.unknown("what was before the journal's first segment that is kept: older detail has been dropped")
	}
	if h.ended {
		e.unknown("what the broker knows of it now: it was forgotten, long after its end")
	}
}

// examiner is what is needed while a cycle is explained.
type examiner struct {
	*Explanation
	past    *past
	options Options
	rerun   *planning.Rerun
	on      *cycle              // that is explained
	as      planning.JobOutcome // what it came to for the job
	spent   int                 // reruns
	work    int
	each    int // work of a rerun
	out     bool
}

// decisive is the cycle to explain: the one that has placed the job if it has a
// window, else the latest that looked at it.
func (x *examiner) decisive() *cycle {
	h := x.past
	if !x.waits() && h.placed != nil {
		return h.placed
	}
	for i := len(h.cycles) - 1; i >= 0; i-- {
		if h.cycles[i].seen != nil || i == len(h.cycles)-1 {
			return h.cycles[i]
		}
	}
	return nil
}

// explain says what a cycle saw and chose.
func (x *examiner) explain(c *cycle) {
	if c.seen == nil {
		x.unknown("what the sites offered: cycle %d has no detail on record (the broker's explain is off, or it is older than the journal is kept)", c.number)
		return
	}
	s := c.seen
	y := &Cycle{Number: c.number, At: c.at, From: s.From, Horizon: s.Horizon, Algorithm: s.Terms.Algorithm, Minimize: s.Terms.Minimize, Batch: len(s.Jobs), Reason: c.reason}
	x.Cycle, x.on = y, c
	y.Place = 1 + slices.IndexFunc(s.Jobs, func(j facts.CycleJob) bool { return j.Name == x.Job })
	if y.Place == 0 {
		x.unknown("what cycle %d would have chosen: the job had been put off before it asked for offers", c.number)
	}
	if y.Place > 0 && s.Jobs[y.Place-1].Bound.Refused() {
		j := &s.Jobs[y.Place-1]
		y.Bound, y.NotBefore = j.Bound, max(s.From, j.Request.Ready)
	}
	for i := range s.Sites {
		y.Sites = append(y.Sites, x.site(&s.Sites[i]))
	}
	y.NotAsked = s.NotAsked
	if c.planned != nil {
		y.Left = c.planned.Left
	}
	r, err := planning.NewRerun(s, c.planned)
	if err != nil {
		x.unknown("the alternatives of cycle %d: %v", c.number, err)
		x.onRecord(y)
		return
	}
	if y.Place == 0 {
		return
	}
	x.rerun, x.as = r, r.As()[y.Place-1]
	x.each = x.size()
	x.outcome(y)
	x.otherGoals(y)
	x.whatIf()
}

// onRecord says what is on record of a choice that cannot be planned again.
func (x *examiner) onRecord(y *Cycle) {
	if x.on.planned == nil {
		return
	}
	for _, p := range x.on.planned.Chosen {
		if p.Job == x.Job {
			y.Found, y.Chosen = p.Found, p.Alternative
			y.Options = []Option{{Number: p.Alternative, Start: p.Start, End: p.End, Time: p.End.Sub(p.Start), Total: p.Cost, Base: p.Cost, Taken: true}}
		}
	}
}

// size is what a rerun costs: slots times jobs, roughly.
func (x *examiner) size() int {
	slots := 1
	for i := range x.on.seen.Sites {
		for k := range x.on.seen.Sites[i].Groups {
			slots += 1 + len(x.on.seen.Sites[i].Groups[k].Free)/10 // a step takes some ten bytes
		}
	}
	return slots * len(x.on.seen.Jobs)
}

// priced is the prices of a group on record; a curve that cannot be read, which the rerun
// has told, counts as none.
func priced(g *facts.GroupSeen) grid.Group {
	curve, _ := grid.ParsePriceCurve(g.Curve)
	return grid.Group{Price: g.Price, Curve: curve, Machine: g.Machine, Slices: g.Slices, Cores: g.Cores}
}

// site is what a site answered.
func (x *examiner) site(s *facts.SiteSeen) Site {
	v := Site{Name: s.Site, Answer: s.Answer, Reason: s.Reason}
	for i := range s.Groups {
		g := &s.Groups[i]
		at := priced(g)
		w := Group{Name: g.Group, Nodes: g.Nodes, Performance: g.Performance, Price: at.PriceAt(x.on.seen.From)}
		free, err := g.Free.Profile()
		if err == nil && len(free) > 0 {
			w.Free = max(0, free.At(x.on.seen.From))
			w.Clear = w.Free
		}
		if clear, err := g.Clear.Profile(); err == nil && len(clear) > 0 {
			w.Clear = max(0, clear.At(x.on.seen.From))
		}
		w.Suits = x.unsuited(s.Site, g, &at, &x.Asked)
		if x.Asked.Composed() {
			w.Suits = x.unsuitedParts(s.Site, g, &at)
		}
		v.Groups = append(v.Groups, w)
	}
	return v
}

// unsuited says why a group does not suit a request; "" if it does.
func (x *examiner) unsuited(site string, g *facts.GroupSeen, at *grid.Group, r *grid.Request) string {
	_, lacks := r.Portion.On(at)
	switch unmet := r.Require.Unmet(g.Machine); {
	case lacks != "":
		return "has " + grid.TooFew(lacks) + " on a node, or does not say what a node has"
	case unmet != "":
		return "has not the " + unmet + " required"
	case !grid.May(site, r.Sites, r.Avoid):
		return "is not among the sites it allows"
	case g.Performance < r.MinPerformance:
		return fmt.Sprintf("performance %v is below %v", g.Performance, r.MinPerformance)
	case g.Longest > 0 && g.Performance.Runtime(r.Shortest()) > g.Longest:
		return fmt.Sprintf("allows no window longer than %s; it takes %s there", g.Longest.Words(), g.Performance.Runtime(r.Shortest()).Words())
	case x.on.capsPrice() && r.Portion.Price(at, at.Cheapest(x.on.seen.From, x.on.seen.Horizon)) > r.MaxPrice:
		what := "a node-hour"
		if r.Portion.Part(at).Some() {
			what = "an hour of its part of a node"
		}
		return fmt.Sprintf("%v credits %s is above the cap %v", r.Portion.Price(at, at.Cheapest(x.on.seen.From, x.on.seen.Horizon)), what, r.MaxPrice)
	}
	return ""
}
