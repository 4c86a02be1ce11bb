package process

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// smallHeap is how large a small heap may become before it is collected.
const smallHeap = 24 << 20

// gcPercent is how much the heap of an agent's process may grow between two
// collections, unless GOGC is set, when so many bytes are live; 0: that is not known.
// Most of an agent's data lives long and it makes little garbage, so saving memory
// matters more than the collector's time. That holds for large heaps above all: 0.1 s for
// a collection of 100 MB is cheap for every 25 MB of garbage. Half of a few megabytes
// fills up at once, ten times a second under load.
func gcPercent(live uint64) int {
	switch {
	case live > 64<<20:
		return 25
	case live == 0 || live >= smallHeap*2/3:
		return 50
	}
	return min(400, int(smallHeap*100/live)-100)
}

// tuneCollector sets the percentage by what the last collection has left, after each
// collection, until ctx is done.
func tuneCollector(ctx context.Context) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	set := 0
	var tune func()
	tune = func() {
		metrics.Read(live)
		if p := gcPercent(live[0].Value.Uint64()); p != set {
			set = p
			debug.SetGCPercent(p)
		}
		if ctx.Err() == nil {
			runtime.AddCleanup(&struct{ _ [16]byte }{}, func(struct{}) { tune() }, struct{}{})
		}
	}
	tune()
}
