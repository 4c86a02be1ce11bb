package journal

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// entry is a fact and when it was recorded.
type entry struct {
	at   grid.Time
	fact agents.Fact
}

// collect returns what a replay hands out.
func collect(list *[]entry) func(grid.Time, agents.Fact) {
	return func(at grid.Time, f agents.Fact) { *list = append(*list, entry{at, f}) }
}

var north = Options{Agent: "site:north"}

// leg is a fact that differs for each n.
func leg(n int) agents.Fact {
	return facts.LegMoved{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 2, Nonce: 1 << 63, Seq: uint64(n)}, Leg: n % 3},
		State: grid.Held, What: grid.Leg{Group: "main", Nodes: n%64 + 1, Start: grid.Time(n) * 1000, End: grid.Time(n)*1000 + 3_600_123},
		Job: "wave", User: "ana", Fare: grid.Fare{Base: 1_250_000, Additive: 7}, Limit: 2 * grid.Credit}
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
		e := entry{grid.Time(n), leg(n)}
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

// file is the content of a segment, and where its records end: ends[i] is the
// end of the i-th fact, ends[0] that of the head.
func file(t testing.TB, disk Disk, n uint64) (data []byte, ends []int) {
	t.Helper()
	data, err := disk.Read(segmentName(n))
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSegment("f", data)
	if err != nil {
		t.Fatal(err)
	}
	_, head, _ := readHead("f", data)
	ends = []int{head}
	for i := range s.frames {
		ends = append(ends, s.frames[i].end())
	}
	return data, ends
}

// Every prefix of a file is what a crash may leave; it replays to the facts that
// are whole, and the journal goes on after them.
func TestJournal_EveryPrefixReplaysToAPrefix(t *testing.T) {
	t.Parallel()
	whole := &Memory{}
	j, _ := mustOpen(t, whole, north)
	want := mustAppend(t, j, 1, 6)
	data, ends := file(t, whole, 1)
	for n := range len(data) + 1 {
		disk := &Memory{}
		disk.Write(segmentName(1), data[:n])
		if n < ends[0] {
			if _, err := Open(disk, north, nil); !isCorrupt(err) {
				t.Fatalf("a head of %d bytes: %v", n, err)
			}
			continue
		}
		facts := 0
		for facts+1 < len(ends) && ends[facts+1] <= n {
			facts++
		}
		j, got := mustOpen(t, disk, north)
		equal(t, got, want[:facts])
		if j.Cut() != n-ends[facts] {
			t.Fatalf("of a file of %d bytes %d are cut, want %d", n, j.Cut(), n-ends[facts])
		}
		more := mustAppend(t, j, 100, 102)
		disk.Crash(nil, false)
		_, got = mustOpen(t, disk, north)
		equal(t, got, append(want[:facts:facts], more...))
	}
}

func isCorrupt(err error) bool {
	var c *CorruptError
	return errors.As(err, &c)
}

// A flipped bit is found wherever it lies, in the last record too, and nothing is
// replayed or changed.
func TestJournal_EveryFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	whole := &Memory{}
	j, _ := mustOpen(t, whole, north)
	mustAppend(t, j, 1, 5)
	data, ends := file(t, whole, 1)
	for bit := range 8 * len(data) {
		disk := whole.Clone()
		disk.Flip(segmentName(1), bit)
		var got []entry
		_, err := Open(disk, north, collect(&got))
		var damage *CorruptError
		if !errors.As(err, &damage) || len(got) > 0 {
			t.Fatalf("bit %d: %v, %d facts replayed", bit, err, len(got))
		}
		if at := int64(bit / 8); damage.File != segmentName(1) || at >= int64(ends[0]) &&
			(damage.Offset > at || !slices.Contains(ends, int(damage.Offset)) || at >= nextEnd(ends, damage.Offset)) {
			t.Fatalf("bit %d: %v", bit, err)
		}
		if after, _ := disk.Read(segmentName(1)); len(after) != len(data) {
			t.Fatalf("bit %d: the damaged file was changed", bit)
		}
	}
}

