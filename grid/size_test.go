package grid

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Cover holds each part by itself, and nothing that none of them needs.
func TestCover_IsTheLeastThatHoldsEachPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts []Part
		most := map[[2]int]int32{} // by group and instant
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			p := Part{Group: int32(rapid.IntRange(0, 2).Draw(t, "group")), Count: int32(rapid.IntRange(1, 4).Draw(t, "count"))}
			p.Start = Time(rapid.IntRange(0, 8).Draw(t, "start"))
			p.End = p.Start + Time(rapid.IntRange(1, 5).Draw(t, "for"))
			parts = append(parts, p)
			for at := p.Start; at < p.End; at++ {
				k := [2]int{int(p.Group), int(at)}
				most[k] = max(most[k], p.Count)
			}
		}
		for _, p := range Cover(parts) {
			for at := p.Start; at < p.End; at++ {
				k := [2]int{int(p.Group), int(at)}
				if most[k] != p.Count {
					t.Fatalf("%v: %d nodes at %d, want %d", parts, p.Count, at, most[k])
				}
				delete(most, k)
			}
		}
		if len(most) > 0 {
			t.Fatalf("%v: not held are %v", parts, most)
		}
	})
}

func TestDealt_HasEverySizeOnceWhateverTheBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var r Request
		var sizes []Size
		for n := range rapid.IntRange(1, 40).Draw(t, "sizes") {
			sizes = append(sizes, Size{Nodes: n + 1, Length: Hour})
		}
		r.Mold(sizes)
		list := r.Dealt(rapid.IntRange(0, 50).Draw(t, "bound"))
		slices.SortFunc(list, Size.compare)
		if !slices.Equal(list, r.Preferred()) || list[0] != (Size{r.Nodes, r.Length}) {
			t.Fatalf("%v of %v", list, sizes)
		}
	})
}

// Of sizes with the same amount of work, the one with the fewest nodes represents the job.
func TestMold_LeastWorkTiesFewestNodes(t *testing.T) {
	t.Parallel()
	var r Request
	r.Mold([]Size{{2, 100}, {4, 40}, {8, 20}, {16, 20}})
	if r.Nodes != 4 || r.Length != 40 || len(r.Sizes) != 4 || r.Shortest() != 20 {
		t.Errorf("%+v", r)
	}
}
