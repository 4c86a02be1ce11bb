package planning

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

const sec grid.Time = 1000

// randomInput is a batch of jobs before sites that have answered in all ways.
func randomInput(t *rapid.T) *Input {
	credits := func(label string, most int) grid.Credits {
		return grid.Credits(rapid.IntRange(0, most).Draw(t, label)) * grid.Credit
	}
	in := &Input{Cycle: 7, From: 10 * sec, Horizon: 20_000 * sec, Away: rapid.Bool().Draw(t, "away"),
		Terms: Terms{Algorithm: rapid.SampledFrom(search.Each()).Draw(t, "algorithm"),
			Minimize:    rapid.SampledFrom([]grid.Goal{grid.GoalValue, grid.GoalTime, grid.GoalCost, grid.GoalFinish}).Draw(t, "minimize"),
			BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: rapid.IntRange(1, 8).Draw(t, "alternatives"), OfferWait: 10 * grid.Second}}
	switch rapid.IntRange(0, 3).Draw(t, "terms") {
	case 0:
		in.Terms.Strategy, in.Terms.Alpha, in.Terms.Draws = choice.Random, choice.One/2, 3
	case 1:
		in.Terms.BudgetLimit = credits("b*", 30)
	case 2:
		in.Terms.TimeLimit = grid.Duration(rapid.IntRange(0, 9000).Draw(t, "t*")) * grid.Second
	}
	if in.Terms.ByValue() {
		in.Terms.Urgency = grid.Hourly(credits("urgency", 20))
		in.Terms.Weight = int64(rapid.IntRange(0, 3000).Draw(t, "weight"))
		in.Terms.Patience = grid.Duration(rapid.IntRange(0, 3).Draw(t, "patience")) * grid.Hour
		in.Terms.Wait = in.Terms.Patience / 4
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "sites") {
		s := Site{Name: fmt.Sprint("s", i), Answer: Answer(rapid.IntRange(0, 5).Draw(t, "answer"))}
		if s.Answer > Usable {
			s.Answer = Usable
		}
		g := agents.GroupOffer{Group: grid.Group{Site: s.Name, Name: "g", Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"),
			Performance: grid.Performance(rapid.IntRange(1, 4).Draw(t, "performance") * 500),
			Price:       grid.Price(rapid.IntRange(0, 9).Draw(t, "price")) * 1_000_000}, Shared: rapid.IntRange(0, 4).Draw(t, "shared") == 0}
		if rapid.IntRange(0, 2).Draw(t, "tariff") == 0 {
			g.Group.Curve = randomCurve(t)
		}
		g.Group.Padding = grid.Duration(max(0, rapid.IntRange(-100, 200).Draw(t, "padding"))) * grid.Second
		g.Group.Longest = grid.Duration(max(0, rapid.IntRange(-4000, 4000).Draw(t, "longest"))) * grid.Second
		g.Admissible = grid.NewProfile(0, g.Group.Nodes)
		g.Clear = g.Admissible.Clone()
		for range rapid.IntRange(0, 4).Draw(t, "busy") {
			from := grid.Time(rapid.IntRange(0, 9000).Draw(t, "busy from")) * sec
			to := from + grid.Time(rapid.IntRange(1, 4000).Draw(t, "busy for"))*sec
			g.Clear.Add(from, to, -1)
			if rapid.Bool().Draw(t, "taken") && g.Admissible.Min(from, to) > 0 {
				g.Admissible.Add(from, to, -1)
			}
		}
		if s.Answer == Usable {
			s.Groups = append(s.Groups, g)
		}
		in.Sites = append(in.Sites, s)
	}
	jobs := rapid.IntRange(1, 6).Draw(t, "jobs")
	if in.Terms.OneByOne() {
		jobs = 1
	}
	for i := range jobs {
		j := Job{Name: fmt.Sprint("j", i), User: rapid.SampledFrom([]string{"", "ana", "ben"}).Draw(t, "user"), Gone: rapid.IntRange(0, 9).Draw(t, "gone") == 0}
		j.Request = grid.Request{Nodes: rapid.IntRange(1, 6).Draw(t, "wants"), Length: grid.Duration(rapid.IntRange(1, 4000).Draw(t, "length")) * grid.Second,
			MinPerformance: 500, MaxPrice: 9_000_000, Budget: credits("budget", 30), Deadline: grid.Never}
		if rapid.Bool().Draw(t, "has a deadline") {
			j.Request.Deadline = grid.Time(rapid.IntRange(11, 12_000).Draw(t, "deadline")) * sec
		}
		j.Deadline = j.Request.Deadline
		if rapid.IntRange(0, 4).Draw(t, "moldable") == 0 {
			j.Request.Mold([]grid.Size{{Nodes: j.Request.Nodes, Length: j.Request.Length}, {Nodes: j.Request.Nodes + 2, Length: j.Request.Length/2 + 1}})
		}
		if in.Terms.ByValue() {
			j.Request.Minimize = grid.Goal(rapid.IntRange(0, 4).Draw(t, "goal"))
			j.Request.Urgency = grid.Urgency(rapid.IntRange(-90_000, 90_000).Draw(t, "own urgency"))
		}
		if len(in.Sites) > 0 && rapid.IntRange(0, 5).Draw(t, "barred") == 0 {
			j.Barred = []facts.UserBarred{{Site: in.Sites[0].Name, User: j.User, Until: 9000 * sec, Wait: grid.Hour}}
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// crowdedInput is a batch of small jobs with money, by value, before sites that all
// have queues.
func crowdedInput(t *rapid.T) *Input {
	in := randomInput(t)
	in.Away = false
	in.Terms.Strategy, in.Terms.Alpha, in.Terms.Minimize, in.Terms.BudgetLimit = choice.Batch, 0, grid.GoalValue, selection.Auto
	in.Terms.Draws = rapid.Uint64Range(0, 3).Draw(t, "draws")
	for i := range in.Sites {
		for k := range in.Sites[i].Groups {
			in.Sites[i].Groups[k].Clear.Add(0, 9000*sec, -rapid.IntRange(0, 8).Draw(t, "queued"))
		}
	}
	for len(in.Jobs) < 3 {
		in.Jobs = append(in.Jobs, in.Jobs[0])
	}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		j.Name, j.Gone, j.Barred, j.Request.Budget, j.Request.Deadline, j.Deadline = fmt.Sprint("j", i), false, nil, 1000*grid.Credit, grid.Never, grid.Never
		j.Request.Nodes, j.Request.Sizes = rapid.IntRange(1, 3).Draw(t, "wants less"), nil
	}
	return in
}

// randomQuotes answers what a draft wants: with a price, a refusal, nonsense or not at
// all.
func randomQuotes(t *rapid.T, d *Draft) *Quotes {
	q := &Quotes{Sites: make([][]grid.Quote, len(d.Wanted)), Left: grid.Credits(rapid.IntRange(0, 80).Draw(t, "left")) * grid.Credit,
		Quotas: map[string]grid.Credits{"ana": grid.Credits(rapid.IntRange(-1, 20).Draw(t, "quota")) * grid.Credit}, Gone: make([]bool, len(d.Jobs))}
	for i := range q.Gone {
		q.Gone[i] = rapid.IntRange(0, 9).Draw(t, "gone since") == 0
	}
	for site := range d.Wanted {
		if rapid.IntRange(0, 5).Draw(t, "mute") == 0 {
			continue
		}
		for n := range d.Wanted[site].Legs {
			x := grid.Quote{Fare: d.Wanted[site].base[n]}
			switch rapid.IntRange(0, 5).Draw(t, "quote") {
			case 0:
				x.Refusal = grid.Reason{Code: grid.Busy}
			case 1:
				x.Fare.Additive = -1
			default:
				x.Fare.Additive = grid.Credits(rapid.IntRange(0, 3).Draw(t, "additive")) * grid.Credit
			}
			q.Sites[site] = append(q.Sites[site], x)
		}
	}
	return q
}

// answerSets answers what a first choice wants of sets, in all those ways.
func answerSets(t *rapid.T, d *Draft, q *Quotes, first *Outcome) {
	for site, w := range d.Together(first) {
		if q.Sets == nil {
			q.Sets = make([][]grid.Quote, len(d.Wanted))
		}
		if rapid.IntRange(0, 5).Draw(t, "mute to a set") == 0 {
			continue
		}
		for n := range w.Legs {
			x := grid.Quote{Fare: w.base[n]}
			switch rapid.IntRange(0, 5).Draw(t, "quote of a set") {
			case 0:
				x.Refusal = grid.Reason{Code: grid.Busy}
			case 1:
				x.Fare.Additive = -1
			default:
				x.Fare.Additive = grid.Credits(rapid.IntRange(0, 9).Draw(t, "additive in a set")) * grid.Credit
			}
			q.Sets[site] = append(q.Sets[site], x)
		}
	}
}

func text(t *rapid.T, x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Neither phase changes what it reads, nor does a planner remember anything: a draft
// may be chosen from again, and after other work the same comes to the same.
// A cluster of real nodes keeps them for a while beyond each window. What a batch is given
// has room for that, so that its site need not refuse the second of two windows.
func TestChoose_WindowsOfABatchLeaveTheirNodesThePadding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		if in.Terms.OneByOne() {
			return
		}
		p := new(Planner)
		d := p.Plan(in)
		o := p.Choose(d, randomQuotes(t, d))
		type taken struct {
			Leg
			job int
		}
		var legs []taken
		for i := range o.Jobs {
			if a := o.Jobs[i].Chosen(); a != nil {
				for _, l := range a.Legs {
					if l.What.Work == 0 {
						legs = append(legs, taken{l, i})
					}
				}
			}
		}
		for _, l := range legs {
			g := &d.Groups[l.Group]
			free := d.admissible[l.Group].Clone()
			for _, other := range legs {
				if other.Group == l.Group {
					free.Add(max(other.What.Start, free[0].At), other.What.End.Add(g.Padding), -other.What.Nodes)
				}
			}
			if free.Min(l.What.Start, l.What.End) < 0 {
				t.Fatalf("%+v of job %d has nodes that are kept for %v s after another window", l.What, l.job, g.Padding)
			}
		}
	})
}

