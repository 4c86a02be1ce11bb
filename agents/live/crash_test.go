package live

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// A process that dies in any operation of its disk loses nothing that it has acknowledged
// to anybody: an asker, a watcher, a viewer or a peer. What it replays is the sum of a
// sequence of requests, each counted once, that includes the acknowledged ones and no more
// requests than were made.
func TestCrash_NothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		disk := &journal.Memory{}
		w := &witness{}
		lives := rapid.IntRange(1, 4).Draw(t, "lives")
		for range lives {
			w.live(t, disk)
			names := rapid.Bool().Draw(t, "names")
			disk.Fault = nil
			disk.Crash(func(_ string, synced, written int) int {
				return rapid.IntRange(synced, written).Draw(t, "kept")
			}, names)
		}
		p := &purse{}
		if _, err := journal.Open(disk, journal.Options{Agent: toy, Codec: toyJournal.Codec}, p.Replay); err != nil {
			t.Fatal(err)
		}
		w.judge(t, p)
	})
}

// witness records everything that any life has told anybody.
type witness struct {
	mu    sync.Mutex
	asked int64 // requests made
	seq   int64 // the most additions that anybody was told of
	sums  map[int64]int64
	torn  bool // two were told different sums of one state
}

// told records that a life has reported the sum n after a number of additions.
func (w *witness) told(seq, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sums == nil {
		w.sums = map[int64]int64{}
	}
	if was, known := w.sums[seq]; known && was != n {
		w.torn = true
	}
	w.sums[seq] = n
	w.seq = max(w.seq, seq)
}

// live is one life of a purse: askers, a watcher and viewers at once, until an
// operation of the disk fails.
func (w *witness) live(t *rapid.T, disk *journal.Memory) {
	left := rapid.IntRange(0, 60).Draw(t, "operations until it dies")
	disk.Fault = func(journal.Op, string) error {
		if left--; left < 0 {
			return errDisk
		}
		return nil
	}
	h := quiet(Options{SnapshotEvery: rapid.IntRange(3, 40).Draw(t, "snapshot"), BatchSteps: rapid.IntRange(1, 16).Draw(t, "batch")})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer func() {
		if err := h.Stop(ctx); errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	}()
	if err := h.Add(toy, &purse{}, disk, toyJournal); err != nil {
		if !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
		return
	}
	var seq int64
	begun := make(chan struct{})
	_ = h.View(ctx, toy, func(_ grid.Time, a agents.Agent) {
		seq = int64(a.(*purse).added)
		w.told(seq, a.(*purse).sum)
		h.Watch(toy, func(_ grid.Time, f agents.Fact) {
			<-begun
			if f, ok := f.(added); ok { // no additions before it have been missed
				seq++
				w.told(seq, f.Sum)
			}
		})
	})
	close(begun)
	var group sync.WaitGroup
	for n := range int64(4) {
		group.Go(func() { w.asker(ctx, h, n+1) })
	}
	select {
	case <-h.Failed():
	case <-time.After(patience):
		t.Fatal("the disk has not failed")
	}
	group.Wait()
}

// asker gives n into the purse until the life ends.
func (w *witness) asker(ctx context.Context, h *Host, n int64) {
	for {
		w.mu.Lock()
		w.asked++
		w.mu.Unlock()
		m, err := h.Ask(ctx, "user:ana", toy, put{n})
		if err != nil {
			return
		}
		w.told(m.(total).Seq, m.(total).Sum)
		_ = h.View(ctx, toy, func(_ grid.Time, a agents.Agent) {
			w.told(int64(a.(*purse).added), a.(*purse).sum)
		})
	}
}

// judge holds what a restart replays against what was told.
func (w *witness) judge(t *rapid.T, p *purse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case int64(p.added) < w.seq:
		t.Fatalf("%d additions were acknowledged, %d are replayed", w.seq, p.added)
	case int64(p.added) > w.asked:
		t.Fatalf("%d additions are replayed, %d were asked for", p.added, w.asked)
	case w.torn:
		t.Fatal("two were told different sums after the same additions: one of them was forgotten")
	}
	if sum, told := w.sums[int64(p.added)]; told && sum != p.sum {
		t.Fatalf("replayed %d after %d additions; somebody was told %d", p.sum, p.added, sum)
	}
}
