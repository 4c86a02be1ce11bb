package sla

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Disclosure says what a site shows to outsiders. A site never shows its queue; this is
// about what it says of the queue.
type Disclosure uint8

const (
	Full   Disclosure = iota // free slots, prices, reasons with their figures, names of the delayed
	Prices                   // the same without names
	Closed                   // a price or a refusal, and alternatives: no slots, figures or names
)

var disclosures = [...]string{"full", "prices", "closed"}

// ParseDisclosure reads "full", "prices" or "closed".
func ParseDisclosure(s string) (Disclosure, error) {
	if i := slices.Index(disclosures[:], s); i >= 0 {
		return Disclosure(i), nil
	}
	return 0, fmt.Errorf("disclose %q is unknown; write full, prices or closed", s)
}

// String is the name that ParseDisclosure reads.
func (d Disclosure) String() string { return disclosures[d] }

// MarshalText writes the name.
func (d Disclosure) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the name, for flags and configuration files.
func (d *Disclosure) UnmarshalText(b []byte) (err error) {
	*d, err = ParseDisclosure(string(b))
	return err
}

// Slots reports whether outsiders see the free slots.
func (d Disclosure) Slots() bool { return d != Closed }

// Names reports whether outsiders see whose work is delayed or in the way.
func (d Disclosure) Names() bool { return d == Full }

// Tell returns what an outsider learns of a reason: with Closed only the code, unless the
// text just repeats what the outsider has said.
func (d Disclosure) Tell(r grid.Reason) grid.Reason {
	if d == Closed && r.Code != grid.Invalid && r.Code != grid.OverBudget {
		r.Detail = ""
	}
	return r
}
