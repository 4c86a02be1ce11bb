package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/bourse-grid/bourse/agents/live/lines"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// NodeOptions say how a process takes part in a federation.
type NodeOptions struct {
	Name      agents.ID // the one agent by which others know this process: "site:north", "broker:vo1"
	Host      Local     // must hold that agent already
	Listen    string    // host:port for messages; port 0: a free one
	Advertise string    // host:port at which others reach it; "": as it listens
	Transport Transport // credentials and guard
	Plain     bool      // allows messages without a Transport and gossip without keys; on loopback only
	Gossip    gossip.Options

	// Known are the sites that a broker knows from an earlier life. Those that gossip does
	// not mention for a while are reported as having left.
	Known []agents.ID
	// Begins, if set, is the host. Its agents wait for Begin until its clock has been
	// compared with others.
	Begins *Host
	// Held says that the agent is replicated: this process gets no requests before Lead,
	// and others under its name are not rivals.
	Held bool
	Life uint64 // distinguishes this life from earlier ones; 0: the present Unix milliseconds
	Log  zerolog.Logger

	network network // for tests, in place of sockets; Plain and addresses may be left out
}

// network replaces sockets in tests.
type network interface {
	carrier(listen string, self members.Member, take func(proto.Message)) (carrier, error)
	gossip(listen string) (memberlist.Transport, error)
}

// Local is what a node needs from a Host.
type Local interface {
	Connect(Network)
	Deliver(*wire.Envelope) (taken bool)
	Tell(from, to agents.ID, m agents.Message) error
	Stop(context.Context) error
}

// Node is a process in a federation: a host, the links to other processes and the gossip
// that says where those are.
type Node struct {
	opt       NodeOptions
	directory *members.Directory
	links     *links
	lane      carrier
	gossip    *gossip.Gossip
	clocks    *clocks

	mu      sync.Mutex
	self    members.Member
	claims  map[string]*claim            // by node name in gossip: lives not believed yet
	deaths  map[string]*death            // by node name in gossip: lives that it has lost, and that may be well
	pending map[agents.ID]agents.Message // by site: what the broker must still be told
	seen    map[agents.ID]bool           // sites heard of since the start
	begun   time.Time

	word   sync.Mutex      // held while a piece of gossip is handled
	base   context.Context // of calls
	hangUp context.CancelFunc
	calls  chan struct{}       // limits the calls under way
	later  chan members.Member // a later process of this agent

	done    chan struct{}
	ends    sync.WaitGroup
	stopped atomic.Bool
	count   struct{ garbage, rivals, doubted uint64 } // under mu
	limiter lines.Limiter
}

// NodeStats are the counters of a node. Counts only grow.
type NodeStats struct {
	Links   LinkStats
	Members int    // agents that gossip knows to be alive, including this one
	Garbage uint64 // pieces of gossip that could not be read, or about nodes beyond the bound
	Rivals  uint64 // times that gossip reported another living process under this agent's name
	Doubted uint64 // times that nothing answered where gossip placed a life
	Health  int    // gossip's rating of this process: 0 is best, higher means too slow to answer in time
	Breaks  uint64 // connections to others that have ended, a few for each peer that went away
	Dead    uint64 // messages that the remote could not deliver

	Complaints map[gossip.Cause]uint64 // from gossip, such as packets under another key
}

// StartNode announces the host's agent to others, who need not be there yet, and connects
// it to them. It fails on invalid options and on addresses that are taken.
func StartNode(o NodeOptions) (*Node, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Life == 0 {
		o.Life = uint64(time.Now().UnixMilli())
	}
	n := &Node{opt: o, directory: members.New(), pending: map[agents.ID]agents.Message{}, seen: map[agents.ID]bool{}, done: make(chan struct{}),
		claims: map[string]*claim{}, deaths: map[string]*death{}, calls: make(chan struct{}, maxCalls), later: make(chan members.Member, 1), begun: time.Now()}
	n.base, n.hangUp = context.WithCancel(context.Background())
	n.links = newLinks(n.directory, o.Host.Deliver, o.Log)
	n.clocks = newClocks(n)
	n.links.clock = n.clocks
	if err := n.open(); err != nil {
		n.hangUp()
		return nil, err
	}
	n.links.start(n.lane)
	o.Host.Connect(n.links)
	if err := n.join(); err != nil {
		n.hangUp()
		n.links.stop()
		n.lane.close()
		return nil, err
	}
	n.ends.Go(n.remind)
	o.Log.Info().Str("agent", string(o.Name)).Str("address", n.Address()).Str("gossip", n.Gossip()).Uint64("life", o.Life).Msg("joined the federation")
	return n, nil
}

// check refuses invalid options.
func (o *NodeOptions) check() error {
	if err := members.CheckAgent(o.Name); err != nil {
		return err
	}
	if o.network != nil {
		return nil
	}
	if _, err := o.Gossip.Config(); err != nil {
		return err
	}
	if !o.Plain && (o.Transport.plain() || len(o.Gossip.Keys) == 0) {
		return errors.New("a process of a federation needs certificates and a gossip key, as `bourse ca` makes them; plain text is for loopback, when asked for")
	}
	for _, address := range []string{o.Listen, o.Advertise, o.Gossip.Listen, o.Gossip.Advertise} {
		if (o.Transport.plain() || len(o.Gossip.Keys) == 0) && address != "" && !loopback(address) {
			return fmt.Errorf("%s is not a loopback address: plain text is for 127.0.0.1 and [::1] only", address)
		}
	}
	return nil
}

