package assign

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// draw draws a problem so small that every assignment can be tried.
func draw(rng *rand.Rand) *Problem {
	p := &Problem{Limit: grid.MaxBudget, Flows: 1 << 30}
	sites := 1 + rng.IntN(3)
	groups := 1 + rng.IntN(4)
	for range groups {
		p.Groups = append(p.Groups, Group{Site: int32(rng.IntN(sites))})
	}
	parts := 1 + rng.IntN(5)
	rules := rng.IntN(3)
	for range parts {
		x := Part{Need: 1 + rng.IntN(4), OneSite: rules > 0 && rng.IntN(3) == 0}
		for _, g := range rng.Perm(groups) {
			if rng.IntN(4) > 0 {
				x.Offers = append(x.Offers, Offer{Group: int32(g), Count: int32(1 + rng.IntN(3)), Cost: int64(g + rng.IntN(3))})
			}
		}
		p.Parts = append(p.Parts, x)
	}
	for g := range p.Groups {
		for range rng.IntN(6) {
			set := Set{uint8(1 + rng.IntN(1<<parts-1)), int32(1 + rng.IntN(4))}
			if bits.OnesCount8(set.Parts) > 1 {
				p.Groups[g].Sets = append(p.Groups[g].Sets, set)
			}
		}
		if rng.IntN(4) == 0 {
			one := uint8(1) << rng.IntN(parts)
			p.Groups[g].Gaps = append(p.Groups[g].Gaps, Gap{one, uint8(1+rng.IntN(1<<parts-1)) &^ one, int32(rng.IntN(4))})
		}
	}
	switch rng.IntN(4) {
	case 0:
		p.Together = true
	case 1:
		if p.Apart = true; p.Apart { // parts on sites of their own meet in no group
			for g := range p.Groups {
				p.Groups[g].Sets, p.Groups[g].Gaps = nil, nil
			}
			for i := range p.Parts {
				p.Parts[i].OneSite = true
			}
		}
	}
	if rng.IntN(3) == 0 {
		p.Limit = grid.Credits(rng.IntN(12))
	}
	return p
}

// try tries every assignment. It returns the least cost, and of the assignments that have it
// the first by the rule for ties.
func try(p *Problem) (cost grid.Credits, best [][]int32) {
	x := make([][]int32, len(p.Parts))
	for i := range x {
		x[i] = make([]int32, len(p.Parts[i].Offers))
	}
	var next func(part, offer, left int, sum grid.Credits)
	next = func(part, offer, left int, sum grid.Credits) {
		switch {
		case part == len(p.Parts):
			if sum <= p.Limit && allowed(p, x) && (best == nil || sum < cost || sum == cost && slices.Compare(slices.Concat(x...), slices.Concat(best...)) > 0) {
				cost, best = sum, nil
				for i := range x {
					best = append(best, slices.Clone(x[i]))
				}
			}
		case offer == len(p.Parts[part].Offers):
			if left == 0 {
				need := 0
				if part+1 < len(p.Parts) {
					need = p.Parts[part+1].Need
				}
				next(part+1, 0, need, sum)
			}
		default:
			o := &p.Parts[part].Offers[offer]
			for n := 0; n <= min(left, int(o.Count)); n++ {
				x[part][offer] = int32(n)
				next(part, offer+1, left-n, sum+grid.Credits(o.Cost*int64(n)))
			}
			x[part][offer] = 0
		}
	}
	next(0, 0, p.Parts[0].Need, 0)
	return cost, best
}

// allowed holds an assignment to all rules, word by word.
func allowed(p *Problem, x [][]int32) bool {
	of := func(g int, parts uint8) (n int32) {
		for i := range x {
			for k, o := range p.Parts[i].Offers {
				if parts&(1<<i) != 0 && int(o.Group) == g {
					n += x[i][k]
				}
			}
		}
		return n
	}
	for g := range p.Groups {
		for _, set := range p.Groups[g].Sets {
			if of(g, set.Parts) > set.Free {
				return false
			}
		}
		for _, gap := range p.Groups[g].Gaps {
			if of(g, gap.Part) > 0 && of(g, gap.Part|gap.Others) > gap.Free {
				return false
			}
		}
	}
	used := map[int32]int{} // by site: the parts there
	for i := range x {
		mine := map[int32]bool{}
		for k, n := range x[i] {
			if n > 0 {
				mine[p.Groups[p.Parts[i].Offers[k].Group].Site] = true
			}
		}
		if p.Parts[i].OneSite && len(mine) > 1 {
			return false
		}
		for s := range mine {
			used[s]++
		}
	}
	for _, n := range used {
		if p.Apart && n > 1 {
			return false
		}
	}
	return !p.Together || len(used) == 1
}

