package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A segment is one file: a line with the version, a record with the Header, an image in one
// or more records unless it is the first segment, and facts. It is written under a
// temporary name and synced before it gets its name, so a file with that name has a
// complete head.
const (
	version    = "bourse journal 1\n" // with Version
	versionAny = "bourse journal "
	suffix     = ".journal"
	suffixNew  = ".new" // temporary name
)

// Version is the version of segments that this build writes, and the only one that it
// reads.
const Version = 1

// Header describes a segment.
type Header struct {
	Agent   agents.ID `json:"agent"`           // whose journal it is
	Segment uint64    `json:"segment"`         // from 1
	Records uint64    `json:"records"`         // facts in earlier segments
	At      grid.Time `json:"at"`              // when it was begun
	Image   bool      `json:"image"`           // it begins with an image of everything before it
	Parts   int       `json:"parts,omitempty"` // records of the image, if more than one
	Older   []Older   `json:"older,omitempty"`
}

// parts returns how many records the image takes.
func (h *Header) parts() int {
	if !h.Image {
		return 0
	}
	return max(h.Parts, 1)
}

// Older says when a segment that is still kept was begun, so that it need not be read to
// know when it can be removed.
type Older struct {
	Segment uint64    `json:"segment"`
	At      grid.Time `json:"at"`
}

// segmentName returns the file name of a segment.
func segmentName(n uint64) string { return fmt.Sprintf("%08d%s", n, suffix) }

// segmentNumber reads a file's name; false if it is not a segment's.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) < 8 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil && n > 0 && segmentName(n) == name
}

// segments lists the numbers of the segments of a disk, ascending.
func segments(disk Disk) ([]uint64, error) {
	names, err := disk.Names()
	if err != nil {
		return nil, err
	}
	var list []uint64
	for _, name := range names {
		if n, ok := segmentNumber(name); ok {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// appendHead appends the head of a segment.
func appendHead(b []byte, h Header) ([]byte, error) {
	b = append(b, version...)
	at := len(b)
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	b = append(appendFrame(b), text...)
	b = append(b, '\n')
	return b, seal(b, at, h.Segment)
}

// otherVersion reads the number of another version of the journal from the first line of a
// segment; false if that is no such line.
func otherVersion(data []byte) (n uint16, ok bool) {
	line, _, whole := bytes.Cut(data[:min(len(data), len(version)+5)], []byte("\n"))
	digits, ok := bytes.CutPrefix(line, []byte(versionAny))
	if !ok || !whole || len(digits) == 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(digits), 10, 16)
	return uint16(v), err == nil
}

// readHead reads the head of a segment and returns the offset after it.
func readHead(file string, data []byte) (Header, int, error) {
	line := data[:min(len(data), len(version))]
	if string(line) != version {
		if n, ok := otherVersion(data); ok {
			why := fmt.Sprintf("its first line says journal version %d, and this build reads version %d", n, Version)
			return Header{}, 0, &OtherReleaseError{file, why, &CorruptError{file, 0, why}}
		}
		return Header{}, 0, &CorruptError{file, 0, fmt.Sprintf("it does not begin with the line %q of a journal", strings.TrimSpace(version))}
	}
	f, ok := wholeAt(data, len(version))
	var h Header
	if !ok {
		return h, 0, &CorruptError{file, int64(len(version)), "its header is not whole, though it was synced before the file had its name"}
	}
	dec := json.NewDecoder(bytes.NewReader(f.payload))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&h); err != nil {
		why := "its header cannot be read: " + err.Error()
		return h, 0, &OtherReleaseError{file, why, &CorruptError{file, f.offset, why}}
	}
	if h.Segment != f.number {
		return h, 0, &CorruptError{file, f.offset, fmt.Sprintf("its header is that of segment %d and numbered %d", h.Segment, f.number)}
	}
	if h.Parts < 0 || h.Parts > 0 && !h.Image {
		return h, 0, &CorruptError{file, f.offset, fmt.Sprintf("its header says that it begins with %s of an image, and image is %t", grid.Count(h.Parts, "part"), h.Image)}
	}
	return h, f.end(), nil
}

// segment is a segment that has been read but not decoded.
type segment struct {
	file   string
	header Header
	frames []frame // the parts of the image, if there is one, and the facts
	end    int     // end of the last whole record
	torn   int     // bytes after it
}

// readSegment splits a segment's file into records.
func readSegment(file string, data []byte) (*segment, error) {
	h, offset, err := readHead(file, data)
	if err != nil {
		return nil, err
	}
	s := &segment{file: file, header: h}
	if s.frames, s.end, err = scan(file, data, offset, h); err != nil {
		return nil, err
	}
	s.torn = len(data) - s.end
	if has, parts := len(s.frames), h.parts(); has < parts {
		return nil, &CorruptError{file, int64(s.end), fmt.Sprintf("its image is not whole: %d of %d records, though it was synced before the file had its name", has, parts)}
	}
	return s, nil
}

// facts returns how many facts the segment has, without its image.
func (s *segment) facts() uint64 {
	return uint64(len(s.frames) - s.header.parts())
}
