package check

import (
	"os"
	"runtime/debug"
	"testing"
)

// Worlds are small and short-lived: with the usual target the collector takes a fifth of the
// time, for a few megabytes.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
