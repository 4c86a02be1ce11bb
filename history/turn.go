package history

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// Turn is one event in the life of a job. It follows from one fact.
type Turn struct {
	At    grid.Time   `json:"at"`
	Job   string      `json:"job"`
	What  What        `json:"what"`
	Words grid.Phrase `json:"words"` // a sentence, without the job's name

	Site   string       `json:"site,omitempty"`
	Tx     string       `json:"transaction,omitempty"`
	Start  grid.Time    `json:"start,omitempty"`  // of the window or the leg
	End    grid.Time    `json:"end,omitempty"`    // LegEnded, Done, Failed: when the work was over
	Amount grid.Credits `json:"amount,omitempty"` // what is paid or given back
	Reason grid.Reason  `json:"reason,omitzero"`

	zero  grid.Time  // of Gathering: when it began to be gathered
	leg   grid.LegID // of Started, LegEnded and LegLost
	array bool       // the job is an array, which has no window of its own
}

// What is the kind of a Turn. A turn that leads to a state of the job has the state's name.
type What string

// The turns of a job. The list below explains each.
const (
	Submitted What = "submitted"
	NotTaken  What = "not-taken"
	Postponed What = "postponed"
	Abandoned What = "abandoned"
	Gathering What = "gathering"
	Trying    What = "trying"
	Priced    What = "priced"
	TryFailed What = "try-failed"
	Placed    What = "placed"
	Confirmed What = "confirmed"
	Started   What = "started"
	LegEnded  What = "leg-ended"
	Done      What = "done"
	Failed    What = "failed"
	LegLost   What = "leg-lost"
	Repaired  What = "repaired"
	Moved     What = "moved"
	Broken    What = "broken"
	Withdrawn What = "withdrawn"
	Shifted   What = "shifted"
	Offered   What = "offered"
	OfferOver What = "offer-over"
	Reversed  What = "reversed"
	Dropped   What = "elements-dropped"
	Forgotten What = "forgotten"
)

// Entry is a line of the list of turns.
type Entry struct {
	What What
	Fact string // the fact behind it, by its name in a journal
	Says string // explanation for docs/EVENTS.md
	// Streamed turns are sent by the API as they happen. The others are not, because the job
	// does not exist or another turn says the same.
	Streamed bool
}

// list has the turns in the order in which they may happen to a job.
var list = []Entry{
	{Submitted, "job-submitted; elements-begun", "the broker has taken it; a repeated submission adds no turn. Of an element of an array: it is a job of its own from now on", true},
	{NotTaken, "submission-refused", "the broker has not taken it, and why; there is no such job", false},
	{Postponed, "job-postponed", "it waits for another cycle, and why; once for each cycle that looked at it", true},
	{Abandoned, "job-postponed, final; job-cancelled with a reason; array-over", "it will not be tried again: every known site has answered, and none of them could ever run it; its deadline has passed; or a job that it comes after cannot end any more as its condition says. The `leg-ended` of its legs have the refunds", true},
	{Gathering, "gathered", "its pilots: which are submitted, granted more idling, released or cancelled, and why; which a site has refused, with its manager's words. It is gathered from the first of them on", true},
	{Trying, "tx-begun", "the broker asks for a window: sites, nodes, start, and the most that it will pay", true},
	{Priced, "leg-priced", "a site holds its leg, at the price that binds", false},
	{TryFailed, "tx-decided, ABORT", "a site has refused: which one, and why. The next alternative follows, or `postponed`", true},
	{Placed, "tx-decided, COMMIT", "all legs are bought: start and price", true},
	{Confirmed, "leg-closed, commit", "a site has acknowledged its leg; its price is paid", true},
	{Started, "leg-started", "the work of a leg runs (recorded only where `Explain` is on)", true},
	{LegEnded, "leg-done", "the work of a leg has ended, or the leg was given back: when, and what is refunded", true},
	{Done, "leg-done, the last; array-over", "its window is over, and no work failed; of an array: all of its elements are done", true},
	{Failed, "leg-done, the last; array-over", "its window is over, and the work of a leg failed: it exited with a status other than 0, was killed at its window's end, or was lost; of an array: all elements are over, and one failed", true},
	{LegLost, "leg-done, lost; leg-closed without commit", "a site cannot serve its leg, or does not answer (`site-lost`): what is refunded, and the penalty. A repair follows, or `broken`", true},
	{Repaired, "tx-decided, COMMIT of a repair", "other nodes have replaced the lost ones", true},
	{Moved, "tx-decided, COMMIT of a move", "another window has replaced the old one; the refund for that comes with its `leg-ended`", true},
	{Broken, "job-broken", "the rest of its window is refunded in full, and it waits again", true},
	{Withdrawn, "job-cancelled; array-over", "its user has cancelled it; the `leg-ended` of its legs have the refunds", true},
	{Shifted, "leg-shifted", "its site has moved a leg within its window, and where it starts now; or has fixed it where it lies", true},
	{Offered, "shift-offered", "a site asks to move its leg: the other place, and what it pays. If accepted, `trying` and `moved` follow", true},
	{OfferOver, "offer-closed", "an offer was rejected, has failed and why, or has expired; nothing has changed", true},
	{Reversed, "tx-reversed", "a COMMIT that took effect nowhere was taken back after a restart; it waits again", true},
	{Dropped, "elements-dropped", "of an array: elements that were not jobs yet never will be, as their user has cancelled them, or what they come after can no longer come true", true},
	{Forgotten, "jobs-forgotten", "it has been over for `KeepJobs` (7 days for a process): its name is free, and a repeated submission is a new job", false},
}

