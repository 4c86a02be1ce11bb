// Package names keeps tables of policies. A kind of policy (search algorithms, strategies,
// orders) has one table, with a line for each policy: its name, what it does in one
// sentence, and its properties. Files, flags, completion, help, errors, documents and JSON
// take their words from it. Other packages ask for a property and never for one policy, so
// that a new line is all that a new policy needs. A test in tree holds that.
package names

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Table is the policies of a kind K, with properties P.
type Table[K ~uint8, P any] struct {
	Kind  string    // what they are, in errors: "algorithm"
	Lines []Line[P] // by K
}

// Line is one policy.
type Line[P any] struct {
	Name  string // the word in files, flags and JSON
	Means string // what it does, in one sentence or less, without a full stop
	Is    P
}

// Policy is what people read of a line.
type Policy struct{ Name, Means string }

// Parse reads a name. Its error says which names there are.
func (t *Table[K, P]) Parse(s string) (K, error) {
	for k := range t.Lines {
		if t.Lines[k].Name == s {
			return K(k), nil
		}
	}
	return 0, Unknown(t.Kind, s, t.Names())
}

// Name returns the name of k. It panics if the table has no such line.
func (t *Table[K, P]) Name(k K) string { return t.Lines[k].Name }

// Known reports whether the table has a line for k.
func (t *Table[K, P]) Known(k K) bool { return int(k) < len(t.Lines) }

// Is returns the properties of k. It panics if the table has no such line.
func (t *Table[K, P]) Is(k K) *P { return &t.Lines[k].Is }

// Names returns the names, in the order of the table.
func (t *Table[K, P]) Names() []string { return t.With(func(*P) bool { return true }) }

// With returns the names of the policies with a property.
func (t *Table[K, P]) With(has func(*P) bool) []string {
	var list []string
	for k := range t.Lines {
		if has(&t.Lines[k].Is) {
			list = append(list, t.Lines[k].Name)
		}
	}
	return list
}

// Policies returns what people read of the table.
func (t *Table[K, P]) Policies() []Policy {
	list := make([]Policy, len(t.Lines))
	for k := range t.Lines {
		list[k] = Policy{t.Lines[k].Name, t.Lines[k].Means}
	}
	return list
}

// Unknown is the error for a word that is none of the names of a kind.
func Unknown(kind, word string, names []string) error {
	return unknown(fmt.Sprintf("%s %q is unknown; must be %s", kind, word, Or(names)))
}

type unknown string

func (u unknown) Error() string { return string(u) }

// IsUnknown reports whether an error is one of Unknown.
func IsUnknown(err error) bool { return errors.As(err, new(unknown)) }

// Of returns the names of policies.
func Of(list []Policy) []string {
	words := make([]string, len(list))
	for i := range list {
		words[i] = list[i].Name
	}
	return words
}

// Lines lists policies with what they do, a line each, indented by two blanks.
func Lines(list []Policy) string {
	wide := 0
	for _, p := range list {
		wide = max(wide, len(p.Name))
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "  %-*s  %s\n", wide, p.Name, p.Means)
	}
	return b.String()
}

// Or joins names as "a, b or c".
func Or(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Quoted joins names as they are written in files, as `"a", "b" or "c"`.
func Quoted(names []string) string {
	list := slices.Clone(names)
	for i := range list {
		list[i] = fmt.Sprintf("%q", list[i])
	}
	return Or(list)
}
