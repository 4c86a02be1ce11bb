package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/wire"
)

// town is a VO with its authority and one process, the site north, behind a
// guard and a real remote of Proto.Actor.
type town struct {
	*testing.T
	authority *certificate.Authority
	north     *certificate.Store
	guard     *Guard
	carrier   *remoteCarrier
	log       *spoken
	holds     *atomic.Int64 // Holds that have reached the inbox
}

// spoken is a log that a test looks into.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *spoken) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *spoken) has(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(line, p)
		}
		if all {
			return true
		}
	}
	return false
}

// patience ends a test that hangs; it says nothing of how long anything takes.
const patience = 2 * time.Minute

func newTown(t *testing.T) *town {
	t.Helper()
	v := &town{T: t, log: &spoken{}, holds: &atomic.Int64{}}
	var err error
	if v.authority, err = certificate.Init(filepath.Join(t.TempDir(), "ca"), "atlas", certificate.InitOptions{}); err != nil {
		t.Fatal(err)
	}
	v.north = v.member(certificate.Site, "north")
	if v.guard, err = NewGuard(GuardOptions{Store: v.north, Log: zerolog.New(v.log)}); err != nil {
		t.Fatal(err)
	}
	v.carrier, err = startRemote("127.0.0.1:0", "", v.guard.Transport(), zerolog.New(v.log), func(m proto.Message) {
		if p, ok := m.(*wire.Parcel); ok && wire.Kind(p.Envelope) == "Hold" {
			v.holds.Add(1)
		}
	}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		v.carrier.close()
		// A writer of Proto.Actor that could not connect sleeps for 2 s before
		// it hears of the end, and letters to the dead are told of for a second.
		eventually(t, patience, "the remote's goroutines end", func() bool {
			stacks := make([]byte, 4<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			return !bytes.Contains(stacks, []byte("endpointWriter).initialize")) && !bytes.Contains(stacks, []byte("NewThrottle"))
		})
	})
	return v
}

// member has a certificate issued and loads it.
func (v *town) member(role certificate.Role, name string) *certificate.Store {
	v.Helper()
	s, err := certificate.Load(v.issue(role, name), certificate.Options{})
	if err != nil {
		v.Fatal(err)
	}
	return s
}

func (v *town) issue(role certificate.Role, name string) certificate.Files {
	v.Helper()
	r := certificate.Request{Role: role, Name: name, Replace: true}
	if role == certificate.Site || role == certificate.Broker {
		r.Hosts = []string{"127.0.0.1"}
	}
	out, err := v.authority.Issue(r)
	if err != nil {
		v.Fatal(err)
	}
	return out.Files
}

// blind is a client that shows a member's certificate and looks at nothing.
func (v *town) blind(f certificate.Files) *tls.Config {
	v.Helper()
	own, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		v.Fatal(err)
	}
	return &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{own}}
}

// call opens a connection to the process without Proto.Actor's help, which would
// not send what a hostile peer sends.
func (v *town) call(c credentials.TransportCredentials) *grpc.ClientConn {
	v.Helper()
	cc, err := grpc.NewClient(v.carrier.address(), grpc.WithTransportCredentials(c), grpc.WithNoProxy())
	if err != nil {
		v.Fatal(err)
	}
	v.Cleanup(func() { cc.Close() })
	return cc
}

// stream opens a stream over a connection.
func (v *town) stream(cc *grpc.ClientConn) grpc.BidiStreamingClient[remote.RemoteMessage, remote.RemoteMessage] {
	v.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	v.Cleanup(cancel)
	s, err := remote.NewRemotingClient(cc).Receive(ctx)
	if err != nil {
		v.Fatal(err)
	}
	return s
}

// as is a stream of a broker of the VO.
func (v *town) as(name string) grpc.BidiStreamingClient[remote.RemoteMessage, remote.RemoteMessage] {
	v.Helper()
	return v.stream(v.call(credentials.NewTLS(v.member(certificate.Broker, name).Client(certificate.Want{Role: certificate.Site, Name: "north"}))))
}

