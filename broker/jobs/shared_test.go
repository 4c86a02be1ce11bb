package jobs

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Jobs that have nothing of their own share empty wishes, fates and submissions, which no fact
// may write to.
func TestState_WhatManyShareIsNotWritten(t *testing.T) {
	t.Parallel()
	rec := New(Config{Name: "vo1", Budget: grid.MaxBudget})
	rec.Replay(0, facts.LifeBegun{Incarnation: 1, Nonce: 7})
	for i := range 50 {
		name := fmt.Sprintf("job-%06d", i)
		id := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: uint64(i + 1)}
		leg, start := grid.LegID{Tx: id}, grid.Time(i)*grid.Time(grid.Second)
		for _, f := range []agents.Fact{
			facts.JobSubmitted{Job: grid.Job{Name: name, User: "ana", Request: grid.Request{Nodes: 4, Length: grid.Hour, Deadline: grid.Never, Budget: 10 * grid.Credit}}},
			facts.TxBegun{Tx: id, Job: name, Alternative: 1, Sites: []string{"north"},
				Legs:   []grid.Leg{{Group: "main", Nodes: 4, Start: start, End: start.Add(grid.Hour)}},
				Limits: []grid.Credits{grid.Credit}},
			facts.LegPriced{Leg: leg, Fare: grid.Fare{Base: grid.Credit}},
			facts.TxDecided{Tx: id, Job: name, Commit: true},
			facts.LegClosed{Leg: leg, Commit: true, Posted: grid.Credit},
		} {
			rec.Replay(0, f)
		}
	}
	for _, j := range rec.Jobs {
		j.because(grid.Because(grid.Busy, "something"))
		j.own().asked = &grid.Job{}
	}
	r := rec.Jobs[0].Request()
	r.OneSite = true
	rec.Jobs[0].ask(r, *rec.Jobs[0].wishes)
	if !rec.Jobs[0].OneSite || rec.Jobs[1].OneSite {
		t.Error("a wish of one job is not its own")
	}
	for what, shared := range map[string]any{"wishes": noWishes, "fate": noFate, "submission": noSubmission} {
		if !reflect.ValueOf(shared).IsZero() {
			t.Errorf("the %s that many share were written: %+v", what, shared)
		}
	}
}

// A stored job equals the submitted one, although parts of it are stored separately.
func TestJob_KeepsAllThatWasHandedIn(t *testing.T) {
	t.Parallel()
	plain := grid.Job{Name: "wave-k3f9m2q7", User: "ana", Request: grid.Request{Nodes: 4, Length: grid.Hour, MinPerformance: grid.Unit,
		MaxPrice: 10 * grid.Price(grid.Credit), Budget: grid.Credit, Deadline: grid.Never}}
	plain.Origin = grid.Origin{Batch: "b-1", Digest: "d", Label: "wave", Notify: "https://x"}
	odd := plain
	odd.Priority, odd.Run, odd.OneSite, odd.After, odd.Gap = 3, 5, true, grid.Dependencies(grid.IfAny, "a"), 7
	odd.Require.GPUs, odd.Minimize, odd.Flexible, odd.Fix, odd.Phi = 2, grid.GoalCost, 9, 11, 13
	odd.Sizes, odd.Urgency, odd.Work = []grid.Size{{Nodes: 1, Length: 2}}, 17, &grid.Work{}
	odd.Origin.Label = "another"
	for _, x := range []grid.Job{plain, odd, {}} {
		if got := NewJob(x).Whole(); !reflect.DeepEqual(got, x) {
			t.Errorf("%+v, want %+v", got, x)
		}
	}
	if a, b := NewJob(plain), NewJob(plain); a.wishes != b.wishes || a.fate != b.fate {
		t.Error("what few jobs have takes room in one that has none of it")
	}
}

// A job keeps whatever is asked for, each field by itself: one that is forgotten would be lost
// with the first image.
func TestJob_KeepsEachFieldOfARequest(t *testing.T) {
	t.Parallel()
	fields := 0
	each(reflect.TypeFor[grid.Job](), nil, func(path []int) {
		var x grid.Job
		f := reflect.ValueOf(&x).Elem().FieldByIndex(path)
		name := reflect.TypeFor[grid.Job]().FieldByIndex(path).Name
		if reflect.TypeFor[grid.Job]().Field(path[0]).Name == "Array" { // an array keeps its own
			return
		}
		fields++
		some(f)
		if got := NewJob(x).Whole(); !reflect.DeepEqual(got, x) {
			t.Errorf("%s: %+v became %+v", name, x, got)
		}
	})
	if fields < 35 {
		t.Errorf("only %d fields were tried", fields)
	}
}

// each visits the fields of a type that are no structures, by their paths.
func each(of reflect.Type, path []int, visit func([]int)) {
	for i := range of.NumField() {
		p := append(slices.Clone(path), i)
		if f := of.Field(i); f.Type.Kind() == reflect.Struct {
			each(f.Type, p, visit)
		} else if f.IsExported() {
			visit(p)
		}
	}
}

// some sets a field to a value that it does not have by itself.
func some(f reflect.Value) {
	switch f.Kind() {
	case reflect.Bool:
		f.SetBool(true)
	case reflect.String:
		f.SetString("x")
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		f.SetUint(1)
	default:
		f.SetInt(1)
	}
}
