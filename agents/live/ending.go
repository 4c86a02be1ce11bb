package live

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Proto.Actor's remote takes two seconds to find out that nothing listens at an address,
// and loses what is sent there in the meantime. So after a connection has ended, its
// address is probed without sending anything until something listens again.

// ending is the end of a connection to an address.
type ending struct {
	at      time.Time
	looking atomic.Bool
	listens atomic.Bool
}

const (
	// reconnectPause is how long nothing is sent to an address after a connection to it has
	// ended. Proto.Actor's remote identifies connections only by address, and would take
	// the end of one that it was told to close for the end of the next. Without a pause the
	// two ends would close each other's connections forever.
	reconnectPause = 200 * time.Millisecond
	// lookTime bounds a probe. stayTime is how long a connection must stay open to count: a
	// middlebox may accept connections for a process that is gone.
	lookTime = time.Second
	stayTime = 30 * time.Millisecond
	// blindTime is how long after its end an address is called whatever the probes have
	// found.
	blindTime = 5 * time.Second
)

func (c *remoteCarrier) ready(to string) bool {
	x, ended := c.ended.Load(to)
	if !ended {
		return true
	}
	e := x.(*ending)
	since := time.Since(e.at)
	if since < reconnectPause {
		return false
	}
	if !e.listens.Load() && since < blindTime {
		if e.looking.CompareAndSwap(false, true) {
			go func() { // one at a time for each address, for lookTime or until close
				e.listens.Store(listens(c.base, to, stayTime))
				select {
				case <-time.After(stayTime):
				case <-c.base.Done():
				}
				e.looking.Store(false)
			}()
		}
		return false
	}
	c.ended.CompareAndDelete(to, x)
	return true
}

// listens reports whether something at an address accepts a connection and keeps it open
// for stay.
func listens(ctx context.Context, address string, stay time.Duration) bool {
	d := net.Dialer{Timeout: lookTime}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetReadDeadline(time.Now().Add(stay)); err != nil {
		return false
	}
	_, err = conn.Read(make([]byte, 1))
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}
