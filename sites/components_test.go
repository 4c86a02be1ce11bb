package sites

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// components are the types that own a part of a site's state, each under the name that
// others have it by. What is in memory is read by all of them, and changes by facts
// alone.
var components = map[string]string{
	"participant": "participant", "requests": "requests", "orders": "orders", "notices": "notices", "offers": "offers", "view": "view",
	"limits": "limits", "negotiation": "negotiation", "operator": "operator", "inventory": "inventory", "recovery": "recovery",
	"archive": "archive", "retries": "retries", "accounts": "accounts", "open": "openLegs",
}

// mostMethods is how many methods a component may have, mostLines how long a file may
// be: beyond that it is two.
const (
	mostMethods = 40
	mostLines   = 400
)

// A component is no larger than what one can keep in mind, and no other one reaches
// into what it owns: it is asked by its methods.
func TestComponents_OwnTheirFieldsAndAreNotTooLarge(t *testing.T) {
	t.Parallel()
	files, set := map[string]*ast.File{}, token.NewFileSet()
	names, err := filepath.Glob("*.go")
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") && err == nil {
			files[name], err = parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	methods, owned := map[string]int{}, map[string]bool{}
	for name, file := range files {
		if n := set.File(file.Pos()).LineCount(); n > mostLines {
			t.Errorf("%s has %d lines, want %d at most", name, n, mostLines)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[receiver(f)]++
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				for _, name := range fieldsOf(s) {
					owned[s.Name.Name+"."+name] = true
				}
			}
			return true
		})
	}
	types := []string{"Site", "memory"}
	for _, typ := range components {
		types = append(types, typ)
	}
	for _, name := range types {
		if n := methods[name]; n == 0 || n > mostMethods {
			t.Errorf("%s has %d methods, want 1..%d", name, n, mostMethods)
		}
	}
	for name, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || f.Name.Name == "New" { // it puts them together
				continue
			}
			for _, x := range reached(f, owned) {
				t.Errorf("%s: %s reaches %s", name, f.Name.Name, x)
			}
		}
	}
}

// reached lists the fields of other components that a function names.
func reached(f *ast.FuncDecl, owned map[string]bool) (list []string) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := s.X.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if typ, ok := components[of.Sel.Name]; ok && typ != receiver(f) && owned[typ+"."+s.Sel.Name] {
			list = append(list, fmt.Sprintf("%s.%s of %s", of.Sel.Name, s.Sel.Name, typ))
		}
		return true
	})
	return list
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	x := f.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	name, _ := x.(*ast.Ident)
	return name.Name
}

func fieldsOf(s *ast.TypeSpec) (names []string) {
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, f := range st.Fields.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}
