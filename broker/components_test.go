package broker

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// components are the types that own a part of a broker's state, each under the name
// that others have it by. What is in memory is read by all of them, and changes by
// facts alone.
var components = map[string]string{
	"co": "coordinator", "recovery": "recovery", "amnesia": "amnesia", "losses": "losses", "watcher": "watcher",
	"scheduler": "scheduler", "errands": "errands", "shifts": "shifts", "intake": "intake",
	"lives": "lives", "bars": "bars", "txs": "transactions", "peers": "directory", "queue": "queue",
}

// mostMethods is how many methods a component may have: beyond that it is two.
const mostMethods = 45

// A component is no larger than what one can keep in mind, and no other one reaches
// into what it owns: it is asked by its methods.
func TestComponents_OwnTheirFieldsAndAreNotTooLarge(t *testing.T) {
	t.Parallel()
	files := map[string]*ast.File{}
	names, err := filepath.Glob("*.go")
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") && err == nil {
			files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	methods, owned := map[string]int{}, map[string]bool{}
	for _, file := range files {
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
	for _, name := range append([]string{"Broker", "memory"}, values(components)...) {
		if n := methods[name]; n == 0 || n > mostMethods {
			t.Errorf("%s has %d methods, want 1..%d", name, n, mostMethods)
		}
	}
	for name, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
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
	self := receiver(f)
	if f.Name.Name == "New" { // it puts them together
		return nil
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := s.X.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		typ, ok := components[of.Sel.Name]
		if !ok || typ == self || !owned[typ+"."+s.Sel.Name] || partOf(self) && (components[s.Sel.Name] != "" || s.Sel.Name == "client") {
			return true
		}
		list = append(list, fmt.Sprintf("%s.%s of %s", of.Sel.Name, s.Sel.Name, typ))
		return true
	})
	return list
}

// partOf reports whether a type is a part of the coordinator, and so has the others by
// it.
func partOf(typ string) bool {
	switch typ {
	case "recovery", "amnesia", "losses", "watcher":
		return true
	}
	return false
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

func values(m map[string]string) (list []string) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}
