// Package thorough tells a test in which step of the check it runs. `go test ./...` is the
// quick step, for while one works: what takes long is left out, or done for fewer cases.
// `make check` sets BOURSE_CHECK=all for all packages, and then nothing is. So does whoever
// names a test with -run, unless BOURSE_CHECK says something else, such as quick. Only tests
// import this package.
package thorough

import (
	"flag"
	"os"
	"testing"
)

// Variable is the environment variable that asks for the whole check if it is All.
const (
	Variable = "BOURSE_CHECK"
	All      = "all"
)

// Check reports whether the whole check runs. Call it after the flags are parsed.
func Check() bool {
	if asked := os.Getenv(Variable); asked != "" {
		return asked == All
	}
	named := flag.Lookup("test.run")
	return named != nil && named.Value.String() != ""
}

// Only skips a test in the quick step, and under -short, as in the steps with the race
// detector. The words why go on "it ...".
func Only(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("it %s: not with -short", why)
	}
	if !Check() {
		t.Skipf("it %s, so only make check runs it, or %s=%s, or -run with its name", why, Variable, All)
	}
}

// Count returns how many cases a test tries: all of them in the whole check, few in the
// quick step.
func Count(all, few int) int {
	if Check() {
		return all
	}
	return few
}
