package planning

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"bourse"
	"bourse/agents"
	"bourse/policy/choice"
	"bourse/policy/search"
	"bourse/policy/selection"
)

const sec bourse.Time = 1000

// randomInput is a batch of jobs before sites that have answered in all ways.
func randomInput(t *rapid.T) *Input {
	credits := func(label string, most int) bourse.Credits {
		return bourse.Credits(rapid.IntRange(0, most).Draw(t, label)) * bourse.Credit
	}
	in := &Input{Cycle: 7, From: 10 * sec, Horizon: 20_000 * sec, Away: rapid.Bool().Draw(t, "away"),
		Terms: Terms{Algorithm: rapid.SampledFrom([]search.Algorithm{search.AMP, search.ALP, search.Best}).Draw(t, "algorithm"),
			Minimize:    rapid.SampledFrom([]bourse.Goal{bourse.GoalValue, bourse.GoalTime, bourse.GoalCost, bourse.GoalFinish}).Draw(t, "minimize"),
			BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: rapid.IntRange(1, 8).Draw(t, "alternatives"), OfferWait: 10 * bourse.Second}}
	switch rapid.IntRange(0, 3).Draw(t, "terms") {
	case 0:
		in.Terms.Strategy, in.Terms.Alpha, in.Terms.Draws = choice.Random, choice.One/2, 3
	case 1:
		in.Terms.BudgetLimit = credits("b*", 30)
	}
	if in.Terms.ByValue() {
		in.Terms.Urgency = bourse.Hourly(credits("urgency", 20))
		in.Terms.Weight = int64(rapid.IntRange(0, 3000).Draw(t, "weight"))
		in.Terms.Patience = bourse.Duration(rapid.IntRange(0, 3).Draw(t, "patience")) * bourse.Hour
		in.Terms.Wait = in.Terms.Patience / 4
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "sites") {
		s := Site{Name: fmt.Sprint("s", i), Answer: Answer(rapid.IntRange(0, 5).Draw(t, "answer"))}
		if s.Answer > Usable {
			s.Answer = Usable
		}
		g := agents.GroupOffer{Group: bourse.Group{Site: s.Name, Name: "g", Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"),
			Performance: bourse.Performance(rapid.IntRange(1, 4).Draw(t, "performance") * 500),
			Price:       bourse.Price(rapid.IntRange(0, 9).Draw(t, "price")) * 1_000_000}, Shared: rapid.IntRange(0, 4).Draw(t, "shared") == 0}
		g.Admissible = bourse.NewProfile(0, g.Group.Nodes)
		g.Clear = g.Admissible.Clone()
		for range rapid.IntRange(0, 4).Draw(t, "busy") {
			from := bourse.Time(rapid.IntRange(0, 9000).Draw(t, "busy from")) * sec
			to := from + bourse.Time(rapid.IntRange(1, 4000).Draw(t, "busy for"))*sec
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
		j.Request = bourse.Request{Nodes: rapid.IntRange(1, 6).Draw(t, "wants"), Length: bourse.Duration(rapid.IntRange(1, 4000).Draw(t, "length")) * bourse.Second,
			MinPerformance: 500, MaxPrice: 9_000_000, Budget: credits("budget", 30), Deadline: bourse.Never}
		if rapid.Bool().Draw(t, "has a deadline") {
			j.Request.Deadline = bourse.Time(rapid.IntRange(11, 12_000).Draw(t, "deadline")) * sec
		}
		j.Deadline = j.Request.Deadline
		if in.Terms.ByValue() {
			j.Request.Minimize = bourse.Goal(rapid.IntRange(0, 4).Draw(t, "goal"))
			j.Request.Urgency = bourse.Urgency(rapid.IntRange(-90_000, 90_000).Draw(t, "own urgency"))
		}
		if len(in.Sites) > 0 && rapid.IntRange(0, 5).Draw(t, "barred") == 0 {
			j.Barred = []bourse.UserBarred{{Site: in.Sites[0].Name, User: j.User, Until: 9000 * sec, Wait: bourse.Hour}}
		}
		in.Jobs = append(in.Jobs, j)
	}
	return in
}

// randomQuotes answers what a draft wants: with a price, a refusal, nonsense or not at
// all.
func randomQuotes(t *rapid.T, d *Draft) *Quotes {
	q := &Quotes{Sites: make([][]bourse.Quote, len(d.Wanted)), Left: bourse.Credits(rapid.IntRange(0, 80).Draw(t, "left")) * bourse.Credit,
		Quotas: map[string]bourse.Credits{"ana": bourse.Credits(rapid.IntRange(-1, 20).Draw(t, "quota")) * bourse.Credit}, Gone: make([]bool, len(d.Jobs))}
	for i := range q.Gone {
		q.Gone[i] = rapid.IntRange(0, 9).Draw(t, "gone since") == 0
	}
	for site := range d.Wanted {
		if rapid.IntRange(0, 5).Draw(t, "mute") == 0 {
			continue
		}
		for n := range d.Wanted[site].Legs {
			x := bourse.Quote{Fare: d.Wanted[site].base[n]}
			switch rapid.IntRange(0, 5).Draw(t, "quote") {
			case 0:
				x.Refusal = bourse.Reason{Code: bourse.Busy}
			case 1:
				x.Fare.Additive = -1
			default:
				x.Fare.Additive = bourse.Credits(rapid.IntRange(0, 3).Draw(t, "additive")) * bourse.Credit
			}
			q.Sites[site] = append(q.Sites[site], x)
		}
	}
	return q
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
func TestPlan_IsAFunctionOfWhatItIsGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var used, fresh Planner
		in := randomInput(t)
		before := text(t, in)
		d := used.Plan(in)
		q := randomQuotes(t, d)
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

// What is chosen is within the job's budget, the accounts, the quotas and the limits
// that bind, at no site that is closed to the user; and each job has a window, or a
// reason, or is gone. Nobody loses less in a batch than alone.
func TestChoose_KeepsEveryLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var p Planner
		in := randomInput(t)
		d := p.Plan(in)
		q := randomQuotes(t, d)
		o := p.Choose(d, q)
		if o.Regret < 0 || o.Regret > 0 && !in.Terms.ByValue() {
			t.Fatalf("regret %v", o.Regret)
		}
		why := map[int]int{}
		for _, x := range append(append([]Postponed{}, d.Postponed...), o.Postponed...) {
			if why[x.Job]++; !x.Reason.Refused() {
				t.Fatalf("%s is postponed without a reason", in.Jobs[x.Job].Name)
			}
		}
		var cost bourse.Credits
		users := map[string]bourse.Credits{}
		for i := range o.Jobs {
			a, j := o.Jobs[i].Chosen(), &in.Jobs[i]
			gone := j.Gone || q.Gone[i]
			if chosen := a != nil; chosen == (gone || why[i] > 0) || why[i] > 1 {
				t.Fatalf("%s: chosen %v, gone %v, postponed %d times", j.Name, chosen, gone, why[i])
			}
			if a == nil {
				continue
			}
			cost += a.Cost
			users[j.User] += a.Cost
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
	})
}

// The record of an Input reads back as that Input.
func TestSeen_ReadsBackAsTheSameInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := randomInput(t)
		var f bourse.CycleSeen
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
