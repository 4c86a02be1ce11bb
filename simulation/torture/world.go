package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/cluster/share"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/sla"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/sites"
)

// The instants of a run.
const (
	start = grid.Time(grid.Hour)         // the world's first; wall clocks may be off by less
	storm = grid.Duration(2 * grid.Hour) // how long faults strike
	calm  = 10 * grid.Minute             // how long the world goes on without any
)

// The limits of the exchange, shorter than a federation's defaults so that a
// run sees them reached.
const (
	holdLimit    = 30 * grid.Second
	inDoubtLimit = 3 * grid.Minute
	leadTime     = 60 * grid.Second
)

var (
	siteNames   = []string{"ash", "birch", "cedar", "elm", "fir", "oak"}
	brokerNames = []string{"vo1", "vo2", "vo3"}
)

// The addresses of agents.
func siteID(name string) agents.ID    { return agents.ID("site:" + name) }
func clusterID(name string) agents.ID { return agents.ID("cluster:" + name) }
func brokerID(name string) agents.ID  { return agents.ID("broker:" + name) }
func usersID(name string) agents.ID   { return agents.ID("users:" + name) }

// world is one seed's federation: 6 sites with local work, 3 brokers with jobs
// and budgets.
type world struct {
	*sim.Faulty
	seed    uint64
	sites   []site
	brokers []vo
	cluster map[agents.ID]*cluster.Agent
	users   map[agents.ID]*users
	faults  []sim.Fault
	mortal  map[agents.ID]*cluster.Agent // clusters that die too, by the present life of each
	spied   spied
	lied    func(site agents.ID, leg grid.LegID) // see Lied
	answers *rand.Rand                           // what users say to offers; nil: nobody is asked

	replicas       int                  // that hold each broker; 0: it is alone
	groups         map[agents.ID]*group // by their brokers
	atReplicas     []sim.Fault
	forgot         map[agents.ID]*member // by broker: whose disk is one of the past
	struckReplicas map[sim.Kind]int

	managers map[agents.ID]*manager.Manager // by their drivers

	readings map[string]site // of sites' files, by the why of the reload

	aims       []sim.Fault // crashes that wait for their moment
	struckAims int
	legAims    []sim.Fault // trouble that waits for a leg
	struckLegs int
}

// site is what a site is made of.
type site struct {
	config   sites.Config
	local    [][]grid.LocalJob     // by group
	promises *queue.PromiseOptions // of a site of service level agreements, but for its prices; nil: it is none

	deadlines [][]share.Job // by group, of a site of time-shared nodes; nil: it is none

	kind      kind
	nodeNames [][]string      // of a site that has a manager, by group
	policy    backfill.Policy // of its manager
	accounts  []managed.Account
}

// vo is what a broker is made of.
type vo struct {
	config broker.Config
	jobs   []grid.Job
}

// drawn draws the federation of a seed and brings it to life under faults. Whether its clusters
// die too, and whether its brokers are held by replicas, is the seed's to say; if alone, they are
// not.
func drawn(seed uint64, alone bool, faults []sim.Fault, opt sim.Options) *world {
	w := &world{}
	if mortal(seed) {
		w.mortal = map[agents.ID]*cluster.Agent{}
	}
	if !alone {
		w.replicas = replicasOf(seed)
	}
	return w.begin(seed, faults, opt)
}

// newWorld draws the federation of a seed without what dies or is replicated besides: brokers are
// alone, and clusters live on.
func newWorld(seed uint64, faults []sim.Fault, opt sim.Options) *world {
	return (&world{}).begin(seed, faults, opt)
}

// of makes a federation of what it is given, as scenarios do, and brings it to life.
func of(seed uint64, sites []site, brokers []vo, opt sim.Options) *world {
	w := &world{seed: seed, sites: sites, brokers: brokers, cluster: map[agents.ID]*cluster.Agent{}, users: map[agents.ID]*users{}}
	opt.Seed, opt.Start, opt.Strike, opt.Tamper = seed, start, w.strike, w.tamper
	w.Faulty = sim.NewFaulty(opt)
	for i := range w.sites {
		w.addSite(&w.sites[i])
	}
	for i := range w.brokers {
		w.addBroker(&w.brokers[i])
	}
	return w
}

