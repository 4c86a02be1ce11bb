package sites

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// leg is one leg of a transaction as its site sees it. What the facts say of it
// changes by facts alone; its limit is the participant's, its order that of orders.
type leg struct {
	bourse.LegMoved                 // the last that was recorded of it; Asked: nothing yet
	tomb            bool            // cancelled before it was known
	charged         bool            // it was confirmed once
	noted           bool            // the broker has acknowledged what became of it
	heldAt, at      bourse.Time     // when it was held, and when it moved last
	real            *bourse.RealLeg // of its nodes and its work, as far as it is of use yet; nil: nothing
	place           int             // in open
	gone            bool            // from memory: a flag is quicker than a look-up for each that is kept
	shifts, told    uint32          // how often it was shifted or fixed, and of how many of those its broker knows
	lastOffer       *offer          // that was made for it; nil: none, as for most

	// Of this life only.
	grace bourse.Time // until when it is held or in doubt at the most
	ends  bourse.Time // and in truth, which is before its start: other alarms are stale
	order order       // what the cluster has not acknowledged
}

// take has a leg be what was recorded of it last. Its work is of use until it runs,
// the names of its nodes until it is over.
func (l *leg) take(f bourse.LegMoved) {
	if x := f.Real; x != nil {
		was := l.onNodes()
		l.real = &bourse.RealLeg{Names: x.Names, Work: x.Work, Result: x.Result}
		if x.Names == nil {
			l.real.Names = was.Names
		}
	}
	if f.State > bourse.Confirmed && l.real != nil {
		l.real.Work = nil
		if f.State.Terminal() {
			l.real.Names = nil
		}
		if l.real.Names == nil && l.real.Result == nil {
			l.real = nil
		}
	}
	f.Real = nil // or every later fact would say it again
	l.LegMoved = f
}

// onNodes is what is known of a leg on real nodes.
func (l *leg) onNodes() bourse.RealLeg {
	if l.real == nil {
		return bourse.RealLeg{}
	}
	return *l.real
}

// whole is all that is known of a leg, for an image.
func (l *leg) whole() bourse.LegMoved {
	f := l.LegMoved
	if l.real != nil {
		x := *l.real
		f.Real = &x
	}
	return f
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
