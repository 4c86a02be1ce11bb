package planning

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// market answers for a cycle's sites: what a leg costs there follows from the leg alone.
type market struct {
	mute  map[string]bool // sites that answer no request for quotes
	known map[quotedLeg]bool
}

// quote is what a site says of a leg. Of a leg that it was not asked for in the cycle nothing
// is known, and it is taken at its base price.
func (m *market) quote(l quotedLeg, base grid.Fare, waive string) (grid.Quote, bool) {
	switch {
	case m.mute[l.site] && l.site != waive:
		return grid.Quote{}, false
	case !m.known[l]:
		return grid.Quote{Fare: base}, true
	}
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode([]any{l.site, l.user, l.leg})
	x := h.Sum64() >> 20
	if x%5 == 0 {
		if l.site == waive {
			return grid.Quote{Fare: base}, true
		}
		return grid.Quote{Refusal: grid.Reason{Code: grid.Busy, Detail: "somebody is there"}}, true
	}
	base.Additive = grid.Credits(x%4) * grid.Credit / 2
	return grid.Quote{Fare: base, Delayed: int(x % 3)}, true
}

// quotes answers all that a draft wants. In the cycle itself all of it becomes known.
func (m *market) quotes(d *Draft, q *Quotes, waive string, asked bool) *Quotes {
	all := *q
	all.Sites = make([][]grid.Quote, len(d.Wanted))
	for i := range d.Wanted {
		w, site := &d.Wanted[i], d.in.Sites[i].Name
		if asked && len(w.Legs) == 0 {
			m.mute[site] = false // nobody knows
		}
		for n := range w.Legs {
			l := quotedLeg{site, w.Users[n], w.Legs[n]}
			if asked && !m.mute[site] {
				m.known[l] = true
			}
			if x, ok := m.quote(l, w.base[n], waive); ok {
				all.Sites[i] = append(all.Sites[i], x)
			}
		}
	}
	return &all
}

// A cycle on record, planned again with one thing changed, comes to what planning comes to
// where that was so from the beginning: another request, one site less or more, a site that
// takes what it has refused, more money, another B*.
func TestRerun_AChangeIsAsIfItHadBeenSo(t *testing.T) {
	t.Parallel()
	differ := 0
	compare := func(t *rapid.T) {
		in := randomInput(t)
		in.Away = false
		var p Planner
		d := p.Plan(in)
		q := randomQuotes(t, d)
		q.Gone, q.Sets = nil, nil
		q.Quotas["ana"] = max(-1, q.Quotas["ana"]) // of a quota that is passed the record does not say by how much
		m := &market{mute: map[string]bool{}, known: map[quotedLeg]bool{}}
		for i := range in.Sites {
			m.mute[in.Sites[i].Name] = rapid.IntRange(0, 5).Draw(t, "mute") == 0
		}
		q = m.quotes(d, q, "", true)
		o := p.Choose(d, q)
		seen, planned := in.Seen(false), d.Planned(q, o, false)
		recorded := &planned
		if len(d.Groups) == 0 {
			recorded = nil
		}
		r, err := NewRerun(&seen, recorded)
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, len(in.Jobs)-1).Draw(t, "job")
		other, funds := *in, *q
		other.Jobs, other.Sites = slices.Clone(in.Jobs), slices.Clone(in.Sites)
		if recorded == nil {
			funds.Left, funds.Quotas = 0, nil // nobody has looked
		}
		var c Change
		kind := rapid.IntRange(0, 6).Draw(t, "change")
		if in.Terms.BudgetLimit >= 0 && kind > 2 {
			kind = 4
		}
		switch kind {
		case 0:
			c.Request = other.Jobs[at].Request
			c.Request.Sizes = nil
			c.Request.Nodes, c.Request.Budget = rapid.IntRange(1, 6).Draw(t, "wants another"), grid.MaxBudget
			other.Jobs[at].Request, other.Jobs[at].Deadline = c.Request, c.Request.Deadline
		case 1:
			if len(in.Sites) > 0 {
				c.Without = rapid.SampledFrom(in.Sites).Draw(t, "without").Name
				other.Sites = slices.DeleteFunc(other.Sites, func(s Site) bool { return s.Name == c.Without })
			}
		case 2:
			if len(in.Sites) > 0 {
				c.Waive = rapid.SampledFrom(in.Sites).Draw(t, "waive").Name
			}
		case 3:
			c.Money = grid.Credits(rapid.IntRange(0, 40).Draw(t, "money")) * grid.Credit
			funds.Left += c.Money
			if left, ok := funds.Quotas[in.Jobs[at].User]; ok {
				funds.Quotas = map[string]grid.Credits{in.Jobs[at].User: left + c.Money}
			}
		case 4:
			c.Limit = grid.Credits(rapid.IntRange(0, 40).Draw(t, "limit")) * grid.Credit
			if other.Terms.BudgetLimit >= 0 {
				other.Terms.BudgetLimit += c.Limit
			}
		case 5:
			more := randomInput(t).Sites
			offers := func(list []Site, name string) bool {
				return slices.ContainsFunc(list, func(s Site) bool { return s.Name == name && s.Answer == Usable })
			}
			if i := slices.IndexFunc(more, func(s Site) bool { return offers(more, s.Name) && !offers(in.Sites, s.Name) }); i >= 0 {
				s := more[i].seen(&in.Terms, false)
				c.With = &s
				other.Sites = append(slices.DeleteFunc(other.Sites, func(x Site) bool { return x.Name == s.Site }), more[i])
				slices.SortFunc(other.Sites, func(a, b Site) int { return cmp.Compare(a.Name, b.Name) })
			}
		}
		got, err := r.With(in.Jobs[at].Name, c)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.With(in.Jobs[at].Name, Change{}); err != nil || !reflect.DeepEqual(again, r.As()[at]) {
			t.Fatalf("with nothing changed it is %v\n%s, was\n%s", err, text(t, again), text(t, r.As()[at]))
		}
		d = p.Plan(&other)
		all := m.quotes(d, &funds, c.Waive, false)
		want := p.Choose(d, all)
		var why grid.Reason
		for _, x := range append(slices.Clone(d.Postponed), want.Postponed...) {
			if x.Job == at {
				why = x.Reason
			}
		}
		a, taken := want.Jobs[at].Chosen(), got.Taken()
		if (a == nil) != (taken == nil) || a != nil && (taken.Number != a.Number || taken.Start != a.Start() || taken.End != a.End || taken.Fare.Total() != a.Cost || taken.Loss != a.Loss) || got.Reason != why {
			t.Fatalf("with %+v it is\n%s, want %s\nfor %s", c, text(t, got), text(t, a), text(t, why))
		}
		if was := o.Jobs[at].Chosen(); (taken == nil) != (was == nil) || taken != nil && (taken.Start != was.Start() || taken.Fare.Total() != was.Cost) {
			differ++
		}
	}
	for round := 0; round < 20 && differ == 0; round++ { // of 100 draws a handful differ, sometimes none
		rapid.Check(t, compare)
	}
	if differ == 0 {
		t.Error("no change has ever changed what a job gets")
	}
}

