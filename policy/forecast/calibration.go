package forecast

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Levels are the shares of starts that a band is to hold, in percent, the narrowest first.
var Levels = [...]int{50, 80, 90, 95}

// LevelOf returns the place of a level in Levels, and whether it is one.
func LevelOf(percent int) (int, bool) { return slices.BinarySearch(Levels[:], percent) }

// Bounds of a calibration.
const (
	Scored = 500 // past forecasts that a band is made from, at most
	Fewest = 30  // and at least
	pace   = .005
)

// Calibrator turns draws into bands that hold what they say, by what came of earlier
// forecasts (split conformal prediction; the levels adapt as by Gibbs and Candès 2021). The
// zero Calibrator knows of none. It keeps the last Scored scores of each class and of all,
// and the forecasts whose start is not known.
type Calibrator struct {
	tails   [len(Levels)]tails // less those of the beginning
	classes [Far]scores
	all     scores
	open    []*Said // by submission
	said    int
	held    [len(Levels)][Far]Held
}

// tails are how far the shares left out below and above a band have moved.
type tails struct{ low, high float64 }

// Held counts the past forecasts of bands whose start is known.
type Held struct {
	Of, Held     int
	Below, Above int // starts before and after the band
}

// Band is an interval of waits in seconds, and a median in it.
type Band struct{ Median, Lower, Upper float64 }

// Said is a forecast of a job that has to wait, as it was said.
type Said struct {
	ID         int64
	Submit     grid.Time
	Draws      Draws
	Class      Class
	Calibrated bool
	Known      int // starts that were known: of the class, or of all if those were too few
	Bands      [len(Levels)]Band
	Start      grid.Time // Never until it is known

	seq    int
	judged [len(Levels)]bool
}

// Raw is the band by the draws alone.
func (s *Said) Raw(level int) Band { return s.Draws.raw(level) }

func (d Draws) raw(level int) Band {
	a := outside(level)
	return d.band(d.At(a), d.At(1-a))
}

// outside is the share that a level leaves out on each side.
func outside(level int) float64 { return float64(100-Levels[level]) / 200 }

// band rounds bounds outwards to the second and brings the median into them.
func (d Draws) band(lower, upper float64) Band {
	b := Band{Lower: math.Floor(lower), Upper: math.Ceil(upper)}
	b.Median = min(max(math.Floor(d.At(.5)+.5), b.Lower), b.Upper)
	return b
}

// tailsOf returns the shares that a level leaves out now.
func (c *Calibrator) tailsOf(level int) (low, high float64) {
	a := outside(level)
	return a + c.tails[level].low, a + c.tails[level].high
}

// Say makes the forecast of a job that is submitted now and has to wait. Its start is awaited:
// call Started or Canceled for it. Those submitted before must have been said before. It costs
// a walk over the forecasts that are awaited.
func (c *Calibrator) Say(id int64, now grid.Time, draws Draws) *Said {
	c.judge(now)
	s := c.Foresee(now, draws)
	s.ID = id
	if s.Class < Far {
		c.said++
		c.open = append(c.open, s)
	}
	return s
}

// Foresee makes the forecast of a job that would be submitted now and have to wait, and keeps
// nothing of it: nobody will learn when it has started. What has become due since the last Say
// is not judged yet, so that who asks changes nothing.
func (c *Calibrator) Foresee(now grid.Time, draws Draws) *Said {
	s := &Said{Submit: now, Draws: draws, Class: draws.Class(), Start: grid.Never, seq: c.said}
	window := c.window(s)
	for level := range Levels {
		b := draws.raw(level)
		if s.Calibrated {
			low, high := c.tailsOf(level)
			b = draws.band(draws.Inverse(rank(window, low)), draws.Inverse(rank(window, 1-high)))
		}
		if level > 0 {
			b.Lower, b.Upper = min(b.Lower, s.Bands[level-1].Lower), max(b.Upper, s.Bands[level-1].Upper)
		}
		s.Bands[level] = b
	}
	return s
}

// window returns the scores that a forecast is made from, sorted, and notes in it how many
// there are and whether they are enough.
func (c *Calibrator) window(s *Said) []float64 {
	if s.Class == Far {
		return nil
	}
	of := &c.classes[s.Class]
	if len(of.sorted) < Fewest {
		of = &c.all
	}
	s.Known = len(of.sorted)
	s.Calibrated = s.Known >= Fewest
	return of.sorted
}

