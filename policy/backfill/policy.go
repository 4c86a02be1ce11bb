package backfill

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/policy/formula"
	"github.com/bourse-grid/bourse/policy/names"
)

// Policy says how a queue is served, by three choices that do not depend on each other: in
// which order it stands, how many of its blocked heads hold a reservation, and which jobs
// may overtake these. The zero Policy is FCFS. Check says which choices do not go together.
type Policy struct {
	Order   Order
	Reserve int // how many blocked heads hold a reservation, 0..All; All for conservative
	Filling Filling

	// By and FillBy are the formulas of ByFormula and FillByFormula; nil otherwise. With sets
	// them.
	By, FillBy *formula.Formula
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
	// order.
	ShortestFirst
	// FillByFormula lets the job with the least value of Policy.FillBy overtake first, ties
	// in queue order.
	FillByFormula
)

type fillingIs struct {
	overtakes bool // jobs may
	// turn is what goes first once all heads hold that may, least first, ties in queue order.
	// nil: queue order.
	turn    func(q *Queued) uint64
	like    string // the formula that Policy.Ordered takes for it; "": none
	formula bool   // it needs Policy.FillBy, and no name of a policy ends with it
}

// fillings is the table of them. Those behind InOrder are named in a policy: "easy-sjbf".
var fillings = names.Table[Filling, fillingIs]{Kind: "filling", Lines: []names.Line[fillingIs]{
	Nothing:       {Name: "nothing", Means: "nothing overtaking"},
	InOrder:       {Name: "in-order", Means: "the first that fits overtaking", Is: fillingIs{overtakes: true}},
	ShortestFirst: {Name: "sjbf", Means: "the shortest job that fits overtaking first", Is: fillingIs{overtakes: true, turn: func(q *Queued) uint64 { return uint64(q.Estimate) }, like: "predicted"}},
	FillByFormula: {Name: "formula", Means: "the least value of a formula overtaking first", Is: fillingIs{overtakes: true, turn: func(q *Queued) uint64 { return q.Turn }, formula: true}},
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
		for k, o := range orders.Policies() {
			p := EASY
			if p.Order = Order(k); p.Order == ByArrival || orders.Is(p.Order).formula {
				continue
			}
			list = append(list, names.Policy{Name: p.String(), Means: "easy, with " + o.Means})
		}
		for k, f := range fillings.Policies() {
			p := EASY
			if p.Filling = Filling(k); p.Filling <= InOrder || fillings.Is(p.Filling).formula {
				continue
			}
			list = append(list, names.Policy{Name: p.String(), Means: "easy, with " + f.Means})
		}
	}
	return list
}

// ParsePolicy reads the name of a policy: "fcfs", "first-fit", "easy", "conservative" or
// "reserve=K" with 0 <= K < All, then "-" and the name of an order, then "-" and that of a
// filling, as in "easy-fair", "reserve=8-fair", "easy-sjbf"; or instead of these, formulas,
// as in "easy order=wfp3 backfill_order=estimate * nodes". Anything else is an error, and so
// is a policy that Check refuses.
func ParsePolicy(s string) (Policy, error) {
	base, fill, filled := strings.Cut(s, fillBy)
	base, by, ordered := strings.Cut(base, orderBy)
	p, err := parseNamed(base)
	if err == nil && (ordered || filled) {
		if p, err = p.Ordered(given(by, ordered), given(fill, filled)); err != nil {
			err = fmt.Errorf("policy %q: %w", s, err)
		}
	}
	return p, err
}

// given is the text of a formula, which must not be empty if there is one.
func given(text string, is bool) string {
	if is && text == "" {
		return " "
	}
	return text
}

// What goes before the formulas in a policy's name.
const orderBy, fillBy = " order=", " backfill_order="

