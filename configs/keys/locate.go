package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// Path is a place in a file: the keys that lead there, and the indices in the arrays on
// the way, from 0.
type Path string

const (
	keySep     = "\x00"
	ordinalSep = "\x01"
)

// Key is the place of a key of the table at p.
func (p Path) Key(k string) Path { return p + keySep + Path(k) }

// At is the place of an element of the array at p, from 0.
func (p Path) At(i int) Path { return p + ordinalSep + Path(strconv.Itoa(i)) }

// parent returns the place around p, "" for the whole file.
func (p Path) parent() Path {
	return p[:max(0, strings.LastIndexAny(string(p), keySep+ordinalSep))]
}

// String shows the keys with dots, "site.group.nodes". It leaves out the indices, because
// errors also give the line.
func (p Path) String() string {
	var b strings.Builder
	for i, part := range strings.Split(string(p), keySep) {
		if i > 1 {
			b.WriteByte('.')
		}
		k, _, _ := strings.Cut(part, ordinalSep)
		b.WriteString(k)
	}
	return b.String()
}

// The bounds of a file's shape. They keep the cost of reading it linear.
const (
	maxDepth = 16  // parts of a dotted key; nested arrays and inline tables
	maxKey   = 200 // bytes of one key
)

// locator finds the line of every key, table and array element of a TOML text. (The TOML
// reader gives positions only for syntax errors.) The locator validates nothing: on a text
// that is not TOML it stops somewhere, but never panics and never loops.
type locator struct {
	text   string
	pos    int
	line   int
	lines  map[Path]int // from 1
	arrays map[Path]int // tables seen so far of each array of tables
	beyond *Problem     // the bound at which it stopped, or nil
}

// locate costs one walk over the text.
func locate(text string) *locator {
	l := &locator{text: text, line: 1, lines: map[Path]int{}, arrays: map[Path]int{}}
	var table Path
	for l.blank(true); l.pos < len(l.text) && l.beyond == nil; l.blank(true) {
		before := l.pos
		if l.text[l.pos] == '[' {
			table = l.header()
		} else {
			l.pair(table, 0)
		}
		if l.pos == before { // not TOML: skip the line
			l.endOfLine()
		}
	}
	return l
}

// lineOf returns the line of p, or of the nearest table around it.
func (l *locator) lineOf(p Path) int {
	for p != "" {
		if n, ok := l.lines[p]; ok {
			return n
		}
		p = p.parent()
	}
	return 1
}

func (l *locator) mark(p Path, line int) {
	if _, ok := l.lines[p]; !ok {
		l.lines[p] = line
	}
}

// header reads "[a.b]" or "[[a.b]]" and returns the path of the table that it opens. A key
// on the way that is an array of tables means its last table.
func (l *locator) header() Path {
	line, double := l.line, false
	l.pos++
	if l.peek() == '[' {
		double = true
		l.pos++
	}
	keys := l.dotted()
	var p Path
	for i, k := range keys {
		p = p.Key(k)
		l.mark(p, line)
		n, array := l.arrays[p]
		switch {
		case double && i == len(keys)-1:
			l.arrays[p] = n + 1
			p = p.At(n)
			l.mark(p, line)
		case array:
			p = p.At(n - 1)
		}
	}
	for l.peek() == ']' {
		l.pos++
	}
	return p
}

// pair reads "a.b = value" of the given table.
func (l *locator) pair(table Path, depth int) {
	line, p := l.line, table
	for _, k := range l.dotted() {
		p = p.Key(k)
		l.mark(p, line)
	}
	l.blank(false)
	if l.peek() != '=' {
		return
	}
	l.pos++
	l.blank(false)
	l.value(p, depth)
}

// dotted reads a key, bare or quoted, with its dots.
func (l *locator) dotted() []string {
	var keys []string
	for {
		l.blank(false)
		start := l.pos
		switch c := l.peek(); {
		case c == '"' || c == '\'':
			l.quoted()
			raw := l.text[start:l.pos]
			if s, err := strconv.Unquote(raw); err == nil && c == '"' {
				raw = s
			} else {
				raw = strings.Trim(raw, string(c))
			}
			keys = append(keys, raw)
		default:
			for l.pos < len(l.text) && bare(l.text[l.pos]) {
				l.pos++
			}
			if l.pos == start {
				return keys
			}
			keys = append(keys, l.text[start:l.pos])
		}
		if l.pos-start > maxKey {
			l.stop("a key is longer than %d bytes", maxKey)
		}
		if len(keys) > maxDepth {
			l.stop("a key has more than %d parts", maxDepth)
		}
		l.blank(false)
		if l.peek() != '.' {
			return keys
		}
		l.pos++
	}
}

func bare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// value skips one value and marks what is in it.
func (l *locator) value(p Path, depth int) {
	if depth > maxDepth {
		l.stop("arrays and tables are nested more than %d deep", maxDepth)
		return
	}
	switch l.peek() {
	case '"', '\'':
		l.quoted()
	case '[':
		l.pos++
		for i := 0; l.more(']'); i++ {
			l.mark(p.At(i), l.line)
			l.value(p.At(i), depth+1)
		}
	case '{':
		l.pos++
		for before := -1; l.more('}') && l.pos > before; {
			before = l.pos
			l.pair(p, depth+1)
		}
	default:
		for l.pos < len(l.text) && !strings.ContainsRune(",]}#\r\n", rune(l.text[l.pos])) {
			l.pos++
		}
	}
}

// more skips blanks, comments and one comma, and reports whether another element comes
// before the closing bracket.
func (l *locator) more(closing byte) bool {
	l.blank(true)
	if l.peek() == ',' {
		l.pos++
		l.blank(true)
	}
	switch l.peek() {
	case closing:
		l.pos++
		return false
	case 0, ',', ']', '}', '=':
		return false
	}
	return l.beyond == nil
}

// stop gives up at a bound.
func (l *locator) stop(format string, args ...any) {
	if l.beyond == nil {
		l.beyond = &Problem{Line: l.line, Text: fmt.Sprintf(format, args...)}
	}
	l.pos = len(l.text)
}

// quoted skips a string of any of the four kinds.
func (l *locator) quoted() {
	quote := l.text[l.pos : l.pos+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(l.text[l.pos:], triple) {
		quote = triple
	}
	l.pos += len(quote)
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case strings.HasPrefix(l.text[l.pos:], quote):
			l.pos += len(quote)
			for len(quote) == 3 && l.peek() == quote[0] { // up to two quotes may end the content
				l.pos++
			}
			return
		case c == '\\' && quote[0] == '"':
			l.pos++
			if l.peek() == '\n' {
				l.line++
			}
		case c == '\n' && len(quote) == 1:
			return
		case c == '\n':
			l.line++
		}
		l.pos++
	}
	l.pos = min(l.pos, len(l.text))
}

// blank skips blanks and, if lines is set, also line ends and comments.
func (l *locator) blank(lines bool) {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == ' ' || c == '\t':
		case lines && c == '\n':
			l.line++
		case lines && c == '\r':
		case lines && c == '#':
			l.endOfLine()
			continue
		default:
			return
		}
		l.pos++
	}
}

// endOfLine moves to the end of this line.
func (l *locator) endOfLine() {
	if n := strings.IndexByte(l.text[l.pos:], '\n'); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.text)
	}
}

// peek returns the next byte, 0 at the end.
func (l *locator) peek() byte {
	if l.pos < len(l.text) {
		return l.text[l.pos]
	}
	return 0
}
