package live

import (
	"maps"
	"slices"
	"strings"
	"time"

	"bourse/agents"
)

// What a node hears of others by gossip, and tells the broker that it serves.

// directoryID is whom a broker hears of sites from.
const directoryID agents.ID = "directory"

// hear takes a word of gossip of one node.
func (n *Node) hear(node string, meta []byte, alive bool) {
	m, err := decodeMember(node, meta)
	if err != nil {
		n.mu.Lock()
		n.count.garbage++
		n.mu.Unlock()
		if n.rare.may("garbage", time.Now()) { // whoever makes node names up is limited too
			n.opt.Log.Warn().Str("node", node).Err(err).Msg("word of gossip ignored")
		}
		return
	}
	n.word.Lock()
	defer n.word.Unlock()
	if !n.doubts(node, m, alive) {
		n.believe(m, alive)
	}
}

// believe takes a word of gossip that may be true.
func (n *Node) believe(m Member, alive bool) {
	_, before := n.directory.Find(m.Agent)
	change := n.directory.hear(m, alive)
	n.warn(m, alive)
	log := n.opt.Log.Info().Str("peer", string(m.Agent)).Str("address", change.Address).Uint64("life", change.Life)
	switch change.Turn {
	case Came:
		log.Uint32("wire", change.Version).Msg("peer is there")
		n.links.moved(change.Member)
		n.tell(m.Agent, agents.SiteJoined{Site: m.Agent})
	case Went:
		log.Bool("announced", !alive && m.Flags&Leaving != 0 || alive).Msg("peer has gone")
		n.tell(m.Agent, agents.SiteLeft{Site: m.Agent})
	case Told:
		log.Uint64("digest", change.Digest).Uint8("flags", uint8(change.Flags)).Msg("peer has news")
	default:
		log.Discard()
	}
	if _, known := n.directory.Find(m.Agent); before && !known {
		n.links.gone(m.Agent)
	}
}

// warn says what nobody should overlook: several living processes of one name.
// After a restart there are two, until the old life is seen to have failed.
func (n *Node) warn(m Member, alive bool) {
	if !alive || n.directory.rivals(m.Agent) < 2 {
		return
	}
	if m.Agent != n.opt.Name || m.Life == n.opt.Life {
		if !n.rare.may("lives of "+string(m.Agent), time.Now()) {
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

// tell tells the broker of this process of a site. What it has no room for is
// owed to it.
func (n *Node) tell(site agents.ID, m agents.Message) {
	if !strings.HasPrefix(string(n.opt.Name), "broker:") || !strings.HasPrefix(string(site), "site:") {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen[site] = true
	if n.opt.Host.Tell(directoryID, n.opt.Name, m) != nil {
		n.owed[site] = m
	} else {
		delete(n.owed, site)
	}
}

// reminder is the pace at which a broker is reminded of what it had no room for.
const reminder = 250 * time.Millisecond

// settled is how long a site that a broker knows from an earlier life may take
// to be heard of: as long as gossip may take to spread, and for a newcomer to
// find the others.
func (o GossipOptions) settled() time.Duration {
	if o.Profile == "fast" {
		return 2 * time.Second
	}
	return 15 * time.Second
}

// remind repeats what could not be told, and reports the sites that have not
// come back.
func (n *Node) remind() {
	t := time.NewTicker(reminder)
	defer t.Stop()
	after := time.After(n.opt.Gossip.settled())
	for {
		select {
		case now := <-t.C:
			n.payDebts()
			n.callAgain(now)
		case <-after:
			for _, site := range n.opt.Known {
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

// payDebts tells the broker what is owed to it, for each site the last word.
func (n *Node) payDebts() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, site := range slices.Sorted(maps.Keys(n.owed)) {
		if n.opt.Host.Tell(directoryID, n.opt.Name, n.owed[site]) != nil {
			return
		}
		delete(n.owed, site)
	}
}
