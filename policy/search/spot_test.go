package search

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Starts that are looked at before the walk, and slots that a pool puts aside, change no
// window of a batch: of many groups, among which most windows of a job follow one that it had.
func TestTeam_SpotsAndLazyPoolsChangeNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 22))
	weights := []Weights{{}, {Cost: 1000}, {Time: 1000, Cost: 300}, {Finish: 1000, Cost: 500}, {Value: true, Urgency: 3 * grid.Credit}}
	windows, later := 0, 0
	for n := range 40 {
		groups, free := crowdedGroups(rng, n%4 == 3)
		var jobs []grid.Request
		for range 4 {
			jobs = append(jobs, drawTeam(rng))
		}
		o := Options{Algorithm: []Algorithm{Best, AMP, Best, ALP}[n%4], Weights: weights[n%5], MaxAlternatives: 6}
		var out [2]Result
		for k := range out {
			f := NewFinder(fungible(groups, free, 0, grid.Time(grid.Day)))
			f.team.walk = k == 0
			out[k] = f.Batch(jobs, o)
		}
		if !reflect.DeepEqual(out[0], out[1]) {
			t.Fatalf("world %d, %v %+v: a walk alone finds\n%+v\nwith spots and lazy pools it is\n%+v", n, o.Algorithm, o.Weights, out[0], out[1])
		}
		for _, list := range out[0].Alternatives {
			for i := range list {
				if windows++; i > 0 && list[i].Start != list[i-1].Start {
					later++
				}
			}
		}
	}
	if windows < 300 || later < 60 {
		t.Errorf("%d windows, %d of them at another start than the one before: too few to tell", windows, later)
	}
}

// crowdedGroups draws groups of few prices that are mostly taken.
func crowdedGroups(rng *rand.Rand, padded bool) (groups []grid.Group, free []grid.Profile) {
	for g := range 40 {
		x := grid.Group{Site: fmt.Sprint("s", g%8), Name: fmt.Sprint("g", g), Nodes: 20,
			Performance: grid.Performance(500 * (1 + rng.IntN(4))), Price: grid.Price(1+rng.IntN(6)) * 1_000_000}
		if padded {
			x.Padding = grid.Minute
		}
		p := grid.NewProfile(0, x.Nodes)
		for range 40 {
			s := grid.Time(rng.IntN(20*60)) * grid.Time(grid.Minute)
			e := s + grid.Time(10+rng.IntN(240))*grid.Time(grid.Minute)
			p.Add(s, e, -min(p.Min(s, e), 1+rng.IntN(14)))
		}
		groups, free = append(groups, x), append(free, p)
	}
	return groups, free
}

// drawTeam draws a job of two to four parts.
func drawTeam(rng *rand.Rand) grid.Request {
	r := grid.Request{Deadline: grid.Never, Ready: grid.Time(rng.IntN(60)) * grid.Time(grid.Minute)}
	var parts []grid.JobPart
	for i := range 2 + rng.IntN(3) {
		p := grid.JobPart{Name: fmt.Sprint("p", i), Nodes: 1 + rng.IntN(12), Length: grid.Duration(20+rng.IntN(120)) * grid.Minute,
			MinPerformance: grid.Performance(500 * (1 + rng.IntN(2))), MaxPrice: 5_000_000, OneSite: rng.IntN(8) == 0}
		if i > 0 && rng.IntN(2) == 0 {
			p.Offset = grid.Duration(rng.IntN(60)) * grid.Minute
		}
		if rng.IntN(5) == 0 {
			p.Avoid = []string{fmt.Sprint("s", rng.IntN(8))}
		}
		parts = append(parts, p)
	}
	r.Together, r.Apart = rng.IntN(10) == 0, rng.IntN(10) == 1
	r.Money(parts, false, nil)
	return r
}
