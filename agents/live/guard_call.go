package live

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"google.golang.org/grpc/credentials"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live/members"
)

// lifeProtocol is the TLS protocol (ALPN) of a caller that only asks which life of an agent
// answers at an address. Both ends show certificates as always, and only the life is sent.
// Peers may ask, and other processes under the same name.
const lifeProtocol = "bourse-life"

// call asks which life of an agent answers at the address that gossip gives. It returns an
// error if nothing answers with a certificate of that agent for that host, and 0 for a
// build that does not say.
func (g *Guard) call(ctx context.Context, m members.Member) (life uint64, err error) {
	host, _, err := net.SplitHostPort(m.Address)
	if err != nil {
		return 0, err
	}
	c := g.store.Client(certificate.Want{Role: roleOf(m.Agent), Name: nameOf(m.Agent), Host: host})
	c.NextProtos = []string{lifeProtocol, "h2"}
	d := tls.Dialer{Config: c}
	conn, err := d.DialContext(ctx, "tcp", m.Address)
	if err != nil {
		return 0, g.store.Explain(err, string(m.Agent)+" at "+m.Address)
	}
	defer conn.Close()
	if until, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(until); err != nil {
			return 0, err
		}
	}
	if t, ok := conn.(*tls.Conn); !ok || t.ConnectionState().NegotiatedProtocol != lifeProtocol {
		return 0, nil
	}
	said, err := io.ReadAll(io.LimitReader(conn, 32))
	if err != nil {
		return 0, g.store.Explain(err, string(m.Agent)+" at "+m.Address)
	}
	return strconv.ParseUint(strings.TrimSpace(string(said)), 10, 64)
}

// server returns the TLS configuration for callers of this process.
func (g *Guard) server() *tls.Config {
	c := g.store.Server(g.peers)
	peers := c.VerifyConnection
	c.NextProtos = []string{lifeProtocol} // gRPC adds its own
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if s.NegotiatedProtocol == lifeProtocol {
			_, err := g.store.Caller(s.PeerCertificates, g.peers, roleOf(g.self))
			return err
		}
		return peers(s)
	}
	return c
}

// answer tells a caller which life this is, if that is what it asks; it then reports true,
// and the connection is over.
func (g *Guard) answer(conn net.Conn, info credentials.AuthInfo) (answered bool) {
	t, ok := info.(credentials.TLSInfo)
	if !ok || t.State.NegotiatedProtocol != lifeProtocol {
		return false
	}
	_, err := fmt.Fprintln(conn, g.life.Load())
	if err = errors.Join(err, conn.Close()); err != nil {
		g.log.Debug().Err(err).Msg("a call was not answered")
	}
	return true
}
