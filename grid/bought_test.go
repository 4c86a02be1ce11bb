package grid

import (
	"reflect"
	"testing"
)

// The cost of windows is that of all of them, whatever their order, and a copy stays as it was.
func TestBought_IsOfAllWindows(t *testing.T) {
	t.Parallel()
	var b Bought
	b.Add("south", 5, 9, 2*Credit)
	before := b
	b.Add("north", -3, 4, Credit)
	b.Add("south", 6, 20, Credit)
	if want := (Bought{Sites: []string{"north", "south"}, Start: -3, End: 20, Cost: 4 * Credit}); !reflect.DeepEqual(b, want) {
		t.Errorf("%+v, want %+v", b, want)
	}
	if want := (Bought{Sites: []string{"south"}, Start: 5, End: 9, Cost: 2 * Credit}); !reflect.DeepEqual(before, want) {
		t.Errorf("the copy is %+v", before)
	}
}
