package planning

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/selection"
)

// judged is a batch of one job of 1000 s, for which north has nodes of performance 2 and south
// slow ones with a GPU each; on both all is taken for ever.
func judged() *Input {
	in := &Input{From: 100 * sec, Horizon: 20_000 * sec, Terms: Terms{Minimize: grid.GoalTime, BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 1, OfferWait: 10_000}}
	for i, name := range []string{"north", "south"} {
		g := agents.GroupOffer{Group: grid.Group{Site: name, Name: "g", Nodes: 2, Performance: grid.Unit * grid.Performance(2-i), Machine: grid.Machine{GPUs: i}},
			Admissible: grid.NewProfile(0, 0), Clear: grid.NewProfile(0, 0)}
		in.Sites = append(in.Sites, Site{Name: name, Answer: Usable, Groups: []agents.GroupOffer{g}})
	}
	in.Jobs = []Job{{Name: "a", User: "ana", Deadline: grid.Never, Request: grid.Request{Nodes: 1, Length: 1000 * grid.Second,
		MinPerformance: grid.Unit, Budget: grid.MaxBudget, Deadline: grid.Never}}}
	return in
}

// A job is given up for good where no site can ever serve it and all have said so: for its
// size, for what it requires, or because its deadline comes before the fastest nodes that
// suit it could be done.
func TestJudge_FinalIsWhatNobodyCanEverServe(t *testing.T) {
	t.Parallel()
	due := func(seconds grid.Time) func(*Input) {
		return func(in *Input) { in.Jobs[0].Request.Deadline, in.Jobs[0].Deadline = seconds*sec, seconds*sec }
	}
	both := func(list ...func(*Input)) func(*Input) {
		return func(in *Input) {
			for _, change := range list {
				change(in)
			}
		}
	}
	gpu := func(in *Input) { in.Jobs[0].Request.Require.GPUs = 1 }
	within := func(seconds grid.Time) func(*Input) { // the horizon
		return func(in *Input) { in.Horizon = in.From + seconds*sec }
	}
	poor := func(refuses bool) func(*Input) { // 500 s on north cost half a credit at the least
		return func(in *Input) {
			for i := range in.Sites {
				in.Sites[i].Groups[0].Group.Price = grid.Price(3600 * grid.Credit / 1000)
			}
			in.Terms.Refuses, in.Jobs[0].Request.Budget = refuses, grid.Credit/2-10
		}
	}
	wide := func(nodes int) func(*Input) { return func(in *Input) { in.Jobs[0].Request.Nodes = nodes } }
	ready := func(in *Input) { in.Jobs[0].Request.Ready = 300 * sec }
	for name, c := range map[string]struct {
		code   grid.Code
		change func(*Input)
		want   grid.Code
		final  bool
		says   string
	}{
		"too large":                             {grid.TooLarge, func(*Input) {}, grid.TooLarge, true, ""},
		"no such node":                          {grid.NoNode, func(*Input) {}, grid.NoNode, true, ""},
		"another site may come":                 {grid.NoNode, func(in *Input) { in.Away = true }, grid.NoNode, false, ""},
		"another site might have some":          {grid.NoNode, func(in *Input) { in.Jobs[0].Elsewhere = true }, grid.NoNode, false, ""},
		"a site is silent":                      {grid.NoNode, func(in *Input) { in.Sites = append(in.Sites, Site{Name: "west"}) }, grid.NoNode, false, ""},
		"no site":                               {grid.NoNode, func(in *Input) { in.Sites = nil }, grid.NoNode, false, ""},
		"no window":                             {grid.NoWindow, func(*Input) {}, grid.NoWindow, false, ""},
		"no money":                              {grid.NoMoney, due(101), grid.NoMoney, false, ""},
		"in time on the fastest":                {grid.NoWindow, due(600), grid.NoWindow, false, ""},
		"too late even there":                   {grid.NoWindow, due(599), grid.Expired, true, "end at 600 at the soonest, after its deadline 599"},
		"once it is ready":                      {grid.NoWindow, both(ready, due(800)), grid.NoWindow, false, ""},
		"too late once it is ready":             {grid.NoWindow, both(ready, due(799)), grid.Expired, true, "end at 800"},
		"in time on what it requires":           {grid.NoWindow, both(gpu, due(1100)), grid.NoWindow, false, ""},
		"too late there":                        {grid.NoWindow, both(gpu, due(1099)), grid.Expired, true, "end at 1100"},
		"too late, but may be ready earlier":    {grid.NoWindow, both(due(599), func(in *Input) { in.Jobs[0].Pending = true }), grid.Expired, false, "deadline 599"},
		"longer than the horizon":               {grid.NoWindow, within(499), grid.TooLong, true, "takes 500s, the horizon allows 499s: no window can be that long"},
		"as long as the horizon":                {grid.NoWindow, within(500), grid.NoWindow, false, ""},
		"longer, a site may come":               {grid.NoWindow, both(within(499), func(in *Input) { in.Away = true }), grid.NoWindow, false, ""},
		"longer than the horizon and late":      {grid.NoWindow, both(within(499), due(599)), grid.Expired, true, "deadline 599"},
		"longer, may be ready earlier":          {grid.NoWindow, both(within(499), due(599), func(in *Input) { in.Jobs[0].Pending = true }), grid.TooLong, true, "499s"},
		"too long where there are enough":       {grid.NoWindow, both(within(700), wide(3)), grid.TooLong, true, "takes 1000s"},
		"too long on one site":                  {grid.NoWindow, both(within(700), wide(2), func(in *Input) { in.Jobs[0].Request.OneSite = true }), grid.NoWindow, false, ""},
		"too long on what it requires":          {grid.NoWindow, both(within(999), gpu), grid.TooLong, true, "horizon allows 999s"},
		"too dear, and none is given up":        {grid.OverBudget, poor(false), grid.OverBudget, false, "it is so"},
		"too dear for whatever there is":        {grid.OverBudget, poor(true), grid.OverBudget, true, "costs at least 0.5 credits, on north"},
		"too dear, and all nodes are taken":     {grid.NoWindow, poor(true), grid.OverBudget, true, "costs at least 0.5 credits, on north"},
		"taken, and none is given up for money": {grid.NoWindow, poor(false), grid.NoWindow, false, "it is so"},
		"too dear now":                          {grid.OverBudget, both(poor(true), func(in *Input) { in.Jobs[0].Request.Budget = grid.Credit / 2 }), grid.OverBudget, false, "it is so"},
		"too dear, a site may come":             {grid.OverBudget, both(poor(true), func(in *Input) { in.Away = true }), grid.OverBudget, false, "it is so"},
		"too late for the job that follows it":  {grid.NoWindow, both(due(599), func(in *Input) { in.Jobs[0].Deadline = 900 * sec }), grid.Expired, true, "what comes after it needs it to end by 599"},
	} {
		in := judged()
		c.change(in)
		got := newDraft(in).Judge(0, grid.Reason{Code: c.code, Detail: "it is so"}, in.Away)
		if got.Job != 0 || got.Reason.Code != c.want || got.Final != c.final || !strings.Contains(got.Reason.String(), c.says) {
			t.Errorf("%s: %+v, want %s, final %t, %q", name, got, c.want, c.final, c.says)
		}
	}
}

