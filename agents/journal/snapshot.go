package journal

import (
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Snapshot begins a new segment with an image of the agent's state, which must be the state
// after all facts appended. The segment is written under a temporary name and synced before
// it gets its name, and nothing is appended to it before the name is durable. So a crash
// between any two steps leaves either the old segment or the new one as the last, and both
// say the same. Then it removes segments with only records older than Options.Keep.
func (j *Journal) Snapshot(at grid.Time, image agents.Fact) error {
	return j.snapshot(at, 1, func(int) agents.Fact { return image })
}

// SnapshotOf is Snapshot with the present image of an agent, in parts if the agent is
// agents.Parted. It buffers no more than one part and a megabyte, however large the state.
func (j *Journal) SnapshotOf(at grid.Time, a agents.Durable) error {
	if p, ok := a.(agents.Parted); ok {
		return j.snapshot(at, p.Parts(), p.Part)
	}
	return j.Snapshot(at, a.Image())
}

func (j *Journal) snapshot(at grid.Time, parts int, part func(i int) agents.Fact) error {
	if err := j.Sync(); err != nil {
		return err
	}
	first := j.retire(at)
	h := Header{Agent: j.opt.Agent, Segment: j.segment + 1, Records: j.facts, At: at, Image: true, Older: j.older}
	if parts > 1 {
		h.Parts = parts
	}
	if err := j.begin(h, part); err != nil {
		return err
	}
	if j.opt.Keep > 0 {
		j.older = append(j.older, Older{h.Segment, at})
	}
	return j.remove(first)
}

// begin makes a segment with the header h and the parts of its image, if any, and continues
// there.
func (j *Journal) begin(h Header, part func(i int) agents.Fact) error {
	name := segmentName(h.Segment)
	beside := strings.TrimSuffix(name, suffix) + suffixNew
	j.file = name
	err := j.head(beside, h, part)
	if err == nil {
		err = giveName(j.disk, beside, name)
	}
	if err != nil {
		return j.fail(err)
	}
	j.segment, j.facts, j.since, j.synced = h.Segment, h.Records, 0, true
	return nil
}

// head writes the head of a segment, in pieces of about a megabyte.
func (j *Journal) head(file string, h Header, part func(i int) agents.Fact) error {
	b, err := appendHead(nil, h)
	for i := 0; err == nil && i < h.parts(); i++ {
		if len(b) >= maxWaiting {
			if err := j.disk.Append(file, b); err != nil {
				return err
			}
			b = b[:0]
		}
		b, err = j.record(b, h.Records, h.At, part(i))
	}
	if err != nil {
		return err
	}
	return j.disk.Append(file, b)
}

// sweep removes what a crash has left of a segment without its name.
func (j *Journal) sweep() error {
	names, err := j.disk.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if number, ok := strings.CutSuffix(name, suffixNew); ok {
			if _, ok := segmentNumber(number + suffix); ok {
				if err := j.disk.Remove(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// retire forgets the segments that have been kept long enough, and returns the first that
// must stay. The last record of a segment is no later than the beginning of the next one.
func (j *Journal) retire(now grid.Time) (first uint64) {
	if j.opt.Keep == 0 {
		return 1
	}
	first = 1
	for len(j.older) > 0 && j.older[0].At.Add(j.opt.Keep) <= now {
		first = j.older[0].Segment
		j.older = j.older[1:]
	}
	return first
}

// remove deletes all segments before first.
func (j *Journal) remove(first uint64) error {
	list, err := segments(j.disk)
	if err != nil {
		return j.fail(err)
	}
	for _, n := range list {
		if n >= first {
			return nil
		}
		if err := j.disk.Remove(segmentName(n)); err != nil {
			return j.fail(err)
		}
	}
	return nil
}
