package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// load loads the store of a member that the authority issues.
func load(t *testing.T, a *Authority, role Role, name string) *Store {
	t.Helper()
	s, err := Load(issue(t, a, role, name).Files, Options{Now: at(noon)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// handshake has two ends shake hands and say a word each way, and returns what each
// end ended with.
func handshake(t *testing.T, server, client *tls.Config) (atServer, atClient error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		raw, err := l.Accept()
		if err != nil {
			done <- err
			return
		}
		defer raw.Close()
		_ = raw.SetDeadline(time.Now().Add(2 * time.Minute))
		done <- word(tls.Server(raw, server))
	}()
	raw, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	_ = raw.SetDeadline(time.Now().Add(2 * time.Minute))
	atClient = word(tls.Client(raw, client))
	return <-done, atClient
}

func word(c *tls.Conn) error {
	if err := c.Handshake(); err != nil {
		return err
	}
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

// forge makes a certificate that no bourse ca would, signed by a key, and the
// configuration of a client that shows it and looks at nothing.
func forge(t *testing.T, parent *x509.Certificate, key any, change func(*x509.Certificate)) *tls.Config {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "mallory"},
		NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		URIs:        []*url.URL{{Scheme: "bourse", Host: "atlas", Path: "/site/north"}},
	}
	change(c)
	if parent == nil {
		parent, key = c, own
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &own.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: own}}}
}

func TestServer_LetsInMembersOfItsRolesAndNobodyElse(t *testing.T) {
	t.Parallel()
	a, other, sameName := newAuthority(t, "atlas"), newAuthority(t, "cms"), newAuthority(t, "atlas")
	broker := load(t, a, Broker, "b")
	server := broker.Server(Site)
	asked := func(a *Authority, role Role) *tls.Config {
		return load(t, a, role, "north").Client(Want{Role: Broker, Name: "b"})
	}
	if s, c := handshake(t, server, asked(a, Site)); s != nil || c != nil {
		t.Fatalf("a site of the VO: %v, %v", s, c)
	}
	blind := func(a *Authority, role Role) *tls.Config {
		own := load(t, a, role, "north").state.Load().own
		return &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{own}}
	}
	nothing := func(*x509.Certificate) {}
	for _, c := range []struct {
		name   string
		client *tls.Config
		cause  Cause
		line   string
	}{
		{"none", &tls.Config{InsecureSkipVerify: true}, "", "client didn't provide a certificate"},
		{"another VO", blind(other, Site), Foreign, "certificate of bourse://cms/site/north refused: no authority trusted here"},
		{"another authority of the same name", blind(sameName, Site), Foreign, "ca.pem on both ends"},
		{"self-signed", forge(t, nil, nil, nothing), Foreign, "bourse://atlas/site/north refused"},
		{"a user", blind(a, User), OtherRole, "a user may not speak here, only a site"},
		{"an operator", blind(a, Operator), OtherRole, "an operator may not speak here, only a site"},
		{"expired", forge(t, a.certificate, a.key, func(c *x509.Certificate) { c.NotAfter = noon.Add(-time.Minute) }), Expired, "it expired on 2027-03-01 11:59 UTC; at the authority of VO atlas: bourse ca issue --role site --name north --host"},
		{"not yet", forge(t, a.certificate, a.key, func(c *x509.Certificate) { c.NotBefore = noon.Add(time.Minute) }), NotYet, "clocks"},
		{"no URI", forge(t, a.certificate, a.key, func(c *x509.Certificate) { c.URIs = nil; c.DNSNames = []string{"north"} }), NoIdentity, `certificate of "mallory" (issued by "bourse authority of VO atlas") refused: it has 0 bourse:// URIs`},
		{"two URIs", forge(t, a.certificate, a.key, func(c *x509.Certificate) { c.URIs = append(c.URIs, c.URIs[0]) }), NoIdentity, "2 bourse:// URIs"},
		{"of another VO by our authority", forge(t, a.certificate, a.key, func(c *x509.Certificate) { c.URIs[0].Host = "cms" }), Foreign, "refused"},
		{"for servers only", forge(t, a.certificate, a.key, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), WrongUse, "this end"},
	} {
		s, cl := handshake(t, server, c.client)
		if cl == nil || !strings.Contains(cl.Error(), "remote error: tls: ") {
			t.Errorf("%s: the client goes on: %v", c.name, cl)
		}
		if s == nil || CauseOf(s) != c.cause || !strings.Contains(s.Error(), c.line) {
			t.Errorf("%s: %q (%s), want %s with %q", c.name, s, CauseOf(s), c.cause, c.line)
		}
	}
	old := asked(a, Site)
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if s, c := handshake(t, server, old); s == nil || c == nil {
		t.Error("TLS 1.2 is spoken")
	}
}

