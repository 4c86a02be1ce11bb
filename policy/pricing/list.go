package pricing

import "github.com/bourse-grid/bourse/grid"

// Unpriced stands for the unknown price of an offer of a List. It is below all prices.
const Unpriced grid.Duration = -1

// List is a list of offers that are priced on demand; see Book.List. It is valid until the
// next List, Offers or Reset of its book.
type List struct {
	book  *Book
	nodes int
	d     grid.Duration
}

// Offers returns the offers with their known prices; the others are Unpriced.
func (l *List) Offers() []Offer { return l.book.offers }

// Price returns the price of offer i, 0 if it is not feasible, and stores it in the offer.
func (l *List) Price(i int) grid.Duration {
	o := &l.book.offers[i]
	if o.Additive == Unpriced {
		l.try(o)
	}
	return o.Additive
}

// Within reports whether offer i costs at most most, which must not be below 0. If that can
// be decided without its price, the offer stays Unpriced.
func (l *List) Within(i int, most grid.Duration) bool {
	o := &l.book.offers[i]
	if o.Additive == Unpriced {
		l.book.ceiling.set(most)
		l.try(o)
	}
	return o.Additive <= most
}

// try prices an offer, unless its price is found to be within the ceiling first.
func (l *List) try(o *Offer) {
	b := l.book
	b.paths.on = b.paths.open
	exact := b.replan(o.Start, l.nodes, l.d)
	b.paths.close(b.harm, exact)
	if b.ceiling.on = false; exact {
		o.Additive = b.harm.thousandths()
	}
}
