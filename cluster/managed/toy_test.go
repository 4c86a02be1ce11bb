package managed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// toy is a resource manager in memory that carries out commands, and misbehaves as a test
// says: it forgets, is late, denies, and has a meddling administrator.
type toy struct {
	reserves     bool
	now          grid.Time
	skew         grid.Duration // its clock before ours
	nodes        []grid.ManagedNode
	reservations []grid.ManagedReservation
	jobs         []toyJob
	number       int
	lengths      map[string]grid.Duration // of work, by name; others run until they are ended
	grace        grid.Duration            // what work takes to end that is told to
	dead         []toyState               // what it was, a second each
	keeps        grid.Duration            // how long it knows of jobs that are over
	longest      grid.Duration            // how long work may run; 0: as long as it likes
	unbegun      map[string]bool          // work that its node did not begin, though the manager calls it running

	bears    map[string]bool // reservations that others may overlap
	begun    map[string]int  // how often work of a name has begun
	breaches []string        // what must never happen
	story    []string
}

type toyJob struct {
	grid.ManagedJob
	begin  grid.Time // not before
	limit  grid.Time // it is ended
	killed grid.Time // it has been told to end; 0: it has not
	over   grid.Time
	part   grid.LegPart
}

type toyState struct {
	at           grid.Time
	reservations []grid.ManagedReservation
	jobs         []toyJob
}

func newToy(reserves bool, names ...string) *toy {
	m := &toy{reserves: reserves, lengths: map[string]grid.Duration{}, begun: map[string]int{}, bears: map[string]bool{}, keeps: 5 * grid.Minute, grace: grid.Second, number: 100}
	for _, n := range names {
		m.nodes = append(m.nodes, grid.ManagedNode{Name: n, State: grid.NodeUp, CPUs: 4, Partitions: []string{"batch"}})
	}
	return m
}

func (m *toy) breach(format string, args ...any) {
	m.breaches = append(m.breaches, fmt.Sprintf("%v ", m.now)+fmt.Sprintf(format, args...))
}

func (m *toy) tell(format string, args ...any) {
	m.story = append(m.story, fmt.Sprintf("%v ", m.now)+fmt.Sprintf(format, args...))
}

// reach lives up to an instant.
func (m *toy) reach(to grid.Time) {
	for m.now < to {
		m.now = min(to, m.now.Add(grid.Second))
		m.tick()
		m.dead = append(m.dead, toyState{m.now, slices.Clone(m.reservations), slices.Clone(m.jobs)})
		if len(m.dead) > 20 {
			m.dead = m.dead[1:]
		}
	}
}

func (m *toy) clock() grid.Time { return m.now.Add(m.skew) }

func (m *toy) tick() {
	for i := range m.jobs {
		j := &m.jobs[i]
		if j.State == grid.ManagedPending && j.begin <= m.clock() {
			m.start(j)
		}
		if j.State != grid.ManagedRunning {
			continue
		}
		length, bounded := m.lengths[j.Name]
		switch {
		case bounded && m.clock() >= j.Start.Add(length):
			m.end(j, "")
		case j.killed > 0 && m.now >= j.killed.Add(m.grace), m.clock() >= j.limit:
			j.Signal = 15
			m.end(j, "")
		}
	}
	m.reservations = slices.DeleteFunc(m.reservations, func(r grid.ManagedReservation) bool { return r.End <= m.clock() })
	m.jobs = slices.DeleteFunc(m.jobs, func(j toyJob) bool { return j.State == grid.ManagedEnded && j.over.Add(m.keeps) < m.now })
}

func (m *toy) start(j *toyJob) {
	if r := m.reservation(j.Reservation); j.Reservation != "" && (r == nil || !slices.Contains(r.Users, j.User) || r.Start > m.clock()) {
		j.Why = "Reservation"
		return
	}
	for _, n := range j.Nodes {
		if m.node(n).State != grid.NodeUp {
			j.Why = "ReqNodeNotAvail"
			return
		}
		if taken := m.taken(n); taken > 0 && (!j.part.Some() || taken+int(j.part.Slices) > int(j.part.Of)) {
			j.Why = "Resources"
			return
		}
	}
	j.State, j.Start, j.Why = grid.ManagedRunning, m.clock(), ""
	if m.begun[j.Name]++; m.begun[j.Name] > 1 && isOurs(thePrefix, j.Name) {
		m.breach("work of %s begins for the %d. time", j.Name, m.begun[j.Name])
	}
	m.tell("%s begins", j.Name)
}

// taken is how many slices of a node have work on them; all of it counts as very many.
func (m *toy) taken(node string) (n int) {
	for _, o := range m.jobs {
		switch {
		case o.State != grid.ManagedRunning || !slices.Contains(o.Nodes, node):
		case o.part.Some():
			n += int(o.part.Slices)
		default:
			n += grid.MaxSlices
		}
	}
	return n
}

