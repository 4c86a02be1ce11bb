//go:build linux

package supervisor

import "testing"

// Processes left without a supervisor are killed until several passes in a row find none. Those
// found again and again are reported as left, however many passes it takes.
func TestUntilQuiet_OnlySeveralPassesThatFindNothingAreTheEnd(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name         string
		finds        func(pass int) int
		left, passes int
	}{
		{"nothing is there", func(int) int { return 0 }, 0, markedQuiet},
		{"all of it is killed at once", func(i int) int { return max(0, 2-2*i) }, 0, 1 + markedQuiet},
		{"one was missed", func(i int) int { return []int{3, 0, 1, 0, 0, 0, 0}[i] }, 0, 6},
		{"some hang in the kernel", func(int) int { return 2 }, 2, markedRounds},
		{"there is always another", func(i int) int { return i % 2 }, 1, markedRounds},
	} {
		passes := 0
		left, err := untilQuiet(func() (int, error) { passes++; return x.finds(passes - 1), nil })
		if left != x.left || passes != x.passes || err != nil {
			t.Errorf("%s: %d are left after %d passes, want %d after %d (%v)", x.name, left, passes, x.left, x.passes, err)
		}
	}
}
