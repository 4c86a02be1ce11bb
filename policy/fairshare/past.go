// Package fairshare keeps how much each user has used a group's nodes lately. A queue can be
// ordered by it: the user with the least use comes first. The fair-share factors of Slurm's
// multifactor priority ("Classic Fairshare", users of equal shares) and of Maui (Jackson,
// Snell and Clement, "Core Algorithms of the Maui Scheduler", JSSPP 2001) do the same if
// nothing else counts.
//
// Past use decays: half of it counts after a half-life. As in Maui it decays in steps, each
// a sixteenth of the half-life long, and not within a step. So past use is a whole number
// that depends only on when nodes were used, not on when somebody asked for it. The package
// reads no clock and does no I/O.
package fairshare

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// HalfLife is the default half-life, as in Slurm.
const HalfLife = 7 * grid.Day

// LeastHalfLife is the shortest half-life. There is no longest one: even the use of a million
// nodes until the last possible instant fits a number.
const LeastHalfLife = grid.Hour

// steps is how many steps a half-life has. decay is what is left after one step, in units of
// 2^-64: the sixteenth root of a half, rounded down.
const (
	steps        = 16
	decay uint64 = 0xf5257d152486cc2c
)

// most is how many users are known at once. Others count as users without any use, and come
// first, until the use of a known one has decayed.
const most = 100_000

// Past is the past use of a group's nodes by its users.
type Past struct {
	step  grid.Duration
	users map[int64]facts.UserShare
	swept grid.Time // when users whose use has decayed were last forgotten

	// The answers for one instant since the last event: a queue asks for each of its jobs,
	// and most queues have few users.
	said map[int64]uint64
	at   grid.Time
}

// New returns a past without any use. A half-life of 0 is HalfLife.
func New(halfLife grid.Duration) *Past {
	if halfLife == 0 {
		halfLife = HalfLife
	}
	return &Past{step: max(1, halfLife/steps), users: map[int64]facts.UserShare{}, said: map[int64]uint64{}, swept: math.MinInt64}
}

// Began records that a user's job has n nodes from an instant on. The instants of one user
// must not go back. Jobs of unknown users (below 0) count as those of one user.
func (p *Past) Began(user int64, n int, at grid.Time) { p.move(user, n, at) }

// Ended records that the job no longer has them.
func (p *Past) Ended(user int64, n int, at grid.Time) { p.move(user, -n, at) }

func (p *Past) move(user int64, n int, at grid.Time) {
	clear(p.said)
	u, known := p.users[user]
	if !known {
		if n < 0 || p.crowded(at) {
			return
		}
		u = facts.UserShare{User: user, Since: at}
	}
	u = p.to(u, at)
	u.Nodes = max(0, u.Nodes+n)
	p.users[user] = u
}

// crowded reports whether there is no room for another user. Once a step it forgets users
// whose use has decayed.
func (p *Past) crowded(at grid.Time) bool {
	if len(p.users) < most || at < p.swept.Add(p.step) {
		return len(p.users) >= most
	}
	p.swept = at
	maps.DeleteFunc(p.users, func(_ int64, u facts.UserShare) bool {
		u = p.to(u, at)
		return u.Had == 0 && u.Nodes == 0
	})
	return len(p.users) >= most
}

// Of is a user's past use at an instant, which must not be before the user's last event: the
// sum of nodes x time that has not decayed, in node-milliseconds. It costs a multiplication
// for each step since that event, about a thousand at most, and a look-up the second time.
func (p *Past) Of(user int64, at grid.Time) uint64 {
	if at != p.at {
		p.at = at
		clear(p.said)
	}
	had, known := p.said[user]
	if !known {
		had = p.to(p.users[user], at).Had
		p.said[user] = had
	}
	return had
}

// to brings u up to an instant.
func (p *Past) to(u facts.UserShare, at grid.Time) facts.UserShare {
	for u.Since < at && (u.Had > 0 || u.Nodes > 0) {
		end := u.Since.Add(p.step - mod(u.Since, p.step)) // of this step
		before, whole := u.Had, end.Sub(u.Since) == p.step
		had := u.Had + uint64(u.Nodes)*uint64(min(end, at).Sub(u.Since))
		if u.Since, u.Had = min(end, at), had; end <= at {
			u.Had, _ = bits.Mul64(had, decay)
		}
		if whole && end <= at && u.Had == before { // as much is added as decays: it stays so
			u.Since = u.Since.Add(at.Sub(u.Since) / p.step * p.step)
		}
	}
	u.Since = max(u.Since, at)
	return u
}

// mod is the time since the last multiple of d, also for instants before 0.
func mod(t grid.Time, d grid.Duration) grid.Duration {
	return (grid.Duration(t)%d + d) % d
}

// Save returns what is known, in order of user.
func (p *Past) Save() []facts.UserShare {
	list := make([]facts.UserShare, 0, len(p.users))
	for _, user := range slices.Sorted(maps.Keys(p.users)) {
		list = append(list, p.users[user])
	}
	return list
}

// Load replaces what is known by what was saved.
func (p *Past) Load(list []facts.UserShare) {
	clear(p.users)
	clear(p.said)
	for _, u := range list {
		p.users[u.User] = u
	}
}
