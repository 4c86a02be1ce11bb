package manager

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// clock has the time of the world, the tasks that are due at its instants, and the manager's
// own time, which is off by the skew.
type clock struct {
	now   grid.Time
	skew  grid.Duration
	tasks []task
	seq   uint64
}

// task is something that happens at an instant.
type task struct {
	at  grid.Time
	seq uint64
	do  func()
}

// after schedules a task after a while.
func (c *clock) after(d grid.Duration, do func()) {
	c.seq++
	t := task{c.now.Add(d), c.seq, do}
	i := len(c.tasks)
	for i > 0 && c.tasks[i-1].at > t.at {
		i--
	}
	c.tasks = slices.Insert(c.tasks, i, t)
}

// reach does the tasks that are due by now.
func (c *clock) reach() {
	for len(c.tasks) > 0 && c.tasks[0].at <= c.now {
		t := c.tasks[0]
		c.tasks = c.tasks[1:]
		t.do()
	}
}

// own is the manager's own time. world is the world's time when the manager's clock shows an
// instant.
func (c *clock) own() grid.Time               { return c.now.Add(c.skew) }
func (c *clock) world(at grid.Time) grid.Time { return at.Add(-c.skew) }
