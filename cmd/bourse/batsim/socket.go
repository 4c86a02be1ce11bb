// Package batsim talks with a scheduler written for Batsim (Dutot, Mercier, Poquet and Richard,
// "Batsim: a Realistic Language-Independent Resources and Jobs Management Systems Simulator",
// JSSPP 2016): its protocol of versions 3 and 4, JSON over ZeroMQ, Bourse on Batsim's side. It
// carries a driven.World's requests there and the decisions back. Nodes have no properties,
// profiles say nothing, and energy, registration, storage and Redis are refused by name.
package batsim

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zeromq/zmq4"
)

const (
	// Patience is how long a scheduler may take to be there, and for an answer.
	Patience = 60 * time.Second
	// MaxAnswer bounds an answer, in bytes.
	MaxAnswer = 16 << 20
)

// Peer is a scheduler at the other end of a socket.
type Peer struct {
	socket   zmq4.Socket
	stop     context.CancelFunc
	patience time.Duration
}

// Dial waits for a scheduler that has bound an endpoint such as "tcp://127.0.0.1:28000". Close
// must be called.
func Dial(endpoint string, patience time.Duration) (*Peer, error) {
	const again = 100 * time.Millisecond
	ctx, stop := context.WithCancel(context.Background())
	p := &Peer{zmq4.NewReq(ctx, zmq4.WithDialerRetry(again), zmq4.WithDialerMaxRetries(int(patience/again))), stop, patience}
	if err := p.socket.Dial(endpoint); err != nil {
		p.Close()
		return nil, fmt.Errorf("no scheduler at %s: %w; start it first, such as pybatsim SCHEDULER, or give another address", endpoint, err)
	}
	return p, nil
}

// Close ends the talk.
func (p *Peer) Close() {
	p.stop()
	_ = p.socket.Close()
}

// ask says a message and returns the answer. After an error the peer is of no further use.
func (p *Peer) ask(message []byte) ([]byte, error) {
	said := make(chan reply, 1)
	go func() { // which Close ends, if nothing comes: the socket does not heed its context
		err := p.socket.Send(zmq4.NewMsg(message))
		var answer zmq4.Msg
		if err == nil {
			answer, err = p.socket.Recv()
		}
		said <- reply{answer.Frames, err}
	}()
	select {
	case r := <-said:
		switch {
		case r.err != nil:
			return nil, fmt.Errorf("the scheduler has gone: %w", r.err)
		case len(r.frames) != 1:
			return nil, fmt.Errorf("an answer of %d frames; must be one, of JSON", len(r.frames))
		case len(r.frames[0]) > MaxAnswer:
			return nil, fmt.Errorf("an answer of more than %d MiB", MaxAnswer>>20)
		}
		return r.frames[0], nil
	case <-time.After(p.patience):
		return nil, fmt.Errorf("no answer within %v; is the scheduler still running?", p.patience)
	}
}

type reply struct {
	frames [][]byte
	err    error
}
