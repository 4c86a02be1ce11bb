// Package tree tests the tree itself: what imports what, what documents cite, which
// packages are run under the race detector, what a release holds.
package tree

import (
	"os"
	"testing"
)

// All tests read the tree from its top.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
