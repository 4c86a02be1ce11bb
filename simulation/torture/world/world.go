package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/cluster/share"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/sites"
)

// The instants of a run.
const (
	Start = grid.Time(grid.Hour)         // the world's first; wall clocks may be off by less
	Storm = grid.Duration(2 * grid.Hour) // how long faults strike
	Calm  = 10 * grid.Minute             // how long the world goes on without any
)

// The limits of the exchange, shorter than a federation's defaults so that a
// run sees them reached.
const (
	HoldLimit    = 30 * grid.Second
	InDoubtLimit = 3 * grid.Minute
	LeadTime     = 60 * grid.Second
)

// The names of the sites, and of the brokers, which are those of their VOs.
var (
	SiteNames   = []string{"ash", "birch", "cedar", "elm", "fir", "oak"}
	BrokerNames = []string{"vo1", "vo2", "vo3"}
)

// SiteID is the address of a site.
func SiteID(name string) agents.ID { return agents.ID("site:" + name) }

// ClusterID is the address of a site's cluster.
func ClusterID(name string) agents.ID { return agents.ID("cluster:" + name) }

// BrokerID is the address of a broker.
func BrokerID(name string) agents.ID { return agents.ID("broker:" + name) }

// UsersID is the address of the users of a VO, who are one agent.
func UsersID(name string) agents.ID { return agents.ID("users:" + name) }

// World is one seed's federation: 6 sites with local work, 3 brokers with jobs
// and budgets. A checker looks at what it has and changes nothing.
type World struct {
	*sim.Faulty
	Sites    []Site
	Brokers  []VO
	Clusters map[agents.ID]*cluster.Agent   // that live on
	Mortal   map[agents.ID]*cluster.Agent   // that die like all others, by the present life of each; nil: they live on
	Managers map[agents.ID]*manager.Manager // by their drivers
	Groups   map[agents.ID]*Group           // of replicas, by their brokers
	Forgot   map[agents.ID]*Member          // by broker: whose disk is one of the past
	Codec    *journal.Codec                 // of its journals
	Carried  map[string]int                 // messages of and for who is of the last release, by kind

	seed    uint64
	faults  []sim.Fault
	users   map[agents.ID]*users
	spied   spied
	lied    func(site agents.ID, leg grid.LegID) // see Lied
	answers *rand.Rand                           // what users say to offers; nil: nobody is asked

	replicas       int // that hold each broker; 0: it is alone
	atReplicas     []sim.Fault
	struckReplicas map[sim.Kind]int

	old     agents.ID // who is of the last release; "": nobody
	release *wire.Dialect

	readings map[string]Site // of sites' files, by the why of the reload

	aims       []sim.Fault // crashes that wait for their moment
	struckAims int
	legAims    []sim.Fault // trouble that waits for a leg
	struckLegs int
}

// Site is what a site is made of.
type Site struct {
	Config   sites.Config
	Local    [][]grid.LocalJob     // by group
	promises *queue.PromiseOptions // of a site of service level agreements, but for its prices; nil: it is none

	Deadlines [][]share.Job // by group, of a site of time-shared nodes; nil: it is none

	Behind    Behind
	maxPilots int
	oracle    func(group string) managed.Oracle // forecasts its manager's queue; nil: nobody does
	nodeNames [][]string                        // of a site that has a manager, by group
	policy    backfill.Policy                   // of its manager
	accounts  []managed.Account
	former    [][]managed.Account // before reloads
}

// VO is what a broker is made of.
type VO struct {
	Config broker.Config
	Jobs   []grid.Job
}

// New draws the federation of a seed and brings it to life under faults. Whether its clusters
// die too, and whether its brokers are held by replicas, is the seed's to say; if alone, they are
// not.
func New(seed uint64, alone bool, faults []sim.Fault, opt sim.Options) *World {
	w := &World{}
	if clustersDie(seed) {
		w.Mortal = map[agents.ID]*cluster.Agent{}
	}
	if !alone {
		w.replicas = ReplicasOf(seed)
	}
	return w.begin(seed, faults, opt)
}

// NewPlain draws the federation of a seed without what dies or is replicated besides: brokers are
// alone, and clusters live on.
func NewPlain(seed uint64, faults []sim.Fault, opt sim.Options) *World {
	return (&World{}).begin(seed, faults, opt)
}

// Of makes a federation of what it is given, as scenarios do, and brings it to life.
func Of(seed uint64, sites []Site, brokers []VO, opt sim.Options) *World {
	w := &World{Codec: journal.NewCodec(), seed: seed, Sites: sites, Brokers: brokers, Clusters: map[agents.ID]*cluster.Agent{}, users: map[agents.ID]*users{}}
	opt.Seed, opt.Start, opt.Strike, opt.Tamper = seed, Start, w.strike, w.tamper
	w.Faulty = sim.NewFaulty(opt)
	for i := range w.Sites {
		w.addSite(&w.Sites[i])
	}
	for i := range w.Brokers {
		w.addBroker(&w.Brokers[i])
	}
	return w
}

