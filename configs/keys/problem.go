package keys

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one problem of a file.
type Problem struct {
	File string
	Line int    // from 1; 0 if it concerns the whole file
	Key  string // with the tables around it, "site.group.nodes"; may be empty
	Text string // the problem, and the remedy
}

// Error shows "file:line: key: text".
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Text)
	return b.String()
}

// MaxProblems bounds how many problems of one file are reported.
const MaxProblems = 20

// Problems lists the problems of a file in the order of its lines: at least one, at most 20.
// More counts the others.
type Problems struct {
	List []*Problem
	More int
}

// Error shows one problem per line.
func (p *Problems) Error() string {
	if len(p.List) == 1 && p.More == 0 {
		return p.List[0].Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d problems", len(p.List)+p.More)
	for _, one := range p.List {
		b.WriteString("\n  " + one.Error())
	}
	if p.More > 0 {
		fmt.Fprintf(&b, "\n  and %d more", p.More)
	}
	return b.String()
}

// Unwrap returns the single problems, for errors.As.
func (p *Problems) Unwrap() []error {
	list := make([]error, len(p.List))
	for i, one := range p.List {
		list[i] = one
	}
	return list
}

// Join makes one error of a list; nil if it is empty. Problems of the same line stay in
// the order in which they were found.
func Join(list []*Problem) error {
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b *Problem) int { return cmp.Compare(a.Line, b.Line) })
	n := min(len(list), MaxProblems)
	return &Problems{List: list[:n], More: len(list) - n}
}
