package journal

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// claimFile says whose mirror a folder is. The same word is beside the journal and beside
// its mirror; Restore writes a new one to both.
const claimFile = "mirror.json"

type claim struct {
	Claim string `json:"claim"`
}

func newClaim() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// readClaim returns the claim on a disk, "" if there is none.
func readClaim(disk Disk) (string, error) {
	names, err := disk.Names()
	if err != nil || !slices.Contains(names, claimFile) {
		return "", err
	}
	text, err := disk.Read(claimFile)
	if err != nil {
		return "", err
	}
	var c claim
	if err := json.Unmarshal(text, &c); err != nil || c.Claim == "" {
		return "", &CorruptError{place(disk, claimFile), 0, "it does not say whose mirror this is; bring it back from the other side"}
	}
	return c.Claim, nil
}

func writeClaim(disk Disk, word string) error {
	text, err := json.Marshal(claim{word})
	if err != nil {
		return err
	}
	return putFile(disk, claimFile, bytes.NewReader(append(text, '\n')))
}

// suffixCopy ends the name of a file being copied.
const suffixCopy = ".copy"

// copyPiece is how many bytes are copied or compared at a time.
const copyPiece = 1 << 17

// putFile writes a file under a temporary name, durably, and then gives it its name.
func putFile(to Disk, name string, from io.Reader) error {
	beside := name + suffixCopy
	names, err := to.Names()
	if err != nil {
		return err
	}
	if slices.Contains(names, beside) { // left over from an interrupted copy
		if err := to.Remove(beside); err != nil {
			return err
		}
	}
	if err := appendAll(to, beside, from); err != nil {
		return err
	}
	return giveName(to, beside, name)
}

