package live

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	grpcpeer "google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/bourse-grid/bourse/agents/certificate"
)

// guardedCredentials does the handshakes at both ends: TLS against the guard's store, or
// plain text on loopback without one.
type guardedCredentials struct{ g *Guard }

// Info returns the security protocol in use.
func (c *guardedCredentials) Info() credentials.ProtocolInfo {
	if c.g.store == nil {
		return insecure.NewCredentials().Info()
	}
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone returns c, which never changes.
func (c *guardedCredentials) Clone() credentials.TransportCredentials { return c }

// OverrideServerName does nothing, as the server's name is not used.
func (c *guardedCredentials) OverrideServerName(string) error { return nil }

// ClientHandshake accepts at an address only an agent of the role that this process talks
// to, with a certificate for that address. The agent's name is checked for every parcel.
func (c *guardedCredentials) ClientHandshake(ctx context.Context, address string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	g := c.g
	if g.store == nil {
		if err := g.onlyLoopback(raw); err != nil {
			return nil, nil, err
		}
		return insecure.NewCredentials().ClientHandshake(ctx, address, raw)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, err
	}
	other := string(g.peers) + " at " + address
	tls := credentials.NewTLS(g.store.Client(g.want(host)))
	conn, info, err := tls.ClientHandshake(ctx, address, raw)
	if err != nil {
		return nil, nil, g.handshake(other, err)
	}
	return &toldConn{conn, func(err error) error { return g.handshake(other, err) }}, info, nil
}

// ServerHandshake admits agents of the role that this process talks to.
func (c *guardedCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	g := c.g
	other := hostOf(raw)
	if !g.conns.enter(other) {
		b := &Breach{Crowded, other, "too many connections are being made at a time"}
		g.refuse(b)
		raw.Close()
		return nil, nil, b
	}
	defer g.conns.leave(other)
	if g.store == nil {
		if err := g.onlyLoopback(raw); err != nil {
			raw.Close()
			return nil, nil, err
		}
		return insecure.NewCredentials().ServerHandshake(raw)
	}
	heard := &heardConn{Conn: raw}
	conn, info, err := credentials.NewTLS(g.server()).ServerHandshake(heard)
	if errors.Is(err, io.EOF) && !heard.any {
		return nil, nil, err // a probe: nothing was sent
	}
	if err != nil {
		return nil, nil, g.handshake(other, err)
	}
	if g.answer(conn, info) {
		return nil, nil, credentials.ErrConnDispatched
	}
	name := other
	if t, ok := info.(credentials.TLSInfo); ok && len(t.State.PeerCertificates) > 0 {
		if id, err := certificate.Of(t.State.PeerCertificates[0]); err == nil {
			name = string(id.Agent())
		}
	}
	if !g.conns.admit(name) {
		b := &Breach{Crowded, name, "it has too many connections open"}
		g.refuse(b)
		conn.Close()
		return nil, nil, b
	}
	return &countedConn{Conn: conn, closed: func() { g.conns.close(name) }}, info, nil
}

// handshake counts and logs why a connection failed, and returns the reason.
func (g *Guard) handshake(other string, err error) error {
	err = g.store.Explain(err, other)
	b := &Breach{Cause: NoHandshake, Peer: other, What: err.Error()}
	switch cause := certificate.CauseOf(err); {
	case cause != "":
		b.Cause = Cause(certificateCause + string(cause))
	case strings.Contains(err.Error(), "didn't provide a certificate"):
		b.Cause = Cause(certificateCause + string(certificate.None))
		b.What = "it has shown no certificate; bourse ca issue makes one"
	case strings.Contains(err.Error(), "does not look like a TLS handshake"):
		b.What = "it speaks plain text, where TLS 1.3 with a certificate is spoken"
	}
	g.refuse(b)
	return err
}

// onlyLoopback refuses plain text to and from other machines.
func (g *Guard) onlyLoopback(conn net.Conn) error {
	for _, a := range []net.Addr{conn.LocalAddr(), conn.RemoteAddr()} {
		if t, ok := a.(*net.TCPAddr); !ok || !t.IP.IsLoopback() {
			b := &Breach{NotPlain, hostOf(conn), "plain text is spoken on loopback only"}
			g.refuse(b)
			return b
		}
	}
	return nil
}

// peer returns who is at the other end of a stream.
func (g *Guard) peer(ctx context.Context) (peer, error) {
	p, ok := grpcpeer.FromContext(ctx)
	if !ok {
		return peer{}, status.Error(codes.Unauthenticated, "nobody is at the other end")
	}
	if g.store == nil {
		return peer{name: "plain text from " + p.Addr.String()}, nil
	}
	t, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok {
		return peer{}, status.Error(codes.Unauthenticated, "no certificate; connect by TLS with one")
	}
	out := peer{name: p.Addr.String(), chain: t.State.PeerCertificates}
	return out, g.verify(&out)
}

// verify checks a peer's certificate against what is in force now.
func (g *Guard) verify(p *peer) error {
	p.number = g.store.Current()
	id, err := g.store.Caller(p.chain, g.peers)
	if err != nil {
		g.refuse(&Breach{Cause(certificateCause + string(certificate.CauseOf(err))), p.name, err.Error()})
		return status.Error(codes.Unauthenticated, err.Error())
	}
	p.agent, p.name = id.Agent(), string(id.Agent())
	if err := g.siblings.admits(p.agent); err != nil {
		g.refuse(&Breach{BadFrom, p.name, err.Error()})
		return status.Error(codes.PermissionDenied, err.Error())
	}
	return nil
}

// still verifies a peer again if its certificate has expired or the files of this process
// have changed since.
func (g *Guard) still(p *peer) error {
	if g.store == nil || g.store.Current() == p.number && !g.now().After(p.chain[0].NotAfter) {
		return nil
	}
	return g.verify(p)
}

// leafOf returns the certificate shown by the other end of a connection.
func leafOf(ctx context.Context) *x509.Certificate {
	p, ok := grpcpeer.FromContext(ctx)
	if !ok {
		return nil
	}
	if t, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(t.State.PeerCertificates) > 0 {
		return t.State.PeerCertificates[0]
	}
	return nil
}

func hostOf(c net.Conn) string {
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return host
}

// toldConn notices a refusal by the other end, which TLS 1.3 sends only after the
// handshake.
type toldConn struct {
	net.Conn
	told func(error) error
}

func (c *toldConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "remote error" {
		err = c.told(err)
	}
	return n, err
}

// heardConn records whether anything was received on it.
type heardConn struct {
	net.Conn
	any bool
}

func (c *heardConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.any = c.any || n > 0
	return n, err
}

// countedConn reports once when it is closed.
type countedConn struct {
	net.Conn
	once   sync.Once
	closed func()
}

func (c *countedConn) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

// Bounds on connections. All its sites call a restarted broker at once, and a link that
// retries every few seconds has some dying connections.
const (
	maxHandshakes     = 512 // at a time
	maxHandshakesOf   = 128 // from one host
	maxConnectionsOf  = 16  // of one agent
	maxConnectionsAll = 16384
)

// connBound bounds the number of open connections and of handshakes under way.
type connBound struct {
	mu          sync.Mutex
	shaking     int
	shakingFrom map[string]int
	open        int
	openOf      map[string]int
}

func (d *connBound) enter(host string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shaking >= maxHandshakes || d.shakingFrom[host] >= maxHandshakesOf {
		return false
	}
	if d.shakingFrom == nil {
		d.shakingFrom, d.openOf = map[string]int{}, map[string]int{}
	}
	d.shaking++
	d.shakingFrom[host]++
	return true
}

func (d *connBound) leave(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shaking--
	decrease(d.shakingFrom, host)
}

func (d *connBound) admit(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open >= maxConnectionsAll || d.openOf[name] >= maxConnectionsOf {
		return false
	}
	d.open++
	d.openOf[name]++
	return true
}

func (d *connBound) close(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
	decrease(d.openOf, name)
}

func decrease(m map[string]int, key string) {
	if m[key]--; m[key] == 0 {
		delete(m, key)
	}
}
