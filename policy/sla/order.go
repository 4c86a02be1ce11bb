package sla

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
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

type orderIs struct {
	key    func(s *Schedule, p place) int64 // what it sorts by, least first
	passes bool                             // keys change as time passes, or are drawn anew
}

// orders is the table of them. A new one is a constant and a line here; its key may be in
// a file of its own.
var orders = names.Table[Order, orderIs]{Kind: "order", Lines: []names.Line[orderIs]{
	EDF: {Name: "edf", Means: "earliest deadline first",
		Is: orderIs{key: func(_ *Schedule, p place) int64 { return int64(p.last.Add(p.run)) }}},
	FIFO: {Name: "fifo", Means: "in order of arrival",
		Is: orderIs{key: func(*Schedule, place) int64 { return 0 }}},
	LFF: {Name: "lff", Means: "least flexible first",
		Is: orderIs{key: func(s *Schedule, p place) int64 { return int64(p.last - max(p.ready, s.now)) }, passes: true}},
	BJF: {Name: "bjf", Means: "biggest job first",
		Is: orderIs{key: func(_ *Schedule, p place) int64 { return -Size{p.nodes, p.run}.area() }}},
	Revenue: {Name: "revenue", Means: "highest price for a node-second first",
		Is: orderIs{key: func(_ *Schedule, p place) int64 { return -rate(p.job.Price, Size{p.nodes, p.run}.area()) }}},
	Shuffle: {Name: "shuffle", Means: "at random",
		Is: orderIs{key: func(s *Schedule, _ place) int64 { return s.opt.Keys() }, passes: true}},
}}

// ParseOrder reads the name of an order.
func ParseOrder(s string) (Order, error) { return orders.Parse(s) }

// Orders returns the orders with what they do.
func Orders() []names.Policy { return orders.Policies() }

// String is the name that ParseOrder reads.
func (o Order) String() string { return orders.Name(o) }

// MarshalText writes the order's name.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the order's name, for flags and configuration files.
func (o *Order) UnmarshalText(b []byte) (err error) {
	*o, err = ParseOrder(string(b))
	return err
}

// key is what the order sorts a place by.
func (s *Schedule) key(p *place) int64 { return orders.Is(s.opt.Order).key(s, *p) }

// rate is what a job with that area in node-milliseconds pays, in micro-credits per
// node-hour, at most the largest int64.
func rate(c grid.Credits, area int64) int64 {
	hi, lo := bits.Mul64(uint64(c), uint64(grid.Hour))
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

// sort brings the waiting jobs into order. Only the keys of orders that pass change: those
// of LFF fall as time goes on, those of Shuffle are drawn.
func (s *Schedule) sort() {
	w := s.waiting
	if orders.Is(s.opt.Order).passes {
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