// newMortalWorld makes a world whose clusters have journals and may die like all others.
// They share the clocks of their sites, as in one process. No life begins there with a
// clock that others would contradict. In other worlds sites do begin with such clocks, as
// if they got no answers, and their clusters have the right time.
func newMortalWorld(seed uint64, faults []sim.Fault, opt sim.Options) *world {
	return (&world{mortal: map[agents.ID]*cluster.Agent{}}).begin(seed, faults, opt)
}

func (w *world) begin(seed uint64, faults []sim.Fault, opt sim.Options) *world {
	w.faults, w.managers = faults, map[agents.ID]*manager.Manager{}
	w.lied = func(agents.ID, grid.LegID) {}
	w.groups, w.forgot, w.struckReplicas = map[agents.ID]*group{}, map[agents.ID]*member{}, map[sim.Kind]int{}
	w.seed, w.cluster, w.users = seed, map[agents.ID]*cluster.Agent{}, map[agents.ID]*users{}
	r := rand.New(rand.NewPCG(seed, streamWorld))
	for _, name := range siteNames {
		w.sites = append(w.sites, drawSite(r, name))
	}
	for _, name := range brokerNames {
		w.brokers = append(w.brokers, drawVO(r, name))
	}
	w.drawPromises(rand.New(rand.NewPCG(seed, streamPromises)))
	w.drawKinds(seed)
	if w.replicas > 0 {
		faults = w.toReplicas(faults)
	}
	opt.Seed, opt.Start, opt.Faults, opt.Describe = seed, start, faults, describe
	opt.Lo, opt.Hi, opt.Skew = grid.Millisecond, 50*grid.Millisecond, 300*grid.Millisecond
	opt.Compare = func(id agents.ID) bool { return w.mortal != nil || strings.HasPrefix(string(voice(id)), "broker:") }
	if w.mortal != nil {
		opt.Skew = 0
	}
	opt.Strike, opt.Tamper, opt.Keep = w.strike, w.tamper, keeps(w.faults)
	w.Faulty = sim.NewFaulty(opt)
	for i := range w.sites {
		w.addSite(&w.sites[i])
	}
	for i := range w.brokers {
		b := &w.brokers[i].config
		b.LostAfter = lostAfter(w.faults)
		b.Sites = slices.DeleteFunc(b.Sites, func(site agents.ID) bool { return !knows(w.faults, brokerID(b.Name), site) })
		w.addBroker(&w.brokers[i])
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

// reported sets a hook that is called whenever a site lies about a leg.
func (w *world) reported(h func(site agents.ID, leg grid.LegID)) { w.lied = h }

// Heal ends all faults: those of messages, disks and processes, of managers, of what brokers are
// told of sites and of what operators allow. A site that was declared lost is found.
func (w *world) Heal() {
	w.Faulty.Heal()
	w.healManagers()
	w.healDiscovery()
	w.healTerms()
	if w.losesSite() {
		w.Post(w.Now(), operatorID, agents.SiteFound{})
	}
}

// Count is how often faults of a kind have struck, whoever counts them.
func (w *world) Count(k sim.Kind) int {
	switch k {
	case CrashAimed:
		return w.struckAims
	case LegAimed:
		return w.struckLegs
	}
	return w.Faulty.Count(k) + w.struckManagers(k) + w.struckReplicas[k]
}

// What a world has is said by its seed, or by its faults.

func (w *world) isNarrow() bool { return narrow(w.seed) } // its bounds are low

func (w *world) isTermed() bool { return termed(w.seed) } // its users have terms

func (w *world) losesSite() bool { return losesSite(w.faults) } // a site of it is lost

func (w *world) discovers() bool { return discovers(w.faults) } // its brokers are told of sites

func (w *world) replicated() bool { return w.replicas > 0 } // its brokers have replicas

// knowsOf reports whether a broker's configuration names a site.
func (w *world) knowsOf(broker, site agents.ID) bool { return knows(w.faults, broker, site) }

// faultsOf lists the faults that strike one of some agents, or lie between it and another.
func (w *world) faultsOf(ids ...agents.ID) (list []sim.Fault) {
	for _, f := range w.faults {
		if slices.Contains(ids, f.Host) || slices.Contains(ids, f.Peer) {
			list = append(list, f)
		}
	}
	return list
}

// drawKinds draws what is special about the world of a seed.
func (w *world) drawKinds(seed uint64) {
	if narrow(seed) {
		w.drawNarrow()
	}
	if failing(seed) {
		w.drawFailures(rand.New(rand.NewPCG(seed, streamFailures)))
	}
	kinds, _ := managedKinds(seed)
	for i, k := range kinds {
		w.sites[i].kind = k
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
	if sliced(seed) {
		defer w.drawSlices()
	}
	if composed(seed) {
		w.drawParts()
	}
}

func (w *world) addSite(s *site) {
	name := s.config.Name
	s.config.Key = agents.DerivedKey(w.seed, name)
	twice, required := w.mirrored(siteID(name))
	defer func() {
		w.Add(sim.Host{ID: siteID(name), Mirrored: twice, MirrorRequired: required, New: func() agents.Agent { return sites.New(s.config) }})
	}()
	if s.kind != simulated {
		w.manage(s, w.seed)
	}
	if w.mortal != nil {
		w.addMortal(s)
		return
	}
	// Where shares are checked by facts, or settings change, it records them all.
	c := cluster.New(cluster.Config{Site: siteID(name), Volatile: s.deadlines == nil && !reloading(w.seed)}, s.backend())
	w.cluster[clusterID(name)] = c
	w.Add(sim.Host{ID: clusterID(name), New: func() agents.Agent { return c }, Sturdy: true, Near: true})
}

// backend is what a site's cluster knows of nodes and time.
func (s *site) backend() cluster.Backend {
	switch {
	case s.deadlines != nil:
		return s.shares()
	case s.kind != simulated:
		return s.managed()
	}
	return s.nodes()
}

// queue says how a group of a site serves.
func (s *site) queue(group int) queue.Options {
	opt := queue.Options{Nodes: s.config.Groups[group].Nodes, Policy: backfill.EASY}
	if s.promises != nil {
		p := *s.promises
		p.Schedule.Price = s.config.Groups[group].Price
		opt.Promises = &p
	}
	return opt
}

// nodes are those of a site, with their local work.
func (s *site) nodes() *queue.Backend {
	var options []queue.Options
	for i := range s.config.Groups {
		options = append(options, s.queue(i))
	}
	return queue.NewBackend(s.config.Groups, options, func(group int, _, after grid.Time) func() (grid.LocalJob, bool) {
		return queue.Jobs(slices.DeleteFunc(slices.Clone(s.local[group]), func(j grid.LocalJob) bool { return j.Submit < after }))
	})
}

// addMortal adds the cluster of a site as one that has a journal.
func (w *world) addMortal(s *site) {
	id, at := clusterID(s.config.Name), siteID(s.config.Name)
	w.Add(sim.Host{ID: id, Near: true, Machine: at, New: func() agents.Agent {
		w.mortal[id] = cluster.New(cluster.Config{Site: at}, s.backend())
		return w.mortal[id]
	}})
}

func (w *world) addBroker(v *vo) {
	name := v.config.Name
	if w.replicas > 0 {
		w.addReplicas(v)
	} else {
		w.Add(sim.Host{ID: brokerID(name), New: func() agents.Agent { return broker.New(v.config) }})
	}
	u := newUsers(brokerID(name), v.jobs)
	w.users[usersID(name)] = u
	w.Add(sim.Host{ID: usersID(name), New: func() agents.Agent { return u }, Sturdy: true})
}

// drawSite draws a site of one or two groups and its local work.
func drawSite(r *rand.Rand, name string) site {
	s := site{config: sites.Config{
		Name: name, Cluster: clusterID(name), Pricing: pricing.Fixed, VOShare: 1000, Span: 3 * grid.Hour,
		Hold: holdLimit, InDoubt: inDoubtLimit, MaxWork: 1000, Lead: leadTime, Penalty: 100,
	}}
	if r.IntN(3) == 0 {
		s.config.Cap = 8 * 20 * int64(grid.Minute)
	}
	if r.IntN(2) == 0 {
		s.config.Pricing = pricing.Adaptive
	}
	for i := range 1 + r.IntN(2) {
		g := grid.Group{Site: name, Name: fmt.Sprintf("g%d", i+1), Nodes: 4 + r.IntN(9),
			Performance: grid.Performance(1000 + 250*r.IntN(5)), Price: grid.Price((1 + r.IntN(3)) * 1_000_000)}
		s.config.Groups = append(s.config.Groups, g)
		s.local = append(s.local, drawLocal(r, g.Nodes))
	}
	return s
}

// drawLocal draws the local jobs of a group: a light load, so that VOs find room.
func drawLocal(r *rand.Rand, nodes int) []grid.LocalJob {
	var jobs []grid.LocalJob
	at := start
	for id := int64(1); at < start.Add(storm); id++ {
		at = at.Add(grid.Duration(1 + r.Int64N(int64(15*grid.Minute))))
		run := grid.Duration(1 + r.Int64N(int64(20*grid.Minute)))
		jobs = append(jobs, grid.LocalJob{ID: id, Submit: at, Run: run, Estimate: run + grid.Duration(r.Int64N(int64(10*grid.Minute))), Nodes: 1 + r.IntN(max(nodes/2, 1))})
	}
	return jobs
}

// drawVO draws a broker, its budget and its jobs.
func drawVO(r *rand.Rand, name string) vo {
	c := broker.Defaults(name)
	for _, s := range siteNames {
		c.Sites = append(c.Sites, siteID(s))
	}
	credits := 40 + r.Int64N(200)
	c.Budget = grid.Credits(credits) * grid.Credit
	if credits%3 > 0 { // two in three by the papers' rule, the others by value
		c.Minimize = grid.GoalTime
	}
	c.Quotas = map[string]grid.Credits{"ben": c.Budget / 3}
	c.Cycle = grid.Duration(2+r.IntN(3)) * grid.Minute
	c.Phase = broker.Phase(name, c.Cycle)
	c.Horizon, c.Lead, c.OfferWait = 2*grid.Hour, leadTime, 4*grid.Second
	c.Hold, c.InDoubt = holdLimit, inDoubtLimit
	if r.IntN(3) == 0 {
		c.Algorithm = search.ALP
	}
	v := vo{config: c}
	at := start
	for i := range jobsPerBroker {
		at = at.Add(grid.Duration(1 + r.Int64N(2*int64(storm)/jobsPerBroker*9/10)))
		v.jobs = append(v.jobs, drawJob(r, fmt.Sprintf("%s-%02d", name, i+1), at))
	}
	return v
}

const jobsPerBroker = 36

// drawJob draws a job: every third one is too large for one group and needs
// several sites.
func drawJob(r *rand.Rand, name string, at grid.Time) grid.Job {
	j := grid.Job{Name: name, User: []string{"ana", "ben", "eva"}[r.IntN(3)], Submit: at}
	j.Nodes = 1 + r.IntN(8)
	if r.IntN(3) == 0 {
		j.Nodes = 10 + r.IntN(14)
	}
	j.Length = grid.Duration(3+r.IntN(20)) * grid.Minute
	j.MinPerformance = 1000
	j.MaxPrice = grid.Price((3 + r.IntN(4)) * 1_000_000)
	j.Deadline = at.Add(grid.Duration(40+r.IntN(120)) * grid.Minute)
	j.Priority = r.IntN(3)
	if r.IntN(3) == 0 {
		j.Run = j.Length * grid.Duration(1+r.IntN(9)) / 10
	}
	return j
}

// drawPromises turns half of the sites into sites with service level agreements, lets half
// of the jobs give their sites a choice, and makes every sixth or so come after another
// one. It has its own stream, so everything else of a seed stays the same.
func (w *world) drawPromises(r *rand.Rand) {
	for i := range w.sites {
		if r.IntN(2) == 0 {
			continue
		}
		w.sites[i].drawPromise(r, w.seed)
	}
	for i := range w.brokers {
		jobs := w.brokers[i].jobs
		for k := range jobs {
			if j := &jobs[k]; r.IntN(2) == 0 {
				j.Flexible, j.Phi = grid.Duration(r.IntN(60))*grid.Minute, 300*r.IntN(7)
				j.Fix = 500 * r.IntN(2)
			}
			if k > 0 && r.IntN(6) == 0 {
				jobs[k].After, jobs[k].Gap = grid.Dependencies(grid.IfDone, jobs[r.IntN(k)].Name), grid.Duration(r.IntN(3))*grid.Minute
			}
		}
	}
}

// drawPromise turns a site into one with service level agreements.
func (s *site) drawPromise(r *rand.Rand, seed uint64) {
	schedule := sla.Options{Order: []sla.Order{sla.EDF, sla.FIFO, sla.LFF, sla.BJF}[r.IntN(4)],
		Shares: pricing.DefaultFlexibility, MaxPhi: 2000, Waiting: 1000}
	s.config.Promises = &sites.Promises{Schedule: schedule, Shares: pricing.DefaultFlexibility, Disclose: sla.Disclosure(r.IntN(3))}
	s.promises = &queue.PromiseOptions{Schedule: schedule, Flexible: 600, Deadline: 4000, Fix: 300, Replan: r.IntN(2) == 0, Alternatives: 500, Seed: seed}
}
