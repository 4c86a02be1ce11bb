package journal

import (
	"errors"
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Options describe a journal.
type Options struct {
	Agent agents.ID
	Codec *Codec // nil: the facts of the vocabulary
	// Keep is how long a Snapshot keeps segments with only older records. 0: forever.
	Keep grid.Duration
}

// Journal is the journal of one agent, open for appending.
type Journal struct {
	disk    Disk
	opt     Options
	file    string // name of the growing segment
	segment uint64
	facts   uint64  // in all segments, including those not synced
	since   uint64  // facts after the last image
	older   []Older // segments that begin with an image, including the growing one
	cut     int     // bytes of a torn tail that Open has cut
	wait    []byte  // appended but not written yet
	synced  bool    // nothing was written since the last sync
	check   *reader
	err     error // the first failure, after which every call fails
}

// maxWaiting is how many bytes Append collects before it writes them.
const maxWaiting = 1 << 20

// Open opens the journal on a disk, or begins one if there is none, and passes the image of
// the last segment and all facts after it to replay, in order. The image comes as the facts
// it consists of. A torn tail is cut before anything is replayed, and what is replayed is
// durable.
//
// A journal of another agent or an unknown kind of fact is an error; damage is a
// *CorruptError. In these cases replay has not been called, except that it may have seen
// the facts before one that cannot be decoded.
func Open(disk Disk, opt Options, replay func(at grid.Time, f agents.Fact)) (*Journal, error) {
	if opt.Codec == nil {
		opt.Codec = vocabulary()
	}
	j := &Journal{disk: disk, opt: opt, synced: true, check: newReader(opt.Codec)}
	j.check.check = true
	if err := j.sweep(); err != nil {
		return nil, err
	}
	list, err := segments(disk)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return j, j.begin(Header{Agent: opt.Agent, Segment: 1}, nil)
	}
	n := list[len(list)-1]
	s, err := load(disk, n)
	if err != nil {
		return nil, err
	}
	if s.header.Agent != opt.Agent {
		return nil, fmt.Errorf("%s is the journal of %s, not of %s", s.file, s.header.Agent, opt.Agent)
	}
	if s.torn > 0 {
		if err := disk.Truncate(segmentName(n), int64(s.end)); err != nil {
			return nil, err
		}
		j.cut = s.torn
	}
	j.file, j.segment = segmentName(n), n
	if err := j.settle(); err != nil {
		return nil, err
	}
	j.since, j.facts = s.facts(), s.header.Records+s.facts()
	if opt.Keep > 0 {
		j.older = append(s.header.Older, Older{n, s.header.At})
	}
	return j, s.decode(opt.Codec, func(r Record) error {
		replay(r.At, r.Fact)
		return nil
	})
}

// settle makes durable what an earlier process, which was killed, has written and named:
// what is replayed may be told to others before anything else is synced.
func (j *Journal) settle() error {
	if err := j.disk.Sync(j.file); err != nil {
		return err
	}
	return j.disk.SyncNames()
}

// load reads a segment of a disk.
func load(disk Disk, n uint64) (*segment, error) {
	data, err := disk.Read(segmentName(n))
	if err != nil {
		return nil, err
	}
	file := place(disk, segmentName(n))
	s, err := readSegment(file, data)
	if err != nil {
		return nil, err
	}
	if s.header.Segment != n {
		return nil, &CorruptError{file, int64(len(version)), fmt.Sprintf("it is segment %d under another name", s.header.Segment)}
	}
	return s, nil
}

// place returns the name of a disk's file for messages.
func place(disk Disk, name string) string {
	switch d := disk.(type) {
	case *Folder:
		return d.file(name)
	case *Mirror:
		return place(d.main, name)
	}
	return name
}

// Append adds a fact. It is durable only when a later Sync has returned nil; until then
// nothing that follows from it may leave the process. A fact that could not be read back is
// refused, and the journal has then failed as after any other error.
func (j *Journal) Append(at grid.Time, f agents.Fact) error {
	if j.err != nil {
		return j.err
	}
	from := len(j.wait)
	b, err := j.record(j.wait, j.facts+1, at, f)
	if err != nil {
		j.wait = j.wait[:from]
		return j.fail(err)
	}
	j.wait = b
	j.facts++
	j.since++
	if len(j.wait) >= maxWaiting {
		return j.write()
	}
	return nil
}

// record appends a whole record to b, and checks that it can be read back.
func (j *Journal) record(b []byte, number uint64, at grid.Time, f agents.Fact) ([]byte, error) {
	from := len(b)
	b, err := j.opt.Codec.Append(appendFrame(b), at, f)
	if err != nil {
		return b, err
	}
	if _, _, err := j.check.record(b[from+frameSize:]); err != nil {
		return b, fmt.Errorf("it could not be read back: %w", err)
	}
	return b, seal(b, from, number)
}

// write writes what waits to the disk.
func (j *Journal) write() error {
	if len(j.wait) == 0 {
		return nil
	}
	j.synced = false
	if err := j.disk.Append(j.file, j.wait); err != nil {
		return j.fail(err)
	}
	j.wait = j.wait[:0]
	if cap(j.wait) > 2*maxWaiting {
		j.wait = nil
	}
	return nil
}

// Sync makes everything appended durable, with one write and one sync of the disk. If
// nothing is new it does nothing. If it fails the process must stop: only a restart can
// tell what the disk holds.
func (j *Journal) Sync() error {
	if j.err != nil {
		return j.err
	}
	if err := j.write(); err != nil || j.synced {
		return err
	}
	if err := j.disk.Sync(j.file); err != nil {
		return j.fail(err)
	}
	j.synced = true
	return nil
}

// ErrFailed is returned, with the first failure, by every call after one has failed.
var ErrFailed = errors.New("the journal has failed; stop, and replay it in a new process")

// fail keeps the first failure.
func (j *Journal) fail(err error) error {
	j.err = fmt.Errorf("%w: journal of %s, %s: %w", ErrFailed, j.opt.Agent, place(j.disk, j.file), err)
	return j.err
}

// Facts returns the number of facts in all segments of the journal, including those not
// synced.
func (j *Journal) Facts() uint64 { return j.facts }

// Since returns the number of facts after the last image, which a restart replays.
func (j *Journal) Since() uint64 { return j.since }

// Cut returns how many bytes of a torn tail Open has cut. Nothing that followed from them
// had left the process.
func (j *Journal) Cut() int { return j.cut }
