// Package evidencetest is for the tests of studies: it finds rows and checks their names.
package evidencetest

import (
	"testing"

	"github.com/bourse-grid/bourse/studies/evidence"
)

// Row finds the row of a measure under a setting, and fails the test unless there is just one.
func Row(t *testing.T, rows []evidence.Row, measure, setting string) (found evidence.Row) {
	t.Helper()
	n := 0
	for _, r := range rows {
		if r.Measure == measure && r.Setting == setting {
			found = r
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%d rows of %q, %q", n, measure, setting)
	}
	return found
}

// Distinct fails the test where two rows have one name, or a row lacks a verdict.
func Distinct(t *testing.T, rows []evidence.Row) {
	t.Helper()
	seen := map[[2]string]bool{}
	for _, r := range rows {
		key := [2]string{r.Measure, r.Setting}
		if seen[key] || r.Verdict == "" || r.Measure == "" || r.Setting == "" {
			t.Errorf("row %+v", r)
		}
		seen[key] = true
	}
}
