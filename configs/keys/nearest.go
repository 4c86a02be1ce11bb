package keys

import "strings"

// Nearest returns the known word with the fewest edits (insert, delete or replace a letter,
// swap two neighbours) from word, if these are few for its length. Of equals it returns the
// first in the list; "" if none is near.
func Nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := edits(word, k); d < least && d <= 1+len(k)/4 && d < len(word) {
			best, least = k, d
		}
	}
	return best
}

// edits is the Damerau-Levenshtein distance, restricted to one edit per place; at least 100
// for absurdly long words.
func edits(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 100
	}
	var before, last, row [65]int
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			other := 1
			if a[i] == b[j] {
				other = 0
			}
			row[j+1] = min(last[j]+other, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// Choose ends a message about an unknown name with the known names.
func Choose(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "; did you mean \"" + near + "\"?"
	}
	if len(known) == 0 {
		return "; there are none"
	}
	list := known[:min(len(known), 10)]
	more := ""
	if len(list) < len(known) {
		more = ", ..."
	}
	return "; must be one of " + strings.Join(list, ", ") + more
}
