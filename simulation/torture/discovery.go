package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Discovery is what gossip tells a broker about sites: late, repeatedly, too early or
// falsely. Size says which of these rumours it is. Half of the worlds have some. In those
// worlds, a broker's runtime tells it about all sites whenever a life of it begins.
const Discovery sim.Kind = "discovery"

// The rumours.
const (
	lateJoin   = iota // a site that the broker has not been told of before
	joinAgain         // a member, as after a restart of its
	falseLeave        // a site that is there has left; that it joins comes later, or never
	cutOff            // a site is cut off and has left, and joins when it can be reached
	senseless         // an address that is no site's joins
	otherCase         // a member joins in capital letters
	neverThere        // a site joins that there is not, and leaves
	rumours
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
		f := sim.Fault{Kind: Discovery, Host: brokerID(brokerNames[r.IntN(len(brokerNames))]), Peer: siteID(siteNames[r.IntN(len(siteNames))]),
			At: start.Add(grid.Minute + grid.Duration(r.Int64N(int64(storm-20*grid.Minute)))), For: grid.Minute + grid.Duration(r.Int64N(int64(10*grid.Minute))),
			Size: joinAgain + r.Int64N(rumours-joinAgain), Salt: 1 + r.Uint64N(1<<32)}
		if i < 2 {
			f.Size = lateJoin
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

// ghostID is the address of a site that never was. Whatever is said to it is not answered.
const ghostID agents.ID = "site:yew"

// addDiscovery has sites come late that are to, and brokers told of the others.
func (w *world) addDiscovery() {
	if !discovers(w.faults) {
		return
	}
	w.Add(sim.Host{ID: discoveryID, New: func() agents.Agent { return discovery{} }, Sturdy: true, Near: true})
	w.Add(sim.Host{ID: "nobody:yew", As: ghostID, New: func() agents.Agent { return deaf{} }, Sturdy: true})
	w.Began(func(l *sim.Life) {
		if id := voice(l.ID); strings.HasPrefix(string(id), "broker:") {
			w.tellTruth(id, w.Now().Add(grid.Second))
		}
	})
}

// knows reports whether a broker's configuration names a site.
func knows(faults []sim.Fault, broker, site agents.ID) bool {
	return !slices.ContainsFunc(faults, func(f sim.Fault) bool {
		return f.Kind == Discovery && f.Size == lateJoin && f.Host == broker && f.Peer == site
	})
}

// tellTruth tells a broker about all sites that have come, and later about one that does
// not exist, if the broker may know of it.
func (w *world) tellTruth(broker agents.ID, at grid.Time) {
	for _, name := range siteNames {
		late := slices.IndexFunc(w.faults, func(f sim.Fault) bool {
			return f.Kind == Discovery && f.Size == lateJoin && f.Host == broker && f.Peer == siteID(name)
		})
		if late < 0 || w.faults[late].At <= at {
			w.tell(at, broker, agents.SiteJoined{Site: siteID(name)})
		}
	}
	w.tell(at.Add(following), broker, agents.SiteLeft{Site: ghostID})
}

// tell tells a broker about a site, more than once, as gossip does.
func (w *world) tell(at grid.Time, broker agents.ID, m agents.Message) {
	for _, later := range []grid.Duration{0, 20 * grid.Second} {
		w.Post(at.Add(later), discoveryID, rumour{broker, m})
	}
}

// hearsay spreads a rumour.
func (w *world) hearsay(f sim.Fault) {
	end := w.Now().Add(f.For)
	say := func(at grid.Time, m agents.Message) { w.tell(at, f.Host, m) }
	switch f.Size {
	case lateJoin, joinAgain:
		say(w.Now(), agents.SiteJoined{Site: f.Peer})
	case falseLeave:
		if say(w.Now(), agents.SiteLeft{Site: f.Peer}); f.Salt%4 > 0 {
			say(end, agents.SiteJoined{Site: f.Peer})
		}
	case cutOff:
		w.Strike(sim.Fault{Kind: sim.Partition, At: w.Now(), For: f.For, Host: f.Peer, Salt: f.Salt})
		say(w.Now().Add(grid.Duration(f.Salt%10_000)), agents.SiteLeft{Site: f.Peer})
		say(end.Add(grid.Duration(f.Salt%5_000)), agents.SiteJoined{Site: f.Peer})
	case senseless:
		for _, id := range []agents.ID{"", "nonsense", "site:", "site:a b", "site:a\x00", agents.ID("site:" + strings.Repeat("x", 101)), f.Host, clusterID("ash")} {
			say(w.Now(), agents.SiteJoined{Site: id})
			say(w.Now(), agents.SiteLeft{Site: id})
		}
	case otherCase: // of one that the broker knows: of two that it does not, the first is taken
		for _, name := range siteNames {
			if knows(w.faults, f.Host, siteID(name)) {
				say(w.Now(), agents.SiteJoined{Site: siteID(strings.ToUpper(name))})
			}
		}
	case neverThere:
		say(w.Now(), agents.SiteJoined{Site: ghostID})
		say(end, agents.SiteLeft{Site: ghostID})
	}
}

// healDiscovery tells brokers the truth. A site that has falsely left stays away if its
// rumour is not corrected.
func (w *world) healDiscovery() {
	if !discovers(w.faults) {
		return
	}
	for i := range w.brokers {
		id := brokerID(w.brokers[i].config.Name)
		w.tell(w.Now(), id, agents.SiteLeft{Site: ghostID})
		for _, f := range w.faults {
			if f.Kind == Discovery && f.Size == lateJoin && f.Host == id {
				w.tell(w.Now(), id, agents.SiteJoined{Site: f.Peer})
			}
		}
	}
}

// member reports whether a broker asks a site for anything new, by its record.
func (c *checker) member(m *mirror, site string) bool {
	is, said := m.member[site]
	return said && is || !said && slices.Contains(siteNames, site) && c.w.knowsOf(m.id, siteID(site))
}

func siteName(id agents.ID) string { return strings.TrimPrefix(string(id), "site:") }

// word is what a life of a broker has been told of sites.
type word struct {
	process int
	life    uint64
}

// hears holds a broker to what the word of sites may do (I12, B65): it takes in sites alone, each
// once, asks one that has left for no offers of a cycle and begins nothing there, and gives no job
// up for want of nodes while others may follow, or may be back.
func (c *checker) hears(s *sim.Step, m *mirror) error {
	if !strings.HasPrefix(string(s.ID), "broker:") || !c.w.discovers() {
		return nil
	}
	if _, joins := s.Message.(agents.SiteJoined); joins && slices.ContainsFunc(s.Sends, asksOffers) {
		c.word[word{s.Process, s.Life}] = s.Now
	}
	for _, x := range s.Sends {
		if r, ok := x.Message.(agents.OfferRequest); ok && r.Cycle > 0 && r.Cycle < beyondCycles && !c.member(m, siteName(x.To)) {
			return fmt.Errorf("B65: %s asks %s for offers of cycle %d, which has left", s.ID, x.To, r.Cycle)
		}
	}
	for _, f := range s.Facts {
		switch f := f.(type) {
		case facts.SiteJoined:
			if !slices.Contains(siteNames, f.Site) && f.Site != siteName(ghostID) {
				return fmt.Errorf("I12: %s takes %q for a site", s.ID, f.Site)
			}
			if c.member(m, f.Site) {
				return fmt.Errorf("B65: %s records that %s joins, which is a member", s.ID, f.Site)
			}
		case facts.SiteLeft:
			if !c.member(m, f.Site) {
				return fmt.Errorf("B65: %s records that %s leaves, which is no member", s.ID, f.Site)
			}
		case facts.TxBegun:
			for _, site := range f.Sites {
				if !c.member(m, site) {
					return fmt.Errorf("B65: %s begins %v at %s, which has left", s.ID, f.Tx, site)
				}
			}
		case facts.JobPostponed:
			if f.Final && (f.Reason.Code == grid.TooLarge || f.Reason.Code == grid.NoNode) {
				if err := c.mayGiveUp(s, m, f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// mayGiveUp checks that no site that may serve a job is missing for a while only.
func (c *checker) mayGiveUp(s *sim.Step, m *mirror, f facts.JobPostponed) error {
	if at, told := c.word[word{s.Process, s.Life}]; told && s.Now < at.Add(following) {
		return fmt.Errorf("B65: %s gives job %s up for good (%v) %v after discovery has named a site", s.ID, f.Job, f.Reason, s.Now.Sub(at))
	}
	for _, site := range siteNames { // the horizon is as long as the storm
		if is, said := m.member[site]; said && !is {
			return fmt.Errorf("B65: %s gives job %s up for good (%v), and %s has left just now", s.ID, f.Job, f.Reason, site)
		}
	}
	return nil
}

// following is how long after discovery has named a site others may follow.
const following = 30 * grid.Second

// beyondCycles begins the numbers of requests for offers that are for no cycle.
const beyondCycles = 1 << 63

func asksOffers(s agents.Send) bool { _, ok := s.Message.(agents.OfferRequest); return ok }
