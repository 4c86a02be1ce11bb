package broker

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"pgregory.net/rapid"
)

// physics is a tenant with two users, one of whom has bounds of their own.
func physics() []grid.Holder {
	return []grid.Holder{
		{Tenant: "physics", Terms: grid.Grants{grid.TermMaxNodes: 10, grid.TermNodeHours: 60 * grid.NodeHour,
			grid.TermCredits: int64(50 * grid.Credit), grid.TermPeriod: int64(grid.Day)}},
		{User: "ana", In: "physics", Terms: grid.Grants{grid.TermMaxNodes: 7}},
		{User: "ben", In: "physics"},
		{User: "cleo", Terms: grid.Grants{grid.TermCredits: int64(9 * grid.Credit), grid.TermPeriod: int64(2 * grid.Day)}},
	}
}

// boundsMirror holds the broker's facts against the bounds of physics, by itself.
type boundsMirror struct {
	legs map[grid.LegID]*mirrored
	jobs map[string]string // users
}

type mirrored struct {
	user string
	leg  grid.Leg
	cost grid.Credits
	held bool
}

func (m *boundsMirror) take(f agents.Fact) {
	of := func(id grid.TxID, each func(*mirrored)) {
		for leg, x := range m.legs {
			if leg.Tx == id {
				each(x)
			}
		}
	}
	switch f := f.(type) {
	case facts.JobSubmitted:
		m.jobs[f.Job.Name] = f.Job.User
	case facts.TxBegun:
		for i, l := range f.Legs {
			m.legs[grid.LegID{Tx: f.Tx, Leg: i}] = &mirrored{user: m.jobs[f.Job], leg: l, cost: f.Limits[i], held: true}
		}
	case facts.LegPriced:
		m.legs[f.Leg].cost = f.Fare.Total()
	case facts.TxDecided:
		if !f.Commit {
			of(f.Tx, func(x *mirrored) { *x = mirrored{} })
		}
	case facts.LegClosed:
		if !f.Commit {
			*m.legs[f.Leg] = mirrored{}
		}
	case facts.LegDone:
		x := m.legs[f.Leg]
		if x.held, x.cost = false, max(0, x.cost-f.Refund-f.Penalty); f.State == grid.Released || f.State == grid.Lost {
			x.leg.End = max(x.leg.Start, min(x.leg.End, f.End))
		}
	}
}

// check names a bound that is passed.
func (m *boundsMirror) check() string {
	nodes := func(of func(string) bool) int {
		type interval struct {
			from, to grid.Time
			nodes    int
		}
		var list []interval
		for _, x := range m.legs {
			if of(x.user) && x.held {
				list = append(list, interval{x.leg.Start, x.leg.End, x.leg.Nodes})
			}
		}
		most := 0
		for _, x := range list {
			sum := 0
			for _, y := range list {
				if y.from <= x.from && x.from < y.to {
					sum += y.nodes
				}
			}
			most = max(most, sum)
		}
		return most
	}
	both := func(user string) bool { return user == "ana" || user == "ben" }
	if n := nodes(both); n > 10 {
		return fmt.Sprintf("physics has %d nodes at once", n)
	}
	if n := nodes(func(user string) bool { return user == "ana" }); n > 7 {
		return fmt.Sprintf("ana has %d nodes at once", n)
	}
	hours, paid, cleo := map[int64]int64{}, map[int64]grid.Credits{}, map[int64]grid.Credits{}
	for _, x := range m.legs {
		day := int64(x.leg.Start) / int64(grid.Day)
		if both(x.user) {
			hours[day] += int64(x.leg.Nodes) * int64(x.leg.Duration())
			paid[day] += x.cost
		}
		if x.user == "cleo" {
			cleo[day/2] += x.cost
		}
	}
	for day := range hours {
		if hours[day] > 60*grid.NodeHour || paid[day] > 50*grid.Credit {
			return fmt.Sprintf("physics takes %s node-hours and %v credits on day %d", grid.NodeHourWords(hours[day]), paid[day], day)
		}
	}
	for two, c := range cleo {
		if c > 9*grid.Credit {
			return fmt.Sprintf("cleo pays %v credits in the days from %d", c, 2*two)
		}
	}
	return ""
}

