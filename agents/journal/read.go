package journal

import (
	"fmt"
	"io"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
)

// Record is one record of a journal.
type Record struct {
	Agent  agents.ID
	File   string
	Offset int64  // offset of its first byte in the file
	Number uint64 // number of the fact in the journal, from 1; for an image, of the last fact it covers
	At     grid.Time
	Fact   agents.Fact
	Image  bool // a part of an image; the first part replaces everything before
}

// Segment is what Read says about a file after its records.
type Segment struct {
	File string
	Header
	Facts uint64 // number of facts, without the image
	Torn  int    // bytes of a torn tail
}

// Read passes every record of all segments of a disk to visit, in order, including images,
// and changes nothing. Only the last segment may have a torn tail; a journal that grows
// while it is read may show one. The first error of visit ends it. For a replica's journal
// the facts are those of the agent inside.
func Read(disk Disk, codec *Codec, visit func(Record) error) ([]Segment, error) {
	take, end := unwrapped(codec, visit)
	list, err := read(disk, codec, take)
	if err == nil {
		err = end()
	}
	return list, err
}

// read is Read without looking inside a replica's facts.
func read(disk Disk, codec *Codec, visit func(Record) error) ([]Segment, error) {
	list, err := segments(disk)
	if err != nil {
		return nil, err
	}
	var read []Segment
	for i, n := range list {
		s, err := load(disk, n)
		if err != nil {
			return read, err
		}
		if err := follows(read, s); err != nil {
			return read, err
		}
		if s.torn > 0 && i < len(list)-1 {
			return read, &CorruptError{s.file, int64(s.end), "it ends within a record, and another segment follows; bring the file back from a copy"}
		}
		read = append(read, Segment{s.file, s.header, s.facts(), s.torn})
		if err := s.decode(codec, visit); err != nil {
			return read, err
		}
	}
	return read, nil
}

// follows checks that a segment continues where the previous one ends.
func follows(read []Segment, s *segment) error {
	if len(read) == 0 {
		return nil
	}
	before := &read[len(read)-1]
	switch {
	case s.header.Agent != before.Agent:
		return fmt.Errorf("%s is the journal of %s, %s that of %s", s.file, s.header.Agent, before.File, before.Agent)
	case s.header.Segment != before.Segment+1 || s.header.Records != before.Records+before.Facts:
		return &CorruptError{s.file, int64(len(version)), fmt.Sprintf("it is segment %d after %d facts, but segment %d before it ends with fact %d; bring the files between back from a copy",
			s.header.Segment, s.header.Records, before.Segment, before.Records+before.Facts)}
	}
	return nil
}

// maxHeader bounds what ReadHeader reads.
const maxHeader = 1 << 20

// ReadHeader reads the header of a segment's file, and at most a megabyte of the file. name
// is for messages.
func ReadHeader(name string, file io.Reader) (Header, error) {
	data, err := io.ReadAll(io.LimitReader(file, maxHeader))
	if err != nil {
		return Header{}, err
	}
	h, _, err := readHead(name, data)
	return h, err
}

// ReadFile passes every record of one segment's file to visit. name is for messages. For a
// replica's journal the facts are those of the agent inside.
func ReadFile(name string, data []byte, codec *Codec, visit func(Record) error) (Segment, error) {
	s, err := readSegment(name, data)
	if err != nil {
		return Segment{}, err
	}
	take, end := unwrapped(codec, visit)
	if err = s.decode(codec, take); err == nil {
		err = end()
	}
	return Segment{s.file, s.header, s.facts(), s.torn}, err
}

// chunk is how many facts one goroutine decodes at a time. Of an image it decodes one part.
const chunk = 2048

// chunks returns where each group of records that are decoded together ends.
func (s *segment) chunks() []int {
	var ends []int
	for i := range s.header.parts() {
		ends = append(ends, i+1)
	}
	for i := s.header.parts(); i < len(s.frames); {
		i = min(i+chunk, len(s.frames))
		ends = append(ends, i)
	}
	return ends
}

// decode passes the records to visit, in order. If there are many, all processors decode
// them at once.
func (s *segment) decode(codec *Codec, visit func(Record) error) error {
	ends := s.chunks()
	if len(ends) <= 2 {
		d := newReader(codec)
		for i := range s.frames {
			r, err := s.record(d, i)
			if err == nil {
				err = visit(r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return s.decodeParallel(codec, ends, visit)
}

// record decodes the i-th record.
func (s *segment) record(d *reader, i int) (Record, error) {
	f := &s.frames[i]
	at, fact, err := d.record(f.payload)
	if err != nil {
		return Record{}, &OtherReleaseError{File: s.file, Why: fmt.Sprintf("record %d at byte %d: %v", f.number, f.offset, err)} // its checksum is right
	}
	return Record{s.header.Agent, s.file, f.offset, f.number, at, fact, i < s.header.parts()}, nil
}

// decoded is the result of one chunk.
type decoded struct {
	records []Record
	err     error
}

// decodeParallel decodes chunks ahead of the visitor, a few for each processor.
func (s *segment) decodeParallel(codec *Codec, ends []int, visit func(Record) error) error {
	return parallel.Do(len(ends), func() func(int) decoded {
		d := newReader(codec)
		return func(c int) decoded {
			from := 0
			if c > 0 {
				from = ends[c-1]
			}
			return s.chunk(d, from, ends[c])
		}
	}, func(_ int, r decoded) error {
		for i := range r.records {
			if err := visit(r.records[i]); err != nil {
				return err
			}
		}
		return r.err
	})
}

// chunk decodes the records [from, to) up to the first error.
func (s *segment) chunk(d *reader, from, to int) decoded {
	out := decoded{records: make([]Record, 0, to-from)}
	for i := from; i < to; i++ {
		r, err := s.record(d, i)
		if err != nil {
			out.err = err
			break
		}
		out.records = append(out.records, r)
	}
	return out
}
