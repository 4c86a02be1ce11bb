package backfill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/policy/names"
)

// Policy says how a queue is served, by three choices that do not depend on each other: in
// which order it stands, how many of its blocked heads hold a reservation, and which jobs
// may overtake these. The zero Policy is FCFS. Check says which choices do not go together.
type Policy struct {
	Order   Order
	Reserve int // how many blocked heads hold a reservation, 0..All; All for conservative
	Filling Filling
}

// All gives every blocked job a reservation.
const All = 1 << 30

// The policies by their names.
var (
	FCFS         = Policy{}
	FirstFit     = Reserving(0)
	EASY         = Reserving(1)
	Conservative = Reserving(All)

	// EASYShortest is the order of EASY++ (Tsafrir, Etsion and Feitelson 2007): a
	// baseline for replays.
	EASYShortest = Policy{Reserve: 1, Filling: ShortestFirst}

	// EASYFair is EASY by fair share.
	EASYFair = Policy{Order: ByShare, Reserve: 1, Filling: InOrder}
)

// Reserving is the policy under which the first k blocked heads hold a reservation, and
// what fits beside them overtakes in queue order.
func Reserving(k int) Policy { return Policy{Reserve: k, Filling: InOrder} }

// Filling says which jobs may overtake the blocked heads.
type Filling uint8

const (
	// Nothing overtakes: first come first served.
	Nothing Filling = iota
	// InOrder lets the first job in queue order overtake that fits.
	InOrder
	// ShortestFirst lets the job with the shortest estimate overtake first, ties in queue
	// order. Prices ignore it: a book plans the queue in its order.
	ShortestFirst
)

type fillingIs struct {
	fill     func(g *Group, i int) // starts the jobs from line index i on that may overtake; nil: none may
	oneHead  bool                  // it knows the hold of one head only
	unpriced bool                  // prices do not know it: it is for replays alone
}

// fillings is the table of them. Those behind InOrder are named in a policy: "easy-sjbf".
var fillings = names.Table[Filling, fillingIs]{Kind: "filling", Lines: []names.Line[fillingIs]{
	Nothing:       {Name: "nothing", Means: "nothing overtaking"},
	InOrder:       {Name: "in-order", Means: "the first that fits overtaking", Is: fillingIs{fill: (*Group).fill}},
	ShortestFirst: {Name: "sjbf", Means: "the shortest job that fits overtaking first", Is: fillingIs{fill: (*Group).fillShortest, oneHead: true, unpriced: true}},
}}

// bases are the policies in order of arrival, by name. "reserve=K" stands for all other
// numbers of heads.
var bases = []struct {
	names.Policy
	is Policy
}{
	{names.Policy{Name: "fcfs", Means: "serves in order; the head waits, and everything behind it"}, FCFS},
	{names.Policy{Name: "easy", Means: "holds the head's place, and fills around it"}, EASY},
	{names.Policy{Name: "conservative", Means: "guarantees every job a start at its arrival and keeps it"}, Conservative},
	{names.Policy{Name: "reserve=K", Means: "holds the places of the first K, and fills around them"}, Reserving(-1)},
	{names.Policy{Name: "first-fit", Means: "starts whatever fits; promises nobody anything"}, FirstFit},
}

// Policies returns the policies with what they do. For the orders and fillings that a name
// may end with it has those of easy; ParsePolicy reads them with other bases too.
func Policies() []names.Policy {
	var list []names.Policy
	for i := range bases {
		list = append(list, bases[i].Policy)
		if bases[i].is != EASY {
			continue
		}
		for k, o := range orders.Policies()[ByArrival+1:] {
			p := EASY
			p.Order = ByArrival + 1 + Order(k)
			list = append(list, names.Policy{Name: p.String(), Means: "easy, with " + o.Means})
		}
		for k, f := range fillings.Policies()[InOrder+1:] {
			p := EASY
			p.Filling = InOrder + 1 + Filling(k)
			list = append(list, names.Policy{Name: p.String(), Means: "easy, with " + f.Means})
		}
	}
	return list
}

// PricedPolicies are those of Policies that a site may have, since its prices know them.
func PricedPolicies() []names.Policy {
	var list []names.Policy
	for _, x := range Policies() {
		if p, err := ParsePolicy(x.Name); err != nil || p.Priced() { // "reserve=K" is none to be read
			list = append(list, x)
		}
	}
	return list
}

