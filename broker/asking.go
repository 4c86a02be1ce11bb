package broker

import (
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// A broker with thousands of sites does not ask all of them in every cycle. With
// Config.MaxAsked it asks the sites that, by their last offers, promise most for the jobs of
// the batch. At least a quarter of its requests go to the other sites in turn, longest
// unasked first. So what it remembers is never older than 4 x sites / MaxAsked cycles.
// Until it has met three quarters of the sites, it asks all in turn. Whether a job can be
// served anywhere is judged by all sites, asked or not.

// asking picks the sites that a cycle asks, and knows how they answer.
type asking struct {
	*memory
	known map[agents.ID]*acquaintance
}

// acquaintance is what is remembered of how a site answers requests for offers. It is of
// this life only.
type acquaintance struct {
	id     agents.ID
	asked  uint64           // the cycle that last asked it; 0: none has
	lot    uint64           // breaks ties between sites last asked in the same cycle
	digest *planning.Digest // of its last offers; nil: they were unusable, or there are none
	silent silence
	has    []agents.GroupOffer // what it has, by its last offers, free or not; nil: not known
}

// of is what is known of a site.
func (ask *asking) of(id agents.ID) *acquaintance {
	a := ask.known[id]
	if a == nil {
		if ask.known == nil {
			ask.known = map[agents.ID]*acquaintance{}
		}
		a = &acquaintance{id: id}
		ask.known[id] = a
	}
	return a
}

// inTurn reports whether there are more sites than may be asked at once.
func (ask *asking) inTurn() bool {
	return ask.cfg.MaxAsked > 0 && ask.Peers.Size() > ask.cfg.MaxAsked
}

// sitesFor are the sites to ask for offers for a single job, in order of name. They include
// those that have a leg of it.
func (ask *asking) sitesFor(now grid.Time, j *jobs.Job, terms planning.Terms) []agents.ID {
	if !ask.inTurn() {
		return ask.Peers.Usable(nil)
	}
	in := &planning.Input{From: now.Add(ask.cfg.Lead), Horizon: now.Add(ask.cfg.Horizon), Terms: terms, Jobs: []planning.Job{{Request: j.Request()}}}
	ids := ask.sites(ask.Cycles, in)
	for _, t := range j.Window() {
		for i := range t.Legs() {
			if id := t.Site(i); ask.Peers.Get(id).Usable() {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// sites picks the usable sites to ask in a cycle, in order of name. in needs only what is
// known before any site has answered.
func (ask *asking) sites(cycle uint64, in *planning.Input) []agents.ID {
	usable, most := ask.Peers.Usable(nil), ask.cfg.MaxAsked
	if len(usable) <= most {
		return usable
	}
	all, digests, strangers := make([]*acquaintance, len(usable)), make([]*planning.Digest, len(usable)), 0
	for i, id := range usable {
		a := ask.of(id)
		all[i] = a
		if !a.silent.since {
			digests[i] = a.digest
		}
		if a.asked == 0 {
			strangers++
			a.lot = lotOf(ask.cfg.Name, id)
		}
	}
	var list []*acquaintance
	for _, name := range in.Named() { // first, for no other site may carry their jobs
		if i, there := slices.BinarySearch(usable, transaction.SiteID(name)); there && len(list) < most {
			list = append(list, all[i])
			all[i], digests[i] = nil, nil
		}
	}
	if strangers <= len(usable)/4 {
		for _, i := range in.Worth(digests, min(most-(most+3)/4, most-len(list))) {
			list = append(list, all[i])
			all[i] = nil
		}
	}
	rest := slices.DeleteFunc(all, func(a *acquaintance) bool { return a == nil })
	slices.SortFunc(rest, func(a, b *acquaintance) int {
		return cmp.Or(cmp.Compare(a.asked, b.asked), cmp.Compare(a.lot, b.lot), cmp.Compare(a.id, b.id))
	})
	ids := usable[:0]
	for _, a := range append(list, rest[:most-len(list)]...) {
		a.asked = max(cycle, 1)
		ids = append(ids, a.id)
	}
	slices.Sort(ids)
	return ids
}

// lotOf is a number for a site that differs between brokers, so that not all of them ask
// the same sites at once.
func lotOf(broker string, site agents.ID) uint64 {
	h := fnv.New64a()
	h.Write([]byte(broker))
	h.Write([]byte{0})
	h.Write([]byte(site))
	return h.Sum64()
}

// remember keeps a digest of a site's offers.
func (ask *asking) remember(id agents.ID, s *planning.Site) {
	a := ask.of(id)
	if a.digest = nil; s.Answer == planning.Usable && ask.inTurn() {
		a.digest = planning.DigestOf(s.Now, s.Groups)
	}
}

// elsewhere reports whether, as far as is known, a site that was not asked could serve a
// request.
func (ask *asking) elsewhere(asked map[agents.ID]int32, r *grid.Request) bool {
	return ask.inTurn() && ask.Peers.Some(func(p *transaction.Site) bool {
		if _, now := asked[p.ID()]; now || !p.Usable() {
			return false
		}
		digest := ask.of(p.ID()).digest
		return digest == nil || digest.Serves(r)
	})
}
