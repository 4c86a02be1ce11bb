package forecast

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// expected is a forecast that is worked out elsewhere.
type expected struct {
	submit, start grid.Time
	class         Class
	calibrated    bool
	band          Band
	draws         Draws
}

// readKnown reads a file of forecasts of one level, with its tails after the last.
func readKnown(t *testing.T, name string) (level int, list []expected, low, high float64) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		head, tail, _ := strings.Cut(lines.Text(), ": ")
		var k expected
		var calibrated string
		var percent int
		if n, _ := fmt.Sscanf(head, "level %d", &percent); n == 1 {
			level, _ = LevelOf(percent)
		} else if n, _ := fmt.Sscanf(head, "low %g high %g", &low, &high); n != 2 && head[0] != '#' {
			if _, err := fmt.Sscan(head, &k.submit, &k.start, &k.class, &calibrated, &k.band.Median, &k.band.Lower, &k.band.Upper); err != nil {
				t.Fatalf("%s: %q: %v", name, head, err)
			}
			k.calibrated, k.submit, k.start = calibrated == "yes", k.submit*grid.Time(grid.Second), k.start*grid.Time(grid.Second)
			for _, word := range strings.Fields(tail) {
				var wait float64
				fmt.Sscan(word, &wait)
				k.draws = append(k.draws, wait)
			}
			list = append(list, k)
		}
	}
	return level, list, low, high
}

// Forecasts worked out by two programs apart: bounds within a second, and how far the levels
// have moved in the end.
func TestCalibrator_SaysWhatOtherProgramsWorkedOut(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cold", "one-draw", "ties"} {
		level, list, low, high := readKnown(t, "testdata/calibrate-"+name+".txt")
		if len(list) < 50 {
			t.Fatalf("%s: %d forecasts", name, len(list))
		}
		var c Calibrator
		for i, k := range list {
			for before := range list[:i] {
				if list[before].start <= k.submit {
					c.Started(int64(before), list[before].start)
				}
			}
			s := c.Say(int64(i), k.submit, k.draws)
			got := s.Bands[level]
			if s.Class != k.class || s.Calibrated != k.calibrated ||
				math.Abs(got.Median-k.band.Median) > 1 || math.Abs(got.Lower-k.band.Lower) > 1 || math.Abs(got.Upper-k.band.Upper) > 1 {
				t.Errorf("%s, forecast %d: class %d, calibrated %v, %+v; want %+v", name, i, s.Class, s.Calibrated, got, k)
			}
		}
		if l, h := c.tailsOf(level); math.Abs(l-low) > 1e-6 || math.Abs(h-high) > 1e-6 {
			t.Errorf("%s: tails %v and %v, want %v and %v", name, l, h, low, high)
		}
	}
}

// Mixtures worked out by two programs apart.
func TestMixture_IsWhatOtherProgramsWorkedOut(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"few", "some"} {
		text, err := os.ReadFile("testdata/mixture-" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var r Runs
		asked := 0
		for line := range strings.Lines(string(text)) {
			head, want, _ := strings.Cut(strings.TrimSpace(line), ":")
			var user string
			var limit, time grid.Duration
			var nodes int
			if n, _ := fmt.Sscanf(head, "ended %s %d %d %d", &user, &limit, &time, &nodes); n == 4 {
				r.Add(user, nodes, limit*grid.Second, time*grid.Second)
			} else if n, _ := fmt.Sscanf(head, "asked %s %d %d %d", &user, &limit, &time, &nodes); n == 4 {
				if asked++; time == 0 {
					time = Waits
				}
				m := r.Mixture(user, nodes, limit*grid.Second, time*max(1, grid.Second*min(1, time+1)))
				var got strings.Builder
				for _, l := range m.levels[:m.n] {
					fmt.Fprintf(&got, " %.9f (%d)", l.mass, len(l.ratios))
				}
				if got.String() != want {
					t.Errorf("%s: %s:%s, want%s", name, head, &got, want)
				}
			}
		}
		if asked != 8 {
			t.Errorf("%s: %d questions", name, asked)
		}
	}
}

