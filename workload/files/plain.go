package files

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// PackedError says that a file is packed, or encoded, in a way that is not read.
type PackedError struct {
	Kind string // "xz"
	Tool string // what unpacks it to its standard output, without the file's name: "xz -dc"
}

func (e *PackedError) Error() string {
	return "is " + e.Kind + ", which is not read; gzip, bzip2 and zstd are. Unpack it first, with " + e.Tool
}

// packed are the beginnings of packed files that are not read.
var packed = [...]struct {
	magic string
	PackedError
}{
	{"\xfd7zXZ\x00", PackedError{"xz", "xz -dc"}},
	{"PK\x03\x04", PackedError{"a zip archive", "unzip -p"}},
	{"PK\x05\x06", PackedError{"an empty zip archive", "unzip -p"}},
	{"7z\xbc\xaf\x27\x1c", PackedError{"a 7z archive", "7z x -so"}},
	{"Rar!\x1a\x07", PackedError{"a rar archive", "unrar p -inul"}},
	{"\x04\x22\x4d\x18", PackedError{"lz4", "lz4 -dc"}},
	{"LZIP", PackedError{"lzip", "lzip -dc"}},
	{"\x1f\x9d", PackedError{"packed by compress", "gzip -dc"}},
	{"\x5d\x00\x00\x80\x00", PackedError{"lzma", "xz -dc --format=lzma"}},
	{"\x00\x00\xfe\xff", PackedError{"UTF-32", "iconv -f UTF-32 -t UTF-8"}},
	{"\xff\xfe\x00\x00", PackedError{"UTF-32", "iconv -f UTF-32 -t UTF-8"}},
}

const (
	magicBytes = 512       // enough for a tar header, whose magic stands at byte 257
	maxWindow  = 128 << 20 // bytes of memory that a file packed by zstd may ask for
)

// Plain returns what r has as plain UTF-8. It unpacks gzip, bzip2 and zstd, which it knows
// by their first bytes, drops a byte order mark, and converts UTF-16. Anything else packed
// is a PackedError. Text of one byte a character passes as it is.
func Plain(r io.Reader) (io.Reader, error) {
	head, r := Peek(r, magicBytes)
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		r, err = gzip.NewReader(r)
	case len(head) > 3 && bytes.HasPrefix(head, []byte("BZh")) && '1' <= head[3] && head[3] <= '9':
		r = bzip2.NewReader(r)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		r, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	default:
		return decoded(head, r)
	}
	if err != nil {
		return nil, err
	}
	head, r = Peek(r, magicBytes)
	return decoded(head, r)
}

// Text is Plain for the whole content of a small file, which is not packed: without a byte
// order mark, and in UTF-8 where it was in UTF-16.
func Text(b []byte) ([]byte, error) {
	r, err := decoded(b[:min(len(b), magicBytes)], bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// decoded returns r, which begins with head, as UTF-8.
func decoded(head []byte, r io.Reader) (io.Reader, error) {
	for _, p := range packed {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return nil, &p.PackedError
		}
	}
	at := func(i int) byte { return head[i] }
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := io.ReadFull(r, make([]byte, 3))
		return r, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), len(head) > 3 && at(0) != 0 && at(1) == 0 && at(2) != 0 && at(3) == 0:
		return &wide{r: r, high: 1}, nil
	case bytes.HasPrefix(head, []byte("\xfe\xff")), len(head) > 3 && at(0) == 0 && at(1) != 0 && at(2) == 0 && at(3) != 0:
		return &wide{r: r}, nil
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return nil, &PackedError{"a tar archive", "tar -xOf"}
	}
	return r, nil
}

// Peek returns up to n first bytes of r, and a reader of all that r has. An error met on
// the way is returned by that reader in its place.
func Peek(r io.Reader, n int) (head []byte, all io.Reader) {
	head = make([]byte, n)
	k, err := 0, error(nil)
	for k < n && err == nil {
		var m int
		m, err = r.Read(head[k:])
		k += m
	}
	head = head[:k]
	if err != nil {
		r = broken{err}
	}
	return head, io.MultiReader(bytes.NewReader(head), r)
}

// broken is the end of a reader that has met an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// wide reads UTF-16 as UTF-8.
type wide struct {
	r     io.Reader
	high  int // which byte of a pair has the high eight bits
	begun bool
	unit  rune   // the first half of a surrogate pair, 0 for none
	ready []byte // what has been converted and not yet been read
	in    [4096]byte
	held  int // bytes of in that are left from the read before
	err   error
}

func (w *wide) Read(b []byte) (int, error) {
	for len(w.ready) == 0 && w.err == nil {
		n, err := w.r.Read(w.in[w.held:])
		n += w.held
		w.ready = w.ready[:0]
		for i := 0; i+1 < n; i += 2 {
			w.take(rune(w.in[i+w.high])<<8 | rune(w.in[i+1-w.high]))
		}
		if w.held = n % 2; w.held == 1 {
			w.in[0] = w.in[n-1]
		}
		if w.err = err; errors.Is(err, io.EOF) && w.held == 1 {
			w.err = io.ErrUnexpectedEOF
		}
	}
	if len(w.ready) == 0 {
		return 0, w.err
	}
	n := copy(b, w.ready)
	w.ready = w.ready[n:]
	return n, nil
}

// take converts one unit of 16 bits.
func (w *wide) take(unit rune) {
	const mark = 0xfeff
	switch first := w.unit; {
	case !w.begun && unit == mark:
	case first != 0 && utf16.IsSurrogate(unit):
		w.ready, w.unit = utf8.AppendRune(w.ready, utf16.DecodeRune(first, unit)), 0
	case utf16.IsSurrogate(unit):
		w.unit = unit
	default:
		w.ready, w.unit = utf8.AppendRune(w.ready, unit), 0
	}
	w.begun = true
}
