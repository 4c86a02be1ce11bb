package simulation

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
)

// Part says which runs of a sweep are those of part i of n, 1 <= i <= n. They follow
// from what the runs are, not from who comes first: the runs in the order of a hash of
// their settings and seed are dealt out, so that dear settings do not meet in one part
// and the parts differ in size by one at most.
func (s *Sweep) Part(i, n int) func(run int) bool {
	type key struct {
		sum [sha256.Size]byte
		run int
	}
	order := make([]key, s.Runs())
	for run := range order {
		order[run] = key{sha256.Sum256(fmt.Appendf(nil, "%s, seed %d", s.Config.Words(s.Point(run)), s.Seed(run))), run}
	}
	slices.SortFunc(order, func(a, b key) int { return bytes.Compare(a.sum[:], b.sum[:]) })
	own := make([]bool, len(order))
	for place, k := range order {
		own[k.run] = place%n == i-1
	}
	return func(run int) bool { return own[run] }
}
