package managed

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// entry is one of our names: what should have it in the manager, and what was last seen to
// have it. It belongs to a leg, or to something that is only to be deleted.
type entry struct {
	name     string
	leg      grid.LegID
	what     grid.Leg
	nodes    []string
	on       []int32  // of slices: the numbers under which its nodes are open
	account  string   // "": no work runs there
	options  []string // of its submission
	user     string   // of the VO
	job      string
	want     want
	until    grid.Time      // of a placing one: when it is refused, even if it is not asked for again
	work     *grid.Handover // of a due one and later
	in       string         // the pilot whose nodes it has; "": none
	pilot    *pilot         // of a claimed one, and of one that leaves; nil: it is of a leg
	granting grid.Duration  // what the Grant under way is to tell it

	seen  seen
	last  *grid.ManagedJob // as last seen, however long ago
	after grid.Time        // looks of this instant or earlier do not count
	told  uint64           // the last number when the last answer came: looks of later ones were asked for after it
	// Until then it proves nothing that there is no reservation, or no job: the command
	// that is said to have failed may take effect late.
	lateReservation, lateJob grid.Time
	overdue                  overdue

	verb      agents.CommandVerb         // the command to give; "": none
	since     grid.Time                  // when
	retry     grid.Time                  // no command before this
	sent      bool                       // a command was ever sent
	tries     map[agents.CommandVerb]int // commands that were carried out or denied
	why       grid.Reason                // of the last command that was not carried out
	said      agents.Outcome             // of the last command; "": none, or it was taken into account
	saidOf    agents.CommandVerb         // that command
	sure      bool                       // what is there is known from answers: all commands were given in this life, and carried out
	assigned  bool                       // the manager has said so, or shown it
	submitted grid.Time                  // since when its work may be in the manager; 0: it never was
	denied    bool                       // the manager has said that the last submission does not exist
	replaced  grid.Time                  // the submission of a job that we have ended to submit its work anew
	ended     bool                       // we have ended its work, at the window's end
	down      grid.Time                  // since when one of its nodes is down; 0: none is
	idle      bool                       // of a gone one: its work was never on its nodes
	deleted   bool                       // the manager has said that it is deleted, and shown nothing else since
	stuck     bool                       // the last command to delete it was not carried out
}

// overdue is a command for whose answer nobody waits any more.
type overdue struct {
	ref  uint64 // 0: none
	verb agents.CommandVerb
}

// want is what should be in the manager.
type want uint8

const (
	placing want = iota // a reservation still for the holder, to find out whether there is room
	held                // that reservation
	bare                // one for its user, without work
	due                 // one for its user, with the job that begins in it
	lying               // what was bare, in its window
	begun               // what was due, and has begun
	claimed             // a pilot
	gone                // nothing
	wants
)

// seen is what a look has shown for a name.
type seen struct {
	reservation reservationSeen
	job         jobSeen
	asOf        grid.Time // it shows what was there then, or later
	until       grid.Time // but not later than this
	is          *grid.ManagedJob
	extra       *grid.ManagedJob // another job of the same name that is not over
	down        string           // a node of it that is not up; "": all are
}

// reservationSeen is the state of a reservation by a look.
type reservationSeen uint8

const (
	unseen  reservationSeen = iota // no look yet that could tell
	none                           // there is none of that name
	changed                        // it has another window, or lacks one of its nodes
	theirs                         // right, but not yet for its user
	right
	reservations
)

// jobSeen is the state of a job by a look.
type jobSeen uint8

const (
	unseenJob jobSeen = iota
	noJob
	pending
	stopped   // pending, and held by somebody
	unclear   // in a state that the manager or we do not know
	runs      // it runs
	cancelled // over, and it never ran
	over
	twoJobs // two jobs of the name are not over
	jobStates
)

// Name is what the reservation and the job of a leg are called in the manager.
func Name(prefix string, leg grid.LegID) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %d %d", leg.Tx.Broker, leg.Tx.Incarnation, leg.Tx.Nonce, leg.Tx.Seq, leg.Leg))
	return prefix + hex.EncodeToString(sum[:16])
}

// isOurs reports whether Name could have made a name. One that only begins like it belongs
// to somebody else.
func isOurs(prefix, name string) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// sight reads a look for all our names.
func sight(prefix string, look *grid.Look) (jobs map[string][]*grid.ManagedJob, reservations map[string]*grid.ManagedReservation) {
	jobs, reservations = map[string][]*grid.ManagedJob{}, map[string]*grid.ManagedReservation{}
	for i := range look.Jobs {
		if j := &look.Jobs[i]; isOurs(prefix, j.Name) {
			jobs[j.Name] = append(jobs[j.Name], j)
		}
	}
	for i := range look.Reservations {
		if r := &look.Reservations[i]; isOurs(prefix, r.Name) {
			reservations[r.Name] = r
		}
	}
	return jobs, reservations
}

// reservationIs compares the reservation of the entry's name with what it should be.
func (e *entry) reservationIs(r *grid.ManagedReservation, slack grid.Duration) reservationSeen {
	switch {
	case r == nil:
		return none
	case r.Start > e.what.Start.Add(slack) || r.End < e.what.End.Add(-slack):
		return changed
	case slices.ContainsFunc(e.nodes, func(n string) bool { return !slices.Contains(r.Nodes, n) }):
		return changed
	case e.account != "" && !slices.Contains(r.Users, e.account):
		return theirs
	}
	return right
}

