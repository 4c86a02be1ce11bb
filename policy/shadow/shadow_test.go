package shadow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// cluster is a partition of so many nodes of one CPU.
func cluster(nodes int) (*slurm.Config, []string) {
	c := slurm.Defaults()
	c.Priority.Multifactor = false
	all := slurm.NewSet(nodes)
	var names []string
	for n := range nodes {
		c.CPUs = append(c.CPUs, 1)
		all.Add(n)
		names = append(names, fmt.Sprintf("n%d", n+1))
	}
	c.Partitions = []slurm.Partition{{Name: "p", Nodes: all, Tier: 1, JobFactor: 1, MaxNodes: slurm.Unlimited, MaxTime: grid.MaxDuration}}
	return &c, names
}

const midnight = grid.Time(1_795_046_400_000) // 2026-11-19

func newJob(id int64, submit grid.Time, nodes int, limit, run grid.Duration) slurm.Job {
	return slurm.Job{ID: id, Array: id, Submit: submit, QOS: -1, Assoc: -1, Reservation: -1, Nodes: nodes, CPUs: nodes, Limit: limit, Run: run, Started: grid.Never}
}

// recorded is a day of eight nodes that are wanted by more than they hold, as the twin of Slurm runs them: a
// recording of a real controller is in the test of the command.
func recorded(t *testing.T) (*slurm.Config, []string, []slurm.Job) {
	t.Helper()
	c, names := cluster(8)
	var jobs []slurm.Job
	for i := range 200 {
		limit := grid.Duration(20+i*13%50) * grid.Minute
		jobs = append(jobs, newJob(int64(i+1), midnight.Add(grid.Duration(i)*7*grid.Minute), 1+i*7%5, limit, limit*grid.Duration(3+i%7)/10))
	}
	ran := slurm.New(c, jobs, slurm.Options{})
	ran.Run()
	for i := range jobs {
		o := ran.Outcome(i)
		if o.Start >= grid.Never {
			t.Fatalf("job %d does not start", i)
		}
		jobs[i].Started, jobs[i].On = o.Start, o.On
	}
	return c, names, jobs
}

var (
	groups = func(names []string) []Group {
		return []Group{{Group: grid.Group{Name: "day", Nodes: 4, Price: 2_000_000, Longest: 40 * grid.Minute}, Names: names[:4]},
			{Group: grid.Group{Name: "rest", Nodes: 3, Price: 1_000_000, Padding: 2 * grid.Minute}, Names: names[4:7]}}
	}
	terms = Terms{Pricing: pricing.Adaptive, Share: Millionths / 3}
)

// follow follows the record from the start, or from where earlier events end.
func follow(t *testing.T, earlier ...Event) []Event {
	t.Helper()
	c, names, jobs := recorded(t)
	m := NewMarket(terms)
	list := []Event{{At: jobs[0].Submit, Began: &Began{Site: "north", Every: 5 * grid.Minute, Share: terms.Share}}}
	from := grid.Time(0)
	if len(earlier) > 0 {
		list = nil
		for _, e := range earlier {
			m.Take(e)
			from = e.At
		}
	}
	record := slurm.New(c, jobs, slurm.Options{Follow: true})
	if len(earlier) == 0 {
		Follow(m, c, groups(names), names, jobs, 5*grid.Minute, func(e Event) { list = append(list, e) })
		return list
	}
	for at := jobs[0].Submit; !record.Over(); at = at.Add(5 * grid.Minute) {
		record.Until(at)
		if at > from {
			present, _ := record.Present()
			list = append(list, m.Look(&State{Now: at, Conf: c, Groups: groups(names), Nodes: names, Jobs: present})...)
		}
	}
	return list
}

