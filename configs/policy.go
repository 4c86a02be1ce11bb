package configs

import (
	"strings"

	"bourse/policy/backfill"
)

var (
	policies      = []string{"fcfs", "easy", "conservative", "reserve=K", "first-fit"}
	laterPolicies = []string(nil)
)

// policy returns how a queue is served.
func (t *table) policy(key, def string) backfill.Policy {
	s := t.text(key, def)
	p, err := backfill.ParsePolicy(s)
	switch {
	case err == nil:
		return p
	case strings.HasPrefix(s, "reserve="):
		t.wrong(key, "%v", err)
	default:
		t.oneOf(key, def, policies, laterPolicies)
	}
	return backfill.EASY
}
