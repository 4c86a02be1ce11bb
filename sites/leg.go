package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// leg is one leg of a transaction as its site sees it. What follows from facts changes only
// when a fact is applied. The participant sets its limit, and orders its order.
type leg struct {
	facts.LegMoved                // its latest record; Asked: there is none yet
	tomb           bool           // cancelled before it was known
	charged        bool           // it was once confirmed
	noted          bool           // the broker has acknowledged its outcome
	gone           bool           // dropped from memory: a flag is quicker than a look-up
	shifts, told   uint32         // how often it was shifted or fixed, and how many of those its broker knows of
	order          order          // this life only: that the cluster has not acknowledged
	heldAt, at     grid.Time      // when it was held, and when it last changed its state
	real           *facts.RealLeg // its nodes and work, as far as still needed; nil: nothing
	place          int            // in openLegs
	lastOffer      *offer         // the latest for it; nil: none, as for most

	// This life only.
	grace grid.Time // until when it may be held or in doubt
	ends  grid.Time // grace, but before its start: alarms that fire earlier are out of date
}

// take sets a leg to a record. Its work is kept until it runs, the names of its nodes until
// it is over.
func (l *leg) take(f facts.LegMoved) {
	if x := f.Real; x != nil {
		was := l.onNodes()
		l.real = &facts.RealLeg{Names: x.Names, On: x.On, Work: x.Work, Result: x.Result}
		if x.Names == nil {
			l.real.Names = was.Names
		}
		if x.On == nil {
			l.real.On = was.On
		}
	}
	if f.State > grid.Confirmed && l.real != nil {
		l.real.Work = nil
		if f.State.Terminal() {
			l.real.Names, l.real.On = nil, nil
		}
		if l.real.Names == nil && l.real.On == nil && l.real.Result == nil {
			l.real = nil
		}
	}
	f.Real = nil // otherwise every later fact would repeat it
	l.LegMoved = f
}

// onNodes is what is known of a leg on real nodes, or the zero value.
func (l *leg) onNodes() facts.RealLeg {
	if l.real == nil {
		return facts.RealLeg{}
	}
	return *l.real
}

// whole is everything known of a leg, for an image.
func (l *leg) whole() facts.LegMoved {
	f := l.LegMoved
	if l.real != nil {
		x := *l.real
		f.Real = &x
	}
	return f
}

// openLegs are the legs that hold nodes, in order of their holds. A leg that is removed
// leaves a gap. The gaps are closed when they are the majority, so that removal is cheap on
// average.
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

// count is the number of open legs.
func (o *openLegs) count() int { return len(o.list) - o.gaps }

// each ranges over the open legs, which must not be changed meanwhile.
func (o *openLegs) each(yield func(*leg) bool) {
	for _, l := range o.list {
		if l != nil && !yield(l) {
			return
		}
	}
}
