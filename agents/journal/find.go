package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Sieve selects the records of a journal to read. It sees them undecoded, since decoding
// costs some fifty times as much as searching for a word.
type Sieve interface {
	// Look is called with every record in order: its place, the kind of its fact and its
	// payload, which must not be kept. A later record has a greater place. If Look returns
	// true, the fact is decoded and passed to Learn.
	Look(place uint64, kind string, payload []byte) (learn bool)
	// Learn is called with the facts for which Look has returned true.
	Learn(place uint64, f agents.Fact)
	// Places returns, at the end, the places of the records to read, in ascending order.
	Places() []uint64
}

// A place is the number of a file among those that were opened, in the high bits, and
// the offset of a record in it.
const offsetBits = 40

// opener is a disk whose files can be read in pieces.
type opener interface {
	Open(name string) (File, error)
}

// File is a file of a disk, for reading.
type File interface {
	io.ReaderAt
	io.Closer
}

// whole is a file of a disk that can only read whole files.
type whole struct{ *bytes.Reader }

func (whole) Close() error { return nil }

func openFile(disk Disk, name string) (File, error) {
	if o, ok := disk.(opener); ok {
		return o.Open(name)
	}
	data, err := disk.Read(name)
	return whole{bytes.NewReader(data)}, err
}

// Find calls visit, in order, with the records that a sieve selects. It reads the segments
// with records since an instant, and the one before them, once from beginning to end, a
// megabyte at a time, and then the selected records again. It changes nothing. Records
// appended in the meantime may or may not be seen. stop is called now and then, and its
// error ends the search.
func Find(disk Disk, codec *Codec, since grid.Time, sieve Sieve, stop func() error, visit func(Record) error) error {
	f := finder{disk: disk, codec: codec, reader: newReader(codec), stop: stop}
	defer f.close()
	if err := f.open(since); err != nil {
		return err
	}
	for i := range f.parts {
		err := f.sift(i, sieve)
		if errors.Is(err, errWithin) {
			return findWithin(disk, codec, sieve, stop, visit)
		}
		if err != nil {
			return err
		}
	}
	for n, where := range sieve.Places() {
		if err := f.pause(n); err != nil {
			return err
		}
		r, err := f.record(where)
		if err == nil {
			err = visit(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finder is a Find in progress.
type finder struct {
	disk   Disk
	codec  *Codec
	reader *reader
	stop   func() error
	parts  []part
	buf    []byte
}

// part is a segment to search. Its file stays open, so that it can be read to the end even
// if it is removed.
type part struct {
	number uint64
	name   string // for messages
	file   File
	header Header
	from   int64 // offset after the header
}

func (f *finder) close() {
	for i := range f.parts {
		_ = f.parts[i].file.Close()
	}
}

// open opens the segments from the one before that which contains since. Segments that
// vanish while being listed were old enough to be removed.
func (f *finder) open(since grid.Time) error {
	list, err := segments(f.disk)
	if err != nil {
		return err
	}
	enough := -1 // how many more to open
	for i := len(list) - 1; i >= 0 && enough != 0 && len(f.parts) < maxParts; i-- {
		if n := len(f.parts); n > 0 && f.parts[0].number != list[i]+1 {
			break // the ones between have been removed
		}
		p, err := openPart(f.disk, list[i])
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		f.parts = append([]part{p}, f.parts...)
		if enough--; enough < 0 && p.header.At <= since {
			enough = 1
		}
	}
	return nil
}

// maxParts bounds the segments searched, counting back from the latest.
const maxParts = 500

func openPart(disk Disk, n uint64) (part, error) {
	p := part{number: n, name: place(disk, segmentName(n))}
	var err error
	if p.file, err = openFile(disk, segmentName(n)); err != nil {
		return p, err
	}
	head, err := io.ReadAll(io.NewSectionReader(p.file, 0, maxHeader))
	if err == nil {
		var from int
		p.header, from, err = readHead(p.name, head)
		p.from = int64(from)
		if err == nil && p.header.Segment != n {
			err = &CorruptError{p.name, int64(len(version)), fmt.Sprintf("it is segment %d under another name", p.header.Segment)}
		}
	}
	if err != nil {
		_ = p.file.Close()
	}
	return p, err
}

// readAhead is how much of a file is read at a time.
const readAhead = 1 << 20

// sift shows all records of a segment to a sieve.
func (f *finder) sift(i int, sieve Sieve) error {
	p := &f.parts[i]
	in := bufio.NewReaderSize(io.NewSectionReader(p.file, p.from, 1<<offsetBits-p.from), readAhead)
	number, first := p.header.Records, p.header.parts()
	for at, n := p.from, 0; ; n++ {
		if err := f.pause(n); err != nil {
			return err
		}
		payload, err := f.next(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if n >= first {
			number++
		}
		if err == nil && f.number() != number {
			err = errNotWhole
		}
		if errors.Is(err, errNotWhole) {
			return f.damaged(p, i == len(f.parts)-1)
		}
		if err != nil {
			return err
		}
		kind, ok := kindOf(f.codec, payload)
		if ok && i == 0 && n == 0 && replicated(kind) {
			return errWithin
		}
		if !ok {
			_, _, err := f.reader.record(payload) // for its error
			return fmt.Errorf("%s: record %d at byte %d: %w", p.name, number, at, err)
		}
		where := uint64(i)<<offsetBits | uint64(at)
		if sieve.Look(where, kind, payload) {
			_, fact, err := f.reader.record(payload)
			if err != nil {
				return fmt.Errorf("%s: record %d at byte %d: %w", p.name, number, at, err)
			}
			sieve.Learn(where, fact)
		}
		at += int64(len(f.buf))
	}
}

var errNotWhole = errors.New("no whole record")

// next reads the next record and returns its payload, valid until the next call.
func (f *finder) next(in io.Reader) ([]byte, error) {
	f.buf = f.buf[:0]
	if err := f.more(in, frameSize); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(f.buf)
	if n == 0 || n > maxPayload {
		return nil, errNotWhole
	}
	if err := f.more(in, int(n)); err != nil {
		return nil, errNotWhole
	}
	if checksum(f.buf) != binary.LittleEndian.Uint32(f.buf[4:]) {
		return nil, errNotWhole
	}
	return f.buf[frameSize:], nil
}

// more reads n more bytes. The length may be damaged, so memory is allocated only as bytes
// arrive.
func (f *finder) more(in io.Reader, n int) error {
	for n > 0 {
		at, size := len(f.buf), min(n, readAhead)
		f.buf = slices.Grow(f.buf, size)[:at+size]
		if _, err := io.ReadFull(in, f.buf[at:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return errNotWhole
			}
			return err
		}
		n -= size
	}
	return nil
}

// number returns the number of the record read last.
func (f *finder) number() uint64 { return binary.LittleEndian.Uint64(f.buf[8:]) }

// damaged reads a segment as a whole after one of its records could not be read. The last
// segment may have a torn tail, or be growing.
func (f *finder) damaged(p *part, last bool) error {
	s, err := load(f.disk, p.number)
	switch {
	case err != nil:
		return err
	case !last && s.torn > 0:
		return &CorruptError{p.name, int64(s.end), "it ends within a record, and another segment follows; bring the file back from a copy"}
	}
	return nil
}

// errWithin says that the facts to find are inside those of a replica.
var errWithin = errors.New("a replica's journal")

// kindOf reads the kind of a payload's fact.
func kindOf(codec *Codec, payload []byte) (string, bool) {
	const before = `,"kind":"`
	at := bytes.Index(payload[:min(len(payload), 64)], []byte(before))
	if at < 0 {
		return "", false
	}
	rest := payload[at+len(before):]
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return "", false
	}
	k := codec.kinds[string(rest[:end])]
	if k == nil {
		return "", false
	}
	return k.name, true
}

// record reads the record at a place.
func (f *finder) record(where uint64) (Record, error) {
	p, at := &f.parts[where>>offsetBits], int64(where&(1<<offsetBits-1))
	payload, err := f.next(io.NewSectionReader(p.file, at, 1<<offsetBits-at))
	if err != nil {
		return Record{}, fmt.Errorf("%s: byte %d: %w", p.name, at, err)
	}
	r := Record{Agent: p.header.Agent, File: p.name, Offset: at, Number: f.number()}
	if r.At, r.Fact, err = f.reader.record(payload); err != nil {
		return r, fmt.Errorf("%s: record %d at byte %d: %w", p.name, r.Number, at, err)
	}
	return r, nil
}

// pause calls stop now and then.
func (f *finder) pause(n int) error {
	if n%256 == 0 && f.stop != nil {
		return f.stop()
	}
	return nil
}
