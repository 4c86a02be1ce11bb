package slurm

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// share is what running jobs use of something with limits.
type share struct{ jobs, nodes, cpus int }

func (s share) plus(j *Job, sign int) share {
	return share{s.jobs + sign, s.nodes + sign*j.Nodes, s.cpus + sign*j.CPUs}
}

// usedShares is what running jobs use, by what has limits.
type usedShares struct {
	assoc    []share // with all below it
	qos      []share
	users    []share // of a user in a QOS
	accounts []share // of an account in a QOS
	arrays   []int   // running tasks
}

// slots are the places of a job in usedShares; -1 where it has none.
type slots struct{ user, account, array int }

// slotted gives each pair of a user or an account and a QOS a place, and each array.
type slotted struct {
	users, accounts map[pair]int
	arrays          map[int64]int
}

type pair struct{ qos, who int }

// of returns the places of a job. Of an array that is not throttled only one with several tasks has one.
func (s *slotted) of(c *Config, j *Job, array bool) slots {
	if s.users == nil {
		s.users, s.accounts, s.arrays = map[pair]int{}, map[pair]int{}, map[int64]int{}
	}
	at := slots{-1, -1, -1}
	if j.QOS >= 0 {
		at.user = place(s.users, pair{j.QOS, j.User})
		at.account = place(s.accounts, pair{j.QOS, c.account(j)})
	}
	if array {
		at.array = place(s.arrays, j.Array)
	}
	return at
}

// slotsOf gives the jobs of a list their places.
func (t *Twin) slotsOf(c *Config, jobs []Job) {
	size := map[int64]int{}
	for i := range jobs {
		size[jobs[i].Array]++
	}
	t.slots = make([]slots, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		t.slots[i] = t.slotted.of(c, j, j.Throttle > 0 || size[j.Array] > 1)
	}
	t.shares = usedShares{assoc: make([]share, len(c.Assocs)), qos: make([]share, len(c.QOS))}
	t.shares.grow(&t.slotted)
}

// grow makes room for the places given so far.
func (s *usedShares) grow(to *slotted) {
	s.users = append(s.users, make([]share, len(to.users)-len(s.users))...)
	s.accounts = append(s.accounts, make([]share, len(to.accounts)-len(s.accounts))...)
	s.arrays = append(s.arrays, make([]int, len(to.arrays)-len(s.arrays))...)
}

// place is the place of a key, the next free one if it is new.
func place[K comparable](places map[K]int, key K) int {
	i, known := places[key]
	if !known {
		i = len(places)
		places[key] = i
	}
	return i
}

func (s *usedShares) clone() usedShares {
	return usedShares{slices.Clone(s.assoc), slices.Clone(s.qos), slices.Clone(s.users), slices.Clone(s.accounts), slices.Clone(s.arrays)}
}

// account is the association of a job's account, -1 if it has none.
func (c *Config) account(j *Job) int {
	if j.Assoc < 0 {
		return -1
	}
	return c.Assocs[j.Assoc].Parent
}

// count adds a running job with sign 1, and takes it away with -1.
func (t *Twin) count(i, sign int) {
	j, s, at := &t.jobs[i], &t.shares, t.slots[i]
	for a := j.Assoc; a >= 0; a = t.conf.Assocs[a].Parent {
		s.assoc[a] = s.assoc[a].plus(j, sign)
	}
	if j.QOS >= 0 {
		s.qos[j.QOS] = s.qos[j.QOS].plus(j, sign)
		s.users[at.user] = s.users[at.user].plus(j, sign)
		s.accounts[at.account] = s.accounts[at.account].plus(j, sign)
	}
	if at.array >= 0 {
		s.arrays[at.array] += sign
	}
}

// throttled reports whether the job's array has as many running tasks as it may.
func (t *Twin) throttled(i int) bool {
	j := &t.jobs[i]
	return j.Throttle > 0 && t.shares.arrays[t.slots[i].array] >= j.Throttle
}

