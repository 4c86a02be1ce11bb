package journal

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// ahead is a journal of four right records, then some of a clock two hours ahead,
// with an image among them.
func ahead(t *testing.T) *Memory {
	t.Helper()
	disk := &Memory{}
	j, err := Open(disk, Options{Agent: "site:north", Keep: grid.Day}, func(grid.Time, agents.Fact) {})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		at := grid.Time(i) * 1000
		if i >= 4 {
			at = at.Add(2 * grid.Hour)
		}
		err = errors.Join(err, j.Append(at, facts.LifeSeen{Broker: "vo1", Address: "broker:vo1", Incarnation: uint32(i), Nonce: 1}))
		if i == 6 {
			err = errors.Join(err, j.Snapshot(at, facts.SiteImage{Facts: uint64(i)}))
		}
	}
	if err := errors.Join(err, j.Sync()); err != nil {
		t.Fatal(err)
	}
	return disk
}

// readAll is what a journal says, and when.
func readAll(t *testing.T, disk Disk) (recorded []agents.Fact, at []grid.Time) {
	t.Helper()
	if _, err := Read(disk, vocabulary(), func(r Record) error {
		recorded, at = append(recorded, r.Fact), append(at, r.At)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return recorded, at
}

func ignored(Record) error { return nil }

// Records later than the instant are moved back to it, in every segment. Their contents
// stay, and the original files are kept beside the new ones.
func TestRebase_BringsLaterRecordsBack(t *testing.T) {
	t.Parallel()
	disk := ahead(t)
	recorded, was := readAll(t, disk)
	to, err := Before(disk, 60_000)
	if err != nil || to != 3000 {
		t.Fatalf("the last right record is of %v, %v", to, err)
	}
	if first, _ := Before(disk, -1); first != -1 {
		t.Errorf("where all are later it is now, not %v", first)
	}
	names, _ := disk.Names()
	would, err := Rebase(disk, to, ".kept", false, ignored)
	if want := (Rebasing{Agent: "site:north", To: 3000, Latest: 7_208_000, First: 5, Records: 6, Files: []string{"00000001.journal", "00000002.journal"}}); err != nil || !reflect.DeepEqual(would, want) {
		t.Errorf("it would be %+v, %v; want %+v", would, err, want)
	}
	if same, _ := disk.Names(); !reflect.DeepEqual(same, names) {
		t.Errorf("the disk has %v", same)
	}
	var seen []grid.Time
	if did, err := Rebase(disk, to, ".kept", true, func(r Record) error {
		seen = append(seen, r.At)
		return nil
	}); err != nil || !reflect.DeepEqual(did, would) {
		t.Errorf("it was %+v, %v", did, err)
	}
	again, at := readAll(t, disk)
	if !reflect.DeepEqual(again, recorded) || !reflect.DeepEqual(at, seen) {
		t.Errorf("it says %v at %v", again, at)
	}
	for i := range at {
		if at[i] != min(was[i], to) {
			t.Errorf("record %d is of %v, it was of %v", i, at[i], was[i])
		}
	}
	kept := &Memory{}
	for _, name := range names {
		data, err := disk.Read(name + ".kept")
		if err != nil {
			t.Fatal(err)
		}
		kept.Write(name, data)
	}
	if old, at := readAll(t, kept); !reflect.DeepEqual(old, recorded) || !reflect.DeepEqual(at, was) {
		t.Errorf("the old files say %v at %v", old, at)
	}
	if none, err := Rebase(disk, to, ".again", true, ignored); err != nil || none.Records != 0 || len(none.Files) != 0 {
		t.Errorf("a second time it is %+v, %v", none, err)
	}
	j, err := Open(disk, Options{Agent: "site:north", Keep: grid.Day}, func(grid.Time, agents.Fact) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(4000, facts.LifeSeen{Broker: "vo1", Incarnation: 9, Nonce: 1}), j.Sync()); err != nil {
		t.Error(err)
	}
}

// Broken off in any operation of the disk, a rebase leaves a journal that says the
// same, and can be made again.
func TestRebase_MayBeBrokenOffAtEveryStep(t *testing.T) {
	t.Parallel()
	recorded, _ := readAll(t, ahead(t))
	for n := 0; ; n++ {
		disk := ahead(t)
		left := n
		disk.Fault = func(Op, string) error {
			if left--; left < 0 {
				return errors.New("broken off")
			}
			return nil
		}
		_, err := Rebase(disk, 3000, ".kept", true, ignored)
		if err == nil {
			if n < 10 {
				t.Errorf("it takes %d operations", n)
			}
			return
		}
		disk.Fault = nil
		disk.Crash(func(_ string, synced, _ int) int { return synced }, n%2 == 0)
		if says, _ := readAll(t, disk); !reflect.DeepEqual(says, recorded) {
			t.Fatalf("broken off after %d operations it says %v", n, says)
		}
		if _, err := Rebase(disk, 3000, ".kept", true, ignored); err != nil {
			t.Fatalf("broken off after %d operations it cannot be made again: %v", n, err)
		}
		if says, at := readAll(t, disk); !reflect.DeepEqual(says, recorded) || at[len(at)-1] != 3000 {
			t.Fatalf("made again after %d operations it says %v at %v", n, says, at)
		}
	}
}
