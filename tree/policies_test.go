package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A kind of policy has one table of names in its package (policy/names). Elsewhere code asks
// for a property and never for one policy: a comparison with one is an item of a checklist
// that nobody sees, and a new policy is wrong there with all tests green.

// kinds are the types of package policy/... that have a table, with the constants, the
// variables and the words of the table.
type kinds struct {
	ids   map[string]bool // "search.Best"
	words map[string]bool // "amp-literal"
}

// ambiguous are words of tables that mean something else too, so that a comparison with one
// says nothing.
var ambiguous = []string{"batch", "random", "cost", "time", "finish", "fixed", "exact", "arrival", "nothing", "fair", "request"}

// readKinds collects the policies of one file of a policy package.
func (k *kinds) read(name string, file *ast.File) {
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			for _, v := range spec.(*ast.ValueSpec).Values {
				k.table(file.Name.Name, v)
			}
		}
	}
}

// table collects the lines of a names.Table.
func (k *kinds) table(pkg string, v ast.Expr) {
	table, ok := v.(*ast.CompositeLit)
	if !ok {
		return
	}
	of, ok := table.Type.(*ast.IndexListExpr)
	if !ok {
		return
	}
	if x, ok := of.X.(*ast.SelectorExpr); !ok || x.Sel.Name != "Table" {
		return
	}
	ast.Inspect(table, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, ok := pair.Key.(*ast.Ident)
		if !ok {
			return true
		}
		if _, line := pair.Value.(*ast.CompositeLit); line && key.Name != "Is" && key.Name != "Lines" {
			k.ids[pkg+"."+key.Name] = true
		}
		if word, ok := pair.Value.(*ast.BasicLit); ok && key.Name == "Name" && word.Kind == token.STRING {
			if s, err := strconv.Unquote(word.Value); err == nil && !slices.Contains(ambiguous, s) {
				k.words[s] = true
			}
		}
		return true
	})
}

// comparisons returns what a file outside the policies compares with one policy.
func (k *kinds) comparisons(file *ast.File) (found []string) {
	look := func(x ast.Expr) {
		switch x := x.(type) {
		case *ast.SelectorExpr:
			if p, ok := x.X.(*ast.Ident); ok && k.ids[p.Name+"."+x.Sel.Name] {
				found = append(found, p.Name+"."+x.Sel.Name)
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING && k.words[s] {
				found = append(found, x.Value)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			switch n.Op {
			case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				look(n.X)
				look(n.Y)
			}
		case *ast.CaseClause:
			for _, x := range n.List {
				look(x)
			}
		}
		return true
	})
	return found
}

// namesThemselves are rooms whose subject is single policies, papers' experiments with a
// claim for each, or whose words are another program's: the keys of Slurm's files.
var namesThemselves = []string{"studies", "workload/slurmdump"}

func TestPolicies_NobodyElseComparesWithOne(t *testing.T) {
	t.Parallel()
	k := kinds{map[string]bool{}, map[string]bool{}}
	files := map[string]*ast.File{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case d.IsDir():
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || name == "out") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		files[name] = file
		if fits("policy/...", path.Dir(name)) {
			k.read(name, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"FCFS", "FirstFit", "EASY", "EASYShortest", "EASYFair", "Conservative"} { // made of three choices
		k.ids["backfill."+name] = true
	}
	for _, id := range []string{"search.Best", "choice.Random", "pricing.Fixed", "sla.EDF", "admission.Libra", "estimates.Request", "backfill.ByShare", "backfill.ShortestFirst"} {
		if !k.ids[id] {
			t.Errorf("no table has %s; this test does not see what it should", id)
		}
	}
	for name, file := range files {
		if fits("policy/...", path.Dir(name)) || slices.Contains(namesThemselves, path.Dir(name)) {
			continue
		}
		for _, what := range k.comparisons(file) {
			t.Errorf("%s compares with %s; ask for a property, which the policy's line in its table states", name, what)
		}
	}
}

// Each planted comparison is caught, and what only names a policy is not.
func TestPolicies_CatchWhatIsPlanted(t *testing.T) {
	t.Parallel()
	k := kinds{map[string]bool{"search.Best": true}, map[string]bool{"alp": true}}
	for body, want := range map[string]int{
		"func f() bool { return a == search.Best }":               1,
		"func f() bool { return search.Best != a || s == `alp` }": 2,
		"func f() { switch a { case search.Best: } }":             1,
		"func f() { switch s { case \"alp\", \"x\": } }":          1,
		"var x = search.Best":                                     0,
		"var x = f(\"alp\", a == search.Other)":                   0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\n"+body, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if found := k.comparisons(file); len(found) != want {
			t.Errorf("%s: found %q, want %d", body, found, want)
		}
	}
}
