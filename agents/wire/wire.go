// Package wire turns the messages between a broker and a site into protobuf and back. It is
// the only package that looks into generated types. Others carry an Envelope, or its bytes,
// and ask for its Kind.
//
// Input is not trusted. Decode returns a message whose values are all within the
// vocabulary's limits, or an error that names the field. Whether the message makes sense
// is decided by the agent that gets it. Encode and Decode never panic. Messages that stay
// within a process (alarms, those of users, of a cluster, of discovery) have no form here:
// Encode refuses them, and nobody can send one from outside.
//
// Evolution follows protobuf: fields are only added, and never change their meaning or
// number. A larger change raises Version. A build understands two versions, its own and
// the one before.
package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bourse-grid/bourse/agents"
)

//go:generate protoc --go_out=. --go_opt=paths=source_relative wire.proto link.proto

// The versions that this build speaks: Oldest to Version. There is none before 1.
const (
	Version = 1
	Oldest  = 1
)

// MaxMessage bounds an envelope in bytes: 16 MiB.
const MaxMessage = 16 << 20

// UnknownError says that an envelope has a version or a message type that this build does
// not know: its sender is older or newer. The receiver counts it and goes on.
type UnknownError struct {
	Version uint32
	Kind    string // "" if the type is not known
}

func (e *UnknownError) Error() string {
	if e.Version < Oldest || e.Version > Version {
		return fmt.Sprintf("wire: version %d is not known here; this build speaks %d to %d", e.Version, Oldest, Version)
	}
	return "wire: the message is of a type that this build does not know; its sender may be newer"
}

// Encode puts a message into an envelope of this build's version. It is an error if the
// type has no form on the wire or a list is too long. Reasons are cut to what the wire
// carries, and invalid UTF-8 is replaced.
func Encode(from, to agents.ID, m agents.Message) (*Envelope, error) {
	return EncodeAs(Version, from, to, m)
}

// EncodeAs is Encode for a receiver that speaks another version, from Oldest to Version.
func EncodeAs(version uint32, from, to agents.ID, m agents.Message) (*Envelope, error) {
	if version < Oldest || version > Version {
		return nil, &UnknownError{Version: version, Kind: m.Kind()}
	}
	e := &Envelope{Version: version, From: string(from), To: string(to), Trace: text(agents.Trace(m))}
	if err := e.put(m); err != nil {
		return nil, err
	}
	return e, nil
}

// Decode takes the message out of an envelope. An *UnknownError says that this build does
// not know its version or type; any other error says which field is wrong.
func Decode(e *Envelope) (agents.Message, error) {
	if v := e.GetVersion(); v < Oldest || v > Version {
		return nil, &UnknownError{Version: v, Kind: Kind(e)}
	}
	if e.Body == nil {
		return nil, &UnknownError{Version: e.Version}
	}
	r := &reader{kind: Kind(e)}
	r.address("from", e.From)
	r.address("to", e.To)
	r.name("trace", e.Trace, maxTrace)
	m := r.message(e)
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}

// Marshal returns the bytes of an envelope, at most MaxMessage.
func Marshal(e *Envelope) ([]byte, error) {
	b, err := proto.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	if len(b) > MaxMessage {
		return nil, fmt.Errorf("wire: %s to %s has %d bytes, at most %d are sent", Kind(e), e.To, len(b), MaxMessage)
	}
	return b, nil
}

// Unmarshal reads an envelope from its bytes, at most MaxMessage. It ignores fields that
// this build does not know.
func Unmarshal(b []byte) (*Envelope, error) {
	if len(b) > MaxMessage {
		return nil, fmt.Errorf("wire: an envelope has %d bytes, at most %d are taken", len(b), MaxMessage)
	}
	e := &Envelope{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, e); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	return e, nil
}

// bodies describes the message types that an envelope may carry.
func bodies() protoreflect.FieldDescriptors {
	return (*Envelope)(nil).ProtoReflect().Descriptor().Oneofs().Get(0).Fields()
}

// Kind names the message in an envelope as agents.Message.Kind does; "" if this build does
// not know its type. It decodes nothing.
func Kind(e *Envelope) string {
	if e.GetBody() == nil {
		return ""
	}
	r := e.ProtoReflect()
	return string(r.WhichOneof(r.Descriptor().Oneofs().Get(0)).Message().Name())
}

// Kinds lists the kinds of message that have a form on the wire, in order of their
// numbers.
func Kinds() []string {
	known := bodies()
	list := make([]string, known.Len())
	for i := range list {
		list[i] = string(known.Get(i).Message().Name())
	}
	return list
}

// Ends returns the roles of sender and receiver of a kind of message, such as "broker" and
// "site"; false if the kind has no form on the wire.
func Ends(kind string) (from, to agents.Role, known bool) {
	p, ok := agents.Lookup(kind)
	if !ok || !p.Crosses() {
		return "", "", false
	}
	return p.From, p.To, true
}

// text replaces invalid UTF-8, which protobuf does not carry.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
