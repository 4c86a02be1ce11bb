package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse"
)

func TestFolder_KeepsAJournalOverRestarts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "site-north")
	var want []entry
	for life := range 4 {
		disk, err := OpenFolder(path)
		if err != nil {
			t.Fatal(err)
		}
		opt := withImage
		opt.Keep = bourse.Second
		j, got := mustOpen(t, disk, opt)
		equal(t, got, want)
		if j.Facts() != uint64(life*3) {
			t.Errorf("%d facts in life %d", j.Facts(), life)
		}
		if life == 2 {
			want = []entry{{9_000_000, image{6}}}
			if err := j.Snapshot(9_000_000, image{6}); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, mustAppend(t, j, life*3, life*3+3)...)
		if err := disk.Close(); err != nil {
			t.Fatal(err)
		}
		if life == 1 { // torn
			name := filepath.Join(path, segmentName(1))
			data, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(name, append(data, data[len(data)-200:]...), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	names, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil || len(names) != 3 { // both segments, the lock
		t.Errorf("%v: %v", names, err)
	}
}

// A second writer would tear the journal.
func TestFolder_HasOneWriterAndAnyReaders(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	disk, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	j, _ := mustOpen(t, disk, north)
	mustAppend(t, j, 1, 4)
	if _, err := OpenFolder(path); err == nil || !strings.Contains(err.Error(), "in use by process") {
		t.Errorf("a second writer: %v", err)
	}
	look, err := LookInto(path)
	if err != nil {
		t.Fatal(err)
	}
	facts := 0
	if _, err := Read(look, vocabulary(), func(Record) error { facts++; return nil }); err != nil || facts != 3 {
		t.Errorf("a reader sees %d facts: %v", facts, err)
	}
	if err := disk.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenFolder(path)
	if err != nil {
		t.Fatalf("after the first writer's end: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFolder_DamageIsNamedWithItsPath(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	disk, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = disk.Close() }()
	j, _ := mustOpen(t, disk, north)
	mustAppend(t, j, 1, 4)
	name := filepath.Join(path, segmentName(1))
	data, err := os.ReadFile(name)
	if err == nil {
		data[150] ^= 4
		err = os.WriteFile(name, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(disk, north, nil); !isCorrupt(err) || !strings.HasPrefix(err.Error(), name+": damaged at byte 1") {
		t.Errorf("%v", err)
	}
	if _, err := LookInto(name); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("a file for a folder: %v", err)
	}
}
