package history

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
)

// Every fact has a line, and only one.
func TestLine_EveryFactIsTold(t *testing.T) {
	t.Parallel()
	for _, f := range facts.Facts() {
		if line := string(Line(f)); line == "" && f.Kind() != "site-lost" || strings.Contains(line, "\n") {
			t.Errorf("%s: %q", f.Kind(), line)
		}
	}
}
