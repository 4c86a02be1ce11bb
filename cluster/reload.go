package cluster

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A reload is a restart of the backend within a life: a backend with the new settings gets
// an image of all that is kept, and begins. It is tried first with another one, on a copy,
// so that it is known what would be lost before anything is.

// Nodes are the settings of a cluster.
type Nodes struct {
	Groups []grid.Group
	New    func() Backend // a backend of these groups that has not begun; each call makes another one
}

// Settings marks the type as an agents.Settings.
func (Nodes) Settings() {}

// Successor is a Backend that takes over from the one before it, in the same process, what
// a restart would have lost.
type Successor interface {
	// Succeed is called before Begin. before must not be used after that.
	Succeed(before Backend)
}

// Backend is what the cluster has at present. It may only be used between two steps.
func (a *Agent) Backend() Backend { return a.backend }

// reload answers a ClusterReload. The last answer is kept, because the question is repeated.
func (a *Agent) reload(now grid.Time, from agents.ID, m agents.ClusterReload) {
	if m.Ref != a.reloaded.Ref {
		a.reloaded = a.tryReload(now, m)
	}
	a.out.Send(from, a.reloaded)
}

func (a *Agent) tryReload(now grid.Time, m agents.ClusterReload) agents.ClusterReloaded {
	answer := agents.ClusterReloaded{Ref: m.Ref}
	to, ok := m.To.(Nodes)
	switch {
	case !ok:
		answer.Refusal = grid.Because(grid.Invalid, "these are not the settings of a cluster")
		return answer
	case a.cfg.Volatile:
		answer.Refusal = grid.Because(grid.NotAllowed, "the cluster of %s keeps no record of its local jobs; it can change only when it starts", a.cfg.Site)
		return answer
	}
	image := a.Image().(facts.ClusterImage)
	r := a.rehearse(now, m.Nonce, image, to.New())
	answer.Lost, answer.Locks, answer.Jobs = r.lost[:min(len(r.lost), agents.MaxLost)], len(r.lost), r.jobs
	if len(r.lost) > 0 && !m.Force && !m.Dry {
		answer.Refusal = grid.Because(grid.Busy, "it would take nodes away from legs (%d), the first %v", len(r.lost), r.lost[0])
	}
	if !m.Dry && !answer.Refusal.Refused() {
		answer.Groups = a.renew(now, m, image, to)
	}
	return answer
}

// rehearse lets a backend begin on a copy of what is kept.
func (a *Agent) rehearse(now grid.Time, nonce uint64, image facts.ClusterImage, b Backend) (r rehearsal) {
	b.Replay(a.now, image)
	l := a.life(now, now, nonce)
	for i, x := range l.Locks {
		one := *x
		l.Locks[i] = &one
	}
	b.Begin(&r, l)
	return r
}

// Loses lists the legs that would lose their nodes if the next life began with such nodes:
// that of an agent to which facts have been replayed, and which has not started. It lists
// those alone that the settings take from them: no time passes, and nothing changes.
func (a *Agent) Loses(to Nodes) []grid.LegID {
	if len(a.locks) == 0 {
		return nil
	}
	return a.rehearse(a.now, 1, a.Image().(facts.ClusterImage), to.New()).lost
}

// Given lists the names of a group's nodes that locks have, each once.
func (a *Agent) Given(group string) (names []string) {
	for l := range a.each {
		for _, n := range l.Names {
			if l.What.Group == group && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// renew lets a backend take the place of the present one, and returns its groups.
func (a *Agent) renew(now grid.Time, m agents.ClusterReload, image facts.ClusterImage, to Nodes) (groups []grid.GroupNodes) {
	before := a.sizes
	if before == nil { // of an earlier build's journal
		before = grid.Sizes(a.cfg.Groups, nil)
	}
	groups = grid.Sizes(to.Groups, before)
	a.Record(facts.NodesSet{Groups: groups, Force: m.Force, Why: m.Why})
	b := to.New()
	b.Replay(a.now, image)
	if s, ok := b.(Successor); ok {
		s.Succeed(a.backend)
	}
	a.backend = b
	a.taken = grid.Because(grid.Busy, "the site's operator has taken its nodes away")
	if m.Why != "" {
		a.taken.Detail += ": " + m.Why
	}
	b.Begin(a, a.life(now, now, m.Nonce))
	a.taken = grid.Reason{}
	return groups
}

// life is what a backend begins with at now; at is where earlier lives stopped.
func (a *Agent) life(at, now grid.Time, nonce uint64) Life {
	l := Life{At: at, Now: now, Begun: a.begun, Durable: !a.cfg.Volatile, Number: int64(a.number)}
	if l.Durable {
		l.Nonce = nonce
	}
	for x := range a.each {
		l.Locks = append(l.Locks, &x.LockMemory)
	}
	return l
}

// withReason gives a lock that a reload loses its reason.
func (a *Agent) withReason(f agents.Fact) agents.Fact {
	m, ok := f.(facts.LockMoved)
	if !ok || !a.taken.Refused() || m.State != facts.LockLost {
		return f
	}
	why := a.taken
	if m.Reason.Refused() {
		why.Detail += " (" + m.Reason.String() + ")"
	}
	m.Reason = why
	return m
}

// rehearsal is a Host that only takes down what would be lost.
type rehearsal struct {
	lost []grid.LegID
	jobs int
}

// Record takes down a loss.
func (r *rehearsal) Record(f agents.Fact) {
	switch f := f.(type) {
	case facts.LockMoved:
		if f.State == facts.LockLost && !slices.Contains(r.lost, f.Leg) {
			r.lost = append(r.lost, f.Leg)
		}
	case facts.JobEnded:
		if f.Killed {
			r.jobs++
		}
	case facts.JobRefused:
		r.jobs++
	}
}

// Recover takes down a loss.
func (r *rehearsal) Recover(f agents.Fact) { r.Record(f) }

// Send sends nothing.
func (r *rehearsal) Send(agents.ID, agents.Message) {}

// When returns the instant.
func (r *rehearsal) When(at grid.Time) grid.Time { return at }
