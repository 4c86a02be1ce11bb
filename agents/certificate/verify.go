package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// Verify returns who a calling peer is, from the certificates that it has shown, its own
// first. Every error is a *Refusal.
func (s *Store) Verify(chain []*x509.Certificate) (Identity, error) {
	return s.current().verify(s.now(), chain, x509.ExtKeyUsageClientAuth)
}

// verify checks a certificate by the authorities, the clock, the usage, the VO and the
// list of revoked certificates. Members are certified by the authority itself, so further
// certificates of a chain are ignored.
func (st *state) verify(now time.Time, chain []*x509.Certificate, usage x509.ExtKeyUsage) (Identity, error) {
	if len(chain) == 0 {
		return Identity{}, &Refusal{None, "a peer", "it has shown none", "give it one: bourse ca issue, in the folder of VO " + st.identity.VO + "'s authority"}
	}
	leaf := chain[0]
	id, err := Of(leaf)
	if err != nil {
		whose := fmt.Sprintf("%q (issued by %q)", leaf.Subject.CommonName, leaf.Issuer.CommonName)
		return Identity{}, &Refusal{NoIdentity, whose, err.Error(), "give its owner one made by bourse ca issue"}
	}
	refuse := func(cause Cause, what, remedy string) (Identity, error) {
		return Identity{}, &Refusal{cause, id.String(), what, remedy}
	}
	switch {
	case now.Before(leaf.NotBefore):
		return refuse(NotYet, fmt.Sprintf("it is valid from %s on and it is %s here", day(leaf.NotBefore), day(now)), "compare the clocks of both machines")
	case now.After(leaf.NotAfter):
		return refuse(Expired, "it expired on "+day(leaf.NotAfter), issueAgain(id))
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: st.roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}})
	if invalid := (x509.CertificateInvalidError{}); errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage {
		return refuse(WrongUse, "it does not allow this end of a connection", "use that of a site or broker where others call, of its owner where one calls")
	}
	if err != nil {
		return refuse(Foreign, fmt.Sprintf("no authority trusted here vouches for it (%v)", err), "have it issued by the authority of VO "+st.identity.VO+" (bourse ca issue), or compare ca.pem on both ends")
	}
	switch {
	case id.VO != st.identity.VO:
		return refuse(OtherVO, "this is VO "+st.identity.VO, "have one issued by the authority of VO "+st.identity.VO+": bourse ca issue")
	case st.revoked.holds(id, leaf):
		return refuse(Revoked, "serial "+serialText(leaf)+" is revoked", issueAgain(id)+", if it is still to be a member")
	}
	return id, nil
}

// Server is the configuration of an end that others call: TLS 1.3, every caller must show
// a certificate, and only members of these roles are let in. Each new handshake uses what
// the files then hold. Its errors are *Refusal.
func (s *Store) Server(roles ...Role) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		SessionTicketsDisabled: true, // every connection shows its certificate
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &s.current().own, nil },
		// Any certificate, because VerifyConnection checks it by what is then in
		// force, and says in words what is wrong.
		ClientAuth: tls.RequireAnyClientCert,
		VerifyConnection: func(c tls.ConnectionState) error {
			_, err := s.Caller(c.PeerCertificates, roles...)
			return err
		},
	}
}

// ServerOfAnybody is Server for an end that also lets in callers without a certificate, who
// show in another way who they are. A certificate that is shown must be valid.
func (s *Store) ServerOfAnybody(roles ...Role) *tls.Config {
	c := s.Server(roles...)
	c.ClientAuth = tls.RequestClientCert
	verify := c.VerifyConnection
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return nil
		}
		return verify(state)
	}
	return c
}

// TellRevoked changes the configuration of an end that answers each request by Caller again,
// and there in words: a member whose certificate is revoked, and otherwise in order, gets so
// far. TLS alone would tell it no more than "bad certificate".
func TellRevoked(c *tls.Config) *tls.Config {
	verify := c.VerifyConnection
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if err := verify(state); CauseOf(err) != Revoked {
			return err
		}
		return nil
	}
	return c
}

