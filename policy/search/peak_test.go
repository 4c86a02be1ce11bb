package search

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse"
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
		var groups []bourse.Group
		var free []bourse.Profile
		for g := range n(1, 6, "groups") {
			groups = append(groups, bourse.Group{Site: string(rune('a' + g)), Name: "p", Nodes: 9,
				Performance: bourse.Performance(500 * n(2, 4, "performance")), Price: bourse.Price(100_000 * n(0, 3, "price"))})
			p := bourse.NewProfile(0, 0)
			for range n(0, 8, "steps") {
				at := minute * bourse.Time(n(0, 190, "at"))
				p.Add(at, at.Add(bourse.Minute*bourse.Duration(n(1, 80, "for"))), n(1, 2, "free"))
			}
			free = append(free, p)
		}
		o := Options{Algorithm: []Algorithm{AMP, AMP, ALP, AMPLiteral}[n(0, 3, "algorithm")], MaxAlternatives: n(1, 5, "most"), Notice: minute * bourse.Time(n(0, 20, "notice"))}
		jobs := make([]bourse.Request, n(30, 120, "jobs"))
		for i := range jobs {
			j := &jobs[i]
			*j = bourse.Request{Nodes: n(1, 9, "nodes"), Length: bourse.Minute * bourse.Duration(n(10, 200, "length")), MinPerformance: bourse.Performance(500 * n(1, 3, "min performance")),
				MaxPrice: bourse.Price(100_000 * n(1, 4, "max price")), Budget: 20_000 * bourse.Credits(n(0, 1, "rich")*1000+n(1, 40, "budget")), Deadline: bourse.Never, OneSite: n(0, 9, "one site") == 0}
			switch n(0, 9, "bound") {
			case 0:
				j.Deadline = minute * bourse.Time(n(60, 200, "deadline"))
			case 1:
				j.Ready = minute * bourse.Time(n(0, 100, "ready"))
			}
		}
		plain, quick := NewFinder(fungible(groups, free, 0, 200*minute)), NewFinder(fungible(groups, free, 0, 200*minute))
		plain.rooms.off = true
		want, got := plain.Batch(jobs, o), quick.Batch(jobs, o)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("with peaks\n%+v\nwithout\n%+v", got, want)
		}
		for i := range jobs {
			if want.Reasons[i].Code != bourse.NoWindow {
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
