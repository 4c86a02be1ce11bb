package journal

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// all asks for every record of one kind.
type all struct {
	kind   string
	places []uint64
	looked int
	learnt int
}

func (s *all) Look(place uint64, kind string, payload []byte) bool {
	s.looked++
	if kind == s.kind {
		s.places = append(s.places, place)
	}
	return kind == s.kind
}
func (s *all) Learn(uint64, agents.Fact) { s.learnt++ }
func (s *all) Places() []uint64          { return s.places }

// segmented is a journal of three segments with two jobs in each; a segment begins
// at 100, 200 and 300.
func segmented(t *testing.T) (*Memory, *Journal) {
	t.Helper()
	disk := &Memory{}
	j, err := Open(disk, Options{Agent: "broker:vo1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		for k := range 2 {
			at := grid.Time(100*i + 10*k)
			for _, f := range []agents.Fact{facts.JobSubmitted{Job: grid.Job{Name: fmt.Sprint("job", 2*i+k)}}, facts.CycleClosed{Cycle: uint64(2*i + k)}} {
				if err := j.Append(at, f); err != nil {
					t.Fatal(err)
				}
			}
		}
		if i < 2 {
			if err := j.Snapshot(grid.Time(100*i+100), facts.BrokerImage{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	return disk, j
}

// found are the jobs that Find hands on.
func found(disk Disk, since grid.Time, s *all, stop func() error) (names []string, err error) {
	err = Find(disk, NewCodec(), since, s, stop, func(r Record) error {
		names = append(names, r.Fact.(facts.JobSubmitted).Job.Name)
		return nil
	})
	return names, err
}

func TestFind_HandsOnWhatTheSieveNamesInOrder(t *testing.T) {
	t.Parallel()
	disk, _ := segmented(t)
	real, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = real.Close() })
	if _, err := Copy(disk, real, false); err != nil {
		t.Fatal(err)
	}
	for _, disk := range []Disk{disk, real} { // one reads whole files, one in pieces
		s := &all{kind: "job-submitted"}
		names, err := found(disk, 0, s, nil)
		if want := []string{"job0", "job1", "job2", "job3", "job4", "job5"}; err != nil || !slices.Equal(names, want) || s.learnt != 6 || s.looked != 14 {
			t.Errorf("%q, %v; %d looked at, %d learnt", names, err, s.looked, s.learnt)
		}
	}
}

// Segments are read from the one before that in which the instant lies.
func TestFind_LeavesOlderSegmentsAlone(t *testing.T) {
	t.Parallel()
	disk, _ := segmented(t)
	for since, want := range map[grid.Time]int{0: 14, 99: 14, 100: 14, 199: 14, 200: 10, 1000: 10} {
		s := &all{kind: "job-submitted"}
		if _, err := found(disk, since, s, nil); err != nil || s.looked != want {
			t.Errorf("since %v: %d records of %d are looked at, %v", since, s.looked, want, err)
		}
	}
	if err := disk.Remove(segmentName(1)); err != nil {
		t.Fatal(err)
	}
	if names, err := found(disk, 0, &all{kind: "job-submitted"}, nil); err != nil || len(names) != 4 {
		t.Errorf("without the first segment: %q, %v", names, err)
	}
}

// A journal that is being written may end within a record. Damage is reported as by Read.
func TestFind_StopsAtATornTailAndTellsDamage(t *testing.T) {
	t.Parallel()
	disk, _ := segmented(t)
	for _, n := range []uint64{2, 3} {
		whole, err := disk.Read(segmentName(n))
		if err != nil {
			t.Fatal(err)
		}
		put := func(data []byte) {
			if err := errors.Join(disk.Truncate(segmentName(n), 0), disk.Append(segmentName(n), data)); err != nil {
				t.Fatal(err)
			}
		}
		for cut := range 40 {
			put(whole[:len(whole)-cut])
			_, want := Read(disk, NewCodec(), func(Record) error { return nil })
			if _, err := found(disk, 0, &all{kind: "job-submitted"}, nil); fmt.Sprint(err) != fmt.Sprint(want) || n == 3 && err != nil {
				t.Errorf("segment %d less %d bytes: %v; Read says %v", n, cut, err, want)
			}
		}
		for at := len(whole) - 700; at < len(whole); at += 13 {
			bad := slices.Clone(whole)
			bad[at] ^= 1 << (at % 8)
			put(bad)
			_, want := Read(disk, NewCodec(), func(Record) error { return nil })
			if _, err := found(disk, 0, &all{kind: "job-submitted"}, nil); fmt.Sprint(err) != fmt.Sprint(want) || err == nil {
				t.Errorf("segment %d with a bit wrong at %d: %v; Read says %v", n, at, err, want)
			}
		}
		put(whole)
	}
}

func TestFind_EndsWhenItIsToldTo(t *testing.T) {
	t.Parallel()
	disk, _ := segmented(t)
	gone := errors.New("the caller has gone")
	asked := 0
	s := &all{kind: "job-submitted"}
	if _, err := found(disk, 0, s, func() error {
		if asked++; asked > 2 {
			return gone
		}
		return nil
	}); !errors.Is(err, gone) || s.looked > 10 {
		t.Errorf("%v after %d records", err, s.looked)
	}
}
