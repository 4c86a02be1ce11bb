package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// growing is a journal that is written to: facts, and an image now and then.
func growing(t *testing.T, disk Disk, keep grid.Duration) (*Journal, func(i int)) {
	t.Helper()
	j, err := Open(disk, Options{Agent: "site:north", Keep: keep}, func(grid.Time, agents.Fact) {})
	if err != nil {
		t.Fatal(err)
	}
	return j, func(i int) {
		at := grid.Time(i) * 1000
		err := j.Append(at, facts.LifeSeen{Broker: "vo1", Address: "broker:vo1", Incarnation: uint32(i), Nonce: 1})
		if err == nil {
			err = j.Sync()
		}
		if err == nil && i%7 == 6 {
			err = j.Snapshot(at, facts.SiteImage{Facts: uint64(i)})
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func replayed(t *testing.T, disk Disk) (facts []agents.Fact) {
	t.Helper()
	_, err := Open(disk, Options{Agent: "site:north"}, func(_ grid.Time, f agents.Fact) { facts = append(facts, f) })
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

func TestCopy_IsTheJournal(t *testing.T) {
	t.Parallel()
	for _, last := range []bool{false, true} {
		disk, to := &Memory{}, &Memory{}
		_, write := growing(t, disk, 0)
		for i := range 25 {
			write(i)
		}
		copied, err := Copy(disk, to, last)
		if want := map[bool]int{false: 4, true: 1}[last]; err != nil || len(copied) != want {
			t.Fatalf("%d segments are copied, not %d: %v", len(copied), want, err)
		}
		if got, want := replayed(t, to), replayed(t, disk); !reflect.DeepEqual(got, want) {
			t.Errorf("the copy says %v, the journal %v", got, want)
		}
		if _, err := Copy(disk, to, last); err == nil {
			t.Error("a copy is written over another one")
		}
	}
}

// A copy is whole. Facts recorded while it is made may be in it or not.
func TestCopy_OfAJournalThatGrows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk, err := OpenFolder(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = disk.Close() }()
	_, write := growing(t, disk, 30*grid.Second) // older segments go meanwhile
	write(0)
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 1; i < 400; i++ {
			write(i)
		}
	})
	last := 0
	for k := range 40 {
		from, err := LookInto(filepath.Join(dir, "journal"))
		if err != nil {
			t.Fatal(err)
		}
		to := &Memory{}
		copied, err := Copy(from, to, k%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		end := copied[len(copied)-1]
		if n := int(end.Records + end.Facts); n < last {
			t.Errorf("copy %d has %d facts, the one before it %d", k, n, last)
		} else {
			last = n
		}
		replayed(t, to)
	}
	writer.Wait()
}

// A torn tail is left out, damage is not copied.
func TestCopy_LeavesTornTailsOutAndDamageWhereItIs(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	_, write := growing(t, disk, 0)
	for i := range 5 {
		write(i)
	}
	name := segmentName(1)
	data, err := disk.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	torn, damaged := &Memory{}, &Memory{}
	if err := torn.Append(name, data[:len(data)-3]); err != nil {
		t.Fatal(err)
	}
	to := &Memory{}
	if _, err := Copy(torn, to, false); err != nil {
		t.Fatal(err)
	}
	if got, want := len(replayed(t, to)), 4; got != want {
		t.Errorf("%d facts of a torn journal are copied, want %d", got, want)
	}
	data[len(data)/2] ^= 4
	if err := damaged.Append(name, data); err != nil {
		t.Fatal(err)
	}
	to = &Memory{}
	var corrupt *CorruptError
	if _, err := Copy(damaged, to, false); !errors.As(err, &corrupt) {
		t.Errorf("damage is copied: %v", err)
	}
	if names, _ := to.Names(); len(names) > 0 {
		t.Errorf("damage is copied to %v", names)
	}
	if _, err := Copy(&Memory{}, &Memory{}, false); err == nil || fmt.Sprint(err) == "" {
		t.Error("nothing is copied without a word")
	}
}
