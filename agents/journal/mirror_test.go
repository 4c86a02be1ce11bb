package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

var errBroken = errors.New("input/output error")

// A batch that only the mirror has, because the main disk was not synced before a crash,
// is copied at the start. Nobody was told of it, and afterwards both disks say the same.
func TestMirror_AheadByABatchIsTakenOver(t *testing.T) {
	t.Parallel()
	for _, torn := range []int{0, 7} {
		d := newTwoDisks(true)
		if _, err := d.open(); err != nil {
			t.Fatal(err)
		}
		want := mustAppend(t, d.j, 1, 4)
		before := len(d.main.files[segmentName(1)].data)
		want = append(want, mustAppend(t, d.j, 4, 6)...)
		d.crash(nil, true)
		f := d.main.files[segmentName(1)]
		f.data = f.data[:before+torn]
		f.synced = len(f.data)
		got, err := d.open()
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want)
		if s := d.m.State(); s.Took != 2 || !s.Current {
			t.Errorf("%+v", s)
		}
	}
}

// A torn end of the mirror is cut, and what it lacks is copied.
func TestMirror_ATornEndOnOneSideIsMended(t *testing.T) {
	t.Parallel()
	for cut := 1; cut < 60; cut += 7 {
		d := newTwoDisks(false)
		if _, err := d.open(); err != nil {
			t.Fatal(err)
		}
		want := mustAppend(t, d.j, 1, 5)
		d.crash(nil, true)
		f := d.second.files[segmentName(1)]
		f.data = f.data[:len(f.data)-cut]
		f.synced = len(f.data)
		got, err := d.open()
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want)
		if a, b := d.main.files[segmentName(1)], d.second.files[segmentName(1)]; !slices.Equal(a.data, b.data) || b.synced != len(b.data) {
			t.Errorf("the disks differ: %d and %d bytes, %d synced", len(a.data), len(b.data), b.synced)
		}
	}
}

// A mirror that has other records than the main disk at the start is said to, and is written
// anew; one that only lacks some, or has a torn end, is not.
func TestMirror_OneThatDiffersIsSaidTo(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		spoil func(b []byte) []byte
		want  int
	}{
		{func(b []byte) []byte { return b }, 0},
		{func(b []byte) []byte { return b[:len(b)-20] }, 0},
		{func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, 1},
	} {
		d := newTwoDisks(false)
		if _, err := d.open(); err != nil {
			t.Fatal(err)
		}
		want := mustAppend(t, d.j, 1, 5)
		d.crash(nil, true)
		f := d.second.files[segmentName(1)]
		f.data = x.spoil(f.data)
		f.synced = len(f.data)
		got, err := d.open()
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want)
		if n := d.m.State().Differed; n != x.want || !slices.Equal(d.main.files[segmentName(1)].data, d.second.files[segmentName(1)].data) {
			t.Errorf("%d segments are said to differ, want %d", n, x.want)
		}
	}
}

// A sync that fails on the mirror: with one that is required it is brought up at once or
// the answer is not given; otherwise the main disk goes on alone.
func TestMirror_ASyncThatFailsOnOneSide(t *testing.T) {
	t.Parallel()
	for _, required := range []bool{false, true} {
		for _, stays := range []bool{false, true} {
			d := newTwoDisks(required)
			if _, err := d.open(); err != nil {
				t.Fatal(err)
			}
			mustAppend(t, d.j, 1, 3)
			if err := d.j.Append(3, leg(3)); err != nil {
				t.Fatal(err)
			}
			d.down.Store(stays)
			d.fails.Store(1) // an append, then the sync
			err := d.j.Sync()
			s := d.m.State()
			switch {
			case required && stays:
				if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "mirror_required") {
					t.Errorf("without its mirror it answers: %v", err)
				}
			case err != nil || s.Failures != 1 || s.Current != required:
				t.Errorf("required=%t: %v, %+v", required, err, s)
			case required:
				left := d.second.Clone()
				if left.Crash(nil, false); factsOn(t, left) != 3 {
					t.Error("it answers before the mirror has it")
				}
			}
			d.main.Fault = func(op Op, _ string) error {
				if op == OpSync {
					return errBroken
				}
				return nil
			}
			if err == nil && (d.j.Append(4, leg(4)) != nil || d.j.Sync() == nil) {
				t.Error("a main disk that cannot be synced is let pass")
			}
		}
	}
}

// Without its main disk's journal the mirror is not written over: it must be restored.
func TestMirror_IsNotWrittenOverByAnEmptyDisk(t *testing.T) {
	t.Parallel()
	d := newTwoDisks(false)
	if _, err := d.open(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, d.j, 1, 3)
	d.crash(nil, true)
	d.main = &Memory{}
	if _, err := d.open(); err == nil || !strings.Contains(err.Error(), "journal restore") {
		t.Fatalf("an empty disk begins: %v", err)
	}
	d.down.Store(true)
	if _, err := d.open(); err == nil {
		t.Fatal("an empty disk begins without its mirror")
	}
	d.down.Store(false)
	d.main.Write("notes", nil)
	if _, err := Restore(d.second, d.main); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Fatalf("restored over other files: %v", err)
	}
	if factsOn(t, d.second) != 2 {
		t.Error("the mirror has changed")
	}
}

