package live

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/hashicorp/memberlist"
	"google.golang.org/protobuf/proto"
)

// memoryNetwork is a network inside one process: gossip and messages of any
// number of nodes without a socket. It
// loses what a full queue does not take, as UDP does, can be cut between any two
// nodes, and encrypts nothing of its own. It never blocks on a node that is gone.
type memoryNetwork struct {
	mu    sync.RWMutex
	ports int
	talk  map[string]*memoryGossip  // by gossip's address
	mail  map[string]*memoryCarrier // by the address for messages
	cut   func(from, to string) bool

	lost    atomic.Uint64
	packets atomic.Uint64 // of gossip, and their bytes; streams are not counted
	bytes   atomic.Uint64
}

// memoryQueue is how many packets, and how many messages, wait for one node.
const memoryQueue = 1024

// newMemory returns a network without nodes.
func newMemory() *memoryNetwork {
	return &memoryNetwork{talk: map[string]*memoryGossip{}, mail: map[string]*memoryCarrier{}}
}

// Cut has nothing pass from one address to another where cut says so, gossip
// and messages alike; nil heals the network. It is called under a lock and must
// be quick. Addresses are those of Node.Gossip and Node.Address.
func (m *memoryNetwork) Cut(cut func(from, to string) bool) {
	m.mu.Lock()
	m.cut = cut
	m.mu.Unlock()
}

// Lost returns how many packets and messages have not arrived: cut off, sent to
// nobody, or more than a queue takes.
func (m *memoryNetwork) Lost() uint64 { return m.lost.Load() }

// Address returns one that no node of this network has had; "" asks for it,
// anything else is taken as it is.
func (m *memoryNetwork) address(wanted string) string {
	if wanted != "" && wanted != "127.0.0.1:0" {
		return wanted
	}
	m.ports++
	return "127.0.0.1:" + strconv.Itoa(m.ports)
}

// open reports whether something may pass.
func (m *memoryNetwork) open(from, to string) bool { return m.cut == nil || !m.cut(from, to) }

// memoryGossip is the memberlist.Transport of one node.
type memoryGossip struct {
	net     *memoryNetwork
	addr    string
	packets chan *memberlist.Packet
	streams chan net.Conn
	done    chan struct{}
	once    sync.Once
}

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }

// gossip joins a node's gossip to the network.
func (m *memoryNetwork) gossip(wanted string) (memberlist.Transport, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &memoryGossip{net: m, addr: m.address(wanted), packets: make(chan *memberlist.Packet, memoryQueue), streams: make(chan net.Conn, 64), done: make(chan struct{})}
	if m.talk[t.addr] != nil {
		return nil, fmt.Errorf("gossip address %s is taken", t.addr)
	}
	m.talk[t.addr] = t
	return t, nil
}

func (m *memoryNetwork) talker(from, to string) *memoryGossip {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if !m.open(from, to) {
		return nil
	}
	return m.talk[to]
}

// FinalAdvertiseAddr returns the node's address.
func (t *memoryGossip) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	a, err := net.ResolveTCPAddr("tcp", t.addr)
	if err != nil {
		return nil, 0, err
	}
	return a.IP, a.Port, nil
}

// WriteTo sends a packet, or loses it.
func (t *memoryGossip) WriteTo(b []byte, addr string) (time.Time, error) {
	now := time.Now()
	t.net.packets.Add(1)
	t.net.bytes.Add(uint64(len(b)))
	d := t.net.talker(t.addr, addr)
	if d == nil {
		t.net.lost.Add(1)
		return now, nil
	}
	select {
	case d.packets <- &memberlist.Packet{Buf: append([]byte(nil), b...), From: memoryAddr(t.addr), Timestamp: now}:
	default:
		t.net.lost.Add(1)
	}
	return now, nil
}

// DialTimeout opens a stream.
func (t *memoryGossip) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	d := t.net.talker(t.addr, addr)
	if d == nil {
		return nil, fmt.Errorf("no way from %s to %s", t.addr, addr)
	}
	here, there := net.Pipe()
	select {
	case d.streams <- there:
		return here, nil
	case <-d.done:
	case <-time.After(timeout):
	}
	return nil, fmt.Errorf("%s does not answer %s", addr, t.addr)
}

// PacketCh returns what has been sent here.
func (t *memoryGossip) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh returns the streams opened to here.
func (t *memoryGossip) StreamCh() <-chan net.Conn { return t.streams }

// Shutdown takes the node off the network. It sends nothing from then on.
func (t *memoryGossip) Shutdown() error {
	t.once.Do(func() {
		t.net.mu.Lock()
		delete(t.net.talk, t.addr)
		t.net.mu.Unlock()
		close(t.done)
		for {
			select {
			case stream := <-t.streams: // nobody will read it
				_ = stream.Close()
			default:
				return
			}
		}
	})
	return nil
}

// memoryCarrier carries messages between the nodes of a network: copies, so that
// nothing is shared that a socket would not share.
type memoryCarrier struct {
	net  *memoryNetwork
	addr string
	self members.Member // whose it is
	mail chan proto.Message
	done chan struct{}
	once sync.Once
	ends sync.WaitGroup
}

// carrier joins a node's messages to the network. They are handed to take one
// after the other.
func (m *memoryNetwork) carrier(wanted string, self members.Member, take func(proto.Message)) (carrier, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &memoryCarrier{net: m, addr: m.address(wanted), self: self, mail: make(chan proto.Message, memoryQueue), done: make(chan struct{})}
	if m.mail[c.addr] != nil {
		return nil, fmt.Errorf("address %s is taken", c.addr)
	}
	m.mail[c.addr] = c
	c.ends.Go(func() {
		for {
			select {
			case message := <-c.mail:
				take(message)
			case <-c.done:
				return
			}
		}
	})
	return c, nil
}

func (c *memoryCarrier) address() string { return c.addr }

func (c *memoryCarrier) ready(string) bool { return true }

func (c *memoryCarrier) carry(to string, message proto.Message) {
	c.net.mu.RLock()
	d := c.net.mail[to]
	if !c.net.open(c.addr, to) {
		d = nil
	}
	c.net.mu.RUnlock()
	if d == nil {
		c.net.lost.Add(1)
		return
	}
	select {
	case d.mail <- proto.Clone(message):
	default:
		c.net.lost.Add(1)
	}
}

// call finds the process at an address, unless the way there or back is cut.
func (c *memoryCarrier) call(_ context.Context, m members.Member) (uint64, error) {
	c.net.mu.RLock()
	defer c.net.mu.RUnlock()
	d := c.net.mail[m.Address]
	if d == nil || d.self.Agent != m.Agent || !c.net.open(c.addr, m.Address) || !c.net.open(m.Address, c.addr) {
		return 0, fmt.Errorf("%s does not answer at %s", m.Agent, m.Address)
	}
	return d.self.Life, nil
}

func (c *memoryCarrier) hangUp(string) {}

func (c *memoryCarrier) close() {
	c.once.Do(func() {
		c.net.mu.Lock()
		delete(c.net.mail, c.addr)
		c.net.mu.Unlock()
		close(c.done)
		c.ends.Wait()
	})
}
