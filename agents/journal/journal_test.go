package journal

import (
	"reflect"
	"testing"

	"bourse"
	"bourse/agents"
)

// entry is a fact and when it was recorded.
type entry struct {
	at   bourse.Time
	fact agents.Fact
}

// collect returns what a replay hands out.
func collect(list *[]entry) func(bourse.Time, agents.Fact) {
	return func(at bourse.Time, f agents.Fact) { *list = append(*list, entry{at, f}) }
}

var north = Options{Agent: "site:north"}

// leg is a fact that differs for each n.
func leg(n int) agents.Fact {
	return bourse.LegMoved{Leg: bourse.LegID{Tx: bourse.TxID{Broker: "vo1", Incarnation: 2, Nonce: 1 << 63, Seq: uint64(n)}, Leg: n % 3},
		State: bourse.Held, What: bourse.Leg{Group: "main", Nodes: n%64 + 1, Start: bourse.Time(n) * 1000, End: bourse.Time(n)*1000 + 3_600_123},
		Job: "wave", User: "ana", Fare: bourse.Fare{Base: 1_250_000, Additive: 7}, Limit: 2 * bourse.Credit}
}

func mustOpen(t testing.TB, disk Disk, opt Options) (*Journal, []entry) {
	t.Helper()
	var list []entry
	j, err := Open(disk, opt, collect(&list))
	if err != nil {
		t.Fatal(err)
	}
	return j, list
}

func mustAppend(t testing.TB, j *Journal, from, to int) (list []entry) {
	t.Helper()
	for n := from; n < to; n++ {
		e := entry{bourse.Time(n), leg(n)}
		if err := j.Append(e.at, e.fact); err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	return list
}

func equal(t testing.TB, got, want []entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d facts are replayed, want %d", len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("fact %d is replayed as %+v, want %+v", i+1, got[i], want[i])
		}
	}
}

func TestJournal_ReplaysWhatWasSynced(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	j, _ := mustOpen(t, disk, north)
	want := mustAppend(t, j, 1, 5000)
	if err := j.Append(9, leg(9)); err != nil {
		t.Fatal(err)
	}
	disk.Crash(nil, false)
	j, got := mustOpen(t, disk, north)
	equal(t, got, want)
	if j.Facts() != uint64(len(want)) || j.Cut() != 0 {
		t.Errorf("%d facts, %d bytes cut", j.Facts(), j.Cut())
	}
}
