package sites

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// refusedLegs returns a site that has refused so many Holds, each for its price,
// and what it keeps of one, in bytes of the heap.
func refusedLegs(tb testing.TB, n int) (*Site, float64) {
	h := newStory(storyConfig(4), backfill.EASY, nil)
	before := heapNow()
	for i := range n {
		text := func(s string) string { return strings.Clone(s) } // as the wire decodes them, each on its own
		m := agents.Hold{Leg: grid.LegID{Tx: grid.TxID{Broker: text("physics"), Incarnation: 1, Nonce: 1, Seq: uint64(i + 1)}},
			What: grid.Leg{Group: text("main"), Nodes: 4, Start: 1_000_000, End: 2_000_000},
			Job:  fmt.Sprintf("render-%06d", i), User: text("ana@example.org"), Limit: 1, For: grid.Minute}
		h.say("broker:physics", m)
		h.trace, h.facts, h.later = nil, nil, nil
	}
	if got := len(h.site.kept); got != n {
		tb.Fatalf("%d legs are kept of %d", got, n)
	}
	for _, l := range h.site.kept {
		if l.State != grid.Refused {
			tb.Fatalf("leg %v is %v", l.Leg, l.State)
		}
	}
	return h.site, float64(heapNow()-before) / float64(n)
}

func heapNow() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A refused leg takes little memory, so that MaxKept of them, and the image with which the
// journal begins anew, fit into the memory that the unit file allows.
func TestSite_ARefusedLegIsKeptInLittle(t *testing.T) {
	const legs, most = 20_000, 700 // bytes
	site, each := refusedLegs(t, legs)
	t.Logf("%.0f bytes a leg", each)
	if each > most {
		t.Errorf("%.0f bytes are kept of a refused leg, at most %d were allowed", each, most)
	}
	if n := site.Parts(); n != legs/maxPart || len(site.Part(n-1).(facts.SiteImage).Legs) != maxPart {
		t.Errorf("the image has %d parts: it would take another %d bytes a leg at once", n, unsafe.Sizeof(facts.LegMemory{}))
	}
	runtime.KeepAlive(site)
}

// The memory of a leg, in bytes of the heap, at a tenth of MaxKept.
func BenchmarkSite_RefusedLegs100000(b *testing.B) {
	for b.Loop() {
		site, each := refusedLegs(b, 100_000)
		b.ReportMetric(each, "B/leg")
		runtime.KeepAlive(site)
	}
}
