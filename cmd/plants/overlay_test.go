package main

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents/plant"
)

// Every edit of every bug finds its lines in the tree as it is.
func TestPlants_ApplyToTheTree(t *testing.T) {
	t.Parallel()
	bugs := plant.List()
	files, err := overlay("../..", bugs)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		for _, e := range b.Edits {
			if guard := `planted.On("` + b.Name + `")`; !strings.Contains(files[e.File], guard) {
				t.Errorf("%s is without %s", e.File, guard)
			}
		}
	}
}

// A function that two bugs edit keeps its own body, and has one for each.
func TestPlants_EachHasItsOwnBody(t *testing.T) {
	t.Parallel()
	const source = "package p\n\nfunc f() {\n\ta()\n\tb()\n}\n\nfunc g() int { return 1 }\n"
	got, err := plantAll("p.go", source, []plant.Bug{
		{Name: "x", Edits: []plant.Edit{{Old: "\ta()\n", New: ""}, {Old: "\tb()\n", New: "\tc()\n"}}},
		{Name: "y", Edits: []plant.Edit{{Old: "\ta()\n\tb()\n", New: "\tb()\n\ta()\n"}}},
	})
	want := `package p; import planted "github.com/bourse-grid/bourse/agents/plant"

func f() {
if planted.On("x") {
	c()

return
}
if planted.On("y") {
	b()
	a()

return
}
//line p.go:3

	a()
	b()
}

func g() int { return 1 }
`
	if err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestPlants_RefuseWhatDoesNotApply(t *testing.T) {
	t.Parallel()
	const source = "package p\n\nvar v = 1\n\nfunc f() {\n\ta()\n\ta()\n\tb()\n\tc()\n}\n"
	for _, c := range []struct {
		edits []plant.Edit
		want  string
	}{
		{[]plant.Edit{{Old: "\td()\n"}}, "has them 0 times"},
		{[]plant.Edit{{Old: "\ta()\n"}}, "has them 2 times"},
		{[]plant.Edit{{Old: "var v = 1\n"}}, "within one function's body"},
		{[]plant.Edit{{Old: "\tb()\n"}, {Old: "\tb()\n\tc()\n"}}, "overlap"},
		{[]plant.Edit{{Old: "\tb()\n", New: "\tb(\n"}}, "with its planted bugs"},
	} {
		_, err := plantAll("p.go", source, []plant.Bug{{Name: "x", Edits: c.edits}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.edits, err, c.want)
		}
	}
}
