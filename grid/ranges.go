package grid

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Range is the whole numbers from First to Last, both included.
type Range struct{ First, Last int }

// Ranges is a set of whole numbers, 0 or above, in ascending ranges of which no two touch. In
// a journal it is a text such as "0-9,12". A Ranges is never changed: each operation makes
// another one, and costs as much as the ranges of both.
type Ranges []Range

// String writes the set as users do: "0-9,12".
func (s Ranges) String() string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(r.First))
		if r.Last > r.First {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(r.Last))
		}
	}
	return b.String()
}

// Len is how many numbers are in the set.
func (s Ranges) Len() int {
	n := 0
	for _, r := range s {
		n += r.Last - r.First + 1
	}
	return n
}

// All yields the numbers in ascending order.
func (s Ranges) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range s {
			for i := r.First; i <= r.Last; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// Has reports whether a number is in the set.
func (s Ranges) Has(n int) bool {
	_, in := slices.BinarySearchFunc(s, n, func(r Range, n int) int {
		switch {
		case r.Last < n:
			return -1
		case r.First > n:
			return 1
		}
		return 0
	})
	return in
}

// First is the set of the n least numbers, or all if there are fewer.
func (s Ranges) First(n int) Ranges {
	var out Ranges
	for _, r := range s {
		if n <= 0 {
			break
		}
		r.Last = min(r.Last, r.First+n-1)
		out, n = append(out, r), n-(r.Last-r.First+1)
	}
	return out
}

// From is what is not below n.
func (s Ranges) From(n int) Ranges {
	if n <= 0 {
		return s
	}
	return s.Minus(Ranges{{0, n - 1}})
}

// Plus is the union.
func (s Ranges) Plus(o Ranges) Ranges {
	all := slices.Concat(s, o)
	slices.SortFunc(all, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	var out Ranges
	for _, r := range all {
		if n := len(out); n > 0 && r.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, r.Last)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// Minus is what is not in the other set.
func (s Ranges) Minus(o Ranges) Ranges {
	var out Ranges
	for _, r := range s {
		for len(o) > 0 && o[0].Last < r.First {
			o = o[1:]
		}
		for _, x := range o {
			if x.First > r.Last {
				break
			}
			if x.First > r.First {
				out = append(out, Range{r.First, x.First - 1})
			}
			r.First = x.Last + 1
		}
		if r.First <= r.Last {
			out = append(out, r)
		}
	}
	return out
}

// Within is what is in both sets.
func (s Ranges) Within(o Ranges) Ranges { return s.Minus(s.Minus(o)) }

// One is the set of one number.
func One(n int) Ranges { return Ranges{{n, n}} }

// maxRanges bounds the ranges of a set that is written by hand, and maxIndex its numbers.
const (
	maxRanges = 1000
	maxIndex  = 1_000_000_000
)

// ParseRanges reads a set such as "0-9,12", or with a step "0-98:2". The ranges may come in any
// order, but no number twice.
func ParseRanges(text string) (Ranges, error) {
	words := strings.Split(text, ",")
	if len(words) > maxRanges {
		return nil, fmt.Errorf("%d ranges; must be at most %d", len(words), maxRanges)
	}
	var all Ranges
	for _, word := range words {
		word = strings.TrimSpace(word)
		some, err := parseRange(word)
		switch {
		case err != nil:
			return nil, err
		case len(all.Within(some)) > 0:
			return nil, fmt.Errorf("%q names indices that another range names already", brief(word))
		}
		if all = all.Plus(some); len(all) > maxRanges {
			return nil, fmt.Errorf("%q: with steps these are more than %d ranges; give the indices without gaps and multiply BOURSE_ARRAY_INDEX in the job", brief(word), maxRanges)
		}
	}
	return all, nil
}

// parseRange reads one index, one range of them, or every so many of a range. What needs more
// than maxRanges is cut off there, and one more is kept.
func parseRange(word string) (Ranges, error) {
	whole, by, stepped := strings.Cut(word, ":")
	first, last, ranged := strings.Cut(whole, "-")
	a, ok := index(first)
	b, step := a, 1
	if ranged && ok {
		b, ok = index(last)
	}
	if stepped && ok {
		if step, ok = index(by); !ok || step == 0 || !ranged {
			return nil, fmt.Errorf("%q has no step; write for example 0-98:2, every second index of 0 to 98", brief(word))
		}
	}
	switch {
	case !ok:
		return nil, fmt.Errorf("%q is no index and no range of indices; write for example 0-99, 0-98:2, or 1,3,5-9", brief(word))
	case b < a:
		return nil, fmt.Errorf("%q is empty; the lower index stands first", brief(word))
	case step == 1:
		return Ranges{{a, b}}, nil
	}
	var list Ranges
	for i := a; i <= b && len(list) <= maxRanges; i += step {
		list = append(list, Range{i, i})
	}
	return list, nil
}

// index reads a whole number up to maxIndex, written without needless characters.
func index(word string) (int, bool) {
	n, err := strconv.Atoi(word)
	return n, err == nil && n >= 0 && n <= maxIndex && strconv.Itoa(n) == word
}

// MarshalText writes the form of journals.
func (s Ranges) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads it. Sets of journals may have more ranges than those that users write.
func (s *Ranges) UnmarshalText(text []byte) error {
	*s = nil
	if len(text) == 0 {
		return nil
	}
	for word := range strings.SplitSeq(string(text), ",") {
		first, last, some := strings.Cut(word, "-")
		a, ok := index(first)
		b := a
		if some && ok {
			b, ok = index(last)
		}
		if n := len(*s); !ok || b < a || n > 0 && a <= (*s)[n-1].Last+1 {
			return fmt.Errorf("%q: ranges of whole numbers must ascend and not touch", brief(string(text)))
		}
		*s = append(*s, Range{a, b})
	}
	return nil
}