// told sends a message as a broker and returns the final answer.
func (v *town) told(broker string, m *remote.RemoteMessage) error {
	v.Helper()
	cc := v.call(credentials.NewTLS(v.member(certificate.Broker, broker).Client(certificate.Want{Role: certificate.Site, Name: "north"})))
	defer cc.Close()
	return outcome(v.stream(cc), m)
}

// outcome sends a message and returns the peer's final answer.
func outcome(s grpc.BidiStreamingClient[remote.RemoteMessage, remote.RemoteMessage], m *remote.RemoteMessage) error {
	if err := s.Send(m); err != nil {
		return err
	}
	for {
		if _, err := s.Recv(); err != nil {
			return err
		}
	}
}

func inBatch(b *remote.MessageBatch) *remote.RemoteMessage {
	return &remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: b}}
}

// hold is what an honest broker sends.
func (v *town) hold(broker string) *remote.RemoteMessage {
	return inBatch(batchOf(v, sealed(v, agents.ID("broker:"+broker), siteNorth, agents.Hold{Leg: legOf(broker)})))
}

// works says that an honest broker still gets its messages through: the process
// and its inbox live.
func (v *town) works() {
	v.Helper()
	before := v.holds.Load()
	s := v.as("honest")
	if err := s.Send(v.hold("honest")); err != nil {
		v.Errorf("an honest broker: %v", err)
	}
	eventually(v, patience, "an honest broker's Hold arrives", func() bool { return v.holds.Load() > before })
	_ = s.CloseSend()
}

// One remote serves all of these: Proto.Actor's start sets the log of gRPC for the whole
// process, which the remotes already there are using. So no other test starts one here.
func TestGuard_OverTheNetwork(t *testing.T) {
	t.Parallel()
	v := newTown(t)
	for _, c := range []struct {
		name string
		test func(*town)
	}{
		{"HostileMembersAreRefusedWithALineAtBothEnds", hostileMembers},
		{"NobodyElseGetsIn", strangers},
		{"ItSaysWhichLifeItIs", saysWhichLifeItIs},
		{"CallsThatAgentsDoNotMake", otherCalls},
		{"MessagesAboveTheBound", largeMessages},
		{"AFloodCostsItsSenderOnly", flood},
		{"ConnectionsOfOneAgentAreBounded", manyConnections},
		{"CertificatesChangeWhileConnectionsRun", reload},
		{"TheProcessSpeaksToWhomItMeansOnly", outbound},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := *v
			v.T = t
			c.test(&v)
			v.works()
		})
	}
}

