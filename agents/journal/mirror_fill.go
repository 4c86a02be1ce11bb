package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// suffixCopy ends the name of a file being copied.
const suffixCopy = ".copy"

// copyPiece is how many bytes are copied or compared at a time.
const copyPiece = 1 << 17

// putFile writes a file under a temporary name, durably, and then gives it its name.
func putFile(to Disk, name string, from io.Reader) error {
	return putBeside(to, name+suffixCopy, name, from)
}

// putBeside is putFile with a temporary name of the caller's.
func putBeside(to Disk, beside, name string, from io.Reader) error {
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
// grows. A file that is already there need not be durable, so each is synced. After a sync
// that failed even that says nothing, and what was written last is written again, to a new
// file.
type filling struct {
	from, to Disk
	known    map[string]int64 // bytes of segments known to be on both
	last     uint64           // the first disk's last segment; those before it must be whole to replace others
	doubt    bool             // a sync of the second disk may have failed
	doubtful uint64           // its last segment, if so; those before it were synced before it was begun
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
	if _, has, err = f.names(); err != nil { // no longer what an interrupted copy had left
		return err
	}
	for _, name := range has {
		if !slices.Contains(names, name) {
			if err := f.to.Remove(name); err != nil {
				return err
			}
		}
	}
	if err := f.to.SyncNames(); err != nil {
		return err
	}
	f.doubt, f.doubtful = false, 0
	return nil
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
	last := lastSegment(to)
	if f.doubt {
		f.doubtful = last
	}
	return min(f.last, last)
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
		is := true
		if n != f.doubtful {
			if size, is, err = f.prefix(name, in, n < compared); err != nil {
				return err
			}
			known = is
		}
		if !known && n < f.last {
			switch whole, err := wholeSegment(f.from, name); {
			case err != nil:
				return err
			case !whole:
				return f.to.Sync(name) // what the other disk has of it may be all that there is
			}
		}
		if !is {
			f.differed++
		}
	}
	if !segment && there && !f.doubt {
		switch same, err := f.same(name, in); {
		case err != nil:
			return err
		case same:
			return f.to.Sync(name) // it may be about to get another name
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
