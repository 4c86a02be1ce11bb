package pricing

import "github.com/bourse-grid/bourse"

// Unpriced stands for the price of an offer of a List that is not known; it is below all others.
const Unpriced bourse.Duration = -1

// List is a list of offers whose prices are worked out as they are asked for; see
// Book.List. It is good until the next List, Offers or Reset of its book.
type List struct {
	book  *Book
	nodes int
	d     bourse.Duration
}

// Offers are the offers with the prices that are known; the others are Unpriced.
func (l *List) Offers() []Offer { return l.book.offers }

// Price returns the price of offer i, and notes it there; 0 where it is not feasible.
func (l *List) Price(i int) bourse.Duration {
	o := &l.book.offers[i]
	if o.Additive == Unpriced {
		l.try(o)
	}
	return o.Additive
}

// Within reports whether offer i costs so much at most, which must not be below 0. Where
// that can be seen without its price it stays Unpriced.
func (l *List) Within(i int, most bourse.Duration) bool {
	o := &l.book.offers[i]
	if o.Additive == Unpriced {
		l.book.ceiling.set(most)
		l.try(o)
	}
	return o.Additive <= most
}

// try prices an offer, unless it is seen to be below the ceiling.
func (l *List) try(o *Offer) {
	b := l.book
	b.paths.on = b.paths.open
	exact := b.replan(o.Start, l.nodes, l.d)
	b.paths.close(b.harm, exact)
	if b.ceiling.on = false; exact {
		o.Additive = b.harm.thousandths()
	}
}
