package queue

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// Due entries come in order of time, then of the legs, as from a list that is sorted.
func TestAgenda_EqualsASortedList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		lists := [2][]event{}
		for i := range rapid.IntRange(1, 80).Draw(t, "steps") {
			now := grid.Time(rapid.IntRange(0, 20).Draw(t, "at"))
			p := phase(rapid.IntRange(0, 1).Draw(t, "phase"))
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			default:
				r := &reservation{number: int64(rapid.IntRange(0, 9).Draw(t, "number")*1000 + i)}
				a.add(now, p, r)
				lists[p] = append(lists[p], event{now, r.number, r})
				slices.SortFunc(lists[p], func(x, y event) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.number, y.number)) })
			case 1, 2, 3, 4:
				var want *reservation
				if l := lists[p]; len(l) > 0 && l[0].at <= now {
					want, lists[p] = l[0].leg, l[1:]
				}
				if got := a.pop(now, p); got != want {
					t.Fatalf("at %v comes %+v, not %+v", now, got, want)
				}
			case 5:
				gone := func(r *reservation) bool { return r.number%3 == int64(now)%3 }
				a.sweep(gone)
				for k := range lists {
					lists[k] = slices.DeleteFunc(lists[k], func(e event) bool { return gone(e.leg) })
				}
			}
			next := grid.Never
			for _, l := range lists {
				if len(l) > 0 {
					next = min(next, l[0].at)
				}
			}
			if a.next() != next {
				t.Fatalf("the next is at %v, not %v", a.next(), next)
			}
		}
	})
}
