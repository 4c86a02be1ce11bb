package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// What a node hears from gossip about others, and what it tells its broker about that.

// directoryID is the sender of messages to a broker about sites.
const directoryID agents.ID = "directory"

// hear handles a piece of gossip about one node.
func (n *Node) hear(node string, meta []byte, alive bool) {
	m, err := members.Decode(node, meta)
	if err != nil {
		n.mu.Lock()
		n.count.garbage++
		n.mu.Unlock()
		if n.limiter.Allow("garbage", time.Now()) { // the limit is common to all nodes, since names can be made up
			n.opt.Log.Warn().Str("node", node).Err(err).Msg("gossip that cannot be read is ignored")
		}
		return
	}
	n.word.Lock()
	defer n.word.Unlock()
	if !n.survives(node, m, alive) && !n.doubts(node, m, alive) {
		n.believe(m, alive)
	}
}

// believe handles a piece of gossip that may be true.
func (n *Node) believe(m members.Member, alive bool) {
	_, before := n.directory.Find(m.Agent)
	change := n.directory.Hear(m, alive)
	n.warn(m, alive)
	n.warnOfWire(m, alive)
	log := n.opt.Log.Info().Str("peer", string(m.Agent)).Str("address", change.Address).Uint64("life", change.Life)
	switch change.Kind {
	case members.Came:
		log.Uint32("wire", change.Version).Msg("peer is there")
		n.links.moved(change.Member)
		n.tell(m.Agent, agents.SiteJoined{Site: m.Agent})
	case members.Went:
		log.Bool("announced", !alive && m.Flags&members.Leaving != 0 || alive).Msg("peer has gone")
		n.tell(m.Agent, agents.SiteLeft{Site: m.Agent})
	case members.Told:
		log.Uint64("digest", change.Digest).Uint8("flags", uint8(change.Flags)).Msg("peer has news")
	default:
		log.Discard()
	}
	if _, known := n.directory.Find(m.Agent); before && !known {
		n.links.gone(m.Agent)
	}
}

// warnOfWire logs that a process speaks no version of the wire that this one speaks: neither
// asks the other anything, and only its operator can end that.
func (n *Node) warnOfWire(m members.Member, alive bool) {
	if !alive || m.Understood() {
		return
	}
	if _, ok := n.limiter.AllowOf("wire", string(m.Agent), time.Now()); !ok {
		return
	}
	n.opt.Log.Warn().Str("peer", string(m.Agent)).Str("address", m.Address).Str("speaks", versions(m.Oldest, m.Version)).
		Str("here", versions(wire.Oldest, wire.Version)).Msg("peer is not asked, because no version of the wire is common to both: " + m.TooOld(wire.Oldest))
}

// versions is a range of versions as people read it.
func versions(oldest, newest uint32) string {
	if oldest == newest {
		return fmt.Sprint(oldest)
	}
	return fmt.Sprintf("%d to %d", oldest, newest)
}

// warn logs that several living processes have one name. After a restart there are two
// until the old life is found to have failed.
func (n *Node) warn(m members.Member, alive bool) {
	if !alive || n.directory.Rivals(m.Agent) < 2 {
		return
	}
	if m.Agent != n.opt.Name || m.Life == n.opt.Life || n.opt.Held {
		if !n.limiter.Allow("lives of "+string(m.Agent), time.Now()) {
			return
		}
		n.opt.Log.Info().Str("peer", string(m.Agent)).Msg("several lives of one agent are about: the latest is used")
		return
	}
	n.mu.Lock()
	n.count.rivals++
	n.mu.Unlock()
	n.opt.Log.Error().Str("agent", string(m.Agent)).Str("address", m.Address).Uint64("life", m.Life).Bool("later", m.Life > n.opt.Life).
		Msg("another process goes by the name of this agent: unless it is this one's earlier life, stop one of the two; the later one gets the messages")
}

// tell tells the broker of this process something about a site. If the broker has no room,
// it is kept in pending.
func (n *Node) tell(site agents.ID, m agents.Message) {
	if !strings.HasPrefix(string(n.opt.Name), "broker:") || !strings.HasPrefix(string(site), "site:") {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen[site] = true
	if n.opt.Host.Tell(directoryID, n.opt.Name, m) != nil {
		n.pending[site] = m
	} else {
		delete(n.pending, site)
	}
}

// reminder is the interval at which a broker is told again what it had no room for.
const reminder = 250 * time.Millisecond

// remind repeats what the broker had no room for, and reports the sites that have not
// come back.
func (n *Node) remind() {
	t := time.NewTicker(reminder)
	defer t.Stop()
	after := time.After(n.opt.Gossip.Settled())
	for {
		select {
		case now := <-t.C:
			n.tellPending()
			n.callAgain(now)
			n.verifyAgain(now)
		case <-after:
			n.mu.Lock()
			known := n.opt.Known
			n.mu.Unlock()
			for _, site := range known {
				n.mu.Lock()
				heard := n.seen[site]
				n.mu.Unlock()
				if !heard {
					n.tell(site, agents.SiteLeft{Site: site})
				}
			}
		case <-n.done:
			return
		}
	}
}

// tellPending tells the broker what it had no room for, the latest for each site.
func (n *Node) tellPending() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, site := range slices.Sorted(maps.Keys(n.pending)) {
		if n.opt.Host.Tell(directoryID, n.opt.Name, n.pending[site]) != nil {
			return
		}
		delete(n.pending, site)
	}
}
