package forecast

import (
	"math"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Oracle is the Forecaster of a site's queue. It forecasts each job that has to wait at its
// submission, so that what comes of it calibrates the next, and answers who asks for a place.
type Oracle struct {
	of     Forecaster
	random func(stream uint64) Random
	draws  int
	asked  uint64 // forecasts at submission so far
	ended  []ended
}

// OracleDraws is how many draws each forecast of an oracle has.
const OracleDraws = 100

// shownLevel is the level of the bands that a site shows, in percent.
const shownLevel = 80

// NewOracle returns an oracle that has seen nothing. random returns the numbers of a stream, the
// same each time.
func NewOracle(random func(stream uint64) Random) *Oracle {
	return &Oracle{random: random, draws: OracleDraws}
}

// Submitted tells that a job is about to enter the queue of the state; user is below 0 if nobody
// knows. One that was submitted earlier, as after a restart, is known from then on, and not
// forecast.
func (o *Oracle) Submitted(s *backfill.State, x *backfill.Queued, user int64) {
	if _, known := o.of.jobs[x.ID]; known {
		return
	}
	name := ""
	if user >= 0 {
		name = strconv.FormatInt(user, 10)
	}
	if x.Submit < s.Now {
		o.Known(x, name)
		return
	}
	o.SubmittedBy(s, x, name)
}

// SubmittedBy is Submitted for a user by name, "" if nobody knows, of a job that comes now.
func (o *Oracle) SubmittedBy(s *backfill.State, x *backfill.Queued, user string) {
	o.asked++
	if draws := o.draw(s, x, o.asked); draws != nil {
		o.of.Calibrator.Say(x.ID, s.Now, draws)
	}
	o.Arrived(s.Now, x, user)
}

// Arrived tells that a job enters the queue which is not forecast.
func (o *Oracle) Arrived(now grid.Time, x *backfill.Queued, user string) {
	o.of.Submitted(x.ID, user, now, x.Nodes, x.Longest())
}

// Known tells of a job that waits or runs, and came at an instant that nobody knows.
func (o *Oracle) Known(x *backfill.Queued, user string) {
	o.of.know(x.ID, user, x.Nodes, x.Longest())
}

// Unseen tells that nobody knows what was submitted from an instant until another.
func (o *Oracle) Unseen(from, to grid.Time) { o.of.Submissions.Unseen(from, to) }

// Started tells that a job starts.
func (o *Oracle) Started(id int64, at grid.Time) { o.of.Started(id, at) }

// Ended tells that a job has ended.
func (o *Oracle) Ended(id int64, at grid.Time) {
	if k, there := o.of.jobs[id]; there {
		if run := at.Sub(k.start); k.limit > 0 && run > 0 {
			o.remember(k.user, k.nodes, k.limit, run)
		}
	}
	o.of.Ended(id, at)
}

// Canceled tells that a job leaves the queue without a start.
func (o *Oracle) Canceled(id int64) { o.of.Canceled(id) }

// BestEffort says when a job would probably start that entered the queue of the state now. It
// costs the draws of one forecast, and nobody will learn of that start: asking changes nothing.
func (o *Oracle) BestEffort(s *backfill.State, x *backfill.Queued) grid.BestEffort {
	level, _ := LevelOf(shownLevel)
	all := o.of.Calibrator.HeldOfAll(level)
	b := grid.BestEffort{Median: s.Now, Lower: s.Now, Upper: s.Now, Level: shownLevel, Held: all.Held, Of: all.Of}
	draws := o.draw(s, x, math.MaxUint64-uint64(s.Now))
	if b.AtOnce = draws == nil; b.AtOnce {
		return b
	}
	said := o.of.Calibrator.Foresee(s.Now, draws)
	at := func(wait float64) grid.Time {
		if wait > seconds(grid.MaxTime.Sub(s.Now)) {
			return grid.Never
		}
		return s.Now.Add(grid.Duration(wait) * grid.Second)
	}
	band := said.Bands[level]
	b.Median, b.Lower, b.Upper, b.Calibrated = at(band.Median), at(band.Lower), at(band.Upper), said.Calibrated
	return b
}

// draw draws how long a job waits; nil: it starts at once.
func (o *Oracle) draw(s *backfill.State, x *backfill.Queued, stream uint64) Draws {
	return o.of.Draw(s, Job{Nodes: x.Nodes, Limit: x.Estimate, Place: placeOf(s, x)}, o.draws, o.random(stream))
}

// placeOf is how many of the waiting jobs a new one comes behind: those of no lower priority.
func placeOf(s *backfill.State, x *backfill.Queued) int {
	for i := range s.Queue {
		if s.Queue[i].Priority < x.Priority {
			return i
		}
	}
	return Last
}
