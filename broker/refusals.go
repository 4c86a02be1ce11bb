package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// refusals counts the refused submissions that were recorded in the hour under
// way. It is of this life only: no state follows from such facts.
type refusals struct {
	hour  bourse.Time
	users map[string]int
	all   int
}

// refusingUsers is how many times the bound of one user is the bound of all users
// together.
const refusingUsers = 50

// notTaken records that a submission was not taken, unless the bound of its user,
// or of all users, is reached for this hour. Users are told in any case; refusals
// must not fill the disk.
func (in *intake) notTaken(now bourse.Time, f bourse.SubmissionRefused, out *agents.Outbox) {
	if most := in.cfg.Refusals; most > 0 {
		r := &in.refusals
		if hour := now / bourse.Time(bourse.Hour); r.users == nil || hour != r.hour {
			*r = refusals{hour: hour, users: map[string]int{}}
		}
		if r.users[f.User] >= most || r.all >= refusingUsers*most {
			return
		}
		r.users[f.User]++
		r.all++
	}
	in.record(f, out)
}