// A journal whose mirror was restored elsewhere is fenced: at its next start, and while
// it runs with its next answer, whether the mirror is required or not.
func TestMirror_AJournalThatWasRestoredElsewhereIsFenced(t *testing.T) {
	t.Parallel()
	for _, required := range []bool{false, true} {
		d := newTwoDisks(required)
		if _, err := d.open(); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, d.j, 1, 3)
		elsewhere := &Memory{}
		if _, err := Restore(d.second, elsewhere); err != nil {
			t.Fatal(err)
		}
		if err := d.j.Append(3, leg(3)); err != nil {
			t.Fatal(err)
		}
		if err := d.j.Sync(); !errors.Is(err, ErrFenced) {
			t.Errorf("required=%t: it goes on beside the restored one: %v", required, err)
		}
		d.crash(nil, true)
		if _, err := d.open(); !errors.Is(err, ErrFenced) {
			t.Errorf("required=%t: it begins beside the restored one: %v", required, err)
		}
		d.main = elsewhere
		got, err := d.open()
		if err != nil || len(got) < 2 {
			t.Errorf("the restored one does not go on: %v, %d facts", err, len(got))
		}
	}
}

// A mirror whose filling was broken off, and which lacks segments between, is restored
// from the last ones that follow each other.
func TestRestore_TakesWhatFollowsToTheEnd(t *testing.T) {
	t.Parallel()
	d := newTwoDisks(false)
	if _, err := d.open(); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 9; n += 2 {
		mustAppend(t, d.j, n, n+2)
		if err := d.j.Snapshot(grid.Time(n+1), image{uint64(n + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	want := mustAppend(t, d.j, 9, 11)
	d.crash(nil, true)
	delete(d.second.files, segmentName(3))
	to := &Memory{}
	run, err := Restore(d.second, to)
	if err != nil || len(run) != 2 || run[0].Segment != 4 {
		t.Fatalf("%v, %+v", err, run)
	}
	_, got := mustOpen(t, to, withImage)
	equal(t, got[1:], want)
	d.second.Flip(segmentName(5), 8*200)
	if _, err := Restore(d.second, &Memory{}); !isCorrupt(err) {
		t.Errorf("damage is restored: %v", err)
	}
}

// A mirror that comes back is brought up while the journal goes on, on real disks.
func TestMirror_CatchesUpWhenItIsBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main, err := OpenFolder(filepath.Join(dir, "main"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = main.Close() }()
	second, back := filepath.Join(dir, "second"), make(chan struct{})
	var down atomic.Bool
	m, err := OpenMirror(main, MirrorOptions{Retry: time.Millisecond, Open: func(string) (Disk, error) {
		if down.Load() {
			return nil, errBroken
		}
		return OpenFolder(second)
	}, Tell: func(s MirrorState) {
		if s.Current && s.Failures > 0 {
			close(back)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	j, _ := mustOpen(t, m, withImage)
	mustAppend(t, j, 1, 50)
	down.Store(true)
	m.mu.Lock()
	if err := m.lost(errBroken); err != nil {
		t.Fatal(err)
	}
	m.mu.Unlock()
	mustAppend(t, j, 50, 100)
	if err := j.Snapshot(100, image{99}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, 100, 150)
	down.Store(false)
	n := 150
	for waiting := true; waiting; {
		select {
		case <-back:
			waiting = false
		default:
			mustAppend(t, j, n, n+1)
			n++
		}
	}
	mustAppend(t, j, n, n+10)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := main.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		a, errA := os.ReadFile(filepath.Join(dir, "main", name))
		b, errB := os.ReadFile(filepath.Join(second, name))
		if name != "lock" && (errA != nil || errB != nil || !slices.Equal(a, b)) {
			t.Errorf("%s: %d bytes and %d on the mirror: %v, %v", name, len(a), len(b), errA, errB)
		}
	}
}

// The cost of a mirror for an answer: the two disks are synced at the same time.
func BenchmarkMirror_Sync(b *testing.B) {
	for _, mirrored := range []bool{false, true} {
		b.Run(fmt.Sprintf("mirrored=%t", mirrored), func(b *testing.B) {
			dir := b.TempDir()
			main, err := OpenFolder(filepath.Join(dir, "main"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = main.Close() }()
			disk := Disk(main)
			if mirrored {
				m, err := OpenMirror(main, MirrorOptions{Open: func(string) (Disk, error) { return OpenFolder(filepath.Join(dir, "second")) }})
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = m.Close() }()
				disk = m
			}
			j, _ := mustOpen(b, disk, north)
			for n := 1; b.Loop(); n++ {
				if err := j.Append(grid.Time(n), leg(n)); err != nil {
					b.Fatal(err)
				}
				if err := j.Sync(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
