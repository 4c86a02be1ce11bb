package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// The most that a package, and a function, may have: beyond that a package is two, and a
// function does not fit a screen. Generated code and tests do not count.
const (
	packageLines  = 6500
	packageFiles  = 45
	functionLines = 70
)

// shipped is a file of the product, written by hand.
type shipped struct {
	name  string
	lines int
	file  *ast.File
	set   *token.FileSet
}

// shippedFiles are all of them, in order of name.
func shippedFiles(t *testing.T) []shipped {
	t.Helper()
	var list []shipped
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := d.Name(); d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "out" || base == "dist" || base == "tools") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(file) {
			list = append(list, shipped{filepath.ToSlash(name), set.File(file.Pos()).LineCount() - 1, file, set})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 500 {
		t.Fatalf("only %d files were found", len(list))
	}
	return list
}

// sizes are the lines and the files of each folder.
func sizes(list []shipped) (lines, files map[string]int) {
	lines, files = map[string]int{}, map[string]int{}
	for _, f := range list {
		dir := filepath.ToSlash(filepath.Dir(f.name))
		lines[dir] += f.lines
		files[dir]++
	}
	return lines, files
}

func TestSize_OfPackages(t *testing.T) {
	t.Parallel()
	lines, files := sizes(shippedFiles(t))
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		if lines[dir] > packageLines || files[dir] > packageFiles {
			t.Errorf("%s has %d lines in %d files, the most is %d in %d: part of it is a package of its own", dir, lines[dir], files[dir], packageLines, packageFiles)
		}
	}
}

// longFunctions are the lines of each function above the bound, by file and name.
func longFunctions(list []shipped) map[string]int {
	long := map[string]int{}
	for _, f := range list {
		for _, d := range f.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if n := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1; n > functionLines {
				long[f.name+" "+fn.Name.Name] = n
			}
		}
	}
	return long
}

func TestSize_OfFunctions(t *testing.T) {
	t.Parallel()
	for name, n := range longFunctions(shippedFiles(t)) {
		t.Errorf("%s has %d lines, the most is %d", name, n, functionLines)
	}
}

// Each exported name has a comment. One above a list of methods of the same name, a line each,
// is that of all: what each message and fact is called, and what it is about, reads as a table.
// So is one that names what follows it without a blank line. What the standard library has named
// (Error, String, Unwrap) needs none.
func TestExported_HasAComment(t *testing.T) {
	t.Parallel()
	for _, name := range uncommented(shippedFiles(t)) {
		t.Errorf("%s has no comment", name)
	}
}

// uncommented are the exported names without one, with their places.
func uncommented(list []shipped) (missing []string) {
	for _, f := range list {
		if f.file.Name.Name == "main" {
			continue
		}
		var last *ast.FuncDecl // of a list that has a comment
		var doc string         // that comment
		for _, d := range f.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				line := f.set.Position(d.Pos()).Line
				listed := last != nil && f.set.Position(last.End()).Line == line-1 && (last.Name.Name == d.Name.Name || speaksOf(doc, d.Name.Name))
				if d.Doc != nil {
					doc = d.Doc.Text()
				}
				if d.Doc == nil && !listed && !slices.Contains([]string{"Error", "String", "Unwrap"}, d.Name.Name) {
					last = nil
					if ast.IsExported(d.Name.Name) && (d.Recv == nil || ast.IsExported(receiver(d))) {
						missing = append(missing, fmt.Sprintf("%s:%d: %s", f.name, line, d.Name.Name))
					}
					continue
				}
				last = d
			case *ast.GenDecl:
				last = nil
				for _, s := range d.Specs {
					var names []*ast.Ident
					doc := d.Doc
					switch s := s.(type) {
					case *ast.TypeSpec:
						names = []*ast.Ident{s.Name}
						doc = either(s.Doc, s.Comment, doc)
					case *ast.ValueSpec:
						names = s.Names
						doc = either(s.Doc, s.Comment, doc)
					}
					for _, n := range names {
						if ast.IsExported(n.Name) && doc == nil {
							missing = append(missing, fmt.Sprintf("%s:%d: %s", f.name, f.set.Position(n.Pos()).Line, n.Name))
						}
					}
				}
			}
		}
	}
	return missing
}

// speaksOf reports whether a comment speaks of a name.
func speaksOf(doc, name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(doc, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), func(w string) bool { return w == name })
}

// either is the first comment that there is.
func either(list ...*ast.CommentGroup) *ast.CommentGroup {
	i := slices.IndexFunc(list, func(c *ast.CommentGroup) bool { return c != nil })
	if i < 0 {
		return nil
	}
	return list[i]
}
