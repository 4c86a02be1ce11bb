package names

import (
	"slices"
	"testing"
)

type colour uint8

var colours = Table[colour, bool]{"colour", []Line[bool]{{"red", "warms", true}, {"blue", "cools", false}, {"pink", "warms a little", true}}}

func TestTable_ReadsBackEachOfItsNames(t *testing.T) {
	t.Parallel()
	for k, name := range colours.Names() {
		if got, err := colours.Parse(name); err != nil || got != colour(k) || colours.Name(got) != name {
			t.Errorf("%q is read as %v, %v", name, got, err)
		}
	}
	if !colours.Known(2) || colours.Known(3) {
		t.Error("a table of three lines knows 0, 1 and 2")
	}
}

func TestTable_AnUnknownNameIsRefusedWithThoseThereAre(t *testing.T) {
	t.Parallel()
	_, err := colours.Parse("Red")
	if want := `colour "Red" is unknown; must be red, blue or pink`; !IsUnknown(err) || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestTable_NamesThoseWithAProperty(t *testing.T) {
	t.Parallel()
	warm := colours.With(func(warm *bool) bool { return *warm })
	if !slices.Equal(warm, []string{"red", "pink"}) || !*colours.Is(0) {
		t.Errorf("%q", warm)
	}
	if Quoted(warm) != `"red" or "pink"` || Or(warm[:1]) != "red" || Or(nil) != "" {
		t.Errorf("%s, %s", Quoted(warm), Or(warm[:1]))
	}
	if got, want := Lines(colours.Policies()[:2]), "  red   warms\n  blue  cools\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if p := colours.Policies(); len(p) != 3 || p[1] != (Policy{"blue", "cools"}) {
		t.Errorf("%q", p)
	}
}
