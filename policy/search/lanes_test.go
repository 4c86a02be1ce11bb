package search

import (
	"flag"
	"math"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// Lists of tests are short, and most of what they should try is lanes; benchmarks are of
// what runs.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // small heaps, much garbage: the collector takes four tenths of the time otherwise
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		manySlots = 8
	}
	os.Exit(m.Run())
}

// A list of one lane has the same windows as one of several, of which the same is left.
// It runs by itself, before the tests that run in parallel.
func TestBatch_LanesChangeNothing(t *testing.T) {
	was := manySlots
	defer func() { manySlots = was }()
	rapid.Check(t, func(t *rapid.T) {
		groups, free, jobs, o := drawBatch(t)
		var found [2]Result
		var left [2][]grid.Slot
		for i, many := range []int{math.MaxInt, 1} {
			manySlots = many
			l := fungible(groups, free, 0, 200*minute)
			found[i] = Batch(l, jobs, o)
			left[i] = slotsOf(l)
		}
		if !reflect.DeepEqual(found[0], found[1]) || !slices.Equal(left[0], left[1]) {
			t.Fatalf("in one lane %+v, which leaves %v\nin several %+v, which leaves %v", found[0], left[0], found[1], left[1])
		}
	})
}
