package queue

import (
	"testing"
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
