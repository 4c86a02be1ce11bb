package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

func TestCopy_CopiesStandDirectlyAfterTheirOriginals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "n")
		share := rapid.Float64Range(0, 3).Draw(t, "share")
		seed := rapid.Uint64().Draw(t, "seed")
		jobs := make([]grid.LocalJob, n)
		for i := range jobs {
			jobs[i] = grid.LocalJob{ID: int64(i + 1), Submit: grid.Time(i / 2), Nodes: i, Run: 5, Estimate: 6}
		}
		all, err := Copy(jobs, share, rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			t.Fatal(err)
		}
		whole, rest := math.Modf(share)
		if want := n*(1+int(whole)) + int(math.Round(rest*float64(n))); len(all) != want {
			t.Fatalf("%d jobs of %d with share %v, want %d", len(all), n, share, want)
		}
		next, original := int64(n), grid.LocalJob{}
		var kept []grid.LocalJob
		for _, j := range all {
			if j.ID <= int64(n) {
				kept, original = append(kept, j), j
				continue
			}
			if next++; j.ID != next {
				t.Fatalf("copy has ID %d, want %d", j.ID, next)
			}
			if j.ID = original.ID; j != original {
				t.Fatalf("copy %+v after %+v", j, original)
			}
		}
		if !slices.Equal(kept, jobs) {
			t.Fatal("the originals changed")
		}
		again, _ := Copy(jobs, share, rand.New(rand.NewPCG(seed, 1)))
		if !slices.Equal(all, again) {
			t.Fatal("one seed, two outcomes")
		}
	})
}

func TestDraw_EveryIndexIsAsLikely(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var hits [10]int
	for range 20_000 {
		for _, i := range Draw(10, 0.3, r) {
			hits[i]++
		}
	}
	for i, n := range hits {
		near(t, "hits of "+string(rune('0'+i)), float64(n), 6000, 300)
	}
}

func TestCopy_RefusesAShareOutOfRange(t *testing.T) {
	t.Parallel()
	jobs := draw(t, Lublin{Nodes: 64, Seed: 2}, 100)
	for _, share := range []float64{-0.1, math.NaN(), 101} {
		if _, err := Copy(jobs, share, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("share %v is copied", share)
		}
	}
}

// offeredLoad is the node-seconds that jobs ask for over what nodes have between
// the first submit and the last; 0 if all are submitted at once. Jobs must be in
// order of submit.
func offeredLoad(jobs []grid.LocalJob, nodes int) float64 {
	if len(jobs) == 0 {
		return 0
	}
	work := 0.0
	for i := range jobs {
		work += float64(jobs[i].Nodes) * jobs[i].Run.Seconds()
	}
	span := jobs[len(jobs)-1].Submit.Sub(jobs[0].Submit).Seconds()
	if span == 0 {
		return 0
	}
	return work / (span * float64(nodes))
}
