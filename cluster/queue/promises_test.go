package queue

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// The same seed makes the same jobs flexible, and about as many as it should.
func TestPromises_DrawTheFlexibleByShare(t *testing.T) {
	t.Parallel()
	p := &promises{opt: PromiseOptions{Flexible: 300, Seed: 7}}
	n := 0
	for id := range int64(10_000) {
		if p.flexible(id) {
			n++
		}
	}
	if n < 2850 || n > 3150 {
		t.Errorf("%d of 10,000 jobs are flexible, want 3,000", n)
	}
}

// The deadline of a local job is that many times its estimate, to the millisecond.
func TestPromises_DeadlineIsAMultipleOfTheEstimate(t *testing.T) {
	t.Parallel()
	p := &promises{opt: PromiseOptions{Deadline: 4500, Flexible: 1000}}
	if a := p.agreement(0, 1, &grid.LocalJob{ID: 1, Nodes: 1, Estimate: 1999}); a.Deadline != 8995 {
		t.Errorf("4.5 times 1,999 ms are due at %d ms, want 8,995", a.Deadline)
	}
}