// Whatever users submit and give up, and whatever sites refuse or charge beyond their quotes, no
// bound is passed at any step that reserves something, and what replays the facts or the image knows the same
// of what was used.
func TestBounds_AreNeverPassed(t *testing.T) {
	t.Parallel()
	reached := 0
	rapid.Check(t, func(t *rapid.T) {
		north, south := newFakeSite("north", 12, 1_000_000), newFakeSite("south", 6, 800_000)
		north.rule = func(m agents.Message) fakeAnswer {
			if m.Kind() == "Hold" && rapid.IntRange(0, 5).Draw(t, "hold") == 0 {
				return fakeAnswer{refuse: grid.Busy}
			}
			return fakeAnswer{add: grid.Credits(rapid.IntRange(0, 2).Draw(t, "add")) * grid.Credit / 10}
		}
		cfg := testConfig(north, south)
		cfg.Cycle, cfg.Horizon, cfg.Holders, cfg.MaxAlternatives = 2*grid.Hour, 40*grid.Hour, physics(), 8
		w := newTestWorld(t, cfg, north, south)
		w.quiet = true
		m := boundsMirror{legs: map[grid.LegID]*mirrored{}, jobs: map[string]string{}}
		w.After(func(_ grid.Time, _ agents.ID, out *agents.Outbox) {
			begun := false
			for _, f := range out.Facts {
				m.take(f)
				begun = begun || f.Kind() == "tx-begun"
			}
			if !begun {
				return
			}
			if wrong := m.check(); wrong != "" {
				t.Fatal(wrong)
			}
		})
		for i := range rapid.IntRange(5, 25).Draw(t, "jobs") {
			at := grid.Time(rapid.IntRange(0, 60).Draw(t, "at")) * grid.Time(grid.Hour)
			j := testJob(fmt.Sprint("j", i), rapid.IntRange(1, 7).Draw(t, "nodes"), grid.Duration(rapid.IntRange(1, 9).Draw(t, "hours"))*grid.Hour, 100*grid.Credit)
			j.User = rapid.SampledFrom([]string{"ana", "ben", "cleo", "dora"}).Draw(t, "user")
			w.submit(at, j)
			if rapid.IntRange(0, 4).Draw(t, "cancel") == 0 {
				w.Post(at.Add(grid.Duration(rapid.IntRange(0, 10).Draw(t, "after"))*grid.Hour), "broker:vo1", agents.JobCancel{Job: j.Name, User: j.User})
			}
		}
		w.Run(grid.Time(4 * grid.Day))
		for _, f := range only[facts.JobPostponed](w) {
			if f.Reason.Code == grid.Bound {
				reached++
			}
		}
		sameUse(t, w)
	})
	if reached == 0 {
		t.Error("no bound has ever held a job back: the test shows nothing")
	}
}

// sameUse compares a broker with one that has replayed its facts, and one that has
// read its image.
func sameUse(t interface{ Fatalf(string, ...any) }, w *testWorld) {
	again, image := New(w.b.mem.cfg), New(w.b.mem.cfg)
	for _, f := range w.facts {
		again.Replay(w.b.mem.Now, f)
	}
	image.Replay(w.b.mem.Now, w.b.Image())
	want := w.b.Image().(facts.BrokerImage).Tenancy
	type use struct {
		time    int64
		credits grid.Credits
	}
	days := map[int64]use{} // of physics, whose period is a day
	for _, u := range want.Used {
		if in, _ := w.b.mem.Tenancy.In(u.User); in == "physics" {
			days[u.Day] = use{days[u.Day].time + u.NodeTime, days[u.Day].credits + u.Credits}
		}
	}
	for what, b := range map[string]*Broker{"day by day": w.b, "from the facts": again, "from the image": image} {
		if got := b.Image().(facts.BrokerImage).Tenancy; !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v\nwant: %+v", what, got, want)
		}
		for day, u := range days {
			if v := b.HolderOf(grid.Time(day)*grid.Time(grid.Day), grid.Holder{Tenant: "physics"}); (use{v.NodeTime, v.Credits}) != u {
				t.Fatalf("%s, on day %d physics uses %d and %v, its users %+v", what, day, v.NodeTime, v.Credits, u)
			}
		}
	}
}

