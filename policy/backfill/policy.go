package backfill

import (
	"fmt"
	"strconv"
	"strings"
)

// ParsePolicy reads "fcfs", "first-fit", "easy", "easy-fair", "conservative" or
// "reserve=K", where 0 <= K < All blocked heads hold a reservation. Anything else is an
// error.
func ParsePolicy(s string) (Policy, error) {
	switch s {
	case "fcfs":
		return FCFS, nil
	case "first-fit":
		return FirstFit, nil
	case "easy":
		return EASY, nil
	case "easy-fair":
		return EASYFair, nil
	case "conservative":
		return Conservative, nil
	}
	if k, ok := strings.CutPrefix(s, "reserve="); ok {
		n, err := strconv.Atoi(k)
		if err != nil || n < 0 || n >= All {
			return Policy{}, fmt.Errorf("policy %q: K must be a whole number of queue heads, 0..%d", s, All-1)
		}
		return Policy{Backfill: true, Reserve: n}, nil
	}
	return Policy{}, fmt.Errorf("policy %q is unknown; write fcfs, easy, easy-fair, conservative, reserve=K or first-fit", s)
}

// String returns the name that ParsePolicy reads. EASYShortest has the name "easy-sjbf",
// which ParsePolicy does not accept.
func (p Policy) String() string {
	switch {
	case !p.Backfill:
		return "fcfs"
	case p.Conservative():
		return "conservative"
	case p == EASYShortest:
		return "easy-sjbf"
	case p == EASYFair:
		return "easy-fair"
	case p.Reserve == 0:
		return "first-fit"
	case p.Reserve == 1:
		return "easy"
	}
	return "reserve=" + strconv.Itoa(p.Reserve)
}

// Conservative reports whether every job keeps the start it was guaranteed.
func (p Policy) Conservative() bool { return p.Backfill && p.Reserve == All }

// MarshalText returns the policy's name. The error is always nil.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the policy's name, for flags and configuration files.
func (p *Policy) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePolicy(string(b))
	return err
}
