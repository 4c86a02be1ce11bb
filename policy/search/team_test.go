package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// composed is a job of parts within a budget.
func composed(budget grid.Credits, parts ...grid.JobPart) grid.Request {
	r := grid.Request{Budget: budget, Deadline: grid.Never}
	for i := range parts {
		p := &parts[i]
		p.Name, p.MinPerformance = fmt.Sprint("p", i), grid.Unit
	}
	var unpriced []int
	for i := range parts {
		unpriced = append(unpriced, i)
	}
	r.Money(parts, true, unpriced)
	return r
}

// A group of 6 with 5 free, but 6 over [12,20): x on 5 nodes for 15 s and y on 1 for 30 s, 10 s
// later, start at 2, though no sixth node is free for 30 s.
func TestTeam_AShortRiseMakesAStartPossible(t *testing.T) {
	t.Parallel()
	groups := []grid.Group{{Site: "s", Name: "g", Nodes: 6, Performance: grid.Unit, Price: 3600e6}}
	p := grid.NewProfile(0, 5)
	p.Add(12*instant, 20*instant, 1)
	job := composed(grid.MaxBudget, grid.JobPart{Nodes: 5, Length: 15 * tick}, grid.JobPart{Nodes: 1, Length: 30 * tick, Offset: 10 * tick})
	for _, x := range []struct {
		a Algorithm
		w Weights
	}{{ALP, Weights{}}, {AMP, Weights{}}, {Best, Weights{Finish: 1000}}} {
		w, why := NewFinder(fungible(groups, []grid.Profile{p}, 0, 100*instant)).Find(job, x.a, x.w, 0)
		if why.Refused() || w.Start != 2*instant || w.Time != 40*tick || len(w.Parts) != 2 {
			t.Errorf("%v: %+v %v", x.a, w, why)
		}
	}
}

// Legs of one group belong to the parts that have them, and are never merged.
func TestTeam_LegsOfAGroupStayApart(t *testing.T) {
	t.Parallel()
	groups := []grid.Group{{Site: "s", Name: "g", Nodes: 6, Performance: grid.Unit, Price: 3600e6}}
	f := NewFinder(fungible(groups, []grid.Profile{grid.NewProfile(0, 6)}, 0, 100*instant))
	w, why := f.Find(composed(grid.MaxBudget, grid.JobPart{Nodes: 2, Length: 10 * tick}, grid.JobPart{Nodes: 4, Length: 10 * tick}), AMP, Weights{}, 0)
	if why.Refused() || len(w.Parts) != 2 || w.Parts[0].Of != 0 || w.Parts[0].Count != 2 || w.Parts[1].Of != 1 || w.Parts[1].Count != 4 {
		t.Errorf("%+v %v", w, why)
	}
	if f.Take(); f.list.Free(0).Min(0, 10*instant) != 0 {
		t.Errorf("left: %v", f.list.Free(0))
	}
}

// The paper's literal AMP does not take jobs of parts, and says what does.
func TestTeam_AMPLiteralIsRefused(t *testing.T) {
	t.Parallel()
	groups := []grid.Group{{Site: "s", Name: "g", Nodes: 6, Performance: grid.Unit}}
	f := NewFinder(fungible(groups, []grid.Profile{grid.NewProfile(0, 6)}, 0, 100*instant))
	_, why := f.Find(composed(1, grid.JobPart{Nodes: 1, Length: tick}, grid.JobPart{Nodes: 1, Length: tick}), AMPLiteral, Weights{}, 0)
	if why.Code != grid.Invalid || !strings.Contains(why.Detail, "use amp, alp or best") {
		t.Errorf("%+v", why)
	}
}

