package journal

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// failSync makes the next sync of a file on the second disk fail.
func (d *twoDisks) failSync(name string) {
	done := false
	d.refuse = func(op Op, of string) error {
		if op == OpSync && of == name && !done {
			done = true
			return errBroken
		}
		return nil
	}
}

// everyMirror calls do with two disks of each kind, on which a journal is open.
func everyMirror(t *testing.T, do func(t *testing.T, d *twoDisks)) {
	t.Helper()
	for name, d := range map[string]*twoDisks{"required": newTwoDisks(true), "not required": newTwoDisks(false), "required, forgets": newTwoDisks(true), "not required, forgets": newTwoDisks(false)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d.second.Forgets = strings.HasSuffix(name, "forgets")
			if _, err := d.open(); err != nil {
				t.Fatal(err)
			}
			do(t, d)
		})
	}
}

// The image of a snapshot is written to the mirror, and its sync fails there. The mirror is
// brought up to date before the segment gets its name: it finds the file, with all its
// bytes, and makes it durable all the same.
func TestMirror_ASegmentWhoseSyncFailedIsWholeWhenItHasItsName(t *testing.T) {
	t.Parallel()
	d := newTwoDisks(true)
	if _, err := d.open(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, d.j, 1, 4)
	d.failSync("00000002.new")
	if err := d.j.Snapshot(4, image{3}); err != nil {
		t.Fatal(err)
	}
	if s := d.m.State(); s.Failures != 1 || !s.Current {
		t.Fatalf("%+v", s)
	}
	d.crash(nil, false)
	if n := factsOn(t, d.second); n != 3 {
		t.Errorf("the mirror has %d facts", n)
	}
}

// The same of any file, for a mirror that is not required and catches up in between.
func TestMirror_AFileWhoseSyncFailedIsDurableOnceItIsCurrent(t *testing.T) {
	t.Parallel()
	everyMirror(t, func(t *testing.T, d *twoDisks) {
		d.failSync("file.new")
		err := d.m.Append("file.new", []byte("all of it"))
		if err == nil {
			err = d.m.Sync("file.new")
		}
		d.retry()
		if err == nil {
			err = d.m.Rename("file.new", "file")
		}
		if err == nil {
			err = d.m.SyncNames()
		}
		if s := d.m.State(); err != nil || s.Failures != 1 || !s.Current {
			t.Fatalf("%v, %+v", err, s)
		}
		d.crash(nil, false)
		if text, err := d.second.Read("file"); err != nil || string(text) != "all of it" {
			t.Errorf("the mirror has %q: %v", text, err)
		}
	})
}

// After a sync of the growing segment has failed, a later one that succeeds need not mean
// anything: what the mirror shows of the segment is not believed but written again.
func TestMirror_AfterASyncThatFailedTheLastSegmentIsWrittenAgain(t *testing.T) {
	t.Parallel()
	everyMirror(t, func(t *testing.T, d *twoDisks) {
		mustAppend(t, d.j, 1, 3)
		d.failSync(segmentName(1))
		mustAppend(t, d.j, 3, 5)
		d.retry()
		mustAppend(t, d.j, 5, 6)
		if s := d.m.State(); s.Failures != 1 || !s.Current || s.Differed != 0 {
			t.Fatalf("%+v", s)
		}
		d.crash(nil, false)
		if n := factsOn(t, d.second); n != 5 {
			t.Errorf("the mirror has %d facts", n)
		}
	})
}

// A mirror that is required and was lost is not gone on without, by any operation.
func TestMirror_ThatIsRequiredIsNotGoneOnWithoutOnceItIsLost(t *testing.T) {
	t.Parallel()
	d := newTwoDisks(true)
	if _, err := d.open(); err != nil {
		t.Fatal(err)
	}
	d.down.Store(true)
	d.failSync("file")
	if err := d.m.Append("file", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.m.Sync("file"); err == nil || !strings.Contains(err.Error(), "mirror_required") {
			t.Errorf("it is synced without its mirror: %v", err)
		}
	}
	if err := d.m.Append("file", []byte("y")); err == nil || !strings.Contains(err.Error(), "mirror_required") {
		t.Errorf("it is written without its mirror: %v", err)
	}
}

