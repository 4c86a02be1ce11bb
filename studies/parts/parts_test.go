package parts

import (
	"math"
	"strings"
	"testing"
)

// In one window the quantum node idles for all but its own phase, at offsets not at all, and
// parts save the share of the classical nodes' time that the quantum phase takes.
func TestParts_AtOffsetsNothingIdles(t *testing.T) {
	t.Parallel()
	rows, err := Study(Options{Seed: 1, Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	near := func(measure, setting string, want, within float64) {
		t.Helper()
		for i := range rows {
			if rows[i].Measure == measure && rows[i].Setting == setting {
				if math.Abs(rows[i].Here-want) > within {
					t.Errorf("%s, %s: %v, want %v", measure, setting, rows[i].Here, want)
				}
				return
			}
		}
		t.Errorf("no row %s, %s", measure, setting)
	}
	for _, h := range hybridSettings {
		want := 0.0
		if !h.parts {
			want = float64(100 - h.quantum)
		} else {
			near(savedName, h.name, float64(h.quantum), 2)
		}
		near(partsNames[scarceIdle], h.name, want, 2)
	}
	if text := Finding(rows); !strings.Contains(text, "Parts save") {
		t.Error(text)
	}
	if _, err := Study(Options{}); err == nil {
		t.Error("0 runs are no experiment")
	}
}
