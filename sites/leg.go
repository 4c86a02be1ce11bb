package sites

import (
	"slices"

	"bourse"
)

// leg is one leg of a transaction as its site sees it. What the facts say of it
// changes by facts alone; its limit is the participant's, its order that of orders.
type leg struct {
	bourse.LegMoved             // the last that was recorded of it; Asked: nothing yet
	tomb            bool        // cancelled before it was known
	charged         bool        // it was confirmed once
	noted           bool        // the broker has acknowledged what became of it
	heldAt, at      bourse.Time // when it was held, and when it moved last
	place           int         // in open
	shifts, told    uint32      // how often it was shifted or fixed, and of how many of those its broker knows
	lastOffer       *offer      // that was made for it; nil: none, as for most

	// Of this life only.
	ends  bourse.Time // of the hold or the doubt: later alarms are stale
	order order       // what the cluster has not acknowledged
}

// openLegs are those that hold nodes, in order of their holds. A leg leaves a
// gap; the gaps are closed when they are the most, so that neither costs a walk.
type openLegs struct {
	list []*leg
	gaps int
}

func (o *openLegs) add(l *leg) {
	l.place = len(o.list)
	o.list = append(o.list, l)
}

func (o *openLegs) remove(l *leg) {
	o.list[l.place] = nil
	if o.gaps++; 2*o.gaps <= len(o.list) {
		return
	}
	o.list = slices.DeleteFunc(o.list, func(l *leg) bool { return l == nil })
	for i, l := range o.list {
		l.place = i
	}
	o.gaps = 0
}

// count is how many there are.
func (o *openLegs) count() int { return len(o.list) - o.gaps }

// each visits the open legs; the set must not be changed meanwhile.
func (o *openLegs) each(yield func(*leg) bool) {
	for _, l := range o.list {
		if l != nil && !yield(l) {
			return
		}
	}
}
