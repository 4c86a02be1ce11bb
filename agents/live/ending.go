package live

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// Proto.Actor's remote takes two seconds to find out that nobody listens at an address, and
// what is sent there is lost meanwhile. Hence an address whose connection has ended is looked
// at first, without a word, until somebody listens again.

// ending is the end of a connection to an address.
type ending struct {
	at      time.Time
	looking atomic.Bool
	listens atomic.Bool
}

const (
	// reconnectPause is how long nothing is sent to an address after a connection to it has
	// ended. Proto.Actor's remote tells connections apart by address only, and would take
	// the end of one that it was told to close for the end of the next one: without a pause
	// they would end each other for ever.
	reconnectPause = 200 * time.Millisecond
	// lookTime bounds a look, and stayTime is how long a connection must stay open for it:
	// what stands between may take connections for whoever is gone.
	lookTime = time.Second
	stayTime = 30 * time.Millisecond
	// blindTime is after how long an address is called whatever the looks have found.
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

// listens reports whether somebody at an address takes a connection and keeps it for so
// long.
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
