package process

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestCollector_ASmallHeapIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 50}, {1 << 20, 400}, {8 << 20, 200}, {16 << 20, 50}, {64 << 20, 50}, {65 << 20, 25}} {
		if p := gcPercent(c.live); p != c.want {
			t.Errorf("%d MB: %d %%, want %d", c.live>>20, p, c.want)
		}
	}
}

// After each collection the percentage is that of what it has left.
func TestCollector_FollowsTheHeap(t *testing.T) {
	before := debug.SetGCPercent(50)
	defer debug.SetGCPercent(before)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	tuneCollector(ctx)
	kept := make([]byte, 80<<20)
	percent := func() int {
		runtime.GC()
		p := debug.SetGCPercent(-1)
		debug.SetGCPercent(p)
		return p
	}
	for end := time.Now().Add(10 * time.Second); percent() != 25; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d %% with %d MB", percent(), len(kept)>>20)
		}
	}
	runtime.KeepAlive(kept)
}
