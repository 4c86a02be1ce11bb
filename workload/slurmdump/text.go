package slurmdump

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bourse-grid/bourse/workload/files"
)

// Bounds of what is read. A configuration beyond them is an error.
const (
	maxText     = 64 << 20 // bytes of one file that is not a dump of jobs
	maxIncludes = 256      // files of one configuration
	maxDepth    = 16       // of Includes
	maxLine     = 1 << 20
	maxListed   = 20 // names in a message
)

// line is one line of a file, with its continuations.
type line struct {
	file   string
	number int
	text   string
}

// fault is an error about a key of a line.
func (l line) fault(key, format string, args ...any) error {
	return fmt.Errorf("%s: line %d: %s: %s", l.file, l.number, key, fmt.Sprintf(format, args...))
}

// readText reads a text file whole, however it is packed and encoded.
func readText(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := files.Plain(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	case len(b) > maxText:
		return "", fmt.Errorf("%s: has more than %d MB; must be a file of Slurm's configuration", name, maxText>>20)
	}
	return string(b), nil
}

// reader follows Includes.
type reader struct {
	read  func(string) (string, error)
	count int
	lines []line
}

// take appends the lines of a text: without comments and blank ones, with continuations
// joined, and with the lines of included files in place of their Includes.
func (r *reader) take(file, text string, depth int) error {
	if r.count++; r.count > maxIncludes || depth > maxDepth {
		return fmt.Errorf("%s: is the %dth file, %d Includes deep; must be at most %d files, %d deep", file, r.count, depth, maxIncludes, maxDepth)
	}
	joined, first := "", 0
	number := 0
	for text != "" {
		var raw string
		raw, text, _ = strings.Cut(text, "\n")
		number++
		if len(raw) > maxLine {
			return fmt.Errorf("%s: line %d: has %d bytes; must have %d at most", file, number, len(raw), maxLine)
		}
		raw = strings.TrimRight(uncommented(raw), " \t\r")
		if joined == "" {
			first = number
		}
		part, more := strings.CutSuffix(raw, "\\")
		if joined += part; more && text != "" {
			continue
		}
		l := line{file, first, strings.TrimSpace(joined)}
		joined = ""
		if name, ok := included(l.text); ok {
			if err := r.include(l, name, depth); err != nil {
				return err
			}
		} else if l.text != "" {
			r.lines = append(r.lines, l)
		}
	}
	return nil
}

// uncommented cuts a comment off; \# is no comment.
func uncommented(s string) string {
	for i := range len(s) {
		if s[i] == '#' && (i == 0 || s[i-1] != '\\') {
			return s[:i]
		}
	}
	return s
}

// included returns the name in "Include NAME".
func included(text string) (string, bool) {
	word, rest, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	return strings.Trim(rest, `"`), strings.EqualFold(word, "include") && rest != "" && !strings.HasPrefix(rest, "=")
}

// include reads an included file. A name that is not absolute is beside the file that names
// it; %c is the name of the cluster.
func (r *reader) include(at line, name string, depth int) error {
	if strings.Contains(name, "%c") {
		for _, l := range r.lines {
			for _, p := range pairs(l.text) {
				if strings.EqualFold(p.key, "ClusterName") {
					name = strings.ReplaceAll(name, "%c", p.value)
				}
			}
		}
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(at.file), name)
	}
	text, err := r.read(name)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return at.fault("Include", "%s: %v; put the file there, or give what scontrol show config prints", name, err)
	}
	return r.take(name, text, depth+1)
}

// pair is a key with its value.
type pair struct{ key, value string }

// pairs splits a line into its "key=value". Words without "=" belong to the value before
// them, as scontrol prints some. A line of scontrol show config, "key   = value", is one
// pair. Quotes around a value are taken off.
func pairs(text string) []pair {
	if key, value, ok := strings.Cut(text, "="); ok && strings.HasSuffix(key, " ") && isWord(strings.TrimSpace(key)) {
		return []pair{{strings.TrimSpace(key), strings.TrimSpace(value)}}
	}
	var out []pair
	for _, word := range words(text) {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case ok && isWord(key):
			out = append(out, pair{key, strings.Trim(value, `"'`)})
		case len(out) > 0:
			out[len(out)-1].value += " " + word
		}
	}
	return out
}

// isWord reports whether a text is a key: letters, digits, and what keys have between them.
func isWord(s string) bool {
	for _, c := range s {
		if c != '_' && c != '-' && c != '/' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return s != ""
}

// words splits at blanks that are not in quotes.
func words(text string) []string {
	var out []string
	quoted := rune(0)
	begin := -1
	for i, c := range text {
		switch blank := c == ' ' || c == '\t'; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case blank && begin >= 0:
			out = append(out, text[begin:i])
			begin = -1
		case blank:
		default:
			if c == '"' || c == '\'' {
				quoted = c
			}
			if begin < 0 {
				begin = i
			}
		}
	}
	if begin >= 0 {
		out = append(out, text[begin:])
	}
	return out
}
