package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// gcPercent is how much the heap of an agent's process may grow between two
// collections, unless GOGC is set. Most of an agent's data lives long and it makes
// little garbage, so saving memory matters more than the collector's time. That holds
// for large heaps above all: 0.1 s for a collection of 100 MB is cheap for every 25 MB of
// garbage, whereas a quarter of a small heap fills up at once.
func gcPercent(live uint64) int {
	if live > 64<<20 {
		return 25
	}
	return 50
}

// tuneCollector sets the percentage by the present size of the heap, now and every minute.
func tuneCollector(ctx context.Context) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	for set := 0; ; {
		metrics.Read(live)
		if p := gcPercent(live[0].Value.Uint64()); p != set {
			set = p
			debug.SetGCPercent(p)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}
