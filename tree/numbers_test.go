package tree

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var numbersOf = flag.String("numbers", "", "print the numbers of the tree in this folder, for tools/numbers.sh")

// Without -numbers it does nothing: these numbers are for comparing two trees. What must not be
// exceeded is tested beside (size_test.go).
func TestNumbers(t *testing.T) {
	if *numbersOf == "" {
		t.Skip("tools/numbers.sh runs it")
	}
	t.Chdir(*numbersOf)
	list := shippedFiles(t)
	lines, files := sizes(list)
	total := 0
	for _, n := range lines {
		total += n
	}
	largest := slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(lines[b]-lines[a], strings.Compare(a, b))
	})
	over := 0
	for dir := range lines {
		if lines[dir] > packageLines || files[dir] > packageFiles {
			over++
		}
	}
	long := longFunctions(list)
	var out strings.Builder
	row := func(what string, n int) { fmt.Fprintf(&out, "%-58s %7d\n", what, n) }
	root, _ := filepath.Glob("*.go")
	row("Go files in the root", len(root))
	row("folders in the root", folders(t))
	row("product lines, without generated code", total)
	row("packages", len(lines))
	row("floors: packages on the longest way of imports", floors(list))
	row(fmt.Sprintf("packages above %d lines or %d files", packageLines, packageFiles), over)
	for _, dir := range largest[:min(6, len(largest))] {
		row(fmt.Sprintf("  %s, %d files: lines", dir, files[dir]), lines[dir])
	}
	row(fmt.Sprintf("functions above %d lines", functionLines), len(long))
	row("exported names without a comment", len(uncommented(list)))
	fmt.Print(out.String())
}

// folders counts those of the root that are part of the tree.
func folders(t *testing.T) (n int) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "out" && e.Name() != "dist" {
			n++
		}
	}
	return n
}

// floors is the number of packages on the longest way along imports.
func floors(list []shipped) (most int) {
	below := map[string][]string{}
	for _, f := range list {
		dir := path.Dir(f.name)
		for _, s := range f.file.Imports {
			if name, own := strings.CutPrefix(strings.Trim(s.Path.Value, `"`), module+"/"); own {
				below[dir] = append(below[dir], name)
			}
		}
	}
	height := map[string]int{}
	var of func(dir string) int
	of = func(dir string) int {
		if h, known := height[dir]; known {
			return h
		}
		h := 1
		for _, d := range below[dir] {
			h = max(h, 1+of(d))
		}
		height[dir] = h
		return h
	}
	for dir := range below {
		most = max(most, of(dir))
	}
	return most
}
