package queue

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Backend is a simulated cluster of nodes that can be reserved: each group has its
// own Queue of local jobs and its own reservations. Its facts are in
// docs/decisions/0010.
//
// Within an instant its own events come first: ends of work, then the queues (ends,
// arrivals, one scheduling pass), then starts of reservations. Then come the messages of
// its site and, if they change anything, another pass after the last of them. Events missed
// because the clock was late or the process down happen at their own instants, before
// anything else.
type Backend struct {
	groups  []grid.Group
	options []Options
	work    Work
	memory  *memory // until it begins

	host     cluster.Host
	queues   []*Queue
	legs     map[grid.LegID]*reservation
	flexible map[int64]*reservation // by the identity of their promise
	order    []*reservation         // in order of number; dropped ones stay until they are a fifth of it
	agenda   agenda
	number   int64          // of the last lock, queue reservation or outage
	version  uint64         // increased by every change
	shown    uint64         // the last version shown to the site
	fed      []cluster.Mark // by group
	outages  []facts.NodesDown
	grounds  []ground  // by group
	now      grid.Time // of the current message
}

// Work feeds a group its local jobs in order of submit time, starting with those submitted at
// after or later. begun is the zero of the work's own clock. The same arguments must give
// the same jobs in every life.
type Work func(group int, begun, after grid.Time) func() (grid.LocalJob, bool)

// NewBackend returns the backend for groups and their options, which are in the same order;
// Options.Start is ignored. If work is nil there are no local jobs.
func NewBackend(groups []grid.Group, options []Options, work Work) *Backend {
	return &Backend{groups: groups, options: options, work: work, memory: newMemory(groups, options),
		legs: map[grid.LegID]*reservation{}, flexible: map[int64]*reservation{}, grounds: make([]ground, len(groups))}
}

// Next is the next instant at which something is due, or Never.
func (b *Backend) Next() grid.Time {
	next := b.agenda.next()
	for _, q := range b.queues {
		next = min(next, q.Next())
	}
	return next
}

// Wake is the next instant at which something is due for a leg. Local jobs never move a leg,
// except where they are promised slots.
func (b *Backend) Wake() grid.Time {
	for _, q := range b.queues {
		if q.promises != nil {
			return b.Next()
		}
	}
	return b.agenda.next()
}

// Reach carries out everything due before now and, if due is set, at now.
func (b *Backend) Reach(now grid.Time, due bool) {
	b.now = now
	if !due {
		now--
	}
	for t := b.Next(); t <= now; t = b.Next() {
		b.instant(t)
	}
}

// Settle has nothing to do: the pass has its own alarm.
func (b *Backend) Settle(grid.Time) {}

// instant does what is due at an instant.
func (b *Backend) instant(now grid.Time) {
	for {
		r := b.agenda.pop(now, ending)
		if r == nil {
			break
		}
		if !r.gone && r.running && r.ends <= now {
			b.end(now, r)
		} else if !r.gone && !r.confirmed && r.what.End <= now {
			b.free(now, r) // its time has passed unconfirmed
			b.moved(now, r.leg, facts.LockExpired)
		}
	}
	for _, q := range b.queues {
		if q.Next() <= now {
			q.Advance(now)
			b.version++
		}
	}
	for {
		r := b.agenda.pop(now, starting)
		if r == nil {
			break
		}
		if !r.gone && r.confirmed && !r.running && r.what.Start <= now {
			b.run(now, r)
		}
	}
}

// Show shows the state of all groups, or what has changed since the version that the site
// has; if that is current, just the version.
func (b *Backend) Show(have uint64) agents.Snapshot {
	a := agents.Snapshot{Version: b.version}
	if have == b.version {
		return a
	}
	a.Plans, a.Opened = b.plans(), b.opened()
	changes, all := b.changes()
	if all && have == b.shown {
		a.Since, a.Changes = have, changes
	} else {
		a.States = make([]backfill.State, len(b.queues))
		for i, q := range b.queues {
			a.States[i] = q.State().Clone()
		}
	}
	b.shown = b.version
	return a
}

// changes is what has changed since the last version shown, and whether that is complete.
func (b *Backend) changes() (list []backfill.Delta, all bool) {
	list, all = make([]backfill.Delta, len(b.queues)), true
	for i, q := range b.queues {
		var known bool
		list[i], known = q.group.Changes()
		all = all && known && q.slurm == nil // whose order changes with the time
	}
	return list, all
}

// Hear handles the report that nodes have failed.
func (b *Backend) Hear(now grid.Time, _ agents.ID, m agents.Message) bool {
	lost, ok := m.(agents.NodesLost)
	if ok {
		b.nodesLost(now, lost)
	}
	return ok
}

// Audit checks that no node is taken twice at any instant from now on and
// that the free profile of each group is what its jobs and reservations leave.
func (b *Backend) Audit() error {
	for i, q := range b.queues {
		if err := q.State().Audit(); err != nil {
			return fmt.Errorf("group %s: %w", b.groups[i].Name, err)
		}
		if err := b.auditOpened(i); err != nil {
			return err
		}
		if err := q.auditPromises(); err != nil {
			return fmt.Errorf("promises of group %s: %w", b.groups[i].Name, err)
		}
	}
	return nil
}

// Waiting shows the local jobs that wait in a group, in queue order.
func (b *Backend) Waiting(group int) []backfill.Queued { return b.queues[group].State().Queue }

// group is the index of the group of that name, or -1.
func (b *Backend) group(name string) int {
	return slices.IndexFunc(b.groups, func(g grid.Group) bool { return g.Name == name })
}
