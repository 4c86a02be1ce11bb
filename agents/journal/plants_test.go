//go:build plants

package journal

import (
	"errors"
	"testing"

	"github.com/bourse-grid/bourse/agents/plant"
)

// Each planted bug of this package breaks what a test here would see. They are
// run one after the other: the switch is one for the whole process.
func TestPlants_AreSeen(t *testing.T) {
	for name, seen := range map[string]func(*testing.T) bool{
		"no-sync": func(t *testing.T) bool {
			disk := &Memory{}
			j, _ := mustOpen(t, disk, north)
			want := mustAppend(t, j, 1, 4)
			disk.Crash(nil, false)
			_, got := mustOpen(t, disk, north)
			return len(got) < len(want)
		},
		"forgive-sync": func(t *testing.T) bool {
			disk := &Memory{}
			j, _ := mustOpen(t, disk, north)
			disk.Fault = func(op Op, _ string) error {
				if op == OpSync {
					return errors.New("input/output error")
				}
				return nil
			}
			_ = mustNote(t, j, 1)
			return j.Sync() == nil
		},
		"keep-torn-tail": func(t *testing.T) bool {
			disk := &Memory{}
			j, _ := mustOpen(t, disk, north)
			mustAppend(t, j, 1, 4)
			data, _ := file(t, disk, 1)
			disk.Write(segmentName(1), data[:len(data)-3])
			j, _ = mustOpen(t, disk, north)
			mustAppend(t, j, 4, 6)
			_, err := Open(disk, north, nil)
			return isCorrupt(err)
		},
		"skip-damage": func(t *testing.T) bool {
			disk := &Memory{}
			j, _ := mustOpen(t, disk, north)
			mustAppend(t, j, 1, 4)
			data, ends := file(t, disk, 1)
			data[ends[1]+40] ^= 1
			disk.Write(segmentName(1), data)
			_, got := mustOpen(t, disk, north)
			return len(got) == 1
		},
		"early-remove": func(t *testing.T) bool {
			disk := &Memory{}
			j, _ := mustOpen(t, disk, withImage)
			mustAppend(t, j, 1, 4)
			disk.Fault = func(op Op, _ string) error {
				if op == OpRename {
					return errors.New("died")
				}
				return nil
			}
			if err := j.Snapshot(5, image{3}); err == nil {
				t.Fatal("the snapshot did not die")
			}
			disk.Fault = nil
			disk.Crash(nil, true)
			_, got := mustOpen(t, disk, withImage)
			return len(got) == 0
		},
	} {
		if err := plant.Set(name); err != nil {
			t.Fatal(err)
		}
		if !seen(t) {
			t.Errorf("with %s nothing is seen", name)
		}
		if err := plant.Set(""); err != nil {
			t.Fatal(err)
		}
	}
}
