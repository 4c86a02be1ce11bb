package journal

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/grid"
)

// The methods with which a reader reads a text, piece by piece.

func (d *reader) fail(why string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s at byte %d of the record's text", why, d.pos)
	}
}

// peek returns the next byte, 0 at the end.
func (d *reader) peek() byte {
	if d.pos < len(d.data) {
		return d.data[d.pos]
	}
	return 0
}

// next takes the byte c if it is the next one.
func (d *reader) next(c byte) bool {
	if d.pos < len(d.data) && d.data[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

func (d *reader) literal(s string) {
	if !d.takes(s) {
		d.fail(fmt.Sprintf("must be %q", s))
	}
}

// takes takes a text if it comes next.
func (d *reader) takes(s string) bool {
	if len(d.data)-d.pos < len(s) || string(d.data[d.pos:d.pos+len(s)]) != s {
		return false
	}
	d.pos += len(s)
	return true
}

// null takes a null.
func (d *reader) null() bool {
	if d.peek() != 'n' {
		return false
	}
	d.literal("null")
	return true
}

// quoted returns the text between the next quotes, and whether it has no escapes.
func (d *reader) quoted() (text []byte, plain bool) {
	if !d.next('"') {
		d.fail("must be a text")
		return nil, true
	}
	from := d.pos
	plain = true
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case '"':
			d.pos++
			return d.data[from : d.pos-1], plain
		case '\\':
			plain = false
			d.pos++
		}
		d.pos++
	}
	d.pos = len(d.data)
	d.fail("a text does not end")
	return nil, true
}

// maxWords is how many texts a reader remembers, maxWord how long they may be.
const (
	maxWords = 1 << 10
	maxWord  = 64
)

// text reads a text.
func (d *reader) text() string {
	from := d.pos
	b, plain := d.quoted()
	if !plain {
		var s string
		if err := json.Unmarshal(d.data[from:d.pos], &s); err != nil {
			d.fail(err.Error())
		}
		return s
	}
	hash, low, high := uint32(len(b)), byte(0xff), byte(0)
	for _, c := range b {
		hash = hash*31 + uint32(c)
		low, high = min(low, c), high|c
	}
	switch {
	case low < ' ' || high >= utf8.RuneSelf && !utf8.Valid(b):
		d.fail("a text is not UTF-8, or has control characters,")
		return ""
	case len(b) > maxWord:
		return string(b)
	}
	word := &d.words[(hash^hash>>10)%maxWords]
	if *word != string(b) {
		*word = string(b)
	}
	return *word
}

// number returns the bytes of the next number.
func (d *reader) number() []byte {
	from := d.pos
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			d.pos++
			continue
		}
		break
	}
	if from == d.pos {
		d.fail("must be a number")
	}
	return d.data[from:d.pos]
}

// decimal reads a number in units of 10^-digits, exactly, as written for an int64 with that
// many decimals. More decimals are an error.
func (d *reader) decimal(digits int) int64 {
	negative := d.next('-')
	var u uint64
	from, point := d.pos, -1
	for d.pos < len(d.data) {
		c := d.data[d.pos]
		if c == '.' && point < 0 {
			point = d.pos
			d.pos++
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		if u > math.MaxUint64/10-1 {
			d.fail("a number is too large")
			return 0
		}
		u = u*10 + uint64(c-'0')
		d.pos++
	}
	decimals := 0
	if point >= 0 {
		decimals = d.pos - point - 1
	}
	if d.pos == from || decimals > digits || point == d.pos-1 {
		d.fail("must be a number of at most " + strconv.Itoa(digits) + " decimals")
		return 0
	}
	for ; decimals < digits; decimals++ {
		if u > math.MaxUint64/10 {
			d.fail("a number is too large")
			return 0
		}
		u *= 10
	}
	if u > math.MaxInt64 && !(negative && u == 1<<63) {
		d.fail("a number is too large")
		return 0
	}
	if negative {
		return -int64(u)
	}
	return int64(u)
}

// time reads an instant; Never is written as null.
func (d *reader) time() int64 {
	if d.null() {
		return int64(grid.Never)
	}
	return d.decimal(3)
}

// skip skips any value.
func (d *reader) skip() {
	depth := 0
	for {
		switch d.peek() {
		case '{', '[':
			depth++
			d.pos++
		case '}', ']':
			depth--
			d.pos++
		case ',', ':':
			d.pos++
		case '"':
			d.quoted()
		case 't':
			d.literal("true")
		case 'f':
			d.literal("false")
		case 'n':
			d.literal("null")
		default:
			d.number()
		}
		if depth <= 0 || d.err != nil {
			return
		}
	}
}