// atLimit says which limit keeps a job from being tried: a count of jobs that is reached, or
// a bound of nodes or time that the job alone is beyond. Nothing if none does.
func (t *Twin) atLimit(i int) Why {
	j, at := &t.jobs[i], t.slots[i]
	q := t.qosLimits(j)
	if q != nil {
		if t.shares.qos[j.QOS].jobs >= q.GrpJobs || t.shares.users[at.user].jobs >= q.UserJobs ||
			t.shares.accounts[at.account].jobs >= q.AcctJobs || j.Limit > q.JobTime ||
			j.Nodes > min(q.GrpNodes, q.UserNodes, q.AcctNodes, q.JobNodes) || j.CPUs > min(q.GrpCPUs, q.UserCPUs, q.AcctCPUs, q.JobCPUs) {
			return QOSLimit
		}
	}
	if !t.conf.Limits {
		return Nothing
	}
	for a := j.Assoc; a >= 0; a = t.conf.Assocs[a].Parent {
		l := t.assocLimits(a, q)
		own := a == j.Assoc // limits of one job and of MaxJobs are handed down to the users
		if t.shares.assoc[a].jobs >= l.GrpJobs || j.Nodes > l.GrpNodes || j.CPUs > l.GrpCPUs ||
			own && (t.shares.assoc[a].jobs >= l.MaxJobs || j.Nodes > l.JobNodes || j.CPUs > l.JobCPUs || j.Limit > l.JobTime) {
			return AssocLimit
		}
	}
	return Nothing
}

// overLimit says which limit of nodes or CPUs the job would exceed beside those that run.
func (t *Twin) overLimit(i int) Why {
	j, at := &t.jobs[i], t.slots[i]
	q := t.qosLimits(j)
	if q != nil {
		user, acct := t.shares.users[at.user], t.shares.accounts[at.account]
		if all := t.shares.qos[j.QOS]; all.nodes+j.Nodes > q.GrpNodes || all.cpus+j.CPUs > q.GrpCPUs ||
			user.nodes+j.Nodes > q.UserNodes || user.cpus+j.CPUs > q.UserCPUs || acct.nodes+j.Nodes > q.AcctNodes || acct.cpus+j.CPUs > q.AcctCPUs {
			return QOSLimit
		}
	}
	if !t.conf.Limits {
		return Nothing
	}
	for a := j.Assoc; a >= 0; a = t.conf.Assocs[a].Parent {
		if l, s := t.assocLimits(a, q), &t.shares.assoc[a]; s.nodes+j.Nodes > l.GrpNodes || s.cpus+j.CPUs > l.GrpCPUs {
			return AssocLimit
		}
	}
	return Nothing
}

// qosLimits are the limits of the job's QOS, nil if it has none or they are not enforced.
func (t *Twin) qosLimits(j *Job) *Limits {
	if j.QOS < 0 || !t.conf.Limits || !t.conf.QOSLimits {
		return nil
	}
	return &t.conf.QOS[j.QOS].Limits
}

// assocLimits are an association's limits. One that the QOS also sets is the QOS's alone.
func (t *Twin) assocLimits(i int, q *Limits) Limits {
	l := t.conf.Assocs[i].Limits
	if q == nil {
		return l
	}
	for _, of := range [...]struct {
		qos  int
		mine *int
	}{{q.GrpJobs, &l.GrpJobs}, {q.GrpNodes, &l.GrpNodes}, {q.GrpCPUs, &l.GrpCPUs}, {q.UserJobs, &l.MaxJobs}, {q.JobNodes, &l.JobNodes}, {q.JobCPUs, &l.JobCPUs}} {
		if of.qos < Unlimited {
			*of.mine = Unlimited
		}
	}
	if q.JobTime < grid.MaxDuration {
		l.JobTime = grid.MaxDuration
	}
	return l
}