// No more than the padding is left between two windows.
func TestPlan_WindowsLieAPaddingApart(t *testing.T) {
	t.Parallel()
	g := agents.GroupOffer{Group: grid.Group{Site: "s", Name: "g", Nodes: 1, Performance: grid.Unit, Price: 1_000_000, Padding: 2 * grid.Minute},
		Admissible: grid.NewProfile(0, 1), Clear: grid.NewProfile(0, 1)}
	in := &Input{From: 10 * sec, Horizon: 20_000 * sec, Terms: Terms{Minimize: grid.GoalTime, BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 1},
		Sites: []Site{{Name: "s", Answer: Usable, Groups: []agents.GroupOffer{g}}}}
	for _, name := range []string{"a", "b", "c"} {
		in.Jobs = append(in.Jobs, Job{Name: name, Deadline: grid.Never, Request: grid.Request{Nodes: 1, Length: 600 * grid.Second,
			MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: grid.Never}})
	}
	d := new(Planner).Plan(in)
	for i, want := range []grid.Time{10 * sec, 730 * sec, 1450 * sec} {
		if list := d.Jobs[i].Alternatives; len(list) != 1 || list[0].Start() != want {
			t.Errorf("job %d has %+v, want one at %v", i, list, want)
		}
	}
}

func TestPlan_IsAFunctionOfWhatItIsGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var used, fresh Planner
		in := randomInput(t)
		before := text(t, in)
		d := used.Plan(in)
		q := randomQuotes(t, d)
		answerSets(t, d, q, used.Choose(d, q))
		drafted, asked := text(t, d), text(t, q)
		o := used.Choose(d, q)
		other := used.Plan(randomInput(t))
		used.Choose(other, randomQuotes(t, other))
		if text(t, in) != before || text(t, d) != drafted || text(t, q) != asked {
			t.Fatal("planning has changed what it was given")
		}
		for _, p := range []*Planner{&used, &fresh} {
			again := p.Plan(in)
			if !reflect.DeepEqual(again.Jobs, d.Jobs) || !reflect.DeepEqual(again.Postponed, d.Postponed) {
				t.Fatalf("planned again it is\n%s, not\n%s", text(t, again), drafted)
			}
			for _, from := range []*Draft{d, again} {
				if x := p.Choose(from, q); !reflect.DeepEqual(x, o) {
					t.Fatalf("chosen again it is\n%s, not\n%s", text(t, x), text(t, o))
				}
			}
		}
	})
}

