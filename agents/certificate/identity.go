package certificate

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// scheme is that of the URIs that name members.
const scheme = "bourse"

// maxName bounds a member's name, in bytes, as configuration files do.
const maxName = 100

// Role is what a member of a VO may be.
type Role string

// The roles. Sites and brokers are agents and speak to each other; users and
// operators speak to the web API of agents.
const (
	Site     Role = "site"
	Broker   Role = "broker"
	User     Role = "user"
	Operator Role = "operator"
	Mirror   Role = "mirror" // keeps the journals of agents on another host
)

// Roles lists the roles in the order of the documentation.
var Roles = []Role{Site, Broker, User, Operator, Mirror}

// ParseRole reads a role's name.
func ParseRole(s string) (Role, error) {
	for _, r := range Roles {
		if s == string(r) {
			return r, nil
		}
	}
	return "", fmt.Errorf("%q is no role; there are site, broker, user, operator and mirror", s)
}

// serves reports whether members of this role listen for others.
func (r Role) serves() bool { return r == Site || r == Broker || r == Mirror }

// Identity is a member of a VO.
type Identity struct {
	VO   string
	Role Role
	Name string
}

// String shows the identity as its URI, bourse://VO/ROLE/NAME.
func (i Identity) String() string { return i.uri().String() }

func (i Identity) uri() *url.URL {
	return &url.URL{
		Scheme:  scheme,
		Host:    i.VO,
		Path:    "/" + string(i.Role) + "/" + i.Name,
		RawPath: "/" + string(i.Role) + "/" + url.PathEscape(i.Name),
	}
}

// Agent is the address of the member among agents, such as "site:north".
func (i Identity) Agent() agents.ID { return agents.ID(string(i.Role) + ":" + i.Name) }

// Valid says what is wrong with an identity, nil if nothing is.
func (i Identity) Valid() error {
	if err := validVO(i.VO); err != nil {
		return err
	}
	if _, err := ParseRole(string(i.Role)); err != nil {
		return err
	}
	return validName(i.Name)
}

// validVO checks that a VO's name can be the host of a URI, so that an authority can be
// confined to it.
func validVO(name string) error {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.')
	}
	if name == "" || len(name) > 63 || strings.ContainsFunc(name, odd) || strings.Contains(name, "..") ||
		strings.Trim(name, "-.") != name || net.ParseIP(name) != nil {
		return fmt.Errorf("%q: the name of a VO is 1 to 63 letters, digits, hyphens and dots, such as atlas or physics.example", name)
	}
	return nil
}

// validName checks that configuration files accept a member's name.
func validName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("%q: must be a name of 1 to %d characters", name, maxName)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("%q: a name must not begin or end with a blank", name)
	}
	return grid.CheckText(name)
}

// errNotOurs says that a URI has another scheme: it is no identity, and does no harm.
var errNotOurs = errors.New("not a bourse:// URI")

// ParseIdentity reads a URI bourse://VO/ROLE/NAME. An identity has one spelling, that of
// String. Any other is an error.
func ParseIdentity(s string) (Identity, error) {
	u, err := url.Parse(s)
	if err != nil {
		return Identity{}, fmt.Errorf("%q is no URI: %w", s, err)
	}
	if u.Scheme != scheme {
		return Identity{}, fmt.Errorf("%q: %w", s, errNotOurs)
	}
	role, name, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	if name, err = url.PathUnescape(name); err != nil {
		return Identity{}, fmt.Errorf("%q: %w", s, err)
	}
	i := Identity{VO: u.Host, Role: Role(role), Name: name}
	if err := i.Valid(); err != nil {
		return Identity{}, fmt.Errorf("%s: %w", s, err)
	}
	if i.String() != s {
		return Identity{}, fmt.Errorf("%q: must be bourse://VO/ROLE/NAME, here %s", s, i)
	}
	return i, nil
}

// Of returns the identity in a certificate, which must have exactly one URI of scheme
// bourse. It does not say whether the certificate can be trusted; Store.Verify does.
func Of(c *x509.Certificate) (Identity, error) {
	var found []Identity
	for _, u := range c.URIs {
		i, err := ParseIdentity(u.String())
		if errors.Is(err, errNotOurs) {
			continue
		}
		if err != nil {
			return Identity{}, err
		}
		found = append(found, i)
	}
	if len(found) != 1 {
		return Identity{}, fmt.Errorf("it has %d bourse:// URIs; must be exactly one", len(found))
	}
	return found[0], nil
}
