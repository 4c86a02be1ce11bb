package replica

import (
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// log is what a replica has on record: an image of the inner agent, and entries, most of
// them after it. It is the library's Storage.
type log struct {
	self       uint64 // its number; 0: none yet
	term, vote uint64
	commit     uint64
	base       *image // nil: none has arrived yet
	entries    []*raftpb.Entry
	first      uint64 // index of entries[0]; 0 means 1
	before     uint64 // term of the entry before that
	size       int    // bytes of the entries after base
}

// promise stores a term and a vote.
func (l *log) promise(term, vote uint64) { l.term, l.vote = term, vote }

// promised returns them as a fact.
func (l *log) promised() State {
	return State{Self: l.self, Term: l.term, Vote: l.vote, Commit: min(l.commit, l.last())}
}

// commitTo records how far entries are committed.
func (l *log) commitTo(index uint64) { l.commit = max(l.commit, min(index, l.last())) }

// append adds an entry to the log, replacing all from its index on.
func (l *log) append(e *raftpb.Entry) {
	if at := int(e.GetIndex() - l.begin()); at < len(l.entries) {
		for _, gone := range l.entries[at:] {
			l.size -= len(gone.GetData())
		}
		l.entries = slices.Clone(l.entries[:at]) // entries handed out must not change
	}
	l.entries = append(l.entries, e)
	l.size += len(e.GetData())
}

// install starts the log over after an image.
func (l *log) install(base *image) {
	l.base, l.entries, l.size = base, nil, 0
	l.first, l.before = base.index+1, base.term
	l.commit = max(l.commit, base.index)
}

// compact replaces the image by one made here. Some entries before it stay, for members
// that are not far behind: at most keep, of at most bytes.
func (l *log) compact(base *image, keep, bytes int) {
	l.base = base
	cut := int(base.index + 1 - l.begin())
	for cut > 0 && keep > 0 {
		if bytes -= len(l.entries[cut-1].GetData()); bytes < 0 {
			break
		}
		cut, keep = cut-1, keep-1
	}
	if cut > 0 {
		l.before = l.entries[cut-1].GetTerm()
		l.first = l.begin() + uint64(cut)
		l.entries = slices.Clone(l.entries[cut:])
	}
	l.size = 0
	for _, e := range l.after(base.index) {
		l.size += len(e.GetData())
	}
}

// after returns the entries after an index, which must not be before the log's beginning.
func (l *log) after(index uint64) []*raftpb.Entry { return l.entries[index+1-l.begin():] }

func (l *log) begin() uint64 { return max(l.first, 1) }
func (l *log) last() uint64  { return l.begin() + uint64(len(l.entries)) - 1 }

func (l *log) baseIndex() uint64 {
	if l.base == nil {
		return 0
	}
	return l.base.index
}

// members returns the members as of the image.
func (l *log) members() members {
	if l.base == nil {
		return members{}
	}
	return l.base.members()
}

// InitialState returns the state with which the library begins.
func (l *log) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	m := l.members()
	return &raftpb.HardState{Term: new(l.term), Vote: new(l.vote), Commit: new(l.commit)}, m.conf(), nil
}

// Entries returns those in [lo, hi), as many as fit into maxSize bytes, but at least one.
func (l *log) Entries(lo, hi, maxSize uint64) ([]*raftpb.Entry, error) {
	switch {
	case lo < l.begin():
		return nil, raft.ErrCompacted
	case hi > l.last()+1:
		return nil, raft.ErrUnavailable
	}
	list := l.entries[lo-l.begin() : hi-l.begin()]
	size := uint64(0)
	for i, e := range list {
		if size += uint64(len(e.GetData())) + entryOverhead; size > maxSize && i > 0 {
			list = list[:i]
			break
		}
	}
	return slices.Clone(list), nil
}

// entryOverhead is the most that an entry takes in addition to its data.
const entryOverhead = 32

// Term returns the term of an entry.
func (l *log) Term(i uint64) (uint64, error) {
	switch {
	case i+1 < l.begin():
		return 0, raft.ErrCompacted
	case i+1 == l.begin():
		return l.before, nil
	case i > l.last():
		return 0, raft.ErrUnavailable
	}
	return l.entries[i-l.begin()].GetTerm(), nil
}

// LastIndex returns the index of the last entry.
func (l *log) LastIndex() (uint64, error) { return l.last(), nil }

// FirstIndex returns the index of the first entry kept.
func (l *log) FirstIndex() (uint64, error) { return l.begin(), nil }

// Snapshot returns the position of the image. Its content is sent in parts; see transfer.
func (l *log) Snapshot() (*raftpb.Snapshot, error) {
	if l.base == nil {
		return nil, raft.ErrSnapshotTemporarilyUnavailable
	}
	return l.base.snapshot(), nil
}
