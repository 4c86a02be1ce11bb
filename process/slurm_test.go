package process

import (
	"regexp"
	"testing"
)

func TestSlurmPrefix_IsOneSitesOnly(t *testing.T) {
	t.Parallel()
	odd := slurmPrefix("nörd site")
	if slurmPrefix("north") != "bourse.north." || slurmPrefix("north-2") != "bourse.north-2." || odd == slurmPrefix("nörd sitf") || !regexp.MustCompile(`^bourse\.[0-9a-f]{16}\.$`).MatchString(odd) {
		t.Errorf("prefixes %s, %s", slurmPrefix("north"), odd)
	}
}
