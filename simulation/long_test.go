package simulation

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// longWorld is a small grid that always has something to do.
const longWorld = `
name = "long"
until = "360d"

[[site]]
name = "north"
policy = "easy"
[[site.group]]
name = "a"
nodes = 16
price = 1.0
[[site.group]]
name = "b"
nodes = 32
price = 2.0
[site.workload]
model = "lublin"
load = 0.3

[[site]]
name = "south"
policy = "conservative"
[[site.group]]
name = "main"
nodes = 32
price = 1.5
[site.workload]
model = "uniform"
load = 0.5

[[broker]]
name = "vo1"
budget = 1e7
cycle = "2h"
horizon = "2d"
algorithm = "amp"
max_alternatives = 4
[broker.workload]
model = "uniform"
jobs = 3000
cancel = 0.1
modify = 0.1
`

// If only the summary is wanted, finished work leaves no trace in a world: after twelve months its
// memory holds as much as after six.
func TestLong_WhatIsOverIsFoldedAndGone(t *testing.T) {
	t.Parallel()
	sc, err := configs.ParseScenario("long.toml", []byte(longWorld))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(sc, 1, NewWorkloads(), Record{})
	if err != nil {
		t.Fatal(err)
	}
	c := report.NewCollector(w.header(1), report.Options{})
	w.sim.After(c.Hook)
	steps, half := uint64(0), census{}
	for month := grid.Time(1); month <= 12; month++ { // the most of some months: a queue comes and goes
		w.sim.Run(month * 30 * grid.Time(grid.Day))
		now := census{}
		now.count(reflect.ValueOf([]any{w, c}))
		if month == 6 {
			steps = w.sim.Steps()
		}
		if month <= 6 {
			half.most(now)
			continue
		}
		for where, n := range now {
			if where == "report.voJobs.finish" { // 8 bytes a job
				continue
			}
			if before := half[where]; n > 300 && n > before+before/2 {
				t.Errorf("month %d: %d elements in %s, %d at the most in the first six", month, n, where, before)
			}
		}
	}
	if most := w.sim.Steps(); most < 2*steps*9/10 {
		t.Errorf("%d steps in six months and %d in twelve: it did not go on", steps, most)
	}
	if r, err := c.Finish(w.end(grid.Time(sc.Until))); err != nil || r.Summary.Brokers[0].Jobs.Done < 2000 || r.Summary.Brokers[0].Jobs.GivenUp < 100 {
		t.Errorf("%v; of the VO's jobs it says %+v", err, r.Summary.Brokers[0].Jobs)
	}
}

