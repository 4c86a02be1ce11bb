package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unnamed are the rows of docs/TRANSACTION.md that no agent names, and why.
var unnamed = map[string]string{
	"S19": "a site that begins anew does not know what it had been asked",
	"S85": "it is about local jobs, which the cluster places",
	"S93": "the cluster drops the leg; to its site that is S42",
}

// Each row of docs/TRANSACTION.md is named by the code that does what it says: those of
// sites in package sites, those of brokers in package broker. No code names another row.
func TestTransaction_EachRowIsNamedWhereItIsTaken(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/TRANSACTION.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]+m[2]] = true
	}
	named := map[string][]string{}
	for dir, of := range map[string]string{"sites": "S", "broker": "B"} {
		for name, places := range rowsNamed(t, dir) {
			named[name] = places
			if !rows[name] || !strings.HasPrefix(name, of) {
				t.Errorf("%s: row %s is none of docs/TRANSACTION.md for package %s", places, name, dir)
			}
		}
	}
	for name := range rows {
		switch places, why := named[name], unnamed[name]; {
		case len(places) == 0 && why == "":
			t.Errorf("no code names row %s: call Outbox.Row(%q) where what it says is done", name, name)
		case len(places) > 0 && why != "":
			t.Errorf("%s: row %s is named, and must not be: %s", places, name, why)
		}
	}
	for name := range unnamed {
		if !rows[name] {
			t.Errorf("docs/TRANSACTION.md has no row %s", name)
		}
	}
}

// rowsNamed lists the places of the rows that a package and those below it name, by row.
func rowsNamed(t *testing.T, dir string) map[string][]string {
	list := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if x, ok := n.(*ast.BasicLit); ok && x.Kind == token.STRING {
				if s, err := strconv.Unquote(x.Value); err == nil && rowName.MatchString(s) {
					list[s] = append(list[s], fmt.Sprintf("%s:%d", path, files.Position(x.Pos()).Line))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, places := range list {
		slices.Sort(places)
	}
	return list
}

// rowName matches the name of a row, and nothing else.
var rowName = regexp.MustCompile(`^[SB]\d+$`)
