package simulation

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
)

// Part returns which runs of a sweep belong to part i of n, 1 <= i <= n. That depends only
// on the runs, not on timing: they are dealt out in the order of a hash of their settings
// and seed. So expensive settings do not end up in one part, and the parts differ in size
// by at most one.
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
