package grid

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names, reasons and other words from users and peers are shown to others, also on
// terminals, which interpret some characters as commands.

// CheckText returns an error if a text has a character that cannot be seen: control
// characters, marks that change the direction of writing, line ends, blanks other than the
// common space. The error says which character and where.
func CheckText(s string) error {
	n := 0
	for i, c := range s {
		n++
		if c == utf8.RuneError && s[i] != "\uFFFD"[0] {
			return fmt.Errorf("%q: character %d is no UTF-8; leave it out", brief(s), n)
		}
		if !unicode.IsPrint(c) {
			return fmt.Errorf("%q: character %d is %U, which cannot be seen; leave it out", brief(s), n, c)
		}
	}
	return nil
}

// maxName bounds the name of a job, a site, a group or a member, in bytes.
const maxName = 100

// CheckName returns an error unless s is a name: 1 to 100 bytes that CheckText accepts,
// without blanks at either end.
func CheckName(s string) error {
	switch {
	case s == "" || len(s) > maxName:
		return fmt.Errorf("%q: must be a name of 1 to %d bytes, in UTF-8", brief(s), maxName)
	case strings.TrimSpace(s) != s:
		return fmt.Errorf("%q: a name must not begin or end with a blank", s)
	}
	return CheckText(s)
}

// brief shortens a text for messages.
func brief(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	for i := range s {
		if i > most {
			return s[:i] + "..."
		}
	}
	return s
}

// AppendVisible appends a text in a form that is safe to show on a terminal. Characters
// that CheckText refuses become \u and four digits, once or twice; a byte that is not UTF-8
// becomes \x and two digits. Line ends and tabs stay. Inside a JSON string the meaning does
// not change.
func AppendVisible(to, text []byte) []byte {
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		switch {
		case c == utf8.RuneError && size == 1:
			to = fmt.Appendf(to, `\x%02x`, text[0])
		case c == '\n' || c == '\t' || unicode.IsPrint(c):
			to = append(to, text[:size]...)
		case c > 0xffff:
			c -= 0x10000
			to = fmt.Appendf(to, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff) // as JSON has it
		default:
			to = fmt.Appendf(to, `\u%04x`, c)
		}
		text = text[size:]
	}
	return to
}
