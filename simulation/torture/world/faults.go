package world

import (
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/manager"
)

// The kinds of faults of this domain.
const (
	BadQuote   sim.Kind = "bad-quote"   // a site's offers and quotes are late, stale or lies
	NodeLost   sim.Kind = "node-lost"   // nodes fail, under whatever they carry
	UserCancel sim.Kind = "user-cancel" // a user gives a job up
	Forgery    sim.Kind = "forgery"     // a Hold comes again with other content

	// ForgedReassert is a member that asserts legs that its sites never had, and
	// those that they had, once more.
	ForgedReassert sim.Kind = "forged-reassert"
)

// Kinds lists all kinds of faults, in the order in which they are shown.
func Kinds() []sim.Kind {
	return append(append(sim.Kinds(), BadQuote, NodeLost, UserCancel, Forgery, ForgedReassert, SiteLost, CrashAimed, LegAimed, OperatorWish, Discovery, LyingSite, SlowDisk, MemberReplaced, OperatorGrant, AllSilent, Insistence, SiteReload), manager.Kinds()...)
}

// Faults draws what goes wrong in the world of a seed: of every kind of kinds
// (all if none is named) a few, at any time, anywhere.
func Faults(seed uint64, only ...sim.Kind) []sim.Fault {
	list := FaultsAlone(seed, only...)
	if ReplicasOf(seed) > 0 {
		more, _ := groupFaults(seed)
		list = append(list, slices.DeleteFunc(more, func(f sim.Fault) bool { return len(only) > 0 && !slices.Contains(only, f.Kind) })...)
		slices.SortStableFunc(list, func(a, b sim.Fault) int { return int(a.At - b.At) })
	}
	return list
}

// FaultsAlone are those of a world in which no broker has replicas.
func FaultsAlone(seed uint64, only ...sim.Kind) []sim.Fault {
	r := rand.New(rand.NewPCG(seed, streamFaults))
	var list []sim.Fault
	for _, k := range Kinds() {
		if k == SiteLost {
			if f, ok := DrawLost(seed); ok && (len(only) == 0 || slices.Contains(only, k)) {
				list = append(list, f)
			}
			continue
		}
		if k == sim.Mirror {
			if len(only) == 0 || slices.Contains(only, k) {
				list = append(list, drawMirrors(seed)...)
			}
			continue
		}
		if ofManager(k) || ofReplicas(k) || ofDisks(k) || k == CrashAimed || k == LegAimed || k == OperatorWish || k == Discovery || k == LyingSite || ofFewWorlds(k) {
			continue
		}
		for range 1 + r.IntN(often[k]) {
			f := drawFault(r, k)
			if len(only) == 0 || slices.Contains(only, k) {
				list = append(list, f)
			}
		}
	}
	others := slices.Concat(managedFaults(seed), legFaults(seed), operatorFaults(seed), discoveryFaults(seed), wishFaults(seed), diskFaults(seed))
	if clustersDie(seed) {
		others = slices.Concat(others, MachineFaults(seed), pastFaults(seed))
	}
	if narrow(seed) {
		others = append(others, narrowFaults(seed)...)
	}
	if termed(seed) {
		others = append(others, termsFaults(seed)...)
	}
	if silent(seed) {
		others = append(others, silenceFaults(seed)...)
	}
	if Reloading(seed) {
		others = append(others, reloadFaults(seed)...)
	}
	if Piloting(seed) {
		others = append(rightClocks(seed, others), pilotFaults(seed)...)
	}
	if lying(seed) {
		others = append(others, lyingFaults(seed)...)
	}
	list = append(list, slices.DeleteFunc(others, func(f sim.Fault) bool { return len(only) > 0 && !slices.Contains(only, f.Kind) })...)
	slices.SortStableFunc(list, func(a, b sim.Fault) int { return int(a.At - b.At) })
	return list
}

// clustersDie reports whether the clusters of a seed's world have journals and die like
// all others, and have the clocks of their sites' machines: in one seed of ten, and in
// half of the worlds that have managers.
func clustersDie(seed uint64) bool {
	_, die := ManagedKinds(seed)
	return seed%10 == 9 || die
}

