package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTryFolder_NamesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "can be written", filepath.Join(dir, "a", "b"): "can be made", file: "is no folder", filepath.Join(file, "a"): "not a directory"} {
		f := tryFolder("the folder", path)
		if !strings.Contains(f.Words, want) || (f.State == foundOK) != strings.HasPrefix(want, "can") {
			t.Errorf("%s: %+v, must say %q", path, f, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
