package bourse

import (
	"encoding/json"
	"reflect"
	"testing"
)

// facts is one of each kind.
var facts = []interface{ Kind() string }{
	JobStarted{}, JobEnded{}, JobRefused{}, NodesLocked{}, NodesFreed{}, LegMoved{}, JobSubmitted{}, CycleClosed{}, JobPostponed{},
	TxBegun{}, LegPriced{}, TxDecided{}, LegClosed{}, LegDone{},
}

// fill sets every field below v to a value that is not its zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	default:
		v.SetInt(1500)
	}
}

// A restart replays what was written down: nothing of a fact may get lost.
func TestFacts_SurviveJSON(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, zero := range facts {
		if kinds[zero.Kind()] {
			t.Errorf("two facts are called %s", zero.Kind())
		}
		kinds[zero.Kind()] = true
		want, got := reflect.New(reflect.TypeOf(zero)), reflect.New(reflect.TypeOf(zero))
		fill(want.Elem())
		b, err := json.Marshal(want.Interface())
		if err != nil {
			t.Fatalf("%s: %v", zero.Kind(), err)
		}
		if err := json.Unmarshal(b, got.Interface()); err != nil {
			t.Errorf("%s: %s is not read back: %v", zero.Kind(), b, err)
		} else if !reflect.DeepEqual(got.Interface(), want.Interface()) {
			t.Errorf("%s: %s is read back as %+v, want %+v", zero.Kind(), b, got.Elem(), want.Elem())
		}
	}
}
