package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live/members"
)

// Anyone with the gossip key can announce a process that does not exist, or that is not the
// agent it claims to be. So a new life of a peer is called before it is believed, by mutual
// TLS at the address that gossip gives. Until it has answered there with its certificate,
// the previous life remains in use. A later process under this process's own name is called
// too: if it answers, one of the two must stop.

// claim is a life announced by gossip that has not answered yet.
type claim struct {
	members.Member
	calling bool
	next    time.Time     // time of the next call
	wait    time.Duration // pause after that call
}

// Bounds on calls. At most maxMembers lives wait for one.
const (
	maxCalls  = 16 // at a time
	callTime  = 2 * time.Second
	firstCall = time.Second // wait after a failed call, doubled each time
	lastCall  = 30 * time.Second
)

// doubts reports whether a piece of gossip must not be believed yet. If so, it calls the
// process in question.
func (n *Node) doubts(node string, m members.Member, alive bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.claims == nil {
		return false // the node is stopping
	}
	own := m.Agent == n.opt.Name
	if !alive || own && m.Life == n.opt.Life || !own && roleOf(m.Agent) == roleOf(n.opt.Name) || n.directory.Has(m) {
		delete(n.claims, node)
		return false
	}
	c := n.claims[node]
	if c == nil {
		if len(n.claims) >= members.Most {
			n.count.garbage++
			return true
		}
		c = &claim{}
		n.claims[node] = c
	}
	if c.Member.Address != m.Address {
		c.next, c.wait = time.Time{}, 0
	}
	c.Member = m
	n.call(node, c, time.Now())
	return true
}

// call calls a process, unless a call is under way or the next one is not due yet. The node
// must be locked.
func (n *Node) call(node string, c *claim, now time.Time) {
	if c.calling || now.Before(c.next) {
		return
	}
	c.calling = true
	m := c.Member
	n.askLife(m, func(life uint64, err error) {
		if err == nil && life != 0 && life != m.Life {
			err = fmt.Errorf("life %d of it answers there, not %d", life, m.Life)
		}
		n.called(node, m, life, err)
	})
}

// askLife calls a process beside the caller, at most maxCalls at a time, and hands on which
// life answered. It hands on nothing if the node ends first.
func (n *Node) askLife(m members.Member, heard func(life uint64, err error)) {
	n.ends.Go(func() {
		select {
		case n.calls <- struct{}{}:
		case <-n.base.Done():
			return
		}
		ctx, cancel := context.WithTimeout(n.base, callTime)
		life, err := n.lane.call(ctx, m)
		cancel()
		<-n.calls
		heard(life, err)
	})
}

// callAgain makes the calls that are due.
func (n *Node) callAgain(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for node, c := range n.claims {
		n.call(node, c, now)
	}
}

// called handles the outcome of a call.
func (n *Node) called(node string, m members.Member, life uint64, err error) {
	n.word.Lock()
	defer n.word.Unlock()
	n.mu.Lock()
	c := n.claims[node]
	if c == nil { // dropped in the meantime
		n.mu.Unlock()
		return
	}
	c.calling = false
	if c.Member.Address != m.Address { // gossip has given another address in the meantime
		n.call(node, c, time.Now())
		n.mu.Unlock()
		return
	}
	if err != nil {
		c.wait = min(max(2*c.wait, firstCall), lastCall)
		c.next = time.Now().Add(c.wait)
		n.count.doubted++
		n.mu.Unlock()
		n.doubted(m, err)
		return
	}
	m = c.Member // the rest of its metadata may be newer
	delete(n.claims, node)
	n.mu.Unlock()
	n.believe(m, true)
	if m.Agent == n.opt.Name && life > n.opt.Life && !n.opt.Held {
		select {
		case n.later <- m:
		default:
		}
	}
}

// doubted logs that nothing answers where gossip places a life. Whoever has the gossip key
// can name any number of agents, so the lines of all together are bounded too.
func (n *Node) doubted(m members.Member, err error) {
	hidden, ok := n.limiter.AllowOf("doubted", string(m.Agent), time.Now())
	if !ok {
		return
	}
	e := n.opt.Log.Warn()
	if hidden > 0 {
		e = e.Uint64("others", hidden)
	}
	if refused := (*certificate.Refusal)(nil); errors.As(err, &refused) {
		e = e.Str("cause", string(refused.Cause))
	}
	e.Str("peer", string(m.Agent)).Str("address", m.Address).Uint64("life", m.Life).Err(err).
		Msg("gossip tells of a process that does not answer with its certificate: it is not believed")
}

// Superseded delivers a process with this one's name and certificate that began later and
// answers at its address. Two processes must not act for one broker, so the earlier one
// must stop. Without certificates nothing is delivered.
func (n *Node) Superseded() <-chan members.Member { return n.later }
