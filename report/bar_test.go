package report

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/lanes"
)

func TestLay_FirstGapThatIsHighEnough(t *testing.T) {
	t.Parallel()
	bars := []bar{
		{nodes: 2, start: 0, end: 10, vo: true},
		{nodes: 3, start: 0, end: 5, vo: true},
		{nodes: 2, start: 0, end: 20},
		{nodes: 3, start: 5, end: 10, vo: true}, // takes the very lanes that were let go
		{nodes: 1, start: 7, end: 8},
	}
	laid, err := lay(bars, 8)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"[{0 3}]", "[{3 2}]", "[{6 2}]", "[{0 3}]", "[{5 1}]"}
	for i := range want {
		if fmt.Sprint(laid[i]) != want[i] {
			t.Errorf("bar %d %+v lies in %v, want %v", i, bars[i], laid[i], want[i])
		}
	}
}

func TestLay_CutOverGapsWhereNoneIsHighEnough(t *testing.T) {
	t.Parallel()
	bars := []bar{{nodes: 2, start: 0, end: 10}, {nodes: 1, start: 0, end: 30}, {nodes: 1, start: 0, end: 10}, {nodes: 3, start: 10, end: 20, vo: true}}
	laid, err := lay(bars, 4)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[{0 1} {2 2}]"; fmt.Sprint(laid[3]) != want {
		t.Errorf("the leg lies in %v, want %v", laid[3], want)
	}
}

func TestLay_NodePromisedTwiceIsAnError(t *testing.T) {
	t.Parallel()
	_, err := lay([]bar{{nodes: 2, start: 0, end: 10000}, {nodes: 2, start: 5000, end: 8000}}, 3)
	if err == nil || !strings.Contains(err.Error(), "2 nodes needed at 5 s, 1 of 3 free") {
		t.Errorf("error is %v", err)
	}
}

// Every bar gets its nodes, within the group, and no lane twice at an instant:
// whatever the bars, as long as the group has the nodes.
func TestLay_NoLaneTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 12).Draw(t, "nodes")
		free := grid.NewProfile(0, nodes)
		var bars []bar
		for range rapid.IntRange(0, 40).Draw(t, "bars") {
			n := rapid.IntRange(1, nodes).Draw(t, "n")
			d := grid.Duration(rapid.IntRange(1, 20).Draw(t, "d"))
			s := free.EarliestFit(grid.Time(rapid.IntRange(0, 60).Draw(t, "s")), n, d)
			free.Add(s, s.Add(d), -n)
			bars = append(bars, bar{nodes: n, start: s, end: s.Add(d), vo: rapid.Bool().Draw(t, "vo")})
		}
		laid, err := lay(bars, nodes)
		if err != nil {
			t.Fatal(err)
		}
		for i := range bars {
			n := 0
			for _, p := range laid[i] {
				n += p.Height
				if p.Height < 1 || p.Lane < 0 || p.Lane+p.Height > nodes {
					t.Fatalf("bar %+v lies in %v of %d lanes", bars[i], laid[i], nodes)
				}
			}
			if n != bars[i].nodes {
				t.Fatalf("bar %+v has %d lanes", bars[i], n)
			}
			for j := range i {
				if bars[j].start < bars[i].end && bars[i].start < bars[j].end && meet(laid[i], laid[j]) {
					t.Fatalf("bars %+v in %v and %+v in %v overlap", bars[i], laid[i], bars[j], laid[j])
				}
			}
		}
	})
}

func meet(a, b []lanes.Piece) bool {
	for _, p := range a {
		for _, q := range b {
			if p.Lane < q.Lane+q.Height && q.Lane < p.Lane+p.Height {
				return true
			}
		}
	}
	return false
}

// The mean over the steps is the node-time, however the bars lie to the steps.
func TestSpread_KeepsNodeTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		until := grid.Time(rapid.IntRange(1, 1000).Draw(t, "until"))
		mean := make([]float64, rapid.IntRange(1, 50).Draw(t, "steps"))
		var bars []bar
		want := 0.0
		for range rapid.IntRange(0, 20).Draw(t, "bars") {
			s := grid.Time(rapid.Int64Range(0, int64(until)-1).Draw(t, "s"))
			e := grid.Time(rapid.Int64Range(int64(s)+1, int64(until)).Draw(t, "e"))
			bars = append(bars, bar{nodes: 3, start: s, end: e})
			want += 3 * float64(e-s)
		}
		spread(mean, bars, until, func(one *bar) float64 { return float64(one.nodes) })
		got := 0.0
		for _, m := range mean {
			if m < -1e-9 {
				t.Fatalf("a step of %v nodes", m)
			}
			got += m * float64(until) / float64(len(mean))
		}
		if got < want-1e-6 || got > want+1e-6 {
			t.Fatalf("node-time %v, want %v", got, want)
		}
	})
}

func TestRuler_TicksThatPeopleCountIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		until  grid.Duration
		labels string
	}{
		{10 * grid.Second, "0 0:00:01 0:00:02"},
		{30 * grid.Minute, "0 0:05 0:10"},
		{10 * grid.Hour, "0 1 h 2 h"},
		{36 * grid.Hour, "0 3 h 6 h"},
		{30 * grid.Day, "0 5 d 10 d"},
		{365 * grid.Day, "0 30 d 60 d"},
		{100_000 * grid.Day, "0 11680 d 23360 d"},
	} {
		step := tickStep(grid.Time(c.until))
		var got []string
		for k := range 3 {
			got = append(got, tickLabel(grid.Time(k)*grid.Time(step), step))
		}
		if s := strings.Join(got, " "); s != c.labels {
			t.Errorf("a ruler of %s begins %s, want %s", c.until.Words(), s, c.labels)
		}
	}
	if got := tickLabel(grid.Time(27*grid.Hour), 3*grid.Hour); got != "1 d 3:00" {
		t.Errorf("27 h on a ruler of 3 h is %s", got)
	}
}

func TestWords_SpanAndPercent(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"59 s": span(59 * grid.Second), "1 min": span(grid.Minute), "1.5 h": span(90 * grid.Minute),
		"3.0 d": span(3 * grid.Day), "9.9 %": percent(0.0994), "10 %": percent(0.0999), "100 %": percent(1),
		"12.50": money(12_500_000), "100000": money(100_000 * grid.Credit),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMean_RoundsHalfUp(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]int64{{0, 0, 0}, {5, 2, 3}, {4, 3, 1}, {5, 3, 2}, {7, 7, 1}} {
		if got := mean(c[0], int(c[1])); got != c[2] {
			t.Errorf("mean of %d over %d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
