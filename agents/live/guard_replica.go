package live

import (
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
)

// Between the replicas of one agent a guard admits only replica messages: from a process
// with the certificate of the same agent, valid for the host that the configuration gives
// the replica it speaks as. No other member of the VO is admitted, not even another broker,
// and replica messages go nowhere else.

// siblings are the replicas of one agent, as a guard knows them.
type siblings struct {
	self  agents.ID
	group agents.ID            // the agent whose certificate all replicas have
	mu    sync.RWMutex         // of hosts
	hosts map[agents.ID]string // by replica; nil: plain text
}

// isAt records the host of a replica.
func (s *siblings) isAt(id agents.ID, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts != nil {
		s.hosts[id] = host
	}
	return nil
}

// NewReplicaGuard returns the guard of the replica self. others has host:port of the other
// replicas.
func NewReplicaGuard(o GuardOptions, self agents.ID, others map[agents.ID]string) (*Guard, error) {
	g, err := NewGuard(o)
	if err != nil {
		return nil, err
	}
	s := &siblings{self: self, group: g.self, hosts: map[agents.ID]string{}}
	for id, address := range others {
		if err := s.isAt(id, address); err != nil {
			return nil, err
		}
	}
	g.among(s)
	return g, nil
}

// plainReplicas is plainGuard for replicas.
func plainReplicas(self agents.ID, l zerolog.Logger) *Guard {
	name, _, _ := strings.Cut(nameOf(self), "/")
	g := plainGuard(agents.ID(certificate.Broker)+":"+agents.ID(name), l)
	g.among(&siblings{self: self, group: g.self})
	return g
}

// among makes the guard one between replicas.
func (g *Guard) among(s *siblings) {
	g.siblings, g.peers, g.self = s, certificate.Broker, s.self
	g.log = g.log.With().Str("of", string(s.self)).Logger()
}

// want returns whom a connection must reach.
func (g *Guard) want(host string) certificate.Want {
	w := certificate.Want{Role: g.peers, Host: host}
	if g.siblings != nil {
		w.Name = nameOf(g.siblings.group)
	}
	return w
}

// admits checks whether a member of the VO may connect here.
func (s *siblings) admits(id agents.ID) error {
	if s != nil && id != s.group {
		return fmt.Errorf("%s may not speak here, only replicas of %s", id, s.group)
	}
	return nil
}

// speaksAs checks the replica named as sender of a message against the certificate.
func (s *siblings) speaksAs(p peer, name string) *Breach {
	from := agents.ID(name)
	s.mu.RLock()
	host, known := s.hosts[from]
	s.mu.RUnlock()
	switch {
	case !strings.HasPrefix(name, replicaRole+":"+nameOf(s.group)+"/") || from == s.self || !known && s.hosts != nil:
		return &Breach{BadFrom, p.name, fmt.Sprintf("it speaks as %s, where only the other replicas of %s may speak", show(name), s.group)}
	case len(p.chain) > 0 && !certificate.For(p.chain[0], host):
		return &Breach{BadFrom, p.name, fmt.Sprintf("it speaks as %s, which is at %s, a host that its certificate is not for", show(name), host)}
	}
	return nil
}

// isAt reports whether the process of an agent is the addressee of a message.
func (g *Guard) isAt(to string, agent agents.ID) bool {
	if g.siblings != nil {
		return agent == g.siblings.group && strings.HasPrefix(to, replicaRole+":"+nameOf(agent)+"/")
	}
	return to == string(agent)
}

// sender returns the role of those who send to this process.
func (g *Guard) sender() string {
	if g.siblings != nil {
		return replicaRole
	}
	return string(g.peers)
}