// The word of a journal is durable beside it before it is on the mirror, also if a sync of
// the names failed at the first start.
func TestMirror_TheWordOfAJournalIsDurableBeforeItIsOnTheMirror(t *testing.T) {
	t.Parallel()
	d := newTwoDisks(false)
	d.main.Fault = func(op Op, _ string) error {
		if op == OpSyncNames {
			return errBroken
		}
		return nil
	}
	if _, err := d.open(); err == nil {
		t.Fatal("it begins without durable names")
	}
	syncs := 0
	d.main.Fault = func(op Op, _ string) error {
		if op == OpAppend { // of the first segment
			return errBroken
		}
		if op == OpSyncNames {
			syncs++
		}
		return nil
	}
	if _, err := d.open(); err == nil || syncs == 0 {
		t.Fatalf("%v, %d syncs of names", err, syncs)
	}
	d.crash(nil, false)
	if _, err := d.open(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, d.j, 1, 3)
}

// A start makes all that it replays durable first, because others may be told of it at once.
func TestOpen_WhatIsReplayedIsDurable(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	j, _ := mustOpen(t, disk, withImage)
	mustAppend(t, j, 1, 3)
	if err := j.Append(3, leg(3)); err != nil {
		t.Fatal(err)
	}
	if err := j.write(); err != nil { // and the process is killed
		t.Fatal(err)
	}
	if j, _ = mustOpen(t, disk, withImage); j.Facts() != 3 {
		t.Fatalf("%d facts are replayed", j.Facts())
	}
	disk.Crash(nil, false)
	if n := factsOn(t, disk); n != 3 {
		t.Errorf("3 facts were replayed, and then there are %d", n)
	}
}

// A process that is killed before the name of a new segment is durable leaves the segment
// to the next one, whose answers must not go with the name.
func TestOpen_ASegmentItGoesOnWithHasADurableName(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	j, _ := mustOpen(t, disk, withImage)
	mustAppend(t, j, 1, 3)
	disk.Fault = func(op Op, _ string) error {
		if op == OpSyncNames {
			return errBroken
		}
		return nil
	}
	if err := j.Snapshot(3, image{2}); err == nil {
		t.Fatal("a segment is begun without a durable name")
	}
	disk.Fault = nil
	j, _ = mustOpen(t, disk, withImage)
	for n := 3; n < 6; n++ {
		if err := j.Append(grid.Time(n), leg(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	disk.Crash(nil, false)
	if n := factsOn(t, disk); n != 5 {
		t.Errorf("5 facts were answered, and then there are %d", n)
	}
}

// A copy does not append to the temporary file that an interrupted copy has left.
func TestCopy_BeginsAnewAfterAnInterruptedOne(t *testing.T) {
	t.Parallel()
	from, to := &Memory{}, &Memory{}
	j, _ := mustOpen(t, from, withImage)
	mustAppend(t, j, 1, 4)
	to.Fault = func(op Op, _ string) error {
		if op == OpSync {
			return errBroken
		}
		return nil
	}
	if _, err := Copy(from, to, false); err == nil {
		t.Fatal("a copy is made without a sync")
	}
	to.Fault = nil
	if _, err := Copy(from, to, false); err != nil {
		t.Fatal(err)
	}
	list, err := Read(to, withImage.Codec, func(Record) error { return nil })
	if err != nil || len(list) != 1 || list[0].Facts != 3 || list[0].Torn != 0 {
		t.Errorf("the copy: %v, %+v", err, list)
	}
}

// A copy that a crash has interrupted, of a file that is then written again, does not end
// the next start.
func TestMirror_AnInterruptedCopyOfAFileThatIsWrittenAgainIsNoError(t *testing.T) {
	t.Parallel()
	d := newTwoDisks(false)
	if _, err := d.open(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, d.j, 1, 4)
	d.crash(nil, false)
	d.second.Write(segmentName(1)+suffixCopy, []byte("the beginning"))
	d.second.Flip(segmentName(1), 8*200)
	if _, err := d.open(); err != nil {
		t.Fatal(err)
	}
	if names, err := d.second.Names(); err != nil || len(names) != 2 || factsOn(t, d.second) != 3 {
		t.Errorf("the mirror has %v: %v", names, err)
	}
}
