package simulation

import (
	"errors"
	"fmt"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/configs"
)

// Chooser is a program that chooses for a broker; see configs.Broker.Chooser.
type Chooser interface {
	// Choose answers a question as planning.Question.Choice says. An error ends the run.
	Choose(q *planning.Question) ([]int, error)
	// Close ends the program.
	Close()
}

// choosers are the programs that choose for the brokers of one run.
type choosers struct {
	start  func(b *configs.Broker, dir string, seed uint64) (Chooser, error)
	dir    string // of the scenario
	seed   uint64
	list   []Chooser
	failed error // the first
}

// of starts the program of a broker. Its first wrong answer halts the world.
func (c *choosers) of(b *configs.Broker, world *sim.World) (func(*planning.Question) []int, error) {
	if c == nil || c.start == nil {
		return nil, errors.New("its strategy asks a program, which only simulate and sweep start")
	}
	program, err := c.start(b, c.dir, c.seed)
	if err != nil {
		return nil, fmt.Errorf("chooser: %w", err)
	}
	c.list = append(c.list, program)
	return func(q *planning.Question) []int {
		if c.failed != nil {
			return nil
		}
		chosen, err := program.Choose(q)
		if err != nil {
			c.failed = fmt.Errorf("broker %q, seed %d: chooser: at %v, cycle %d: %w", b.Name, c.seed, q.Now, q.Cycle, err)
			world.Halt()
		}
		return chosen
	}, nil
}

// close ends the programs.
func (c *choosers) close() {
	for _, program := range c.list {
		program.Close()
	}
}
