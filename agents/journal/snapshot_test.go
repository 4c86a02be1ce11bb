package journal

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A snapshot takes some operations of the disk. A process that dies, or a disk
// that fails, before any of them leaves a journal that says the same: an image
// of all facts, or the facts.
func TestSnapshot_MayBeBrokenOffAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, names := range []bool{false, true} {
		for _, unsynced := range []bool{false, true} {
			for step, done := 0, false; !done; step++ {
				done = breakOff(t, step, names, unsynced)
				if step > 20 {
					t.Fatal("a snapshot does not end")
				}
			}
		}
	}
}

// breakOff takes a snapshot that dies before its step-th operation, and reports
// whether it came to its end. names says whether the crash leaves the names as
// they were, unsynced whether all the bytes.
func breakOff(t *testing.T, step int, names, unsynced bool) (done bool) {
	t.Helper()
	disk := &Memory{}
	opt := withImage
	opt.Keep = grid.Second
	j, _ := mustOpen(t, disk, opt)
	all := mustAppend(t, j, 1, 4)
	if err := j.Snapshot(10_000, image{3}); err != nil {
		t.Fatal(err)
	}
	all = append(all, mustAppend(t, j, 4, 7)...)
	left := step
	died := errors.New("died")
	disk.Fault = func(Op, string) error {
		if left--; left < 0 {
			return died
		}
		return nil
	}
	err := j.Snapshot(20_000, image{6})
	disk.Fault = nil
	var keep func(string, int, int) int
	if unsynced {
		keep = func(_ string, _, written int) int { return written }
	}
	disk.Crash(keep, names)
	j, got := mustOpen(t, disk, opt)
	first, ok := got[0].fact.(image)
	if !ok || j.Facts() != 6 {
		t.Fatalf("step %d: %d facts, the first replayed is %+v", step, j.Facts(), got[0])
	}
	equal(t, got[1:], all[first.Facts:])
	mustAppend(t, j, 7, 9)
	if _, got := mustOpen(t, disk, opt); len(got) != 1+8-int(first.Facts) {
		t.Fatalf("step %d: after two more facts %d are replayed", step, len(got))
	}
	if list, err := disk.Names(); err != nil || slices.ContainsFunc(list, func(s string) bool { _, ok := segmentNumber(s); return !ok }) {
		t.Fatalf("step %d: %v, %v", step, list, err)
	}
	if err != nil && !errors.Is(err, died) {
		t.Fatal(err)
	}
	return err == nil
}

// Segments go when all their records are older than they are kept for, not
// sooner, whatever restarts there are in between.
func TestSnapshot_KeepsSegmentsAsLongAsAsked(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	opt := withImage
	opt.Keep = 25 * grid.Second
	for n := range 8 {
		j, _ := mustOpen(t, disk, opt)
		mustAppend(t, j, n, n+1)
		at := grid.Time(n+1) * 10_000
		if err := j.Snapshot(at, image{uint64(n + 1)}); err != nil {
			t.Fatal(err)
		}
		// Segment k ends with the snapshot at k x 10 s.
		var want []string
		for k := 1; k <= n+2; k++ {
			if k == n+2 || at < grid.Time(k)*10_000+25_000 {
				want = append(want, segmentName(uint64(k)))
			}
		}
		if got, _ := disk.Names(); !slices.Equal(got, want) {
			t.Errorf("after the snapshot at %v there are %v, want %v", at, got, want)
		}
	}
	facts := 0
	list, err := Read(disk, withImage.Codec, func(r Record) error {
		if !r.Image {
			facts++
		}
		return nil
	})
	if err != nil || len(list) != 4 || facts != 3 {
		t.Errorf("%d segments with %d facts: %v", len(list), facts, err)
	}
}

func TestSnapshot_ForEverKeepsAll(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	j, _ := mustOpen(t, disk, withImage)
	var want []entry
	for n := range 5 {
		want = append(want, mustAppend(t, j, n, n+1)...)
		if err := j.Snapshot(grid.Time(n)*grid.Time(grid.Day), image{uint64(n + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	var got []entry
	if _, err := Read(disk, withImage.Codec, func(r Record) error {
		if r.Number != uint64(len(got))+1 && !r.Image || r.Image && r.Number != uint64(len(got)) {
			return fmt.Errorf("record %d after %d facts", r.Number, len(got))
		}
		if !r.Image {
			got = append(got, entry{r.At, r.Fact})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	equal(t, got, want)
}

// The facts of a missing segment are lost. A journal must not go on as if they had never
// been recorded.
func TestRead_RefusesAMissingOrTornSegmentInTheMiddle(t *testing.T) {
	t.Parallel()
	whole := &Memory{}
	j, _ := mustOpen(t, whole, withImage)
	for n := range 3 {
		mustAppend(t, j, 2*n, 2*n+2)
		if err := j.Snapshot(grid.Time(n), image{uint64(2*n + 2)}); err != nil {
			t.Fatal(err)
		}
	}
	disk := whole.Clone()
	if err := disk.Remove(segmentName(2)); err != nil {
		t.Fatal(err)
	}
	visit := func(Record) error { return nil }
	if _, err := Read(disk, withImage.Codec, visit); !isCorrupt(err) {
		t.Errorf("without the second segment: %v", err)
	}
	disk = whole.Clone()
	data, _ := disk.Read(segmentName(2))
	disk.Write(segmentName(2), data[:len(data)-1])
	if _, err := Read(disk, withImage.Codec, visit); !isCorrupt(err) {
		t.Errorf("with a torn second segment: %v", err)
	}
}
