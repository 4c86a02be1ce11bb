package live

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/wire"
)

// greeting is how long a called peer may take to answer. Proto.Actor's remote itself would
// wait forever.
const greeting = 10 * time.Second

// dialled guards this end of a stream that this process has opened.
func (g *Guard) dialled(ctx context.Context, d *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := open(ctx, d, cc, method, opts...)
	if err != nil {
		cancel()
		return nil, err
	}
	return &calledStream{ClientStream: stream, guard: g, address: cc.Target(), cancel: cancel, late: time.AfterFunc(greeting, cancel)}, nil
}

// calledStream is what the remote writes to a peer.
type calledStream struct {
	grpc.ClientStream
	guard   *Guard
	address string
	cancel  context.CancelFunc
	late    *time.Timer
	greeted bool
	other   atomic.Pointer[agents.ID] // once it has greeted
}

// SendMsg drops what is meant for an agent other than the one at the other end: gossip is
// only a hint and may have given the wrong address.
func (s *calledStream) SendMsg(m any) error {
	batch := (*remote.MessageBatch)(nil)
	if r, ok := m.(*remote.RemoteMessage); ok {
		batch = r.GetMessageBatch()
	}
	if other := s.other.Load(); other != nil && batch != nil {
		keep := batch.Envelopes[:0]
		for _, e := range batch.Envelopes {
			if batch.TypeNames[e.TypeId] == parcelType {
				if to := addressee(e.MessageData); !s.guard.isAt(to, *other) {
					s.guard.refuse(&Breach{Misdirected, string(*other), "a parcel to " + show(to) + " is not sent to it: at " + s.address + " there is " + string(*other)})
					continue
				}
			}
			keep = append(keep, e)
		}
		if batch.Envelopes = keep; len(keep) == 0 {
			return nil
		}
	}
	return s.ClientStream.SendMsg(m)
}

// RecvMsg accepts a greeting and later a goodbye, and nothing else.
func (s *calledStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil {
		s.late.Stop()
		s.cancel()
		switch code := status.Code(err); code {
		case codes.PermissionDenied, codes.ResourceExhausted, codes.Unauthenticated, codes.Unimplemented:
			s.guard.refuse(&Breach{ByPeer, "this process", "by " + s.name() + ": " + status.Convert(err).Message()})
		}
		return err
	}
	r, _ := m.(*remote.RemoteMessage)
	switch {
	case !s.greeted && r.GetConnectResponse() != nil:
		s.greeted = true
		s.late.Stop()
		if leaf := leafOf(s.Context()); leaf != nil {
			if id, err := certificate.Of(leaf); err == nil {
				agent := id.Agent()
				s.other.Store(&agent)
			}
		}
		return nil
	case s.greeted && r.GetDisconnectRequest() != nil:
		return nil
	}
	s.cancel()
	return s.guard.end(&Breach{BadGreeting, s.name(), "it answers with something else than a greeting or a goodbye"})
}

// name returns who is at the other end, as far as known.
func (s *calledStream) name() string {
	if other := s.other.Load(); other != nil {
		return string(*other) + " at " + s.address
	}
	return string(s.guard.peers) + " at " + s.address
}

// The path of fields from a parcel to the name of its addressee.
var (
	envelopeField = (*wire.Parcel)(nil).ProtoReflect().Descriptor().Fields().ByName("envelope").Number()
	toField       = (*wire.Envelope)(nil).ProtoReflect().Descriptor().Fields().ByName("to").Number()
)

// addressee reads the addressee of a parcel from its bytes, which this process has written.
func addressee(parcel []byte) string {
	return string(lastField(lastField(parcel, envelopeField), toField))
}

// lastField returns the last field with that number.
func lastField(b []byte, number protowire.Number) (found []byte) {
	for len(b) > 0 {
		at, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return found
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(at, kind, b); n < 0 {
			return found
		}
		if at == number && kind == protowire.BytesType {
			found, _ = protowire.ConsumeBytes(b)
		}
		b = b[n:]
	}
	return found
}
