package world

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// Discovery is what gossip tells a broker about sites: late, repeatedly, too early or
// falsely. Size says which of these rumours it is. Half of the worlds have some. In those
// worlds, a broker's runtime tells it about all sites whenever a life of it begins.
const Discovery sim.Kind = "discovery"

// The rumours.
const (
	LateJoin   = iota // a site that the broker has not been told of before
	JoinAgain         // a member, as after a restart of its
	falseLeave        // a site that is there has left; that it joins comes later, or never
	cutOff            // a site is cut off and has left, and joins when it can be reached
	Senseless         // an address that is no site's joins
	OtherCase         // a member joins in capital letters
	neverThere        // a site joins that there is not, and leaves
	Rumours
)

// rumoured is how many rumours a run has, in addition to sites that join late.
const rumoured = 8

// discoveryFaults draws the rumours of a seed, from a stream of its own.
func discoveryFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamDiscovery))
	if r.IntN(2) == 0 {
		return nil
	}
	for i := range 2 + rumoured {
		f := sim.Fault{Kind: Discovery, Host: BrokerID(BrokerNames[r.IntN(len(BrokerNames))]), Peer: SiteID(SiteNames[r.IntN(len(SiteNames))]),
			At: Start.Add(grid.Minute + grid.Duration(r.Int64N(int64(Storm-20*grid.Minute)))), For: grid.Minute + grid.Duration(r.Int64N(int64(10*grid.Minute))),
			Size: JoinAgain + r.Int64N(Rumours-JoinAgain), Salt: 1 + r.Uint64N(1<<32)}
		if i < 2 {
			f.Size = LateJoin
		}
		list = append(list, f)
	}
	return list
}

// discovers reports whether brokers are told of sites in a world of these faults.
func discovers(faults []sim.Fault) bool {
	return slices.ContainsFunc(faults, func(f sim.Fault) bool { return f.Kind == Discovery })
}

// discoveryID is the sender of news about sites. It is a part of the brokers' runtimes, so
// no network fault affects it.
const discoveryID agents.ID = "discovery:all"

// rumour is what it is to tell a broker.
type rumour struct {
	to agents.ID
	m  agents.Message
}

// Kind names the message.
func (rumour) Kind() string { return "Rumour" }

type discovery struct{}

// Step tells a broker, or whichever replica of it leads.
func (discovery) Step(_ grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	if r, ok := m.(rumour); ok {
		out.Send(r.to, r.m)
	}
}

// GhostID is the address of a site that never was. Whatever is said to it is not answered.
const GhostID agents.ID = "site:yew"

// addDiscovery has sites come late that are to, and brokers told of the others.
func (w *World) addDiscovery() {
	if !discovers(w.faults) {
		return
	}
	w.Add(sim.Host{ID: discoveryID, New: func() agents.Agent { return discovery{} }, Sturdy: true, Near: true})
	w.Add(sim.Host{ID: "nobody:yew", As: GhostID, New: func() agents.Agent { return deaf{} }, Sturdy: true})
	w.Began(func(l *sim.Life) {
		if id := Voice(l.ID); strings.HasPrefix(string(id), "broker:") {
			w.tellTruth(id, w.Now().Add(grid.Second))
		}
	})
}

// knows reports whether a broker's configuration names a site.
func knows(faults []sim.Fault, broker, site agents.ID) bool {
	return !slices.ContainsFunc(faults, func(f sim.Fault) bool {
		return f.Kind == Discovery && f.Size == LateJoin && f.Host == broker && f.Peer == site
	})
}

// tellTruth tells a broker about all sites that have come, and later about one that does
// not exist, if the broker may know of it.
func (w *World) tellTruth(broker agents.ID, at grid.Time) {
	for _, name := range SiteNames {
		late := slices.IndexFunc(w.faults, func(f sim.Fault) bool {
			return f.Kind == Discovery && f.Size == LateJoin && f.Host == broker && f.Peer == SiteID(name)
		})
		if late < 0 || w.faults[late].At <= at {
			w.tell(at, broker, agents.SiteJoined{Site: SiteID(name)})
		}
	}
	w.tell(at.Add(Following), broker, agents.SiteLeft{Site: GhostID})
}

// tell tells a broker about a site, more than once, as gossip does.
func (w *World) tell(at grid.Time, broker agents.ID, m agents.Message) {
	for _, later := range []grid.Duration{0, 20 * grid.Second} {
		w.Post(at.Add(later), discoveryID, rumour{broker, m})
	}
}

// hearsay spreads a rumour.
func (w *World) hearsay(f sim.Fault) {
	end := w.Now().Add(f.For)
	say := func(at grid.Time, m agents.Message) { w.tell(at, f.Host, m) }
	switch f.Size {
	case LateJoin, JoinAgain:
		say(w.Now(), agents.SiteJoined{Site: f.Peer})
	case falseLeave:
		if say(w.Now(), agents.SiteLeft{Site: f.Peer}); f.Salt%4 > 0 {
			say(end, agents.SiteJoined{Site: f.Peer})
		}
	case cutOff:
		w.Strike(sim.Fault{Kind: sim.Partition, At: w.Now(), For: f.For, Host: f.Peer, Salt: f.Salt})
		say(w.Now().Add(grid.Duration(f.Salt%10_000)), agents.SiteLeft{Site: f.Peer})
		say(end.Add(grid.Duration(f.Salt%5_000)), agents.SiteJoined{Site: f.Peer})
	case Senseless:
		for _, id := range []agents.ID{"", "nonsense", "site:", "site:a b", "site:a\x00", agents.ID("site:" + strings.Repeat("x", 101)), f.Host, ClusterID("ash")} {
			say(w.Now(), agents.SiteJoined{Site: id})
			say(w.Now(), agents.SiteLeft{Site: id})
		}
	case OtherCase: // of one that the broker knows: of two that it does not, the first is taken
		for _, name := range SiteNames {
			if knows(w.faults, f.Host, SiteID(name)) {
				say(w.Now(), agents.SiteJoined{Site: SiteID(strings.ToUpper(name))})
			}
		}
	case neverThere:
		say(w.Now(), agents.SiteJoined{Site: GhostID})
		say(end, agents.SiteLeft{Site: GhostID})
	}
}

// healDiscovery tells brokers the truth. A site that has falsely left stays away if its
// rumour is not corrected.
func (w *World) healDiscovery() {
	if !discovers(w.faults) {
		return
	}
	for i := range w.Brokers {
		id := BrokerID(w.Brokers[i].Config.Name)
		w.tell(w.Now(), id, agents.SiteLeft{Site: GhostID})
		for _, f := range w.faults {
			if f.Kind == Discovery && f.Size == LateJoin && f.Host == id {
				w.tell(w.Now(), id, agents.SiteJoined{Site: f.Peer})
			}
		}
	}
}

// SiteName is the name of the site at an address.
func SiteName(id agents.ID) string { return strings.TrimPrefix(string(id), "site:") }

// Following is how long after discovery has named a site others may follow.
const Following = 30 * grid.Second
