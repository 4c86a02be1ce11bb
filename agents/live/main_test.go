package live

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, after which no goroutine may be left; or, in a child
// of a test, one node.
func TestMain(m *testing.M) {
	if options := os.Getenv(childVariable); options != "" {
		if err := runChild(options, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
