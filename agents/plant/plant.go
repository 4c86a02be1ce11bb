// Package plant lists planted bugs: places where the code goes wrong on purpose, so that a
// test can prove that it would notice. "A test that would not notice a planted bug is no
// test."
//
// A bug is a file in the folder bugs: what it breaks, a seed of the torture that catches
// it, and its edits of the product's code. cmd/plants makes an overlay of all of them for
// go build. A build with that overlay and the tag plants has every bug behind a switch.
// One at a time can be switched on, before a run begins.
package plant

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

// Bug is one planted bug.
type Bug struct {
	Name   string `json:"name"`
	Breaks string `json:"breaks"` // what no longer holds with the bug
	Seed   uint64 `json:"-"`      // the first seed of the torture to try
	Caught string `json:"-"`      // the package whose test catches it; "": the torture
	Edits  []Edit `json:"-"`
}

// Edit replaces whole lines of a file of the product.
type Edit struct {
	File     string // from the module's root
	Old, New string // each with its last newline
}

//go:embed bugs/*.txt
var files embed.FS

// List returns the planted bugs by name.
func List() []Bug {
	entries, err := files.ReadDir("bugs")
	var bugs []Bug
	for _, e := range entries {
		text, _ := files.ReadFile("bugs/" + e.Name())
		var b Bug
		if b, err = Parse(strings.TrimSuffix(e.Name(), ".txt"), string(text)); err != nil {
			break
		}
		bugs = append(bugs, b)
	}
	if err != nil {
		panic(err) // the files are part of the program, and a test reads them all
	}
	return bugs
}

// Parse reads a bug's file: the lines "breaks: ..." and "seed: ...", "caught: ..." if a
// package's own test catches it, and then its edits. They are written as in a unified
// diff, but without line numbers: "--- file", and for each edit "@@" and lines that begin
// with a space, "-" or "+".
func Parse(name, text string) (Bug, error) {
	b := Bug{Name: name}
	fail := func(n int, format string, args ...any) (Bug, error) {
		return Bug{}, fmt.Errorf("bugs/%s.txt:%d: %s", name, n+1, fmt.Sprintf(format, args...))
	}
	file, edit := "", (*Edit)(nil)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for n, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "---":
			file, edit = value, nil
		case line == "@@" && file != "":
			b.Edits = append(b.Edits, Edit{File: file})
			edit = &b.Edits[len(b.Edits)-1]
		case edit != nil && line != "" && strings.Contains(" -+", line[:1]):
			if line[0] != '+' {
				edit.Old += line[1:] + "\n"
			}
			if line[0] != '-' {
				edit.New += line[1:] + "\n"
			}
		case key == "breaks:" && file == "":
			b.Breaks = value
		case key == "caught:" && file == "":
			b.Caught = value
		case key == "seed:" && file == "":
			var err error
			if b.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
				return fail(n, "the seed must be a number: %q", value)
			}
		default:
			return fail(n, "must be breaks:, seed:, ---, @@ or a line of an edit: %q", line)
		}
	}
	if b.Breaks == "" || b.Seed == 0 {
		return fail(0, "must say what it breaks and at which seed")
	}
	for _, e := range b.Edits {
		if e.Old == "" || e.Old == e.New {
			return fail(len(lines)-1, "an edit of %s must have lines to be found, and change them", e.File)
		}
	}
	return b, nil
}

// Find returns the bug of a name.
func Find(name string) (Bug, error) {
	for _, b := range List() {
		if b.Name == name {
			return b, nil
		}
	}
	return Bug{}, fmt.Errorf("no planted bug is named %q; bourse torture --plants lists them", name)
}
