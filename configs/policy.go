package configs

import (
	"strconv"
	"strings"

	"bourse/policy/backfill"
)

var (
	policies      = []string{"fcfs", "first-fit", "easy", "conservative", "reserve=K"}
	laterPolicies = []string{"sla-*", "libra", "librarisk", "edf", "edf-open"}
)

// policy returns how a queue is served.
func (t *table) policy(key, def string) backfill.Policy {
	s := t.text(key, def)
	switch s {
	case "fcfs":
		return backfill.FCFS
	case "first-fit":
		return backfill.FirstFit
	case "easy":
		return backfill.EASY
	case "conservative":
		return backfill.Conservative
	}
	if k, ok := strings.CutPrefix(s, "reserve="); ok {
		n, err := strconv.Atoi(k)
		if err == nil && n >= 0 && n <= backfill.All {
			return backfill.Policy{Backfill: true, Reserve: n}
		}
		t.wrong(key, "%q: K of reserve=K is a whole number, how many blocked jobs hold a reservation", s)
		return backfill.EASY
	}
	t.oneOf(key, def, policies, laterPolicies)
	return backfill.EASY
}