// A choice stays within the job's budget, the accounts, the quotas and the limits that bind, and
// avoids sites that are closed to the user. Each job has a window, or a reason, or is gone. Nobody
// loses less in a batch than alone.
func TestChoose_KeepsEveryLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var p Planner
		in := randomInput(t)
		d := p.Plan(in)
		q := randomQuotes(t, d)
		o := p.Choose(d, q)
		if rapid.Bool().Draw(t, "sets") {
			answerSets(t, d, q, o)
			o = p.Choose(d, q)
		}
		if o.Regret < 0 || o.Regret > 0 && !in.Terms.ByValue() {
			t.Fatalf("regret %v", o.Regret)
		}
		why := map[int]int{}
		for _, x := range append(append([]Postponed{}, d.Postponed...), o.Postponed...) {
			if why[x.Job]++; !x.Reason.Refused() {
				t.Fatalf("%s is postponed without a reason", in.Jobs[x.Job].Name)
			}
		}
		var cost grid.Credits
		var time grid.Duration
		users := map[string]grid.Credits{}
		for i := range o.Jobs {
			a, j := o.Jobs[i].Chosen(), &in.Jobs[i]
			gone := j.Gone || q.Gone[i]
			if j.Gone && len(d.Jobs[i].Alternatives) > 0 {
				t.Fatalf("%s is gone, and has %d alternatives", j.Name, len(d.Jobs[i].Alternatives))
			}
			if chosen := a != nil; chosen == (gone || why[i] > 0) || why[i] > 1 {
				t.Fatalf("%s: chosen %v, gone %v, postponed %d times", j.Name, chosen, gone, why[i])
			}
			if a == nil {
				continue
			}
			cost += a.Cost
			time += a.Time
			users[j.User] += a.Cost
			if in.Terms.OneByOne() && (len(a.Legs) > 1 || a.Number > d.Jobs[i].Found) {
				t.Fatalf("%s is to go whole to one group, at a start that was looked for: %+v", j.Name, a)
			}
			if a.Cost > j.Request.Budget || a.Start() < in.From || a.Start() < j.Request.Ready || a.End > min(j.Request.Deadline, in.Horizon) {
				t.Fatalf("%s is given %+v", j.Name, a)
			}
			for _, l := range a.Legs {
				if len(j.Barred) > 0 && in.Sites[l.Site].Name == j.Barred[0].Site {
					t.Fatalf("%s is given nodes at %s, which is closed to its user", j.Name, j.Barred[0].Site)
				}
			}
		}
		if cost > q.Left || cost > o.BudgetLimit || users["ana"] > max(0, q.Quotas["ana"]) {
			t.Fatalf("chosen for %v, of it %v for ana; left are %v, B* %v, the quota %v", cost, users["ana"], q.Left, o.BudgetLimit, q.Quotas["ana"])
		}
		if cost != o.Cost || time != o.Time || time > o.TimeLimit {
			t.Fatalf("%v credits and %v s are chosen, not %v and %v; T* is %v", cost, time, o.Cost, o.Time, o.TimeLimit)
		}
		if terms := &in.Terms; !terms.OneByOne() && len(d.Groups) > 0 && (terms.BudgetLimit >= 0 && cost > terms.BudgetLimit || terms.TimeLimit >= 0 && time > terms.TimeLimit) {
			t.Fatalf("chosen for %v in %v, the operator allows %v and %v", cost, time, terms.BudgetLimit, terms.TimeLimit)
		}
	})
}