// The masses by hand: 5, 10, 0, 500 and 2000 ratios left.
func TestMixture_MassesByHand(t *testing.T) {
	t.Parallel()
	var r Runs
	add := func(n int, user string, nodes int, limit, run grid.Duration) {
		for range n {
			r.Add(user, nodes, limit, run)
		}
	}
	add(2000, "ben", 1, grid.Hour, grid.Hour)
	m := r.Mixture("ben", 1, grid.Hour, Waits)
	if got := fmt.Sprintf("%.4f %.4f %.4f %.4f %.4f", m.levels[0].mass, m.levels[1].mass, m.levels[2].mass, m.levels[3].mass, m.levels[4].mass); got != "0.5000 0.3333 0.1250 0.0379 0.0038" {
		t.Errorf("5, 10, 30, 500, 2000: %s", got)
	}
	// The user's last thirty jobs are short of another limit: a job that has run half of its
	// own has outlived all of them, and the five and ten of its own limit have not been.
	add(30, "ben", 1, grid.Day, grid.Hour)
	m = r.Mixture("ben", 1, grid.Hour, grid.Hour/2)
	if got := fmt.Sprintf("%d: %.4f %.4f %.4f %.4f", m.n, m.levels[0].mass, m.levels[1].mass, m.levels[2].mass, m.levels[3].mass); got != "4: 0.5000 0.3333 0.1515 0.0152" {
		t.Errorf("5, 10, 0, 500, 1970: %s", got)
	}
	if m = r.Mixture("", 1, grid.Hour, Waits); m.n != 2 {
		t.Errorf("of somebody unknown there are %d levels", m.n)
	}
	if m = r.Mixture("ben", 1, grid.Hour, grid.Hour); m.n != 0 || m.Ratio(.5, .5) != Whole {
		t.Errorf("beyond its limit there are %d levels", m.n)
	}
}

func TestMixture_VPicksTheLevelAndUTheRatio(t *testing.T) {
	t.Parallel()
	m := Mixture{n: 2}
	m.levels[0] = part{ratios: []Ratio{1, 2, 3, 4}, upTo: .5}
	m.levels[1] = part{ratios: []Ratio{7, 8}, upTo: 1}
	for _, c := range []struct {
		v, u float64
		want Ratio
	}{{0, 0, 1}, {.4999, .25, 2}, {.4999, .9999, 4}, {.5, 0, 7}, {.9, .5, 8}, {1, 1, 8}} {
		if got := m.Ratio(c.v, c.u); got != c.want {
			t.Errorf("v %v, u %v: %d, want %d", c.v, c.u, got, c.want)
		}
	}
}

// Draws 100, 200 and 300: the median is 200, of the first class.
func TestDraws_ScoresByHand(t *testing.T) {
	t.Parallel()
	d := Draws{100, 200, 300}
	if d.At(.5) != 200 || d.Class() != 0 {
		t.Errorf("median %v, class %v", d.At(.5), d.Class())
	}
	for wait, want := range map[float64]float64{250: .75, 420: 1.2877, 100: 0, 300: 1, 20: -.6931} {
		if got := d.Score(wait); math.Abs(got-want) > 5e-5 {
			t.Errorf("score of %v: %v, want %v", wait, got, want)
		}
	}
	if got := (Draws{5, 7, 7, 7, 9}).Score(7); got != .5 {
		t.Errorf("at three ties of five the score is %v", got)
	}
	if got := (Draws{7}).Score(7); got != .5 {
		t.Errorf("of one draw at it the score is %v", got)
	}
	if got := (Draws{100, 200}).Inverse(-9); got != 0 {
		t.Errorf("far below the draws lies %v", got)
	}
}

func TestDraws_TheInverseOfAScoreIsTheWait(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := drawDraws(t)
		wait := float64(rapid.IntRange(0, 400_000).Draw(t, "wait"))
		if got := d.Inverse(d.Score(wait)); !slices.Contains(d, wait) && math.Abs(got-wait) > 1e-6*(wait+1) {
			t.Fatalf("%v of %v became %v", wait, d, got)
		}
	})
}

func TestDraws_ClassesGoUpToTheirBound(t *testing.T) {
	t.Parallel()
	for wait, want := range map[float64]Class{0: 0, 900: 0, 901: 1, 3600: 1, 14400: 2, 43200: 3, 172800: 4, 172801: Far, math.Inf(1): Far} {
		if got := (Draws{wait}).Class(); got != want {
			t.Errorf("%v s: class %d, want %d", wait, got, want)
		}
	}
}

// A miss above moves the upper tail of level 80 from .1 to .0955; nine hits bring it back.
func TestCalibrator_LevelsByHand(t *testing.T) {
	t.Parallel()
	var c Calibrator
	level, _ := LevelOf(80)
	at := grid.Time(0)
	say := func(id int64, wait grid.Duration) {
		c.Say(id, at, Draws{100, 200, 300})
		at = at.Add(grid.Hour)
		c.Started(id, at.Add(wait-grid.Hour))
	}
	high := func() float64 {
		c.judge(at)
		_, h := c.tailsOf(level)
		return h
	}
	say(1, 400*grid.Second)
	if h := high(); math.Abs(h-.0955) > 1e-12 {
		t.Errorf("after a miss above: %v", h)
	}
	for id := range int64(9) {
		say(2+id, 200*grid.Second)
	}
	if h := high(); math.Abs(h-.1) > 1e-12 {
		t.Errorf("after nine hits: %v", h)
	}
}

