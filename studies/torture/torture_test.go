package torture

import (
	"slices"
	"strings"
	"testing"

	"bourse/agents/sim"
)

// A hundred seeds under the faults hold every invariant.
func TestTorture_EveryInvariantHolds(t *testing.T) {
	t.Parallel()
	sum := NewReport()
	_ = Each(1, 100, Options{}, func(r Result) error {
		sum.Add(r)
		return nil
	})
	for _, v := range sum.Violations {
		t.Errorf("seed %d: %s\nreplay: %s", v.Seed, v.Detail, v.Command)
	}
	if sum.Transactions < 100*100 || sum.Injected() < 20*100 {
		t.Errorf("%d transactions and %d faults in 100 seeds; 100 and 20 a seed are wanted", sum.Transactions, sum.Injected())
	}
	for k, n := range sum.Faults {
		if n < 20 {
			t.Errorf("%s struck %d times in 100 seeds", k, n)
		}
	}
	t.Logf("%d transactions, %d committed, %d faults: %v", sum.Transactions, sum.Committed, sum.Injected(), sum.Faults)
}

func TestTorture_WithoutFaultsNothingIsAborted(t *testing.T) {
	t.Parallel()
	r := Run(1, Options{Faults: []sim.Fault{}, Rerun: true})
	if r.Broken != nil {
		t.Fatal(r.Broken)
	}
	if r.Committed < 60 || r.Committed < r.Transactions*9/10 {
		t.Errorf("%d of %d tries committed", r.Committed, r.Transactions)
	}
}

func TestTorture_TheSameSeedGivesTheSameTrace(t *testing.T) {
	t.Parallel()
	trace := func(seed uint64) []string {
		var lines []string
		Run(seed, Options{Trace: func(l string) { lines = append(lines, l) }})
		return lines
	}
	one := trace(5)
	if !slices.Equal(one, trace(5)) {
		t.Error("the same seed gives another trace")
	}
	if slices.Equal(one, trace(6)) {
		t.Error("another seed gives the same trace")
	}
}

func TestFaults_AreReadAsTheyAreShown(t *testing.T) {
	t.Parallel()
	list := Faults(3)
	var b strings.Builder
	for _, f := range list {
		b.WriteString(f.String() + " # a note\n\n")
	}
	read, err := ParseFaults(b.String())
	if err != nil || !slices.Equal(read, list) {
		t.Errorf("%v, %v", read, err)
	}
	if _, err := ParseFaults("drop at=1\ndrop in=2"); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("an error that names no line: %v", err)
	}
}