// NewMortal makes a world whose clusters have journals and may die like all others.
// They share the clocks of their sites, as in one process. No life begins there with a
// clock that others would contradict. In other worlds sites do begin with such clocks, as
// if they got no answers, and their clusters have the right time.
func NewMortal(seed uint64, faults []sim.Fault, opt sim.Options) *World {
	return (&World{Mortal: map[agents.ID]*cluster.Agent{}}).begin(seed, faults, opt)
}

func (w *World) begin(seed uint64, faults []sim.Fault, opt sim.Options) *World {
	w.Codec, w.faults, w.Managers = journal.NewCodec(), faults, map[agents.ID]*manager.Manager{}
	w.lied = func(agents.ID, grid.LegID) {}
	w.Groups, w.Forgot, w.struckReplicas = map[agents.ID]*Group{}, map[agents.ID]*Member{}, map[sim.Kind]int{}
	w.seed, w.Clusters, w.users = seed, map[agents.ID]*cluster.Agent{}, map[agents.ID]*users{}
	r := rand.New(rand.NewPCG(seed, streamWorld))
	for _, name := range SiteNames {
		w.Sites = append(w.Sites, drawSite(r, name))
	}
	for _, name := range BrokerNames {
		w.Brokers = append(w.Brokers, drawVO(r, name))
	}
	w.drawPromises(rand.New(rand.NewPCG(seed, streamPromises)))
	w.drawKinds(seed)
	if w.replicas > 0 {
		faults = w.toReplicas(faults)
	}
	opt.Seed, opt.Start, opt.Faults, opt.Describe = seed, Start, faults, describe
	opt.Lo, opt.Hi, opt.Skew = grid.Millisecond, 50*grid.Millisecond, 300*grid.Millisecond
	opt.Compare = func(id agents.ID) bool { return w.Mortal != nil || strings.HasPrefix(string(Voice(id)), "broker:") }
	if w.Mortal != nil {
		opt.Skew = 0
	}
	opt.Strike, opt.Tamper, opt.Keep = w.strike, w.tamper, keeps(w.faults)
	if Mixed(seed) {
		w.drawRelease()
		opt.Carry = w.carry
	}
	w.Faulty = sim.NewFaulty(opt)
	for i := range w.Sites {
		w.addSite(&w.Sites[i])
	}
	for i := range w.Brokers {
		b := &w.Brokers[i].Config
		b.LostAfter = lostAfter(w.faults)
		b.Sites = slices.DeleteFunc(b.Sites, func(site agents.ID) bool { return !knows(w.faults, BrokerID(b.Name), site) })
		w.addBroker(&w.Brokers[i])
	}
	w.After(w.hang)
	w.After(w.reloaded)
	w.After(func(s *sim.Step) {
		if s.Died {
			w.died(s.ID)
		}
		w.aimed(s)
		w.aimedLegs(s)
	})
	w.Began(func(l *sim.Life) { w.died(l.ID) })
	w.Add(sim.Host{ID: siteOperatorID, New: func() agents.Agent { return deaf{} }, Sturdy: true})
	if termed(seed) {
		w.Add(sim.Host{ID: grantorID, New: func() agents.Agent { return &grantor{} }, Sturdy: true})
	}
	if silent(seed) {
		w.addInsistent()
	}
	w.addDiscovery()
	if losesSite(w.faults) {
		w.Add(sim.Host{ID: operatorID, New: func() agents.Agent { return &operator{unheard: map[agents.ID]int{}} }, Sturdy: true})
	}
	return w
}

// describe formats a message for a trace: its kind and content, truncated if long.
func describe(m agents.Message) string {
	line := fmt.Sprintf("%s %+v", m.Kind(), m)
	if len(line) > 200 {
		line = line[:200] + "..."
	}
	return line
}

// Lied sets a hook that is called whenever a site lies about a leg.
func (w *World) Lied(h func(site agents.ID, leg grid.LegID)) { w.lied = h }

// Heal ends all faults: those of messages, disks and processes, of managers, of what brokers are
// told of sites and of what operators allow. A site that was declared lost is found.
func (w *World) Heal() {
	w.Faulty.Heal()
	w.healManagers()
	w.healDiscovery()
	w.healTerms()
	if w.LosesSite() {
		w.Post(w.Now(), operatorID, agents.SiteFound{})
	}
}

// Count is how often faults of a kind have struck, whoever counts them.
func (w *World) Count(k sim.Kind) int {
	switch k {
	case CrashAimed:
		return w.struckAims
	case LegAimed:
		return w.struckLegs
	}
	return w.Faulty.Count(k) + w.struckManagers(k) + w.struckReplicas[k]
}

// Narrow reports whether bounds are low.
func (w *World) Narrow() bool { return narrow(w.seed) }

// Termed reports whether users have terms.
func (w *World) Termed() bool { return termed(w.seed) }

// LosesSite reports whether a site is lost.
func (w *World) LosesSite() bool { return losesSite(w.faults) }