// ParsePolicy reads the name of a policy: "fcfs", "first-fit", "easy", "conservative" or
// "reserve=K" with 0 <= K < All, then "-" and the name of an order, then "-" and that of a
// filling, as in "easy-fair", "reserve=8-fair", "easy-sjbf". Anything else is an error, and
// so is a policy that Check refuses.
func ParsePolicy(s string) (Policy, error) {
	base, filling := cutName(s, &fillings, InOrder)
	base, order := cutName(base, &orders, ByArrival)
	p, err := parseBase(s, base)
	if err != nil {
		return Policy{}, err
	}
	p.Order = order
	if filling > InOrder {
		if p.Filling == Nothing {
			return Policy{}, fmt.Errorf("policy %q: under %s nothing overtakes; leave -%s out", s, base, fillings.Name(filling))
		}
		p.Filling = filling
	}
	if err := p.Check(); err != nil {
		return Policy{}, fmt.Errorf("policy %q: %w", s, err)
	}
	return p, nil
}

// cutName cuts "-" and a name of a table behind the line implied from the end of s.
func cutName[K ~uint8, P any](s string, t *names.Table[K, P], implied K) (string, K) {
	for k := implied + 1; t.Known(k); k++ {
		if base, ok := strings.CutSuffix(s, "-"+t.Name(k)); ok {
			return base, k
		}
	}
	return s, implied
}

// parseBase reads the part base of the name s.
func parseBase(s, base string) (Policy, error) {
	if k, ok := strings.CutPrefix(base, "reserve="); ok {
		n, err := strconv.Atoi(k)
		if err != nil || n < 0 || n >= All {
			return Policy{}, fmt.Errorf("policy %q: K must be a whole number of queue heads, 0..%d", s, All-1)
		}
		return Reserving(n), nil
	}
	for i := range bases {
		if bases[i].Name == base {
			return bases[i].is, nil
		}
	}
	return Policy{}, names.Unknown("policy", s, names.Of(Policies()))
}

// String returns the name that ParsePolicy reads.
func (p Policy) String() string {
	name := "reserve=" + strconv.Itoa(p.Reserve)
	for i := range bases {
		if b := bases[i].is; b.Reserve == p.Reserve && (b.Filling == Nothing) == (p.Filling == Nothing) {
			name = bases[i].Name
		}
	}
	if p.Order > ByArrival {
		name += "-" + orders.Name(p.Order)
	}
	if p.Filling > InOrder {
		name += "-" + fillings.Name(p.Filling)
	}
	return name
}

// Check says which of the choices do not go together; nil if they do.
func (p Policy) Check() error {
	switch {
	case p.Filling == Nothing && p.Reserve != 0:
		return fmt.Errorf("%d heads hold reservations, but nothing may overtake them", p.Reserve)
	case p.Conservative() && p.Order != ByArrival:
		return fmt.Errorf("guarantees must not change with the order of the queue; leave -%s out", orders.Name(p.Order))
	case fillings.Is(p.Filling).oneHead && p.Reserve != 1:
		return fmt.Errorf("with -%s one head holds a reservation; must be easy-%s", fillings.Name(p.Filling), fillings.Name(p.Filling))
	}
	return nil
}

// Backfills reports whether jobs may overtake.
func (p Policy) Backfills() bool { return fillings.Is(p.Filling).fill != nil }

// Conservative reports whether every job keeps the start it was guaranteed.
func (p Policy) Conservative() bool { return p.Reserve == All }

// Priced reports whether prices know how the policy serves a queue. A site has no other.
func (p Policy) Priced() bool { return !fillings.Is(p.Filling).unpriced }

// ByOwner reports whether the order depends on whom jobs belong to; see Group.Rank.
func (p Policy) ByOwner() bool { return orders.Is(p.Order).byOwner }

// FairPolicies are the names of those of Policies that ByOwner holds for.
func FairPolicies() []string {
	return slices.DeleteFunc(names.Of(Policies()), func(s string) bool {
		p, err := ParsePolicy(s)
		return err != nil || !p.ByOwner()
	})
}

// ParsePriced is ParsePolicy for those that a site may have.
func ParsePriced(s string) (Policy, error) {
	p, err := ParsePolicy(s)
	switch {
	case names.IsUnknown(err):
		return Policy{}, names.Unknown("policy", s, names.Of(PricedPolicies()))
	case err == nil && !p.Priced():
		return Policy{}, fmt.Errorf("policy %q is for replays alone, as prices do not know its order; must be %s", s, names.Or(names.Of(PricedPolicies())))
	}
	return p, err
}

// MarshalText returns the policy's name. The error is always nil.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the policy's name, for flags and configuration files.
func (p *Policy) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePolicy(string(b))
	return err
}
