package flags

import (
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/grid"
)

// Output is where results go, as text or JSON. They include words from users and peers, so
// it escapes whatever a terminal would take for a command. It remembers a failed write,
// such as on a full disk: then the command has failed, even if it ignored the error.
type Output struct {
	W    io.Writer
	Err  error
	part []byte // of a character that the last write began
	buf  []byte
}

// Write writes the escaped text. After the first error every call fails.
func (o *Output) Write(b []byte) (int, error) {
	if o.Err != nil {
		return 0, o.Err
	}
	if len(o.part) == 0 && plain(b) {
		_, o.Err = o.W.Write(b)
	} else {
		text := append(o.part, b...)
		whole := begun(text)
		o.put(text[:whole])
		o.part = append([]byte(nil), text[whole:]...)
	}
	if o.Err != nil {
		return 0, o.Err
	}
	return len(b), nil
}

// Flush writes the part of an incomplete character that is left.
func (o *Output) Flush() {
	if o.Err == nil && len(o.part) > 0 {
		o.put(o.part)
		o.part = nil
	}
}

func (o *Output) put(text []byte) {
	o.buf = grid.AppendVisible(o.buf[:0], text)
	_, o.Err = o.W.Write(o.buf)
}

// plain reports whether a text has only common characters, as most texts do.
func plain(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// begun returns where an incomplete character at the end of a text begins, or the length
// of the text if its last character is complete.
func begun(text []byte) int {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// Visible escapes a text so that a terminal can show it safely.
func Visible(s string) string { return string(grid.AppendVisible(nil, []byte(s))) }

// WriteJSON writes v as indented JSON with a newline, the form of every --json.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// WriteLine writes v as JSON on one line, the form for results that come piece by piece.
func WriteLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
