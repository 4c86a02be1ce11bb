package simulation

import (
	"fmt"
	"slices"
	"strings"

	"bourse"
	"bourse/agents"
)

// lies has leg i of a transaction lie elsewhere, within the window that was asked
// for and as long as before. The window itself never grows.
func (t *txRecord) lies(i int, start, end bourse.Time) error {
	was := t.begun.Legs[i]
	switch {
	case len(t.begun.Legs) != 1:
		return fmt.Errorf("it is one of %d with a common start, and is moved alone", len(t.begun.Legs))
	case !t.begun.Flex.Holds(start, end):
		return fmt.Errorf("[%v, %v) lies outside its window [%v, %v)", start, end, t.begun.Flex.Ready, t.begun.Flex.Due)
	case end.Sub(start) != was.Duration():
		return fmt.Errorf("it takes %v in place of %v seconds", end.Sub(start), was.Duration())
	}
	t.begun.Legs = slices.Clone(t.begun.Legs)
	t.begun.Legs[i].Start, t.begun.Legs[i].End = start, end
	return nil
}

// legShifted checks a move (I16, I17): the site says it first, the broker after
// it, the same.
func (v *Invariants) legShifted(id agents.ID, f bourse.LegShifted) error {
	t := v.txs[f.Leg.Tx]
	if t == nil {
		return fmt.Errorf("I2: leg %v of a transaction that no broker has begun", f.Leg)
	}
	l := &t.legs[f.Leg.Leg]
	if strings.HasPrefix(string(id), "broker:") {
		if !slices.Contains(l.shifts, f) {
			return fmt.Errorf("I16: the broker has leg %v over [%v, %v), turn %d: its site has said %v", f.Leg, f.Start, f.End, f.Turn, l.shifts)
		}
		return nil
	}
	switch {
	case l.state != bourse.Confirmed:
		return fmt.Errorf("I17: leg %v is moved to [%v, %v) and is %v", f.Leg, f.Start, f.End, l.state)
	case int(f.Turn) != len(l.shifts)+1:
		return fmt.Errorf("I16: turn %d of leg %v follows turn %d", f.Turn, f.Leg, len(l.shifts))
	case f.Start < v.instant:
		return fmt.Errorf("I17: leg %v is moved to %v, which is past", f.Leg, f.Start)
	}
	l.shifts = append(l.shifts, f)
	if err := t.lies(f.Leg.Leg, f.Start, f.End); err != nil {
		return fmt.Errorf("I16: leg %v: %w", f.Leg, err)
	}
	if f.Fixed { // from now on it lies there and nowhere else
		t.begun.Flex.Ready, t.begun.Flex.Due = f.Start, f.End
	}
	return nil
}
