package managed

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// entry is one name of ours: what should bear it in the manager, and what was last
// seen to. It is of a leg, or of what is only to be deleted.
type entry struct {
	name    string
	leg     bourse.LegID
	what    bourse.Leg
	nodes   []string
	account string // "": no work runs there
	user    string // of the VO
	job     string
	want    want
	until   bourse.Time      // of a placing one: it is refused then, asked for again or not
	work    *bourse.Handover // of a due one and what comes of it

	seen  seen
	last  *bourse.ManagedJob // as it was seen last, however long ago
	after bourse.Time        // looks of that instant, or an earlier one, do not judge
	// Until then that there is no reservation, or no job, means nothing: the command
	// that has failed to make it may have been late.
	lateReservation, lateJob bourse.Time
	overdue                  overdue

	verb      agents.CommandVerb         // the command to be given; "": none
	since     bourse.Time                // when
	retry     bourse.Time                // none before
	sent      bool                       // one ever was
	tries     map[agents.CommandVerb]int // commands that were done or denied
	why       bourse.Reason              // of the last one that was not done
	sure      bool                       // what is there follows from answers: all commands were given in this life, and done
	assigned  bool                       // the manager has said so, or shown it
	submitted bourse.Time                // its work may have been in the manager since; 0: it never was
	denied    bool                       // the manager has said of the last submission that there is none
	replaced  bourse.Time                // the submit of a job that we have ended, to submit its work anew
	ended     bool                       // we have had its work ended, at the window's end
	down      bourse.Time                // since when one of its nodes is; 0: none is
	idle      bool                       // of a gone one: no work of it has been on its nodes
	deleted   bool                       // the manager has said that it is, and shown nothing else since
	stuck     bool                       // or that it is not
}

// overdue is a command whose answer was given up.
type overdue struct {
	ref  uint64 // 0: none
	verb agents.CommandVerb
}

// want is what should be in the manager.
type want uint8

const (
	placing want = iota // a reservation for nobody yet, to find out whether it can be had
	held                // that reservation
	bare                // one for its user, who is told nothing to run
	due                 // one for its user, with the job that begins with it
	lying               // what was bare, in its window
	begun               // what was due, and has begun
	gone                // nothing
	wants
)

// seen is what a look has shown of a name.
type seen struct {
	reservation reservationSeen
	job         jobSeen
	asOf        bourse.Time // it shows what there was then, or later
	until       bourse.Time // but not after
	is          *bourse.ManagedJob
	extra       *bourse.ManagedJob // another job of the same name that is not over
	down        string             // a node of it that is not up; "": all are
}

// reservationSeen is how it stands with a reservation.
type reservationSeen uint8

const (
	unseen  reservationSeen = iota // no look yet that could tell
	none                           // there is none of the name
	changed                        // another window, or without one of its nodes
	theirs                         // but not for its user yet
	right
	reservations
)

// jobSeen is how it stands with a job.
type jobSeen uint8

const (
	unseenJob jobSeen = iota
	noJob
	pending
	stopped   // pending, and held by somebody
	unclear   // in a state that the manager does not know, or we do not
	runs      // it runs
	cancelled // over, and never ran
	over
	twoJobs // of the name, neither over
	jobStates
)

// Name is what the reservation and the job of a leg are called in the manager.
func Name(prefix string, leg bourse.LegID) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %d %d", leg.Tx.Broker, leg.Tx.Incarnation, leg.Tx.Nonce, leg.Tx.Seq, leg.Leg))
	return prefix + hex.EncodeToString(sum[:16])
}

