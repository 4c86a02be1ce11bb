package sim

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"

	"pgregory.net/rapid"
)

func TestHeap_PopsInOrderOfInstantRankAndScheduling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var h eventHeap
		var twin []event
		for seq := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(twin) > 0 && rapid.IntRange(0, 2).Draw(t, "pop") == 0 {
				slices.SortFunc(twin, func(a, b event) int {
					return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.seq, b.seq))
				})
				if !h.due(twin[0].at) || h.due(twin[0].at-1) {
					t.Fatalf("the first is due at %v, the heap says otherwise", twin[0].at)
				}
				if got := h.pop(); got != twin[0] {
					t.Fatalf("popped %+v, want %+v", got, twin[0])
				}
				twin = twin[1:]
				continue
			}
			e := event{at: grid.Time(rapid.IntRange(0, 5).Draw(t, "at")), rank: rank(rapid.IntRange(0, 1).Draw(t, "rank")), seq: uint64(seq)}
			h.push(e)
			twin = append(twin, e)
		}
		if len(h) != len(twin) {
			t.Fatalf("%d events are left, want %d", len(h), len(twin))
		}
	})
}

// A popped event leaves no message behind for the collector to keep.
func TestHeap_PopLetsGoOfTheMessage(t *testing.T) {
	t.Parallel()
	var h eventHeap
	h.push(event{at: 1, m: note("x")})
	h.push(event{at: 2, m: note("y")})
	h.pop()
	h.pop()
	for _, e := range h[:2] {
		if e.m != nil {
			t.Errorf("still holds %v", e.m)
		}
	}
}

func BenchmarkHeap_PushPop(b *testing.B) {
	for _, waiting := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			var h eventHeap
			x := uint64(1)
			next := func() grid.Time { x = x*6364136223846793005 + 1; return grid.Time(x >> 44) }
			for i := range waiting {
				h.push(event{at: next(), seq: uint64(i)})
			}
			for b.Loop() {
				e := h.pop()
				e.at += next()
				h.push(e)
			}
		})
	}
}

// ticker sets its next alarm and greets its peer.
type ticker struct {
	peer agents.ID
	m    agents.Message
}

func (k *ticker) Step(now grid.Time, from agents.ID, _ agents.Message, out *agents.Outbox) {
	if from != k.peer {
		out.Alarm(now+1, k.m)
		out.Send(k.peer, k.m)
	}
}

// One step of a world: half of them alarms through the heap, half messages of
// the instant.
func BenchmarkWorld_Step(b *testing.B) {
	for _, pairs := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("agents=%d", 2*pairs), func(b *testing.B) {
			w := New()
			for i := range pairs {
				x, y := agents.ID(fmt.Sprint("x", i)), agents.ID(fmt.Sprint("y", i))
				w.Add(x, &ticker{y, note("tick")})
				w.Add(y, &ticker{x, note("tick")})
			}
			until := grid.Time(0)
			b.ReportAllocs()
			b.ResetTimer()
			for w.Steps() < uint64(b.N) {
				until++
				w.Run(until)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(w.Steps()), "ns/step")
		})
	}
}
