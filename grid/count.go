package grid

import "strconv"

// Count is a number of things in words: "1 job", "2 jobs". many is the plural of what, if it is
// not what with an s.
func Count(n int, what string, many ...string) string {
	switch {
	case n != 1 && len(many) > 0:
		what = many[0]
	case n != 1:
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