// Trusting is the configuration of an end that calls a member and shows no certificate of
// its own. It needs only the file of the VO's authorities.
func Trusting(authority string, w Want) (*tls.Config, error) {
	list, err := readCertificates(authority)
	if err != nil {
		return nil, missing(err, "copy ca.pem from the VO's authority")
	}
	st := &state{roots: x509.NewCertPool()}
	for i, c := range list {
		if voOf(c) == "" {
			return nil, fmt.Errorf("%s: certificate %d (%s) is of no authority made by bourse ca init", authority, i+1, c.Subject)
		}
		st.identity.VO = voOf(c)
		st.roots.AddCert(c)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, ServerName: w.Host, InsecureSkipVerify: true, // as in Client
		VerifyConnection: func(c tls.ConnectionState) error {
			_, err := st.called(time.Now(), c.PeerCertificates, w)
			return err
		}}, nil
}

// Caller is Verify for an end that lets in only members of these roles.
func (s *Store) Caller(chain []*x509.Certificate, roles ...Role) (Identity, error) {
	id, err := s.Verify(chain)
	if err == nil && !slices.Contains(roles, id.Role) {
		return Identity{}, &Refusal{OtherRole, id.String(), fmt.Sprintf("%s may not speak here, only %s", article(id.Role), either(roles)), "call another address, or use another certificate"}
	}
	return id, err
}

// article puts "a" or "an" before a role.
func article(r Role) string {
	if r == Operator {
		return "an " + string(r)
	}
	return "a " + string(r)
}

func either(roles []Role) string {
	var out string
	for i, r := range roles {
		switch {
		case i == 0:
		case i == len(roles)-1:
			out += " or "
		default:
			out += ", "
		}
		out += article(r)
	}
	return out
}

// Want says whom a caller means to reach: an agent by its name, or by a host that its
// certificate names. Name or Host may be empty, but not both.
type Want struct {
	Role Role
	Name string
	Host string // that it calls, without the port
}

// Client is the configuration of an end that calls: TLS 1.3, it shows its own certificate,
// and accepts only the peer that it means. Make one for each peer. Its errors are *Refusal.
func (s *Store) Client(w Want) *tls.Config {
	if w.Name == "" && w.Host == "" {
		panic("certificate: a caller must say by name or host whom it means")
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		ServerName: w.Host,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &s.current().own, nil
		},
		// VerifyConnection, which always runs, verifies instead of the library,
		// which knows neither identities nor reloads.
		InsecureSkipVerify: true,
		VerifyConnection: func(c tls.ConnectionState) error {
			_, err := s.Called(c.PeerCertificates, w)
			return err
		},
	}
}

// Called verifies that the peer that was called is the one meant.
func (s *Store) Called(chain []*x509.Certificate, w Want) (Identity, error) {
	return s.current().called(s.now(), chain, w)
}

func (st *state) called(now time.Time, chain []*x509.Certificate, w Want) (Identity, error) {
	id, err := st.verify(now, chain, x509.ExtKeyUsageServerAuth)
	if err != nil {
		return Identity{}, err
	}
	leaf := chain[0]
	switch {
	case id.Role != w.Role:
		return Identity{}, &Refusal{OtherRole, id.String(), fmt.Sprintf("a %s answers where a %s is meant", id.Role, w.Role), "correct the address"}
	case w.Name != "" && id.Name != w.Name:
		return Identity{}, &Refusal{OtherName, id.String(), fmt.Sprintf("it answers where %s %s is meant", w.Role, w.Name), "correct the address, or the certificate of who listens there"}
	case w.Host != "" && leaf.VerifyHostname(w.Host) != nil:
		return Identity{}, &Refusal{OtherHost, id.String(), fmt.Sprintf("it is not for the host %s, only for %s", w.Host, hosts(leaf)),
			fmt.Sprintf("call it at one of those, or %s", issueAgain(id))}
	}
	return id, nil
}

// For reports whether a certificate is for a host: a name or an address, without a port.
func For(c *x509.Certificate, host string) bool { return c.VerifyHostname(host) == nil }

func hosts(c *x509.Certificate) string {
	list := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		list = append(list, net.IP(ip).String())
	}
	return fmt.Sprint(list)
}
