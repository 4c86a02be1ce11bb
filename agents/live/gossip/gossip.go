package gossip

import (
	"bytes"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log"
	"maps"
	"math/bits"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"
)

// Options say how a process finds the others of its VO.
type Options struct {
	Listen    string   // host:port, for TCP and UDP; port 0: a free one
	Advertise string   // host:port at which others reach it; "": as it listens
	Seeds     []string // host:port of some other members; for the first process none needs to answer
	Label     string   // of the VO: gossip with another label is ignored
	Keys      [][]byte // 32 bytes each; the first encrypts, all decrypt, so that keys can be changed process by process
	Profile   string   // "lan", the default, or "fast": detects failures in 1 s instead of 10, with ten times the packets
}

// keySize is the key size of AES-256.
const keySize = 32

// Gossip announces this process to others and hears of them.
type Gossip struct {
	list *memberlist.Memberlist
	log  zerolog.Logger
	said *complaints
	hear func(node string, meta []byte, alive bool)

	mu    sync.Mutex
	meta  []byte
	news  map[string]rumour   // by node: the latest from memberlist that hear has not been told
	known map[string]string   // address of each living node
	lost  map[string]struct{} // addresses of nodes that failed and have not come back, to look for

	wake  chan struct{}
	done  chan struct{}
	ends  sync.WaitGroup
	draw  *rand.Rand // used only by look
	name  string     // of this process
	own   string     // address of this process's gossip
	seeds []string
	first time.Duration // between the first two looks for others
	again time.Duration // between two looks later on
}

// rumour is the latest from memberlist about a node.
type rumour struct {
	meta  []byte
	addr  string
	alive bool
	left  bool // the node itself has said that it leaves
}

// Start announces this process and keeps looking for the seeds; at the start none
// needs to be there. hear is called with each piece of gossip about others and about this
// process, one at a time.
func Start(o Options, transport memberlist.Transport, name string, meta []byte, l zerolog.Logger, hear func(node string, meta []byte, alive bool)) (*Gossip, error) {
	g := &Gossip{log: l, hear: hear, meta: meta, news: map[string]rumour{}, known: map[string]string{}, lost: map[string]struct{}{},
		wake: make(chan struct{}, 1), done: make(chan struct{}), name: name, seeds: o.Seeds, draw: rand.New(rand.NewChaCha8(seed()))}
	c, err := o.Config()
	if err != nil {
		return nil, err
	}
	g.said = &complaints{log: l, counts: map[Cause]uint64{}}
	c.Name, c.Transport, c.Delegate, c.Events, c.Logger = name, transport, g, g, log.New(g.said, "", 0)
	if transport == nil {
		streams, port, err := newGossipStreams(c, c.Logger)
		if err != nil {
			return nil, fmt.Errorf("gossip at %s: %w", o.Listen, err)
		}
		if c.Transport = streams; c.BindPort == 0 {
			c.BindPort, c.AdvertisePort = port, port
		}
	}
	g.first, g.again = 2*c.GossipInterval, min(2*c.PushPullInterval, 10*time.Second)
	if g.list, err = memberlist.Create(c); err != nil {
		if transport == nil {
			_ = c.Transport.Shutdown()
		}
		return nil, fmt.Errorf("gossip at %s: %w", o.Listen, err)
	}
	g.own = g.list.LocalNode().Address()
	g.ends.Go(g.tell)
	go g.look()
	return g, nil
}

// seed draws from the system's randomness.
func seed() (s [32]byte) {
	_, _ = crand.Read(s[:]) // it never fails
	return s
}

