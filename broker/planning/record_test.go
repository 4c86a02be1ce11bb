package planning

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Under each goal that draws, a plan's draws follow from the record.
func TestRecord_KeepsTheTermsThatAPlanFollowsFrom(t *testing.T) {
	t.Parallel()
	for _, goal := range []grid.Goal{grid.GoalValue, grid.GoalFinish} {
		in := &Input{Cycle: 7, Terms: Terms{Algorithm: search.AMP, Strategy: choice.Batch, Minimize: goal, Urgency: grid.Hourly(3 * grid.Credit), Slowdown: 110, Weight: 1500,
			Patience: 8, Wait: 9, BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 5, Draws: 42, OfferWait: 10}}
		f := in.Seen(false)
		out, err := read(&f)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(out.Terms, in.Terms) {
			t.Errorf("goal %v: read back as %+v, was %+v", goal, out.Terms, in.Terms)
		}
		if out.draw("") != in.draw("") {
			t.Errorf("goal %v: the rerun draws another order", goal)
		}
	}
}

// cycle is one of two jobs before two sites, with north asked for quotes of both, on record.
func cycle() (*facts.CycleSeen, *facts.CyclePlanned) {
	var p Planner
	in := twoJobs()
	d := p.Plan(in)
	q := &Quotes{Sites: make([][]grid.Quote, 2), Left: grid.MaxBudget}
	for n := range d.Wanted[0].Legs {
		q.Sites[0] = append(q.Sites[0], grid.Quote{Fare: d.Wanted[0].base[n]})
	}
	seen, planned := in.Seen(false), d.Planned(q, p.Choose(d, q), false)
	return &seen, &planned
}

// A record that does not fit together is told so, and never planned on.
func TestNewRerun_ARecordThatDoesNotFitIsAnError(t *testing.T) {
	t.Parallel()
	differs, other := ErrDiffers, errors.New("in words")
	for name, c := range map[string]struct {
		change func(*facts.CycleSeen, *facts.CyclePlanned)
		want   error
		says   string
	}{
		"as it is":                {func(*facts.CycleSeen, *facts.CyclePlanned) {}, nil, ""},
		"what was seen is cut":    {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Cut = true }, ErrCut, ""},
		"what was planned is cut": {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Cut = true }, ErrCut, ""},
		"another choice":          {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Chosen[0].Start++ }, differs, ""},
		"another counting":        {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Chosen[0].Found++ }, nil, ""},
		"a choice less":           {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Chosen = p.Chosen[:1] }, differs, ""},
		"no quotes":               {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Quotes = nil }, differs, ""},
		"a quote less":            {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Quotes[0].Quotes = p.Quotes[0].Quotes[1:] }, differs, ""},
		"quotes twice":            {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Quotes = append(p.Quotes, p.Quotes[0]) }, differs, ""},
		"quotes of nobody":        {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Quotes[0].Site = "west" }, differs, ""},
		"quotes of who is clear":  {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Quotes[0].Site = "south" }, differs, ""},
		"a set that nobody wanted": {func(s *facts.CycleSeen, p *facts.CyclePlanned) {
			for i := range s.Sites {
				s.Sites[i].Groups[0].Clear = "" // all of it is clear, and nobody in anybody's way
			}
			p.Quotes, p.Sets = nil, []facts.SiteQuotes{{Site: "north"}}
		}, differs, ""},
		"a set of nobody": {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Sets = []facts.SiteQuotes{{Site: "west"}} }, differs, ""},
		"a set of other legs": {func(_ *facts.CycleSeen, p *facts.CyclePlanned) {
			p.Sets = []facts.SiteQuotes{{Site: "north", Quotes: make([]facts.QuoteSeen, 1)}}
		}, differs, ""},
		"a set without an answer": {func(_ *facts.CycleSeen, p *facts.CyclePlanned) { p.Sets = []facts.SiteQuotes{{Site: "north"}} }, nil, ""},
		"a site twice":            {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Sites[1].Site = "north" }, other, `"north" is on record twice`},
		"an offer of no sense":    {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Sites[0].Groups[0].Performance = 0 }, other, "north/g: it makes no sense"},
		"an offer in no form":     {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Sites[0].Groups[0].Free = "?" }, other, "offer of north/g"},
		"clear in no form":        {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Sites[0].Groups[0].Clear = "?" }, other, "offer of north/g"},
		"prices in no form":       {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Sites[0].Groups[0].Curve = "?" }, other, "offer of north/g"},
		"a job of no sense":       {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Jobs[1].Request.Nodes = 0 }, other, `job "b": `},
		"no alternatives":         {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Terms.MaxAlternatives = 0 }, other, "0 alternatives"},
		"an unknown algorithm":    {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Terms.Algorithm = "?" }, other, "cycle 1"},
		"an unknown goal":         {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Terms.Minimize = "?" }, other, "cycle 1"},
		"an unknown strategy":     {func(s *facts.CycleSeen, _ *facts.CyclePlanned) { s.Terms.Strategy = "?" }, other, "cycle 1"},
	} {
		seen, planned := cycle()
		c.change(seen, planned)
		_, err := NewRerun(seen, planned)
		if c.want == other && (err == nil || !strings.Contains(err.Error(), c.says)) || c.want != other && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v %s", name, err, c.want, c.says)
		}
	}
	seen, _ := cycle()
	if _, err := NewRerun(seen, nil); !errors.Is(err, ErrUnfinished) {
		t.Errorf("with nothing planned: %v", err)
	}
}

