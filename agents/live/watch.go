package live

import (
	"fmt"
	"slices"
	"sync"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// WatchEnded is the last fact that a watcher sees, unless it has called stop. Either the
// agent's life is over, or the watcher was too slow (ErrBehind) and must read the state
// again. It is in no journal.
type WatchEnded struct{ Err error }

// Kind names the fact.
func (WatchEnded) Kind() string { return "watch-ended" }

// watcher is a receiver of an agent's facts.
type watcher struct {
	queue chan stamped
	quit  chan struct{} // closed by stop
	end   error         // why the queue is closed
}

// Watch calls see with every fact that an agent of this process records from now on, in
// order, once it is durable. see runs on a goroutine of its own and may be slow, but must
// not fall behind by more than Options.WatchQueue facts. stop ends the watch; a call of see
// may still be under way when it returns.
func (h *Host) Watch(id agents.ID, see func(at grid.Time, f agents.Fact)) (stop func()) {
	w := &watcher{queue: make(chan stamped, h.opt.WatchQueue), quit: make(chan struct{})}
	l, err := h.life(id)
	if err == nil {
		err = l.watch(w)
	}
	if err != nil {
		w.end = err
		close(w.queue)
	}
	go w.run(h, see)
	return sync.OnceFunc(func() {
		close(w.quit)
		if l != nil {
			l.unwatch(w)
		}
	})
}

// run shows the watcher what comes.
func (w *watcher) run(h *Host, see func(grid.Time, agents.Fact)) {
	for {
		select {
		case <-w.quit:
			return
		default:
		}
		select {
		case <-w.quit:
			return
		case s, open := <-w.queue:
			if !open {
				see(h.clock.now(), WatchEnded{w.end})
				return
			}
			see(s.at, s.fact)
		}
	}
}

// watch adds a watcher.
func (l *life) watch(w *watcher) error {
	l.watching.Lock()
	defer l.watching.Unlock()
	if l.ended != nil {
		return fmt.Errorf("%s: %w", l.id, l.ended)
	}
	l.watchers = append(l.watchers, w)
	return nil
}

// unwatch takes a watcher off.
func (l *life) unwatch(w *watcher) {
	l.watching.Lock()
	defer l.watching.Unlock()
	l.watchers = slices.DeleteFunc(l.watchers, func(o *watcher) bool { return o == w })
}

// publish shows facts to all watchers. The watch of one whose queue is full ends.
func (l *life) publish(facts []stamped) {
	l.watching.Lock()
	defer l.watching.Unlock()
	l.watchers = slices.DeleteFunc(l.watchers, func(w *watcher) bool {
		for _, s := range facts {
			select {
			case w.queue <- s:
			default:
				l.count.missed.Add(1)
				w.end = ErrBehind
				close(w.queue)
				return true
			}
		}
		return false
	})
}

// endWatchers lets all watchers go.
func (l *life) endWatchers(why error) {
	l.watching.Lock()
	defer l.watching.Unlock()
	for _, w := range l.watchers {
		w.end = why
		close(w.queue)
	}
	l.watchers, l.ended = nil, why
}
