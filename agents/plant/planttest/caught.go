//go:build plants

// Package planttest runs planted bugs against a package's own tests.
package planttest

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/plant"
)

// Caught checks that the tests of a package see the planted bugs that name this package. sees
// has a function for each bug that reports whether the damage is seen. It must be false
// without the bug and true with it. The bugs are tried one after the other, because there is
// one switch.
func Caught(t *testing.T, pkg string, sees map[string]func(*testing.T) bool) {
	for _, b := range plant.List() {
		if b.Caught != pkg {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			seen := sees[b.Name]
			if seen == nil {
				t.Fatal("no test of this package is for it")
			}
			if seen(t) {
				t.Error("it is seen without the planted bug too")
			}
			if err := plant.Set(b.Name); err != nil {
				t.Fatal(err)
			}
			defer plant.Set("")
			if !seen(t) {
				t.Errorf("nobody notices: %s", b.Breaks)
			}
		})
	}
}
