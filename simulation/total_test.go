package simulation

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// twoVOs are two VOs of unlike size on two sites.
const twoVOs = `
until = "3d"
[[site]]
name = "north"
pricing = "adaptive"
[[site.group]]
name = "main"
nodes = 24
price = 1.0
[site.workload]
model = "lublin"
load = 0.5
[[site]]
name = "south"
[[site.group]]
name = "main"
nodes = 16
price = 2.0
[[broker]]
name = "vo1"
budget = 400.0
cycle = "30m"
horizon = "1d"
[broker.workload]
model = "uniform"
jobs = 60
days = 2
nodes = [1, 12]
[[broker]]
name = "vo2"
budget = 90.0
cycle = "1h"
horizon = "1d"
minimize = "time"
[broker.workload]
model = "uniform"
jobs = 25
days = 2
nodes = [1, 4]
`

// The row of all VOs adds up what they paid, placed and lost. Its mean wait is over all of their
// jobs, counted here from the rows of jobs.csv. The views show the row.
func TestTotal_OfAllVOs(t *testing.T) {
	t.Parallel()
	r, files := simulated(t, twoVOs, 4)
	all, a, b := r.Summary.AllVOs, &r.Summary.Brokers[0], &r.Summary.Brokers[1]
	if all == nil || a.Jobs.Placed == 0 || b.Jobs.Placed == 0 || a.Jobs.Placed == a.Jobs.Submitted {
		t.Fatalf("%+v", r.Summary.Brokers)
	}
	sums := [][3]int64{
		{int64(all.Jobs.Submitted), int64(a.Jobs.Submitted), int64(b.Jobs.Submitted)}, {int64(all.Jobs.Placed), int64(a.Jobs.Placed), int64(b.Jobs.Placed)},
		{int64(all.Jobs.CoAllocated), int64(a.Jobs.CoAllocated), int64(b.Jobs.CoAllocated)}, {int64(all.Jobs.Failed), int64(a.Jobs.Failed), int64(b.Jobs.Failed)},
		{int64(all.Cost.Total), int64(a.Cost.Total), int64(b.Cost.Total)}, {int64(all.Cost.Additive), int64(a.Cost.Additive), int64(b.Cost.Additive)},
		{int64(all.Spent), int64(a.Spent), int64(b.Spent)}, {int64(all.Left), int64(a.Left), int64(b.Left)}, {int64(all.Budget), int64(a.Budget), int64(b.Budget)},
		{int64(all.Value.Total), int64(a.Value.Total), int64(b.Value.Total)}, {int64(all.Value.Unplaced), int64(a.Value.Unplaced), int64(b.Value.Unplaced)},
		{int64(all.Regret), int64(a.Regret), int64(b.Regret)}, {int64(all.Transactions.Committed), int64(a.Transactions.Committed), int64(b.Transactions.Committed)},
		{int64(all.Cycles.Run), int64(a.Cycles.Run), int64(b.Cycles.Run)},
	}
	for i, s := range sums {
		if s[0] != s[1]+s[2] {
			t.Errorf("sum %d: %d is not %d + %d", i, s[0], s[1], s[2])
		}
	}
	waits, finishes := waitsOf(t, files)
	var sum, ends grid.Duration
	for i := range waits {
		sum, ends = sum+waits[i], ends+finishes[i]
	}
	n := grid.Duration(len(waits))
	slices.Sort(finishes)
	near := func(x, y grid.Duration) bool { return x-y <= 1 && y-x <= 1 }
	if len(waits) != all.Jobs.Placed || !near(all.MeanWait, sum/n) || !near(all.MeanFinish, ends/n) || all.Finish90 != finishes[(9*len(finishes)+9)/10-1] {
		t.Errorf("%d jobs wait %v, end after %v; the total says %d, %v, %v, nine of ten %v", n, sum/n, ends/n, all.Jobs.Placed, all.MeanWait, all.MeanFinish, all.Finish90)
	}
	var table bytes.Buffer
	if err := r.Summary.WriteTables(&table); err != nil || !strings.Contains(table.String(), "\nall VOs ") {
		t.Errorf("no row of all VOs:\n%s", table.String())
	}
	if !slices.ContainsFunc(r.Summary.Figures(), func(f report.Figure) bool { return f.Owner == report.AllVOs && f.Measure == "cost credits" }) {
		t.Error("no figures of all VOs")
	}
}

// waitsOf are, of the VOs' jobs in the rows of a run, the time from submission to the first
// start and to the last end. The windows of this world end as they were reserved.
func waitsOf(t *testing.T, files string) (waits, finishes []grid.Duration) {
	t.Helper()
	type key struct{ broker, job string }
	start, end, submit := map[key]grid.Time{}, map[key]grid.Time{}, map[key]grid.Time{}
	var order []key
	for line := range strings.SplitSeq(files, "\n") {
		f := strings.Split(line, ",")
		if len(f) < 11 || f[3] != "vo" || f[1] == "" {
			continue
		}
		k := key{f[0], f[2]}
		s := seconds(t, f[5])
		if _, seen := start[k]; !seen {
			order = append(order, k)
			start[k] = s
		}
		submit[k], start[k] = seconds(t, f[4]), min(start[k], s)
		end[k] = max(end[k], seconds(t, f[6]))
	}
	for _, k := range order {
		waits, finishes = append(waits, start[k].Sub(submit[k])), append(finishes, end[k].Sub(submit[k]))
	}
	return waits, finishes
}

func seconds(t *testing.T, s string) grid.Time {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return grid.Time(v*1000 + .5)
}