// Config converts the options for memberlist.
func (o Options) Config() (*memberlist.Config, error) {
	c := memberlist.DefaultLANConfig()
	switch o.Profile {
	case "", "lan":
	case "fast":
		c = memberlist.DefaultLocalConfig() // repeats everything fewer times than on a LAN
		c.ProbeInterval, c.ProbeTimeout = 100*time.Millisecond, 50*time.Millisecond
		c.GossipInterval, c.PushPullInterval = 50*time.Millisecond, time.Second // more often finds no failure sooner
		c.SuspicionMult = 3                                                     // the smallest value that waits for a second opinion
	default:
		return nil, fmt.Errorf("gossip profile %q is none; there are lan and fast", o.Profile)
	}
	c.EnableCompression = false // costs more than it saves for packets this small
	if c.Label = o.Label; o.Label == "" {
		return nil, errors.New("gossip needs the name of the VO for its label")
	}
	var err error
	if c.BindAddr, c.BindPort, err = hostPort(o.Listen); err != nil {
		return nil, fmt.Errorf("gossip cannot listen at %q: %w", o.Listen, err)
	}
	c.AdvertisePort = c.BindPort
	if o.Advertise != "" {
		if c.AdvertiseAddr, c.AdvertisePort, err = hostPort(o.Advertise); err != nil {
			return nil, fmt.Errorf("gossip cannot advertise %q: %w", o.Advertise, err)
		}
	}
	for _, key := range o.Keys {
		if len(key) != keySize {
			return nil, fmt.Errorf("a gossip key has %d bytes instead of %d", len(key), keySize)
		}
	}
	if len(o.Keys) == 0 {
		return c, nil // StartNode allows this only on loopback
	}
	c.Keyring, err = memberlist.NewKeyring(o.Keys, o.Keys[0])
	return c, err
}

// hostPort splits an address into IP address and port. A name is looked up, as gossip only
// uses addresses.
func hostPort(address string) (string, int, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return "", 0, err
	}
	if a.IP == nil {
		return "0.0.0.0", a.Port, nil
	}
	return a.IP.String(), a.Port, nil
}

// Settled returns how long gossip may take to report a site that a broker knows from an
// earlier life: until news has spread and a newcomer has found the others.
func (o Options) Settled() time.Duration {
	if o.Profile == "fast" {
		return 2 * time.Second
	}
	return 15 * time.Second
}

// Complaints returns the number of complaints by cause.
func (g *Gossip) Complaints() map[Cause]uint64 { return g.said.all() }

// Health is memberlist's own score of how well this process keeps up: 0 is best.
func (g *Gossip) Health() int { return g.list.GetHealthScore() }

// Living is how many processes memberlist takes for alive, this one among them.
func (g *Gossip) Living() int { return g.list.NumMembers() }

// Address returns where others reach this process's gossip.
func (g *Gossip) Address() string { return g.own }

// Announce spreads new metadata of this process. It returns once some node has it, or after
// the time within.
func (g *Gossip) Announce(meta []byte, within time.Duration) error {
	g.mu.Lock()
	g.meta = meta
	g.mu.Unlock()
	return g.list.UpdateNode(within)
}

// Leave says goodbye, waits at most within until some node has heard it, and stops.
func (g *Gossip) Leave(within time.Duration) error {
	return errors.Join(g.list.Leave(within), g.Stop())
}

// Stop stops without saying goodbye: to others this process will appear to have failed.
func (g *Gossip) Stop() error {
	close(g.done)
	g.ends.Wait() // not for look: a join under way may last as long as memberlist's timeout
	return g.list.Shutdown()
}

// The callbacks of memberlist run under its lock, so they only pass things on.

// NotifyJoin passes on that a node is alive.
func (g *Gossip) NotifyJoin(n *memberlist.Node) { g.note(n, true) }

// NotifyUpdate passes on that a node's metadata has changed.
func (g *Gossip) NotifyUpdate(n *memberlist.Node) { g.note(n, true) }

// NotifyLeave passes on that a node has left or failed.
func (g *Gossip) NotifyLeave(n *memberlist.Node) { g.note(n, false) }