// More than a bit in the last record is taken for what a crash has left.
func TestJournal_CutsALastRecordOfOtherBytes(t *testing.T) {
	t.Parallel()
	whole := &Memory{}
	j, _ := mustOpen(t, whole, north)
	want := mustAppend(t, j, 1, 5)
	data, ends := file(t, whole, 1)
	last := ends[len(ends)-2]
	for at := last; at < len(data); at++ {
		disk := &Memory{}
		disk.Write(segmentName(1), append(data[:at:at], bytes.Repeat([]byte{0xa5}, len(data)-at)...))
		j, got := mustOpen(t, disk, north)
		equal(t, got, want[:len(want)-1])
		if j.Cut() != len(data)-last {
			t.Fatalf("%d bytes are cut", j.Cut())
		}
	}
}

func nextEnd(ends []int, offset int64) int64 {
	return int64(ends[slices.Index(ends, int(offset))+1])
}

// A record cut out of the middle leaves whole records with the wrong numbers;
// so does one that stands twice.
func TestJournal_RefusesAMissingOrRepeatedRecord(t *testing.T) {
	t.Parallel()
	whole := &Memory{}
	j, _ := mustOpen(t, whole, north)
	mustAppend(t, j, 1, 6)
	data, ends := file(t, whole, 1)
	for name, damaged := range map[string][]byte{
		"missing": slices.Concat(data[:ends[2]], data[ends[3]:]),
		"twice":   slices.Concat(data[:ends[3]], data[ends[2]:]),
		"swapped": slices.Concat(data[:ends[1]], data[ends[2]:ends[3]], data[ends[1]:ends[2]], data[ends[3]:]),
	} {
		disk := &Memory{}
		disk.Write(segmentName(1), damaged)
		if _, err := Open(disk, north, nil); !isCorrupt(err) || !strings.Contains(err.Error(), "should") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file system may have given the file its length before the data: a tail of
// zeros is torn like any other.
func TestJournal_CutsATailOfZeros(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	j, _ := mustOpen(t, disk, north)
	want := mustAppend(t, j, 1, 4)
	data, _ := file(t, disk, 1)
	disk.Write(segmentName(1), append(data, make([]byte, 4096)...))
	j, got := mustOpen(t, disk, north)
	equal(t, got, want)
	if j.Cut() != 4096 {
		t.Errorf("%d bytes are cut", j.Cut())
	}
}

// Whatever a disk loses of what was not synced, what was synced is replayed, and
// nothing but facts that were appended, in order.
func TestJournal_LosesNothingThatWasSynced(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		disk := &Memory{}
		j, _ := mustOpen(t, disk, withImage)
		var all []entry // of this life and those before
		synced := 0
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"append", "append", "sync", "snapshot", "crash"}).Draw(rt, "step") {
			case "append":
				all = append(all, mustNote(t, j, len(all)))
			case "sync":
				if err := j.Sync(); err != nil {
					rt.Fatal(err)
				}
				synced = len(all)
			case "snapshot":
				if err := j.Snapshot(grid.Time(len(all)), image{uint64(len(all))}); err != nil {
					rt.Fatal(err)
				}
				synced = len(all)
			case "crash":
				disk.Crash(func(_ string, from, to int) int { return rapid.IntRange(from, to).Draw(rt, "survives") }, rapid.Bool().Draw(rt, "names"))
				var got []entry
				j, got = mustOpen(t, disk, withImage)
				from := 0
				if len(got) > 0 {
					if i, ok := got[0].fact.(image); ok {
						from, got = int(i.Facts), got[1:]
					}
				}
				if n := from + len(got); n < synced || n > len(all) || j.Facts() != uint64(n) {
					rt.Fatalf("%d facts come back, %d counted, of %d appended and %d synced", n, j.Facts(), len(all), synced)
				}
				all = all[:from+len(got)]
				equal(t, got, all[from:])
				synced = len(all)
			}
		}
	})
}

// image stands for the state of an agent: all facts so far.
type image struct {
	Facts uint64 `json:"facts"`
}

func (image) Kind() string { return "test-image" }

var withImage = Options{Agent: north.Agent, Codec: NewCodec(image{})}

func mustNote(t testing.TB, j *Journal, n int) entry {
	t.Helper()
	e := entry{grid.Time(n), leg(n)}
	if err := j.Append(e.at, e.fact); err != nil {
		t.Fatal(err)
	}
	return e
}

