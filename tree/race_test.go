package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// list reads a variable of the Makefile that holds folders.
func list(t *testing.T, makefile, name string) []string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + name + ` := ((?:.*\\\n)*.*)$`).FindStringSubmatch(makefile)
	if m == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	return strings.Fields(strings.ReplaceAll(m[1], "\\\n", " "))
}

// concurrent says by what a file that is shipped runs beside others, "" if it does not.
func concurrent(name string, source []byte) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	for _, spec := range file.Imports {
		switch path := strings.Trim(spec.Path.Value, `"`); path {
		case "sync", "sync/atomic", module + "/parallel":
			return "imports " + path, nil
		}
	}
	why := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.GoStmt); ok {
			why = "starts a goroutine"
		}
		return why == ""
	})
	return why, nil
}

func TestRace_EveryPackageWithGoroutinesIsListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	listed := slices.Concat(list(t, string(text), "RACE"), list(t, string(text), "RACE_LONG"))
	found := map[string]string{}
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "out" || base == "dist") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		why, err := concurrent(name, source)
		if why != "" {
			found[filepath.ToSlash(filepath.Dir(name))] = name + " " + why
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, why := range found {
		if !slices.Contains(listed, dir) {
			t.Errorf("%s: add %s to RACE or, if its tests take long, to RACE_LONG in the Makefile", why, dir)
		}
	}
	for i, dir := range listed {
		if found[dir] == "" {
			t.Errorf("the Makefile lists %s, which has no goroutine and no lock", dir)
		}
		if slices.Contains(listed[:i], dir) {
			t.Errorf("the Makefile lists %s twice", dir)
		}
	}
}

func TestRace_SeesWhatRunsBesideOthers(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"import \"sync\"":                    "imports sync",
		"import a \"sync/atomic\"":           "imports sync/atomic",
		"import \"" + module + "/parallel\"": "imports " + module + "/parallel",
		"func f() { go f() }":                "starts a goroutine",
		"func f() { f() }":                   "",
		"// go f()":                          "",
	} {
		if why, err := concurrent("x.go", []byte("package p\n"+source)); why != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", source, why, err, want)
		}
	}
}