func TestClient_SpeaksOnlyToWhomItMeans(t *testing.T) {
	t.Parallel()
	a, other := newAuthority(t, "atlas"), newAuthority(t, "cms")
	site := load(t, a, Site, "north").Server(Broker)
	broker := load(t, a, Broker, "b")
	ok := Want{Role: Site, Name: "north", Host: "127.0.0.1"}
	if s, c := handshake(t, site, broker.Client(ok)); s != nil || c != nil {
		t.Fatalf("%v, %v", s, c)
	}
	blind := func(c *tls.Config) *tls.Config { // a server that lets anybody in
		c.ClientAuth = tls.RequireAnyClientCert
		return c
	}
	user := load(t, a, User, "ana").state.Load().own
	for _, c := range []struct {
		name   string
		server *tls.Config
		want   Want
		cause  Cause
		line   string
	}{
		{"another name", site, Want{Role: Site, Name: "south", Host: "127.0.0.1"}, OtherName, "bourse://atlas/site/north refused: it answers where site south is meant"},
		{"another role", site, Want{Role: Broker, Name: "north", Host: "127.0.0.1"}, OtherRole, "a site answers where a broker is meant"},
		{"another host", site, Want{Role: Site, Name: "north", Host: "10.0.0.5"}, OtherHost, "not for the host 10.0.0.5, only for [localhost 127.0.0.1]"},
		{"another VO", load(t, other, Site, "north").Server(Broker), ok, Foreign, "no authority trusted here"},
		{"a user", blind(&tls.Config{Certificates: []tls.Certificate{user}}), Want{Role: User, Name: "ana"}, WrongUse, "this end"},
		{"self-signed", blind(forge(t, nil, nil, func(*x509.Certificate) {})), ok, Foreign, "refused"},
		{"expired", blind(forge(t, a.certificate, a.key, func(c *x509.Certificate) { c.NotAfter = noon.Add(-time.Minute) })), ok, Expired, "it expired on"},
	} {
		s, cl := handshake(t, c.server, broker.Client(c.want))
		if cl == nil || CauseOf(cl) != c.cause || !strings.Contains(cl.Error(), c.line) {
			t.Errorf("%s: %q (%s), want %s with %q", c.name, cl, CauseOf(cl), c.cause, c.line)
		}
		if s == nil {
			t.Errorf("%s: the server goes on", c.name)
		}
	}
}

// TLS tells the refused end nothing but an alert.
func TestExplain_SaysAtBothEndsWhoseCertificateIsRefused(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	user := load(t, a, User, "ana")
	broker := load(t, a, Broker, "b")
	s, c := handshake(t, broker.Server(Site), user.Client(Want{Role: Broker, Name: "b"}))
	if got := broker.Explain(s, "10.0.0.7:5"); got != s || CauseOf(got) != OtherRole {
		t.Errorf("the end that refuses: %v", got)
	}
	got := user.Explain(c, "broker:b at 10.0.0.5:7001")
	if CauseOf(got) != ByPeer || !strings.Contains(got.Error(), "certificate of bourse://atlas/user/ana refused: broker:b at 10.0.0.5:7001 does not accept it") {
		t.Errorf("the end that is refused: %v", got)
	}
	user.now = at(noon.Add(2 * MemberValid))
	if got := user.Explain(c, "broker:b"); !strings.Contains(got.Error(), "it expired on") {
		t.Errorf("what can be seen from here is not said: %v", got)
	}
	if err := errors.New("no route"); user.Explain(err, "x") != err || user.Explain(nil, "x") != nil {
		t.Error("what is no refusal is explained")
	}
}

