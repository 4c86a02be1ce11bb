package failures

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/studies/evidence"
)

// The rows are what the settings measure and their differences, and what failures add on two
// sites more than on one is the difference of two of them. Failures reach the sites: there are
// refunds only where nodes fail.
func TestStudy_AddsUp(t *testing.T) {
	t.Parallel()
	rows, err := Study(Options{Seed: 1, Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	here := func(measure string, s setting) float64 { return evidence.Find(rows, measure, s.name()).Here }
	for f, name := range names {
		for i := 2; i < len(settings); i += 2 {
			one := here(name, settings[i]) - here(name, settings[0])
			two := here(name, settings[i+1]) - here(name, settings[1])
			if got := here(evidence.MoreThan(name, settings[1].name()), settings[i+1]); math.Abs(got-two) > 1e-6 {
				t.Errorf("%s, %s: %v more, want %v", name, settings[i+1].name(), got, two)
			}
			if got := here(reliability(f), settings[i+1]); math.Abs(got-(two-one)) > 1e-6 {
				t.Errorf("%s: %v, want %v - %v", reliability(f), got, two, one)
			}
		}
	}
	for i, s := range settings {
		if back := here(names[refunded], s); back < 0 || s.mtbf == "" && back > 0 || i >= 4 && back == 0 {
			t.Errorf("%s: %v credits refunded a job", s.name(), back)
		}
	}
	if text := Finding(rows); !strings.HasPrefix(text, "It cannot be told") { // one run has no interval
		t.Log(text)
	}
	if _, err := Study(Options{}); err == nil {
		t.Error("0 runs are no experiment")
	}
}
