package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestReplace_WholeFileOrTheOldOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	put := func(text string, fail error) error {
		return Replace(path, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return fail
		})
	}
	if err := put("one", nil); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := put("half", broken); !errors.Is(err, broken) {
		t.Errorf("got %v, want the writer's error", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "one" {
		t.Errorf("after a failed write the file holds %q", got)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files are left, want 1", len(list))
	}
}

func TestReplace_KeepsLinksAndWritesStraightToDevices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no links here:", err)
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	if err := Replace(link, write); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "new" {
		t.Errorf("the link's target holds %q", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if err := Replace(os.DevNull, write); err != nil {
		t.Errorf("a device: %v", err)
	}
}
