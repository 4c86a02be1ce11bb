package facts

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// fill sets every field below v to a value that is not its zero.
func fill(v reflect.Value) {
	for _, x := range []any{grid.GoalFinish, grid.IfFailed, grid.Ranges{{First: 1, Last: 2}, {First: 4, Last: 4}}, grid.Array{Indices: grid.One(4), AtOnce: 3}} {
		if v.Type() == reflect.TypeOf(x) { // not every value is one
			v.Set(reflect.ValueOf(x))
			return
		}
	}
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
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(.1)
	default:
		v.SetInt(1500)
	}
}

// A restart replays what was written down: nothing of a fact may get lost.
func TestFacts_SurviveJSON(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, zero := range Facts() {
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

// A fact that is not in the list can be written, but not read back.
func TestFacts_ListsEveryKindOfTheFile(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, f := range Facts() {
		listed[reflect.TypeOf(f).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	methods := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Kind" {
				methods++
				if name := f.Recv.List[0].Type.(*ast.Ident).Name; !listed[name] {
					t.Errorf("%s has a kind and is missing in Facts", name)
				}
			}
		}
	}
	if methods != len(Facts()) {
		t.Errorf("%d facts have a kind, %d are listed", methods, len(Facts()))
	}
}