// A rerun of what is on record, the quotes of sets among it, comes to the choice on
// record, and shows it at its price; also of a record of an older build, without sets.
func TestSeen_TheQuotesOfSetsLeadToTheSameChoice(t *testing.T) {
	t.Parallel()
	sets, moved := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var p Planner
		in := crowdedInput(t)
		d := p.Plan(in)
		if len(d.Groups) == 0 {
			return
		}
		q := randomQuotes(t, d)
		q.Gone, q.Left, q.Quotas = nil, grid.MaxBudget, nil // of those who have gone the broker adds the names
		first := p.Choose(d, q)
		check := func(o *Outcome) {
			var seen facts.CycleSeen
			var planned facts.CyclePlanned
			read := func(from, to any) {
				if err := json.Unmarshal([]byte(text(t, from)), to); err != nil {
					t.Fatal(err)
				}
			}
			read(in.Seen(false), &seen)
			read(d.Planned(q, o, false), &planned)
			r, err := NewRerun(&seen, &planned)
			if err != nil {
				t.Fatalf("%v\n%s", err, text(t, planned))
			}
			for i, as := range r.As() {
				if a := o.Jobs[i].Chosen(); a != nil && (a.Cost != as.Taken().Fare.Total() || a.Loss != as.Taken().Loss) {
					t.Fatalf("%s is shown at %+v, and is chosen for %v", as.Job, as.Taken(), a.Cost)
				}
			}
		}
		check(first)
		answerSets(t, d, q, first)
		o := p.Choose(d, q)
		if check(o); o.sets != nil {
			for i := range o.Jobs {
				more := 0
				for _, a := range o.Jobs[i].Alternatives {
					if a.Number > first.Jobs[i].Found {
						more++
					}
				}
				if o.Jobs[i].Found-first.Jobs[i].Found != more {
					t.Fatalf("the second choice has found %d more windows and counts %d", more, o.Jobs[i].Found-first.Jobs[i].Found)
				}
			}
			sets++
			for i := range o.Jobs {
				if x, y := first.Jobs[i].Chosen(), o.Jobs[i].Chosen(); x != nil && y != nil && x.Number != y.Number {
					moved++
				}
			}
		}
	})
	if sets == 0 || moved == 0 {
		t.Errorf("only %d choices knew quotes of sets, and only %d windows were others for that", sets, moved)
	}
}