// MachineFaults draws faults of the machines of sites whose clusters run there too: deaths
// of clusters, and clocks that are off by up to two hours when both restart.
func MachineFaults(seed uint64) []sim.Fault {
	r := rand.New(rand.NewPCG(seed, streamMachineFaults))
	kinds := []sim.Kind{sim.CrashSync, sim.CrashSend, sim.TornJournal, sim.SyncFailed, sim.DiskFull}
	var list []sim.Fault
	for range 12 {
		list = append(list, sim.Fault{Kind: kinds[r.IntN(len(kinds))], Host: ClusterID(SiteNames[r.IntN(len(SiteNames))]), Salt: 1 + r.Uint64N(1<<32),
			At: Start.Add(grid.Duration(r.Int64N(int64(Storm)))), For: grid.Duration(100 + r.Int64N(int64(2*grid.Minute)))})
	}
	for range 6 {
		list = append(list, sim.Fault{Kind: sim.ClockJump, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Salt: 1 + r.Uint64N(1<<32),
			At: Start.Add(grid.Duration(r.Int64N(int64(Storm - 10*grid.Minute)))), For: grid.Duration(10_000 + r.Int64N(int64(6*grid.Minute))),
			Size: r.Int64N(int64(150*grid.Minute)) - int64(30*grid.Minute)})
	}
	return list
}

// often is how many faults of a kind a run has at most.
var often = map[sim.Kind]int{
	sim.Drop: 6, sim.Delay: 6, sim.Duplicate: 6, sim.Reorder: 6, sim.Partition: 4, sim.OneWay: 4, sim.Flap: 3,
	sim.CrashSync: 6, sim.CrashSend: 6, sim.Pause: 5, sim.ClockJump: 2, sim.Drift: 3, sim.TornJournal: 3, sim.BitFlip: 2,
	sim.DiskFull: 2, sim.SyncFailed: 3, sim.OldJournal: 2, sim.Twin: 1, BadQuote: 3, NodeLost: 3, UserCancel: 10, Forgery: 3, ForgedReassert: 3,
	sim.Batch: 6, sim.LyingSync: 3, sim.Rot: 3,
}

// drawFault draws a fault of a kind.
func drawFault(r *rand.Rand, k sim.Kind) sim.Fault {
	between := func(lo, hi grid.Duration) grid.Duration { return lo + grid.Duration(r.Int64N(int64(hi-lo)+1)) }
	f := sim.Fault{Kind: k, At: Start.Add(between(grid.Minute, Storm-5*grid.Minute)), Salt: 1 + r.Uint64N(1<<32)}
	f.Host = anyHost(r)
	switch k {
	case sim.Drop, sim.Delay, sim.Duplicate, sim.Reorder:
		f.For, f.Share = between(10*grid.Second, 5*grid.Minute), 50+r.IntN(600)
		f.Size = int64(between(100, 15*grid.Second))
		switch r.IntN(4) {
		case 0:
			f.Host, f.Share = "", 50+r.IntN(200) // everywhere
		case 1:
			if k == sim.Drop || k == sim.Delay { // the cluster is silent or late
				s := SiteNames[r.IntN(len(SiteNames))]
				f.Host, f.Peer, f.Size = ClusterID(s), SiteID(s), int64(between(grid.Second, grid.Minute))
			}
		}
	case sim.Partition, sim.OneWay, sim.Flap:
		f.For = between(5*grid.Second, 6*grid.Minute) // beyond the in-doubt limit, at times
		f.Size = int64(between(grid.Second, 20*grid.Second))
		if r.IntN(2) == 0 {
			f.Host, f.Peer = BrokerID(BrokerNames[r.IntN(3)]), SiteID(SiteNames[r.IntN(6)])
			if r.IntN(2) == 0 {
				f.Host, f.Peer = f.Peer, f.Host
			}
		}
	case sim.CrashSync, sim.CrashSend, sim.TornJournal, sim.SyncFailed, sim.BitFlip:
		f.For = between(100, 20*grid.Second)
		if r.IntN(5) == 0 {
			f.For = between(grid.Minute, 8*grid.Minute)
		}
	case sim.Pause:
		f.For = between(grid.Second, 2*grid.Minute)
	case sim.ClockJump:
		f.For, f.Size = between(10*grid.Second, 6*grid.Minute), int64(between(-10*grid.Minute, 10*grid.Minute))
	case sim.Drift:
		f.For, f.Size = between(grid.Minute, 10*grid.Minute), r.Int64N(20_001)-10_000
	case sim.DiskFull:
		f.For = between(5*grid.Second, 2*grid.Minute)
	case sim.OldJournal:
		f.For = between(10*grid.Second, 15*grid.Minute)
	case sim.Twin:
		f.Host, f.For = BrokerID(BrokerNames[r.IntN(3)]), between(20*grid.Second, 6*grid.Minute)
	case BadQuote:
		f.Host, f.For, f.Share = SiteID(SiteNames[r.IntN(6)]), between(grid.Minute, 10*grid.Minute), 300
	case NodeLost:
		f.Host, f.Size = ClusterID(SiteNames[r.IntN(6)]), 1+r.Int64N(8)
	case UserCancel:
		f.Host = UsersID(BrokerNames[r.IntN(3)])
	case Forgery, ForgedReassert:
		f.Host, f.For, f.Share = BrokerID(BrokerNames[r.IntN(3)]), between(grid.Minute, 10*grid.Minute), 300
	}
	return f
}