// All returns the list of turns, in order.
func All() []Entry { return slices.Clone(list) }

// telling are the kinds of facts behind streamed turns, as the list names them: the first
// word of each of its clauses.
var telling = func() map[string]bool {
	kinds := map[string]bool{}
	for _, e := range list {
		for clause := range strings.SplitSeq(e.Fact, "; ") {
			kind, _, _ := strings.Cut(clause, " ")
			kinds[strings.TrimSuffix(kind, ",")] = kinds[strings.TrimSuffix(kind, ",")] || e.Streamed
		}
	}
	return kinds
}()

// Tells reports whether facts of a kind may tell a turn that is streamed.
func Tells(kind string) bool { return telling[kind] }

// Streamed reports whether the API sends such a turn as it happens.
func (w What) Streamed() bool {
	i := slices.IndexFunc(list, func(e Entry) bool { return e.What == w })
	return i >= 0 && list[i].Streamed
}

// Standing is the state of a job after its turns so far. The zero Standing means an unknown
// job.
type Standing struct {
	Known  bool
	State  grid.JobState
	Since  grid.Time   // when it entered that state
	Reason grid.Reason // why it waits, has failed, was abandoned or was withdrawn

	gathers bool         // it is gathered while it waits,
	zero    grid.Time    // and was from then on
	begun   []grid.LegID // legs of its window that run, or have run to their end
}

// Word is the name of the state: "not-taken" for a job that was refused at submission, "" for
// an unknown job.
func (s *Standing) Word() string {
	switch {
	case s.Known:
		return s.State.String()
	case s.Reason.Refused():
		return string(NotTaken)
	}
	return ""
}

// Begun records that the work of a leg of the job's window has begun, from a turn of its own
// or from an image. start is the start of the window.
func (s *Standing) Begun(leg grid.LegID, start grid.Time) {
	s.begun = append(s.begun, leg)
	if s.Known && s.State == grid.JobPlaced {
		// the window's start, as its broker shows it: the report of the start comes later
		s.State, s.Since = grid.JobRunning, max(s.Since, start)
	}
}

// Gathers records that the job is gathered while it waits, from a turn of its own or from an image.
func (s *Standing) Gathers(from grid.Time) {
	s.gathers, s.zero = true, from
	if s.Known && s.State == grid.JobWaiting {
		s.State, s.Since = grid.JobGathering, max(s.Since, from)
	}
}

// GivenUp reports whether the job was cancelled, by its user or because of what it comes
// after: what is still bought for it is given back.
func (s *Standing) GivenUp() bool {
	return s.State == grid.JobWithdrawn || s.State == grid.JobAbandoned && s.Reason.Code == grid.After
}

// Take follows a turn of the job.
func (s *Standing) Take(u *Turn) {
	become := func(state grid.JobState) {
		if state == grid.JobWaiting && s.gathers {
			state = grid.JobGathering
		}
		if !s.Known || s.State != state {
			s.Known, s.State, s.Since = true, state, u.At
		}
	}
	switch u.What {
	case Submitted:
		*s = Standing{} // a new job, whatever had the name before
		become(grid.JobWaiting)
	case NotTaken:
		if !s.Known {
			s.Reason, s.Since = u.Reason, u.At
		}
	case Postponed:
		s.Reason = u.Reason
		become(grid.JobWaiting)
	case Abandoned:
		s.Reason = u.Reason
		become(grid.JobAbandoned)
	case Gathering:
		if s.Known && (s.State == grid.JobWaiting || s.State == grid.JobGathering) {
			s.Reason = u.Reason
		}
		s.Gathers(u.zero)
	case Trying:
		if s.Known && (s.State == grid.JobWaiting || s.State == grid.JobGathering) {
			become(grid.JobTrying)
		}
	case TryFailed:
		if s.Known && s.State == grid.JobTrying {
			become(grid.JobWaiting)
		}
	case Broken, Reversed:
		if s.begun = nil; !s.Known || !s.GivenUp() {
			s.Reason = u.Reason
			become(grid.JobWaiting)
		}
	case Placed, Moved, Repaired:
		if !s.Known || !s.GivenUp() {
			s.Reason = grid.Reason{}
			if u.What != Repaired || len(s.begun) == 0 { // the replacement of a leg does not stop the others
				become(grid.JobPlaced)
			}
		}
	case Started:
		s.Begun(u.leg, u.Start)
	case LegLost:
		s.begun = slices.DeleteFunc(s.begun, func(id grid.LegID) bool { return id == u.leg })
		if s.Known && s.State == grid.JobRunning && len(s.begun) == 0 {
			become(grid.JobPlaced)
		}
	case Done, Failed:
		if s.Known && (s.State == grid.JobPlaced || s.State == grid.JobRunning || u.array) {
			if become(grid.JobDone); u.What == Failed {
				become(grid.JobFailed)
				s.Reason = u.Reason
			}
		}
	case Withdrawn:
		s.Reason = u.Reason
		become(grid.JobWithdrawn)
	}
}