func (g *Gossip) note(n *memberlist.Node, alive bool) {
	g.mu.Lock()
	g.news[n.Name] = rumour{meta: bytes.Clone(n.Meta), addr: n.Address(), alive: alive, left: n.State == memberlist.StateLeft}
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// NodeMeta returns the metadata of this process.
func (g *Gossip) NodeMeta(int) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.meta
}

// NotifyMsg ignores what is not part of membership.
func (*Gossip) NotifyMsg([]byte) {}

// GetBroadcasts adds nothing to the membership.
func (*Gossip) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState adds nothing to the membership.
func (*Gossip) LocalState(bool) []byte { return nil }

// MergeRemoteState ignores what is not part of membership.
func (*Gossip) MergeRemoteState([]byte, bool) {}

// maxLost bounds how many lost nodes are looked for. Others come back through seeds.
const maxLost = 64

// tell hands on what has been heard, in order of node names. Gossip about this process
// comes first, so that another process under its name is recognised as such.
func (g *Gossip) tell() {
	for {
		select {
		case <-g.wake:
		case <-g.done:
			return
		}
		g.mu.Lock()
		news := g.news
		g.news = map[string]rumour{}
		for node, r := range news {
			if r.alive {
				g.known[node] = r.addr
				delete(g.lost, r.addr)
			} else if delete(g.known, node); !r.left && len(g.lost) < maxLost {
				g.lost[r.addr] = struct{}{}
			}
		}
		g.mu.Unlock()
		if own, ok := news[g.name]; ok {
			g.hear(g.name, own.meta, own.alive)
			delete(news, g.name)
		}
		for _, node := range slices.Sorted(maps.Keys(news)) {
			g.hear(node, news[node].meta, news[node].alive)
		}
	}
}

// look joins the seeds, and joins again whenever a seed or a failed node is not alive;
// otherwise the sides of a partition would stay apart. A newcomer also asks some nodes that
// it has heard of, at doubling intervals: the first one may have been as new as itself, and
// gossip misses a few.
func (g *Gossip) look() {
	wait := g.first
	for said := false; ; {
		again := g.again * lookFactor(g.list.NumMembers())
		whom, found := g.missing(), g.list.NumMembers() > 1
		if len(whom) == 0 && wait < again {
			whom = g.anybody()
		}
		for _, addr := range whom {
			_, err := g.list.Join([]string{addr})
			if found = found || err == nil; err == nil {
				break // it tells the others
			}
			if g.over() {
				return
			}
		}
		if len(whom) > 0 && !found && !said {
			g.log.Warn().Strs("seeds", g.seeds).Msg("nobody answers at the gossip seeds: trying on in the background")
			said = true
		}
		wait = min(2*wait, again)
		select {
		case <-time.After(wait + time.Duration(g.draw.Int64N(int64(wait/4)))):
		case <-g.done:
			return
		}
	}
}

func (g *Gossip) over() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// anybody returns the address of one living node, if any is known.
func (g *Gossip) anybody() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, addr := range g.known { // map order is random enough
		if addr != g.own {
			return []string{addr}
		}
	}
	return nil
}

// lookFactor is how much less often a process looks for others if there are many, since in
// each look two nodes exchange everything they know.
func lookFactor(members int) time.Duration { return time.Duration(max(1, bits.Len(uint(members))-4)) }

// missing returns the seeds that are not alive, and one lost node.
func (g *Gossip) missing() []string {
	living := map[string]bool{g.own: true}
	g.mu.Lock()
	for _, addr := range g.known {
		living[addr] = true
	}
	lost := slices.Sorted(maps.Keys(g.lost))
	g.mu.Unlock()
	var list []string
	for _, seed := range g.seeds { // names are looked up each time, as they may have moved
		if a, err := net.ResolveTCPAddr("tcp", seed); err != nil || !living[a.String()] {
			list = append(list, seed)
		}
	}
	if len(lost) > 0 {
		list = append(list, lost[g.draw.IntN(len(lost))])
	}
	return list
}
