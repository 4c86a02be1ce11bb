package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents/plant"
)

// The overlay holds every bug at once, so that one build serves for all: a
// function that bugs edit begins with a copy of its body for each, edited, that
// runs where this bug is switched on.

// switchFile is the file that tells package plant that the overlay is there.
const switchFile = "agents/plant/overlaid.go"

const switchText = "//go:build plants\n\npackage plant\n\nconst overlaid = true\n"

// variant is what a bug makes of a function's body.
type variant struct {
	bug  string
	body string
}

// overlay returns the files of the product as they are with all bugs in them,
// by their names from the root.
func overlay(root string, bugs []plant.Bug) (map[string]string, error) {
	byFile := map[string][]plant.Bug{}
	for _, b := range bugs {
		for _, e := range b.Edits {
			of := byFile[e.File]
			if n := len(of); n == 0 || of[n-1].Name != b.Name {
				of = append(of, plant.Bug{Name: b.Name})
			}
			of[len(of)-1].Edits = append(of[len(of)-1].Edits, e)
			byFile[e.File] = of
		}
	}
	files := map[string]string{switchFile: switchText}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		if files[name], err = plantAll(name, string(source), byFile[name]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// plantAll plants the bugs of one file.
func plantAll(name, source string, bugs []plant.Bug) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	variants := map[*ast.FuncDecl][]variant{}
	for _, b := range bugs {
		for _, e := range b.Edits {
			in := places(source, e.Old)
			if len(in) != 1 {
				return "", fmt.Errorf("bug %s: %s must have these lines once and has them %d times:\n%s", b.Name, name, len(in), e.Old)
			}
			f := enclosing(file, at, in[0], in[0]+len(e.Old))
			if f == nil {
				return "", fmt.Errorf("bug %s: an edit of %s must lie within one function's body:\n%s", b.Name, name, e.Old)
			}
			of := variants[f]
			if n := len(of); n == 0 || of[n-1].bug != b.Name {
				of = append(of, variant{b.Name, source[at(f.Body.Lbrace)+1 : at(f.Body.Rbrace)]})
			}
			v := &of[len(of)-1]
			in = places(v.body, e.Old)
			if len(in) != 1 {
				return "", fmt.Errorf("bug %s: two edits of %s overlap:\n%s", b.Name, name, e.Old)
			}
			v.body = v.body[:in[0]] + e.New + v.body[in[0]+len(e.Old):]
			variants[f] = of
		}
	}
	var out strings.Builder
	head := at(file.Name.End())
	out.WriteString(source[:head] + `; import planted "github.com/bourse-grid/bourse/agents/plant"`)
	for _, d := range file.Decls { // in their order
		f, ok := d.(*ast.FuncDecl)
		if !ok || variants[f] == nil {
			continue
		}
		brace := at(f.Body.Lbrace) + 1
		out.WriteString(source[head:brace])
		head = brace
		for _, v := range variants[f] {
			fmt.Fprintf(&out, "\nif planted.On(%q) {%s", v.bug, v.body)
			if f.Type.Results == nil {
				out.WriteString("\nreturn\n")
			}
			out.WriteString("}")
		}
		fmt.Fprintf(&out, "\n//line %s:%d\n", filepath.Base(name), set.Position(f.Body.Lbrace).Line)
	}
	out.WriteString(source[head:])
	if _, err := parser.ParseFile(token.NewFileSet(), name, out.String(), parser.SkipObjectResolution); err != nil {
		return "", fmt.Errorf("with its planted bugs: %w", err)
	}
	return out.String(), nil
}

// places returns where some whole lines stand in a text.
func places(text, lines string) []int {
	var found []int
	for at := 0; at < len(text); {
		if strings.HasPrefix(text[at:], lines) {
			found = append(found, at)
		}
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return found
}

// enclosing returns the function in whose body the text from start to end lies.
func enclosing(file *ast.File, at func(token.Pos) int, start, end int) *ast.FuncDecl {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && at(f.Body.Lbrace) < start && end <= at(f.Body.Rbrace) {
			return f
		}
	}
	return nil
}
