package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is a file of the package.
type source struct {
	name, text, clause string
	path               string // from the root of the module
	set                *token.FileSet
	file               *ast.File
}

// edit replaces a piece of a file.
type edit struct {
	from, to int
	text     string
}

// mutant is one change, within the body of a function.
type mutant struct {
	source *source
	number int // of the switch that puts it on, from 1
	line   int
	column int
	of     *ast.FuncDecl
	nth    int // of the changes that look alike
	edit
}

// name tells a change from any other, wherever its line has moved: the function, the line
// as it was and what has become of the piece. If a function has several changes that look
// alike, on one line or on equal ones, the second is numbered (2), and so on.
func (m *mutant) name() string {
	if m.nth > 1 {
		return fmt.Sprintf("%s (%d)", m.looks(), m.nth)
	}
	return m.looks()
}

func (m *mutant) looks() string {
	start := strings.LastIndexByte(m.source.text[:m.from], '\n') + 1
	line, _, _ := strings.Cut(m.source.text[m.from:], "\n")
	was := m.source.text[m.from:m.to]
	if i := strings.IndexByte(was, '\n'); i >= 0 {
		was = was[:i] + "..."
	}
	return fmt.Sprintf("%s %s: %s | %s -> %s", m.source.path, m.of.Name.Name, strings.TrimSpace(m.source.text[start:m.from]+line), was, m.text)
}

// read reads the files of a package that are compiled here, but for its tests.
func read(dir string) ([]*source, error) {
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var list []*source
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		s := &source{name: name, text: string(text), clause: "package " + p.Name, path: filepath.ToSlash(filepath.Join(dir, name)), set: token.NewFileSet()}
		if s.file, err = parser.ParseFile(s.set, name, text, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func (s *source) at(p token.Pos) int { return s.set.Position(p).Offset }

// swaps are the operators, and what they become.
var swaps = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
}

// mutants lists the changes of a file: operators and boundaries, signs, conditions, and
// statements left out. A panic and what it says are left alone: it never comes to that.
func (s *source) mutants() (list []mutant) {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		add := func(from, to token.Pos, text string) {
			at := s.set.Position(from)
			list = append(list, mutant{source: s, line: at.Line, column: at.Column, of: f, edit: edit{s.at(from), s.at(to), text}})
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				for _, op := range swaps[n.Op] {
					add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String())
				}
			case *ast.IfStmt:
				if _, two := n.Cond.(*ast.BinaryExpr); !two {
					add(n.Cond.Pos(), n.Cond.End(), "!("+s.text[s.at(n.Cond.Pos()):s.at(n.Cond.End())]+")")
				}
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					add(n.Pos(), n.End(), "")
				}
			case *ast.IncDecStmt:
				add(n.Pos(), n.End(), "")
			case *ast.BranchStmt:
				if n.Tok == token.CONTINUE || n.Tok == token.BREAK {
					add(n.Pos(), n.End(), "")
				}
			case *ast.ExprStmt:
				if panics(n.X) {
					return false
				}
				add(n.Pos(), n.End(), "")
			}
			return true
		})
	}
	tellApart(list)
	return list
}

// tellApart numbers the changes of a file that look alike, in the order of the text.
func tellApart(list []mutant) {
	var order []*mutant
	for i := range list {
		order = append(order, &list[i])
	}
	slices.SortStableFunc(order, func(a, b *mutant) int { return a.from - b.from })
	alike := map[string]int{}
	for _, m := range order {
		alike[m.looks()]++
		m.nth = alike[m.looks()]
	}
}

// panics reports whether an expression is a call of panic.
func panics(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}

// with is the file with its changes: each function begins with a copy of its body for
// each of them. The compiler takes a copy for a file of its own, which tells whose fault
// an error is.
func (s *source) with(list []mutant) string {
	var out strings.Builder
	head := 0
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		brace, end := s.at(f.Body.Lbrace)+1, s.at(f.Body.Rbrace)
		out.WriteString(s.text[head:brace])
		head = brace
		for _, m := range list {
			if m.source != s || m.of != f {
				continue
			}
			fmt.Fprintf(&out, "\nif mutantOn == %d {\n//line mutant%d.go:1\n%s%s%s", m.number, m.number, s.text[brace:m.from], m.text, s.text[m.to:end])
			if f.Type.Results == nil {
				out.WriteString("\nreturn")
			}
			fmt.Fprintf(&out, "\n}\n//line %s:%d\n", s.name, s.set.Position(f.Body.Lbrace).Line)
		}
	}
	out.WriteString(s.text[head:])
	return out.String()
}
