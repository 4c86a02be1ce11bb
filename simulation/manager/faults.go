package manager

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents/sim"
)

// The kinds of what goes wrong. Those up to OldLook last, and strike a share of what is
// asked meanwhile.
const (
	LostAnswer     sim.Kind = "lost-answer"     // a command is done, and its answer lost
	LateCommand    sim.Kind = "late-command"    // it is done when its driver has given it up
	RefusedCommand sim.Kind = "refused-command" // it is refused
	SlowCommand    sim.Kind = "slow-command"    // it takes minutes
	OldLook        sim.Kind = "old-look"        // a look was taken minutes ago when it is heard

	ManagerRestart sim.Kind = "manager-restart" // the manager is killed, and begins anew
	ManagerForgot  sim.Kind = "manager-forgot"  // and has lost what it had acknowledged
	ClockSkew      sim.Kind = "clock-skew"      // its clock is some seconds off

	NodeDrained sim.Kind = "node-drained" // a node takes nothing new
	NodeDown    sim.Kind = "node-down"    // a node fails, with what it carries
	NodeRenamed sim.Kind = "node-renamed" // a node has another name

	AdminDelete  sim.Kind = "admin-delete"        // an administrator deletes a reservation of ours
	AdminMove    sim.Kind = "admin-move"          // moves one
	AdminCancel  sim.Kind = "admin-cancel"        // cancels a job of ours
	AdminHold    sim.Kind = "admin-hold"          // holds one
	AdminRequeue sim.Kind = "admin-requeue"       // has a local job run again
	Foreign      sim.Kind = "foreign-reservation" // reserves nodes for others
	Preempted    sim.Kind = "job-preempted"       // a job of ours gives way

	WorkFailed  sim.Kind = "work-failed"  // a job of ours fails
	WorkOverrun sim.Kind = "work-overrun" // it goes on beyond its window
)

// Kinds lists all kinds, in the order in which they are shown.
func Kinds() []sim.Kind {
	return []sim.Kind{LostAnswer, LateCommand, RefusedCommand, SlowCommand, OldLook, ManagerRestart, ManagerForgot, ClockSkew,
		NodeDrained, NodeDown, NodeRenamed, AdminDelete, AdminMove, AdminCancel, AdminHold, AdminRequeue, Foreign, Preempted, WorkFailed, WorkOverrun}
}

// Follows reports whether a kind is never drawn: it comes of others, or of the work.
func Follows(k sim.Kind) bool { return k == ManagerForgot || k == WorkFailed || k == WorkOverrun }

// Strike has a fault happen to a manager. The world sends it.
type Strike struct {
	Is    sim.Kind
	For   bourse.Duration
	Share int   // of what is asked, in thousandths
	Size  int64 // ClockSkew: by how much
	Salt  uint64
}

// DriverDied says that the process of the driver has ended, and Heal that all faults
// have.
type (
	DriverDied struct{}
	Heal       struct{}
)

// Kind names the message.
func (Strike) Kind() string { return "Strike" }

// Kind names the message.
func (DriverDied) Kind() string { return "DriverDied" }

// Kind names the message.
func (Heal) Kind() string { return "Heal" }

// episode is a fault that lasts.
type episode struct {
	kind  sim.Kind
	until bourse.Time
	share int
	draw  *rand.Rand
}

// strikes reports whether an episode of a kind strikes what is asked now.
func (m *Manager) strikes(k sim.Kind) bool {
	hit := false
	for _, e := range m.episodes {
		if e.kind == k && m.now < e.until && e.draw.IntN(1000) < e.share {
			hit = true
		}
	}
	if hit {
		m.count(k)
	}
	return hit
}

// strike has a fault happen.
func (m *Manager) strike(s Strike) {
	m.trouble(m.now)
	r := rand.New(rand.NewPCG(m.opt.Seed, s.Salt))
	switch s.Is {
	case LostAnswer, LateCommand, RefusedCommand, SlowCommand, OldLook:
		m.episodes = append(slices.DeleteFunc(m.episodes, func(e episode) bool { return e.until <= m.now }), episode{s.Is, m.now.Add(s.For), s.Share, r})
		m.trouble(m.now.Add(s.For))
	case ManagerRestart:
		switch s.Salt % 4 {
		case 0, 2:
			m.crash(s.For)
		case 1:
			m.crashes = s.For
		case 3:
			m.crashesShown = s.For
		}
	case ClockSkew:
		m.count(ClockSkew)
		m.turn(bourse.Duration(s.Size))
		m.after(s.For, func() { m.turn(m.opt.Skew) })
	case NodeDrained, NodeDown, NodeRenamed:
		m.lose(s, r)
	default:
		if m.up() && m.act(s, r) {
			m.count(s.Is)
		}
	}
	m.stale = true
}

// turn sets the manager's clock. It never runs back to the reader of the book: what
// stands there stays as it is.
func (m *Manager) turn(skew bourse.Duration) { m.skew, m.stale = skew, true }

