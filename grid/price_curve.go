package grid

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// PriceCurve is how a price changes over time, as that of electricity does: a factor on a
// base price, in thousandths, constant over each piece of time. Between pieces the factor
// is 1. A curve may repeat, counted from the run's zero (on a live site the Unix epoch, so
// that a day begins at midnight UTC). Curves are immutable; nil is the factor 1 for ever.
type PriceCurve struct {
	repeat Duration    // 0: it does not
	steps  []priceStep // neighbours differ; if the curve repeats, the first is at 0 and all lie before repeat
}

// priceStep is a factor that holds from an instant until the next step. sum is the
// integral of the factor from the first step to this one, in thousandths of a
// millisecond, modulo 2^64. Only differences are used, and differences over at most
// MaxDuration fit.
type priceStep struct {
	at     Time
	factor int
	sum    uint64
}

// PricePiece is a factor, in thousandths, over [From, To).
type PricePiece struct {
	From, To Time // To is Never if the end is open
	Factor   int
}

// Bounds on a curve that is read from outside.
const (
	MaxPricePieces = 10_000    // more than the hours of a year
	MaxPriceFactor = 1_000_000 // a thousand times the base price
	MinPricePiece  = Minute    // a piece is no shorter
	MinPriceRepeat = Hour
	MaxPriceRepeat = 366 * Day
)

// PieceError says which piece of a list is invalid, and why.
type PieceError struct {
	Piece int // index into the list; -1: none in particular
	Other int // another piece that it overlaps; -1: none
	Text  string
}

func (e *PieceError) Error() string {
	if e.Piece < 0 {
		return e.Text
	}
	return fmt.Sprintf("piece %d: %s", e.Piece+1, e.Text)
}

// NewPriceCurve makes a curve from pieces in any order. The curve is nil if its factor is 1
// everywhere. If the curve repeats, no piece may be longer than repeat, and only the place
// of a piece within a repetition counts. An error is a *PieceError.
func NewPriceCurve(pieces []PricePiece, repeat Duration) (*PriceCurve, error) {
	wrong := func(piece, other int, format string, args ...any) (*PriceCurve, error) {
		return nil, &PieceError{piece, other, fmt.Sprintf(format, args...)}
	}
	switch {
	case len(pieces) > MaxPricePieces:
		return wrong(-1, -1, "%d pieces are too many; at most %d are taken", len(pieces), MaxPricePieces)
	case repeat != 0 && (repeat < MinPriceRepeat || repeat > MaxPriceRepeat):
		return nil, wrongRepeat(repeat)
	}
	type placed struct {
		PricePiece
		of int
	}
	var list []placed
	for i, p := range pieces {
		if why := p.wrong(repeat); why != "" {
			return wrong(i, -1, "%s", why)
		}
		if repeat > 0 {
			d := p.To.Sub(p.From)
			p.From = phase(p.From, repeat)
			if p.To = p.From.Add(d); p.To > Time(repeat) { // its end wraps around
				list = append(list, placed{PricePiece{0, p.To.Add(-repeat), p.Factor}, i})
				p.To = Time(repeat)
			}
		}
		list = append(list, placed{p, i})
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.From, b.From) })
	c := &PriceCurve{repeat: repeat}
	if repeat > 0 {
		c.add(0, 1000)
	}
	for i, p := range list {
		if i > 0 && list[i-1].To > p.From {
			first, second := min(p.of, list[i-1].of), max(p.of, list[i-1].of)
			return wrong(second, first, "[%v, %v) overlaps [%v, %v)", pieces[second].From, pieces[second].To, pieces[first].From, pieces[first].To)
		}
		c.add(p.From, p.Factor)
		if p.To < Never && (repeat == 0 || p.To < Time(repeat)) {
			c.add(p.To, 1000)
		}
	}
	return c.made(), nil
}

// wrong says why a piece is invalid in a curve that repeats after repeat, "" if it is valid.
func (p *PricePiece) wrong(repeat Duration) string {
	switch {
	case p.Factor < 0 || p.Factor > MaxPriceFactor:
		return fmt.Sprintf("factor %s is outside 0..%d", formatDecimal(int64(p.Factor), 3), MaxPriceFactor/1000)
	case p.From < -MaxTime || p.From > MaxTime || p.To > MaxTime && p.To != Never:
		return fmt.Sprintf("[%v, %v) is outside %v..%v", p.From, p.To, -MaxTime, MaxTime)
	case p.To <= p.From:
		return fmt.Sprintf("ends at %v, which is not after its start, %v", p.To, p.From)
	case p.To.Sub(p.From) < MinPricePiece:
		return fmt.Sprintf("[%v, %v) is shorter than %s", p.From, p.To, Duration(MinPricePiece).Words())
	case repeat > 0 && p.To.Sub(p.From) > repeat:
		return fmt.Sprintf("[%v, %v) is longer than %s, after which the curve repeats", p.From, p.To, repeat.Words())
	}
	return ""
}