func hostileMembers(v *town) {
	before := v.holds.Load()
	hold := agents.Hold{Leg: legOf("mallory")}
	mallory := agents.ID("broker:mallory")
	elsewhere := sealed(v, mallory, siteNorth, hold)
	elsewhere.ReplyTo = "10.0.0.9:22"
	changed := func(change func(*remote.MessageBatch)) *remote.RemoteMessage {
		b := batchOf(v, sealed(v, mallory, siteNorth, hold))
		change(b)
		return inBatch(b)
	}
	greets := &remote.RemoteMessage{MessageType: &remote.RemoteMessage_ConnectRequest{ConnectRequest: &remote.ConnectRequest{
		ConnectionType: &remote.ConnectRequest_ClientConnection{ClientConnection: &remote.ClientConnection{}}}}}
	for _, c := range []struct {
		m    *remote.RemoteMessage
		line string
	}{
		{inBatch(batchOf(v, sealed(v, "broker:honest", siteNorth, hold))), `it speaks as "broker:honest"; its certificate is of broker:mallory`},
		{inBatch(batchOf(v, sealed(v, mallory, siteNorth, agents.Cancel{Leg: legOf("honest")}))), `a Cancel about a leg of broker "honest"`},
		{inBatch(batchOf(v, sealed(v, mallory, "cluster:north", hold))), `it speaks to "cluster:north"; here is site:north`},
		{inBatch(batchOf(v, sealed(v, mallory, siteNorth, agents.Held{Leg: legOf("mallory")}))), `a Held, which only a site sends`},
		{inBatch(batchOf(v, elsewhere)), `it wants to be answered at "10.0.0.9:22", a host that its certificate is not for`},
		{inBatch(batchOf(v, &actor.Stop{})), `a message of type "actor.Stop"`},
		{inBatch(batchOf(v, &actor.PoisonPill{})), `a message of type "actor.PoisonPill"`},
		{inBatch(batchOf(v, &actor.Terminated{})), `a message of type "actor.Terminated"`},
		{inBatch(batchOf(v, &remote.ActorPidRequest{Kind: "x"})), `a message of type "remote.ActorPidRequest"`},
		{changed(func(b *remote.MessageBatch) { b.TypeNames[0] = "nobody.Knows" }), `a message of type "nobody.Knows"`},
		{changed(func(b *remote.MessageBatch) { b.Targets[0] = "activator" }), `it speaks to actor "activator"`},
		{changed(func(b *remote.MessageBatch) { b.Envelopes[0].TypeId = 7 }), `type 7 of 1, target 0 of 1`},
		{changed(func(b *remote.MessageBatch) { b.Envelopes[0].Target = -1 }), `type 0 of 1, target -1 of 1`},
		{changed(func(b *remote.MessageBatch) { b.Envelopes[0].Sender = 9 }), `a sender, request, header or serializer`},
		{changed(func(b *remote.MessageBatch) { b.Envelopes[0].MessageData = []byte("\xff\xff\xff") }), `bytes that end within a field`},
		{inBatch(&remote.MessageBatch{Envelopes: make([]*remote.MessageEnvelope, maxBatch+1)}), `a batch of 1025 envelopes`},
		{greets, `it greets twice, or as no server`},
		{&remote.RemoteMessage{}, `neither a greeting nor a batch`},
	} {
		err := v.told("mallory", c.m)
		refused := status.Code(err) == codes.PermissionDenied || status.Code(err) == codes.ResourceExhausted
		if !refused || !strings.Contains(err.Error(), "broker:mallory refused: ") || !strings.Contains(err.Error(), c.line) {
			v.Errorf("the hostile end is told %v, want %q", err, c.line)
		}
	}
	// gRPC itself refuses a message that cannot be decoded.
	err := v.told("mallory", inBatch(&remote.MessageBatch{Targets: make([]string, maxRemoteParts+1)}))
	if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "a message of more than 8192 parts") {
		v.Errorf("%v", err)
	}
	for _, cause := range []Cause{BadFrom, BadLeg, BadTo, BadKind, BadType, BadTarget, BadIndex, BadForm, Garbled, TooMany, BadGreeting, BadAddress} {
		if v.guard.Stats()[cause] == 0 {
			v.Errorf("%s is not counted", cause)
		}
		if !v.log.has(`"peer":"broker:mallory"`, `"cause":"`+string(cause)+`"`, "broker:mallory refused: ") {
			v.Errorf("%s is not in the log", cause)
		}
	}
	if n := v.holds.Load(); n != before {
		v.Errorf("%d messages came through", n-before)
	}
}

