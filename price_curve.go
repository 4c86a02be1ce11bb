package bourse

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// PriceCurve is how a price changes over time, as that of electricity does: factors
// on a base price, in thousandths, constant over pieces of time. Where there is no
// piece the factor is 1. A curve may repeat, from the run's zero on (on a live site
// the Unix epoch, so that a day begins at midnight UTC). It does not change once it
// is made; nil is the factor 1 for ever.
type PriceCurve struct {
	repeat Duration    // 0: it does not
	steps  []priceStep // neighbours differ; of a curve that repeats the first is at 0, all are before repeat
}

// priceStep says that a factor holds from an instant until the next step. sum is the
// factors from the first step to this one, in thousandths of a millisecond, modulo
// 2^64: only differences count, and those of MaxDuration and less fit.
type priceStep struct {
	at     Time
	factor int
	sum    uint64
}

// PricePiece is a factor, in thousandths, over [From, To).
type PricePiece struct {
	From, To Time // To: Never for an end that is open
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

// PieceError says which piece of a list makes no curve, and why.
type PieceError struct {
	Piece int // index into the list; -1: none in particular
	Other int // another piece that it is in the way of; -1: none
	Text  string
}

func (e *PieceError) Error() string {
	if e.Piece < 0 {
		return e.Text
	}
	return fmt.Sprintf("piece %d: %s", e.Piece+1, e.Text)
}

// NewPriceCurve makes a curve of pieces in any order, nil if their factor is 1
// everywhere. Of a curve that repeats no piece is longer than repeat; where it lies in
// time only its place within a repetition counts. An error is a *PieceError.
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
			if p.To = p.From.Add(d); p.To > Time(repeat) { // it goes on at the beginning
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

// wrong says why a piece is in no curve that repeats so, "" if it may be.
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

// made ends the making of a curve; nil if its factor is 1 everywhere.
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

// add ends the curve so far with a factor from an instant on, which is not before
// the last step.
func (c *PriceCurve) add(at Time, factor int) {
	if n := len(c.steps); n > 0 && c.steps[n-1].at == at {
		c.steps = c.steps[:n-1]
	}
	last := 1000
	if n := len(c.steps); n > 0 {
		last = c.steps[n-1].factor
	} else if c.repeat > 0 {
		last = -1 // the first step stands, whatever it is
	}
	if factor != last {
		c.steps = append(c.steps, priceStep{at: at, factor: factor})
	}
}

// phase is where in a repetition an instant lies.
func phase(t Time, repeat Duration) Time { return t - Time(repeat)*repetition(t, repeat) }

// repetition is the number of that repetition; 0 begins at zero.
func repetition(t Time, repeat Duration) Time {
	n := t / Time(repeat)
	if t < 0 && t%Time(repeat) != 0 {
		n--
	}
	return n
}

// index is the step that holds at t, -1 before the first.
func (c *PriceCurve) index(t Time) int {
	i, at := slices.BinarySearchFunc(c.steps, t, func(s priceStep, t Time) int { return cmp.Compare(s.at, t) })
	if at {
		return i
	}
	return i - 1
}

// At is the factor at an instant, in thousandths.
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

// Next is the first instant after t at which the factor changes, Never if there is
// none. Where a repetition ends counts as such even if the factor stays.
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

// to is the factors up to t, in thousandths of a millisecond, modulo 2^64.
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

// Bounds are the least and the greatest factor anywhere in [from, to), from < to.
func (c *PriceCurve) Bounds(from, to Time) (least, most int) {
	least = c.At(from)
	most = least
	if c == nil {
		return least, most
	}
	if c.repeat > 0 {
		to = min(to, from.Add(c.repeat)) // all there is
	}
	for t := c.Next(from); t < to; t = c.Next(t) {
		f := c.At(t)
		least, most = min(least, f), max(most, f)
	}
	return least, most
}

// Within is the curve over [from, to), for those who look at no other time. One that
// repeats is left whole: it is short.
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

// CostOver is what one node at base price p costs over [from, to): the sum over the pieces of the curve of price x factor x time, rounded
// half up once, so that it does not depend on how the curve is cut. Without a curve it
// is Cost; with one, of more than MaxDuration it is MaxCredits.
func CostOver(p Price, c *PriceCurve, from, to Time) Credits {
	switch {
	case c == nil:
		return Cost(p, to.Sub(from))
	case to.Sub(from) > MaxDuration:
		return MaxCredits
	}
	return costOf(p, c.to(to)-c.to(from))
}

// costOf is a price times thousandths of a millisecond.
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

// String is the curve in a line: "86400000/0:800 21600000:1500" repeats every day,
// with factor 0.8 until six and 1.5 from then on. Instants are in milliseconds. nil is
// "".
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

// Steps lists the factors of the curve and from when on each holds, as PriceCurveOf
// takes them, and after how long it repeats.
func (c *PriceCurve) Steps() (list []PricePiece, repeat Duration) {
	if c == nil {
		return nil, 0
	}
	for _, s := range c.steps {
		list = append(list, PricePiece{From: s.at, Factor: s.factor})
	}
	return list, c.repeat
}

// PriceCurveOf makes a curve of factors of which each holds until the next one, in
// order of time, and the last one for ever or to the end of the repetition; nil if they
// are 1 everywhere. To is not looked at, and there may be as many as curves of
// MaxPricePieces have steps. An error is a *PieceError.
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