// made completes a curve. It returns nil if the factor is 1 everywhere.
func (c *PriceCurve) made() *PriceCurve {
	if len(c.steps) == 0 || len(c.steps) == 1 && c.steps[0].factor == 1000 {
		return nil
	}
	for i := 1; i < len(c.steps); i++ {
		before := &c.steps[i-1]
		c.steps[i].sum = before.sum + uint64(c.steps[i].at-before.at)*uint64(before.factor)
	}
	return c
}

// add appends a factor that holds from an instant on, which must not be before the last
// step.
func (c *PriceCurve) add(at Time, factor int) {
	if n := len(c.steps); n > 0 && c.steps[n-1].at == at {
		c.steps = c.steps[:n-1]
	}
	last := 1000
	if n := len(c.steps); n > 0 {
		last = c.steps[n-1].factor
	} else if c.repeat > 0 {
		last = -1 // a curve that repeats keeps its first step, whatever the factor
	}
	if factor != last {
		c.steps = append(c.steps, priceStep{at: at, factor: factor})
	}
}

// phase returns where an instant lies within its repetition.
func phase(t Time, repeat Duration) Time { return t - Time(repeat)*repetition(t, repeat) }

// repetition returns the number of an instant's repetition. Repetition 0 begins at zero.
func repetition(t Time, repeat Duration) Time {
	n := t / Time(repeat)
	if t < 0 && t%Time(repeat) != 0 {
		n--
	}
	return n
}

// index returns the step that holds at t, -1 before the first.
func (c *PriceCurve) index(t Time) int {
	i, at := slices.BinarySearchFunc(c.steps, t, func(s priceStep, t Time) int { return cmp.Compare(s.at, t) })
	if at {
		return i
	}
	return i - 1
}

// At returns the factor at an instant, in thousandths.
func (c *PriceCurve) At(t Time) int {
	if c == nil {
		return 1000
	}
	if c.repeat > 0 {
		t = phase(t, c.repeat)
	}
	if i := c.index(t); i >= 0 {
		return c.steps[i].factor
	}
	return 1000
}

// Next returns the first instant after t at which the factor changes, Never if there is
// none. The end of a repetition counts as a change even if the factor stays the same.
func (c *PriceCurve) Next(t Time) Time {
	if c == nil {
		return Never
	}
	begins := Time(0)
	if c.repeat > 0 {
		begins = Time(c.repeat) * repetition(t, c.repeat)
	}
	if i := c.index(t-begins) + 1; i < len(c.steps) {
		return begins + c.steps[i].at
	}
	if c.repeat > 0 {
		return begins.Add(c.repeat)
	}
	return Never
}

// to returns the integral of the factor up to t, in thousandths of a millisecond, modulo
// 2^64.
func (c *PriceCurve) to(t Time) uint64 {
	sum := uint64(0)
	if c.repeat > 0 {
		n := repetition(t, c.repeat)
		last := &c.steps[len(c.steps)-1]
		sum = uint64(n) * (last.sum + uint64(c.repeat-Duration(last.at))*uint64(last.factor))
		t = phase(t, c.repeat)
	}
	i := c.index(t)
	if i < 0 {
		return sum - uint64(c.steps[0].at-t)*1000
	}
	return sum + c.steps[i].sum + uint64(t-c.steps[i].at)*uint64(c.steps[i].factor)
}

// Bounds returns the least and the greatest factor in [from, to); from must be before to.
func (c *PriceCurve) Bounds(from, to Time) (least, most int) {
	least = c.At(from)
	most = least
	if c == nil {
		return least, most
	}
	if c.repeat > 0 {
		to = min(to, from.Add(c.repeat)) // one repetition has every factor
	}
	for t := c.Next(from); t < to; t = c.Next(t) {
		f := c.At(t)
		least, most = min(least, f), max(most, f)
	}
	return least, most
}

// Within returns the curve over [from, to), for callers that look at no other time. A curve
// that repeats is short and is returned whole.
func (c *PriceCurve) Within(from, to Time) *PriceCurve {
	if c == nil || c.repeat > 0 {
		return c
	}
	cut, t := &PriceCurve{}, from
	for ; t < to; t = c.Next(t) {
		cut.add(t, c.At(t))
	}
	if t < Never {
		cut.add(to, 1000)
	}
	return cut.made()
}

// CostOver returns what one node at base price p costs over [from, to): the sum of price x
// factor x time over the pieces of the curve. It is rounded once, half up, so that it does
// not depend on how the curve is cut. Without a curve it is Cost. With a curve, a span
// longer than MaxDuration costs MaxCredits.
func CostOver(p Price, c *PriceCurve, from, to Time) Credits {
	switch {
	case c == nil:
		return Cost(p, to.Sub(from))
	case to.Sub(from) > MaxDuration:
		return MaxCredits
	}
	return costOf(p, c.to(to)-c.to(from))
}