// lose has a node fail, be drained or be renamed for a time.
func (m *Manager) lose(s Strike, r *rand.Rand) {
	n, _ := pick(r, m.nodes)
	if n.state != bourse.NodeUp || n.name != n.first || !m.opt.Reserves {
		return
	}
	m.count(s.Is)
	if s.Is != NodeDrained && n.work != nil {
		for _, j := range m.book.jobs {
			if j.work == n.work {
				j.why = "NodeFail"
			}
		}
		m.finish(n.work, 9)
	}
	switch s.Is {
	case NodeDrained:
		n.state = bourse.NodeDrained
	case NodeDown:
		n.state = bourse.NodeDown
	case NodeRenamed:
		n.name = n.first + "-new"
		for _, x := range slices.Clone(m.book.reservations) {
			x.nodes = slices.DeleteFunc(x.nodes, func(other string) bool { return other == n.first })
			if len(x.nodes) == 0 {
				m.book.drop(x)
			}
		}
		m.changed()
	}
	m.after(s.For, func() { n.state, n.name, m.stale = bourse.NodeUp, n.first, true })
}

// act has an administrator, or the policy of the site, do something by hand. It reports
// whether there was anything to do it to.
func (m *Manager) act(s Strike, r *rand.Rand) bool {
	switch s.Is {
	case AdminDelete:
		x, ok := pick(r, m.reservationsOfOurs())
		if ok {
			for _, j := range m.book.jobs {
				if j.reservation == x.name && j.state == bourse.ManagedRunning {
					j.why = "AdminCancelled"
					m.finish(j.work, 9)
				}
			}
			m.book.drop(x)
			m.changed()
		}
		return ok
	case AdminMove:
		x, ok := pick(r, m.reservationsOfOurs())
		return ok && m.move(x, r)
	case AdminCancel, AdminHold, Preempted:
		return m.meddle(s.Is, r)
	case AdminRequeue:
		j, ok := pick(r, m.jobs(func(j *job) bool { return !j.ours && j.state == bourse.ManagedRunning }))
		if ok {
			w := j.work
			j.state, j.work, j.nodes, j.start, j.end = bourse.ManagedPending, nil, nil, 0, 0
			m.finish(w, 9)
			m.changed()
		}
		return ok
	case Foreign:
		return m.reserveForOthers(s, r)
	}
	return false
}

// meddle cancels, holds or preempts a job of ours.
func (m *Manager) meddle(k sim.Kind, r *rand.Rand) bool {
	live := map[sim.Kind]func(*job) bool{
		AdminCancel: func(j *job) bool { return j.state != bourse.ManagedEnded },
		AdminHold:   func(j *job) bool { return j.state == bourse.ManagedPending },
		Preempted:   func(j *job) bool { return j.state == bourse.ManagedRunning },
	}
	j, ok := pick(r, m.jobs(func(j *job) bool { return j.ours && live[k](j) }))
	if !ok {
		return false
	}
	switch k {
	case AdminCancel:
		m.cancel(j, "AdminCancelled")
	case Preempted:
		m.cancel(j, "Preempted")
	case AdminHold:
		j.state, j.why = bourse.ManagedHeld, "JobHeldAdmin"
		m.changed()
	}
	return true
}

// move has a reservation lie at another time, or on another node.
func (m *Manager) move(x *reservation, r *rand.Rand) bool {
	y := *x
	if by := within(r, -20*bourse.Minute, 20*bourse.Minute) / bourse.Second * bourse.Second; r.IntN(2) == 0 && by != 0 {
		y.start, y.end = x.start.Add(by), x.end.Add(by)
	} else {
		n, _ := pick(r, m.nodes)
		if slices.Contains(x.nodes, n.name) {
			return false
		}
		y.nodes = slices.Clone(x.nodes)
		y.nodes[r.IntN(len(y.nodes))] = n.name
	}
	used := slices.ContainsFunc(m.book.jobs, func(j *job) bool { return j.reservation == x.name && j.state == bourse.ManagedRunning })
	if used || y.end <= m.clock() || m.book.overlapping(y.nodes, y.start, y.end, x) != nil {
		return false
	}
	*x = y
	m.changed()
	return true
}

// reserveForOthers reserves up to half of a partition for maintenance, where nothing
// else does.
func (m *Manager) reserveForOthers(s Strike, r *rand.Rand) bool {
	if !m.opt.Reserves {
		return false
	}
	p, _ := pick(r, m.opt.Partitions)
	start, end := seconds(m.clock().Add(within(r, bourse.Second, bourse.Hour)), m.clock().Add(bourse.Hour+s.For))
	var nodes []string
	for _, name := range p.Nodes {
		n := m.node(name)
		if n != nil && (n.work == nil || m.planned(n.work) <= start) && m.book.overlapping([]string{name}, start, end, nil) == nil {
			nodes = append(nodes, name)
		}
	}
	if len(nodes) == 0 {
		return false
	}
	r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	m.seq++
	name := []string{"maint_", "bourse.maint_"}[r.IntN(2)] + strconv.FormatUint(m.seq, 10) // one that only begins like ours is theirs too
	m.book.put(&reservation{name: name, start: start, end: end, nodes: nodes[:(len(nodes)+1)/2], users: []string{"root"}})
	m.changed()
	return true
}

func (m *Manager) reservationsOfOurs() []*reservation {
	return slices.DeleteFunc(slices.Clone(m.book.reservations), func(r *reservation) bool { return !r.ours })
}

func (m *Manager) jobs(which func(*job) bool) []*job {
	return slices.DeleteFunc(slices.Clone(m.book.jobs), func(j *job) bool { return !which(j) })
}

// heal ends all that is wrong.
func (m *Manager) heal() {
	m.episodes, m.crashes, m.crashesShown = nil, 0, 0
	for _, n := range m.nodes {
		n.state, n.name = bourse.NodeUp, n.first
	}
	m.turn(m.opt.Skew)
}
