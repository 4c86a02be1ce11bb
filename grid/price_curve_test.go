package grid

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawCurve draws a curve of hours that are not whole ones, once or every day.
func drawCurve(t *rapid.T) *PriceCurve {
	var repeat Duration
	if rapid.Bool().Draw(t, "repeats") {
		repeat = Day
	}
	at := Time(rapid.Int64Range(-int64(Day), int64(Day)).Draw(t, "at"))
	first := at
	var list []PricePiece
	for range rapid.IntRange(0, 8).Draw(t, "pieces") {
		at = at.Add(Duration(rapid.SampledFrom([]Duration{0, Minute, 3*Hour + 1}).Draw(t, "gap")))
		to := at.Add(Duration(rapid.Int64Range(int64(Minute), 3*int64(Hour)).Draw(t, "length")))
		if repeat > 0 && to > first.Add(repeat) {
			break
		}
		list = append(list, PricePiece{at, to, rapid.SampledFrom([]int{0, 1, 333, 1000, 1000, 1250, 7919}).Draw(t, "factor")})
		at = to
	}
	c, err := NewPriceCurve(list, repeat)
	if err != nil {
		t.Fatalf("%v: %v", list, err)
	}
	return c
}

// naive is the cost by going through the milliseconds at which anything changes.
func naive(p Price, c *PriceCurve, from, to Time) Credits {
	sum := new(big.Int)
	for t := from; t < to; {
		next := min(c.Next(t), to)
		x := new(big.Int).Mul(big.NewInt(int64(p)), big.NewInt(int64(c.At(t))))
		sum.Add(sum, x.Mul(x, big.NewInt(int64(next-t))))
		t = next
	}
	sum.Add(sum, big.NewInt(500*int64(Hour)))
	return Credits(sum.Quo(sum, big.NewInt(1000*int64(Hour))).Int64())
}

// A node of 2 credits an hour, half the price from 22:00 to 6:00 every day and one and
// a half times it from 17:00 to 20:00: from 16:30 on to 23:00 it costs 1/2 hour at 2,
// 3 hours at 3, 2 hours at 2, 1 hour at 1: 15 credits.
func TestCostOver_WorkedExample(t *testing.T) {
	t.Parallel()
	at := func(h float64) Time { return Time(h * float64(Hour)) }
	c, err := NewPriceCurve([]PricePiece{{at(22), at(30), 500}, {at(17), at(20), 1500}}, Day)
	if err != nil {
		t.Fatal(err)
	}
	if want := "86400000/0:500 21600000:1000 61200000:1500 72000000:1000 79200000:500"; c.String() != want {
		t.Errorf("it is %q, want %q", c, want)
	}
	two := Price(2 * Credit)
	for _, x := range []struct {
		from, to float64
		want     Credits
	}{
		{16.5, 23, 15 * Credit},
		{22, 30, 8 * Credit},                  // all of a night
		{-2, 6, 8 * Credit},                   // and of one before zero
		{0, 24, 43 * Credit},                  // a day: 8 x 1 + 3 x 3 + 13 x 2
		{24 * 100, 24 * 107, 7 * 43 * Credit}, // a week of them
		{6, 6.25, Credit / 2},
		{5.75, 6, Credit / 4},
	} {
		if got := CostOver(two, c, at(x.from), at(x.to)); got != x.want {
			t.Errorf("from %v h to %v h it costs %v, want %v", x.from, x.to, got, x.want)
		}
	}
}

func TestCostOver_IsTheSumOverThePiecesRoundedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurve(t)
		p := Price(rapid.Int64Range(0, 1e9).Draw(t, "price"))
		from := Time(rapid.Int64Range(-3*int64(Day), 3*int64(Day)).Draw(t, "from"))
		to := from.Add(Duration(rapid.Int64Range(0, 3*int64(Day)).Draw(t, "for")))
		if got, want := CostOver(p, c, from, to), naive(p, c, from, to); got != want {
			t.Fatalf("%q costs %v over [%v, %v), want %v", c, got, from, to, want)
		}
	})
}

func TestCostOver_OfSplitWindowsAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurve(t)
		p := Price(rapid.Int64Range(0, 1e9).Draw(t, "price"))
		from := Time(rapid.Int64Range(-3*int64(Day), 3*int64(Day)).Draw(t, "from"))
		mid := from.Add(Duration(rapid.Int64Range(0, 2*int64(Day)).Draw(t, "first")))
		to := mid.Add(Duration(rapid.Int64Range(0, 2*int64(Day)).Draw(t, "second")))
		whole, parts := CostOver(p, c, from, to), CostOver(p, c, from, mid)+CostOver(p, c, mid, to)
		if d := whole - parts; d < -1 || d > 1 { // both parts are rounded
			t.Fatalf("%q: [%v, %v) costs %v, split at %v it is %v", c, from, to, whole, mid, parts)
		}
	})
}

