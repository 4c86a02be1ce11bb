package live

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// maxBatch bounds the envelopes of one batch. Links of this build send at most remoteBatch.
const maxBatch = 16 * remoteBatch

// maxKinds bounds the lists of names in a batch. Agents use two types and one target.
const maxKinds = 16

// maxParts bounds the parts of one envelope, that is, messages and texts within it, so that
// few bytes cannot take much memory: each part takes about 100 bytes.
const maxParts = 500_000

// The types that links exchange.
var (
	parcelType = string((*wire.Parcel)(nil).ProtoReflect().Descriptor().FullName())
	ackType    = string((*wire.Ack)(nil).ProtoReflect().Descriptor().FullName())
	asksType   = string((*wire.ClockRequest)(nil).ProtoReflect().Descriptor().FullName())
	tellsType  = string((*wire.ClockReply)(nil).ProtoReflect().Descriptor().FullName())
	linkTypes  = parcelType[:strings.LastIndexByte(parcelType, '.')+1] // prefix of link types, of this and newer builds
)

// admitted is what may pass of a batch.
type admitted struct {
	cost
	list []proto.Message
}

// batch reads a batch and checks it against its sender. Envelopes of an unknown new type
// are skipped and returned in left. Anything else that is wrong is a breach, and nothing of
// the batch may be used.
func (g *Guard) batch(p peer, b *remote.MessageBatch) (in admitted, left []*Breach, breach *Breach) {
	refuse := func(c Cause, format string, args ...any) (admitted, []*Breach, *Breach) {
		return admitted{}, nil, &Breach{c, p.name, fmt.Sprintf(format, args...)}
	}
	switch {
	case len(b.Envelopes) > maxBatch || len(b.TypeNames) > maxKinds || len(b.Targets) > maxKinds:
		return refuse(TooMany, "a batch of %d envelopes, %d types, %d targets; at most %d, %d, %d are taken", len(b.Envelopes), len(b.TypeNames), len(b.Targets), maxBatch, maxKinds, maxKinds)
	case len(b.Senders) > 0:
		return refuse(BadForm, "it sends as actor %s; agents are named in envelopes only", show(b.Senders[0].GetId()))
	}
	for _, name := range b.TypeNames {
		if !strings.HasPrefix(name, linkTypes) {
			return refuse(BadType, "a message of type %s; agents send %s and %s", show(name), parcelType, ackType)
		}
	}
	for _, name := range b.Targets {
		if name != inbox {
			return refuse(BadTarget, "it speaks to actor %s; there is only %q", show(name), inbox)
		}
	}
	keep := b.Envelopes[:0]
	for _, e := range b.Envelopes {
		name, breach := form(p, b, e)
		if breach != nil {
			return admitted{}, nil, breach
		}
		m, breach := g.read(p, name, e.MessageData)
		if breach != nil {
			return admitted{}, nil, breach
		}
		if m == nil {
			left = append(left, &Breach{NewType, p.name, "a message of type " + show(name) + " is left out: this build does not know it"})
			continue
		}
		in.messages++
		in.bytes += len(e.MessageData)
		in.list = append(in.list, m)
		keep = append(keep, e)
	}
	in.messages += len(left)
	clear(b.Envelopes[len(keep):])
	b.Envelopes = keep
	return in, left, nil
}

// read reads one message and checks it against its sender. The message is nil if this build
// does not know the type.
func (g *Guard) read(p peer, name string, data []byte) (proto.Message, *Breach) {
	switch name {
	case parcelType:
		m := &wire.Parcel{}
		return m, g.parcel(p, data, m)
	case ackType:
		m := &wire.Ack{}
		return m, garbled(p, data, m)
	case asksType:
		m := &wire.ClockRequest{}
		return m, g.asksClock(p, data, m)
	case tellsType:
		m := &wire.ClockReply{}
		return m, g.tellsClock(p, data, m)
	}
	return nil, nil
}

// form checks that the frame of one envelope of a batch is as links make it, and returns
// its type.
func form(p peer, b *remote.MessageBatch, e *remote.MessageEnvelope) (string, *Breach) {
	switch {
	case e == nil:
		return "", &Breach{BadForm, p.name, "an empty place in a batch"}
	case e.TypeId < 0 || int(e.TypeId) >= len(b.TypeNames) || e.Target < 0 || int(e.Target) >= len(b.Targets):
		return "", &Breach{BadIndex, p.name, fmt.Sprintf("type %d of %d, target %d of %d in a batch", e.TypeId, len(b.TypeNames), e.Target, len(b.Targets))}
	case e.Sender != 0 || e.SenderRequestId != 0 || e.TargetRequestId != 0 || e.MessageHeader != nil || e.SerializerId != 0:
		return "", &Breach{BadForm, p.name, "a sender, request, header or serializer in a batch, where agents send none"}
	}
	return b.TypeNames[e.TypeId], nil
}

