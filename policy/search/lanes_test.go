package search

import (
	"flag"
	"os"
	"testing"
)

// Lists of tests are short, and most of what they should try is lanes; benchmarks are of
// what runs.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		manySlots = 8
	}
	os.Exit(m.Run())
}