// KeyError is what is wrong with the formula of a key, "order" or "backfill_order".
type KeyError struct {
	Key string
	Err error
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

func wrongKey(key, format string, args ...any) *KeyError {
	return &KeyError{key, fmt.Errorf(format, args...)}
}

// Ordered returns p with the queue and the backfilling in the orders of two formulas; "" is
// none. Its error is a *KeyError.
func (p Policy) Ordered(order, fill string) (Policy, error) {
	with := p
	if order != "" {
		by, err := formula.Parse(order)
		switch {
		case err != nil:
			return p, wrongKey("order", "%w", err)
		case p.Conservative():
			return p, wrongKey("order", "with policy %v it would change guarantees; use reserve=K", p)
		case p.Order != ByArrival || p.Filling > InOrder:
			return p, wrongKey("order", "policy %v has an order of its own; use %v", p, p.plain())
		case by.Is(formula.Submit):
			// as it is
		case by.Is(formula.Usage):
			with.Order = ByShare
		default:
			with.Order, with.By = ByFormula, by
		}
	}
	if fill != "" {
		by, err := formula.Parse(fill)
		switch {
		case err != nil:
			return p, wrongKey("backfill_order", "%w", err)
		case p.Conservative():
			return p, wrongKey("backfill_order", "with policy %v it would change guarantees; use reserve=K", p)
		case !p.Backfills():
			return p, wrongKey("backfill_order", "under policy %v nothing overtakes; use easy", p)
		case p.Order != ByArrival || p.Filling > InOrder:
			return p, wrongKey("backfill_order", "policy %v has an order of its own; use %v", p, p.plain())
		case by.Is(formula.Predicted):
			with.Filling = ShortestFirst
		default:
			with.Filling, with.FillBy = FillByFormula, by
		}
	}
	return with, nil
}

// plain is p without orders of its own.
func (p Policy) plain() Policy {
	p.Order, p.By, p.FillBy = ByArrival, nil, nil
	p.Filling = min(p.Filling, InOrder)
	return p
}

// parseNamed reads a policy without formulas.
func parseNamed(s string) (Policy, error) {
	base, filling := cutName(s, &fillings, InOrder, func(is *fillingIs) bool { return is.formula })
	base, order := cutName(base, &orders, ByArrival, func(is *orderIs) bool { return is.formula })
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

// cutName cuts "-" and a name of a table behind the line implied from the end of s. It
// leaves out the lines that are not named.
func cutName[K ~uint8, P any](s string, t *names.Table[K, P], implied K, unnamed func(*P) bool) (string, K) {
	for k := implied + 1; t.Known(k); k++ {
		if unnamed(t.Is(k)) {
			continue
		}
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
	byName := p.By == nil && p.FillBy == nil
	switch {
	case p.By != nil:
		name += orderBy + p.By.String()
	case p.Order > ByArrival && byName:
		name += "-" + orders.Name(p.Order)
	case p.Order > ByArrival:
		name += orderBy + orders.Is(p.Order).like
	}
	switch {
	case p.FillBy != nil:
		name += fillBy + p.FillBy.String()
	case p.Filling > InOrder && byName:
		name += "-" + fillings.Name(p.Filling)
	case p.Filling > InOrder:
		name += fillBy + fillings.Is(p.Filling).like
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
	case p.Conservative() && p.Filling > InOrder:
		return fmt.Errorf("guarantees must not change with the order of backfilling; leave -%s out", fillings.Name(p.Filling))
	case (p.By != nil) != orders.Is(p.Order).formula || (p.FillBy != nil) != fillings.Is(p.Filling).formula:
		return errors.New("an order by formula needs its formula, and no other has one")
	case p.FillBy != nil && p.Order > ByArrival && p.By == nil && orders.Is(p.Order).like == "":
		return fmt.Errorf("no formula orders the queue as -%s does, so none can order the backfilling beside it", orders.Name(p.Order))
	case p.By != nil && p.Filling > InOrder && p.FillBy == nil && fillings.Is(p.Filling).like == "":
		return fmt.Errorf("no formula orders the backfilling as -%s does, so none can order the queue beside it", fillings.Name(p.Filling))
	}
	return nil
}

// Backfills reports whether jobs may overtake.
func (p Policy) Backfills() bool { return fillings.Is(p.Filling).overtakes }

// Conservative reports whether every job keeps the start it was guaranteed.
func (p Policy) Conservative() bool { return p.Reserve == All }

// Turn returns what the jobs that overtake go by, least first, ties in queue order; nil if
// they go in queue order.
func (p Policy) Turn() func(q *Queued) uint64 { return fillings.Is(p.Filling).turn }

// ByOwner reports whether an order depends on whom jobs belong to; see Group.Rank and
// Group.Value.
func (p Policy) ByOwner() bool {
	return orders.Is(p.Order).byOwner || p.By != nil && p.By.Uses(formula.Usage) || p.FillBy != nil && p.FillBy.Uses(formula.Usage)
}

// ByFormula reports whether an order is a formula's; see Group.Value.
func (p Policy) ByFormula() bool { return p.By != nil || p.FillBy != nil }

// InOrderOfArrival reports whether the queue stands as jobs arrive.
func (p Policy) InOrderOfArrival() bool { return orders.Is(p.Order).score == nil }

// FairPolicies are the names of those of Policies that ByOwner holds for.
func FairPolicies() []string {
	return slices.DeleteFunc(names.Of(Policies()), func(s string) bool {
		p, err := ParsePolicy(s)
		return err != nil || !p.ByOwner()
	})
}

// MarshalText returns the policy's name. The error is always nil.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the policy's name, for flags and configuration files.
func (p *Policy) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePolicy(string(b))
	return err
}
