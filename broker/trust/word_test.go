package trust

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Three broken words within an hour make a site come last for an hour. One list that the
// record contradicts is enough, unless its legs are just too many or too dear.
func TestTrust_WhoBreaksItsWordComesLast(t *testing.T) {
	t.Parallel()
	const hour = grid.Time(grid.Hour)
	x := New()
	for _, at := range []grid.Time{0, hour, hour + 1} { // the first is too long ago
		x.ApplyBroken(at, facts.WordBroken{Site: "north"})
	}
	if until, last := x.Last(hour+1, "north"); last || until != 0 || x.Broken("north") != 3 {
		t.Errorf("after two within an hour north comes last until %v", until)
	}
	x.ApplyBroken(2*hour-1, facts.WordBroken{Site: "north"})
	if until, last := x.Last(3*hour-2, "north"); !last || until != 3*hour-1 {
		t.Errorf("after three it comes last until %v, want 3 h but 1 ms", until)
	}
	if _, last := x.Last(3*hour-1, "north"); last {
		t.Error("after an hour it still comes last")
	}
	if x.ApplyDisowned(0, facts.LegsDisowned{Site: "south", Legs: 9, Reason: grid.Reason{Code: grid.TooDear}}) || x.Broken("south") != 0 {
		t.Error("legs that are too dear are broken words")
	}
	if !x.ApplyDisowned(2*hour, facts.LegsDisowned{Site: "south", Legs: 1, Reason: grid.Reason{Code: grid.Invalid}}) || x.Broken("south") != 3 {
		t.Errorf("south has broken %d words, want 3", x.Broken("south"))
	}
	x.ApplyBarred(facts.UserBarred{Site: "west", User: "ana", Until: 9 * hour, Wait: grid.Hour})
	var image facts.BrokerImage
	x.Image(&image)
	again := New()
	again.ApplyBroken(0, facts.WordBroken{Site: "east"})
	if again.Load(&image); !reflect.DeepEqual(again, x) {
		t.Errorf("the image gives %+v, not %+v", again, x)
	}
	sites := slices.Values([]string{"east", "north", "south", "west"})
	want := []facts.UserBarred{{Site: "north", Until: 3*hour - 1, Last: true}, {Site: "south", Until: 3 * hour, Last: true}}
	if got := again.AllLast(2*hour, sites); !reflect.DeepEqual(got, want) {
		t.Errorf("last come %+v, want %+v", got, want)
	}
	if got := again.Among(2*hour, "ana", sites); len(got) != 1 || got[0].Site != "west" {
		t.Errorf("ana is barred from %+v, want west", got)
	}
}
