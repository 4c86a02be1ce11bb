package live

import (
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/wire"
)

// PeersOptions say where the other replicas of an agent are.
type PeersOptions struct {
	Self      agents.ID            // this replica, which the host holds already
	Others    map[agents.ID]string // by replica, host:port
	Host      *Host
	Listen    string // host:port for the other replicas alone
	Advertise string // host:port at which they reach it; "": as it listens
	Transport Transport
	Plain     bool // no encryption; on loopback only
	Log       zerolog.Logger
}

// Peers carries messages between the replicas of one agent, apart from all that goes
// between brokers and sites: it has a listener, links and a guard of its own, and knows by
// its configuration who is where.
type Peers struct {
	links *links
	lane  *remoteCarrier
}

// StartPeers listens, and connects the host's replica to the others.
func StartPeers(o PeersOptions) (*Peers, error) {
	if !o.Plain && o.Transport.plain() {
		return nil, errors.New("replicas need the certificate of their agent, as `bourse ca` makes it; plain text is for loopback, when asked for")
	}
	t := o.Transport
	if t.plain() {
		if !loopback(o.Listen) {
			return nil, fmt.Errorf("%s is not a loopback address: plain text is for 127.0.0.1 and [::1] only", o.Listen)
		}
		t = plainReplicas(o.Self, o.Log).Transport()
	}
	d := newDirectory()
	for id, address := range o.Others {
		d.hear(Member{Agent: id, Address: address, Life: 1, Oldest: wire.Oldest, Version: wire.Version}, true)
	}
	p := &Peers{links: newLinks(d, o.Host.Deliver, o.Log)}
	var err error
	if p.lane, err = startRemote(o.Listen, o.Advertise, t, o.Log, p.links.receive, p.links.broken); err != nil {
		return nil, err
	}
	p.links.start(p.lane)
	o.Host.ConnectReplicas(p.links)
	return p, nil
}

// Address is where other replicas reach this one.
func (p *Peers) Address() string { return p.lane.address() }

// Stats returns what the links have counted.
func (p *Peers) Stats() LinkStats { return p.links.stats() }

// Close ends all links.
func (p *Peers) Close() {
	p.links.stop()
	p.lane.close()
}
