package tenancy

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

const hour = grid.Time(grid.Hour)

// window is one leg, of a job that is named as its user.
type window struct {
	user string
	leg  grid.Leg
	flex grid.Flex
	cost grid.Credits
	over bool
}

func (w *window) Payer() string                  { return w.user }
func (w *window) Size() int                      { return 1 }
func (w *window) Leg(int) (*grid.Leg, bool)      { return &w.leg, !w.over }
func (w *window) Flex() grid.Flex                { return w.flex }
func (w *window) Over() bool                     { return w.over }
func (w *window) Counts(replaced string) bool    { return w.user != replaced }
func (w *window) Takes(int) Used                 { return Used{int64(w.leg.Nodes) * int64(w.leg.Duration()), w.cost} }
func (l *windows) Windows() iter.Seq[Window]     { return func(yield func(Window) bool) { l.each(yield) } }
func leg(nodes int, from, to grid.Time) grid.Leg { return grid.Leg{Nodes: nodes, Start: from, End: to} }

type windows []*window

func (l *windows) each(yield func(Window) bool) {
	for _, w := range *l {
		if !yield(w) {
			return
		}
	}
}

// begin has a window count from now on.
func (l *windows) begin(x *Tenancy, w *window) {
	*l = append(*l, w)
	x.Day(0)
	x.Begin(w)
	x.Count(w, EveryLeg, 1)
}

// lab is a tenant of two users, who may have 10 nodes, 24 node-hours and 5 credits a day; ana
// may have 7 of the nodes.
func lab() []grid.Holder {
	return []grid.Holder{
		{Tenant: "lab", Terms: grid.Grants{grid.TermMaxNodes: 10, grid.TermNodeHours: 24 * grid.NodeHour,
			grid.TermCredits: int64(5 * grid.Credit), grid.TermPeriod: int64(grid.Day), grid.TermPriority: 2}},
		{User: "*", Terms: grid.Grants{grid.TermMaxWaiting: 9}},
		{User: "ana", In: "lab", Terms: grid.Grants{grid.TermMaxNodes: 7, grid.TermPriority: 1, grid.TermQuota: 3}},
		{User: "ben", In: "lab"},
	}
}

// A user's terms are the user's own, otherwise everyone's; the tenant's priority is added.
func TestUser_OwnTermsComeBeforeEveryones(t *testing.T) {
	t.Parallel()
	x := New(lab(), &windows{})
	ana, eve := x.User("ana"), x.User("eve")
	if ana.Tenant.Name != "lab" || ana.Priority != 3 || ana.MaxWaiting() != 9 || ana.Never(7).Refused() || !ana.Never(8).Refused() {
		t.Errorf("ana has %+v", ana)
	}
	if eve.Tenant.Name != "" || eve.Priority != 0 || eve.MaxWaiting() != 9 || eve.Never(1000).Refused() {
		t.Errorf("eve has %+v", eve)
	}
	if q := x.Quotas(); !reflect.DeepEqual(q, map[string]grid.Credits{"ana": 3}) {
		t.Errorf("the quotas are %v", q)
	}
	x.ApplyGranted(facts.TermsGranted{Holder: grid.Holder{User: "ana", Terms: grid.Grants{grid.TermMaxWaiting: 4}, In: grid.Nobody}})
	if ana := x.User("ana"); ana.MaxWaiting() != 4 || ana.Tenant.Name != "" || !ana.Never(8).Refused() {
		t.Errorf("granted, ana has %+v", ana)
	}
}

// All that a tenant's users hold at once counts together, but for the window that is replaced.
func TestOver_NodesOfATenantCountTogether(t *testing.T) {
	t.Parallel()
	list := &windows{}
	x := New(lab(), list)
	list.begin(&x, &window{user: "ben", leg: leg(6, 0, hour)})
	over := func(nodes int, from grid.Time, replaced string) bool {
		return x.Over("ana", []grid.Leg{leg(nodes, from, from+hour)}, 0, grid.Flex{}, replaced).Refused()
	}
	if over(4, 0, "") || !over(5, 0, "") || over(7, hour, "") || over(7, 0, "ben") || !over(8, hour, "") {
		t.Error("beside ben's 6 of the lab's 10 nodes ana may have 4, and 7 in ben's place or after it")
	}
	(*list)[0].over = true
	if over(7, 0, "") {
		t.Error("what is over holds nodes")
	}
}

