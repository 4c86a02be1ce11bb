package search

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// The first windows of a moldable job are those that each of its sizes has as a
// rigid job in the same list, and what is left of the list afterwards still holds
// every one of its alternatives beside those of all other jobs.
func TestBatch_MoldableJobHasTheWindowsOfAllItsSizes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		groups, free := drawGroups(t)
		to := 30 * instant
		jobs := []grid.Request{drawSizes(t), drawRequest(t), drawSizes(t)}
		a := rapid.SampledFrom([]Algorithm{ALP, AMP}).Draw(t, "algorithm")
		l := fungible(groups, free, 0, to)
		f := NewFinder(l)
		alone := map[int]grid.Window{}
		for _, z := range jobs[0].Preferred() {
			if w, why := f.Find(jobs[0].At(z), a, Weights{}, 0); !why.Refused() {
				w.Parts = slices.Clone(w.Parts)
				alone[z.Nodes] = w
			}
		}
		r := f.Batch(jobs, Options{Algorithm: a})
		for _, w := range r.Alternatives[0] {
			want, ok := alone[w.Nodes()]
			if !ok {
				continue
			}
			if w.Start != want.Start || w.Cost != want.Cost {
				t.Fatalf("on %d nodes the first window is %+v, alone it is %+v", w.Nodes(), w, want)
			}
			delete(alone, w.Nodes())
		}
		if len(alone) > 0 {
			t.Fatalf("no alternative of the sizes %+v", alone)
		}
		for j, windows := range r.Alternatives {
			if (len(windows) == 0) != r.Reasons[j].Refused() {
				t.Fatalf("job %d: %d alternatives, reason %v", j, len(windows), r.Reasons[j])
			}
			var parts []grid.Part
			for _, w := range windows {
				parts = append(parts, w.Parts...)
			}
			if len(jobs[j].Sizes) > 0 {
				// Windows of one pass may overlap; taken out was at least what holds each.
				parts = grid.Cover(parts)
			}
			for _, p := range parts {
				if free[p.Group].Min(p.Start, p.End) < int(p.Count) {
					t.Fatalf("job %d: %+v overlaps what others have", j, p)
				}
				free[p.Group].Add(p.Start, p.End, -int(p.Count))
			}
		}
	})
}

// drawSizes is a moldable request.
func drawSizes(t *rapid.T) grid.Request {
	r := drawRequest(t)
	sizes := []grid.Size{{Nodes: r.Nodes, Length: r.Length}}
	for range rapid.IntRange(1, 3).Draw(t, "sizes") {
		z := sizes[len(sizes)-1]
		z.Nodes += rapid.IntRange(1, 2).Draw(t, "more")
		z.Length -= grid.Duration(rapid.Int64Range(0, int64(z.Length)/2).Draw(t, "less"))
		sizes = append(sizes, z)
	}
	r.Mold(sizes)
	return r
}

// A bound on alternatives is dealt among the sizes: where it allows fewer windows
// than there are sizes, they are from all over the range, and where those have
// none, of the others.
func TestBatch_BoundIsDealtAmongTheSizes(t *testing.T) {
	t.Parallel()
	r := grid.Request{MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: grid.Never}
	var sizes []grid.Size
	for n := 1; n <= 12; n++ {
		sizes = append(sizes, grid.Size{Nodes: n, Length: grid.Hour})
	}
	r.Mold(sizes)
	for _, c := range []struct {
		free int
		want []int
	}{{12, []int{1, 5, 9}}, {8, []int{1, 5, 2}}, {1, []int{1, 1, 1}}} {
		groups := []grid.Group{{Site: "north", Name: "main", Nodes: 12, Performance: grid.Unit}}
		l := fungible(groups, []grid.Profile{grid.NewProfile(0, c.free)}, 0, grid.Time(grid.Day))
		var got []int
		for _, w := range Batch(l, []grid.Request{r}, Options{Algorithm: AMP, MaxAlternatives: 3}).Alternatives[0] {
			got = append(got, w.Nodes())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("with %d nodes free: %v, want %v", c.free, got, c.want)
		}
	}
}