func strangers(v *town) {
	before := v.holds.Load()
	other, err := certificate.Init(filepath.Join(v.TempDir(), "ca"), "cms", certificate.InitOptions{})
	if err != nil {
		v.Fatal(err)
	}
	foreign, err := other.Issue(certificate.Request{Role: certificate.Broker, Name: "b", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		v.Fatal(err)
	}
	earlier, err := certificate.OpenAuthority(v.authority.Dir(), func() time.Time { return time.Now().Add(-48 * time.Hour) })
	if err != nil {
		v.Fatal(err)
	}
	expired, err := earlier.Issue(certificate.Request{Role: certificate.Broker, Name: "late", Hosts: []string{"127.0.0.1"}, Valid: time.Hour})
	if err != nil {
		v.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		creds credentials.TransportCredentials
		line  string // "": one of this cause and host was said a moment ago
		cause Cause
	}{
		{"foreign", credentials.NewTLS(v.blind(foreign.Files)), "certificate of bourse://cms/broker/b refused: no authority trusted here vouches for it", "certificate-foreign"},
		{"expired", credentials.NewTLS(v.blind(expired.Files)), "certificate of bourse://atlas/broker/late refused: it expired on", "certificate-expired"},
		{"a site", credentials.NewTLS(v.blind(v.issue(certificate.Site, "south"))), "a site may not speak here, only a broker", "certificate-other-role"},
		{"a user", credentials.NewTLS(v.blind(v.issue(certificate.User, "ana"))), "", "certificate-other-role"},
		{"no certificate", credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}), "it has shown no certificate", "certificate-no-certificate"},
		{"plain text", insecure.NewCredentials(), "it speaks plain text", "handshake"},
	} {
		cc, counted := v.call(c.creds), v.guard.Stats()[c.cause]
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		s, err := remote.NewRemotingClient(cc).Receive(ctx)
		if err == nil {
			err = outcome(s, v.hold("b"))
		}
		cancel()
		if status.Code(err) != codes.Unavailable {
			v.Errorf("%s: %v", c.name, err)
		}
		eventually(v, patience, c.name+": "+c.line, func() bool {
			return v.guard.Stats()[c.cause] > counted && v.log.has(`"cause":"`+string(c.cause)+`"`, c.line)
		})
		cc.Close()
	}
	if n := v.holds.Load(); n != before {
		v.Errorf("%d messages came through", n-before)
	}
}

func otherCalls(v *town) {
	c := remote.NewRemotingClient(v.call(credentials.NewTLS(v.member(certificate.Broker, "mallory").Client(certificate.Want{Role: certificate.Site, Name: "north"}))))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := c.ListProcesses(ctx, &remote.ListProcessesRequest{}); status.Code(err) != codes.Unimplemented {
		v.Errorf("%v", err)
	}
	if _, err := c.GetProcessDiagnostics(ctx, &remote.GetProcessDiagnosticsRequest{}); status.Code(err) != codes.Unimplemented {
		v.Errorf("%v", err)
	}
}

func largeMessages(v *town) {
	b := batchOf(v, &wire.Ack{})
	b.Envelopes[0].MessageData = make([]byte, 100<<20)
	s := v.as("mallory")
	err := outcome(s, inBatch(b))
	if err == nil || status.Code(err) == codes.PermissionDenied {
		v.Errorf("%v", err)
	}
	for { // what it was told when its sending failed
		if _, err = s.Recv(); err != nil {
			break
		}
	}
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "larger than max") {
		v.Errorf("%v", err)
	}
	eventually(v, patience, "a line in the log", func() bool { return v.log.has(`"cause":"too-large"`, "broker:mallory refused: ", "larger than max") })
}

// flood has one member send acknowledgements as fast as it can. It is slowed down to the
// rate, and another member's message still comes through.
func flood(v *town) {
	b := &remote.MessageBatch{Targets: []string{inbox}, TypeNames: []string{ackType}}
	for range maxBatch {
		b.Envelopes = append(b.Envelopes, &remote.MessageEnvelope{})
	}
	s := v.as("flood")
	begun := time.Now()
	sent := 0
	var meanwhile time.Duration
	for sent < (rateBurst+1)*rateMessages {
		if err := s.Send(inBatch(b)); err != nil {
			v.Fatal(err)
		}
		if sent += maxBatch; meanwhile == 0 && sent > rateBurst*rateMessages {
			at := time.Now()
			v.works()
			meanwhile = time.Since(at)
		}
	}
	if err := s.CloseSend(); err != nil {
		v.Fatal(err)
	}
	for { // till all is read
		if _, err := s.Recv(); err != nil {
			break
		}
	}
	if took := time.Since(begun); took < 800*time.Millisecond {
		v.Errorf("%d messages in %v: nothing slows it down", sent, took)
	}
	v.Logf("%d messages in %v; an honest broker's Hold in the middle of it took %v", sent, time.Since(begun), meanwhile)
}

