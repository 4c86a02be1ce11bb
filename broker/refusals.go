package broker

import (
	"bourse"
	"bourse/agents"
)

// refusals is how many submissions were refused in an hour, and recorded. It is
// of this life only: no state follows from such facts.
type refusals struct {
	hour  bourse.Time
	users map[string]int
	all   int
}

// refusingUsers is how many times the refusals of one user are recorded of all
// users together.
const refusingUsers = 50

// notTaken records that a submission was not taken, unless enough of that is on
// record of its user, or of all users, in this hour: whoever is refused is told
// so anyway, and must not fill the disk.
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