// The solver finds the least cost of all assignments, and of several the one that the rule
// for ties names.
func TestSolve_LeastOfAllAssignments(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var s Solver
	found, most := 0, 0
	for n := range 20_000 {
		p := draw(rng)
		cost, best := try(p)
		got, ok, bounded := s.Solve(p)
		if ok != (best != nil) || ok && got != cost || bounded {
			t.Fatalf("problem %d: cost %v, found %v, want %v, %v: %+v", n, got, ok, cost, best != nil, p)
		}
		most = max(most, s.used)
		for i := range best {
			if !slices.Equal(s.Taken(i), best[i]) {
				t.Fatalf("problem %d: part %d has %v, want %v: %+v", n, i, s.Taken(i), best[i], p)
			}
		}
		if ok {
			found++
		}
	}
	if found < 4_000 || most < 10 {
		t.Errorf("%d of the problems can be solved, with %d flows at most: they try too little", found, most)
	}
}

// Parts of one site each are given to sites set by set, with all ties.
func TestSolve_PartsOfOneSiteEach(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	var s Solver
	found, shared := 0, 0
	for n := range 8_000 {
		p := draw(rng)
		p.Together, p.Apart = false, false
		sites := 2 + rng.IntN(4)
		for g := range p.Groups {
			p.Groups[g].Site = int32(rng.IntN(sites))
		}
		for i := range p.Parts {
			p.Parts[i].OneSite = true
			for k := range p.Parts[i].Offers {
				p.Parts[i].Offers[k].Cost = int64(rng.IntN(3))
			}
		}
		cost, best := try(p)
		got, ok, bounded := s.Solve(p)
		if ok != (best != nil) || ok && got != cost || bounded {
			t.Fatalf("problem %d: cost %v, found %v, want %v, %v: %+v", n, got, ok, cost, best != nil, p)
		}
		for i := range best {
			if !slices.Equal(s.Taken(i), best[i]) {
				t.Fatalf("problem %d: part %d has %v, want %v: %+v", n, i, s.Taken(i), best[i], p)
			}
		}
		if ok {
			found++
		}
		if s.used > 0 {
			shared++
		}
	}
	if found < 1_500 || shared < 400 {
		t.Errorf("%d of the problems can be solved, %d take a flow: they try too little", found, shared)
	}
}

// Parts that start together are a single flow, whatever their number.
func TestSolve_NestedSetsAreOneFlow(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var s Solver
	for range 500 {
		p := draw(rng)
		p.Together, p.Apart = false, false
		for g := range p.Groups {
			p.Groups[g].Gaps, p.Groups[g].Sets = nil, nil
			parts, free := uint8(1<<len(p.Parts)-1), int32(6)
			for i := range p.Parts {
				p.Parts[i].OneSite = false
				p.Groups[g].Sets = append(p.Groups[g].Sets, Set{parts, free})
				parts, free = parts&^(1<<i), free-int32(rng.IntN(3))
			}
		}
		if s.Solve(p); s.used > 1 {
			t.Fatalf("%d flows: %+v", s.used, p)
		}
	}
}

// Beyond the bound on flows the best assignment so far stands, and the answer says so.
func TestSolve_SaysThatItIsBounded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var s, exact Solver
	stood := 0
	for range 5_000 {
		p := draw(rng)
		exact.Solve(p)
		least, used := exact.best.cost, exact.used
		if p.Flows = used - 1; p.Apart || used < 2 {
			continue
		}
		cost, found, bounded := s.Solve(p)
		if !bounded {
			t.Fatalf("of %d flows %d were enough: %+v", used, s.used, p)
		}
		if found {
			stood++
			x := make([][]int32, len(p.Parts))
			for i := range x {
				x[i] = s.Taken(i)
			}
			if cost < least || !allowed(p, x) {
				t.Fatalf("cost %v, the least is %v: %v of %+v", cost, least, x, p)
			}
		}
	}
	if stood == 0 {
		t.Error("no assignment stood at the bound")
	}
}
