package shadow

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A report that meets all numbers is a go; each number alone makes it another. Of a report over
// no data there is nothing to tell.
func TestVerdict_GoesByTheNumbersOfThePage(t *testing.T) {
	t.Parallel()
	good := func() Report {
		return Report{From: 0, To: grid.Time(7 * grid.Day), Observed: 7 * grid.Day, NodeTime: 70_000 * grid.Hour, Asked: 100, Sold: 51, SoldTime: 700 * grid.Hour,
			Delayed: Waits{Jobs: 3, Time: 70 * grid.Hour, Longest: 4 * grid.Hour}, InTheWay: Waits{Jobs: 9, Time: 350 * grid.Hour, Longest: 9 * grid.Hour}}
	}
	for name, c := range map[string]struct {
		by       func(*Report)
		is, says string
	}{
		"all numbers":   {func(*Report) {}, Go, ""},
		"no data":       {func(r *Report) { *r = Report{} }, TooLittle, "nothing was observed"},
		"one look":      {func(r *Report) { *r = Report{Looks: 1, From: 5, To: 5} }, TooLittle, "two looks"},
		"six days":      {func(r *Report) { r.Observed = 6 * grid.Day }, TooLittle, "6d, of 7d"},
		"gaps":          {func(r *Report) { r.To = grid.Time(8 * grid.Day) }, TooLittle, "95 %"},
		"nobody asked":  {func(r *Report) { r.Asked, r.Sold, r.SoldTime = 0, 0, 0 }, TooLittle, "nobody asked"},
		"little sold":   {func(r *Report) { r.SoldTime -= grid.Second }, NoGo, "less than 1 %"},
		"half refused":  {func(r *Report) { r.Sold = 50 }, NoGo, "refused"},
		"longer waits":  {func(r *Report) { r.Delayed.Time += grid.Minute }, NoGo, "more than 10 %"},
		"a longer wait": {func(r *Report) { r.Delayed.Longest += grid.Second }, NoGo, "waits longer by"},
		"in the way":    {func(r *Report) { r.InTheWay.Time += grid.Minute }, NoGo, "more than 50 %"},
	} {
		r := good()
		c.by(&r)
		v := r.Verdict()
		if said := strings.Join(v.Why, "; "); v.Is != c.is || !strings.Contains(said, c.says) || (said == "") != (c.is == Go) {
			t.Errorf("%s: %+v, want %s: %s", name, v, c.is, c.says)
		}
	}
}
