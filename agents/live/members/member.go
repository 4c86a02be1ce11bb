package members

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Member is what a process tells all others about itself by gossip. It is a hint: anyone
// with the gossip key can put anything into it. Certificates decide who a process is, and
// the nonces of the protocol which of two lives of an agent is current.
type Member struct {
	Agent   agents.ID // the agent it hosts: "site:north" or "broker:vo1"
	Address string    // host:port for messages
	Life    uint64    // its incarnation, Unix milliseconds of its start: the greatest is current
	Oldest  uint32    // oldest and newest version of the wire format that it understands
	Version uint32
	Term    uint64 // if the agent is replicated: the term in which this process leads; the greatest is current
	Digest  uint64 // of its profile and prices: shows that they have changed, not how
	Flags   Flags
}

// Flags are what others must know about an agent before they ask it for anything.
type Flags uint8

const (
	Leaving Flags = 1 // about to leave: must not be asked for anything new
	Waiting Flags = 8 // not begun: it is comparing clocks, or another process leads its agent; 2 and 4 were never used
)

// metaMax is the most bytes of metadata that gossip carries for a member.
const metaMax = 512

// metaFormat is the first byte of a member's metadata. Fields are only ever appended, and
// readers ignore what follows the fields they know. Any other change needs another first
// byte.
const metaFormat = 1

// Node returns the name of an agent's life in gossip. Every life has its own, so that a
// restarted agent, even at another address, need not wait until gossip has declared the
// previous life dead.
func (m Member) Node() string { return string(m.Agent) + "#" + strconv.FormatUint(m.Life, 36) }

// Encode returns the metadata, at most metaMax bytes.
func (m Member) Encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	b := []byte{metaFormat}
	for _, s := range []string{string(m.Agent), m.Address} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for _, n := range []uint64{m.Life, uint64(m.Oldest), uint64(m.Version), m.Digest, uint64(m.Flags), m.Term} {
		b = binary.AppendUvarint(b, n)
	}
	if len(b) > metaMax {
		return nil, fmt.Errorf("what %s tells of itself by gossip takes %d bytes, at most %d fit: shorten its name or its address", m.Agent, len(b), metaMax)
	}
	return b, nil
}

// Decode reads what gossip says of the node of that name.
func Decode(node string, meta []byte) (Member, error) {
	if len(meta) == 0 || len(meta) > metaMax || meta[0] != metaFormat {
		return Member{}, fmt.Errorf("gossip tells of %q in a form that this build does not read", node)
	}
	r := metaReader{b: meta[1:]}
	m := Member{Agent: agents.ID(r.text()), Address: r.text(), Life: r.number()}
	oldest, version := r.number(), r.number()
	m.Digest = r.number()
	flags := r.number()
	if len(r.b) > 0 { // older builds do not say
		m.Term = r.number()
	}
	m.Oldest, m.Version, m.Flags = uint32(oldest), uint32(version), Flags(flags)
	switch {
	case r.bad:
		return Member{}, fmt.Errorf("gossip tells of %q in %d bytes that end too early", node, len(meta))
	case uint64(m.Oldest) != oldest || uint64(m.Version) != version || uint64(m.Flags) != flags:
		return Member{}, fmt.Errorf("gossip tells of %q with numbers out of range", node)
	case m.Node() != node:
		return Member{}, fmt.Errorf("gossip tells of %q under the name of %q", m.Node(), node)
	}
	return m, m.check()
}

// check refuses a member through which no agent can be reached.
func (m Member) check() error {
	if err := CheckAgent(m.Agent); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(m.Address)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || host == "" || n == 0 {
		return fmt.Errorf("address %q of %s is not of the form HOST:PORT", m.Address, m.Agent)
	}
	if m.Life == 0 || m.Oldest == 0 || m.Oldest > m.Version {
		return fmt.Errorf("%s: life %d, wire versions %d to %d: a life and the versions begin at 1", m.Agent, m.Life, m.Oldest, m.Version)
	}
	return nil
}

// TooOld says which of two processes without a common version of the wire is to be upgraded;
// oldest is the first that the process here speaks.
func (m Member) TooOld(oldest uint32) string {
	if m.Version < oldest {
		return "it is of too old a release for this process: upgrade it, one release after the other (docs/OPERATING.md, Upgrade)"
	}
	return "this process is of too old a release for it: upgrade this one"
}

// LongestName is the most bytes of an agent's address.
const LongestName = 128

// CheckAgent refuses anything but the address of an agent with its own process: a site or a
// broker.
func CheckAgent(id agents.ID) error {
	role, name, _ := strings.Cut(string(id), ":")
	if role != "site" && role != "broker" || name == "" || len(id) > LongestName {
		return fmt.Errorf("agent %.150q is not of the form site:NAME or broker:NAME with at most %d bytes", string(id), LongestName)
	}
	for _, r := range name {
		if r == ' ' || r == '#' {
			return errors.New("agent " + strconv.Quote(string(id)) + " has a space or a # in its name")
		}
	}
	return grid.CheckText(name) // it is displayed to users
}

// metaReader takes numbers and texts from metadata. It sets bad when they run out.
type metaReader struct {
	b   []byte
	bad bool
}

func (r *metaReader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *metaReader) text() string {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}