// The report is recomputed from the events as they are written, by plain sums; what they say
// is held against the record: no node is sold twice or beyond its group, each window is of the
// job that asked for it, and those in the way are exactly those that ran on nodes of a window
// sold before they started, but for those that have a window instead.
func TestFollow_TheReportIsThatOfTheEventsAndTheRecord(t *testing.T) {
	t.Parallel()
	_, names, jobs := recorded(t)
	events := follow(t)
	var text bytes.Buffer
	var tally Tally
	for _, e := range events {
		tally.Add(e)
		if err := json.NewEncoder(&text).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	got := tally.Report()
	of := map[string]*Group{}
	for _, g := range groups(names) {
		of[g.Name] = &g
	}
	job := map[string]*slurm.Job{}
	for i := range jobs {
		job[fmt.Sprint(jobs[i].ID)] = &jobs[i]
	}
	place := map[string]int{}
	for i, n := range names {
		place[n] = i
	}
	var want Report
	refused := map[Why]RefusedFor{}
	var windows []Event
	asked, late, met := map[string]bool{}, map[string]grid.Duration{}, map[string]grid.Duration{}
	var before *Event
	for d := json.NewDecoder(&text); d.More(); {
		var e Event
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Looked != nil:
			want.Looks++
			if before != nil {
				want.Observed += e.At.Sub(before.At)
				want.NodeTime += grid.Duration(before.Looked.Nodes) * e.At.Sub(before.At)
				want.Busy += grid.Duration(before.Looked.Busy) * e.At.Sub(before.At)
			}
			before = &e
		case e.Sold != nil:
			s := e.Sold
			want.Asked++
			want.Sold++
			j, g := job[s.Job], of[s.Group]
			if asked[s.Job] || j.Submit <= jobs[0].Submit || j.Submit > e.At || s.Nodes != j.Nodes || s.Length != j.Limit || len(s.Names) != s.Nodes || s.Padding != g.Padding || s.End != s.Start.Add(s.Length) || s.Start < e.At || !g.Allows(s.Length) {
				t.Errorf("%+v for %+v", s, j)
			}
			asked[s.Job] = true
			for _, n := range s.Names {
				if !contains(g.Names, n) {
					t.Errorf("%s of %s is not in group %s", n, s.Job, s.Group)
				}
				for _, w := range windows {
					if contains(w.Sold.Names, n) && w.Sold.Start < s.End.Add(s.Padding) && s.Start < w.Sold.End.Add(w.Sold.Padding) {
						t.Errorf("%s is sold to %s and %s at the same time", n, w.Sold.Job, s.Job)
					}
				}
				for i := range jobs { // by their limits
					x := &jobs[i]
					if !asked[fmt.Sprint(x.ID)] && x.Started <= e.At && e.At < x.Started.Add(x.Run) && x.Started.Add(x.Limit) > s.Start && x.On.Has(place[n]) {
						t.Errorf("%s is sold to %s while job %d may run there", n, s.Job, x.ID)
					}
				}
			}
			windows = append(windows, e)
			want.SoldTime += grid.Duration(s.Nodes) * s.Length
			base := g.Cost(s.Start, s.End) * grid.Credits(s.Nodes)
			var harm grid.Duration
			for _, x := range s.Delayed {
				harm += grid.Duration(x.Nodes) * x.By
				late[x.Job] += x.By
				want.Delayed.Longest = max(want.Delayed.Longest, late[x.Job])
			}
			if s.Fare.Base != base || s.Fare.Additive != grid.Cost(g.Price, harm) {
				t.Errorf("%s costs %+v", s.Job, s.Fare)
			}
			want.Delayed.Time += harm
			want.Base += s.Fare.Base
			want.Additive += s.Fare.Additive
			h := &want.Hours[(s.Start-midnight)/grid.Time(grid.Hour)%24]
			h.Windows++
			h.SoldTime += grid.Duration(s.Nodes) * s.Length
			h.Income += s.Fare.Base + s.Fare.Additive
			if harm == 0 {
				want.Free++
			}
		case e.Refused != nil:
			want.Asked++
			x := refused[e.Refused.Why]
			refused[e.Refused.Why] = RefusedFor{e.Refused.Why, x.Windows + 1, x.Time + grid.Duration(e.Refused.Nodes)*e.Refused.Length}
			switch j := job[e.Refused.Job]; {
			case (j.Nodes > 4) != (e.Refused.Why == TooWide), (j.Nodes == 4 && j.Limit > 40*grid.Minute) != (e.Refused.Why == TooLong):
				t.Errorf("%+v", e.Refused)
			}
		case e.InTheWay != nil:
			met[e.InTheWay.Job] = e.InTheWay.By
			want.InTheWay.Jobs++
			want.InTheWay.Time += grid.Duration(e.InTheWay.Nodes) * e.InTheWay.By
			want.InTheWay.Longest = max(want.InTheWay.Longest, e.InTheWay.By)
		}
	}
	want.Site, want.From, want.To, want.Delayed.Jobs = "north", midnight, events[len(events)-1].At, len(late)
	want.Refused = []RefusedFor{}
	for _, why := range Whys() {
		if x, ok := refused[why]; ok {
			want.Refused = append(want.Refused, x)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the report is\n%+v, the events say\n%+v", got, want)
	}
	if got.Sold < 20 || got.Free == 0 || got.Free == got.Sold || got.Delayed.Jobs == 0 || got.Additive == 0 || got.InTheWay.Jobs == 0 || len(got.Refused) < 2 {
		t.Errorf("too little happens: %+v", got)
	}
	checkInTheWay(t, jobs, windows, place, met, asked)
}

// checkInTheWay finds those in the way out of the record. Who ran between two looks was not
// seen.
func checkInTheWay(t *testing.T, jobs []slurm.Job, windows []Event, place map[string]int, met map[string]grid.Duration, bought map[string]bool) {
	t.Helper()
	for i := range jobs {
		j := &jobs[i]
		if bought[fmt.Sprint(j.ID)] {
			if by := met[fmt.Sprint(j.ID)]; by != 0 {
				t.Errorf("job %d, which has a window instead, is in the way by %v", j.ID, by)
			}
			continue
		}
		seen := j.Started.Add(j.Run).Sub(j.Started) > 10*grid.Minute
		by := grid.Duration(0)
		for _, w := range windows {
			overlaps := false
			for _, n := range w.Sold.Names {
				overlaps = overlaps || j.On.Has(place[n])
			}
			if until := w.Sold.End.Add(w.Sold.Padding); overlaps && w.At < j.Started && j.Started < until && w.Sold.Start < j.Started.Add(j.Limit) {
				by = max(by, until.Sub(j.Started))
			}
		}
		if got := met[fmt.Sprint(j.ID)]; seen && got != by || !seen && got != 0 && got != by {
			t.Errorf("job %d is in the way by %v, want %v", j.ID, got, by)
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// A market that takes the events of another goes on as that would have.
func TestMarket_GoesOnFromItsEvents(t *testing.T) {
	t.Parallel()
	whole := follow(t)
	cut := 0
	for i, e := range whole {
		if e.Looked != nil && i < len(whole)/2 {
			cut = i // whole looks alone
		}
	}
	rest := follow(t, whole[:cut]...)
	if !reflect.DeepEqual(rest, whole[cut:]) {
		t.Errorf("%d events, want %d", len(rest), len(whole)-cut)
	}
}

// Two nodes, one of which is busy for an hour by its limit: who asks for both gets them when
// that ends, at the price of two node-hours; who asks next for one gets it now, and not for
// longer than the hour; nobody is sold three. By limits, of an hour and a half's notice, half of the
// nodes and three hours ahead, one hour is sold later, and the rest is not.
func TestMarket_SellsWhatIsFree(t *testing.T) {
	t.Parallel()
	c, names := cluster(2)
	on := slurm.NewSet(2)
	on.Add(0)
	runs := newJob(1, midnight-1000, 1, grid.Hour, grid.Hour)
	runs.Started, runs.On = midnight, on
	m := NewMarket(Terms{Pricing: pricing.Adaptive, Share: Millionths})
	s := State{Now: midnight, Conf: c, Nodes: names, Jobs: []slurm.Job{runs},
		Groups: []Group{{Group: grid.Group{Name: "p", Nodes: 2, Price: 3_000_000}, Names: names}}}
	if list := m.Look(&s); len(list) != 1 || *list[0].Looked != (Looked{Nodes: 2, Busy: 1}) {
		t.Fatalf("%+v", list)
	}
	s.Now = midnight.Add(grid.Minute)
	held := func(id int64, nodes int, limit grid.Duration) slurm.Job {
		j := newJob(id, s.Now-1000, nodes, limit, limit)
		j.Begin = midnight.Add(30 * grid.Day) // it does not get in the way of what is asked for
		return j
	}
	s.Jobs = append(s.Jobs, held(2, 2, grid.Hour), held(3, 1, 58*grid.Minute), held(4, 3, grid.Hour), held(5, 1, 2*grid.Hour))
	var got []string
	for _, e := range m.Look(&s) {
		switch {
		case e.Sold != nil:
			got = append(got, fmt.Sprintf("%s %v at %d for %v", e.Sold.Job, e.Sold.Names, e.Sold.Start.Sub(midnight)/grid.Minute, e.Sold.Fare.Total()))
		case e.Refused != nil:
			got = append(got, e.Refused.Job+" "+string(e.Refused.Why))
		}
	}
	limited := NewMarket(Terms{Pricing: pricing.Adaptive, Share: Millionths, Limits: pricing.Limits{MinNotice: 90 * grid.Minute, MaxHorizon: 3 * grid.Hour, MaxShare: 500}})
	limited.Take(Event{At: midnight, Looked: &Looked{}})
	for _, e := range limited.Look(&s) {
		switch {
		case e.Sold != nil:
			got = append(got, fmt.Sprintf("%s %v at %d", e.Sold.Job, e.Sold.Names, e.Sold.Start.Sub(midnight)/grid.Minute))
		case e.Refused != nil:
			got = append(got, e.Refused.Job+" "+string(e.Refused.Why))
		}
	}
	want := []string{"2 [n1 n2] at 60 for 6", "3 [n2] at 1 for 2.9", "4 too wide", "5 [n1] at 120 for 6",
		"2 limits", "3 [n1] at 91", "4 too wide", "5 limits"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Four nodes are idle. Of a record of windows each is asked for in its time, all of them by one
// market and by one that goes on from the events of another; local jobs ask for nothing. A
// window keeps its nodes for the padding. Of 4 nodes and two hours 30 % may be sold, which are
// 144 minutes: 60 and 60 are sold, and 40 more are not.
func TestMarket_ARecordAsks(t *testing.T) {
	t.Parallel()
	c, names := cluster(4)
	terms := Terms{Pricing: pricing.Adaptive, VOShare: 1000, Span: 2 * grid.Hour, Recorded: []Wanted{
		{0, 1, grid.Hour}, {grid.Minute, 4, 30 * grid.Minute}, {grid.Minute, 5, grid.Hour}, {10 * grid.Minute, 1, 40 * grid.Minute}}}
	group := Group{Group: grid.Group{Name: "p", Nodes: 4, Price: 3_000_000, Padding: 2 * grid.Minute}, Names: names}
	run := func(m *Market, from, to int) (list []Event) {
		for at := from; at <= to; at++ {
			s := State{Now: midnight.Add(grid.Duration(at) * grid.Minute), Conf: c, Nodes: names, Groups: []Group{group}}
			if at == 1 {
				s.Jobs = []slurm.Job{newJob(7, s.Now, 1, grid.Hour, grid.Hour)}
			}
			list = append(list, m.Look(&s)...)
		}
		return list
	}
	told := func(list []Event) (got []string) {
		for _, e := range list {
			switch {
			case e.Sold != nil:
				got = append(got, fmt.Sprintf("at %d %s at %d", e.At.Sub(midnight)/grid.Minute, e.Sold.Job, e.Sold.Start.Sub(midnight)/grid.Minute))
			case e.Refused != nil:
				got = append(got, e.Refused.Job+" "+string(e.Refused.Why))
			}
		}
		return got
	}
	whole := run(NewMarket(terms), 0, 20)
	want := []string{"at 0 recorded-1 at 0", "at 1 recorded-2 at 62", "recorded-3 too wide", "at 10 recorded-4 at 10"}
	if got := told(whole); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	later := NewMarket(terms)
	half := run(NewMarket(terms), 0, 5)
	for _, e := range half {
		later.Take(e)
	}
	if got := append(half, run(later, 6, 20)...); !reflect.DeepEqual(got, whole) {
		t.Errorf("with a restart %q", told(got))
	}
	terms.VOShare = 300
	terms.Recorded = []Wanted{{0, 1, grid.Hour}, {0, 1, grid.Hour}, {0, 1, 40 * grid.Minute}}
	if got, want := told(run(NewMarket(terms), 0, 0)), []string{"at 0 recorded-1 at 0", "at 0 recorded-2 at 0", "recorded-3 vo_share"}; !reflect.DeepEqual(got, want) {
		t.Errorf("of a share %q, want %q", got, want)
	}
}