// appendAll appends everything there is to read, which may be nothing.
func appendAll(to Disk, name string, from io.Reader) error {
	piece := make([]byte, copyPiece)
	for first := true; ; first = false {
		n, err := io.ReadFull(from, piece)
		if n > 0 || first {
			if err := to.Append(name, piece[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// filling copies the content of one disk to another. It can be repeated while the first one
// grows.
type filling struct {
	from, to Disk
	known    map[string]int64 // bytes of segments known to be on both
	last     uint64           // the first disk's last segment; those before it must be whole to replace others
	differed int              // segments that had other records and were written again
}

// ownFile reports whether a file belongs to its own folder only.
func ownFile(name string) bool { return name == "lock" || name == claimFile }

// all copies every file, and then removes what the first disk does not have. So a crash
// leaves the mirror with its old content, the new one, or both.
func (f *filling) all() error {
	names, has, err := f.names()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(names, isSegment) && slices.ContainsFunc(has, isSegment) {
		return errors.New("a disk without a journal is not copied over one with a journal")
	}
	last := f.compared(names, has)
	for _, name := range names {
		if err := f.file(name, slices.Contains(has, name), last); err != nil {
			return err
		}
	}
	for _, name := range has {
		if !slices.Contains(names, name) {
			if err := f.to.Remove(name); err != nil {
				return err
			}
		}
	}
	return f.to.SyncNames()
}

// segments copies segments and removes nothing.
func (f *filling) segments() error {
	names, has, err := f.names()
	if err != nil {
		return err
	}
	last := f.compared(names, has)
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return !isSegment(name) }) {
		if err := f.file(name, slices.Contains(has, name), last); err != nil {
			return err
		}
	}
	return nil
}

func isSegment(name string) bool {
	_, ok := segmentNumber(name)
	return ok
}

// names lists the files on both disks that must be the same.
func (f *filling) names() (from, to []string, err error) {
	if from, err = f.from.Names(); err == nil {
		to, err = f.to.Names()
	}
	return slices.DeleteFunc(from, ownFile), slices.DeleteFunc(to, ownFile), err
}

// compared returns the first segment whose bytes must be compared. Those before the last
// one of either disk are complete and never change, so their sizes are enough.
func (f *filling) compared(from, to []string) uint64 {
	f.last = lastSegment(from)
	return min(f.last, lastSegment(to))
}

// lastSegment returns the number of the last segment in a sorted list of files, 0 if there
// is none.
func lastSegment(names []string) (last uint64) {
	for _, name := range names {
		if n, ok := segmentNumber(name); ok {
			last = n
		}
	}
	return last
}

// wholeSegment reports whether a segment has all its records, to its end.
func wholeSegment(disk Disk, name string) (bool, error) {
	data, err := disk.Read(name)
	if err != nil {
		return false, err
	}
	s, err := readSegment(name, data)
	return err == nil && s.torn == 0, nil
}

// file copies one file. there says whether one of that name exists already.
func (f *filling) file(name string, there bool, compared uint64) error {
	in, err := openFile(f.from, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	n, segment := segmentNumber(name)
	size, known := f.known[name]
	if segment && there && !known {
		if size, known, err = f.prefix(name, in, n < compared); err != nil {
			return err
		}
		if !known && n < f.last {
			if whole, err := wholeSegment(f.from, name); err != nil || !whole {
				return err // what the other disk has of it may be all that there is
			}
		}
		if !known {
			f.differed++
		}
	}
	if !segment && there {
		same, err := f.same(name, in)
		if err != nil || same {
			return err
		}
	}
	rest := &counted{from: io.NewSectionReader(in, size, math.MaxInt64-size), n: size}
	if !known {
		rest = &counted{from: io.NewSectionReader(in, 0, math.MaxInt64)}
		err = putFile(f.to, name, rest)
	} else if err = appendAll(f.to, name, rest); err == nil {
		err = f.to.Sync(name)
	}
	if err != nil {
		return err
	}
	if segment {
		if f.known == nil {
			f.known = map[string]int64{}
		}
		f.known[name] = rest.n
	}
	return nil
}

// counted counts what is read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	return n, err
}

// prefix returns the size of a segment on the disk being filled, and whether all of it is
// the beginning of the other disk's: by size alone, or by its bytes.
func (f *filling) prefix(name string, in File, bySize bool) (size int64, is bool, err error) {
	out, err := openFile(f.to, name)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = out.Close() }()
	if bySize {
		a, err := sizeOf(in)
		if err != nil {
			return 0, false, err
		}
		if size, err = sizeOf(out); err != nil || a == size {
			return size, true, err
		}
	}
	return begins(in, out)
}

func (f *filling) same(name string, in File) (bool, error) {
	out, err := openFile(f.to, name)
	if err != nil {
		return false, err
	}
	defer func() { _ = out.Close() }()
	size, is, err := begins(in, out)
	if err != nil || !is {
		return false, err
	}
	all, err := sizeOf(in)
	return all == size, err
}

// begins reports whether in begins with all of out, and the size of that.
func begins(in, out File) (size int64, is bool, err error) {
	a, b := make([]byte, copyPiece), make([]byte, copyPiece)
	for {
		n, err := out.ReadAt(b, size)
		if err != nil && err != io.EOF {
			return size, false, err
		}
		last := err == io.EOF
		has, err := in.ReadAt(a[:n], size)
		if err != nil && err != io.EOF {
			return size, false, err
		}
		if has < n || !bytes.Equal(a[:n], b[:n]) {
			return size, false, nil
		}
		if size += int64(n); last {
			return size, true, nil
		}
	}
}

// sizeOf returns the size of a file in bytes.
func sizeOf(f File) (int64, error) {
	type sized interface{ Size() int64 }
	type stat interface {
		Seek(int64, int) (int64, error)
	}
	switch f := f.(type) {
	case sized:
		return f.Size(), nil
	case stat:
		return f.Seek(0, io.SeekEnd)
	}
	return 0, fmt.Errorf("%T has no size", f)
}

// beyond returns how many facts a mirror has that continue after the last one of the main
// disk; 0 if the main disk has as many, or others in their place.
func beyond(main, mirror Disk) (uint64, error) {
	list, err := segments(main)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	kept, err := segments(mirror)
	if err != nil || len(kept) == 0 || kept[len(kept)-1] < list[len(list)-1] {
		return 0, err
	}
	last := list[len(list)-1]
	data, err := main.Read(segmentName(last))
	if err != nil {
		return 0, err
	}
	s, err := readSegment(place(main, segmentName(last)), data)
	if err != nil {
		return 0, fmt.Errorf("%w. What the mirror has is brought back with bourse journal restore", err)
	}
	if !slices.Contains(kept, last) { // it has removed that one after an image, which the main disk has lost
		return 0, &CorruptError{s.file, int64(s.end), fmt.Sprintf("the journal ends here, and that on the mirror goes on with segments %d to %d. "+
			"What the mirror has is brought back with bourse journal restore", kept[0], kept[len(kept)-1])}
	}
	other, err := mirror.Read(segmentName(last))
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(other, data[:s.end]) {
		return 0, nil
	}
	run, err := tail(mirror)
	if err != nil {
		return 0, nil //nolint:nilerr // a damaged mirror is made again
	}
	end := run[len(run)-1]
	if has, had := end.Records+end.Facts, s.header.Records+s.facts(); has > had || end.Segment > last {
		return max(has-had, 1), nil
	}
	return 0, nil
}

// tail returns the segments of a disk that follow each other up to the last one. These are
// all segments, unless a mirror was being filled.
func tail(disk Disk) ([]Segment, error) {
	list, err := segments(disk)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: there is no journal in this folder", strings.TrimSuffix(place(disk, ""), "/"))
	}
	var run []Segment
	var next *segment
	for i := len(list) - 1; i >= 0; i-- {
		s, err := load(disk, list[i])
		if err != nil {
			return nil, err
		}
		one := Segment{s.file, s.header, s.facts(), s.torn}
		if next != nil && (s.torn > 0 || follows([]Segment{one}, next) != nil) {
			break
		}
		run, next = append(run, one), s
	}
	slices.Reverse(run)
	return run, nil
}

// Restore copies a journal from its mirror to an empty disk, and claims the mirror for it:
// the original journal can no longer use it. It returns the copied segments. A torn end is
// left out. The mirror must be the caller's alone. A plain copy, which is no journal's
// mirror, is only read.
func Restore(mirror, to Disk) ([]Segment, error) {
	has, err := to.Names()
	if err != nil {
		return nil, err
	}
	if has = slices.DeleteFunc(has, func(name string) bool { return name == "lock" }); len(has) > 0 {
		return nil, fmt.Errorf("%s is not empty: it has %s; use an empty folder", place(to, ""), has[0])
	}
	run, err := tail(mirror)
	if err != nil {
		return nil, err
	}
	word, err := readClaim(mirror)
	if err != nil {
		return nil, err
	}
	if word != "" {
		word = newClaim()
		if err := writeClaim(mirror, word); err != nil {
			return nil, err
		}
	}
	names, err := mirror.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		n, segment := segmentNumber(name)
		if ownFile(name) || segment && n < run[0].Segment || strings.HasSuffix(name, suffixNew) || strings.HasSuffix(name, suffixCopy) {
			continue
		}
		data, err := mirror.Read(name)
		if err != nil {
			return nil, err
		}
		if last := run[len(run)-1]; n == last.Segment {
			data = data[:len(data)-last.Torn]
		}
		if err := putFile(to, name, bytes.NewReader(data)); err != nil {
			return nil, err
		}
	}
	if word != "" {
		err = writeClaim(to, word)
	}
	return run, err
}