// Discovers reports whether brokers are told of sites.
func (w *World) Discovers() bool { return discovers(w.faults) }

// Replicated reports whether brokers have replicas.
func (w *World) Replicated() bool { return w.replicas > 0 }

// Knows reports whether a broker's configuration names a site.
func (w *World) Knows(broker, site agents.ID) bool { return knows(w.faults, broker, site) }

// FaultsOf lists the faults that strike one of some agents, or lie between it and another.
func (w *World) FaultsOf(ids ...agents.ID) (list []sim.Fault) {
	for _, f := range w.faults {
		if slices.Contains(ids, f.Host) || slices.Contains(ids, f.Peer) {
			list = append(list, f)
		}
	}
	return list
}

// drawKinds draws what is special about the world of a seed.
func (w *World) drawKinds(seed uint64) {
	if narrow(seed) {
		w.drawNarrow()
	}
	if failing(seed) {
		w.drawFailures(rand.New(rand.NewPCG(seed, streamFailures)))
	}
	kinds, _ := ManagedKinds(seed)
	for i, k := range kinds {
		w.Sites[i].Behind = k
	}
	if kinds != nil {
		w.drawWork()
	}
	if sharing(seed) {
		w.drawShares()
	}
	if asking(seed) {
		w.drawOffers()
	}
	if termed(seed) {
		w.drawTerms()
	}
	if silent(seed) {
		w.drawSilence()
	}
	if Sliced(seed) {
		defer w.drawSlices()
	}
	if Composed(seed) {
		w.drawParts()
	}
	if Piloting(seed) {
		w.drawPilots()
	}
}

func (w *World) addSite(s *Site) {
	name := s.Config.Name
	s.Config.Key = agents.DerivedKey(w.seed, name)
	twice, required := w.mirrored(SiteID(name))
	defer func() {
		w.Add(sim.Host{ID: SiteID(name), Mirrored: twice, MirrorRequired: required, New: func() agents.Agent { return sites.New(s.Config) },
			Fixed: func() func() agents.Agent { cfg := s.Config; return func() agents.Agent { return sites.New(cfg) } }})
	}()
	if s.Behind != Simulated {
		w.manage(s, w.seed)
	}
	if w.Mortal != nil {
		w.addMortal(s)
		return
	}
	// Where shares are checked by facts, or settings change, it records them all.
	c := cluster.New(cluster.Config{Site: SiteID(name), Groups: s.Config.Groups, Volatile: s.Deadlines == nil && !Reloading(w.seed)}, s.backend())
	w.Clusters[ClusterID(name)] = c
	w.Add(sim.Host{ID: ClusterID(name), New: func() agents.Agent { return c }, Sturdy: true, Near: true})
}

// backend is what a site's cluster knows of nodes and time.
func (s *Site) backend() cluster.Backend {
	switch {
	case s.Deadlines != nil:
		return s.shares()
	case s.Behind != Simulated:
		return s.managed()
	}
	return s.nodes()
}

// queue says how a group of a site serves.
func (s *Site) queue(group int) queue.Options {
	opt := queue.Options{Nodes: s.Config.Groups[group].Nodes, Policy: backfill.EASY}
	if s.promises != nil {
		p := *s.promises
		p.Schedule.Price = s.Config.Groups[group].Price
		opt.Promises = &p
	}
	return opt
}

// nodes are those of a site, with their local work.
func (s *Site) nodes() *queue.Backend {
	var options []queue.Options
	for i := range s.Config.Groups {
		options = append(options, s.queue(i))
	}
	return queue.NewBackend(s.Config.Groups, options, func(group int, _, after grid.Time) func() (grid.LocalJob, bool) {
		return queue.Jobs(slices.DeleteFunc(slices.Clone(s.Local[group]), func(j grid.LocalJob) bool { return j.Submit < after }))
	})
}

// addMortal adds the cluster of a site as one that has a journal.
func (w *World) addMortal(s *Site) {
	id, at := ClusterID(s.Config.Name), SiteID(s.Config.Name)
	made := func(s *Site) agents.Agent {
		w.Mortal[id] = cluster.New(cluster.Config{Site: at, Groups: s.Config.Groups}, s.backend())
		return w.Mortal[id]
	}
	w.Add(sim.Host{ID: id, Near: true, Machine: at, New: func() agents.Agent { return made(s) },
		Fixed: func() func() agents.Agent { was := *s; return func() agents.Agent { return made(&was) } }})
}

func (w *World) addBroker(v *VO) {
	name := v.Config.Name
	if w.replicas > 0 {
		w.addReplicas(v)
	} else {
		w.Add(sim.Host{ID: BrokerID(name), New: func() agents.Agent { return broker.New(v.Config) }})
	}
	u := newUsers(BrokerID(name), v.Jobs)
	w.users[UsersID(name)] = u
	w.Add(sim.Host{ID: UsersID(name), New: func() agents.Agent { return u }, Sturdy: true})
}
