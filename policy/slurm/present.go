package slurm

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Present returns the jobs that run and those that wait, as Resume takes them: with the twin's
// priorities, and runs as long as their limits. of has their places in the twin's list.
func (t *Twin) Present() (jobs []Job, of []int) {
	at := map[int]int{}
	add := func(i int) *Job {
		at[i] = len(jobs)
		jobs, of = append(jobs, t.jobs[i]), append(of, i)
		j := &jobs[len(jobs)-1]
		j.Run = j.Limit
		return j
	}
	for _, i := range t.running {
		if s := t.of(i); s.phase == running {
			j := add(i)
			j.Started, j.On = s.start, s.on
		}
	}
	for _, i := range slices.Concat(t.queue, t.waiting) {
		if s := t.of(i); !t.jobs[i].Held {
			j := add(i)
			j.Started, j.Priority, j.Eligible = grid.Never, s.priority, 0
			if s.phase == ready {
				j.Eligible = s.eligible
			}
		}
	}
	for k := range jobs {
		var after []int
		for _, i := range jobs[k].After {
			if place, there := at[i]; there {
				after = append(after, place)
			}
		}
		jobs[k].After = after
	}
	return jobs, of
}

// Reserve keeps nodes for nobody of the queue from now on or later. It does not look whether they are
// free: see Prices.
func (t *Twin) Reserve(r Reservation) {
	if !t.copied {
		conf := *t.conf
		conf.Reservations = slices.Clone(conf.Reservations)
		t.copied, t.conf, t.given = true, &conf, len(conf.Reservations)
	}
	given := t.conf.Reservations[t.given:]
	kept := slices.DeleteFunc(given, func(r Reservation) bool { return r.End <= t.now })
	t.conf.Reservations = append(t.conf.Reservations[:t.given+len(kept)], r)
	t.changed()
}

// Reservations are those of the configuration, and those made since that have not ended.
func (t *Twin) Reservations() []Reservation { return t.conf.Reservations }