func manyConnections(v *town) {
	store := v.member(certificate.Broker, "crowd")
	for i := range maxConnectionsOf + 1 {
		cc := v.call(credentials.NewTLS(store.Client(certificate.Want{Role: certificate.Site, Name: "north"})))
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		v.Cleanup(cancel)
		s, err := remote.NewRemotingClient(cc).Receive(ctx)
		if err == nil {
			err = s.Send(greeting1())
		}
		if err == nil {
			_, err = s.Recv()
		}
		if (err != nil) != (i == maxConnectionsOf) {
			v.Errorf("connection %d: %v", i+1, err)
		}
	}
	eventually(v, patience, "a line in the log", func() bool {
		return v.log.has(`"cause":"crowded"`, "broker:crowd refused: it has too many connections open")
	})
}

// greeting1 is how a remote begins.
func greeting1() *remote.RemoteMessage {
	return &remote.RemoteMessage{MessageType: &remote.RemoteMessage_ConnectRequest{ConnectRequest: &remote.ConnectRequest{
		ConnectionType: &remote.ConnectRequest_ServerConnection{ServerConnection: &remote.ServerConnection{Address: "127.0.0.1:1"}}}}}
}

func reload(v *town) {
	s := v.as("steady")
	say := func() error {
		before := v.holds.Load()
		if err := s.Send(v.hold("steady")); err != nil {
			return err
		}
		eventually(v, patience, "a Hold arrives", func() bool { return v.holds.Load() > before })
		return nil
	}
	if err := say(); err != nil {
		v.Fatal(err)
	}
	before := v.north.Current()
	v.issue(certificate.Site, "north")
	eventually(v, patience, "the new certificate is read", func() bool { return v.north.Current() > before })
	if err := say(); err != nil {
		v.Errorf("a connection made before: %v", err)
	}
	v.works()

	// The broker is revoked while it is connected.
	if _, err := v.authority.Revoke(certificate.Broker, "steady"); err != nil {
		v.Fatal(err)
	}
	before = v.north.Current()
	eventually(v, patience, "the list is read", func() bool { return v.north.Current() > before })
	err := outcome(s, v.hold("steady"))
	if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "certificate of bourse://atlas/broker/steady refused: serial ") {
		v.Errorf("%v", err)
	}
	if !v.log.has(`"cause":"certificate-revoked"`, "broker:steady: certificate of bourse://atlas/broker/steady refused") {
		v.Error("no line in the log")
	}
}

// fake is the remote of a peer that the process calls.
type fake struct {
	remote.UnimplementedRemotingServer
	mu     sync.Mutex
	got    []string // addressees of the parcels that it got
	answer *remote.RemoteMessage
}

func (f *fake) Receive(s grpc.BidiStreamingServer[remote.RemoteMessage, remote.RemoteMessage]) error {
	for {
		m, err := s.Recv()
		if err != nil {
			return err
		}
		if m.GetConnectRequest() != nil {
			if err := s.Send(f.answer); err != nil {
				return err
			}
		}
		f.mu.Lock()
		for _, e := range m.GetMessageBatch().GetEnvelopes() {
			f.got = append(f.got, addressee(e.MessageData))
		}
		f.mu.Unlock()
	}
}

func (f *fake) all() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.got...)
}

// serve listens as somebody.
func (v *town) serve(f *fake, c *tls.Config) string {
	v.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		v.Fatal(err)
	}
	if f.answer == nil {
		f.answer = &remote.RemoteMessage{MessageType: &remote.RemoteMessage_ConnectResponse{ConnectResponse: &remote.ConnectResponse{}}}
	}
	c.ClientAuth = tls.RequireAnyClientCert
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(c)))
	remote.RegisterRemotingServer(s, f)
	done := make(chan struct{})
	go func() { _ = s.Serve(l); close(done) }()
	v.Cleanup(func() { s.Stop(); <-done })
	return l.Addr().String()
}