// costOf multiplies a price by a time weighed by factors, in thousandths of a millisecond.
func costOf(p Price, weighed uint64) Credits {
	const hour = 1000 * uint64(Hour)
	hi, lo := bits.Mul64(uint64(p), weighed)
	lo, carry := bits.Add64(lo, hour/2, 0)
	if hi += carry; hi >= hour {
		return MaxCredits
	}
	q, _ := bits.Div64(hi, lo, hour)
	return Credits(min(q, uint64(MaxCredits)))
}

// String writes the curve in one line: "86400000/0:800 21600000:1500" repeats every day,
// with factor 0.8 until six and 1.5 from then on. Instants are in milliseconds. nil is "".
func (c *PriceCurve) String() string {
	if c == nil {
		return ""
	}
	var b []byte
	if c.repeat > 0 {
		b = append(strconv.AppendInt(b, int64(c.repeat), 10), '/')
	}
	for i, s := range c.steps {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(strconv.AppendInt(b, int64(s.at), 10), ':')
		b = strconv.AppendInt(b, int64(s.factor), 10)
	}
	return string(b)
}

// ParsePriceCurve reads what String writes. "" is nil.
func ParsePriceCurve(text string) (*PriceCurve, error) {
	if text == "" {
		return nil, nil
	}
	var repeat int64
	var err error
	steps := text
	if every, rest, ok := strings.Cut(text, "/"); ok {
		if repeat, err = strconv.ParseInt(every, 10, 64); err != nil || repeat <= 0 {
			return nil, fmt.Errorf("price curve repeats every %q; must be milliseconds", every)
		}
		steps = rest
	}
	var list []PricePiece
	for one := range strings.SplitSeq(steps, " ") {
		at, factor, ok := strings.Cut(one, ":")
		t, err1 := strconv.ParseInt(at, 10, 64)
		f, err2 := strconv.Atoi(factor)
		if !ok || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("step %d of a price curve is %q; must be \"milliseconds:thousandths\"", len(list)+1, one)
		}
		list = append(list, PricePiece{From: Time(t), Factor: f})
	}
	return PriceCurveOf(list, Duration(repeat))
}

// Steps lists the factors of the curve with the instant from which each holds, as
// PriceCurveOf takes them, and returns after how long the curve repeats.
func (c *PriceCurve) Steps() (list []PricePiece, repeat Duration) {
	if c == nil {
		return nil, 0
	}
	for _, s := range c.steps {
		list = append(list, PricePiece{From: s.at, Factor: s.factor})
	}
	return list, c.repeat
}

// PriceCurveOf makes a curve from factors in order of time. Each holds until the next one,
// and the last one for ever or until the end of the repetition. The curve is nil if all
// factors are 1. To is ignored. The list may be as long as the steps of a curve of
// MaxPricePieces pieces. An error is a *PieceError.
func PriceCurveOf(list []PricePiece, repeat Duration) (*PriceCurve, error) {
	most := 2*MaxPricePieces + 1
	if repeat > 0 {
		most = min(most, int(2*(repeat/MinPricePiece)+1))
	}
	switch {
	case len(list) > most:
		return nil, &PieceError{-1, -1, fmt.Sprintf("%d factors are too many; at most %d are taken", len(list), most)}
	case repeat != 0 && (repeat < MinPriceRepeat || repeat > MaxPriceRepeat):
		return nil, wrongRepeat(repeat)
	}
	c := &PriceCurve{repeat: repeat}
	if repeat > 0 {
		c.add(0, 1000)
	}
	for i, p := range list {
		why := ""
		switch {
		case p.Factor < 0 || p.Factor > MaxPriceFactor:
			why = fmt.Sprintf("factor %s is outside 0..%d", formatDecimal(int64(p.Factor), 3), MaxPriceFactor/1000)
		case p.From < -MaxTime || p.From > MaxTime:
			why = fmt.Sprintf("%v is outside %v..%v", p.From, -MaxTime, MaxTime)
		case repeat > 0 && (p.From < 0 || p.From >= Time(repeat)):
			why = fmt.Sprintf("%v is not within %s, after which the curve repeats", p.From, repeat.Words())
		case i > 0 && p.From <= list[i-1].From:
			why = fmt.Sprintf("begins at %v, which is not after the one before it, %v", p.From, list[i-1].From)
		}
		if why != "" {
			return nil, &PieceError{i, -1, why}
		}
		c.add(p.From, p.Factor)
	}
	return c.made(), nil
}

func wrongRepeat(d Duration) *PieceError {
	return &PieceError{-1, -1, fmt.Sprintf("repeats every %s; must be %s to %s", d.Words(), Duration(MinPriceRepeat).Words(), Duration(MaxPriceRepeat).Words())}
}