// rank is the score that a share p of the sorted scores does not exceed.
func rank(sorted []float64, p float64) float64 {
	m := len(sorted)
	k := min(m, max(1, int(math.Ceil(float64(m+1)*p-1e-9))))
	return sorted[k-1]
}

// judge moves the levels by what is known now of the forecasts that are awaited.
func (c *Calibrator) judge(now grid.Time) {
	c.open = slices.DeleteFunc(c.open, func(s *Said) bool {
		for level := range Levels {
			c.judgeLevel(s, level, now)
		}
		return s.Start < grid.Never
	})
}

func (c *Calibrator) judgeLevel(s *Said, level int, now grid.Time) {
	b := &s.Bands[level]
	wait := seconds(min(s.Start, now).Sub(s.Submit))
	if s.judged[level] || s.Start == grid.Never && wait <= b.Upper {
		return
	}
	s.judged[level] = true
	a, t := outside(level), &c.tails[level]
	move := func(by *float64, missed bool) {
		*by += pace * a
		if missed {
			*by -= pace
		}
		*by = min(max(*by, a/10-a), a/2)
	}
	move(&t.low, wait < b.Lower)
	move(&t.high, wait > b.Upper)
}

// Started tells when the job of a forecast has started, and returns the forecast; nil if none
// is awaited.
func (c *Calibrator) Started(id int64, at grid.Time) *Said {
	s := c.awaited(id)
	if s == nil {
		return nil
	}
	s.Start = at
	wait := seconds(at.Sub(s.Submit))
	score := s.Draws.Score(wait)
	c.classes[s.Class].add(s.seq, score)
	c.all.add(s.seq, score)
	for level := range Levels {
		h, b := &c.held[level][s.Class], &s.Bands[level]
		h.count(wait, b)
	}
	return s
}

// Canceled forgets a forecast whose job will not start.
func (c *Calibrator) Canceled(id int64) {
	if s := c.awaited(id); s != nil {
		c.open = slices.DeleteFunc(c.open, func(o *Said) bool { return o == s })
	}
}

// awaited returns the forecast of a job that is not known to have started.
func (c *Calibrator) awaited(id int64) *Said {
	for _, s := range c.open {
		if s.ID == id && s.Start == grid.Never {
			return s
		}
	}
	return nil
}

// Held returns what came of the bands of a level that were said for a class.
func (c *Calibrator) Held(level int, of Class) Held { return c.held[level][of] }

// HeldOfAll returns what came of all bands of a level.
func (c *Calibrator) HeldOfAll(level int) (sum Held) {
	for _, h := range c.held[level] {
		sum.Of, sum.Held, sum.Below, sum.Above = sum.Of+h.Of, sum.Held+h.Held, sum.Below+h.Below, sum.Above+h.Above
	}
	return sum
}

func (h *Held) count(wait float64, b *Band) {
	h.Of++
	switch {
	case wait < b.Lower:
		h.Below++
	case wait > b.Upper:
		h.Above++
	default:
		h.Held++
	}
}

// Share is the share of the starts that lay in their bands, 0 to 1; 0 if there were none.
func (h Held) Share() float64 { return float64(h.Held) / float64(max(h.Of, 1)) }

// seconds are those of a duration.
func seconds(d grid.Duration) float64 { return float64(d) / float64(grid.Second) }

// scores are those of the forecasts submitted last whose start is known.
type scores struct {
	list   []scored // by submission
	sorted []float64
}

type scored struct {
	seq   int
	score float64
}

// add puts in the score of a forecast, unless Scored later ones are known.
func (s *scores) add(seq int, score float64) {
	i, _ := slices.BinarySearchFunc(s.list, seq, func(x scored, seq int) int { return cmp.Compare(x.seq, seq) })
	s.list = slices.Insert(s.list, i, scored{seq, score})
	k, _ := slices.BinarySearch(s.sorted, score)
	s.sorted = slices.Insert(s.sorted, k, score)
	if len(s.list) > Scored {
		k, _ = slices.BinarySearch(s.sorted, s.list[0].score)
		s.list, s.sorted = slices.Delete(s.list, 0, 1), slices.Delete(s.sorted, k, k+1)
	}
}