func outbound(v *town) {
	to := func(address string, broker string) {
		id := agents.ID("broker:" + broker)
		v.carrier.carry(address, sealed(v, siteNorth, id, agents.Held{Leg: legOf(broker)}))
	}
	right := &fake{}
	at := v.serve(right, v.blind(v.issue(certificate.Broker, "vo1")))
	to(at, "vo1")
	eventually(v, patience, "a parcel arrives", func() bool { return len(right.all()) == 1 })
	to(at, "vo2") // gossip has it at the wrong address
	to(at, "vo1")
	eventually(v, patience, "the next parcel arrives", func() bool { return len(right.all()) == 2 })
	if got := right.all(); fmt.Sprint(got) != "[broker:vo1 broker:vo1]" {
		v.Errorf("broker:vo1 gets parcels to %q", got)
	}
	if !v.log.has(`"cause":"misdirected"`, `a parcel to \"broker:vo2\" is not sent to it`, "there is broker:vo1") {
		v.Error("no line in the log")
	}

	elsewhere, err := v.authority.Issue(certificate.Request{Role: certificate.Broker, Name: "vo3", Hosts: []string{"10.0.0.3"}})
	if err != nil {
		v.Fatal(err)
	}
	rubbish := &fake{answer: inBatch(&remote.MessageBatch{})}
	for _, c := range []struct {
		f    *fake
		as   certificate.Files
		line string
	}{
		{&fake{}, elsewhere.Files, "certificate of bourse://atlas/broker/vo3 refused: it is not for the host 127.0.0.1, only for [10.0.0.3]"},
		{&fake{}, v.issue(certificate.Site, "south"), "certificate of bourse://atlas/site/south refused: a site answers where a broker is meant"},
		{&fake{}, v.issue(certificate.User, "ana"), "certificate of bourse://atlas/user/ana refused: it does not allow this end"},
		{rubbish, v.issue(certificate.Broker, "vo4"), "it answers with something else than a greeting"},
	} {
		at := v.serve(c.f, v.blind(c.as))
		to(at, "vo3")
		eventually(v, patience, c.line, func() bool { return v.log.has(c.line, at) })
		if got := c.f.all(); len(got) > 0 {
			v.Errorf("%q are sent to %s", got, c.as.Certificate)
		}
		v.carrier.hangUp(at)
	}

	// The other end refuses: its words are in this process's log.
	far, err := certificate.Load(v.issue(certificate.Broker, "far"), certificate.Options{})
	if err != nil {
		v.Fatal(err)
	}
	at = v.serveStrict(far.Server(certificate.User))
	to(at, "far")
	eventually(v, patience, "a line in the log", func() bool {
		return v.log.has(`"cause":"certificate-refused-by-peer"`, "certificate of bourse://atlas/site/north refused: broker at "+at+" does not accept it (remote error: tls: bad certificate)")
	})
	v.carrier.hangUp(at)
}

// serveStrict listens as somebody who refuses this process.
func (v *town) serveStrict(c *tls.Config) string {
	v.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		v.Fatal(err)
	}
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(c)))
	remote.RegisterRemotingServer(s, &fake{})
	done := make(chan struct{})
	go func() { _ = s.Serve(l); close(done) }()
	v.Cleanup(func() { s.Stop(); <-done })
	return l.Addr().String()
}

