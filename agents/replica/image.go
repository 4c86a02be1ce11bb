package replica

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
	"go.etcd.io/raft/v3/raftpb"
)

// image is the state of the inner agent after an entry. Each replica keeps one for as long
// as its log follows it, so the facts are kept compressed: they take a fraction of the
// agent that was made from them.
type image struct {
	index, term uint64
	parts       []Part   // without their facts
	facts       [][]byte // of the parts, compressed
	size        int      // bytes of the facts as they are sent
}

// whole reports whether all parts are there.
func (i *image) whole() bool { return len(i.parts) > 0 && len(i.parts) == i.parts[0].Parts }

// add appends the next part.
func (i *image) add(p Part) {
	var fact []byte
	if len(p.Fact) > 0 {
		fact = slices.Clone(s2.Encode(nil, p.Fact)) // without what it has set aside
	}
	i.size += len(p.Fact)
	i.facts = append(i.facts, fact)
	p.Fact = nil
	i.parts = append(i.parts, p)
}

// part returns the k-th part.
func (i *image) part(k int) Part {
	p := i.parts[k]
	if len(i.facts[k]) == 0 {
		return p
	}
	fact, err := s2.Decode(nil, i.facts[k])
	if err != nil {
		panic(fmt.Sprintf("replica: part %d of an image cannot be unpacked: %v", k, err))
	}
	p.Fact = fact
	return p
}

// members returns the members as of the image.
func (i *image) members() members { return membersOf(i.parts[0].Members) }

// snapshot returns the image's position for the library.
func (i *image) snapshot() *raftpb.Snapshot {
	m := i.members()
	return &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{Index: new(i.index), Term: new(i.term), ConfState: m.conf()}}
}
