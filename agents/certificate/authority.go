package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Default lifetimes.
const (
	AuthorityValid = 10 * 365 * 24 * time.Hour
	MemberValid    = 365 * 24 * time.Hour
)

// backdate is how long before it is made a certificate becomes valid, for machines whose
// clocks are behind.
const backdate = time.Hour

// maxHosts bounds the hosts of one certificate.
const maxHosts = 100

// Authority is a VO's certificate authority: a folder with its key, which is kept where no
// agent runs. Members get copies of ca.pem, of their own two files, of revoked.txt and,
// if they are agents, of gossip.key.
type Authority struct {
	dir         string
	vo          string
	certificate *x509.Certificate
	key         crypto.Signer
	now         func() time.Time
}

// InitOptions says how an authority is made.
type InitOptions struct {
	Valid   time.Duration    // of its certificate; 0: AuthorityValid
	Replace bool             // replace an existing one; its certificate stays trusted
	Now     func() time.Time // nil: time.Now
}

// Init makes the authority of a VO and the first key of the VO's gossip in a folder, which
// it makes if there is none. With Replace a new key and certificate replace the old ones.
// The old certificate stays second in ca.pem: members that have the new ca.pem trust both,
// until the old one is taken out of it.
func Init(dir, vo string, o InitOptions) (*Authority, error) {
	if err := validVO(vo); err != nil {
		return nil, err
	}
	a := &Authority{dir: dir, vo: vo, now: clock(o.Now)}
	if o.Valid == 0 {
		o.Valid = AuthorityValid
	}
	if o.Valid < 0 {
		return nil, fmt.Errorf("valid for %v; must be a positive time", o.Valid)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	bundle, err := a.replaced(o.Replace)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if a.certificate, err = selfSigned(vo, key, a.now(), o.Valid); err != nil {
		return nil, err
	}
	a.key = key
	encoded, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	if err := writeFile(a.path(keyFile), encoded, 0o600); err != nil {
		return nil, err
	}
	if err := writeFile(a.path(authorityFile), encodeCertificates(append([]*x509.Certificate{a.certificate}, bundle...)...), 0o644); err != nil {
		return nil, err
	}
	if err := refuseExisting(a.path(gossipFile)); err != nil {
		return a, nil // a key of the gossip outlives the authority
	}
	return a, newGossipKey(a.path(gossipFile))
}

// replaced returns the certificates that stay trusted beside the new one.
func (a *Authority) replaced(replace bool) ([]*x509.Certificate, error) {
	err := refuseExisting(a.path(keyFile), a.path(authorityFile))
	var exists *ExistsError
	if err == nil || !errors.As(err, &exists) || !replace {
		return nil, err
	}
	old, err := readCertificates(a.path(authorityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, c := range old {
		if vo := voOf(c); vo != a.vo {
			return nil, fmt.Errorf("%s is the authority of VO %s; use another folder for VO %s", a.path(authorityFile), vo, a.vo)
		}
	}
	return old, nil
}

// selfSigned makes the certificate of an authority. It can vouch only for members of its
// VO, and for no further authority.
func selfSigned(vo string, key *ecdsa.PrivateKey, now time.Time, valid time.Duration) (*x509.Certificate, error) {
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "bourse authority of VO " + vo},
		URIs:         []*url.URL{{Scheme: scheme, Host: vo}},
		NotBefore:    now.Add(-backdate), NotAfter: now.Add(valid),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage:                    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		PermittedURIDomains:         []string{vo},
		PermittedDNSDomainsCritical: true, // says that all constraints are critical
	}
	return sign(template, template, &key.PublicKey, key)
}

// OpenAuthority opens the authority in a folder, with its key. now may be nil: time.Now.
func OpenAuthority(dir string, now func() time.Time) (*Authority, error) {
	a := &Authority{dir: dir, now: clock(now)}
	bundle, err := readCertificates(a.path(authorityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no certificate authority in %s; bourse ca init --vo NAME --dir %s makes one", dir, shell(dir))
	}
	if err != nil {
		return nil, err
	}
	if a.key, err = readKey(a.path(keyFile)); err != nil {
		return nil, err
	}
	for _, c := range bundle {
		if sameKey(c.PublicKey, a.key) {
			a.certificate, a.vo = c, voOf(c)
			break
		}
	}
	if a.certificate == nil || validVO(a.vo) != nil {
		return nil, fmt.Errorf("%s has no certificate of an authority with the key %s", a.path(authorityFile), a.path(keyFile))
	}
	return a, nil
}

// VO is the name of the authority's VO.
func (a *Authority) VO() string { return a.vo }

// Dir is its folder.
func (a *Authority) Dir() string { return a.dir }

// Expires is the end of the authority itself. Nothing that it issues is valid for longer.
func (a *Authority) Expires() time.Time { return a.certificate.NotAfter }

func (a *Authority) path(file string) string { return filepath.Join(a.dir, file) }

// Request says what certificate to make.
type Request struct {
	Role    Role
	Name    string
	Hosts   []string      // names and addresses where an agent is called; none for users and operators
	Valid   time.Duration // 0: MemberValid, or what is left of the authority
	Replace bool          // replace existing files
}

// Issued is a certificate that was issued.
type Issued struct {
	Identity Identity
	Serial   string // hexadecimal
	Expires  time.Time
	Files    Files // not set in lists
	Revoked  bool  // set in lists only
}

// Issue makes a key and a certificate for a member, in the authority's folder. Sites,
// brokers and mirrors are certified for both ends of a connection, users and operators
// for the caller's only. If files of that name exist and Replace is not set, it returns an
// *ExistsError and does nothing.
func (a *Authority) Issue(r Request) (Issued, error) {
	id := Identity{VO: a.vo, Role: r.Role, Name: r.Name}
	if err := id.Valid(); err != nil {
		return Issued{}, err
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: commonName(id)},
		URIs:        []*url.URL{id.uri()},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if r.Role.serves() {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if err := setHosts(template, r); err != nil {
		return Issued{}, err
	}
	if err := a.setValidity(template, r.Valid); err != nil {
		return Issued{}, err
	}
	files := In(a.dir, r.Role, r.Name)
	if !r.Replace {
		if err := refuseExisting(files.Certificate, files.Key); err != nil {
			return Issued{}, err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Issued{}, err
	}
	if template.SerialNumber, err = newSerial(); err != nil {
		return Issued{}, err
	}
	c, err := sign(template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return Issued{}, err
	}
	encoded, err := encodeKey(key)
	if err != nil {
		return Issued{}, err
	}
	out := Issued{Identity: id, Serial: serialText(c), Expires: c.NotAfter, Files: files}
	// On the list first, so that whatever was given out can be revoked.
	if err := a.enlist(out); err != nil {
		return Issued{}, err
	}
	if err := writeFile(files.Key, encoded, 0o600); err != nil {
		return Issued{}, err
	}
	return out, writeFile(files.Certificate, encodeCertificates(c), 0o644)
}

// setHosts puts the hosts of a request into a certificate.
func setHosts(c *x509.Certificate, r Request) error {
	switch {
	case !r.Role.serves() && len(r.Hosts) > 0:
		return fmt.Errorf("%s is called at no host; leave --host out", article(r.Role))
	case r.Role.serves() && len(r.Hosts) == 0:
		return fmt.Errorf("a %s is called by others; give --host NAME-OR-ADDRESS, with commas between several", r.Role)
	case len(r.Hosts) > maxHosts:
		return fmt.Errorf("%d hosts; must be at most %d", len(r.Hosts), maxHosts)
	}
	for _, h := range r.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
			continue
		}
		if err := validHost(h); err != nil {
			return err
		}
		c.DNSNames = append(c.DNSNames, h)
	}
	return nil
}

// validHost checks that a name can be a host's. Wildcards are refused.
func validHost(name string) error {
	for label := range strings.SplitSeq(name, ".") {
		odd := func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
		}
		if label == "" || len(label) > 63 || len(name) > 253 || strings.ContainsFunc(label, odd) || strings.Trim(label, "-") != label {
			return fmt.Errorf("%q is no host; must be a name such as north.example or an address such as 10.0.0.5, without a port", name)
		}
	}
	return nil
}

// setValidity bounds the validity of a certificate by that of the authority.
func (a *Authority) setValidity(c *x509.Certificate, valid time.Duration) error {
	now := a.now()
	left := a.certificate.NotAfter.Sub(now)
	switch {
	case left <= 0:
		return fmt.Errorf("the authority of VO %s expired on %s; bourse ca init --vo %s --dir %s --replace makes a new one beside it", a.vo, day(a.certificate.NotAfter), a.vo, shell(a.dir))
	case valid < 0:
		return fmt.Errorf("valid for %v; must be a positive time", valid)
	case valid > left:
		return fmt.Errorf("valid for %d days; the authority itself has %d left", int(valid.Hours()/24), int(left.Hours()/24))
	case valid == 0:
		valid = min(MemberValid, left)
	}
	c.NotBefore, c.NotAfter = now.Add(-backdate), now.Add(valid)
	return nil
}

// commonName shows a member to people. Nothing is decided by it. The field holds 64
// characters.
func commonName(i Identity) string {
	name := string(i.Agent())
	if r := []rune(name); len(r) > 64 {
		return string(r[:64])
	}
	return name
}

func sign(template, parent *x509.Certificate, public any, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// newSerial draws 127 random bits: RFC 5280 allows up to 159, and requires unique ones.
func newSerial() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return n.Add(n, big.NewInt(1)), nil
}

// voOf is the VO of an authority's certificate, "" if it is not one.
func voOf(c *x509.Certificate) string {
	if !c.IsCA || len(c.URIs) != 1 || c.URIs[0].Scheme != scheme || c.URIs[0].Path != "" {
		return ""
	}
	return c.URIs[0].Host
}

func sameKey(public any, key crypto.Signer) bool {
	p, ok := public.(interface{ Equal(crypto.PublicKey) bool })
	return ok && p.Equal(key.Public())
}

func clock(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