// twoJobs is a batch of two jobs of a node for 1000 s before two sites of two nodes: all
// of north's are awaited by those who queue there, until 5000; south is dearer.
func twoJobs() *Input {
	in := &Input{Cycle: 1, From: 0, Horizon: 20_000 * sec, Terms: Terms{Minimize: grid.GoalValue, BudgetLimit: selection.Auto, TimeLimit: selection.Auto,
		MaxAlternatives: 5, Urgency: grid.Hourly(10 * grid.Credit)}}
	for i, name := range []string{"north", "south"} {
		g := agents.GroupOffer{Group: grid.Group{Site: name, Name: "g", Nodes: 2, Performance: grid.Unit, Price: grid.Price(3_600_000 * (i + 1))},
			Admissible: grid.NewProfile(0, 2), Clear: grid.NewProfile(0, 2)}
		if i == 0 {
			g.Clear.Add(0, 5000*sec, -2)
		}
		in.Sites = append(in.Sites, Site{Name: name, Answer: Usable, Groups: []agents.GroupOffer{g}})
	}
	for _, name := range []string{"a", "b"} {
		in.Jobs = append(in.Jobs, Job{Name: name, Deadline: grid.Never, Request: grid.Request{Nodes: 1, Length: 1000 * grid.Second,
			MinPerformance: 500, MaxPrice: 9_000_000, Budget: 30 * grid.Credit, Deadline: grid.Never}})
	}
	return in
}

// places are where and for how much each job has its window.
func places(in *Input, o *Outcome) string {
	s := ""
	for i := range o.Jobs {
		if a := o.Jobs[i].Chosen(); a != nil {
			s += fmt.Sprintf("%s %s %v %v;", in.Jobs[i].Name, in.Sites[a.Legs[0].Site].Name, a.Start(), a.Cost)
		}
	}
	return s
}