// Node-hours and credits count in each period into which a site may move a leg, and Chance
// and Left say what they leave.
func TestOver_AMovableLegCountsInEachPeriod(t *testing.T) {
	t.Parallel()
	list := &windows{}
	x := New(lab(), list)
	day := grid.Time(grid.Day)
	list.begin(&x, &window{user: "ben", leg: leg(5, 0, 4*hour), flex: grid.Flex{Ready: 0, Due: day + 5*hour}, cost: 2 * grid.Credit})
	what := []grid.Leg{leg(1, day, day+5*hour)}
	if r := x.Over("ana", what, 0, grid.Flex{}, ""); !r.Refused() || !strings.Contains(r.Detail, "20 are reserved") {
		t.Errorf("on the second day: %v", r)
	}
	if got := x.Left("ana", what, grid.Flex{}); got != 3*grid.Credit {
		t.Errorf("%v credits are left, want 3 of 5", got)
	}
	at, why := x.Chance(Need{User: "ana", Nodes: 1, Runtime: 5 * grid.Hour, Deadline: grid.Never}, 0, 9*day)
	if at != 2*day || why.Code != grid.Bound {
		t.Errorf("the first chance is at %v (%v), want the third day", at, why)
	}
	if at, _ := x.Chance(Need{User: "ana", Nodes: 1, Runtime: 5 * grid.Hour, Deadline: day}, 0, 9*day); at != grid.Never {
		t.Errorf("there is a chance at %v, after the deadline", at)
	}
	if at, why := x.Chance(Need{User: "eve", Nodes: 99, Runtime: grid.Hour, Ready: hour}, 0, day); at != 0 || why.Refused() {
		t.Errorf("without bounds: %v, %v", at, why)
	}
}

// An image gives the same terms and the same use, of tenants too.
func TestLoad_AnImageGivesTheSameRights(t *testing.T) {
	t.Parallel()
	list := &windows{}
	x := New(nil, list)
	if x.OnRecord() || x.Differs(nil) || !x.Differs(lab()) {
		t.Error("a file without terms need not be recorded, and lab must")
	}
	x.User("ben") // is kept until the terms change
	if x.ApplyRead(facts.TermsRead{Holders: lab()}); x.User("ben").Tenant.Name != "lab" {
		t.Error("the file is not in force")
	}
	x.ApplyGranted(facts.TermsGranted{Holder: grid.Holder{User: "ben", Terms: grid.Grants{grid.TermMaxNodes: 2}}})
	list.begin(&x, &window{user: "ben", leg: leg(2, 0, hour), cost: grid.Credit})
	again := New(nil, list)
	again.Load(x.Image())
	if !reflect.DeepEqual(again.Image(), x.Image()) || !again.OnRecord() || again.Differs(lab()) {
		t.Errorf("%+v, not %+v", again.Image(), x.Image())
	}
	for _, h := range x.Holders() {
		if got, want := again.View(0, h), x.View(0, h); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", h.Words(), got, want)
		}
	}
	if v := again.View(0, grid.Holder{Tenant: "lab"}); v.NodeTime != 2*grid.NodeHour || v.Credits != grid.Credit {
		t.Errorf("the lab uses %d and %v", v.NodeTime, v.Credits)
	}
}

// A grant that names nothing known is refused, and one that changes nothing is no news.
func TestRefusesGrant_WhatIsNotKnown(t *testing.T) {
	t.Parallel()
	x := New(lab(), &windows{})
	for _, f := range []facts.TermsGranted{
		{Holder: grid.Holder{User: "ana", In: "elsewhere"}},
		{Holder: grid.Holder{User: "ana"}, Drop: []string{"luck"}},
		{Holder: grid.Holder{User: "ana", Terms: grid.Grants{grid.TermShare: 0}}},
	} {
		if !x.RefusesGrant(f).Refused() {
			t.Errorf("%+v is granted", f)
		}
	}
	f := facts.TermsGranted{Holder: grid.Holder{User: "ana", Terms: grid.Grants{grid.TermShare: 2}}}
	if why := x.RefusesGrant(f); why.Refused() || !x.Changes(f) {
		t.Errorf("refused: %v", why)
	}
	if x.ApplyGranted(f); x.Changes(f) {
		t.Error("the same again changes something")
	}
}

// Grants to one holder add up, what is dropped is the file's again, and an earlier list is not
// written to.
func TestApplyGranted_GrantsAddUpUntilTheyAreDropped(t *testing.T) {
	t.Parallel()
	x := New(lab(), &windows{})
	ana := func(terms grid.Grants) grid.Holder { return grid.Holder{User: "ana", Terms: terms} }
	x.ApplyGranted(facts.TermsGranted{Holder: ana(grid.Grants{grid.TermMaxNodes: 3})})
	first := x.Image()
	x.ApplyGranted(facts.TermsGranted{Holder: grid.Holder{User: "ana", In: grid.Nobody, Terms: grid.Grants{grid.TermShare: 2}}})
	if !reflect.DeepEqual(first.Granted, []grid.Holder{ana(grid.Grants{grid.TermMaxNodes: 3})}) {
		t.Errorf("the list of before is %+v", first.Granted)
	}
	v := x.View(0, grid.Holder{User: "ana"})
	said := map[string]bool{}
	for _, s := range v.Set {
		said[s.Name] = s.Granted
	}
	if want := map[string]bool{grid.TermMaxNodes: true, grid.TermShare: true, grid.TermPriority: false, grid.TermMaxWaiting: false, grid.TermQuota: false}; !reflect.DeepEqual(said, want) || v.In != "" || !v.InGranted {
		t.Errorf("ana has %+v, in %q, granted %t", v.Set, v.In, v.InGranted)
	}
	drop := facts.TermsGranted{Holder: grid.Holder{User: "ana"}, Drop: []string{grid.TermMaxNodes, grid.TermShare, "in"}}
	if why := x.RefusesGrant(drop); why.Refused() {
		t.Errorf("refused: %v", why)
	}
	x.ApplyGranted(drop)
	if v := x.View(0, grid.Holder{User: "ana"}); len(x.Image().Granted) > 0 || v.In != "lab" || v.InGranted || x.User("ana").Never(7).Refused() {
		t.Errorf("dropped, there is %+v", x.Image().Granted)
	}
}