// Terms granted by an operator override the file, one by one, in this life and the next, whether it
// starts from facts or from an image. A changed file is recorded, and after a reset the file's term
// holds again.
func TestTerms_GrantedCountMoreThanTheFileAndSurvive(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.Holders = physics()
	b := New(cfg)
	var out agents.Outbox
	b.Step(0, "", agents.Started{Nonce: 1}, &out)
	grant := func(h grid.Holder, drop ...string) grid.Reason {
		n := len(out.Sends)
		b.Step(0, "operator:olga", agents.GrantTerms{Holder: h, Drop: drop}, &out)
		return out.Sends[n].Message.(agents.OperatorReply).Reason
	}
	if r := grant(grid.Holder{User: "ana", Terms: grid.Grants{grid.TermMaxNodes: 3, grid.TermQuota: 5}}); r.Refused() {
		t.Fatal(r)
	}
	for _, wrong := range []grid.Holder{{}, {User: "ana", In: "nobody knows"}, {User: "ana", Terms: grid.Grants{"luck": 1}},
		{Tenant: "physics", Terms: grid.Grants{grid.TermQuota: 1}}, {User: "ana", Terms: grid.Grants{grid.TermShare: 0}}} {
		if r := grant(wrong); !r.Refused() {
			t.Errorf("%+v was granted", wrong)
		}
	}
	facts := len(out.Facts)
	grant(grid.Holder{User: "ana", Terms: grid.Grants{grid.TermQuota: 5}})
	if len(out.Facts) != facts {
		t.Error("the same again was put on record again")
	}
	cfg.Holders = append(physics(), grid.Holder{User: "dora", In: "physics"}) // the file of the next life
	cfg.Holders[1].Terms = grid.Grants{grid.TermMaxNodes: 8, grid.TermShare: 2}
	byFacts, byImage := New(cfg), New(cfg)
	for _, f := range out.Facts {
		byFacts.Replay(0, f)
	}
	byImage.Replay(0, b.Image())
	for _, again := range []*Broker{byFacts, byImage} {
		if n, u := mayHave(again, "ana"), again.mem.Tenancy.User("ana"); n != 3 || u.Share != 1 {
			t.Errorf("before it starts it goes by what is on record: ana has %d nodes, share %d", n, u.Share)
		}
		var more agents.Outbox
		again.Step(0, "", agents.Started{Nonce: 2}, &more)
		n, u := mayHave(again, "ana"), again.mem.Tenancy.User("ana")
		if q, _ := again.mem.Accounts.Quota("ana"); n != 3 || u.Share != 2 || q != 5 || again.mem.Tenancy.User("dora").Tenant.Name != "physics" {
			t.Errorf("ana has %d nodes, share %d, quota %v; dora is in %q", n, u.Share, q, again.mem.Tenancy.User("dora").Tenant.Name)
		}
		if !slices.ContainsFunc(more.Facts, func(f agents.Fact) bool { return f.Kind() == "terms-read" }) {
			t.Error("another file is not on record")
		}
		again.Step(0, "operator:olga", agents.GrantTerms{Holder: grid.Holder{User: "ana"}, Drop: []string{grid.TermMaxNodes, grid.TermQuota}}, &more)
		if _, quota := again.mem.Accounts.Quota("ana"); mayHave(again, "ana") != 8 || quota || len(again.mem.Tenancy.Image().Granted) > 0 {
			t.Errorf("dropped, ana has %d nodes, a quota %t", mayHave(again, "ana"), quota)
		}
		again.Step(0, "operator:", agents.ReadTerms{Holders: physics()}, &more)
		if mayHave(again, "ana") != 7 {
			t.Errorf("the file read again leaves ana %d nodes", mayHave(again, "ana"))
		}
		again.Step(0, "user:ana", agents.GrantTerms{Holder: grid.Holder{User: "ana", Terms: grid.Grants{grid.TermMaxNodes: 99}}}, &more)
		if mayHave(again, "ana") != 7 {
			t.Error("a user has granted themselves nodes")
		}
	}
}