// A record that is cut says who took part and how the sites answered, and neither what was
// asked for nor offered nor quoted.
func TestSeen_ACutRecordLeavesOutTheDetail(t *testing.T) {
	t.Parallel()
	in := twoJobs()
	whole, cut := in.Seen(false), in.Seen(true)
	for i := range whole.Jobs {
		whole.Jobs[i].Request = grid.Request{}
	}
	for i := range whole.Sites {
		whole.Sites[i].Groups = nil
	}
	whole.Cut = true
	if !reflect.DeepEqual(cut, whole) {
		t.Errorf("%+v, want %+v", cut, whole)
	}
	var p Planner
	d := p.Plan(in)
	q := &Quotes{Sites: make([][]grid.Quote, 2), Left: grid.MaxBudget, Quotas: map[string]grid.Credits{"": -5}}
	o := p.Choose(d, q)
	f, g := d.Planned(q, o, true), d.Planned(q, o, false)
	if g.Quotes, g.Cut = nil, true; !reflect.DeepEqual(f, g) || len(f.Quotas) != 1 || !f.Quotas[0].Passed || f.Quotas[0].Left != 0 {
		t.Errorf("%+v, want %+v", f, g)
	}
}

// How large a record will be is known beforehand to a factor of two.
func TestRecordSize_IsAboutTheSizeOfTheRecord(t *testing.T) {
	t.Parallel()
	var pieces []grid.PricePiece
	for n := range grid.Time(24) {
		pieces = append(pieces, grid.PricePiece{From: n * 3600 * sec, To: (n + 1) * 3600 * sec, Factor: 1001 + int(n)})
	}
	hourly, err := grid.NewPriceCurve(pieces, grid.Day)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ jobs, groups, steps int }{{40, 2, 0}, {1, 40, 0}, {1, 2, 500}, {10, 20, 50}} {
		in := twoJobs()
		in.Jobs = slices.Repeat(in.Jobs[:1], c.jobs)
		for i := range in.Sites {
			g := &in.Sites[i].Groups[0]
			if c.groups > 20 {
				g.Group.Curve = hourly
			}
			for n := range c.steps {
				g.Admissible.Add(grid.Time(8000+2*n)*sec, grid.Time(8001+2*n)*sec, -1)
				g.Clear.Add(grid.Time(8000+2*n)*sec, grid.Time(8001+2*n)*sec, -1-n%2)
			}
			in.Sites[i].Groups = slices.Repeat(in.Sites[i].Groups, c.groups)
		}
		about := func(what string, said int, f ...any) {
			b, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			if said > 2*len(b) || len(b) > 2*said {
				t.Errorf("%+v: the %s are said to have %d bytes and have %d", c, what, said, len(b))
			}
		}
		f := in.Seen(false)
		about("jobs and offers", in.RecordSize(), f.Jobs, f.Sites)
		d := new(Planner).Plan(in)
		q := &Quotes{Sites: make([][]grid.Quote, 2), Sets: make([][]grid.Quote, 2)}
		for n, leg := range d.Wanted[0].Legs {
			x := grid.Quote{Fare: grid.Fare{Base: grid.Credit, Additive: grid.Credits(leg.Nodes)}}
			if n%2 == 0 {
				x.Refusal = grid.Reason{Code: grid.Busy, Detail: strings.Repeat("somebody is there; ", 9)}
			}
			q.Sites[0], q.Sets[0] = append(q.Sites[0], x), append(q.Sets[0], x)
		}
		quotes := in.quotesSeen(d.Wanted, q.Sites)
		about("quotes", d.RecordSize(q), quotes, quotes)
	}
}
