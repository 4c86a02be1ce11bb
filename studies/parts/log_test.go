package parts

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

// The waits by hand: in each of three weeks two users of each site, of whom the second waits
// longer by the week's number of hours if wide jobs lie on two sites. The second site has them a
// week later, and they count in the week of the log. Who has not started in one of two runs is
// left out.
func TestRows_WeeksByHand(t *testing.T) {
	t.Parallel()
	b := &beside{Log: Log{Name: "L", Nodes: 4}, span: 3 * 7 * grid.Day}
	var none, some waited
	for site := range b.own {
		none[site], some[site] = []float32{0}, []float32{0}
		for week := range 3 {
			for user := range 2 {
				b.own[site] = append(b.own[site], grid.LocalJob{ID: int64(len(none[site])), Submit: grid.Time((week+site)%3)*grid.Time(7*grid.Day) + grid.Time(user)})
				none[site] = append(none[site], 1)
				some[site] = append(some[site], float32(1+user*(week+1)))
			}
		}
		b.own[site] = append(b.own[site], grid.LocalJob{ID: 7, Submit: b.own[site][5].Submit})
		none[site], some[site] = append(none[site], 99), append(some[site], float32(math.NaN()))
	}
	_, more, jobs := b.weeks([]waited{some}, []waited{none})
	for week := range 3 {
		if more[week] != 2*float64(week+1) || jobs[week] != 4 {
			t.Errorf("week %d: %v h more of %v jobs", week, more[week], jobs[week])
		}
	}
	rows := b.rows([]waited{none, none, some, some}, 1)
	for _, r := range rows {
		want := map[string]float64{"L, 20 % co-allocated": 0, "L, 50 % co-allocated": 1, "L, 100 % co-allocated": 1}[r.Setting]
		if strings.HasSuffix(r.Measure, spreadMore) && (r.Here != want || r.Runs != 3 || r.Over != weekly || (r.CI95 > 0) != (want > 0)) {
			t.Errorf("%+v", r)
		}
	}
	if len(rows) != 7 {
		t.Errorf("%d rows", len(rows))
	}
}

// Beside a log each of its jobs runs at both sites, the second half of the span later there,
// and wide jobs are drawn over the whole of it.
func TestBeside_TheLogIsAtBothSites(t *testing.T) {
	t.Parallel()
	jobs, err := workload.Lublin{Nodes: 32, Load: 0.6, Seed: 1}.Until(8 * grid.Day)
	if err != nil {
		t.Fatal(err)
	}
	jobs = append(jobs, grid.LocalJob{ID: 9, Submit: jobs[len(jobs)-1].Submit, Run: grid.Hour, Estimate: grid.Hour, Nodes: 33}) // it fits nowhere
	b, err := newBeside(Log{Name: "drawn", Nodes: 32, Jobs: jobs})
	if err != nil || len(b.own[0]) != len(jobs)-1 || len(b.own[1]) != len(jobs)-1 {
		t.Fatalf("%d and %d of %d jobs, %v", len(b.own[0]), len(b.own[1]), len(jobs), err)
	}
	var by [2]waited
	for i, x := range []spreads{{"none", 0}, {"all", 100}} {
		if by[i], err = b.run(&x, 1); err != nil {
			t.Fatal(err)
		}
	}
	differ := 0
	for site := range b.own {
		for _, j := range b.own[site] {
			if math.IsNaN(float64(by[0][site][j.ID])) {
				t.Errorf("job %d has not started at site %d", j.ID, site)
			}
			if by[0][site][j.ID] != by[1][site][j.ID] {
				differ++
			}
		}
	}
	if differ == 0 {
		t.Error("no user waits longer or less")
	}
	if _, err := newBeside(Log{Name: "none", Nodes: 4}); err == nil {
		t.Error("a log without jobs is beside nobody")
	}
}