// isOurs reports whether a name is one that Name makes: one that only begins like it
// is another's.
func isOurs(prefix, name string) bool {
	digits, ok := strings.CutPrefix(name, prefix)
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// sight reads a look for all names of ours.
func sight(prefix string, look *bourse.Look) (jobs map[string][]*bourse.ManagedJob, reservations map[string]*bourse.ManagedReservation) {
	jobs, reservations = map[string][]*bourse.ManagedJob{}, map[string]*bourse.ManagedReservation{}
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
func (e *entry) reservationIs(r *bourse.ManagedReservation, slack bourse.Duration) reservationSeen {
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
func live(j *bourse.ManagedJob) bool {
	return j.State != bourse.ManagedEnded && j.State != bourse.ManagedLost
}

// jobIs picks the entry's job out of those of its name, and says how it stands with
// it. One that was over before the entry's work was submitted, or that we have ended
// ourselves to submit it anew, is not it.
func (e *entry) jobIs(list []*bourse.ManagedJob, slack bourse.Duration) (state jobSeen, is, extra *bourse.ManagedJob) {
	list = slices.DeleteFunc(slices.Clone(list), func(j *bourse.ManagedJob) bool {
		if live(j) {
			return false
		}
		old := e.submitted == 0 || j.Submit > 0 && j.Submit.Add(slack) < e.submitted
		return old || e.replaced > 0 && j.Submit <= e.replaced && len(j.Nodes) == 0
	})
	if len(list) == 0 {
		return noJob, nil, nil
	}
	slices.SortStableFunc(list, func(a, b *bourse.ManagedJob) int { // one that has begun, then the first
		return cmp.Or(cmp.Compare(standing(a), standing(b)), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Number, b.Number))
	})
	is = list[0]
	for _, j := range list[1:] {
		if live(j) {
			return twoJobs, is, j
		}
	}
	switch is.State {
	case bourse.ManagedPending:
		return pending, is, nil
	case bourse.ManagedHeld:
		return stopped, is, nil
	case bourse.ManagedRunning:
		return runs, is, nil
	case bourse.ManagedLost:
		return over, is, nil
	case bourse.ManagedEnded:
		if len(is.Nodes) == 0 {
			return cancelled, is, nil
		}
		return over, is, nil
	}
	return unclear, is, nil
}

// standing says which of several jobs is the one that counts: the least.
func standing(j *bourse.ManagedJob) int {
	switch {
	case j.State == bourse.ManagedRunning:
		return 0
	case !live(j) && len(j.Nodes) > 0:
		return 1
	case live(j):
		return 2
	}
	return 3
}

// judge has an entry see what a look shows, if that is new enough to judge it.
func (e *entry) judge(b *Backend, jobs []*bourse.ManagedJob, r *bourse.ManagedReservation, up map[string]bool) {
	asOf, slack := b.asOf, b.cfg.Limits.Skew+bourse.Second // a manager's times may be whole seconds
	if asOf <= e.after {
		return
	}
	s := seen{asOf: asOf, until: b.until, reservation: right}
	if b.cfg.Reserves || e.want == gone {
		s.reservation = e.reservationIs(r, slack)
	}
	s.job, s.is, s.extra = e.jobIs(jobs, slack)
	if b.cfg.Reserves && r == nil && asOf < e.lateReservation || s.job == noJob && asOf < e.lateJob {
		return // it may come yet
	}
	if s.is != nil { // it has come; nothing else can
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

// known reports whether a look has shown how it stands with the entry.
func (s *seen) known() bool { return s.job != unseenJob }

// since reports whether it has shown that of an instant, or later.
func (s *seen) since(t bourse.Time) bool { return s.known() && s.asOf >= t }

// claim is the nodes that the entry takes, as far as is known.
func (e *entry) claim(now bourse.Time, padding bourse.Duration) Claim {
	c := Claim{Name: e.name, Nodes: e.nodes, Start: e.what.Start, End: e.what.End.Add(padding)}
	if e.want >= lying && now >= c.End { // it should be gone and is not
		c.End = bourse.MaxTime
	}
	return c
}

// leaving reports whether the entry is as good as gone: its nodes are free once it is
// deleted, and nothing has shown that it cannot be.
func (e *entry) leaving() bool { return e.want == gone && e.idle && !e.stuck }

// locked reports whether there is a lock for it.
func (e *entry) locked() bool { return e.want != placing && e.want != gone }
