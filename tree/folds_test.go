package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
)

// A file is a fold if it interprets at least manyKinds kinds of facts; there are at most
// mostFolds of them. Decision 42 names each.
const (
	manyKinds = 10
	mostFolds = 10
	folds     = "docs/decisions/0042-facts-say-what-they-are-about.md"
)

// interpreted returns the kinds of facts that a file interprets: those that it names, except
// where it makes one to record it.
func interpreted(file *ast.File, kinds map[string]bool) map[string]bool {
	made := map[ast.Expr]bool{}
	found := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr: // facts.LegMoved{}.Kind() makes none
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Kind" {
				if l, ok := s.X.(*ast.CompositeLit); ok {
					made[l] = true
				}
			}
		case *ast.CompositeLit:
			if !made[n] {
				made[n.Type] = true
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "facts" && kinds[n.Sel.Name] && !made[n] {
				found[n.Sel.Name] = true
			}
		}
		return true
	})
	return found
}

// The meaning of a fact stands in few files, so that a new one needs few. Another file asks a
// fact what it is about, or one of these; tools/places.sh --folds prints the list.
func TestFolds_AreFewAndEachIsInTheDecision(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, f := range facts.Facts() {
		kinds[strings.TrimPrefix(fmt.Sprintf("%T", f), "facts.")] = true
	}
	count := map[string]int{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if n := len(interpreted(file, kinds)); n >= manyKinds {
			count[filepath.ToSlash(path)] = n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(count) > mostFolds {
		t.Errorf("%d files interpret %d or more kinds of facts; at most %d may: let a view ask facts.About, or a fold that is there", len(count), manyKinds, mostFolds)
	}
	text, err := os.ReadFile(folds)
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	for _, name := range names {
		t.Logf("%4d %s", count[name], name)
		if !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("%s interprets %d kinds of facts, and %s has no row for it that says what it folds", name, count[name], folds)
		}
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "| `"); ok {
			if name, _, _ = strings.Cut(name, "`"); count[name] == 0 {
				t.Errorf("%s has a row for %s, which interprets fewer than %d kinds of facts", folds, name, manyKinds)
			}
		}
	}
}

// Naming a kind in a case, a conversion or a table interprets it; recording it does not.
func TestFolds_CountWhatIsInterpreted(t *testing.T) {
	t.Parallel()
	const source = `package x
func f(out *Outbox, f any, v facts.LegDone) {
	switch f.(type) {
	case facts.LegMoved, *facts.LegPriced:
	}
	out.Record(facts.TxBegun{Tx: v.Tx})
	out.Record(facts.TxDecided{})
	_ = map[string]int{facts.LegClosed{}.Kind(): 1}
	_ = facts.About(f)
}`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{"LegMoved": true, "LegPriced": true, "LegDone": true, "LegClosed": true, "TxBegun": true, "TxDecided": true}
	got := slices.Sorted(maps.Keys(interpreted(file, kinds)))
	if want := []string{"LegClosed", "LegDone", "LegMoved", "LegPriced"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
