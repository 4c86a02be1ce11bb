package replica

import (
	"encoding/json"
	"fmt"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// The facts of a replica's journal. A replica's image consists of the same types.

// The types belong to the vocabulary, so that journals can be read without this package.
type (
	State     = grid.ReplicaState
	Entry     = grid.ReplicaEntry
	Part      = grid.ReplicaPart
	Installed = grid.ReplicaInstalled
	Whole     = grid.ReplicaWhole
	Member    = grid.ReplicaMember
	Members   = grid.ReplicaMembers
)

// Replay applies a fact of this life or an earlier one.
func (r *Replica) Replay(_ grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case State:
		r.log.self = f.Self
		r.log.promise(f.Term, f.Vote)
		r.log.commitTo(f.Commit)
	case Entry:
		r.log.append(entryOf(&f))
		r.log.commitTo(f.Commit)
	case Part:
		r.assemble(f)
	case Installed:
		r.log.install(r.arriving)
		r.arriving = nil
	case Whole:
		for _, p := range f.Parts {
			r.assemble(p)
		}
		if len(f.Parts) > 0 {
			r.Replay(0, Installed{})
		}
		r.Replay(0, f.State)
		for _, e := range f.Entries {
			r.Replay(0, e)
		}
		for _, p := range f.Arriving {
			r.assemble(p)
		}
	default:
		panic(fmt.Sprintf("replica: a %s is no fact of a replica", f.Kind()))
	}
}

// Parts returns how many facts the replica's image takes: those of the agent's image, its
// end, what the member has promised, the entries after it, and the parts of an arriving
// image.
func (r *Replica) Parts() int {
	n := 1
	if b := r.log.base; b != nil {
		n += len(b.parts) + 1 + len(r.log.after(b.index))
	}
	if r.arriving != nil {
		n += len(r.arriving.parts)
	}
	return n
}

// Part returns the i-th part of the image.
func (r *Replica) Part(i int) agents.Fact {
	if b := r.log.base; b != nil {
		switch n := len(b.parts); {
		case i < n:
			return b.part(i)
		case i == n:
			return Installed{Index: b.index, Term: b.term}
		}
		i -= len(b.parts) + 1
	}
	if i--; i < 0 {
		s := r.log.promised()
		s.Commit = r.log.baseIndex() // entries after it follow only later
		return s
	}
	entries := r.log.after(r.log.baseIndex())
	if i < len(entries) {
		return r.entryFact(entries[i])
	}
	return r.arriving.part(i - len(entries))
}

// Image returns the whole image as one fact.
func (r *Replica) Image() agents.Fact {
	var w Whole
	for i := range r.Parts() {
		switch f := r.Part(i).(type) {
		case State:
			w.State = f
		case Entry:
			w.Entries = append(w.Entries, f)
		case Part:
			if len(w.Entries) == 0 && w.State == (State{}) {
				w.Parts = append(w.Parts, f)
			} else {
				w.Arriving = append(w.Arriving, f)
			}
		}
	}
	return w
}

// entryFact returns the fact of an entry.
func (r *Replica) entryFact(e *raftpb.Entry) Entry {
	f := Entry{Index: e.GetIndex(), Term: e.GetTerm(), Commit: min(r.log.commit, e.GetIndex())}
	switch {
	case e.GetType() == raftpb.EntryConfChangeV2:
		f.Change, f.Leaves = e.GetData(), len(e.GetData()) == 0
	case len(e.GetData()) > 0:
		f.Facts = listOf(e.GetData())
	}
	return f
}

// entryOf returns the entry of a fact.
func entryOf(f *Entry) *raftpb.Entry {
	e := &raftpb.Entry{Index: new(f.Index), Term: new(f.Term), Type: raftpb.EntryNormal.Enum()}
	switch {
	case len(f.Change) > 0 || f.Leaves:
		e.Type, e.Data = raftpb.EntryConfChangeV2.Enum(), f.Change
	case len(f.Facts) > 0:
		e.Data = linesOf(f.Facts)
	}
	return e
}

// An entry's data is lines, each a journal record of one fact. In the fact of an entry they
// are a JSON list.

// listOf converts lines to a list.
func listOf(lines []byte) json.RawMessage {
	list := make([]byte, 0, len(lines)+1)
	list = append(list, '[')
	for _, c := range lines {
		if c == '\n' { // never within a record
			c = ','
		}
		list = append(list, c)
	}
	list[len(list)-1] = ']'
	return list
}

// linesOf converts a list to lines.
func linesOf(list json.RawMessage) []byte {
	var records []json.RawMessage
	if err := json.Unmarshal(list, &records); err != nil {
		panic(fmt.Sprintf("replica: the facts of an entry: %v", err)) // they were read as JSON before
	}
	lines := make([]byte, 0, len(list))
	for _, x := range records {
		lines = append(append(lines, x...), '\n')
	}
	return lines
}