// loopback reports whether an address is reachable only from this machine.
func loopback(address string) bool {
	a, err := net.ResolveTCPAddr("tcp", address)
	return err == nil && a.IP.IsLoopback()
}

// open makes the carrier.
func (n *Node) open() (err error) {
	if n.opt.network != nil {
		n.lane, err = n.opt.network.carrier(n.opt.Listen, members.Member{Agent: n.opt.Name, Life: n.opt.Life}, n.links.receive)
		n.clocks.connect(n.lane)
		return err
	}
	t := n.opt.Transport
	if t.plain() {
		t = plainGuard(n.opt.Name, n.opt.Log).Transport()
	}
	if t.begin != nil {
		t.begin(n.opt.Life)
	}
	c, err := startRemote(n.opt.Listen, n.opt.Advertise, t, n.opt.Log, n.links.receive, n.links.broken)
	n.lane = c
	n.clocks.connect(c)
	return err
}

// join begins to gossip.
func (n *Node) join() (err error) {
	n.self = members.Member{Agent: n.opt.Name, Address: n.lane.address(), Life: n.opt.Life, Oldest: wire.Oldest, Version: wire.Version}
	if n.opt.Begins != nil || n.opt.Held {
		n.self.Flags = members.Waiting
	}
	meta, err := n.self.Encode()
	if err != nil {
		return err
	}
	var transport memberlist.Transport
	o := n.opt.Gossip
	if n.opt.network != nil {
		if transport, err = n.opt.network.gossip(o.Listen); err != nil {
			return err
		}
		if o.Listen == "" {
			o.Listen = "127.0.0.1:0"
		}
	}
	n.gossip, err = gossip.Start(o, transport, n.self.Node(), meta, n.opt.Log.With().Str("lib", "memberlist").Logger(), n.hear)
	return err
}

// Address returns where others send messages.
func (n *Node) Address() string { return n.lane.address() }

// Gossip returns where others reach this process's gossip: a seed for them.
func (n *Node) Gossip() string { return n.gossip.Address() }

// announce tells all others about a change of this member. It waits at most a second for
// one of them to hear it; gossip continues either way.
func (n *Node) announce(change func(*members.Member)) error {
	n.mu.Lock()
	change(&n.self)
	meta, err := n.self.Encode()
	n.mu.Unlock()
	if err != nil {
		return err
	}
	return n.gossip.Announce(meta, time.Second)
}

// Lead sets whether this process leads the replicas of its agent, and since which term. If
// it does, others send it requests, and it tells the agent which sites there are. known are
// the sites that the agent expects from before.
func (n *Node) Lead(term uint64, yes bool, known []agents.ID) error {
	if yes {
		n.tellAll(known)
	}
	return n.announce(func(m *members.Member) {
		if m.Flags |= members.Waiting; yes {
			m.Flags &^= members.Waiting
			m.Term = term
		}
	})
}

// tellAll tells the broker which sites there are and, once gossip has had time to hear of
// them, which known ones are missing.
func (n *Node) tellAll(known []agents.ID) {
	n.mu.Lock()
	n.opt.Known = known
	late := time.Since(n.begun) > n.opt.Gossip.Settled()
	n.mu.Unlock()
	for _, m := range n.spokenTo() {
		if m.Flags&members.Idle == 0 {
			n.tell(m.Agent, agents.SiteJoined{Site: m.Agent})
		}
	}
	for _, site := range known {
		if m, there := n.directory.Find(site); late && (!there || m.Flags&members.Idle != 0) {
			n.tell(site, agents.SiteLeft{Site: site})
		}
	}
}

// Leave announces that this process is leaving, lets the host's agents finish what they
// have begun, says goodbye and shuts down. What was acknowledged is in the journals. Others
// repeat to the next life what they have sent in the meantime.
func (n *Node) Leave(ctx context.Context) error {
	if n.stopped.Swap(true) {
		return errors.New("the node has stopped already, or is about to")
	}
	if err := n.announce(func(m *members.Member) { m.Flags |= members.Leaving }); err != nil {
		n.opt.Log.Info().Err(err).Msg("nobody has heard that this process is leaving")
	}
	err := n.opt.Host.Stop(ctx)
	n.end(func() error { return n.gossip.Leave(time.Second) })
	return err
}

// Close shuts down without saying goodbye: to others this process will appear to have
// failed. It does not stop the host. It does nothing if the node is leaving.
func (n *Node) Close() {
	if !n.stopped.Swap(true) {
		n.end(n.gossip.Stop)
	}
}

func (n *Node) end(gossip func() error) {
	n.mu.Lock()
	n.claims, n.deaths = nil, nil // no more calls
	n.mu.Unlock()
	close(n.done)
	n.hangUp()
	n.ends.Wait()
	if err := gossip(); err != nil {
		n.opt.Log.Info().Err(err).Msg("gossip ended")
	}
	n.links.stop()
	n.lane.close()
}

// Members returns the agents that the node has heard of, in order of name.
func (n *Node) Members() []members.Member { return n.directory.Members() }

// Stats returns the node's counters.
func (n *Node) Stats() NodeStats {
	n.mu.Lock()
	s := NodeStats{Garbage: n.count.garbage, Rivals: n.count.rivals, Doubted: n.count.doubted}
	n.mu.Unlock()
	s.Garbage += n.directory.Beyond()
	s.Links, s.Members, s.Health = n.links.stats(), len(n.directory.Members()), n.gossip.Health()
	s.Complaints = n.gossip.Complaints()
	if c, ok := n.lane.(*remoteCarrier); ok {
		s.Breaks, s.Dead = c.breaks.Load(), c.dead.Load()
	}
	return s
}
