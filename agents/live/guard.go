package live

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/remote"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live/lines"
)

// A guard stands between the network and Proto.Actor's remote, which trusts everything it
// receives: a peer could stop any actor by name, speak as anyone, or crash the process with
// an index out of range. The guard admits only parcels and acknowledgements between a site
// and a broker, each speaking for itself, and no more of them than a process can handle.
// docs/SECURITY.md has a row for each refusal.
//
// What an honest peer of a newer build may send is dropped, and the rest passes. Anything
// else that is wrong comes from a broken or hostile peer: its connection is closed, and
// both ends log why.

// GuardOptions say for whom a guard stands.
type GuardOptions struct {
	Store *certificate.Store // with the process's own certificate, of a site or broker
	VO    string             // the VO of the certificate, if the process is in several; else ""
	Log   zerolog.Logger
	Now   func() time.Time // nil: time.Now
}

// Guard secures the connections of one process. It is safe for concurrent use.
type Guard struct {
	store    *certificate.Store // nil: plain text on loopback
	self     agents.ID
	vo       string           // one of several
	peers    certificate.Role // role of the peers
	siblings *siblings        // set for a guard between replicas of one agent
	log      zerolog.Logger
	now      func() time.Time
	limiter  lines.Limiter
	conns    connBound
	take     func(proto.Message) // receives what may pass
	life     atomic.Uint64       // life of the process, once it has begun

	mu      sync.Mutex
	refused map[Cause]uint64
	rates   map[string]*rate // of peers with a stream or a remaining penalty
}

// NewGuard returns the guard of the agent named in the store's certificate.
func NewGuard(o GuardOptions) (*Guard, error) {
	if o.Store == nil {
		return nil, fmt.Errorf("a guard needs the certificate of a site or broker, as `bourse ca issue` makes it")
	}
	id := o.Store.Identity()
	g := newGuard(id.Agent(), o.Log, o.Now)
	g.store, g.vo = o.Store, o.VO
	if g.vo != "" && g.vo != id.VO {
		return nil, fmt.Errorf("the certificate is of %s; must be of the VO %s", id, g.vo)
	}
	if g.peers == "" {
		return nil, fmt.Errorf("the certificate is of %s; a site or a broker needs one with its own role: bourse ca issue --role site|broker", id)
	}
	return g, nil
}

// plainGuard returns a guard for plain text on loopback, where peers cannot be identified.
// It believes every name, but still stops anything that would harm the process.
func plainGuard(self agents.ID, l zerolog.Logger) *Guard { return newGuard(self, l, nil) }

func newGuard(self agents.ID, l zerolog.Logger, now func() time.Time) *Guard {
	g := &Guard{self: self, log: l.With().Str("room", "guard").Logger(), now: now, refused: map[Cause]uint64{}, rates: map[string]*rate{}}
	switch roleOf(self) {
	case certificate.Site:
		g.peers = certificate.Broker
	case certificate.Broker:
		g.peers = certificate.Site
	}
	if g.now == nil {
		g.now = time.Now
	}
	return g
}

// Transport returns the credentials and interceptors for both ends.
func (g *Guard) Transport() Transport {
	t := Transport{
		begin:   g.life.Store,
		deliver: func(take func(proto.Message)) { g.take = take },
		Dial: []grpc.DialOption{
			grpc.WithTransportCredentials(&guardedCredentials{g}),
			grpc.WithChainStreamInterceptor(g.dialled),
			grpc.WithNoProxy(), // agents are called where gossip says, regardless of proxies in the environment
		},
		Server: []grpc.ServerOption{
			grpc.Creds(&guardedCredentials{g}),
			grpc.ChainStreamInterceptor(g.serve),
			grpc.ChainUnaryInterceptor(g.unary),
			grpc.ForceServerCodecV2(countingCodec{}),
			grpc.MaxConcurrentStreams(2),
		},
	}
	if g.store != nil {
		t.call = g.call
	}
	return t
}

// Stats returns the number of refusals by cause. Counts only grow.
func (g *Guard) Stats() map[Cause]uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.refused)
}

// refuse counts a breach and logs it, at most once a minute for each cause and peer.
func (g *Guard) refuse(b *Breach) {
	g.mu.Lock()
	g.refused[b.Cause]++
	n := g.refused[b.Cause]
	g.mu.Unlock()
	if g.limiter.Allow(string(b.Cause)+" "+b.Peer, g.now()) {
		g.log.Warn().Str("peer", b.Peer).Str("cause", string(b.Cause)).Uint64("refused", n).Msg(b.Error())
	}
}