func TestCostOver_OfFactorOneIsCostToTheMicroCredit(t *testing.T) {
	t.Parallel()
	one, err := NewPriceCurve([]PricePiece{{0, Time(Hour), 1000}, {Time(Hour), Time(2 * Hour), 1000}}, 0)
	if one != nil || err != nil {
		t.Fatalf("factor 1 everywhere is %v, %v; must be no curve", one, err)
	}
	c, err := NewPriceCurve([]PricePiece{{0, Time(Hour), 2000}}, 0) // 1 from an hour on
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := Price(rapid.Int64Range(0, int64(MaxPrice)).Draw(t, "price"))
		from := Time(rapid.Int64Range(int64(Hour), int64(Day)).Draw(t, "from"))
		d := Duration(rapid.Int64Range(0, int64(MaxDuration)).Draw(t, "for"))
		if got, want := CostOver(p, c, from, from.Add(d)), Cost(p, d); got != want {
			t.Fatalf("%v credits with a curve of factor 1, %v without any", got, want)
		}
	})
}

func TestPriceCurve_ReadsBackWhatItWrote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCurve(t)
		from := Time(rapid.Int64Range(-2*int64(Day), 2*int64(Day)).Draw(t, "from"))
		to := from.Add(Duration(rapid.Int64Range(1, 2*int64(Day)).Draw(t, "for")))
		cut := c.Within(from, to)
		for _, x := range []*PriceCurve{c, cut} {
			y, err := ParsePriceCurve(x.String())
			if err != nil || y.String() != x.String() {
				t.Fatalf("%q reads back as %q, %v", x, y, err)
			}
		}
		least, most := c.Bounds(from, to)
		for at := from; at < to; at += Time(Minute) * 7 {
			f := c.At(at)
			if f != cut.At(at) || f < least || f > most {
				t.Fatalf("at %v it is %d, within [%v, %v) %d, bounds %d..%d", at, f, from, to, cut.At(at), least, most)
			}
		}
	})
}

func TestNewPriceCurve_SaysWhichPieceIsWrong(t *testing.T) {
	t.Parallel()
	h := func(n int) Time { return Time(n) * Time(Hour) }
	for _, x := range []struct {
		list   []PricePiece
		repeat Duration
		piece  int
		text   string
	}{
		{[]PricePiece{{0, h(1), -1}}, 0, 0, "factor -0.001 is outside 0..1000"},
		{[]PricePiece{{0, h(1), 1_000_001}}, 0, 0, "factor 1000.001 is outside 0..1000"},
		{[]PricePiece{{0, h(1), 1}, {h(2), h(2), 1}}, 0, 1, "ends at 7200, which is not after its start, 7200"},
		{[]PricePiece{{0, 59_999, 1}}, 0, 0, "[0, 59.999) is shorter than 1m"},
		{[]PricePiece{{h(3), h(5), 1}, {h(1), h(4), 1}}, 0, 1, "[3600, 14400) overlaps [10800, 18000)"},
		{[]PricePiece{{h(22), h(30), 1}, {h(5), h(7), 1}}, Day, 1, "[18000, 25200) overlaps [79200, 108000)"},
		{[]PricePiece{{0, h(25), 1}}, Day, 0, "is longer than 1d"},
		{[]PricePiece{{0, MaxTime + 1, 1}}, 0, 0, "is outside"},
		{nil, Minute, -1, "repeats every 1m; must be 1h to 366d"},
		{make([]PricePiece, MaxPricePieces+1), 0, -1, "10001 pieces are too many; at most 10000 are taken"},
	} {
		_, err := NewPriceCurve(x.list, x.repeat)
		var wrong *PieceError
		if !errors.As(err, &wrong) || wrong.Piece != x.piece || !strings.Contains(wrong.Text, x.text) {
			t.Errorf("%v: %v; want piece %d: %s", x.list[:min(3, len(x.list))], err, x.piece, x.text)
		}
	}
}

// A curve that was read is in order, and can be read again after it was written.
func FuzzParsePriceCurve(f *testing.F) {
	for _, text := range []string{"", "0:500", "86400000/0:500 21600000:1000", "3600000/0:1000", "5:1 4:2", "x", "/", "-5:3 0:1000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParsePriceCurve(text)
		if err != nil {
			return
		}
		if again, err := ParsePriceCurve(c.String()); err != nil || again.String() != c.String() {
			t.Fatalf("%q is %q, and that %q, %v", text, c, again, err)
		}
		CostOver(MaxPrice, c, -MaxTime, 0)
	})
}