// The earliest window that anything could have had ignores other jobs and accounts; a price
// that was not asked for is a guess, and where there is no window it is told why.
func TestEarliest_IsTheFirstWindowOfAll(t *testing.T) {
	t.Parallel()
	seen, planned := cycle()
	r, err := NewRerun(seen, planned)
	if err != nil {
		t.Fatal(err)
	}
	want := grid.Request{Nodes: 1, Length: 1000 * grid.Second, MinPerformance: 500, MaxPrice: 9_000_000, Budget: 30 * grid.Credit, Deadline: grid.Never}
	for name, c := range map[string]struct {
		change func(*grid.Request)
		start  grid.Time
		cost   grid.Credits
		guess  bool
		code   grid.Code
	}{
		"as they are":      {func(*grid.Request) {}, 0, grid.Credit, true, ""},
		"of both sites":    {func(w *grid.Request) { w.Nodes = 4 }, 0, 6 * grid.Credit, true, ""},
		"once it is ready": {func(w *grid.Request) { w.Ready = 6000 * sec }, 6000 * sec, grid.Credit, false, ""},
		"too many":         {func(w *grid.Request) { w.Nodes = 5 }, 0, 0, false, grid.TooLarge},
		"no such nodes":    {func(w *grid.Request) { w.MinPerformance = 2 * grid.Unit }, 0, 0, false, grid.NoNode},
		"of no sense":      {func(w *grid.Request) { w.Nodes = 0 }, 0, 0, false, grid.Invalid},
	} {
		w := want
		c.change(&w)
		o, why := r.Earliest(w)
		if why.Code != c.code || !why.Refused() && (o.Start != c.start || o.Fare.Total() != c.cost || o.Guessed() != c.guess || o.Number != 1) {
			t.Errorf("%s: %+v, %v", name, o, why)
		}
	}
	for i := range seen.Sites {
		seen.Sites[i].Answer, seen.Sites[i].Groups = Silent.String(), nil
	}
	if r, err = NewRerun(seen, nil); err != nil {
		t.Fatal(err)
	}
	if _, why := r.Earliest(want); why.Code != grid.NoOffer {
		t.Errorf("with all sites silent: %v", why)
	}
	if _, err := r.With("nobody", Change{}); err == nil {
		t.Error("a job that was not there is planned again")
	}
}
