package workload

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// notes say what each column was read for, and which columns, rows and times were not.
func (t *table) notes(name string) (lines []string) {
	say := func(n int, form string, args ...any) {
		if n > 0 {
			lines = append(lines, name+": "+fmt.Sprintf(form, args...))
		}
	}
	read := map[int]bool{}
	for _, sources := range t.from {
		for _, s := range sources {
			read[s.place] = true
		}
	}
	for i, c := range t.names { // in the order of the file
		for _, sources := range t.from {
			for _, s := range sources {
				if s.place == i {
					say(1, "column %s: %s", c, s.is)
				}
			}
		}
	}
	var other []string
	for i, c := range t.names {
		if !read[i] && c != "" { // some write the numbers of rows under no name
			other = append(other, c)
		}
	}
	say(len(other), "not read: %s", listed(other))
	for i, c := range t.names {
		say(t.told[i], "column %s: %s that Slurm writes where there is none (4294967295, INVALID), taken as unknown", c, grid.Count(t.told[i], "value"))
		say(t.unread[i], "column %s: %s could not be read, taken as unknown", c, grid.Count(t.unread[i], "value"))
	}
	var words []string
	n := 0
	for w, k := range t.states {
		words = append(words, w)
		n += k
	}
	slices.Sort(words)
	say(n, "%s with a state that is not known, status left open: %s", grid.Count(n, "job"), listed(words))
	for _, what := range t.leftOut() {
		say(1, "%s", what)
	}
	k := &t.tally
	say(k.early, "%s that began before the submit: wait taken as 0", grid.Count(k.early, "job"))
	say(k.reversed, "%s that ended before the start: the end is not used", grid.Count(k.reversed, "job"))
	say(k.undecided, "%s in an hour that the clock repeated, with nothing to tell which of the two: read as the first", grid.Count(k.undecided, "time"))
	say(k.skipped, "%s in an hour that the clock left out: read as if it had not been moved yet", grid.Count(k.skipped, "time"))
	if k.unnumbered {
		say(1, "not every job has a number of its own; they are numbered from 1 by submit")
	}
	return lines
}

// leftOut says which rows are no records.
func (t *table) leftOut() (lines []string) {
	k := &t.tally
	for key := range t.seen {
		key.start = -1
		delete(t.open, key)
	}
	for _, of := range [...]struct {
		n    int
		what string
		more string
	}{
		{k.steps, "step", " of jobs left out"},
		{k.headers, "repeated line", " of names left out"},
		{k.repeats, "row", " of jobs that another row has left out"},
		{k.unended + len(t.open), "job", " left out that had not ended"},
		{k.lengthless, "job", " left out that ran for a time that nothing says"},
	} {
		if of.n > 0 {
			lines = append(lines, grid.Count(of.n, of.what)+of.more)
		}
	}
	return lines
}

// left is leftOut on a line, "" if nothing was.
func (t *table) left() string { return strings.Join(t.leftOut(), ", ") }
