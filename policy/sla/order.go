package sla

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"bourse"
)

// Order says in which order waiting jobs choose their slots. Ties go by
// arrival.
type Order uint8

const (
	EDF     Order = iota // earliest deadline first
	FIFO                 // by arrival
	LFF                  // least flexible first: D - max(Tr, now) - Te
	BJF                  // biggest job first: R x Te
	Revenue              // highest price per node-hour first, rounded down to the micro-credit
	Shuffle              // by random keys, drawn anew for each trial
)

var orders = [...]string{"edf", "fifo", "lff", "bjf", "revenue", "shuffle"}

// ParseOrder reads "edf", "fifo", "lff", "bjf", "revenue" or "shuffle".
func ParseOrder(s string) (Order, error) {
	if i := slices.Index(orders[:], s); i >= 0 {
		return Order(i), nil
	}
	return 0, fmt.Errorf("order %q is unknown; write edf, fifo, lff, bjf, revenue or shuffle", s)
}

// String is the name that ParseOrder reads.
func (o Order) String() string { return orders[o] }

// MarshalText writes the order's name.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the order's name, for flags and configuration files.
func (o *Order) UnmarshalText(b []byte) (err error) {
	*o, err = ParseOrder(string(b))
	return err
}

// key is what the order sorts a place by, least first.
func (s *Schedule) key(p *place) int64 {
	switch s.opt.Order {
	case EDF:
		return int64(p.last.Add(p.run))
	case LFF:
		return int64(p.last - max(p.ready, s.now))
	case BJF:
		return -Size{p.nodes, p.run}.area()
	case Revenue:
		return -rate(p.job.Price, Size{p.nodes, p.run}.area())
	case Shuffle:
		return s.opt.Keys()
	}
	return 0
}

// rate is what a job of so many node-milliseconds pays in micro-credits per
// node-hour, at most the largest int64.
func rate(c bourse.Credits, area int64) int64 {
	hi, lo := bits.Mul64(uint64(c), uint64(bourse.Hour))
	if hi >= uint64(area) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(area))
	return int64(min(q, math.MaxInt64))
}

// compare orders places by key, then by arrival.
func compare(a, b place) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.number, b.number))
}

// sort brings the waiting jobs into order. Keys stand still but for those of
// LFF, which fall as time passes, and those of Shuffle.
func (s *Schedule) sort() {
	w := s.waiting
	if s.opt.Order == LFF || s.opt.Order == Shuffle {
		for i := range w {
			w[i].key = s.key(&w[i])
		}
	}
	for i := 1; i < len(w); i++ {
		if compare(w[i-1], w[i]) > 0 {
			slices.SortFunc(w, compare)
			return
		}
	}
}
