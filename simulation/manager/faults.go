package manager

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// The kinds of faults. Those up to EchoedCreate last for a time, and strike a share of what
// is asked meanwhile.
const (
	LostAnswer     sim.Kind = "lost-answer"     // a command is carried out, and its answer is lost
	LateCommand    sim.Kind = "late-command"    // it is carried out after its driver has given it up
	RefusedCommand sim.Kind = "refused-command" // it is refused
	SlowCommand    sim.Kind = "slow-command"    // it takes minutes
	OldLook        sim.Kind = "old-look"        // a look is minutes old when it arrives
	EchoedCreate   sim.Kind = "echoed-create"   // a reservation is created twice, and the second is denied: it overlaps itself

	ManagerRestart sim.Kind = "manager-restart" // the manager is killed, and restarts
	ManagerForgot  sim.Kind = "manager-forgot"  // it restarts without what it had acknowledged last
	ClockSkew      sim.Kind = "clock-skew"      // its clock is some seconds off

	NodeDrained sim.Kind = "node-drained" // a node takes nothing new
	NodeDown    sim.Kind = "node-down"    // a node fails, with what it carries
	NodeRenamed sim.Kind = "node-renamed" // a node has another name
	NodeUnknown sim.Kind = "node-unknown" // the manager has not heard of a node for a while

	AdminDelete  sim.Kind = "admin-delete"        // an administrator deletes one of our reservations
	AdminMove    sim.Kind = "admin-move"          // moves one
	AdminCancel  sim.Kind = "admin-cancel"        // cancels one of our jobs
	AdminHold    sim.Kind = "admin-hold"          // holds one
	AdminRequeue sim.Kind = "admin-requeue"       // has a local job run again
	Foreign      sim.Kind = "foreign-reservation" // reserves nodes for others
	Preempted    sim.Kind = "job-preempted"       // one of our jobs gives way

	WorkFailed  sim.Kind = "work-failed"  // one of our jobs fails
	WorkOverrun sim.Kind = "work-overrun" // it goes on beyond its window
)

// Kinds lists all kinds, in the order in which they are shown.
func Kinds() []sim.Kind {
	return []sim.Kind{LostAnswer, LateCommand, RefusedCommand, SlowCommand, OldLook, EchoedCreate, ManagerRestart, ManagerForgot, ClockSkew,
		NodeDrained, NodeDown, NodeRenamed, NodeUnknown, AdminDelete, AdminMove, AdminCancel, AdminHold, AdminRequeue, Foreign, Preempted, WorkFailed, WorkOverrun}
}

// Follows reports whether a kind is never drawn, because it comes of others, or of the work.
func Follows(k sim.Kind) bool { return k == ManagerForgot || k == WorkFailed || k == WorkOverrun }

// Strike makes a fault happen to a manager. The world sends it.
type Strike struct {
	Is    sim.Kind
	For   grid.Duration
	Share int   // of what is asked, in thousandths
	Size  int64 // ClockSkew: by how much
	Salt  uint64
}

// DriverDied says that the process of the driver has ended, Heal that all faults have.
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
	until grid.Time
	share int
	draw  *rand.Rand
}

// faults has the present faults of a manager, and does what an administrator does.
type faults struct {
	*controller
	episodes []episode
}

// moment is what the manager has just done when an aimed crash strikes it.
type moment uint8

const (
	anything     moment = iota
	acknowledged        // a command, some seconds ago
	shown               // a job of ours, in a look, which is not on its disk
	created             // a reservation or a job of ours, and has not said so
	begun               // work of ours whose submission is not on its disk
	handed              // the same, with all that was there before the submission
	moments
)

// hangs is how long the disk takes nothing before an aimed crash at the begin of work. short
// is how long the manager is then down at most, if the work could be submitted again.
const (
	hangs = 8 * grid.Minute
	short = 20 * grid.Second
)

// strikes reports whether an episode of that kind strikes what is asked now.
func (f *faults) strikes(k sim.Kind) bool {
	hit := false
	for _, e := range f.episodes {
		if e.kind == k && f.now < e.until && e.draw.IntN(1000) < e.share {
			hit = true
		}
	}
	if hit {
		f.truth.count(k)
	}
	return hit
}

