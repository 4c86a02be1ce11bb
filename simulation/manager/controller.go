package manager

import (
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// controller is the manager's process. It keeps the book, writes it to disk, dies and
// restarts, and records what becomes of the work on the nodes.
type controller struct {
	*clock
	opt   *Options
	truth *truth
	nodes *nodes
	calls *rand.Rand // for how long calls take, and work that is told to end

	book    book // what it keeps
	saved   book // what a crash leaves of it
	savedAt grid.Time
	dirty   bool      // book differs from saved
	stale   bool      // something has changed that may allow a job to start
	upAt    grid.Time // it does not answer before this; 0: it is up
	hangs   grid.Time // its disk takes nothing until this
	forgot  bool      // it has lost jobs
	// aimed says how long it is down if it crashes at the next such moment; 0: it does
	// not crash.
	aimed [moments]grid.Duration
}

// up reports whether the manager answers.
func (c *controller) up() bool { return c.now >= c.upAt }

// changed records that the book differs from what is on disk.
func (c *controller) changed() { c.dirty, c.stale = true, true }

// save writes the book.
func (c *controller) save() { c.saved, c.savedAt, c.dirty = c.book.clone(), c.now, false }

// at crashes the manager after a while, if a crash is aimed at that moment.
func (c *controller) at(x moment, most grid.Duration) {
	if down := c.aimed[x]; down > 0 && c.opt.queued() {
		c.aimed[x] = 0
		c.after(within(c.calls, 1, most), func() { c.crash(down) })
	}
}

// hang lets the disk take nothing for a while.
func (c *controller) hang() {
	c.hangs = c.now.Add(hangs)
	c.truth.trouble(c.hangs)
}

// written reports whether a job is on the disk.
func (c *controller) written(j *job) bool {
	return slices.ContainsFunc(c.saved.jobs, func(s *job) bool { return s.id == j.id })
}

// crash ends the manager's process, and restarts it after a while with the book on its disk.
// Work goes on. At the restart the manager finds out what has ended meanwhile, and kills
// work that the book does not know. A machine without a manager restarts itself: it forgets
// nothing, and its work is gone.
func (c *controller) crash(down grid.Duration) {
	if !c.up() {
		return
	}
	c.truth.count(ManagerRestart)
	if !c.opt.queued() {
		for _, r := range slices.Clone(c.truth.running) {
			c.finish(r, 9)
		}
		c.save()
	}
	if c.dirty {
		c.truth.count(ManagerForgot)
		c.forgot = c.book.number > c.saved.number
	}
	c.book, c.dirty, c.hangs = c.saved.clone(), false, 0
	c.upAt = c.now.Add(down)
	c.truth.trouble(c.upAt)
	c.after(down, c.restart)
}

// restart begins with the book on the disk.
func (c *controller) restart() {
	known := map[*Run]bool{}
	for _, j := range c.book.jobs {
		if j.work == nil {
			continue
		}
		known[j.work] = true
		if j.work.Over > 0 && j.state == grid.ManagedRunning {
			c.ended(j)
		}
	}
	for _, r := range slices.Clone(c.truth.running) {
		if !known[r] {
			c.finish(r, 9)
		}
	}
	c.changed()
}

// endWork ends the work whose time has come.
func (c *controller) endWork() {
	for _, w := range slices.Clone(c.truth.running) {
		if w.ends <= c.now {
			c.finish(w, w.stopSignal)
		}
	}
}

// finish ends work now, and records that in the book if the manager is up.
func (c *controller) finish(w *Run, signal int) {
	c.nodes.over(w, signal)
	defer c.together(w, signal)
	if !c.up() {
		return
	}
	for _, j := range c.book.jobs {
		if j.work == w && j.state == grid.ManagedRunning {
			c.ended(j)
		}
	}
}

// ended records in the book that a job's work is over.
func (c *controller) ended(j *job) {
	j.state, j.end, j.exit, j.signal = grid.ManagedEnded, c.own(), j.work.Exit, j.work.Signal
	if j.why == "" && j.exit != 0 {
		j.why = "NonZeroExitCode"
	}
	c.changed()
}

// stop ends a running job, at once or within its time to clean up.
func (c *controller) stop(j *job, why string) {
	w := j.work
	if j.state != grid.ManagedRunning || w == nil || w.stopped || w.Over > 0 {
		return
	}
	j.why, w.stopped = why, true
	grace := within(c.calls, 0, killWait+killWait/2)
	w.stopSignal = 15
	if grace > killWait {
		grace, w.stopSignal = killWait, 9
	}
	if at := c.now.Add(grace); at < w.ends {
		w.ends = at
	} else {
		w.stopSignal = 0 // it ends by itself before
	}
	c.changed()
}

// cancel ends a waiting job at once, and tells a running one to end.
func (c *controller) cancel(j *job, why string) {
	switch j.state {
	case grid.ManagedPending, grid.ManagedHeld:
		j.state, j.why, j.nodes, j.end = grid.ManagedEnded, why, nil, c.own() // it never ran
		c.changed()
	case grid.ManagedRunning:
		c.stop(j, why)
	}
}
