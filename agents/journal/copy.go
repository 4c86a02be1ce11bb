package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Copy copies the segments of a journal, or only the last one, which is enough for a
// restart, to a disk that has none. The journal may grow in the meantime: the copy is its
// state at some instant since the call, in whole records. If the journal is damaged,
// nothing is copied. Copy returns the copied segments. It reads each segment into memory as
// a whole.
func Copy(from, to Disk, lastOnly bool) ([]Segment, error) {
	if has, err := segments(to); err != nil || len(has) > 0 {
		if err == nil {
			err = fmt.Errorf("%s has a journal already, up to segment %d; use an empty folder", place(to, ""), has[len(has)-1])
		}
		return nil, err
	}
	for tries := 1; ; tries++ {
		copied, err := copySegments(from, to, lastOnly)
		if err == nil {
			return copied, nil
		}
		for _, s := range copied {
			if err := to.Remove(segmentName(s.Segment)); err != nil {
				return nil, err
			}
		}
		// A snapshot has removed old segments in the meantime, so the journal now begins
		// later.
		if !errors.Is(err, fs.ErrNotExist) || tries == maxTries {
			return nil, err
		}
	}
}

// maxTries bounds how often Copy starts again.
const maxTries = 5

func copySegments(from, to Disk, lastOnly bool) ([]Segment, error) {
	list, err := segments(from)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: there is no journal in this folder", place(from, ""))
	}
	if lastOnly {
		list = list[len(list)-1:]
	}
	var copied []Segment
	for i, n := range list {
		data, err := from.Read(segmentName(n))
		if err != nil {
			return copied, err
		}
		s, err := readSegment(place(from, segmentName(n)), data)
		if err != nil {
			return copied, err
		}
		if err := follows(copied, s); err != nil {
			return copied, err
		}
		if s.torn > 0 && i < len(list)-1 {
			return copied, &CorruptError{s.file, int64(s.end), "it ends within a record, and another segment follows; bring the file back from a copy"}
		}
		if err := putSegment(to, n, data[:s.end]); err != nil {
			return copied, err
		}
		copied = append(copied, Segment{s.file, s.header, s.facts(), s.torn})
	}
	return copied, nil
}

// putSegment writes a segment under a temporary name, durably, and then gives it its name.
func putSegment(to Disk, n uint64, data []byte) error {
	name := segmentName(n)
	beside := strings.TrimSuffix(name, suffix) + suffixNew
	return putBeside(to, beside, name, bytes.NewReader(data))
}
