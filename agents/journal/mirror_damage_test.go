package journal

import (
	"bytes"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// threeSegments are a journal on two disks with two images, whose life is over.
func threeSegments(t *testing.T, keep grid.Duration) *twoDisks {
	t.Helper()
	d := newTwoDisks(false)
	if _, err := d.open(); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		for i := range 4 {
			mustNote(t, d.j, 10*n+i)
		}
		if err := d.j.Sync(); err != nil {
			t.Fatal(err)
		}
		if n < 3 {
			d.j.opt.Keep = keep
			if err := d.j.Snapshot(grid.Time(1000*n), image{uint64(n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.crash(nil, false)
	return d
}

// An older segment of the main disk that is cut short or has a hole, as after a sync that was
// none, does not take the place of the whole one on the mirror; nor does the mirror's take
// that of the main disk, which the operator may put back.
func TestMirror_AWholeSegmentIsNotReplacedByADamagedOne(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"cut within a record": func(b []byte) []byte { return b[:len(b)-7] },
		"cut within its head": func(b []byte) []byte { return b[:20] },
		"empty":               func([]byte) []byte { return nil },
		"ends in zeros":       func(b []byte) []byte { return append(b[:len(b)-40:len(b)-40], make([]byte, 80)...) },
	} {
		for _, n := range []uint64{1, 2} {
			d := threeSegments(t, 0)
			good, err := d.second.Read(segmentName(n))
			if err != nil {
				t.Fatal(err)
			}
			d.main.Write(segmentName(n), damage(bytes.Clone(good)))
			if _, err := d.open(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if d.j.Facts() != 12 {
				t.Errorf("%s: a start has %d facts", name, d.j.Facts())
			}
			d.crash(nil, true)
			if now, err := d.second.Read(segmentName(n)); err != nil || !bytes.Equal(now, good) {
				t.Errorf("%s: the mirror's segment %d is not as it was: %v", name, n, err)
			}
			if _, err := Read(d.main, withImage.Codec, func(Record) error { return nil }); !isCorrupt(err) {
				t.Errorf("%s: whoever reads the journal is told: %v", name, err)
			}
			restored := &Memory{}
			if run, err := Restore(d.second, restored); err != nil || len(run) != 3 {
				t.Errorf("%s: %d segments are brought back from the mirror: %v", name, len(run), err)
			}
		}
	}
}

// A main disk that has lost its last segments, as after a sync that was none, does not take
// the place of a mirror that has them and no longer those before.
func TestMirror_AJournalOfThePastDoesNotReplaceOneThatGoesOn(t *testing.T) {
	t.Parallel()
	d := threeSegments(t, 1)
	names, _ := d.second.Names()
	last, err := d.second.Read(segmentName(3))
	if err != nil {
		t.Fatalf("%v: %v", names, err)
	}
	if _, err := d.second.Read(segmentName(1)); err == nil {
		t.Fatalf("the first segment was not removed: %v", names)
	}
	early := threeSegments(t, 0)
	first, _ := early.main.Read(segmentName(1))
	for n := range uint64(3) {
		if _, err := d.main.Read(segmentName(n + 1)); err == nil {
			_ = d.main.Remove(segmentName(n + 1))
		}
	}
	d.main.Write(segmentName(1), first)
	if _, err := d.open(); !isCorrupt(err) {
		t.Errorf("a start is told: %v", err)
	}
	if now, err := d.second.Read(segmentName(3)); err != nil || !bytes.Equal(now, last) {
		t.Errorf("the mirror's last segment is not as it was: %v", err)
	}
	restored := &Memory{}
	if _, err := Restore(d.second, restored); err != nil {
		t.Fatal(err)
	}
	if n := factsOn(t, restored); n != 12 {
		t.Errorf("%d facts are brought back", n)
	}
}
