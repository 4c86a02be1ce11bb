// Package fairshare says how much each user has had of a group's nodes lately, by which
// a queue can be ordered: who has had least comes first, as with the fair-share factor of
// Slurm's multifactor priority ("Classic Fairshare", users of equal shares) and Maui's
// (Jackson, Snell and Clement, "Core Algorithms of the Maui Scheduler", JSSPP 2001), where
// nothing else counts.
//
// What a user has had decays: half of it counts after a half-life. As in Maui it does so
// in steps, a sixteenth of the half-life long; within a step nothing decays. So it is a
// whole number that depends on when nodes were used alone, not on when it was asked for.
// The package reads no clock and does no I/O.
package fairshare

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse"
)

// HalfLife is what a half-life is unless it is given: Slurm's own.
const HalfLife = 7 * bourse.Day

// LeastHalfLife is the shortest half-life. There is no longest one: a million nodes until
// the last instant that there is are a number all the same.
const LeastHalfLife = bourse.Hour

// steps are those of a half-life, and decay is what is left after one in 2^-64: the
// sixteenth root of a half, rounded down.
const (
	steps        = 16
	decay uint64 = 0xf5257d152486cc2c
)

// most is how many users are known at once; others have had nothing, and come first, until
// one of these has nothing left.
const most = 100_000

// Past is what the users of a group have had of its nodes.
type Past struct {
	step  bourse.Duration
	users map[int64]bourse.UserShare
	swept bourse.Time // when those were last forgotten of whom nothing is left

	// What has been asked of one instant since the last event: a queue asks for each of its
	// jobs, and most of them have few users.
	said map[int64]uint64
	at   bourse.Time
}

// New returns the past of users who have had nothing. A half-life of 0 is HalfLife.
func New(halfLife bourse.Duration) *Past {
	if halfLife == 0 {
		halfLife = HalfLife
	}
	return &Past{step: max(1, halfLife/steps), users: map[int64]bourse.UserShare{}, said: map[int64]uint64{}, swept: math.MinInt64}
}

// Began notes that a user's job has n nodes from an instant on, not before what was noted
// earlier of that user. Jobs of which nobody knows whose they are, below 0, count as those
// of one user.
func (p *Past) Began(user int64, n int, at bourse.Time) { p.move(user, n, at) }

// Ended notes that it has them no more.
func (p *Past) Ended(user int64, n int, at bourse.Time) { p.move(user, -n, at) }

func (p *Past) move(user int64, n int, at bourse.Time) {
	clear(p.said)
	u, known := p.users[user]
	if !known {
		if n < 0 || p.crowded(at) {
			return
		}
		u = bourse.UserShare{User: user, Since: at}
	}
	u = p.to(u, at)
	u.Nodes = max(0, u.Nodes+n)
	p.users[user] = u
}

// crowded reports whether no other user can be known; it forgets, once a step, those of whom
// nothing is left.
func (p *Past) crowded(at bourse.Time) bool {
	if len(p.users) < most || at < p.swept.Add(p.step) {
		return len(p.users) >= most
	}
	p.swept = at
	maps.DeleteFunc(p.users, func(_ int64, u bourse.UserShare) bool {
		u = p.to(u, at)
		return u.Had == 0 && u.Nodes == 0
	})
	return len(p.users) >= most
}

// Of is what a user has had by an instant, not before what was noted of the user last:
// the sum of nodes x time, in node-milliseconds, each as far as it has not decayed. It
// costs a multiplication for each step since then, some thousand at most, and a look-up the
// second time.
func (p *Past) Of(user int64, at bourse.Time) uint64 {
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

// to is u as it is at an instant.
func (p *Past) to(u bourse.UserShare, at bourse.Time) bourse.UserShare {
	for u.Since < at && (u.Had > 0 || u.Nodes > 0) {
		end := u.Since.Add(p.step - mod(u.Since, p.step)) // of the step
		before, whole := u.Had, end.Sub(u.Since) == p.step
		had := u.Had + uint64(u.Nodes)*uint64(min(end, at).Sub(u.Since))
		if u.Since, u.Had = min(end, at), had; end <= at {
			u.Had, _ = bits.Mul64(had, decay)
		}
		if whole && end <= at && u.Had == before { // what comes is what decays, from now on
			u.Since = u.Since.Add(at.Sub(u.Since) / p.step * p.step)
		}
	}
	u.Since = max(u.Since, at)
	return u
}

// mod is how far an instant lies behind the last multiple of d, also before 0.
func mod(t bourse.Time, d bourse.Duration) bourse.Duration {
	return (bourse.Duration(t)%d + d) % d
}

// Save is what is known, by user.
func (p *Past) Save() []bourse.UserShare {
	list := make([]bourse.UserShare, 0, len(p.users))
	for _, user := range slices.Sorted(maps.Keys(p.users)) {
		list = append(list, p.users[user])
	}
	return list
}

// Load begins with what was saved.
func (p *Past) Load(list []bourse.UserShare) {
	clear(p.users)
	clear(p.said)
	for _, u := range list {
		p.users[u.User] = u
	}
}
