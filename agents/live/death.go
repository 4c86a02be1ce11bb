package live

import (
	"github.com/bourse-grid/bourse/agents/live/members"
	"time"
)

// On a busy machine, or a network that loses packets, gossip takes a process for dead that is
// well: its answers come late. So a life in use that gossip reports as failed, and that has
// not said that it leaves, is called before it is given up. While it answers with its
// certificate that it is that life, it stays, and is called again. Without certificates
// gossip alone decides.

// death is a life in use that gossip has reported as failed, and that may be well.
type death struct {
	members.Member
	calling bool
	next    time.Time // time of the next call
}

// survives reports whether it is open if a life has failed, and calls it. At most maxCalls
// are open at a time: if more fail at once, something has happened, and they are believed.
func (n *Node) survives(node string, m members.Member, alive bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.deaths[node]
	if n.deaths == nil || alive || m.Flags&members.Leaving != 0 || m.Agent == n.opt.Name || roleOf(m.Agent) == roleOf(n.opt.Name) ||
		!n.directory.Has(m) || n.directory.Rivals(m.Agent) > 1 || d == nil && len(n.deaths) >= maxCalls {
		delete(n.deaths, node)
		return false
	}
	if d == nil {
		d = &death{}
		n.deaths[node] = d
	}
	d.Member = m
	n.verify(node, d, time.Now())
	return true
}

// verify calls a life, unless a call is under way or the next one is not due yet. The node
// must be locked.
func (n *Node) verify(node string, d *death, now time.Time) {
	if d.calling || now.Before(d.next) {
		return
	}
	d.calling = true
	m := d.Member
	n.askLife(m, func(life uint64, err error) { n.verified(node, m, err == nil && life == m.Life) })
}

// verifyAgain makes the calls that are due.
func (n *Node) verifyAgain(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for node, d := range n.deaths {
		n.verify(node, d, now)
	}
}

// verified handles the outcome of a call.
func (n *Node) verified(node string, m members.Member, there bool) {
	n.word.Lock()
	defer n.word.Unlock()
	n.mu.Lock()
	d := n.deaths[node]
	if d == nil { // gossip has found it again meanwhile
		n.mu.Unlock()
		return
	}
	if d.calling = false; there {
		d.next = time.Now().Add(firstCall)
		n.mu.Unlock()
		if n.limiter.Allow("survives "+string(m.Agent), time.Now()) {
			n.opt.Log.Info().Str("peer", string(m.Agent)).Str("address", m.Address).Msg("gossip has lost a peer that answers: it is kept; this machine or that one is busy, or the network loses packets")
		}
		return
	}
	delete(n.deaths, node)
	n.mu.Unlock()
	n.believe(m, false)
}