// The journal has failed for good after any operation of the disk that fails:
// what a second try would say is not known to be true.
func TestJournal_FailsForGood(t *testing.T) {
	t.Parallel()
	for _, op := range []Op{OpAppend, OpSync} {
		disk := &Memory{}
		j, _ := mustOpen(t, disk, north)
		want := mustAppend(t, j, 1, 3)
		broken := errors.New("input/output error")
		disk.Fault = func(o Op, _ string) error {
			if o == op {
				return broken
			}
			return nil
		}
		_ = mustNote(t, j, 3)
		first := j.Sync()
		if !errors.Is(first, broken) || !errors.Is(first, ErrFailed) || !strings.Contains(first.Error(), "site:north, 00000001.journal") {
			t.Errorf("%v: %v", op, first)
		}
		disk.Fault = nil // the disk is well again, the journal is not
		for name, err := range map[string]error{"append": j.Append(4, leg(4)), "sync": j.Sync(), "snapshot": j.Snapshot(4, leg(4))} {
			if !errors.Is(err, ErrFailed) {
				t.Errorf("%v, then %s: %v", op, name, err)
			}
		}
		disk.Crash(nil, true)
		_, got := mustOpen(t, disk, north)
		equal(t, got, want)
	}
}

func TestJournal_FullDiskLosesOnlyWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	for room := 200; room < 2500; room += 7 {
		disk := &Memory{Room: room}
		var want []entry
		j, err := Open(disk, north, nil)
		for n := 1; err == nil; n++ {
			if err = j.Append(grid.Time(n), leg(n)); err == nil {
				if err = j.Sync(); err == nil {
					want = append(want, entry{grid.Time(n), leg(n)})
				}
			}
		}
		if !errors.Is(err, ErrFull) {
			t.Fatalf("a disk of %d bytes: %v", room, err)
		}
		disk.Room = 0
		_, got := mustOpen(t, disk, north) // no crash: all that was written is still there
		equal(t, got, want)
	}
}

func TestJournal_RefusesWhatItCouldNotReadBack(t *testing.T) {
	t.Parallel()
	j, _ := mustOpen(t, &Memory{}, north)
	if err := j.Append(1, image{}); err == nil || !strings.Contains(err.Error(), "test-image") {
		t.Errorf("a fact of an unknown kind: %v", err)
	}
	j, _ = mustOpen(t, &Memory{}, north)
	if err := j.Append(1, facts.LegMoved{State: grid.Held, Job: "a"}); err != nil {
		t.Error(err)
	}
	if err := j.Append(1, &facts.LegMoved{}); err == nil {
		t.Error("a pointer to a fact is taken")
	}
}

func TestJournal_RefusesAnotherAgentsAndALaterVersion(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	mustOpen(t, disk, north)
	if _, err := Open(disk, Options{Agent: "site:south"}, nil); err == nil || !strings.Contains(err.Error(), "of site:north, not of site:south") {
		t.Errorf("another agent: %v", err)
	}
	data, _ := file(t, disk, 1)
	later := &Memory{}
	later.Write(segmentName(1), bytes.Replace(data, []byte(" 1\n"), []byte(" 2\n"), 1))
	if _, err := Open(later, north, nil); !isCorrupt(err) || !strings.Contains(err.Error(), "journal version 2, and this build reads version 1: another release of bourse") {
		t.Errorf("a later version: %v", err)
	}
	moved := &Memory{}
	moved.Write(segmentName(2), data)
	if _, err := Open(moved, north, nil); !isCorrupt(err) || !strings.Contains(err.Error(), "segment 1 under another name") {
		t.Errorf("a segment under another name: %v", err)
	}
}

func TestJournal_SyncsOnceForMany(t *testing.T) {
	t.Parallel()
	count := map[Op]int{}
	disk := &Memory{Fault: func(op Op, _ string) error { count[op]++; return nil }}
	j, _ := mustOpen(t, disk, north)
	clear(count)
	mustAppend(t, j, 1, 51)
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	if count[OpAppend] != 1 || count[OpSync] != 1 {
		t.Errorf("50 facts and 2 syncs took %v", count)
	}
}
