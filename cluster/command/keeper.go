package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// keeper starts the program, and starts it again when it has ended: after a second, and
// then after twice as long each time, up to a minute.
type keeper struct {
	cfg  Config
	stop context.CancelFunc
	done chan struct{} // closed when the last life is over

	mu      sync.Mutex
	life    *life         // greeted; nil: none
	hello   *answer       // of it
	changed chan struct{} // closed when life or fails change
	fails   int           // hellos that failed, one after the other
	why     error         // the last of them
}

func newKeeper(cfg Config) *keeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &keeper{cfg: cfg, stop: stop, done: make(chan struct{}), changed: make(chan struct{})}
	go k.run(ctx)
	return k
}

// run keeps the program alive.
func (k *keeper) run(ctx context.Context) {
	defer close(k.done)
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		k.live(ctx)
		if time.Since(began) >= steadyAfter {
			pause = firstPause
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
		pause = min(2*pause, longestPause)
	}
}

// live is one life of the program.
func (k *keeper) live(ctx context.Context) {
	l, err := start(k.cfg)
	if err != nil {
		k.set(nil, nil, err)
		return
	}
	hello, err := greet(ctx, l, k.cfg)
	if err != nil {
		l.kill(err)
		<-l.ended
		k.set(nil, nil, l.reason())
		return
	}
	k.set(l, hello, nil)
	select {
	case <-l.ended:
	case <-ctx.Done():
		l.end()
	}
	k.set(nil, nil, nil)
}

// greet says hello.
func greet(ctx context.Context, l *life, cfg Config) (*answer, error) {
	hello, err := l.ask(ctx, request{Do: "hello", Version: Version, Site: cfg.Site, Prefix: cfg.Prefix}, cmp.Or(cfg.Hello, HelloLimit))
	switch {
	case err != nil:
		return nil, err
	case hello.failed() != nil:
		return nil, hello.failed()
	case hello.Version != Version:
		return nil, fmt.Errorf("the driver speaks version %d of the protocol; must be %d", hello.Version, Version)
	}
	return hello, nil
}

func (k *keeper) set(l *life, hello *answer, failed error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.life, k.hello = l, hello
	switch {
	case l != nil:
		k.fails, k.why = 0, nil
	case failed != nil:
		k.fails++
		k.why = failed
	}
	close(k.changed)
	k.changed = make(chan struct{})
}

// current waits for a life that was greeted. It fails once hello has failed twice.
func (k *keeper) current(ctx context.Context) (*life, *answer, error) {
	for {
		k.mu.Lock()
		l, hello, changed, fails, why := k.life, k.hello, k.changed, k.fails, k.why
		k.mu.Unlock()
		switch {
		case l != nil:
			return l, hello, nil
		case fails >= 2:
			return nil, nil, fmt.Errorf("the driver cannot be started: %w", why)
		}
		select {
		case <-changed:
		case <-k.done:
			return nil, nil, errors.New("the driver was ended")
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("the driver is being started: %w", ctx.Err())
		}
	}
}

// greeted waits for the first hello.
func (k *keeper) greeted(ctx context.Context) (*answer, error) {
	_, hello, err := k.current(ctx)
	return hello, err
}

// ask sends a request to the program that lives, or will within the limit.
func (k *keeper) ask(ctx context.Context, r request, within time.Duration) (*answer, error) {
	until := time.Now().Add(within)
	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	l, _, err := k.current(waiting)
	if err != nil {
		return nil, err
	}
	return l.ask(ctx, r, time.Until(until))
}

func (k *keeper) close() {
	k.stop()
	<-k.done
}