// Two windows in one queue's way are asked for together, in serving order; what the
// site then says of the second decides where it goes, and what it cost by itself does
// not. There is no third round.
func TestTogether_TheSecondOfTwoWindowsGoesByThePriceOfTheSet(t *testing.T) {
	t.Parallel()
	var p Planner
	in := twoJobs()
	d := p.Plan(in)
	q := &Quotes{Sites: make([][]grid.Quote, 2), Left: grid.MaxBudget}
	for n := range d.Wanted[0].Legs {
		q.Sites[0] = append(q.Sites[0], grid.Quote{Fare: d.Wanted[0].base[n]})
	}
	first := p.Choose(d, q)
	if got := places(in, first); got != "a north 0 1;b north 0 1;" {
		t.Fatalf("at first %s", got)
	}
	w := d.Together(first)
	if len(w) != 2 || len(w[0].Legs) != 2 || len(w[1].Legs) != 0 || w[0].Legs[0] != first.Jobs[0].Chosen().Legs[0].What {
		t.Fatalf("asked for together: %+v", w)
	}
	price := func(c grid.Credits) grid.Quote {
		return grid.Quote{Fare: grid.Fare{Base: grid.Credit, Additive: c}}
	}
	for _, c := range []struct {
		set  []grid.Quote
		want string
	}{
		{nil, "a north 0 1;b north 0 1;"},
		{[]grid.Quote{price(0), price(grid.Credit / 2)}, "a north 0 1;b north 0 1.5;"},
		{[]grid.Quote{price(0), price(5 * grid.Credit)}, "a north 0 1;b south 0 2;"},
		{[]grid.Quote{price(0), {Refusal: grid.Reason{Code: grid.Busy}}}, "a north 0 1;b south 0 2;"},
		{[]grid.Quote{price(0), price(-1)}, "a north 0 1;b north 0 1;"}, // that is no answer
	} {
		q.Sets = [][]grid.Quote{c.set, nil}
		if got := places(in, p.Choose(d, q)); got != c.want {
			t.Errorf("with %+v it is %s, want %s", c.set, got, c.want)
		}
	}
}

// Nothing is asked for windows that are clear together, of one job, of moldable jobs, and
// under the papers' goals.
func TestTogether_AsksForNothingElse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Input){
		"clear":  func(in *Input) { in.Sites[0].Groups[0].Clear = grid.NewProfile(0, 2) },
		"of one": func(in *Input) { in.Jobs = in.Jobs[:1] },
		"moldable": func(in *Input) {
			in.Jobs[1].Request.Mold([]grid.Size{{Nodes: 1, Length: 1000 * grid.Second}, {Nodes: 2, Length: 600 * grid.Second}})
		},
		"by cost": func(in *Input) { in.Terms.Minimize = grid.GoalCost },
	} {
		var p Planner
		in := twoJobs()
		change(in)
		d := p.Plan(in)
		q := &Quotes{Sites: make([][]grid.Quote, 2), Left: grid.MaxBudget}
		for site := range d.Wanted {
			for n := range d.Wanted[site].Legs {
				q.Sites[site] = append(q.Sites[site], grid.Quote{Fare: d.Wanted[site].base[n]})
			}
		}
		if w := d.Together(p.Choose(d, q)); w != nil {
			t.Errorf("%s: asked for %+v", name, w)
		}
	}
}

// The record of an Input reads back as that Input.
func TestSeen_ReadsBackAsTheSameInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		var f facts.CycleSeen
		if err := json.Unmarshal([]byte(text(t, in.Seen(false))), &f); err != nil {
			t.Fatal(err)
		}
		got, err := read(&f)
		if err != nil {
			t.Fatal(err)
		}
		in.Away = false // sites that were not asked stand on record by themselves
		if a, b := text(t, got), text(t, in); a != b {
			t.Fatalf("read back as\n%s, not\n%s", a, b)
		}
	})
}