// A start that is late is a miss as soon as the bound has passed, and not again when it comes.
func TestCalibrator_AMissAboveIsJudgedOnce(t *testing.T) {
	t.Parallel()
	var c Calibrator
	c.Say(1, 0, Draws{100, 200, 300})
	c.judge(grid.Time(280 * grid.Second))
	if _, high := c.tailsOf(1); high != .1 {
		t.Errorf("before the bound has passed: %v", high)
	}
	for _, wait := range []grid.Duration{281, 500, 900} {
		c.judge(grid.Time(wait * grid.Second))
	}
	c.Started(1, grid.Time(1000*grid.Second))
	c.judge(grid.Time(1000 * grid.Second))
	if _, high := c.tailsOf(1); math.Abs(high-.0955) > 1e-12 || len(c.open) != 0 {
		t.Errorf("after all: %v, %d awaited", high, len(c.open))
	}
	if h := c.HeldOfAll(1); h != (Held{Of: 1, Above: 1}) {
		t.Errorf("counted %+v", h)
	}
	if c.Started(1, grid.Time(grid.Day)) != nil || c.HeldOfAll(1).Of != 1 {
		t.Error("one start counts twice")
	}
}

// drawDraws draws the waits of a forecast, some of them equal.
func drawDraws(t *rapid.T) Draws {
	list := rapid.SliceOfN(rapid.IntRange(0, 300_000), 1, 20).Draw(t, "draws")
	d := make(Draws, 0, 2*len(list))
	for i, x := range list {
		if d = append(d, float64(x)); i%4 == 0 {
			d = append(d, float64(x))
		}
	}
	slices.Sort(d)
	return d
}

// Never: bands reversed or before now, a wider level inside a narrower one, calibrated bands from
// too few scores, far forecasts or canceled jobs that count.
func TestCalibrator_Never(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Calibrator
		at, starts, canceled := grid.Time(0), map[int64]grid.Time{}, 0
		for id := range int64(rapid.IntRange(1, 80).Draw(t, "jobs")) {
			at = at.Add(grid.Duration(rapid.IntRange(0, 5000).Draw(t, "gap")) * grid.Second)
			for _, of := range slices.Sorted(maps(starts)) {
				if starts[of] <= at {
					c.Started(of, starts[of])
					delete(starts, of)
				}
			}
			s := c.Say(id, at, drawDraws(t))
			for level, b := range s.Bands {
				if b.Lower > b.Median || b.Median > b.Upper || b.Lower < 0 {
					t.Fatalf("band %+v", b)
				}
				if level > 0 && (b.Lower > s.Bands[level-1].Lower || b.Upper < s.Bands[level-1].Upper) {
					t.Fatalf("%+v is not around %+v", b, s.Bands[level-1])
				}
			}
			if s.Calibrated && (s.Known < Fewest || s.Class == Far) {
				t.Fatalf("calibrated by %d of class %v", s.Known, s.Class)
			}
			switch {
			case s.Class == Far:
				if c.Started(id, at) != nil {
					t.Fatal("a forecast too far ahead counts")
				}
			case rapid.IntRange(0, 9).Draw(t, "canceled") == 0:
				c.Canceled(id)
				canceled++
			default:
				starts[id] = at.Add(grid.Duration(rapid.IntRange(1, 400_000).Draw(t, "wait")) * grid.Second)
			}
		}
		if len(c.open) < len(starts) || c.HeldOfAll(0).Of > c.said-canceled-len(starts) {
			t.Fatalf("%d awaited, %d to start; %d counted of %d said, %d canceled", len(c.open), len(starts), c.HeldOfAll(0).Of, c.said, canceled)
		}
	})
}

func maps(m map[int64]grid.Time) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for id := range m {
			if !yield(id) {
				return
			}
		}
	}
}

// Only the last Scored by submission make a band, whenever their starts became known.
func TestScores_KeepTheLastBySubmission(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2*Scored).Draw(t, "n")
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		var s scores
		for _, seq := range order {
			s.add(seq, float64(seq*7919%1000))
		}
		var want []float64
		for seq := max(0, n-Scored); seq < n; seq++ {
			want = append(want, float64(seq*7919%1000))
		}
		slices.Sort(want)
		if !slices.Equal(s.sorted, want) {
			t.Fatalf("kept %d of %d", len(s.sorted), n)
		}
	})
}
