package files

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
)

const bzipped = "425a683931415926535968e2c9cc00001058000010400266002000310c00909a156ec01a72a31e75e2be888346f8bb9229c2848347164e60"

// wideText is a text in UTF-16, with a byte order mark or not.
func wideText(s string, high int, mark bool) []byte {
	units := utf16.Encode([]rune(s))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	var b []byte
	for _, u := range units {
		pair := [2]byte{}
		pair[high], pair[1-high] = byte(u>>8), byte(u)
		b = append(b, pair[:]...)
	}
	return b
}

func TestPlain_UnpacksAndDecodesByTheFirstBytes(t *testing.T) {
	t.Parallel()
	const text = "1 0 10 150 4 -1 -1 4 400 -1 1 1 1 1 1 1 -1 -1\n"
	const words = "name = \"Zoë 🚀\"\n"
	var gz, zs bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, _ = io.WriteString(w, "\xef\xbb\xbf"+text)
	z, err := zstd.NewWriter(&zs)
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(z, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bz, err := hex.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"plain":              {[]byte(text), text},
		"empty":              {nil, ""},
		"gzip and a mark":    {gz.Bytes(), text},
		"zstd":               {zs.Bytes(), text},
		"bzip2":              {bz, text},
		"a mark":             {[]byte("\xef\xbb\xbf" + words), words},
		"UTF-16, low first":  {wideText(words, 1, true), words},
		"UTF-16, high first": {wideText(words, 0, true), words},
		"UTF-16, no mark":    {wideText(words, 1, false), words},
		"high, no mark":      {wideText(words, 0, false), words},
		"Latin":              {[]byte("J\xfcrgen\n"), "J\xfcrgen\n"},
	} {
		for _, r := range []io.Reader{bytes.NewReader(c.in), iotest.OneByteReader(bytes.NewReader(c.in)), iotest.DataErrReader(bytes.NewReader(c.in))} {
			plain, err := Plain(r)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got, err := io.ReadAll(plain); err != nil || string(got) != c.want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	half, err := Plain(bytes.NewReader(gz.Bytes()[:gz.Len()-9]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(half); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a file: %v", err)
	}
	if _, err := Plain(iotest.ErrReader(errors.New("no disk"))); err != nil {
		t.Errorf("an error of the reader comes when it is read: %v", err)
	}
}

func TestPlain_NamesWhatItCannotUnpackAndWhatCan(t *testing.T) {
	t.Parallel()
	for magic, want := range map[string]string{
		"\xfd7zXZ\x00\x00":                       "is xz, which is not read; gzip, bzip2 and zstd are. Unpack it first, with xz -dc",
		"PK\x03\x04":                             "unzip -p",
		"7z\xbc\xaf\x27\x1c":                     "7z x -so",
		"\x1f\x9d":                               "gzip -dc",
		"\xff\xfe\x00\x00":                       "iconv -f UTF-32",
		strings.Repeat("a", 257) + "ustar\x0000": "tar -xOf",
	} {
		var packed *PackedError
		if _, err := Plain(strings.NewReader(magic)); !errors.As(err, &packed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: %v, want %q", magic, err, want)
		}
	}
}
