package study

import (
	"io"
	"sync"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/cmd/bourse/dialogue"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
)

// choosers are the programs that choose for the brokers of the runs under way. It is safe for
// concurrent use: seeds run side by side, each with programs of its own.
type choosers struct {
	messages io.Writer // their stderr

	mu    sync.Mutex
	alive map[*running]bool
	over  bool
}

// running is one of them.
type running struct {
	*dialogue.Chooser
	of *choosers
}

// start starts the program of a broker.
func (c *choosers) start(b *configs.Broker, dir string, _ uint64) (simulation.Chooser, error) {
	program, err := dialogue.StartChooser(b.Chooser, dir, c.messages)
	if err != nil {
		return nil, failure.Of(err)
	}
	r := &running{program, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		go program.Kill()
		return r, nil
	}
	if c.alive == nil {
		c.alive = map[*running]bool{}
	}
	c.alive[r] = true
	return r, nil
}

// Choose asks the program. What it does wrong is not the input's fault.
func (r *running) Choose(q *planning.Question) ([]int, error) {
	chosen, err := r.Chooser.Choose(q)
	return chosen, failure.Of(err)
}

// Close ends the program.
func (r *running) Close() {
	r.of.mu.Lock()
	mine := r.of.alive[r]
	delete(r.of.alive, r)
	r.of.mu.Unlock()
	if mine {
		r.Chooser.Close()
	}
}

// kill ends all of them at once, and what would still begin.
func (c *choosers) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for r := range c.alive {
		r.Chooser.Kill()
	}
	c.alive = nil
}
