package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse"
)

func TestCopy_CopiesStandDirectlyAfterTheirOriginals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "n")
		share := rapid.Float64Range(0, 3).Draw(t, "share")
		seed := rapid.Uint64().Draw(t, "seed")
		jobs := make([]bourse.LocalJob, n)
		for i := range jobs {
			jobs[i] = bourse.LocalJob{ID: int64(i + 1), Submit: bourse.Time(i / 2), Nodes: i, Run: 5, Estimate: 6}
		}
		all, err := Copy(jobs, share, rand.New(rand.NewPCG(seed, 1)))
		if err != nil {
			t.Fatal(err)
		}
		whole, rest := math.Modf(share)
		if want := n*(1+int(whole)) + int(math.Round(rest*float64(n))); len(all) != want {
			t.Fatalf("%d jobs of %d with share %v, %d are wanted", len(all), n, share, want)
		}
		next, original := int64(n), bourse.LocalJob{}
		var kept []bourse.LocalJob
		for _, j := range all {
			if j.ID <= int64(n) {
				kept, original = append(kept, j), j
				continue
			}
			if next++; j.ID != next {
				t.Fatalf("copy has ID %d, %d is wanted", j.ID, next)
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

func TestScaleLoad_MeetsTheLoadAndKeepsTheFirstSubmit(t *testing.T) {
	t.Parallel()
	jobs := draw(t, Lublin{Nodes: 64, Seed: 2}, 3000)
	for _, load := range []float64{0.1, 0.85, 1.5} {
		scaled, err := ScaleLoad(jobs, 64, load)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "load", OfferedLoad(scaled, 64), load, 1e-6)
		if scaled[0] != jobs[0] || !slices.IsSortedFunc(scaled, func(a, b bourse.LocalJob) int { return int(a.Submit - b.Submit) }) {
			t.Error("the first submit or the order changed")
		}
	}
	for _, load := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-300} {
		if _, err := ScaleLoad(jobs, 64, load); err == nil {
			t.Errorf("load %v is met", load)
		}
	}
	if _, err := ScaleLoad(jobs[:1], 64, 0.5); err == nil {
		t.Error("one job has no gaps to scale")
	}
	if _, err := ScaleLoad(nil, 64, 0.5); err == nil {
		t.Error("no jobs have no gaps to scale")
	}
	for _, share := range []float64{-0.1, math.NaN(), 101} {
		if _, err := Copy(jobs, share, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("share %v is copied", share)
		}
	}
}