func TestNewGuard_StandsForSitesAndBrokersOnly(t *testing.T) {
	t.Parallel()
	a, err := certificate.Init(filepath.Join(t.TempDir(), "ca"), "atlas", certificate.InitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	user, err := a.Issue(certificate.Request{Role: certificate.User, Name: "ana"})
	if err != nil {
		t.Fatal(err)
	}
	store, err := certificate.Load(user.Files, certificate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewGuard(GuardOptions{Store: store}); err == nil || !strings.Contains(err.Error(), "bourse ca issue --role site|broker") {
		t.Errorf("%v", err)
	}
	if _, err := NewGuard(GuardOptions{}); err == nil || !strings.Contains(err.Error(), "bourse ca issue") {
		t.Errorf("%v", err)
	}
}

// A site has a guard for each VO. To the guard of another VO, a broker of the same name is
// unknown.
func TestNewGuard_OfOneVOKnowsNobodyOfAnother(t *testing.T) {
	t.Parallel()
	guards, brokers := map[string]*Guard{}, map[string]*certificate.Store{}
	for _, vo := range []string{"atlas", "cms"} {
		a, err := certificate.Init(filepath.Join(t.TempDir(), vo), vo, certificate.InitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		member := func(role certificate.Role, name string) *certificate.Store {
			issued, err := a.Issue(certificate.Request{Role: role, Name: name, Hosts: []string{"127.0.0.1"}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := certificate.Load(issued.Files, certificate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		north := member(certificate.Site, "north")
		if guards[vo], err = NewGuard(GuardOptions{Store: north, VO: vo}); err != nil {
			t.Fatal(err)
		}
		if _, err := NewGuard(GuardOptions{Store: north, VO: "lhcb"}); err == nil || !strings.Contains(err.Error(), "must be of the VO lhcb") {
			t.Errorf("a certificate of %s does for another VO: %v", vo, err)
		}
		brokers[vo] = member(certificate.Broker, "main")
	}
	for vo, g := range guards {
		for of, b := range brokers {
			own, err := b.Client(certificate.Want{Role: certificate.Site, Name: "north"}).GetClientCertificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			p := peer{chain: []*x509.Certificate{own.Leaf}}
			if err := g.verify(&p); (err == nil) != (vo == of) {
				t.Errorf("broker main of %s at the guard of %s: %v", of, vo, err)
			}
		}
	}
}

// Plain text goes to and from this machine only, whatever the options say.
func TestGuard_PlainTextStaysOnLoopback(t *testing.T) {
	t.Parallel()
	g := plainGuard(siteNorth, zerolog.Nop())
	near := pair{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, &net.TCPAddr{IP: net.IPv6loopback, Port: 2}}
	far := pair{&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 2}}
	c := &guardedCredentials{g}
	if _, _, err := c.ServerHandshake(near); err != nil {
		t.Error(err)
	}
	if _, _, err := c.ServerHandshake(far); err == nil {
		t.Error("plain text from another machine")
	}
	if _, _, err := c.ClientHandshake(t.Context(), "10.0.0.2:2", far); err == nil || g.Stats()[NotPlain] != 2 {
		t.Error("plain text to another machine")
	}
	if _, left, b := g.batch(peer{name: "x"}, batchOf(t, &actor.Stop{})); b == nil || left != nil {
		t.Error("a plain peer stops actors")
	}
	if _, _, b := g.batch(peer{name: "x"}, batchOf(t, sealed(t, "broker:any", siteNorth, agents.Hold{Leg: legOf("any")}))); b != nil {
		t.Error(b)
	}
	for address, fine := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "localhost:1": true, "10.0.0.9:22": false, "example.org:1": false} {
		if b := answerable(peer{name: "x"}, address); (b == nil) != fine {
			t.Errorf("%s: %v", address, b)
		}
	}
}

// pair is a connection that has addresses only.
type pair struct{ local, far net.Addr }

func (p pair) LocalAddr() net.Addr              { return p.local }
func (p pair) RemoteAddr() net.Addr             { return p.far }
func (p pair) Close() error                     { return nil }
func (p pair) Read([]byte) (int, error)         { return 0, os.ErrClosed }
func (p pair) Write([]byte) (int, error)        { return 0, os.ErrClosed }
func (p pair) SetDeadline(time.Time) error      { return nil }
func (p pair) SetReadDeadline(time.Time) error  { return nil }
func (p pair) SetWriteDeadline(time.Time) error { return nil }