// Beside jobs of one piece in a batch, alternatives overlap neither each other nor what is
// taken, and sites and avoid hold for jobs of both kinds.
func TestTeam_AlternativesOfABatchNeverOverlap(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		var jobs []grid.Request
		w := drawWorld(rng, false)
		for range 3 {
			x := drawWorld(rng, false)
			jobs = append(jobs, x.job)
			plain := x.job
			plain.Compose(x.job.Parts[:1])
			plain.Parts, plain.Together, plain.Apart = nil, false, false
			jobs = append(jobs, plain)
		}
		for g := range w.groups {
			w.groups[g].Padding = 0
		}
		l := w.list(t)
		r := NewFinder(l).Batch(jobs, Options{Algorithm: AMP, MaxAlternatives: 3})
		for g := range w.free {
			p := w.free[g].Clone()
			for i := range r.Alternatives {
				for _, a := range r.Alternatives[i] {
					for _, x := range a.Parts {
						if int(x.Group) == g {
							p.Add(x.Start, x.End, -int(x.Count))
						}
						sites, avoid := jobs[i].Sites, jobs[i].Avoid
						if jobs[i].Composed() {
							sites, avoid = jobs[i].Parts[x.Of].Sites, jobs[i].Parts[x.Of].Avoid
						}
						if site := w.groups[x.Group].Site; !grid.May(site, sites, avoid) {
							t.Fatalf("%+v of %+v is at %s", x, jobs[i], site)
						}
					}
				}
			}
			if p.Min(0, longest) < 0 {
				t.Fatalf("more nodes of group %d are taken than are free: %v", g, p)
			}
		}
	}
}

// Where prices change over time a part costs what its own hours cost, and the cheapest start
// is one of the instants of a part less its offset.
func TestTeam_CurvedPricesCountByThePartsOwnTime(t *testing.T) {
	t.Parallel()
	const minute, span = 60 * instant, 60 * tick
	curve, err := grid.NewPriceCurve([]grid.PricePiece{{From: 20 * minute, To: 30 * minute, Factor: 500}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	groups := []grid.Group{{Site: "s", Name: "g", Nodes: 4, Performance: grid.Unit, Price: 60e6, Curve: curve}} // 1 a minute
	f := NewFinder(fungible(groups, []grid.Profile{grid.NewProfile(0, 4)}, 0, 100*minute))
	job := composed(grid.MaxBudget, grid.JobPart{Nodes: 1, Length: 2 * span}, grid.JobPart{Nodes: 3, Length: 10 * span, Offset: 5 * span})
	w, why := f.Find(job, Best, Weights{Cost: 1000}, 0)
	if why.Refused() || w.Start != 15*minute || w.Cost != 2*grid.Credit+15*grid.Credit {
		t.Errorf("%+v %v", w, why)
	}
	if w, why = f.Find(job, AMP, Weights{}, 3*minute); why.Refused() || w.Start != 3*minute || w.Cost != 32*grid.Credit {
		t.Errorf("%+v %v", w, why)
	}
}

// Where the flows at a start run out, the window that stands says that it is bounded, and a
// refusal that there may be one.
func TestTeam_SaysWhereASearchIsBounded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 14))
	windows, refusals := 0, 0
	for range 3000 {
		w := drawWorld(rng, false)
		exact, why := NewFinder(w.list(t)).Find(w.job, AMP, Weights{}, w.notice)
		if exact.Bounded || strings.Contains(why.Detail, "bounded") {
			t.Fatalf("%+v %v is bounded within %d flows", exact, why, maxFlows)
		}
		f := NewFinder(w.list(t))
		f.team.flows = 2
		got, why := f.Find(w.job, AMP, Weights{}, w.notice)
		if got.Bounded {
			windows++
		}
		if strings.Contains(why.Detail, "the search was bounded") {
			refusals++
		}
		if !why.Refused() && !got.Bounded && (got.Start != exact.Start || got.Cost != exact.Cost) {
			t.Fatalf("%+v does not say that it is bounded; exactly %+v", got, exact)
		}
	}
	if windows == 0 || refusals == 0 {
		t.Errorf("%d windows and %d refusals are bounded", windows, refusals)
	}
}
