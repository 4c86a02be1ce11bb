package plant

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every plant.On of the module names a bug of the list, and every bug of the
// list stands somewhere in the code.
func TestPlant_TheListNamesWhatTheCodeHas(t *testing.T) {
	t.Parallel()
	call := regexp.MustCompile(`plant\.On\("([^"]*)"\)`)
	used := map[string]string{}
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != "." {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		for _, m := range call.FindAllSubmatch(text, -1) {
			used[string(m[1])] = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range List() {
		if names = append(names, b.Name); used[b.Name] == "" {
			t.Errorf("bug %q is listed and planted nowhere", b.Name)
		}
		if b.Breaks == "" || slices.Index(names, b.Name) != len(names)-1 {
			t.Errorf("bug %q stands twice or says not what it breaks", b.Name)
		}
	}
	for name, file := range used {
		if !slices.Contains(names, name) {
			t.Errorf("%s: plant.On(%q) is not listed in plant.go", file, name)
		}
	}
}

func TestPlant_RefusesWhatIsNotListed(t *testing.T) {
	t.Parallel()
	if err := Set("no-such-bug"); err == nil || !strings.Contains(err.Error(), "--plants") {
		t.Errorf("Set of an unknown bug: %v", err)
	}
}