// A bound may be used up. The terms of everyone else do not apply to tenants.
func TestOver_ABoundMayBeUsedUp(t *testing.T) {
	t.Parallel()
	x := New(append(lab(), grid.Holder{User: "zoe", Terms: grid.Grants{grid.TermMaxNodes: 1}}), &windows{})
	all := []grid.Leg{leg(6, 0, 4*hour)}
	if r := x.Over("ana", all, 5*grid.Credit, grid.Flex{}, ""); r.Refused() {
		t.Errorf("24 node-hours and 5 credits: %v", r)
	}
	all[0].End++
	if !x.Over("ana", all, 0, grid.Flex{}, "").Refused() || !x.Over("ana", []grid.Leg{leg(1, 0, 1)}, 5*grid.Credit+1, grid.Flex{}, "").Refused() {
		t.Error("a millisecond or a micro-credit more is allowed")
	}
	for _, s := range x.View(0, grid.Holder{Tenant: "lab"}).Set {
		if s.Name == grid.TermMaxWaiting {
			t.Error("the lab has everyone's max_waiting")
		}
	}
	x.ApplyGranted(facts.TermsGranted{Holder: grid.Holder{Tenant: "lab", Terms: grid.Grants{grid.TermMaxPriority: 5}}})
	x.ApplyGranted(facts.TermsGranted{Holder: grid.Holder{User: "ben", Terms: grid.Grants{grid.TermMaxPriority: 0}}})
	for user, want := range map[string]int{"ana": 5, "ben": 0, "eve": -1} {
		if u := x.User(user); u.MaxPriority != want || u.Raise != max(want, 0) {
			t.Errorf("%s may have priority %d, want %d", user, u.MaxPriority, want)
		}
	}
	for user, want := range map[string]string{"": "users without a name", "zoe": grid.Holder{User: "zoe"}.Words()} {
		if got := x.User(user).Words(); got != want {
			t.Errorf("the terms of %q are those of %s", user, got)
		}
	}
}

// The peak is the first instant at which the most nodes are held, and what ends there is over.
func TestPeak_IsTheFirstOfTheMost(t *testing.T) {
	t.Parallel()
	if at, most := peak([]interval{{from: 5, to: 9, nodes: 2}, {to: 5, nodes: 2}, {from: 7, to: 9, nodes: 1}, {from: 20, to: 22, nodes: 3}}); at != 7 || most != 3 {
		t.Errorf("%d nodes at %v, want 3 at 7 ms", most, int64(at))
	}
}

// Slices of nodes add up to whole ones, in whatever numbers nodes are divided.
func TestPeak_AddsSlicesUpToNodes(t *testing.T) {
	t.Parallel()
	third, eighth := grid.LegPart{Slices: 1, Of: 3}, grid.LegPart{Slices: 4, Of: 8}
	all := []interval{{to: 9, nodes: 3, part: third}, {to: 9, nodes: 2, part: eighth}}
	if _, most := peak(all); most != 2 {
		t.Errorf("three thirds and two halves are %d nodes", most)
	}
	if _, most := peak(append(all, interval{from: 5, to: 9, nodes: 1, part: third})); most != 3 {
		t.Errorf("with one third more they are %d nodes", most)
	}
}

// An image lists what was used in order of user and day.
func TestImage_IsInOrder(t *testing.T) {
	t.Parallel()
	list := &windows{}
	x := New(nil, list)
	var want []string
	for _, user := range []string{"dora", "ana", "cleo", "ben"} {
		for _, day := range []grid.Time{3, 1, 2} {
			list.begin(&x, &window{user: user, leg: leg(1, day*grid.Time(grid.Day), day*grid.Time(grid.Day)+1)})
		}
	}
	for _, user := range []string{"ana", "ben", "cleo", "dora"} {
		want = append(want, user+" 1", user+" 2", user+" 3")
	}
	var got []string
	for _, u := range x.Image().Used {
		got = append(got, fmt.Sprint(u.User, " ", u.Day))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
