package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
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
		opt.Keep = grid.Second
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

// Durable files have been synced: a file that grows and one that does not, one that was
// cut, and the names in the folder. Where the system fails to, so does the folder.
func TestFolder_SyncsWhatItSaysIsDurable(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	disk, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	var synced []string
	fails := error(nil)
	disk.fsync = func(f *os.File) error {
		synced = append(synced, f.Name())
		return errors.Join(f.Sync(), fails)
	}
	grows := func(name string) func() error { return func() error { return disk.Append(name, []byte("text")) } }
	steps := []struct {
		what string
		do   func() error
		want string // is synced; "": nothing
	}{
		{"a file that grows", grows("a"), ""}, {"its sync", func() error { return disk.Sync("a") }, "a"},
		{"another file that grows", grows("b"), ""}, {"the sync of one that does not", func() error { return disk.Sync("a") }, "a"},
		{"a cut", func() error { return disk.Truncate("a", 1) }, "a"},
		{"another name", func() error { return disk.Rename("a", "c") }, ""}, {"the names", disk.SyncNames, "."},
	}
	for _, x := range steps {
		synced = nil
		if err := x.do(); err != nil {
			t.Fatalf("%s: %v", x.what, err)
		}
		if x.want == "." && runtime.GOOS == "windows" {
			continue // it has no sync of a folder
		}
		if want := []string{filepath.Join(path, x.want)}; x.want == "" && synced != nil || x.want != "" && !slices.Equal(synced, want) {
			t.Errorf("%s: %v was synced, not %q", x.what, synced, x.want)
		}
	}
	fails = errors.New("the disk is gone")
	for what, err := range map[string]error{"a file": disk.Sync("b"), "another": disk.Sync("c"), "a cut": disk.Truncate("c", 0), "names": disk.SyncNames()} {
		if !errors.Is(err, fails) && (what != "names" || runtime.GOOS != "windows") {
			t.Errorf("the sync of %s failed, the folder says %v", what, err)
		}
	}
}

// A folder is as durable as every folder above it that was made for it: the name of each
// is synced in the one that holds it, before anything below is. What could not be synced
// is not there for the next try to rely on.
func TestFolder_SyncsTheNameOfEachFolderThatItMakes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it has no sync of a folder")
	}
	top := t.TempDir()
	path := filepath.Join(top, "a", "b", "c")
	var synced []string
	listen := func(f *os.File) error {
		synced = append(synced, f.Name())
		return f.Sync()
	}
	fails := errors.New("the disk is gone")
	if err := makeFolder(path, func(f *os.File) error {
		if f.Name() == filepath.Join(top, "a") {
			return fails
		}
		return f.Sync()
	}); !errors.Is(err, fails) {
		t.Errorf("the sync of a folder above failed, and its error is %v", err)
	}
	for _, want := range [][]string{{filepath.Join(top, "a"), filepath.Join(top, "a", "b")}, nil} { // the second time they are there
		synced = nil
		if err := makeFolder(path, listen); err != nil || !slices.Equal(synced, want) {
			t.Errorf("%v was synced, not %v: %v", synced, want, err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"file", filepath.Join("file", "below")} {
		if err := makeFolder(filepath.Join(top, bad), listen); err == nil {
			t.Errorf("%s is a file, and taken for a folder", bad)
		}
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

// A header is accepted or refused, and never makes the reader go past the end of the file.
func FuzzReadHeader(f *testing.F) {
	disk := &Memory{}
	j, _ := mustOpen(f, disk, withImage)
	mustAppend(f, j, 1, 4)
	if err := j.Snapshot(5, image{3}); err != nil {
		f.Fatal(err)
	}
	for n := range uint64(2) {
		data, _ := file(f, disk, n+1)
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ReadHeader("f", bytes.NewReader(data))
		if s, whole := ReadFile("f", data, withImage.Codec, func(Record) error { return nil }); whole == nil && (err != nil || !reflect.DeepEqual(s.Header, h)) {
			t.Fatalf("the file begins %+v; by itself that is read as %+v, %v", s.Header, h, err)
		}
	})
}

// Whatever lies in a folder, under whatever names: a journal is opened there, and what is
// appended then is what the next life reads after all before, or it is refused.
func FuzzOpen(f *testing.F) {
	segments := twoSegments(f)
	first, second := segments[0], segments[1]
	f.Add(segmentName(1), first, segmentName(2), second)
	f.Add(segmentName(2), first, segmentName(1), second)
	f.Add(segmentName(1), first[:len(first)-3], "lock", []byte("7"))
	f.Add(segmentName(3), second, segmentName(2)+".new", first)
	f.Fuzz(func(t *testing.T, name string, data []byte, other string, more []byte) {
		disk := &Memory{}
		for file, text := range map[string][]byte{name: data, other: more} {
			if err := disk.Append(file, text); err != nil {
				t.Fatal(err)
			}
		}
		count := 0
		j, err := Open(disk, withImage, func(grid.Time, agents.Fact) { count++ })
		if err != nil {
			return
		}
		mustAppend(t, j, 1, 3)
		again := 0
		if _, err := Open(disk, withImage, func(grid.Time, agents.Fact) { again++ }); err != nil || again != count+2 {
			t.Fatalf("%d facts were read, and after two more %d: %v", count, again, err)
		}
	})
}