// live reports whether a job is not over.
func live(j *grid.ManagedJob) bool {
	return j.State != grid.ManagedEnded && j.State != grid.ManagedLost
}

// jobIs picks the entry's job among those of its name, and returns its state. A job that was
// over before the entry's work was submitted, or that we have ended to submit the work
// anew, is not the entry's. One that has run though the journal says that nothing was
// submitted is: a later journal had submitted it, and was lost.
func (e *entry) jobIs(list []*grid.ManagedJob, slack grid.Duration) (state jobSeen, is, extra *grid.ManagedJob) {
	list = slices.DeleteFunc(slices.Clone(list), func(j *grid.ManagedJob) bool {
		if live(j) {
			return false
		}
		old := e.submitted == 0 && !e.mayHaveRun(j) || !e.within(j) && j.Submit > 0 && j.Submit.Add(slack) < e.submitted
		return old || e.replaced > 0 && j.Submit <= e.replaced && len(j.Nodes) == 0
	})
	if len(list) == 0 {
		return noJob, nil, nil
	}
	slices.SortStableFunc(list, func(a, b *grid.ManagedJob) int { // jobs that have begun first, then by submission
		return cmp.Or(cmp.Compare(standing(a), standing(b)), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Number, b.Number))
	})
	is = list[0]
	for _, j := range list[1:] {
		if live(j) {
			return twoJobs, is, j
		}
	}
	switch is.State {
	case grid.ManagedPending:
		return pending, is, nil
	case grid.ManagedHeld:
		return stopped, is, nil
	case grid.ManagedRunning:
		return runs, is, nil
	case grid.ManagedLost:
		return over, is, nil
	case grid.ManagedEnded:
		if len(is.Nodes) == 0 {
			return cancelled, is, nil
		}
		return over, is, nil
	}
	return unclear, is, nil
}

// within reports whether a job is work in the entry's pilot. It may have the pilot's submission,
// which was before that of the work.
func (e *entry) within(j *grid.ManagedJob) bool { return e.in != "" && j.In == e.in }

// mayHaveRun reports whether a job that has run is the entry's though its work was never
// submitted by the journal: the journal is one of the past. Then the work does not run again.
func (e *entry) mayHaveRun(j *grid.ManagedJob) bool {
	return len(j.Nodes) > 0 && (e.want == placing || e.want == held || e.want == due)
}

// standing ranks several jobs of a name: the least counts.
func standing(j *grid.ManagedJob) int {
	switch {
	case j.State == grid.ManagedRunning:
		return 0
	case !live(j) && len(j.Nodes) > 0:
		return 1
	case live(j):
		return 2
	}
	return 3
}

// judge updates an entry by a look, if the look is new enough.
func (e *entry) judge(b *Backend, jobs []*grid.ManagedJob, r *grid.ManagedReservation, up map[string]bool) {
	asOf, slack := b.asOf, b.cfg.Limits.Skew+grid.Second // a manager's times may be whole seconds
	if asOf <= e.after && !(b.hurries(e) && b.lookRef > e.told) {
		return
	}
	s := seen{asOf: asOf, until: b.until, reservation: right}
	if b.cfg.Reserves || e.want == gone {
		s.reservation = e.reservationIs(r, slack)
	}
	s.job, s.is, s.extra = e.jobIs(jobs, slack)
	if b.cfg.Reserves && r == nil && asOf < e.lateReservation || s.job == noJob && asOf < e.lateJob {
		return // it may still come
	}
	if s.is != nil { // it has come; nothing else can follow
		e.lateJob = 0
	}
	if r != nil {
		e.lateReservation, e.deleted = 0, false
	}
	for _, n := range e.nodes {
		if !up[n] && s.down == "" {
			s.down = n
		}
	}
	switch {
	case s.down == "":
		e.down = 0
	case e.down == 0:
		e.down = asOf
	}
	e.seen = s
	if s.is != nil {
		e.last = s.is
	}
	if s.reservation >= theirs {
		e.assigned = s.reservation == right
	}
}

// known reports whether a look has shown the state of the entry.
func (s *seen) known() bool { return s.job != unseenJob }

// since reports whether a look of an instant or later has shown it.
func (s *seen) since(t grid.Time) bool { return s.known() && s.asOf >= t }

// claim returns the nodes that the entry takes, as far as is known.
func (e *entry) claim(now grid.Time, padding grid.Duration) Claim {
	c := Claim{Name: e.name, Nodes: e.nodes, Start: e.what.Start, End: e.what.End.Add(padding)}
	if e.in != "" {
		c.End = e.what.End // its pilot keeps them after that, for nobody else
	}
	if e.want >= lying && now >= c.End { // it should be gone, and is not
		c.End = grid.MaxTime
	}
	return c
}

// leaving reports whether the entry will soon be gone: its nodes are free once it is
// deleted, and nothing has shown that this is impossible.
func (e *entry) leaving() bool { return e.want == gone && e.idle && !e.stuck }

// locked reports whether there is a lock for it.
func (e *entry) locked() bool { return e.want != placing && e.want != claimed && e.want != gone }
