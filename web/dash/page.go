package dash

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/bourse-grid/bourse/web/client"
)

// Page is the live page on a port of this machine.
type Page struct {
	*Server
	Ended    chan error // why it is no longer served
	listener net.Listener
}

// Open listens on a port (0: any) to serve the live page of a context file.
func Open(file string, port int) (*Page, error) {
	found, err := client.Find(file)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("the live page cannot listen: %w", err)
	}
	s, err := New(l, found)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &Page{s, make(chan error, 1), l}, nil
}

// Close gives the port of a page back that has not been started.
func (p *Page) Close() error { return p.listener.Close() }

// Start serves until ctx ends or stop is called. stop waits for the server to finish.
func (p *Page) Start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Ended <- p.Serve(ctx, p.listener)
	}()
	return func() {
		cancel()
		<-done
	}
}
