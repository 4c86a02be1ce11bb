package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// house is an agent that consists of components: types that own a part of its state,
// each under the name that others have it by. Or it is one that owns a part in a package of
// its own, and has none. What is in memory is read by all of
// them, and changes by facts alone.
type house struct {
	room, agent string
	memory      string // what they all read; "": there is none
	methods     int    // that a component may have at most: beyond that it is two
	lines       int    // that a file may have at most; 0: there is no bound
	components  map[string]string
	parts       []string // of another component, which have the others by it
	shared      []string // fields of that component, beside the components, that its parts may name
}

var houses = []house{
	{"broker", "Broker", "memory", 45, 0, map[string]string{
		"scheduler": "scheduler", "asking": "asking", "errands": "errands", "shifts": "shifts", "intake": "intake",
		"operator": "operator",
	}, nil, nil},
	{"broker/jobs", "State", "", 45, 400, map[string]string{"Queue": "Queue"}, nil, nil},
	{"broker/transaction", "Coordinator", "State", 45, 400, map[string]string{
		"co": "Coordinator", "recovery": "recovery", "amnesia": "amnesia", "losses": "losses", "watcher": "watcher",
		"txs": "List", "peers": "Sites",
	}, []string{"recovery", "amnesia", "losses", "watcher"}, []string{"listener"}},
	{"sites", "Site", "memory", 40, 400, map[string]string{
		"participant": "participant", "requests": "requests", "orders": "orders", "notices": "notices", "offers": "offers", "view": "view",
		"limits": "limits", "negotiation": "negotiation", "operator": "operator", "inventory": "inventory", "recovery": "recovery",
		"archive": "archive", "retries": "retries", "accounts": "accounts", "open": "openLegs",
	}, nil, nil},
	// The compiler holds the walls of these: they are packages of their own.
	{"broker/accounts", "Accounts", "", 40, 400, nil, nil, nil},
	{"broker/pilots", "Gathers", "", 40, 400, nil, nil, nil},
	{"broker/lives", "Lives", "", 40, 400, nil, nil, nil},
	{"broker/tenancy", "Tenancy", "", 40, 400, nil, nil, nil},
	{"broker/trust", "Trust", "", 40, 400, nil, nil, nil},
}

// A component is small enough to keep in mind, and no other one reaches into its fields:
// it is asked by its methods.
func TestComponents_OwnTheirFieldsAndAreNotTooLarge(t *testing.T) {
	t.Parallel()
	for _, h := range houses {
		t.Run(h.room, func(t *testing.T) {
			t.Parallel()
			h.check(t)
		})
	}
}

func (h *house) check(t *testing.T) {
	files, set := h.parse(t)
	methods, owned := map[string]int{}, map[string]bool{}
	for name, file := range files {
		if n := set.File(file.Pos()).LineCount(); h.lines > 0 && n > h.lines {
			t.Errorf("%s has %d lines, want %d at most", name, n, h.lines)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				methods[receiver(n)]++
			case *ast.TypeSpec:
				for _, field := range fieldsOf(n) {
					owned[n.Name.Name+"."+field] = true
				}
			}
			return true
		})
	}
	types := []string{h.agent}
	if h.memory != "" {
		types = append(types, h.memory)
	}
	for _, typ := range h.components {
		types = append(types, typ)
	}
	for _, name := range types {
		if n := methods[name]; n == 0 || n > h.methods {
			t.Errorf("%s has %d methods, want 1..%d: what is new belongs to one of its parts, or is a part of its own", name, n, h.methods)
		}
	}
	for name, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || f.Name.Name == "New" { // it puts them together
				continue
			}
			for _, x := range h.reached(f, owned) {
				t.Errorf("%s: %s reaches %s", name, f.Name.Name, x)
			}
		}
	}
}

func (h *house) parse(t *testing.T) (map[string]*ast.File, *token.FileSet) {
	files, set := map[string]*ast.File{}, token.NewFileSet()
	names, err := filepath.Glob(h.room + "/*.go")
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") && err == nil {
			files[name], err = parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return files, set
}

// reached lists the fields of other components that a function names.
func (h *house) reached(f *ast.FuncDecl, owned map[string]bool) (list []string) {
	self := receiver(f)
	ast.Inspect(f.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := s.X.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		typ, ok := h.components[of.Sel.Name]
		if !ok || typ == self || !owned[typ+"."+s.Sel.Name] ||
			slices.Contains(h.parts, self) && (h.components[s.Sel.Name] != "" || slices.Contains(h.shared, s.Sel.Name)) {
			return true
		}
		list = append(list, fmt.Sprintf("%s.%s of %s", of.Sel.Name, s.Sel.Name, typ))
		return true
	})
	return list
}

// receiver names the type that a function is a method of, "" if of none.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	x := f.Recv.List[0].Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	if name, ok := x.(*ast.Ident); ok {
		return name.Name
	}
	return ""
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
