package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A process that ran with a wrong clock leaves records of instants in the future. Its next
// life, with the right clock, waits until they have passed, since an agent's time never
// goes back. Rebase moves those records back to an instant instead. It changes only when
// records say that they were written, not what they say: what an agent did by the wrong
// clock cannot be undone.

// Rebasing is what a rebase changes, or would change, in one journal.
type Rebasing struct {
	Agent   agents.ID
	To      grid.Time // the instant to which later records are moved back
	Latest  grid.Time // latest instant of all records before the change
	First   uint64    // number of the first record moved back
	Records int       // number of records moved back; 0: the journal is not changed
	Files   []string  // files that are rewritten
	Torn    int       // bytes of a torn tail, which is dropped
}

// Before returns the last instant of a journal's records that is not later than now: when
// the clock was last right, as far as the journal shows. It is now if every record is
// later.
func Before(disk Disk, now grid.Time) (grid.Time, error) {
	last, found := now, false
	_, err := Read(disk, vocabulary(), func(r Record) error {
		if r.At <= now && (!found || r.At > last) {
			last, found = r.At, true
		}
		return nil
	})
	return last, err
}

// Rebase finds the records of a journal that are later than an instant and, if apply is
// set, moves them back to it. It writes each segment with such records again under a
// temporary name, syncs it and puts it in place; the old one stays in the folder, with
// ending added to its name. Every segment is whole even if Rebase is interrupted, and it
// can be called again. The disk must be the caller's alone. visit is called with every
// record as it is afterwards.
func Rebase(disk Disk, to grid.Time, ending string, apply bool, visit func(Record) error) (Rebasing, error) {
	out := Rebasing{To: to}
	list, err := segments(disk)
	if err != nil {
		return out, err
	}
	if len(list) == 0 {
		return out, fmt.Errorf("%s: there is no journal in this folder", place(disk, ""))
	}
	codec := vocabulary()
	var read []Segment
	type changed struct {
		name        string
		before, now []byte
	}
	var changes []changed
	for _, n := range list {
		s, err := load(disk, n)
		if err != nil {
			return out, err
		}
		if err := follows(read, s); err != nil {
			return out, err
		}
		read = append(read, Segment{s.file, s.header, s.facts(), s.torn})
		out.Agent, out.Torn = s.header.Agent, s.torn
		records := out.Records
		after, err := s.rebase(codec, to, &out, visit)
		if err != nil {
			return out, err
		}
		if out.Records == records && s.header.At <= to {
			continue
		}
		before, err := disk.Read(segmentName(n))
		if err != nil {
			return out, err
		}
		changes = append(changes, changed{segmentName(n), before, after})
		out.Files = append(out.Files, s.file)
	}
	if !apply {
		return out, nil
	}
	for _, c := range changes {
		if err := replaceSegment(disk, c.name, ending, c.before, c.now); err != nil {
			return out, err
		}
	}
	return out, nil
}

// rebase returns the segment with its instants moved back, and counts them.
func (s *segment) rebase(codec *Codec, to grid.Time, out *Rebasing, visit func(Record) error) ([]byte, error) {
	h := s.header
	h.At = min(h.At, to)
	h.Older = nil
	for _, o := range s.header.Older {
		h.Older = append(h.Older, Older{o.Segment, min(o.At, to)})
	}
	b, err := appendHead(nil, h)
	if err != nil {
		return nil, err
	}
	d := newReader(codec)
	for i := range s.frames {
		r, err := s.record(d, i)
		if err != nil {
			return nil, err
		}
		out.Latest = max(out.Latest, r.At)
		payload := s.frames[i].payload
		if r.At > to {
			if out.Records == 0 {
				out.First = r.Number
			}
			out.Records++
			if payload, err = broughtBack(payload, to); err != nil {
				return nil, fmt.Errorf("%s: record %d at byte %d: %w", s.file, r.Number, r.Offset, err)
			}
			r.At = to
		}
		from := len(b)
		b = append(appendFrame(b), payload...)
		if err := seal(b, from, r.Number); err != nil {
			return nil, err
		}
		if err := visit(r); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// broughtBack returns a record's payload with another instant and the same content.
func broughtBack(payload []byte, to grid.Time) ([]byte, error) {
	const begins, next = `{"at":`, `,"kind":`
	end := bytes.Index(payload, []byte(next))
	if !bytes.HasPrefix(payload, []byte(begins)) || end < 0 {
		return nil, errors.New("it does not begin with its instant and its kind")
	}
	at, err := json.Marshal(to)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(begins), at...), payload[end:]...), nil
}

// replaceSegment keeps a segment under another name and puts a new one in its place. The
// copy of the old one is durable before it is replaced.
func replaceSegment(disk Disk, name, ending string, before, now []byte) error {
	kept := name + ending
	beside := strings.TrimSuffix(name, suffix) + suffixNew
	names, err := disk.Names()
	if err != nil {
		return err
	}
	for _, n := range names {
		if n == kept || n == beside { // left over from an interrupted call
			if err := disk.Remove(n); err != nil {
				return err
			}
		}
	}
	for _, step := range []func() error{
		func() error { return disk.Append(kept, before) },
		func() error { return disk.Sync(kept) },
		func() error { return disk.Append(beside, now) },
		func() error { return disk.Sync(beside) },
		disk.SyncNames,
		func() error { return disk.Rename(beside, name) },
		disk.SyncNames,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
