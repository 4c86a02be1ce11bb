package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// maxHosts bounds the names in one list of hosts, maxHostText the length of its text.
const (
	maxHosts    = 65_536
	maxHostText = 4 << 20
)

// Hosts returns the names of a list in Slurm's short form, such as
// "a[01-03,7],b,c[1-2]x[1-2]", in its order; at most 65,536 names.
func Hosts(list string) ([]string, error) {
	if list == "" || list == "(null)" || list == "None assigned" {
		return nil, nil
	}
	if len(list) > maxHostText {
		return nil, fmt.Errorf("a list of hosts has %d bytes; must be at most %d", len(list), maxHostText)
	}
	var out []string
	for rest := list; ; {
		end, err := hostEnd(rest)
		if err != nil {
			return nil, fmt.Errorf("list of hosts %.60q: %w", list, err)
		}
		names, err := expand(rest[:end], maxHosts-len(out))
		if err != nil {
			return nil, fmt.Errorf("list of hosts %.60q: %w", list, err)
		}
		out = append(out, names...)
		if end == len(rest) {
			return out, nil
		}
		rest = rest[end+1:]
	}
}

// hostEnd is where the first entry of a list ends: at a comma outside of brackets.
func hostEnd(s string) (int, error) {
	inside := false
	for i, c := range s {
		switch {
		case c == '[' && !inside:
			inside = true
		case c == ']' && inside:
			inside = false
		case c == '[', c == ']':
			return 0, fmt.Errorf("a bracket too many")
		case c == ',' && !inside:
			return i, nil
		}
	}
	if inside {
		return 0, fmt.Errorf("a bracket is not closed")
	}
	return len(s), nil
}

// expand returns the names of one entry, with a bound on their number.
func expand(entry string, most int) ([]string, error) {
	names := []string{""}
	for entry != "" {
		plain, rest, bracket := strings.Cut(entry, "[")
		for i := range names {
			names[i] += plain
		}
		if !bracket {
			break
		}
		inside, after, _ := strings.Cut(rest, "]")
		suffixes, err := ranges(inside, most)
		if err != nil {
			return nil, err
		}
		if len(names)*len(suffixes) > most {
			return nil, fmt.Errorf("more than %d names", maxHosts)
		}
		all := make([]string, 0, len(names)*len(suffixes))
		for _, n := range names {
			for _, s := range suffixes {
				all = append(all, n+s)
			}
		}
		names, entry = all, after
	}
	if len(names) > most {
		return nil, fmt.Errorf("more than %d names", maxHosts)
	}
	for _, n := range names {
		if n == "" {
			return nil, fmt.Errorf("an empty name")
		}
	}
	return names, nil
}

// ranges returns what the inside of a bracket stands for, "01-03,7": 01, 02, 03, 7.
func ranges(s string, most int) ([]string, error) {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", low)
		}
		to, err := strconv.ParseUint(high, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", high)
		}
		if to < from || to-from >= uint64(max(0, most-len(out))) {
			return nil, fmt.Errorf("range %q runs backwards, or has more than %d names", part, maxHosts)
		}
		for n := from; n <= to; n++ {
			out = append(out, fmt.Sprintf("%0*d", len(low), n))
		}
	}
	return out, nil
}