func (m *toy) end(j *toyJob, why string) {
	if j.State == grid.ManagedPending || j.State == grid.ManagedHeld {
		j.Nodes = nil
	}
	j.State, j.End, j.Why, j.over = grid.ManagedEnded, m.clock(), why, m.now
	m.tell("%s is over", j.Name)
}

// putBack has a job wait in the queue again, for two minutes at least, as Slurm does where a node
// could not begin it.
func (m *toy) putBack(name string) {
	j := m.job(name)
	j.State, j.Start, j.Why, j.begin = grid.ManagedPending, 0, "BeginTime", m.clock().Add(2*grid.Minute)
	m.tell("%s is put back", name)
}

func (m *toy) node(name string) *grid.ManagedNode {
	i := slices.IndexFunc(m.nodes, func(n grid.ManagedNode) bool { return n.Name == name })
	return &m.nodes[i]
}

func (m *toy) reservation(name string) *grid.ManagedReservation {
	i := slices.IndexFunc(m.reservations, func(r grid.ManagedReservation) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &m.reservations[i]
}

// job is the one of a name that is not over.
func (m *toy) job(name string) *toyJob {
	i := slices.IndexFunc(m.jobs, func(j toyJob) bool { return j.Name == name && j.State != grid.ManagedEnded })
	if i < 0 {
		return nil
	}
	return &m.jobs[i]
}

// forget has the manager restart without what it has acknowledged lately. The number of
// a job that it has lost goes to somebody else's.
func (m *toy) forget(lately grid.Duration) {
	var was toyState
	for _, s := range m.dead {
		if s.at <= m.now.Add(-lately) {
			was = s
		}
	}
	lost := slices.DeleteFunc(slices.Clone(m.jobs), func(j toyJob) bool {
		return slices.ContainsFunc(was.jobs, func(o toyJob) bool { return o.Number == j.Number })
	})
	running := slices.DeleteFunc(slices.Clone(m.jobs), func(j toyJob) bool { return j.Start == 0 })
	m.reservations, m.jobs = slices.Clone(was.reservations), slices.Clone(was.jobs)
	for i := range m.jobs { // what has begun, its nodes know
		for _, r := range running {
			if r.Number == m.jobs[i].Number {
				m.jobs[i] = r
			}
		}
	}
	for _, r := range running {
		if r.State == grid.ManagedRunning && !slices.ContainsFunc(m.jobs, func(j toyJob) bool { return j.Number == r.Number }) {
			m.jobs = append(m.jobs, r)
		}
	}
	lost = slices.DeleteFunc(lost, func(j toyJob) bool { return j.Start > 0 })
	for _, j := range lost {
		m.jobs = append(m.jobs, toyJob{ManagedJob: grid.ManagedJob{Number: j.Number, Name: "another's", User: "eve", State: grid.ManagedPending, Count: 1, Limit: grid.Hour, Submit: m.clock()}, begin: grid.Never})
	}
	m.tell("the manager forgets %v", lately)
	m.dead = []toyState{{m.now, slices.Clone(m.reservations), slices.Clone(m.jobs)}}
}

// do carries a command out, as the driver would.
func (m *toy) do(c agents.Command) (agents.Outcome, grid.Reason) {
	m.tell("%s %s", c.Verb, c.Name)
	if !isOurs(thePrefix, c.Name) {
		m.breach("%s of %q, which is not ours", c.Verb, c.Name)
	}
	denied := func(format string, args ...any) (agents.Outcome, grid.Reason) {
		return agents.Denied, grid.Because(grid.Busy, format, args...)
	}
	switch c.Verb {
	case agents.Reserve:
		if length := c.End.Sub(c.Start) - c.Padding; m.longest > 0 && length > m.longest {
			return agents.Denied, grid.Because(grid.TooLarge, "no job may run for %v s", length)
		}
		for _, r := range m.reservations {
			if !c.Part.Some() && !m.bears[r.Name] && r.Start < c.End && c.Start < r.End && slices.ContainsFunc(c.Nodes, func(n string) bool { return slices.Contains(r.Nodes, n) }) {
				return denied("overlaps %s", r.Name)
			}
		}
		for _, j := range m.jobs {
			if !c.Joins && j.State == grid.ManagedRunning && j.limit > c.Start && slices.ContainsFunc(c.Nodes, func(n string) bool { return slices.Contains(j.Nodes, n) }) {
				return denied("busy")
			}
		}
		m.reservations = append(m.reservations, grid.ManagedReservation{Name: c.Name, Start: c.Start, End: c.End, Nodes: c.Nodes, Users: []string{"holder"}})
		m.bears[c.Name] = c.Part.Some()
	case agents.Assign:
		r := m.reservation(c.Name)
		if r == nil {
			return denied("there is no reservation %s", c.Name)
		}
		r.Users = []string{c.User}
	case agents.Run:
		return m.submit(c)
	case agents.End, agents.Delete:
		for i := range m.jobs {
			j := &m.jobs[i]
			switch {
			case j.Name != c.Name || j.State == grid.ManagedEnded:
			case c.Verb == agents.End && c.Number != "" && c.Number != j.Number:
			case j.State == grid.ManagedRunning && c.Verb == agents.End:
				j.killed = m.now
			default:
				m.end(j, "CANCELLED")
			}
		}
		if c.Verb == agents.Delete {
			m.reservations = slices.DeleteFunc(m.reservations, func(r grid.ManagedReservation) bool { return r.Name == c.Name })
		}
	}
	return agents.Done, grid.Reason{}
}

func (m *toy) submit(c agents.Command) (agents.Outcome, grid.Reason) {
	if c.User == "" || c.User == "root" || c.User == "holder" {
		m.breach("%s would run as %q", c.Name, c.User)
	}
	if m.job(c.Name) != nil { // the driver would look, but it may not see what is still on its way
		m.breach("%s is submitted while it is there", c.Name)
	}
	if m.begun[c.Name] > 0 {
		m.breach("%s is submitted after it has begun", c.Name)
	}
	if m.reserves && m.reservation(c.Name) == nil {
		return agents.Denied, grid.Because(grid.Busy, "there is no reservation %s", c.Name)
	}
	for _, o := range m.jobs {
		if !m.reserves && !(c.Part.Some() && o.part.Some()) && o.State == grid.ManagedRunning && isOurs(thePrefix, o.Name) && slices.ContainsFunc(c.Nodes, func(n string) bool { return slices.Contains(o.Nodes, n) }) {
			m.breach("%s is submitted to nodes of %s, which runs", c.Name, o.Name)
		}
	}
	for _, n := range c.Nodes {
		if taken := m.taken(n); !m.reserves && c.Part.Some() && taken < grid.MaxSlices && taken+int(c.Part.Slices) > int(c.Part.Of) {
			m.breach("%s is submitted to %s, of which %d slices are taken", c.Name, n, taken)
		}
	}
	m.number++
	j := toyJob{ManagedJob: grid.ManagedJob{Number: fmt.Sprint(m.number), Name: c.Name, User: c.User, State: grid.ManagedPending, Partition: "batch",
		Count: len(c.Nodes), Nodes: c.Nodes, Submit: m.clock(), Limit: c.End.Sub(c.Start)}, begin: c.Start, limit: c.End.Add(grid.Minute), part: c.Part}
	if m.reserves {
		j.Reservation = c.Name
	}
	m.jobs = append(m.jobs, j)
	m.tick()
	return agents.Done, grid.Reason{}
}

// look is what the manager says of itself.
func (m *toy) look() *grid.Look {
	l := &grid.Look{At: m.clock(), Source: "toy", Nodes: slices.Clone(m.nodes), Reservations: slices.Clone(m.reservations)}
	if m.longest > 0 {
		l.Partitions = []grid.ManagedPartition{{Name: "batch", Limit: m.longest}}
	}
	for _, j := range m.jobs {
		x := j.ManagedJob
		x.Unbegun = m.unbegun[x.Name] && x.State != grid.ManagedEnded
		if x.State == grid.ManagedRunning {
			x.End = j.limit
		}
		l.Jobs = append(l.Jobs, x)
	}
	for _, j := range m.jobs {
		if j.State != grid.ManagedRunning {
			continue
		}
		for i := range l.Nodes {
			if slices.Contains(j.Nodes, l.Nodes[i].Name) {
				l.Nodes[i].Busy = l.Nodes[i].CPUs
			}
		}
	}
	return l
}

// lookBack is what it has said some time ago, as far as that is kept.
func (m *toy) lookBack(ago grid.Duration) *grid.Look {
	for _, s := range m.dead {
		if ago > 0 && s.at >= m.now.Add(-ago) {
			then := *m
			then.now, then.reservations, then.jobs = s.at, s.reservations, s.jobs
			return then.look()
		}
	}
	return m.look()
}

// ours lists our reservations and jobs that are not over.
func (m *toy) ours() (list []string) {
	for _, r := range m.reservations {
		if strings.HasPrefix(r.Name, thePrefix) {
			list = append(list, "reservation "+r.Name)
		}
	}
	for _, j := range m.jobs {
		if strings.HasPrefix(j.Name, thePrefix) && j.State != grid.ManagedEnded {
			list = append(list, "job "+j.Name)
		}
	}
	return list
}
