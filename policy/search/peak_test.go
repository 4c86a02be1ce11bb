package search

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"pgregory.net/rapid"
)

// Above the capacity of a grid a batch with peaks finds the same windows and says the same
// of those who have none as one that scans for every job, while most are refused without a
// scan: with nodes of several speeds, jobs that start late or must end soon, and windows
// taken in between.
func TestBatch_PeaksTellWhatScansWould(t *testing.T) {
	t.Parallel()
	refused, told := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := func(low, high int, what string) int { return rapid.IntRange(low, high).Draw(t, what) }
		var groups []grid.Group
		var free []grid.Profile
		for g := range n(1, 6, "groups") {
			groups = append(groups, grid.Group{Site: string(rune('a' + g)), Name: "p", Nodes: 9,
				Performance: grid.Performance(500 * n(2, 4, "performance")), Price: grid.Price(100_000 * n(0, 3, "price"))})
			p := grid.NewProfile(0, 0)
			for range n(0, 8, "steps") {
				at := minute * grid.Time(n(0, 190, "at"))
				p.Add(at, at.Add(grid.Minute*grid.Duration(n(1, 80, "for"))), n(1, 2, "free"))
			}
			free = append(free, p)
		}
		o := Options{Algorithm: []Algorithm{AMP, AMP, ALP, AMPLiteral}[n(0, 3, "algorithm")], MaxAlternatives: n(1, 5, "most"), Notice: minute * grid.Time(n(0, 20, "notice"))}
		jobs := make([]grid.Request, n(30, 120, "jobs"))
		for i := range jobs {
			j := &jobs[i]
			*j = grid.Request{Nodes: n(1, 9, "nodes"), Length: grid.Minute * grid.Duration(n(10, 200, "length")), MinPerformance: grid.Performance(500 * n(1, 3, "min performance")),
				MaxPrice: grid.Price(100_000 * n(1, 4, "max price")), Budget: 20_000 * grid.Credits(n(0, 1, "rich")*1000+n(1, 40, "budget")), Deadline: grid.Never, OneSite: n(0, 9, "one site") == 0}
			switch n(0, 9, "bound") {
			case 0:
				j.Deadline = minute * grid.Time(n(60, 200, "deadline"))
			case 1:
				j.Ready = minute * grid.Time(n(0, 100, "ready"))
			}
		}
		plain, quick := NewFinder(fungible(groups, free, 0, 200*minute)), NewFinder(fungible(groups, free, 0, 200*minute))
		plain.rooms.off = true
		want, got := plain.Batch(jobs, o), quick.Batch(jobs, o)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("with peaks\n%+v\nwithout\n%+v", got, want)
		}
		for i := range jobs {
			if want.Reasons[i].Code != grid.NoWindow {
				continue
			}
			refused++
			q := quick.list.prepare(jobs[i], o.Algorithm, o.Notice)
			q.suit = quick.suitOf(&q)
			if _, known := quick.peakOf(&q); known {
				told++
			}
		}
	})
	if told*2 < refused || refused == 0 {
		t.Errorf("of %d refusals only %d are told without a scan", refused, told)
	}
}
