package workload

import (
	"errors"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"

	"pgregory.net/rapid"
)

func lublinStream(speed int64) Stream {
	return Stream{Span: 7 * grid.Day, Speed: speed, Chunk: func(n int64) ([]grid.LocalJob, error) {
		return Lublin{Nodes: 64, Load: .6, Seed: uint64(n)}.Until(7 * grid.Day)
	}}
}

// Wherever a stream is taken up, it goes on with the same jobs.
func TestStream_TakenUpAnywhereGoesOnAlike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		speed := rapid.SampledFrom([]int64{1, 333, 1000, 60_000, 1_000_000}).Draw(t, "speed")
		s := lublinStream(speed)
		begun := grid.Time(rapid.Int64Range(0, 1_800_000_000_000).Draw(t, "begun"))
		next := s.From(begun, 0)
		var all []grid.LocalJob
		for range 3000 {
			j, ok := next()
			if !ok {
				break
			}
			if n := len(all); n > 0 && (j.Submit < all[n-1].Submit || j.ID == all[n-1].ID) {
				t.Fatalf("%+v comes after %+v", j, all[n-1])
			}
			all = append(all, j)
		}
		after := all[rapid.IntRange(0, len(all)-1).Draw(t, "from")].Submit + grid.Time(rapid.IntRange(0, 1).Draw(t, "beside"))
		want := slices.DeleteFunc(all, func(j grid.LocalJob) bool { return j.Submit < after })
		next = s.From(begun, after)
		for i := range want {
			if got, ok := next(); !ok || got != want[i] {
				t.Fatalf("job %d is %+v, want %+v", i, got, want[i])
			}
		}
	})
}

// At twice the speed a day's jobs come in half a day and take half as long.
func TestStream_SpeedDividesSubmitsRunsAndEstimates(t *testing.T) {
	t.Parallel()
	s := Stream{Span: grid.Day, Until: grid.Day, Speed: 2000, Chunk: func(int64) ([]grid.LocalJob, error) {
		return []grid.LocalJob{{ID: 1, Submit: 4000, Run: 1, Estimate: 9}, {ID: 2, Submit: 5001, Run: 0, Estimate: 10_000}}, nil
	}}
	next := s.From(1_000_000, 0)
	want := []grid.LocalJob{{ID: 1, Submit: 1_002_000, Run: 1, Estimate: 4}, {ID: 2, Submit: 1_002_500, Estimate: 5000}}
	for i := range want {
		if j, ok := next(); !ok || j != want[i] {
			t.Errorf("%+v, want %+v", j, want[i])
		}
	}
	if j, ok := next(); ok {
		t.Errorf("there is %+v after the end", j)
	}
}

// One without end goes on for years, and takes the memory of a chunk.
func TestStream_GoesOnForYears(t *testing.T) {
	t.Parallel()
	drawn := 0
	s := Stream{Span: grid.Day, Speed: 1000, Chunk: func(n int64) ([]grid.LocalJob, error) {
		if drawn++; n < 3650 {
			return nil, errors.New("a chunk that nobody needs")
		}
		return []grid.LocalJob{{ID: 1, Nodes: 1, Run: 1, Estimate: 1}}, nil
	}}
	j, ok := s.From(5000, grid.Time(3650*grid.Day)+5000)()
	if !ok || drawn != 1 || j.ID != 1+3650*perChunk || j.Submit != 5000+grid.Time(3650*grid.Day) {
		t.Errorf("%+v %t after %d chunks", j, ok, drawn)
	}
}