// anyHost draws a site or a broker.
func anyHost(r *rand.Rand) agents.ID {
	if i := r.IntN(len(SiteNames) + 2*len(BrokerNames)); i < len(SiteNames) {
		return SiteID(SiteNames[i])
	}
	return BrokerID(BrokerNames[r.IntN(len(BrokerNames))])
}

// strike carries out a fault of the domain.
func (w *World) strike(_ *sim.Faulty, f sim.Fault) bool {
	switch f.Kind {
	case NodeLost:
		for i := range w.Sites {
			if w.Sites[i].Behind != Simulated || w.Sites[i].Deadlines != nil {
				continue // its manager has faults of its own; time-shared nodes do not fail
			}
			if s := &w.Sites[i].Config; s.Cluster == f.Host {
				g := s.Groups[f.Salt%uint64(len(s.Groups))]
				w.Post(w.Now(), f.Host, agents.NodesLost{Group: g.Name, Count: min(int(f.Size), g.Nodes), For: 20 * grid.Minute})
			}
		}
	case CrashAimed:
		w.aims = append(w.aims, f)
		return false // it is counted when its moment has come
	case LegAimed:
		w.legAims = append(w.legAims, f)
		return false // the same
	case atReplica:
		return w.strikeReplica(w.atReplicas[f.Size])
	case SiteLost:
		w.lose(f)
	case OperatorWish:
		w.wish(f)
	case SiteReload:
		w.reload(f)
	case AllSilent:
		w.silence(f)
	case Insistence:
		w.insist(f)
	case OperatorGrant:
		w.grant(f)
	case Discovery:
		w.hearsay(f)
	case UserCancel:
		w.Post(w.Now(), f.Host, giveUp{f.Salt})
	default:
		if ofManager(f.Kind) {
			w.strikeManager(f)
		}
		return false // it strikes messages, or its manager counts it
	}
	return true
}

// tamper makes a site's offers and quotes stale or lies, and has a broker's Hold
// come again with other content.
func (w *World) tamper(f sim.Fault, draw uint64, from, to agents.ID, m agents.Message) (agents.Message, bool) {
	if from = Voice(from); f.Kind == ForgedReassert {
		return m, w.assert(f, draw, from, to, m)
	}
	if from != f.Host || ofManager(f.Kind) {
		return m, false
	}
	if h, ok := m.(agents.Hold); ok && f.Kind == Forgery && h.Version > 0 { // of a version that is no more; moves are rare, so all of them
		h.Version--
		return h, true
	}
	if int(draw>>8%1000) >= f.Share {
		return m, false
	}
	switch f.Kind {
	case Forgery:
		return w.forge(draw, from, to, m)
	case LyingSite:
		return w.lie(from, f.Size, draw, m)
	}
	switch m := m.(type) {
	case agents.Offers:
		return lyingOffers(m, draw), true
	case agents.Quotes:
		m.Quotes = slices.Clone(m.Quotes)
		for i := range m.Quotes {
			if m.Quotes[i].Fare.Base >>= draw % 3; draw&4 != 0 {
				m.Quotes[i] = grid.Quote{Fare: grid.Fare{Base: 1}}
			}
		}
		if draw&8 != 0 {
			m.Quotes = m.Quotes[:len(m.Quotes)/2]
		}
		return m, true
	}
	return m, false
}

// forge repeats a Hold with other content, and makes a broker claim that it does not know
// what it does.
func (w *World) forge(draw uint64, from, to agents.ID, m agents.Message) (agents.Message, bool) {
	switch m := m.(type) {
	case agents.Answer:
		m.Verdict = agents.Unknown
		return m, true
	case agents.Hold:
		again := m
		again.Limit--
		w.Inject(w.Now().Add(grid.Duration(draw%10_000)), from, to, again)
		return m, true
	}
	return m, false
}

// lyingOffers are offers of another time, of nodes that are not there, or
// without sense.
func lyingOffers(m agents.Offers, draw uint64) agents.Offers {
	m.Groups = slices.Clone(m.Groups)
	for i := range m.Groups {
		g := &m.Groups[i]
		switch draw % 5 {
		case 0:
			m.Now = m.Now.Add(5 * grid.Minute)
		case 1: // everything is free
			g.Admissible = grid.Profile{{At: m.Now, Free: g.Group.Nodes}}
			g.Clear = g.Admissible
		case 2:
			g.Group.Price *= 2
		case 3:
			g.Admissible = grid.Profile{{At: m.Now, Free: 1 << 30}}
		case 4:
			g.Group.Nodes *= 2
		}
	}
	return m
}
