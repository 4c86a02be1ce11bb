package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// gcPercent is by how much the heap of an agent's process grows between two
// collections, unless GOGC says otherwise: what an agent keeps lives long and it
// makes little garbage, so memory is worth more than the time of the collector. That
// goes for a large heap above all: what a collection of 100 MB takes, 0.1 s, is not much
// for 25 MB of garbage, and of a small one a quarter would be gone at once.
func gcPercent(live uint64) int {
	if live > 64<<20 {
		return 25
	}
	return 50
}

// tuneCollector sets the percentage by the heap as it is now, and again every minute.
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
