package live

import (
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

// PeersOptions say where the other replicas of an agent are.
type PeersOptions struct {
	Self      agents.ID            // this replica, which the host must hold already
	Others    map[agents.ID]string // by replica, host:port
	Host      *Host
	Listen    string // host:port for the other replicas only
	Advertise string // host:port at which they reach it; "": as it listens
	Guard     *Guard // from NewReplicaGuard; nil: plain text
	Plain     bool   // no encryption; on loopback only
	Log       zerolog.Logger
}

// Peers carries messages between the replicas of one agent, separate from all traffic
// between brokers and sites. It has its own listener, links and guard. It knows from its
// configuration where each replica is, and from the group's records where later members
// are.
type Peers struct {
	opt       PeersOptions
	guard     *Guard
	directory *members.Directory
	links     *links
	lane      *remoteCarrier
}

// StartPeers listens, and connects the host's replica to the others.
func StartPeers(o PeersOptions) (*Peers, error) {
	if !o.Plain && o.Guard == nil {
		return nil, errors.New("replicas need the certificate of their agent, as `bourse ca` makes it; plain text is for loopback, when asked for")
	}
	d := members.New()
	p := &Peers{opt: o, guard: o.Guard, directory: d, links: newLinks(d, o.Host.Deliver, o.Log)}
	if p.guard == nil {
		if !loopback(o.Listen) {
			return nil, fmt.Errorf("%s is not a loopback address: plain text is for 127.0.0.1 and [::1] only", o.Listen)
		}
		p.guard = plainReplicas(o.Self, o.Log)
	}
	for id, address := range o.Others {
		p.isAt(id, address)
	}
	var err error
	if p.lane, err = startRemote(o.Listen, o.Advertise, p.guard.Transport(), o.Log, p.links.receive, p.links.broken); err != nil {
		return nil, err
	}
	p.links.start(p.lane)
	o.Host.connectReplicas(p.links, p.know)
	return p, nil
}

// isAt records where a replica is.
func (p *Peers) isAt(id agents.ID, address string) {
	p.directory.Hear(members.Member{Agent: id, Address: address, Life: 1, Oldest: wire.Oldest, Version: wire.Version}, true)
}

// know records where members are that the configuration does not name.
func (p *Peers) know(list []grid.ReplicaMember) {
	for _, m := range list {
		id := agents.ID(m.Address)
		if _, named := p.opt.Others[id]; named || id == p.opt.Self || m.Endpoint == "" {
			continue
		}
		if err := p.guard.siblings.isAt(id, m.Endpoint); err != nil {
			p.opt.Log.Error().Err(err).Msg("a replica that has come cannot be reached")
			continue
		}
		p.isAt(id, m.Endpoint)
	}
}

// Address returns where other replicas reach this one.
func (p *Peers) Address() string { return p.lane.address() }

// Stats returns the counters of the links.
func (p *Peers) Stats() LinkStats { return p.links.stats() }

// Close ends all links.
func (p *Peers) Close() {
	p.links.stop()
	p.lane.close()
}