// A run of which only the summary is wanted forgets what is over, draws its work when it
// is needed and adds jobs up when nothing more can come of them: its summary is that of a
// run that keeps everything, with windows that are moved, given up and lost.
func TestLong_TheSummaryIsThatOfARunThatKeepsAll(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("360d", "90d", "3000", "2000").Replace(longWorld) + `
[[site]]
name = "gone"
policy = "easy"
leaves = "45d"
[[site.group]]
name = "main"
nodes = 48
price = 0.5
`
	sc, err := configs.ParseScenario("left.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var summaries [2][]byte
	for i, keep := range []bool{false, true} {
		r, err := (&Simulation{Scenario: sc, Workloads: NewWorkloads()}).Run(3, Record{Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		if vo := &r.Summary.Brokers[0]; vo.Jobs.Done < 1000 || vo.Refunded == 0 {
			t.Fatalf("%+v: too little happens", vo)
		}
		if summaries[i], err = json.MarshalIndent(r.Summary, "", " "); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(summaries[0], summaries[1]) {
		t.Errorf("the summary is\n%s\nwith all kept\n%s", summaries[0], summaries[1])
	}
}

// A model that draws jobs one by one draws those that it lists, spread over the groups alike.
func TestWork_OfAModelIsItsList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &configs.Workload{Model: rapid.SampledFrom([]string{"uniform", "lublin"}).Draw(t, "model"), Processors: 64,
			Load: configs.Thousandths(rapid.IntRange(0, 1).Draw(t, "loaded") * 700), Jobs: rapid.SampledFrom([]int{0, 1, 50}).Draw(t, "jobs"),
			Days: grid.Duration(rapid.IntRange(1, 20).Draw(t, "days")) * grid.Day, Nodes: configs.Range[int]{Lo: 1, Hi: 30},
			Length: configs.Range[grid.Duration]{Lo: grid.Minute, Hi: grid.Hour}}
		if w.Model == "uniform" && w.Load == 0 {
			w.Jobs = 100
		}
		s := &configs.Site{Name: "x", Workload: w, Groups: []grid.Group{{Name: "a", Nodes: 8}, {Name: "b", Nodes: 64}, {Name: "c", Nodes: 16}}}
		s.Groups = s.Groups[:rapid.IntRange(1, 3).Draw(t, "groups")]
		seed := rapid.Uint64().Draw(t, "seed")
		l := NewWorkloads()
		jobs, err := l.Local(s, seed)
		work, err2 := l.work(s, seed)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for group, want := range spread(jobs, s.Groups) {
			next := work.Feed(group, 0, 0)
			for i, j := range want {
				if got, ok := next(); !ok || got != j {
					t.Fatalf("job %d of group %d is %+v, %v; listed is %+v", i, group, got, ok, j)
				}
			}
			if j, ok := next(); ok {
				t.Fatalf("group %d has %+v beyond its %d jobs", group, j, len(want))
			}
		}
	})
}

// A group that no job can go to has nothing drawn for it.
func TestWork_OfAGroupThatGetsNothing(t *testing.T) {
	t.Parallel()
	drawn := 0
	next := func() (grid.LocalJob, bool) {
		drawn++
		return grid.LocalJob{Nodes: 1 + drawn%16}, drawn < 1000
	}
	groups := []grid.Group{{Nodes: 8}, {Nodes: 4}, {Nodes: 8}, {Nodes: 64}, {Nodes: 128}}
	work := spreading(next, groups, configs.Range[int]{Lo: 1, Hi: 16})
	for _, empty := range []int{1, 2, 4} {
		if _, ok := work(empty, 0, 0)(); ok || drawn > 0 {
			t.Errorf("%d jobs are drawn for group %d, which gets one: %v", drawn, empty, ok)
		}
	}
	for _, some := range []int{0, 3} {
		if _, ok := work(some, 0, 0)(); !ok {
			t.Errorf("group %d gets nothing", some)
		}
	}
}

// census counts what slices and maps hold, by the fields that they are, such as
// "broker.memory.jobs".
type census map[string]int

// most keeps the larger of each two counts.
func (c census) most(now census) {
	for where, n := range now {
		c[where] = max(c[where], n)
	}
}

// count adds what can be reached from v, each thing once.
func (c census) count(v reflect.Value) { c.walk(v, "", map[visited]bool{}) }

// visited is where something lies, and as what: a struct and its first field share a place.
type visited struct {
	at uintptr
	as reflect.Type
}

func (c census) walk(v reflect.Value, where string, seen map[visited]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if k := (visited{v.Pointer(), v.Type()}); !v.IsNil() && !seen[k] {
			seen[k] = true
			c.walk(v.Elem(), where, seen)
		}
	case reflect.Interface:
		if !v.IsNil() {
			c.walk(v.Elem(), where, seen)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.walk(v.Field(i), v.Type().String()+"."+v.Type().Field(i).Name, seen)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			if k := (visited{v.Pointer(), v.Type()}); v.Len() == 0 || seen[k] {
				return
			} else {
				seen[k] = true
			}
			c[where] += v.Len()
		}
		for i := range v.Len() {
			c.walk(v.Index(i), where, seen)
		}
	case reflect.Map:
		if k := (visited{v.Pointer(), v.Type()}); v.IsNil() || seen[k] {
			return
		} else {
			seen[k] = true
		}
		c[where] += v.Len()
		for each := v.MapRange(); each.Next(); {
			c.walk(each.Key(), where, seen)
			c.walk(each.Value(), where, seen)
		}
	}
}
