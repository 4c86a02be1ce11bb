package explain

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Instants in the words of agents are shown by the reader's clock, wherever a reason stands: no
// field of an explanation is left out.
func TestShow_EveryReasonIsByTheReadersClock(t *testing.T) {
	t.Parallel()
	e := &Explanation{}
	marked := fill(reflect.ValueOf(e).Elem())
	if marked < 8 {
		t.Fatalf("%d reasons", marked)
	}
	e.Show(func(grid.Time) string { return "noon" })
	seek(t, reflect.ValueOf(e).Elem(), "Explanation")
}

// fill puts words into every reason, and an element into every list.
func fill(v reflect.Value) (marked int) {
	if r, ok := v.Addr().Interface().(*grid.Reason); ok {
		*r = grid.Because(grid.Busy, "busy until %v", grid.Calendar)
		return 1
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
			marked += fill(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			marked += fill(v.Index(0))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				marked += fill(v.Field(i))
			}
		}
	}
	return marked
}

// seek finds reasons that do not show the reader's clock.
func seek(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	if r, ok := v.Addr().Interface().(*grid.Reason); ok {
		if string(r.Detail) != "busy until noon" {
			t.Errorf("%s: %q", path, r.Detail)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct {
			seek(t, v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			seek(t, v.Index(i), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				seek(t, v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		}
	}
}

// A window is said to stay, and how to ask for another one, where that is so: its site may move one
// that was sold as flexible.
func TestShow_SaysWhatMovesAWindow(t *testing.T) {
	t.Parallel()
	const moved = "bourse modify wave --deadline"
	for says, e := range map[string]Explanation{
		"  its window stays where it is, even if nodes have become free sooner;\n  " + moved: {State: "placed"},
		"and\n      its site may start it up to 4h later;\n  " + moved:                       {State: "placed", Asked: grid.Request{Flexible: 4 * grid.Hour}},
		"wave: running since": {State: "running"},
	} {
		e.Job = "wave"
		if text := e.Text(grid.Time.String); !strings.Contains(text, says) || strings.Contains(text, moved) != (e.State == "placed") {
			t.Errorf("%s\nlacks %s", text, says)
		}
	}
}

// An alternative whose search reached its bound says so.
func TestShow_SaysThatAnAlternativeIsBounded(t *testing.T) {
	t.Parallel()
	for _, bounded := range []bool{false, true} {
		e := &Explanation{Cycle: &Cycle{Found: 1, Options: []Option{{Number: 1, Bounded: bounded}}}}
		if text := e.Text(grid.Time.String); strings.Contains(text, "; bounded: there may be") != bounded {
			t.Errorf("bounded %v:\n%s", bounded, text)
		}
	}
}