// strike makes a fault happen.
func (f *faults) strike(s Strike) {
	f.truth.trouble(f.now)
	r := rand.New(rand.NewPCG(f.opt.Seed, s.Salt))
	switch s.Is {
	case LostAnswer, LateCommand, RefusedCommand, SlowCommand, OldLook, EchoedCreate:
		f.episodes = append(slices.DeleteFunc(f.episodes, func(e episode) bool { return e.until <= f.now }), episode{s.Is, f.now.Add(s.For), s.Share, r})
		f.truth.trouble(f.now.Add(s.For))
	case ManagerRestart:
		at := []moment{anything, acknowledged, shown, created, begun, handed}[s.Salt%6]
		if at == anything || !f.opt.queued() {
			f.crash(s.For)
			break
		}
		switch f.aimed[at] = s.For; at {
		case begun:
			f.hang()
		case handed:
			f.aimed[at] = min(s.For, short)
		}
	case ClockSkew:
		f.truth.count(ClockSkew)
		f.turn(grid.Duration(s.Size))
		f.after(s.For, func() { f.turn(f.opt.Skew) })
	case NodeDrained, NodeDown, NodeRenamed, NodeUnknown:
		f.lose(s, r)
	default:
		if f.up() && f.act(s, r) {
			f.truth.count(s.Is)
		}
	}
	f.stale = true
}

// turn sets the manager's clock. The times in the book stay as they are.
func (f *faults) turn(skew grid.Duration) { f.skew, f.stale = skew, true }

// lose lets a node fail, be drained or be renamed for a time.
func (f *faults) lose(s Strike, r *rand.Rand) {
	n, _ := pick(r, f.nodes.list)
	if n.state != grid.NodeUp || n.name != n.first || !f.opt.queued() {
		return
	}
	f.truth.count(s.Is)
	for _, w := range n.all() {
		if s.Is != NodeDown && s.Is != NodeRenamed {
			break
		}
		for _, j := range f.book.jobs {
			if j.work == w {
				j.why = "NodeFail"
			}
		}
		f.finish(w, 9)
	}
	n.unfit = f.now
	switch s.Is {
	case NodeDrained:
		n.state = grid.NodeDrained
	case NodeDown:
		n.state = grid.NodeDown
	case NodeUnknown:
		n.state = grid.NodeUnknown
	case NodeRenamed:
		n.name = n.first + "-new"
		for _, x := range slices.Clone(f.book.reservations) {
			x.nodes = slices.DeleteFunc(x.nodes, func(other string) bool { return other == n.first })
			if len(x.nodes) == 0 {
				f.book.drop(x)
			}
		}
		f.changed()
	}
	f.after(s.For, func() { n.state, n.name, n.unfit, f.stale = grid.NodeUp, n.first, 0, true })
}

// act does something that an administrator, or the policy of the site, does. It reports
// whether there was anything to do it to.
func (f *faults) act(s Strike, r *rand.Rand) bool {
	switch s.Is {
	case AdminDelete:
		list := f.book.reservationsOfOurs()
		if lie := f.lying(); len(lie) > 0 && s.Salt%2 == 0 {
			list = lie
		}
		x, ok := pick(r, list)
		if ok {
			for _, j := range f.book.jobs {
				if j.reservation == x.name && j.state == grid.ManagedRunning {
					j.why = "AdminCancelled"
					f.finish(j.work, 9)
				}
			}
			f.book.drop(x)
			f.changed()
		}
		return ok
	case AdminMove:
		x, ok := pick(r, f.book.reservationsOfOurs())
		return ok && f.move(x, r)
	case AdminCancel, AdminHold, Preempted:
		return f.meddle(s.Is, r)
	case AdminRequeue:
		j, ok := pick(r, f.book.jobsThat(func(j *job) bool { return !j.ours && j.state == grid.ManagedRunning }))
		if ok {
			w := j.work
			j.state, j.work, j.nodes, j.start, j.end = grid.ManagedPending, nil, nil, 0, 0
			f.finish(w, 9)
			f.changed()
		}
		return ok
	case Foreign:
		return f.reserveForOthers(s, r)
	}
	return false
}

