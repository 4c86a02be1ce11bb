package agents

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/bourse-grid/bourse/grid"
)

// Digest condenses the content of a Hold into one number, by which a site tells a repeat
// from a different message with the same name. It is FNV-1a over what is asked for, for
// whom, and the limit. How long the hold may last is left out: it counts from the first
// receipt, and a repeat may name what is left. The other steps consist only of their name
// and need no digest. It is never 0.
func (m Hold) Digest() uint64 {
	h := fnv.New64a()
	var b [8]byte
	number := func(n uint64) {
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	text := func(s string) {
		number(uint64(len(s)))
		h.Write([]byte(s))
	}
	text(m.What.Group)
	number(uint64(m.What.Nodes))
	number(uint64(m.What.Start))
	number(uint64(m.What.End))
	text(m.Job)
	text(m.User)
	number(uint64(m.Limit))
	number(uint64(m.Run))
	text(m.Replaces.Tx.Broker)
	number(uint64(m.Replaces.Tx.Incarnation))
	number(m.Replaces.Tx.Nonce)
	number(m.Replaces.Tx.Seq)
	number(uint64(m.Replaces.Leg))
	number(uint64(m.Version))
	if p := m.Pilot; p != (grid.LegID{}) {
		text(p.Tx.Broker)
		number(uint64(p.Tx.Incarnation))
		number(p.Tx.Nonce)
		number(p.Tx.Seq)
		number(uint64(p.Leg))
	}
	if m.What.Work != 0 {
		number(uint64(m.What.Work))
	}
	if m.Flex != (grid.Flex{}) {
		number(uint64(m.Flex.Ready))
		number(uint64(m.Flex.Due))
		number(uint64(m.Flex.Fix))
		number(uint64(m.Flex.Phi))
	}
	if p := m.What.Part; p.Some() {
		text("part")
		number(uint64(p.Slices))
		number(uint64(p.Of))
		number(uint64(p.Cores))
		number(uint64(p.Memory))
		number(uint64(p.GPUs))
	}
	if m.Offer != 0 {
		text("offer")
		number(uint64(m.Offer))
	}
	return max(h.Sum64(), 1)
}
