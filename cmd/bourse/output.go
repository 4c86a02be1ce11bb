package main

import (
	"io"
	"unicode/utf8"

	"github.com/bourse-grid/bourse"
)

// output is where results go. Words that users and peers have given are among
// them, so that nothing is let through that a terminal takes for a command, be it
// text or JSON. It remembers that results could not be written, as on a full disk:
// then the command has failed, whether it looked or not.
type output struct {
	w    io.Writer
	err  error
	part []byte // of a character that the last write has begun
	buf  []byte
}

// Write fails for good at the first error.
func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	if len(o.part) == 0 && plain(b) {
		_, o.err = o.w.Write(b)
	} else {
		text := append(o.part, b...)
		whole := begun(text)
		o.put(text[:whole])
		o.part = append([]byte(nil), text[whole:]...)
	}
	if o.err != nil {
		return 0, o.err
	}
	return len(b), nil
}

// flush writes what of a character has come and is not whole.
func (o *output) flush() {
	if o.err == nil && len(o.part) > 0 {
		o.put(o.part)
		o.part = nil
	}
}

func (o *output) put(text []byte) {
	o.buf = bourse.AppendVisible(o.buf[:0], text)
	_, o.err = o.w.Write(o.buf)
}

// plain reports whether a text is of common characters only, as most is.
func plain(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// begun is where the character begins that a text ends within; its length if it
// ends after one.
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

// visible is a text as a terminal may show it.
func visible(s string) string { return string(bourse.AppendVisible(nil, []byte(s))) }