// unary refuses all calls except the stream, as the library answers them with a panic.
func (g *Guard) unary(ctx context.Context, _ any, info *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
	peer, err := g.peer(ctx)
	if err != nil {
		return nil, err
	}
	b := &Breach{Cause: BadMethod, Peer: peer.name, What: "it calls " + info.FullMethod + ", which agents do not"}
	g.refuse(b)
	return nil, status.Error(codes.Unimplemented, b.Error())
}

// serve gives the remote a stream that it can trust.
func (g *Guard) serve(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) (err error) {
	peer, err := g.peer(stream.Context())
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			b := &Breach{Cause: Panicked, Peer: peer.name, What: fmt.Sprintf("a message of it could not be handled: %v", r)}
			g.log.Error().Str("peer", peer.name).Bytes("stack", debug.Stack()).Msg(b.Error())
			g.refuse(b)
			err = status.Error(codes.Internal, b.Cause.String())
		}
	}()
	if info.FullMethod != remote.Remoting_Receive_FullMethodName {
		return g.end(&Breach{Cause: BadMethod, Peer: peer.name, What: "it opens " + info.FullMethod + ", which agents do not"})
	}
	rate, leave := g.enter(peer)
	defer leave()
	if rate.keptOut(g.now()) {
		return g.end(&Breach{Cause: TooMuch, Peer: peer.name, What: "it has sent too much and is kept out for a while"})
	}
	return handle(server, &guardedStream{ServerStream: stream, guard: g, peer: peer, rate: rate})
}

// end refuses and returns the error for the peer.
func (g *Guard) end(b *Breach) error {
	g.refuse(b)
	code := codes.PermissionDenied
	if b.Cause == TooMuch || b.Cause == TooLarge || b.Cause == TooMany {
		code = codes.ResourceExhausted
	}
	return status.Error(code, b.Error())
}

// guardedStream is what the remote reads from a peer: only its greetings. Messages are
// delivered here, since the remote would parse them all a second time.
type guardedStream struct {
	grpc.ServerStream
	guard  *Guard
	peer   peer
	rate   *rate
	greets int
}

// RecvMsg delivers the next message that may pass. It waits if the peer sends faster than
// it may.
func (s *guardedStream) RecvMsg(m any) error {
	g := s.guard
	if err := s.ServerStream.RecvMsg(m); err != nil {
		if code := status.Code(err); code == codes.ResourceExhausted {
			return g.end(&Breach{Cause: TooLarge, Peer: s.peer.name, What: status.Convert(err).Message()})
		} else if code == codes.Internal {
			return g.end(&Breach{Cause: Garbled, Peer: s.peer.name, What: status.Convert(err).Message()})
		}
		return err
	}
	if err := g.still(&s.peer); err != nil {
		return err
	}
	msg, ok := m.(*remote.RemoteMessage)
	if !ok {
		return g.end(&Breach{Cause: BadType, Peer: s.peer.name, What: fmt.Sprintf("a %T comes by its stream", m)})
	}
	in, breach := s.check(msg)
	if breach != nil {
		return g.end(breach)
	}
	wait, tooLong := s.rate.take(g.now(), in.cost)
	if tooLong {
		return g.end(&Breach{Cause: TooMuch, Peer: s.peer.name, What: fmt.Sprintf("it has sent more than %d messages or %d MiB a second for %v; it may come back in %v", rateMessages, rateBytes>>20, ratePatience, ratePenalty)})
	}
	if err := pause(s.Context(), wait); err != nil {
		return err
	}
	for _, m := range in.list {
		g.take(m)
	}
	return nil
}

// check checks one message of the stream, and takes the whole batch out of it.
func (s *guardedStream) check(m *remote.RemoteMessage) (admitted, *Breach) {
	switch t := m.GetMessageType().(type) {
	case *remote.RemoteMessage_ConnectRequest:
		if s.greets++; s.greets > 1 || t.ConnectRequest.GetServerConnection() == nil {
			return admitted{}, &Breach{Cause: BadGreeting, Peer: s.peer.name, What: "it greets twice, or as no server"}
		}
		return admitted{cost: cost{messages: 1}}, nil
	case *remote.RemoteMessage_MessageBatch:
		in, left, breach := s.guard.batch(s.peer, t.MessageBatch)
		for _, b := range left {
			s.guard.refuse(b)
		}
		t.MessageBatch.Envelopes = nil
		return in, breach
	}
	return admitted{}, &Breach{Cause: BadType, Peer: s.peer.name, What: "it sends what is neither a greeting nor a batch"}
}

// pause waits, but returns an error if the connection ends first.
func pause(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}
