package slots

import (
	"os"
	"runtime/debug"
	"testing"
)

// Heaps are small and garbage is much: with the usual target the collector takes a third of
// the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