// A job whose user may not use a site is told which, and until when. It is never given up for
// good, and if nobody else offers anything, that is the reason.
func TestJudge_NamesTheSitesThatAreClosedToTheUser(t *testing.T) {
	t.Parallel()
	closed := func(sites ...string) []facts.UserBarred {
		var list []facts.UserBarred
		for i, name := range sites {
			list = append(list, facts.UserBarred{Site: name, User: "ana", Until: grid.Time(500+i) * sec})
		}
		return list
	}
	for name, c := range map[string]struct {
		barred []facts.UserBarred
		user   string
		code   grid.Code
		change func(*Input)
		want   grid.Code
		says   []string
		not    string
	}{
		"one of two":     {closed("north"), "ana", grid.NoNode, func(*Input) {}, grid.NoNode, []string{"it is so; closed to ana: north (asked again at 500"}, "south"},
		"both":           {closed("north", "south"), "", grid.NoNode, func(*Input) {}, grid.NotAllowed, []string{"closed to users without a name: north (asked again at 500", "south (asked again at 501", "no other site"}, "it is so"},
		"the other mute": {closed("north"), "ana", grid.NoNode, func(in *Input) { in.Sites[1].Answer = Silent }, grid.NotAllowed, []string{"closed to ana: north"}, "it is so"},
		"no offers":      {closed("north"), "ana", grid.NoOffer, func(in *Input) { in.Sites[0].Answer, in.Sites[1].Answer = Silent, Closed }, grid.NoOffer, []string{"it is so; closed to ana: north"}, "south"},
		"not there":      {closed("west"), "ana", grid.TooLarge, func(*Input) {}, grid.TooLarge, []string{"it is so; closed to ana"}, "north"},
		"comes after":    {closed("north"), "ana", grid.After, func(*Input) {}, grid.After, []string{"it is so"}, "closed"},
	} {
		in := judged()
		in.Jobs[0].User, in.Jobs[0].Barred = c.user, c.barred
		c.change(in)
		got := newDraft(in).Judge(0, grid.Reason{Code: c.code, Detail: "it is so"}, false)
		if got.Final || got.Reason.Code != c.want || strings.Contains(got.Reason.String(), c.not) {
			t.Errorf("%s: %+v, want %s without %q", name, got, c.want, c.not)
		}
		for _, says := range c.says {
			if !strings.Contains(got.Reason.String(), says) {
				t.Errorf("%s: %q, want %q in it", name, got.Reason, says)
			}
		}
	}
}

// Where there are no offers, a job is told what of: nobody is there, or answers, or has his
// clock right, or offers anything.
func TestPlan_SaysWhyThereAreNoOffers(t *testing.T) {
	t.Parallel()
	busy := Site{Name: "south", Answer: Closed, Refusal: grid.Reason{Code: grid.NotAllowed, Detail: "it drains"}}
	for want, sites := range map[string][]Site{
		"no site is there at present":             nil,
		"none of 2 sites answered within 10 s":    {{Name: "north"}, {Name: "south"}},
		"1 of 2 sites answered, none with offers": {{Name: "north"}, {Name: "south", Answer: Closed}},
		"2 of 3 sites answered, none with offers": {{Name: "north", Answer: Closed}, {Name: "south", Answer: Closed}, {Name: "west"}},
		"south: it drains":                        {{Name: "north", Answer: Skewed}, busy},
		"the clock of north is":                   {{Name: "north", Answer: Skewed}, {Name: "south", Answer: Closed}, {Name: "west", Answer: Skewed}},
	} {
		in := judged()
		in.Sites = sites
		d := new(Planner).Plan(in)
		if len(d.Postponed) != 1 || d.Postponed[0].Reason.Code != grid.NoOffer || !strings.Contains(d.Postponed[0].Reason.String(), want) {
			t.Errorf("%+v, want %q", d.Postponed, want)
		}
		in.Jobs[0].Gone = true
		if d := new(Planner).Plan(in); len(d.Postponed) != 0 {
			t.Errorf("a job that is gone is postponed: %+v", d.Postponed)
		}
	}
}
