package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/eventstream"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// Transport is how connections are secured: gRPC credentials and interceptors for both
// ends. The zero Transport is plain text, which a node accepts only on loopback and only on
// request.
type Transport struct {
	Dial   []grpc.DialOption
	Server []grpc.ServerOption

	begin   func(life uint64)         // sets the life of this process
	deliver func(func(proto.Message)) // sets the receiver of incoming messages
	// call asks which life of an agent answers at its address; see Guard.call. If nil,
	// peers cannot be identified and gossip is believed.
	call func(context.Context, members.Member) (life uint64, err error)
}

// plain reports whether nothing secures the connections.
func (t Transport) plain() bool { return len(t.Dial) == 0 || len(t.Server) == 0 }

// inbox is the name that others send to. No actor has it: the guard delivers what is sent
// there. The actor system that the network reaches contains only the remote's own actors,
// and the guard admits no other name, so no peer can address, let alone stop, an agent of
// the host.
const inbox = "bourse"

// writers is the actor of Proto.Actor's remote whose children write to peers.
const writers = "EndpointSupervisor"

// Bounds of the remote. What a link has under way fits into one gRPC message, with room for
// acknowledgements and the names of types.
const (
	remoteMessage = 2 * wire.MaxMessage // bytes of one gRPC message: a batch of parcels
	remoteBatch   = 64                  // parcels or acknowledgements in a batch
	remoteQueue   = 4096                // slots allocated for each peer's writer

	// remoteWindow is how many bytes of a connection may be unread. An adaptive window of
	// gRPC would cost a ping and its answer for each message that comes alone: three writes
	// instead of one.
	remoteWindow = 1 << 20
)

// remoteCarrier carries messages over Proto.Actor's remote.
type remoteCarrier struct {
	system *actor.ActorSystem
	remote *remote.Remote
	asks   func(context.Context, members.Member) (uint64, error) // nil: plain text
	events *eventstream.Subscription
	peers  sync.Map        // addresses used since their last hangUp
	ended  sync.Map        // by address: how the connection to it ended, until the next one
	base   context.Context // context of probes
	stop   context.CancelFunc
	closed atomic.Bool
	breaks atomic.Uint64 // connections that have ended
	dead   atomic.Uint64 // messages that Proto.Actor could not deliver
}

// startRemote listens. take is called with each incoming message, one at a time for each
// connection; broken with the address of a peer whose connection has ended.
func startRemote(listen, advertise string, t Transport, l zerolog.Logger, take func(proto.Message), broken func(addr string)) (*remoteCarrier, error) {
	host, port, err := freePort(listen)
	if err != nil {
		return nil, err
	}
	if advertise == "" {
		advertise = net.JoinHostPort(host, strconv.Itoa(port))
	}
	if at, _, err := net.SplitHostPort(advertise); err != nil || at == "" || net.ParseIP(at).IsUnspecified() {
		return nil, fmt.Errorf("others cannot dial %q: say by which host:port they reach this process (advertise)", advertise)
	}
	c := &remoteCarrier{system: newActorSystem(l), asks: t.call}
	c.base, c.stop = context.WithCancel(context.Background())
	c.remote = remote.NewRemote(c.system, remoteConfig(host, port, advertise, t))
	t.deliver(take)
	c.events = c.system.EventStream.Subscribe(func(event any) {
		switch e := event.(type) {
		case *remote.EndpointTerminatedEvent:
			c.ended.Store(e.Address, &ending{at: time.Now()})
			c.breaks.Add(1)
			broken(e.Address)
		case *actor.DeadLetterEvent:
			if _, ours := e.Message.(proto.Message); ours && e.PID.GetId() == inbox {
				c.dead.Add(1)
			}
		}
	})
	return c, c.listen(host, port)
}

// listen turns remote's panic into an error: another process may have taken the port since
// it was tested.
func (c *remoteCarrier) listen(host string, port int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot listen at %s: %v", net.JoinHostPort(host, strconv.Itoa(port)), r)
		}
	}()
	c.remote.Start()
	return nil
}

// freePort tests an address and returns its host and port, or a free port for port 0.
func freePort(listen string) (string, int, error) {
	socket, err := net.Listen("tcp", listen)
	if err != nil {
		return "", 0, fmt.Errorf("cannot listen at %q: %w; is another process using it?", listen, errors.Unwrap(err))
	}
	defer socket.Close()
	a := socket.Addr().(*net.TCPAddr)
	return a.IP.String(), a.Port, nil
}

// newActorSystem returns an actor system whose log reports only problems, and never the
// contents of messages.
func newActorSystem(l zerolog.Logger) *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return newLibraryLog(l) }),
		actor.WithDeadLetterThrottleCount(0),
	)
}

func remoteConfig(host string, port int, advertise string, t Transport) *remote.Config {
	dial := append([]grpc.DialOption{
		grpc.WithStaticStreamWindowSize(remoteWindow), grpc.WithStaticConnWindowSize(remoteWindow),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(remoteMessage), grpc.MaxCallSendMsgSize(remoteMessage)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: time.Second}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 2 * time.Second, PermitWithoutStream: true}),
	}, t.Dial...)
	server := append([]grpc.ServerOption{
		grpc.StaticStreamWindowSize(remoteWindow), grpc.StaticConnWindowSize(remoteWindow),
		grpc.MaxRecvMsgSize(remoteMessage), grpc.MaxSendMsgSize(remoteMessage),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}),
		grpc.ConnectionTimeout(5 * time.Second),
		grpc.MaxConcurrentStreams(16),
	}, t.Server...)
	c := remote.Configure(host, port, remote.WithDialOptions(dial...), remote.WithServerOptions(server...), remote.WithAdvertisedHost(advertise),
		remote.WithEndpointWriterBatchSize(remoteBatch), remote.WithEndpointWriterQueueSize(remoteQueue))
	c.MaxRetryCount = 1 // each try blocks the peer's writer for 2 s; the link retries anyway
	return c
}

func (c *remoteCarrier) address() string { return c.system.Address() }

func (c *remoteCarrier) carry(to string, message proto.Message) {
	if c.closed.Load() {
		return
	}
	c.peers.LoadOrStore(to, nil)
	c.system.Root.Send(actor.NewPID(to, inbox), message)
}

func (c *remoteCarrier) call(ctx context.Context, m members.Member) (uint64, error) {
	if c.asks == nil {
		return 0, nil
	}
	return c.asks(ctx, m)
}

func (c *remoteCarrier) hangUp(to string) {
	c.peers.Delete(to)
	c.system.EventStream.Publish(&remote.EndpointTerminatedEvent{Address: to})
}

// close stops listening. Shutdown(true) would race with the writers, and
// Shutdown(false) leaves their connections open.
func (c *remoteCarrier) close() {
	c.closed.Store(true)
	c.stop()
	c.peers.Range(func(to, _ any) bool {
		c.hangUp(to.(string))
		return true
	})
	c.system.EventStream.Unsubscribe(c.events)
	// Until the writers have stopped they use grpc's logger, which the next remote of this
	// process replaces when it starts.
	_ = c.system.Root.StopFuture(actor.NewPID(c.system.Address(), writers)).Wait()
	c.remote.Shutdown(false)
	c.system.Shutdown()
}
