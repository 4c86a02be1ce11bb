package grid

import (
	"slices"
	"strings"
)

// Reading is what is read of a leg's work.
type Reading uint8

// The readings.
const (
	ReadOutput Reading = iota // what it has printed
	ReadErrors                // its standard error, if its job keeps that in a file of its own
	ReadList                  // which files its folder has
	ReadFile                  // one of these files
	ReadDigest                // the SHA-256 of one of these files
)

// Readings is the number of readings.
const Readings = 5

// String names the reading.
func (r Reading) String() string {
	if int(r) < len(readingWords) {
		return readingWords[r]
	}
	return "unknown"
}

var readingWords = [Readings]string{"output", "errors", "list", "file", "digest"}

// Source says what is read of a leg's work. The zero value is its output.
type Source struct {
	What Reading
	// Path is that of a file in the work's folder, with slashes; of a list, the folder to
	// list, or "" for the whole.
	Path string
}

// WorkFile is a file of a work's folder: a regular one, and never a link.
type WorkFile struct {
	Path string `json:"path"` // relative to the folder, with slashes
	Size int64  `json:"size"`
	At   Time   `json:"at"` // of its last change, by the cluster's clock; 0: not known
}

// Bounds of the files of a work's folder.
const (
	MaxFiles     = 1000      // of one list
	MaxFilesSeen = 10_000    // entries of a folder that are looked at for one list
	MaxFileDepth = 16        // folders on the way to a file
	MaxFileSize  = 256 << 20 // bytes of a file that can be fetched
)

// Check says why a source cannot be read; nil if it can.
func (s Source) Check() error {
	wrong := func(format string, args ...any) error { return wrongKey("path", format, args...).Err }
	parts := strings.Split(s.Path, "/")
	switch {
	case s.What >= Readings:
		return wrong("reading %d is not known", s.What)
	case s.What < ReadList && s.Path != "":
		return wrong("what is printed has no path")
	case s.What < ReadList, s.What == ReadList && s.Path == "":
		return nil
	case s.Path == "":
		return wrong("a file must be named")
	case len(s.Path) > MaxPath:
		return wrong("a path of %d bytes; at most %d are taken", len(s.Path), MaxPath)
	case CheckText(s.Path) != nil:
		return wrong("%q: %v", brief(s.Path), CheckText(s.Path))
	case s.Path[0] == '/', slices.Contains(parts, ".."):
		return wrong("%q leads out of the work's folder; name a file in it by its path from there", s.Path)
	case slices.Contains(parts, "."), slices.Contains(parts, ""):
		return wrong("%q: write it without empty parts and dots, as folder/file", s.Path)
	case len(parts) > MaxFileDepth+1:
		return wrong("%q is %d folders deep; at most %d are read", s.Path, len(parts)-1, MaxFileDepth)
	}
	return nil
}
