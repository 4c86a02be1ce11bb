package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/tree/thorough"
)

// testFiles calls f for each file of tests in the tree.
func testFiles(t *testing.T, f func(name, source string)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "out" || base == "dist") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files++
		f(filepath.ToSlash(name), read(t, name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Fatalf("looked at %d files of tests: this is not the module's root", files)
	}
}

// recipe returns what make runs for a target.
func recipe(makefile, target string) string {
	m := regexp.MustCompile(`(?m)^` + target + `:.*\n((?:\t.*\n)+)`).FindStringSubmatch(makefile)
	if m == nil {
		return ""
	}
	return m[1]
}

// leavesOut says which tests a Makefile's check would not run, "" if it runs all.
func leavesOut(makefile string) string {
	test := recipe(makefile, "test")
	switch {
	case !regexp.MustCompile(`(?m)^export ` + thorough.Variable + ` := ` + thorough.All + `$`).MatchString(makefile):
		return fmt.Sprintf("it does not set %s to %s for all steps", thorough.Variable, thorough.All)
	case !regexp.MustCompile(`(?m)^STEPS := .*\btest\b`).MatchString(makefile) || !strings.Contains(recipe(makefile, "check"), "$(STEPS)"):
		return "make check has no step test"
	case !regexp.MustCompile(`(?m)^\tgo test .*\./\.\.\.$`).MatchString(test):
		return "the step test does not run all packages"
	case regexp.MustCompile(`-(short|run|skip|list)\b`).MatchString(test):
		return "the step test does not run all tests of a package"
	}
	return ""
}

// Tests left out by go test ./... are run by make check, and CI runs make check.
func TestThorough_TheCheckLeavesOutNoTest(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	if why := leavesOut(makefile); why != "" {
		t.Errorf("the Makefile: %s", why)
	}
	if !regexp.MustCompile(`(?m)^make check$`).MatchString(read(t, ".ci/run")) {
		t.Error(".ci/run does not run make check")
	}
	for _, change := range [][2]string{
		{"export BOURSE_CHECK := all\n", ""}, {"export BOURSE_CHECK := all\n", "export BOURSE_CHECK := some\n"},
		{"vuln test race", "vuln race"}, {"30m ./...\n", "30m ./broker\n"}, {"go test -timeout", "go test -short -timeout"}, {"go test -timeout", "go test -skip Up -timeout"},
	} {
		if changed := strings.Replace(makefile, change[0], change[1], 1); changed == makefile || leavesOut(changed) == "" {
			t.Errorf("nobody notices %q in the place of %q", change[1], change[0])
		}
	}
}

// There is one way to leave a test to the whole check, and CONTRIBUTING says in which
// packages it is taken.
func TestThorough_PackagesAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(read(t, "CONTRIBUTING.md"), "| package | in `go test ./...` |")
	table, _, _ = strings.Cut(table, "\n\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no table of what is in which step")
	}
	rows := map[string]bool{}
	for _, row := range strings.Split(table, "\n") {
		cells := strings.SplitN(row, "|", 3)
		if len(cells) < 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			rows[m[1]] = true
		}
	}
	uses := map[string]bool{}
	testFiles(t, func(name, source string) {
		if strings.HasPrefix(name, "tree/") {
			return
		}
		if strings.Contains(source, thorough.Variable) {
			t.Errorf("%s names %s; call tree/thorough, which skips in plain words", name, thorough.Variable)
		}
		if strings.Contains(source, `bourse/tree/thorough"`) {
			uses[path.Dir(name)] = true
		}
	})
	taken := map[string]bool{}
	for dir := range uses {
		row := dir // or the row of a folder above
		for !rows[row] && row != "." {
			row = path.Dir(row)
		}
		if taken[row] = true; row == "." {
			t.Errorf("CONTRIBUTING.md: the table of what is in which step has no row for %s", dir)
		}
	}
	for row := range rows {
		if !taken[row] {
			t.Errorf("CONTRIBUTING.md: %s leaves nothing to make check, but has a row", row)
		}
	}
}

// sleepers lists the packages whose tests wait for processes of other programs or for
// outages of a given length.
var sleepers = []string{"simulation/drill", "cluster/slurm"}

// sleeps returns the lines on which a file of tests waits by wall time without a reason:
// what polls waits in the last clause of a for, virtual time is synctest's or a bubble's of
// agents/live, a benchmark may wait, and anything else says why on its line.
func sleeps(name, source string) ([]int, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"testing/synctest"` }) {
		return nil, nil
	}
	said := map[int]bool{}
	for _, group := range file.Comments {
		said[set.Position(group.Pos()).Line] = true
	}
	var found []int
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return !strings.HasPrefix(n.Name.Name, "Benchmark")
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.Ident)
			return !ok || f.Name != "bubble"
		case *ast.ForStmt:
			if n.Post != nil {
				said[set.Position(n.Post.Pos()).Line] = true
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if line := set.Position(n.Pos()).Line; ok && x.Name == "time" && n.Sel.Name == "Sleep" && !said[line] {
				found = append(found, line)
			}
		}
		return true
	})
	return found, nil
}

func TestSleep_NoTestWaitsByWallTimeWithoutAReason(t *testing.T) {
	t.Parallel()
	testFiles(t, func(name, source string) {
		if slices.Contains(sleepers, path.Dir(name)) {
			return
		}
		lines, err := sleeps(name, source)
		if err != nil {
			t.Error(err)
		}
		for _, line := range lines {
			t.Errorf("%s:%d sleeps: poll in the last clause of a for, use testing/synctest, or say on that line why", name, line)
		}
	})
	for source, want := range map[string]int{
		"func f() { time.Sleep(1) }": 1, "func f() { time.Sleep(1) // until it is full\n}": 0, "func f() { for ; !ok(); time.Sleep(1) {\n}\n}": 0,
		"func f() { for ; !ok(); {\ntime.Sleep(1)\n}\n}": 1, "func BenchmarkF() { time.Sleep(1) }": 0, "func f() { bubble(t, func() { time.Sleep(1) }) }": 0, "import \"testing/synctest\"\nfunc f() { time.Sleep(1) }": 0,
	} {
		if lines, err := sleeps("x_test.go", "package p\n"+source); err != nil || len(lines) != want {
			t.Errorf("%q: lines %v, %v; want %d", source, lines, err, want)
		}
	}
}

// One value asks for all cases, any other for few.
func TestThorough_AllCasesOrFew(t *testing.T) {
	t.Setenv(thorough.Variable, thorough.All)
	if !thorough.Check() || thorough.Count(100, 8) != 100 {
		t.Error("the whole check tries fewer cases")
	}
	t.Setenv(thorough.Variable, "quick")
	if thorough.Check() || thorough.Count(100, 8) != 8 {
		t.Error("the quick step tries all cases")
	}
}
