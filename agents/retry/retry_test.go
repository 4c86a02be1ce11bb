package retry

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// subject is what the tests owe.
type subject int

func (subject) Kind() string { return "TestDue" }

// debtor owes what it is asked to owe, and passes its alarms to its list in their order.
type debtor struct {
	list   List[subject]
	out    agents.Outbox
	alarms []agents.Alarm
	owes   map[subject]bool
	said   map[subject][]grid.Time // since the last beginning
	over   map[subject]grid.Time
}

func newDebtor() *debtor {
	return &debtor{owes: map[subject]bool{}, said: map[subject][]grid.Time{}, over: map[subject]grid.Time{}}
}

// take puts new alarms behind those of the same instant.
func (c *debtor) take() {
	c.alarms = append(c.alarms, c.out.Alarms...)
	c.out.Reset()
	slices.SortStableFunc(c.alarms, func(a, b agents.Alarm) int { return cmp.Compare(a.At, b.At) })
}

func (c *debtor) begin(now grid.Time, k subject, s Schedule) {
	c.owes[k], c.said[k] = true, nil
	delete(c.over, k)
	c.list.Begin(now, k, s, &c.out)
	c.take()
}

// run lives until an instant, its own included.
func (c *debtor) run(until grid.Time) {
	for len(c.alarms) > 0 && c.alarms[0].At <= until {
		a := c.alarms[0]
		c.alarms = c.alarms[1:]
		d := a.Message.(Due[subject])
		current := c.list.Current(d)
		switch c.list.Due(a.At, d, c.owes[d.Subject], &c.out) {
		case Again:
			c.said[d.Subject] = append(c.said[d.Subject], a.At)
		case Over:
			c.over[d.Subject] = a.At
		}
		if current != (len(c.out.Alarms) > 0 || c.over[d.Subject] == a.At) {
			panic("an alarm that is current changes something, and no other does")
		}
		c.take()
	}
}

// current is how many alarms on their way are not of an earlier beginning.
func (c *debtor) current(k subject) (n int) {
	for _, a := range c.alarms {
		if d := a.Message.(Due[subject]); d.Subject == k && c.list.owed[k].number == d.Number {
			n++
		}
	}
	return n
}

// due lists when something is said again by a schedule: sums of doubled waits.
func due(from grid.Time, s Schedule, until grid.Time) (times []grid.Time) {
	for i, at := 0, from.Add(s.First); at < until && (s.Until == 0 || at < s.Until); i++ {
		times = append(times, at)
		at = at.Add(min(s.First<<min(i+1, 30), max(s.First, s.Last)))
	}
	return times
}

// Whatever is begun, begun anew and answered in between, a subject is repeated exactly at
// the times of its last schedule, until it is answered or given up.
func TestList_SaysAgainByTheScheduleUntilAnswered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, now := newDebtor(), grid.Time(1000)
		began, of, answered := map[subject]grid.Time{}, map[subject]Schedule{}, map[subject]grid.Time{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(grid.Duration(rapid.Int64Range(0, 5000).Draw(t, "pause")))
			c.run(now)
			k := subject(rapid.IntRange(0, 3).Draw(t, "subject"))
			if rapid.IntRange(0, 2).Draw(t, "answer") == 0 {
				if c.owes[k] {
					answered[k] = now + 1 // what was due by now has been said
				}
				c.owes[k] = false
			} else {
				s := Schedule{First: grid.Duration(rapid.Int64Range(1, 1000).Draw(t, "first")), Last: grid.Duration(rapid.Int64Range(1, 4000).Draw(t, "last"))}
				if rapid.Bool().Draw(t, "ends") {
					s.Until = now.Add(grid.Duration(rapid.Int64Range(1, 20_000).Draw(t, "until")))
				}
				c.begin(now, k, s)
				began[k], of[k] = now, s
				delete(answered, k)
			}
			for k := range began {
				if n := c.current(k); n > 1 || c.list.Owes(k) != (n == 1) {
					t.Fatalf("%d has %d alarms, and is owed: %t", k, n, c.list.Owes(k))
				}
			}
		}
		end := now.Add(60_000)
		c.run(end)
		for k, from := range began {
			until := end + 1
			if at, ok := answered[k]; ok {
				until = at
			}
			if want := due(from, of[k], until); !slices.Equal(c.said[k], want) {
				t.Fatalf("%d began at %d by %+v, was answered at %d, and was said again at %v, want %v", k, from, of[k], answered[k], c.said[k], want)
			}
			if at, over := c.over[k]; over && c.owes[k] && at != of[k].Until {
				t.Fatalf("%d was given up at %d, by %+v", k, at, of[k])
			}
		}
		for k := range began { // all is answered: nothing is left
			c.owes[k] = false
		}
		c.run(end.Add(20_000))
		if len(c.alarms) > 0 || len(c.list.owed) > 0 {
			t.Fatalf("nothing is owed, and %d alarms and %d subjects are left", len(c.alarms), len(c.list.owed))
		}
	})
}

// A subject under which something else is asked keeps its alarm: what is new is said
// again its first wait after that.
func TestList_RenewBeginsAnewWithTheAlarmOnItsWay(t *testing.T) {
	t.Parallel()
	c := newDebtor()
	c.list.Renew(1)
	if c.list.Owes(1) {
		t.Error("what was never begun is owed")
	}
	c.begin(0, 1, Schedule{First: 500, Last: 5000})
	c.run(2000) // 500, 1500
	c.list.Renew(1)
	c.run(10_000) // the alarm of 3500 changes nothing
	if want := []grid.Time{500, 1500, 4000, 5000, 7000}; !slices.Equal(c.said[1], want) || len(c.alarms) != 1 {
		t.Errorf("said again at %v, want %v; %d alarms", c.said[1], want, len(c.alarms))
	}
}

func TestList_GivesUpAtItsTime(t *testing.T) {
	t.Parallel()
	c := newDebtor()
	c.begin(0, 1, Schedule{First: 500, Last: 5000, Until: 1700})
	c.run(100_000)
	if want := []grid.Time{500, 1500}; !slices.Equal(c.said[1], want) || c.over[1] != 1700 || c.list.Owes(1) {
		t.Errorf("said again at %v, want %v; given up at %d, owed: %t", c.said[1], want, c.over[1], c.list.Owes(1))
	}
}

// A wait of nothing would stop an agent's time.
func TestList_WaitsAMillisecondAtLeast(t *testing.T) {
	t.Parallel()
	c := newDebtor()
	c.begin(0, 1, Schedule{})
	c.run(3)
	if want := []grid.Time{1, 2, 3}; !slices.Equal(c.said[1], want) {
		t.Errorf("said again at %v, want %v", c.said[1], want)
	}
}

func TestDue_IsNamedByItsSubject(t *testing.T) {
	t.Parallel()
	if k := (Due[subject]{}).Kind(); k != "TestDue" {
		t.Errorf("%q", k)
	}
}
