package plant

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Bugs have edits, and no file of the product asks for one.
func TestPlant_TheProductHasNone(t *testing.T) {
	t.Parallel()
	for _, b := range List() {
		if len(b.Edits) == 0 {
			t.Errorf("bug %q has no edits", b.Name)
		}
	}
	files := 0
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != "." {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "../../cmd/plants/") {
			return nil
		}
		files++
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), `plant.On("`) {
			t.Errorf("%s asks for a planted bug", name)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Errorf("%d files read: %v", files, err)
	}
}

func TestPlant_RefusesWhatIsNotListed(t *testing.T) {
	t.Parallel()
	if err := Set("no-such-bug"); err == nil || !strings.Contains(err.Error(), "--plants") {
		t.Errorf("Set of an unknown bug: %v", err)
	}
}

func TestPlant_ReadsEdits(t *testing.T) {
	t.Parallel()
	b, err := Parse("x", "breaks: all of it\nseed: 7\n--- a/b.go\n@@\n \tkept\n-\told\n+\tnew\n@@\n-\tgone\n--- c.go\n@@\n \tkept\n+\tmore\n")
	want := Bug{"x", "all of it", 7, "", []Edit{{"a/b.go", "\tkept\n\told\n", "\tkept\n\tnew\n"}, {"a/b.go", "\tgone\n", ""}, {"c.go", "\tkept\n", "\tkept\n\tmore\n"}}}
	if err != nil || !reflect.DeepEqual(b, want) {
		t.Errorf("got %+v, %v; want %+v", b, err, want)
	}
	for text, want := range map[string]string{
		"seed: 1\n":                                  "must say what it breaks",
		"breaks: x\n":                                "at which seed",
		"breaks: x\nseed: one\n":                     "must be a number",
		"breaks: x\nseed: 1\n@@\n-a\n":               "x.txt:3",
		"breaks: x\nseed: 1\n--- f.go\n-a\n":         "x.txt:4",
		"breaks: x\nseed: 1\n--- f.go\n@@\n a\n":     "change them",
		"breaks: x\nseed: 1\n--- f.go\n@@\n+a\n":     "to be found",
		"breaks: x\nseed: 1\n--- f.go\n@@\n-a\nb: c": "x.txt:6",
	} {
		if _, err := Parse("x", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
