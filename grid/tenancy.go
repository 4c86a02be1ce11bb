package grid

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Grants are the terms that the operator of a VO sets for a user or a tenant (a group of
// users), by the name of the Term. A missing term is not set.
type Grants map[string]int64

// Holder is a user or a tenant, and what is set for it.
type Holder struct {
	User   string `json:"user,omitempty"`   // Everyone: all users without terms of their own
	Tenant string `json:"tenant,omitempty"` // in place of a user
	In     string `json:"in,omitempty"`     // the tenant that a user is in, Nobody for none; "": not set
	Terms  Grants `json:"terms,omitempty"`
}

// Everyone stands for the users who are not named, and Nobody for no tenant.
const (
	Everyone = "*"
	Nobody   = "-"
)

// Words names the holder: "ana", or "tenant physics".
func (h Holder) Words() string {
	switch {
	case h.Tenant != "":
		return "tenant " + h.Tenant
	case h.User == Everyone:
		return "everyone else"
	}
	return h.User
}

// Same reports whether two holders are the same user or tenant.
func (h Holder) Same(o Holder) bool { return h.User == o.User && h.Tenant == o.Tenant }

// Compare orders holders: tenants first, by name.
func (h Holder) Compare(o Holder) int {
	return cmp.Or(cmp.Compare(h.User, o.User), cmp.Compare(h.Tenant, o.Tenant))
}

// Equal reports whether two holders are equal, including their terms.
func (h Holder) Equal(o Holder) bool {
	return h.Same(o) && h.In == o.In && maps.Equal(h.Terms, o.Terms)
}

// The names of the terms.
const (
	TermShare       = "share"
	TermPriority    = "priority"
	TermMaxPriority = "max_priority"
	TermMaxWaiting  = "max_waiting"
	TermMaxNodes    = "max_nodes"
	TermNodeHours   = "node_hours"
	TermCredits     = "credits"
	TermPeriod      = "period"
	TermQuota       = "quota"
)

// Term is one kind of terms.
type Term struct {
	Name     string
	Unit     TermUnit
	Min, Max int64 // in base units
	UserOnly bool
	Doc      string
}

// TermUnit says how a term is written, and what it counts in Grants.
type TermUnit uint8

// The units.
const (
	Number      TermUnit = iota // as it is
	NodeHours                   // node-milliseconds; written in hours
	CreditUnits                 // micro-credits; written in credits
	Days                        // milliseconds; written as a duration of whole days
)

// MaxPeriod is the longest period of a bound, and NodeHour the node-time that a
// node takes in an hour.
const (
	MaxPeriod     = 31 * Day
	DefaultPeriod = 30 * Day
	NodeHour      = int64(Hour)
)

// TermList lists all terms, in the order in which they are shown.
func TermList() []Term {
	return []Term{
		{TermShare, Number, 1, 1000, false, "share of the places in the broker's batches, relative to the others' shares"},
		{TermPriority, Number, -1000, 1000, false, "those with a higher one come first in every batch; a user's and the tenant's are added"},
		{TermMaxPriority, Number, 0, 1000, false, "granted: highest `priority` that a job may request. Up to it a job's priority counts against other users' jobs; without it, only among the user's own"},
		{TermMaxWaiting, Number, 1, 100_000, false, "limit on waiting jobs; further ones are refused"},
		{TermMaxNodes, Number, 1, 1_000_000, false, "limit on nodes that are reserved at any one time"},
		{TermNodeHours, NodeHours, 0, 1_000_000_000 * NodeHour, false, "limit on node-hours that are reserved in windows that begin in one `period`"},
		{TermCredits, CreditUnits, 0, int64(MaxBudget), false, "limit on credits that are spent or promised for windows that begin in one `period`"},
		{TermPeriod, Days, int64(Day), int64(MaxPeriod), false, "period of `node_hours` and `credits`: whole days, counted from 1970-01-01 UTC, in a simulation from its start"},
		{TermQuota, CreditUnits, 0, int64(MaxBudget), true, "limit on credits that are spent over the broker's life"},
	}
}

// FindTerm returns the term of a name.
func FindTerm(name string) (Term, error) {
	list := TermList()
	i := slices.IndexFunc(list, func(t Term) bool { return t.Name == name })
	if i < 0 {
		names := make([]string, len(list))
		for i := range list {
			names[i] = list[i].Name
		}
		return Term{}, fmt.Errorf("there is no term %q; there are %s", brief(name), strings.Join(names, ", "))
	}
	return list[i], nil
}

// Parse reads a term's value as people write it: 64, 100.5, 30d.
func (t Term) Parse(s string) (int64, error) {
	v, err := t.read(s)
	if err != nil {
		return 0, fmt.Errorf("%s %q: %w", t.Name, brief(s), err)
	}
	return v, t.Check(v)
}

func (t Term) read(s string) (int64, error) {
	switch t.Unit {
	case NodeHours:
		c, err := ParseCredits(s) // hours with six digits behind the point
		if err != nil {
			return 0, fmt.Errorf("must be a number of node-hours, such as 100 or 0.5")
		}
		return int64(c/Credit)*NodeHour + int64(c%Credit)*NodeHour/int64(Credit), nil
	case CreditUnits:
		c, err := ParseCredits(s)
		return int64(c), err
	case Days:
		d, err := ParseDuration(s)
		return int64(d), err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("must be a whole number")
	}
	return n, nil
}

// Check says what is wrong with a value.
func (t Term) Check(v int64) error {
	switch {
	case v < t.Min || v > t.Max:
		return fmt.Errorf("%s is %s; must be %s to %s", t.Name, t.Words(v), t.Words(t.Min), t.Words(t.Max))
	case t.Unit == Days && v%int64(Day) != 0:
		return fmt.Errorf("%s is %s; must be whole days, such as 7d", t.Name, t.Words(v))
	}
	return nil
}

// Words writes a value as Parse reads it.
func (t Term) Words(v int64) string {
	switch t.Unit {
	case NodeHours:
		return NodeHourWords(v)
	case CreditUnits:
		return Credits(v).String()
	case Days:
		return Duration(v).Words()
	}
	return strconv.FormatInt(v, 10)
}

// NodeHourWords writes node-time in hours, with two digits behind the point at most.
func NodeHourWords(v int64) string {
	return strconv.FormatInt(v/NodeHour, 10) + strings.TrimRight(fmt.Sprintf(".%02d", v%NodeHour*100/NodeHour), "0.")
}

// CheckHolder says what is wrong with what is set for a user or a tenant.
func CheckHolder(h Holder) error {
	if (h.User == "") == (h.Tenant == "") {
		return fmt.Errorf("terms are of a user or of a tenant; name one of them")
	}
	for _, name := range []string{h.User, h.Tenant, h.In} {
		if name == "" {
			continue
		}
		if err := CheckName(name); err != nil {
			return err
		}
	}
	switch {
	case h.Tenant == Nobody || h.Tenant == Everyone:
		return fmt.Errorf("%q is not a name that a tenant may have", h.Tenant)
	case h.Tenant != "" && h.In != "":
		return fmt.Errorf("tenant %s cannot be in tenant %s; users are", h.Tenant, h.In)
	}
	for _, name := range slices.Sorted(maps.Keys(h.Terms)) {
		t, err := FindTerm(name)
		if err != nil {
			return err
		}
		if t.UserOnly && h.Tenant != "" {
			return fmt.Errorf("%s is of users; a tenant has credits and a period", name)
		}
		if name == TermQuota && h.User == Everyone {
			return fmt.Errorf("a quota is of a user by name; give everyone else credits and a period")
		}
		if err := t.Check(h.Terms[name]); err != nil {
			return err
		}
	}
	return nil
}
