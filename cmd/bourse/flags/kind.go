package flags

import (
	"fmt"
	"io"
	"os"

	"github.com/bourse-grid/bourse/configs/kinds"
)

// A file of the wrong kind is answered with what it is and who takes it, not with all that
// is wrong with it as something else.

// maxLooked bounds how much of a file is looked at for its kind: 16 MiB, like a TOML file.
const maxLooked = 16 << 20

// KindOfFile says what a file holds, KindUnknown if it cannot be read or is nothing known.
func KindOfFile(file string) kinds.Kind {
	f, err := os.Open(file)
	if err != nil {
		return kinds.Unknown
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxLooked))
	if err != nil {
		return kinds.Unknown
	}
	return kinds.Of(text)
}

// MissingFirst is what is wrong with a call: first of all that a file of it is not there. A call
// with which nothing is wrong is not held against the disk.
func MissingFirst(wrong error, files []string) error {
	if wrong == nil {
		return nil
	}
	for _, file := range files {
		if err := FileThere(file); err != nil {
			return err
		}
	}
	return wrong
}

// FileThere is the error of a file that is not there, or is a folder; "-" is standard input.
func FileThere(file string) error {
	if file == "-" {
		return nil
	}
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s: is a folder; must be a file", file)
	}
	return err
}

// OfKind says instead of an error about a file's content that it is of another kind, if it
// is. JSON that cannot be read any further may be meant to be what is wanted.
func OfKind(file string, want kinds.Kind, err error) error {
	if err == nil {
		return nil
	}
	switch is := KindOfFile(file); is {
	case want, kinds.Unknown, kinds.JSON:
		return err
	default:
		return fmt.Errorf("%s: %s", file, kinds.Wrong(is, want))
	}
}