// garbled reads bytes into a message, unless they are malformed or have too many parts.
func garbled(p peer, data []byte, m proto.Message) *Breach {
	if _, err := countParts(data, m.ProtoReflect().Descriptor(), maxParts); err != nil {
		return &Breach{Garbled, p.name, err.Error()}
	}
	if err := proto.Unmarshal(data, m); err != nil {
		return &Breach{Garbled, p.name, "bytes that are no " + string(m.ProtoReflect().Descriptor().Name())}
	}
	return nil
}

// parcel checks a parcel against its sender.
func (g *Guard) parcel(p peer, data []byte, m *wire.Parcel) *Breach {
	if len(data) > wire.MaxMessage+parcelExtra {
		return &Breach{TooLarge, p.name, fmt.Sprintf("a parcel of %d bytes; at most %d are taken", len(data), wire.MaxMessage)}
	}
	if b := garbled(p, data, m); b != nil {
		return b
	}
	if m.Envelope == nil {
		return &Breach{Garbled, p.name, "a parcel without an envelope"}
	}
	if b := answerable(p, m.ReplyTo); b != nil {
		return b
	}
	return g.envelope(p, m.Envelope)
}

// asksClock checks a clock request against its sender.
func (g *Guard) asksClock(p peer, data []byte, m *wire.ClockRequest) *Breach {
	if b := garbled(p, data, m); b != nil {
		return b
	}
	if b := answerable(p, m.ReplyTo); b != nil {
		return b
	}
	return g.speaksAs(p, m.From)
}

// tellsClock checks a clock reply against its sender.
func (g *Guard) tellsClock(p peer, data []byte, m *wire.ClockReply) *Breach {
	if b := garbled(p, data, m); b != nil {
		return b
	}
	return g.speaksAs(p, m.From)
}

// speaksAs checks the sender's name in a message against the certificate.
func (g *Guard) speaksAs(p peer, name string) *Breach {
	if g.siblings != nil {
		return g.siblings.speaksAs(p, name)
	}
	from := agents.ID(name)
	switch {
	case p.agent != "" && from != p.agent:
		return &Breach{BadFrom, p.name, fmt.Sprintf("it speaks as %s; its certificate is of %s", show(name), p.agent)}
	case roleOf(from) != g.peers || members.CheckAgent(from) != nil:
		return &Breach{BadFrom, p.name, fmt.Sprintf("it speaks as %s, where only a %s may speak", show(name), g.peers)}
	case g.vo != "" && strings.Contains(name, "/"):
		return &Breach{BadFrom, p.name, fmt.Sprintf("it speaks as %s; a name with a slash has no place at a site of several VOs", show(name))}
	}
	return nil
}

// answerable checks a peer's reply address against the hosts of its certificate, so that no
// peer can make this process call others.
func answerable(p peer, address string) *Breach {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil || len(address) > members.LongestName:
		return &Breach{BadAddress, p.name, "it wants to be answered at " + show(address) + ", which is no address"}
	case len(p.chain) > 0 && !certificate.For(p.chain[0], host):
		return &Breach{BadAddress, p.name, "it wants to be answered at " + show(address) + ", a host that its certificate is not for; bourse ca issue has --host for that"}
	case p.agent == "" && host != "localhost" && !net.ParseIP(host).IsLoopback():
		return &Breach{BadAddress, p.name, "it wants to be answered at " + show(address) + " and speaks plain text, which stays on this machine"}
	}
	return nil
}

// envelope checks the names in an envelope against the certificate.
func (g *Guard) envelope(p peer, e *wire.Envelope) *Breach {
	refuse := func(c Cause, format string, args ...any) *Breach {
		return &Breach{c, p.name, fmt.Sprintf(format, args...)}
	}
	from, to := agents.ID(e.From), agents.ID(e.To)
	if b := g.speaksAs(p, e.From); b != nil {
		return b
	}
	if to != g.self {
		return refuse(BadTo, "it speaks to %s; here is %s", show(e.To), g.self)
	}
	kind := wire.Kind(e)
	if sends, _, known := wire.Ends(kind); known && string(sends) != g.sender() {
		return refuse(BadKind, "a %s, which only a %s sends", kind, sends)
	}
	if g.siblings != nil {
		return nil // only the replica can judge the contents
	}
	broker := from // the broker whose transactions the two may talk about
	if g.peers == "site" {
		broker = to
	}
	named := wire.Brokers(e)
	if i := slices.IndexFunc(named, func(of string) bool { return of != nameOf(broker) }); i >= 0 {
		return refuse(BadLeg, "a %s about a leg of broker %s; between %s and %s there are only those of %s", kind, show(named[i]), from, to, broker)
	}
	return nil
}