// lying lists our reservations whose time has begun and that have no work.
func (f *faults) lying() []*reservation {
	now := f.own()
	return slices.DeleteFunc(f.book.reservationsOfOurs(), func(r *reservation) bool {
		return r.purge || now < r.start || slices.ContainsFunc(f.book.jobs, func(j *job) bool { return j.reservation == r.name })
	})
}

// meddle cancels, holds or preempts one of our jobs.
func (f *faults) meddle(k sim.Kind, r *rand.Rand) bool {
	live := map[sim.Kind]func(*job) bool{
		AdminCancel: func(j *job) bool { return j.state != grid.ManagedEnded },
		AdminHold:   func(j *job) bool { return j.state == grid.ManagedPending },
		Preempted:   func(j *job) bool { return j.state == grid.ManagedRunning },
	}
	j, ok := pick(r, f.book.jobsThat(func(j *job) bool { return j.ours && live[k](j) }))
	if !ok {
		return false
	}
	switch k {
	case AdminCancel:
		f.cancel(j, "AdminCancelled")
	case Preempted:
		f.cancel(j, "Preempted")
	case AdminHold:
		j.state, j.why = grid.ManagedHeld, "JobHeldAdmin"
		f.changed()
	}
	return true
}

// move moves a reservation to another time, or to another node.
func (f *faults) move(x *reservation, r *rand.Rand) bool {
	y := *x
	if by := within(r, -20*grid.Minute, 20*grid.Minute) / grid.Second * grid.Second; r.IntN(2) == 0 && by != 0 {
		y.start, y.end = x.start.Add(by), x.end.Add(by)
	} else {
		n, _ := pick(r, f.nodes.list)
		if slices.Contains(x.nodes, n.name) {
			return false
		}
		y.nodes = slices.Clone(x.nodes)
		y.nodes[r.IntN(len(y.nodes))] = n.name
	}
	used := slices.ContainsFunc(f.book.jobs, func(j *job) bool { return j.reservation == x.name && j.state == grid.ManagedRunning })
	if used || y.end <= f.own() || f.book.overlapping(y.nodes, y.start, y.end, x) != nil {
		return false
	}
	*x = y
	f.changed()
	return true
}

// reserveForOthers reserves up to half of a partition for maintenance, where nothing
// else does.
func (f *faults) reserveForOthers(s Strike, r *rand.Rand) bool {
	if !f.opt.queued() {
		return false
	}
	p, _ := pick(r, f.opt.Partitions)
	start, end := seconds(f.own().Add(within(r, grid.Second, grid.Hour)), f.own().Add(grid.Hour+s.For))
	var nodes []string
	for _, name := range p.Nodes {
		n := f.nodes.find(name)
		if n != nil && (n.anyOf() == nil || f.book.occupied(n) <= start) && f.book.overlapping([]string{name}, start, end, nil) == nil {
			nodes = append(nodes, name)
		}
	}
	if len(nodes) == 0 {
		return false
	}
	r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	f.seq++
	name := []string{"maint_", "bourse.maint_"}[r.IntN(2)] + strconv.FormatUint(f.seq, 10) // a name that only begins like ours is not ours
	f.book.put(&reservation{name: name, start: start, end: end, nodes: nodes[:(len(nodes)+1)/2], users: []string{"root"}})
	f.changed()
	return true
}

// heal ends all faults.
func (f *faults) heal() {
	f.episodes, f.aimed, f.hangs = nil, [moments]grid.Duration{}, 0
	for _, n := range f.nodes.list {
		n.state, n.name, n.unfit = grid.NodeUp, n.first, 0
	}
	f.turn(f.opt.Skew)
}

// pick draws an element of a list; false if it is empty.
func pick[E any](r *rand.Rand, list []E) (e E, ok bool) {
	if len(list) == 0 {
		return e, false
	}
	return list[r.IntN(len(list))], true
}