func TestStore_BarsAMemberThatIsListedByName(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	issue(t, a, Broker, "vo1")
	s, err := Load(In(a.dir, Broker, "vo1"), Options{Now: at(noon)})
	if err != nil {
		t.Fatal(err)
	}
	if s.Barred(User, "ana") {
		t.Error("barred without a list")
	}
	if err := os.WriteFile(a.path(revokedFile), []byte("user/ana\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = Load(In(a.dir, Broker, "vo1"), Options{Now: at(noon)}); err != nil || !s.Barred(User, "ana") || s.Barred(Operator, "ana") || s.Barred(User, "ben") {
		t.Errorf("%v: who is barred is not who is listed", err)
	}
}

func TestStore_ReadsAgainWhatHasChangedWithoutARestart(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	files := issue(t, a, Site, "north").Files
	clock := noon
	var lines []string
	site, err := Load(files, Options{Now: func() time.Time { return clock }, Log: func(s string) { lines = append(lines, s) }})
	if err != nil {
		t.Fatal(err)
	}
	before := site.state.Load().own.Leaf
	again := issue(t, a, Site, "north")
	if site.Current(); site.state.Load().own.Leaf != before {
		t.Error("looked twice in a second")
	}
	clock = clock.Add(pollEvery)
	if site.Current(); serialText(site.state.Load().own.Leaf) != again.Serial || len(lines) != 1 || !strings.Contains(lines[0], again.Serial) {
		t.Fatalf("not read again: %q", lines)
	}

	// A record that cannot be used leaves the old one in force and is reported once.
	for _, damage := range []func() error{
		func() error { return os.WriteFile(files.Certificate, []byte("nonsense"), 0o600) },
		func() error { return os.Remove(files.Certificate) },
		func() error {
			b, err := os.ReadFile(issue(t, a, Site, "south").Files.Certificate)
			if err != nil {
				return err
			}
			return os.WriteFile(files.Certificate, b, 0o600)
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		lines = nil
		for range 3 {
			clock = clock.Add(pollEvery)
			site.Current()
		}
		if serialText(site.state.Load().own.Leaf) != again.Serial || len(lines) != 1 || !strings.Contains(lines[0], "stay in force") {
			t.Errorf("%q", lines)
		}
	}
	third := issue(t, a, Site, "north")
	clock = clock.Add(pollEvery)
	if site.Current(); serialText(site.state.Load().own.Leaf) != third.Serial {
		t.Errorf("put right and not read: %q", lines)
	}
}

func TestStore_TrustsOldAndNewAuthorityWhileOneTakesTheOthersPlace(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	oldSite := load(t, a, Site, "north")
	oldBroker := load(t, a, Broker, "b")
	fresh, err := Init(a.dir, "atlas", InitOptions{Now: at(noon), Replace: true})
	if err != nil {
		t.Fatal(err)
	}
	newSite := load(t, fresh, Site, "south")
	if _, err := newSite.Verify(oldBroker.state.Load().authoritiesOf()); err != nil {
		t.Errorf("the new one does not know the old: %v", err)
	}
	// The old broker has not read the new ca.pem yet.
	if _, err := oldBroker.Verify(newSite.state.Load().authoritiesOf()); CauseOf(err) != Foreign {
		t.Errorf("%v", err)
	}
	oldBroker.now = at(noon.Add(pollEvery))
	if id, err := oldBroker.Verify(newSite.state.Load().authoritiesOf()); err != nil || id.Name != "south" {
		t.Errorf("after reading: %v, %v", id, err)
	}
	if id, err := oldBroker.Verify(oldSite.state.Load().authoritiesOf()); err != nil || id.Name != "north" {
		t.Errorf("after reading: %v, %v", id, err)
	}
}

// authoritiesOf is the chain that a member shows.
func (st *state) authoritiesOf() []*x509.Certificate { return []*x509.Certificate{st.own.Leaf} }

func TestStore_RefusesWhoIsRevoked(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	clock := noon
	site := issue(t, a, Site, "north")
	chain, err := readCertificates(site.Files.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	broker, err := Load(issue(t, a, Broker, "b").Files, Options{Now: func() time.Time { return clock }})
	if err != nil {
		t.Fatal(err)
	}
	serials, err := a.Revoke(Site, "north")
	if err != nil || len(serials) != 1 || serials[0] != site.Serial {
		t.Fatalf("%q, %v", serials, err)
	}
	clock = clock.Add(pollEvery)
	if _, err := broker.Verify(chain); CauseOf(err) != Revoked || !strings.Contains(err.Error(), site.Serial) {
		t.Errorf("%v", err)
	}
	again := issue(t, a, Site, "north")
	if chain, err = readCertificates(again.Files.Certificate); err != nil {
		t.Fatal(err)
	}
	if _, err := broker.Verify(chain); err != nil {
		t.Errorf("one issued later: %v", err)
	}
	if serials, err := a.Revoke(Site, "nobody"); err != nil || len(serials) != 0 {
		t.Errorf("%q, %v", serials, err)
	}
	list, err := os.ReadFile(a.path(revokedFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.path(revokedFile), append(list, "site/north\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(pollEvery)
	if _, err := broker.Verify(chain); CauseOf(err) != Revoked {
		t.Errorf("a member revoked by name: %v", err)
	}
	if _, err := Load(again.Files, Options{Now: at(noon)}); CauseOf(err) != Revoked {
		t.Errorf("starts with a certificate that all would refuse: %v", err)
	}
}

func TestLoad_RefusesWhatPeersWouldRefuse(t *testing.T) {
	t.Parallel()
	a, b := newAuthority(t, "atlas"), newAuthority(t, "atlas")
	f := issue(t, a, Site, "north").Files
	if _, err := Load(f, Options{Now: at(noon.Add(2 * MemberValid))}); CauseOf(err) != Expired || !strings.Contains(err.Error(), "site-north.pem") {
		t.Errorf("expired: %v", err)
	}
	g := f
	g.Authority = b.path(authorityFile)
	if _, err := Load(g, Options{Now: at(noon)}); CauseOf(err) != Foreign {
		t.Errorf("foreign: %v", err)
	}
	g = f
	g.Key = issue(t, a, Site, "south").Files.Key
	if _, err := Load(g, Options{Now: at(noon)}); err == nil || !strings.Contains(err.Error(), "is not the key of") {
		t.Errorf("another's key: %v", err)
	}
	g = f
	g.Authority = f.Certificate
	if _, err := Load(g, Options{Now: at(noon)}); err == nil || !strings.Contains(err.Error(), "of no authority") {
		t.Errorf("a member for an authority: %v", err)
	}
	if _, err := Load(In(a.dir, Site, "east"), Options{Now: at(noon)}); err == nil || !strings.Contains(err.Error(), "bourse ca issue makes it") {
		t.Errorf("none: %v", err)
	}
}

func TestStore_WarnsBeforeItsEnd(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	s := load(t, a, Site, "north")
	if w := s.Warning(); w != "" {
		t.Error(w)
	}
	s.now = at(s.Expires().Add(-29 * 24 * time.Hour))
	if w := s.Warning(); !strings.Contains(w, "expires in 696h0m0s, on 2028-02-29") || !strings.Contains(w, "bourse ca issue --role site --name north") {
		t.Error(w)
	}
	var lines []string
	s.log = func(line string) { lines = append(lines, line) }
	for h := range 49 {
		s.now = at(s.Expires().Add(-20*24*time.Hour + time.Duration(h)*time.Hour))
		s.Current()
	}
	if len(lines) != 3 || !strings.Contains(lines[2], "expires in 432h0m0s") {
		t.Errorf("%q", lines)
	}
	s.now = at(s.Expires().Add(time.Minute))
	if w := s.Warning(); !strings.Contains(w, "expired on") {
		t.Error(w)
	}
}
