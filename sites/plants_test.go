//go:build plants

package sites

import (
	"fmt"
	"os"
	"testing"

	"bourse/agents/plant"
)

// With the tag plants the tests run with the bug that BOURSE_PLANT names.
func TestMain(m *testing.M) {
	if err := plant.Set(os.Getenv("BOURSE_PLANT")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}
