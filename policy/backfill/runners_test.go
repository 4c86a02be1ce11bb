package backfill

import (
	"cmp"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"

	"pgregory.net/rapid"
)

// A plain list, sorted after each change, is the naive twin of the blocks.
func TestRunners_EqualASortedList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var r runners
		var want []Running
		id := int64(0)
		for range rapid.IntRange(1, 12).Draw(t, "waves") {
			put := rapid.IntRange(0, 3*fullBlock).Draw(t, "put")
			draw := rapid.Uint64().Draw(t, "ends")
			for range put {
				id++
				draw = draw*6364136223846793005 + 1442695040888963407
				x := Running{ID: id, Nodes: 1, End: grid.Time(draw >> 33 % 500)}
				r.put(x)
				want = append(want, x)
			}
			order := func(a, b Running) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID)) }
			slices.SortFunc(want, order)
			for range rapid.IntRange(0, len(want)).Draw(t, "taken") {
				draw = draw*6364136223846793005 + 1442695040888963407
				i := int(draw >> 33 % uint64(len(want)))
				if x := r.take(want[i].ID, want[i].End); x != want[i] {
					t.Fatalf("took %v, want %v", x, want[i])
				}
				want = slices.Delete(want, i, i+1)
			}
			if !slices.Equal(r.list(), want) {
				t.Fatalf("%d run, in another order or others than %d", len(r.list()), len(want))
			}
			if x := r.first(); (x == nil) != (len(want) == 0) || x != nil && *x != want[0] {
				t.Fatalf("the first is %v", x)
			}
			for i := range want {
				if x := r.find(want[i].ID, want[i].End); *x != want[i] {
					t.Fatalf("found %v, want %v", *x, want[i])
				}
			}
			var again runners
			if again.load(want); !slices.Equal(again.list(), want) {
				t.Fatal("loaded, it is another list")
			}
		}
	})
}

// A list of several blocks that has been asked for is not the list any more once a job has
// come, or gone, or may have been changed in place.
func TestRunners_TheListShowsTheLatestChange(t *testing.T) {
	t.Parallel()
	var r runners
	var jobs []Running
	for id := range int64(2 * fullBlock) {
		jobs = append(jobs, Running{ID: id, Nodes: 1, End: 10})
	}
	r.load(jobs)
	if n := len(r.list()); n != len(jobs) {
		t.Fatalf("%d run, want %d", n, len(jobs))
	}
	r.put(Running{ID: 1000, Nodes: 1, End: 20})
	if list := r.list(); len(list) != len(jobs)+1 || list[len(jobs)].ID != 1000 {
		t.Errorf("with one more, %d run", len(list))
	}
	r.take(0, 10)
	if list := r.list(); len(list) != len(jobs) || list[0].ID != 1 {
		t.Errorf("with one less, %d run", len(list))
	}
	r.find(1, 10).Nodes = 7
	if list := r.list(); list[0].Nodes != 7 {
		t.Errorf("job 1 has %d nodes, want 7", list[0].Nodes)
	}
}
