package live

import (
	"context"
	"net"
	"testing"
	"time"
)

// An address whose connection has ended is called again once somebody listens there, and
// in the end whatever the looks have found.
func TestCarrier_CallsAgainWhoListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // a listener that nothing refers to is closed when it is collected
	c := &remoteCarrier{}
	c.base, c.stop = context.WithCancel(t.Context())
	defer c.stop()
	there := l.Addr().String()
	long := time.Now().Add(-reconnectPause)
	for address, want := range map[string]bool{there: true, "127.0.0.1:1": false} {
		if !c.ready(address) {
			t.Errorf("%s: nothing has ended there", address)
		}
		c.ended.Store(address, &ending{at: time.Now()})
		if c.ready(address) {
			t.Errorf("%s: the pause is not kept", address)
		}
		e := &ending{at: long}
		c.ended.Store(address, e)
		if c.ready(address) {
			t.Errorf("%s: it is called without a look", address)
		}
		for ; e.looking.Load(); time.Sleep(time.Millisecond) {
		}
		if c.ready(address) != want {
			t.Errorf("%s: after a look ready is %v", address, !want)
		}
	}
	c.ended.Store("127.0.0.1:1", &ending{at: time.Now().Add(-blindTime)})
	if !c.ready("127.0.0.1:1") {
		t.Error("it is never called again")
	}
}

// A peer that accepts a connection and closes it at once counts as gone.
func TestListens(t *testing.T) {
	t.Parallel()
	for what, x := range map[string]struct {
		serve func(net.Conn)
		stay  time.Duration
		want  bool
	}{
		"silent":  {func(net.Conn) {}, stayTime, true},
		"speaks":  {func(c net.Conn) { _, _ = c.Write([]byte("x")) }, time.Minute, true},
		"lets go": {func(c net.Conn) { _ = c.Close() }, time.Minute, false},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := l.Accept()
			if err == nil {
				x.serve(c)
			}
		}()
		if got := listens(t.Context(), l.Addr().String(), x.stay); got != x.want {
			t.Errorf("%s: %v", what, got)
		}
		_ = l.Close()
		if listens(t.Context(), l.Addr().String(), x.stay) {
			t.Errorf("%s: nobody is there any more", what)
		}
	}
}
