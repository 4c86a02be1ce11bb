package gossip

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/memberlist"
)

// errBrokeOff says that a peer closed a stream before it had sent anything. memberlist takes
// such a stream for one of another VO; but under load peers give up connections that have
// just been made, and nobody who gives up has tried to get in.
var errBrokeOff = errors.New("the peer broke off before it had said anything")

// gossipStreams is a transport whose streams say if the peer broke off.
type gossipStreams struct {
	memberlist.NodeAwareTransport
	streams chan net.Conn
	done    chan struct{}
	once    sync.Once
}

// newGossipStreams listens as memberlist would, and returns the port too.
func newGossipStreams(c *memberlist.Config, l *log.Logger) (*gossipStreams, int, error) {
	tries := 1
	if c.BindPort == 0 {
		tries = 10 // a port that is free for TCP may be taken for UDP
	}
	for {
		nt, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{BindAddrs: []string{c.BindAddr}, BindPort: c.BindPort, Logger: l})
		if err == nil {
			return wrapGossip(nt), nt.GetAutoBindPort(), nil
		}
		if tries--; tries == 0 || !strings.Contains(err.Error(), "address already in use") {
			return nil, 0, fmt.Errorf("could not set up network transport: %w", err)
		}
	}
}

// wrapGossip hands on the streams of a transport.
func wrapGossip(t memberlist.NodeAwareTransport) *gossipStreams {
	s := &gossipStreams{NodeAwareTransport: t, streams: make(chan net.Conn), done: make(chan struct{})}
	go func() {
		for {
			select {
			case c := <-t.StreamCh():
				select {
				case s.streams <- &gossipStream{Conn: c}:
				case <-s.done:
					_ = c.Close()
				}
			case <-s.done:
				return
			}
		}
	}()
	return s
}

// StreamCh is where the streams of others arrive.
func (s *gossipStreams) StreamCh() <-chan net.Conn { return s.streams }

// Shutdown stops listening.
func (s *gossipStreams) Shutdown() error {
	err := s.NodeAwareTransport.Shutdown()
	s.once.Do(func() { close(s.done) })
	return err
}

// gossipStream is a stream of a peer.
type gossipStream struct {
	net.Conn
	spoken atomic.Bool
}

// Read tells the end of a stream before its first byte from others.
func (s *gossipStream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if n > 0 {
		s.spoken.Store(true)
	} else if errors.Is(err, io.EOF) && !s.spoken.Load() {
		err = errBrokeOff
	}
	return n, err
}
