package sites

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// tale is a site with its cluster and nobody else. The test sends what others would say,
// and writes down what is said to them.
type tale struct {
	cfg     Config
	now     grid.Time
	site    *Site
	cluster *cluster.Agent
	nonce   uint64
	soon    []delivery // of this instant
	later   []delivery // alarms, in order of time
	facts   []recorded // of the site
	trace   []string
	silent  bool   // the cluster hears nothing and says nothing
	lossy   bool   // the cluster's answers to holds get lost
	deaf    bool   // what the cluster is told gets lost
	mute    bool   // the site hears nothing of the cluster
	loses   int    // so many releases get lost on their way to the cluster
	fails   string // messages of that kind are refused, for their receiver has failed over them
	stale   bool   // all nodes fail before the next hold
	check   func(id agents.ID, out *agents.Outbox)
	taken   map[agents.Row]bool         // rows, by the site
	proofs  map[grid.LegID][]grid.Proof // that the site has given
	disk    clusterDisk
}

type delivery struct {
	at   grid.Time
	to   agents.ID
	from agents.ID
	m    agents.Message
	life uint64 // of an alarm of the site
}

type recorded struct {
	at   grid.Time
	fact agents.Fact
}

const (
	theSite    agents.ID = "site:north"
	theCluster agents.ID = "cluster:north"
)

func newStory(cfg Config, policy backfill.Policy, jobs []grid.LocalJob, promises ...*queue.PromiseOptions) *tale {
	options := make([]queue.Options, len(cfg.Groups))
	for i, g := range cfg.Groups {
		options[i] = queue.Options{Nodes: g.Nodes, Policy: policy}
		if len(promises) > 0 {
			options[i].Promises = promises[0]
		}
	}
	return storyOf(cfg, queue.NewBackend(cfg.Groups, options, func(group int, _, _ grid.Time) func() (grid.LocalJob, bool) {
		if group > 0 {
			return queue.Jobs(nil)
		}
		return queue.Jobs(jobs)
	}))
}

func storyOf(cfg Config, nodes cluster.Backend) *tale {
	s := &tale{cfg: cfg, taken: map[agents.Row]bool{}, cluster: cluster.New(cluster.Config{Site: theSite, Volatile: true}, nodes)}
	s.put(theCluster, theCluster, agents.Started{})
	s.settle()
	s.born()
	return s
}

// storyConfig is a site of one group with a lead, as a live one has.
func storyConfig(nodes int) Config {
	return Config{Name: "north", Cluster: theCluster, VOShare: 1000, Span: grid.Hour, MaxWork: 100,
		Hold: 30 * grid.Second, InDoubt: 15 * grid.Minute, Lead: 10 * grid.Second, Penalty: 100,
		Pricing: pricing.Adaptive,
		Groups:  []grid.Group{{Site: "north", Name: "main", Nodes: nodes, Performance: grid.Unit, Price: 36_000_000}}}
}

// born begins a life of the site: the facts so far, then Started.
func (s *tale) born() {
	s.nonce++
	s.site = New(s.cfg)
	for _, f := range s.facts {
		s.site.Replay(f.at, f.fact)
	}
	s.put(theSite, theSite, agents.Started{Nonce: 100 * s.nonce})
	s.settle()
}

func (s *tale) put(to, from agents.ID, m agents.Message) {
	s.soon = append(s.soon, delivery{to: to, from: from, m: m})
}

// say sends the site a message, and waits for what follows from it.
func (s *tale) say(from agents.ID, m agents.Message) {
	s.put(theSite, from, m)
	s.settle()
}

// settle delivers all that is said in this instant.
func (s *tale) settle() {
	for len(s.soon) > 0 {
		d := s.soon[0]
		s.soon = s.soon[1:]
		s.deliver(d)
	}
}

func (s *tale) deliver(d delivery) {
	out := agents.Outbox{WantRows: true}
	switch d.to {
	case theSite:
		if _, held := d.m.(agents.ClusterHeld); d.from == theCluster && (s.silent || s.mute || held && s.lossy) {
			return
		}
		before := s.site.Ledger().Accounts()
		s.step(s.site, d, &out)
		for _, row := range out.Rows {
			s.taken[row] = true
		}
		for _, f := range out.Facts {
			s.facts = append(s.facts, recorded{s.now, f})
			s.note("  fact %s", traced.Say(f))
		}
		s.money(before)
	case theCluster:
		if d.from == theSite && (s.silent || s.deaf) {
			return
		}
		if _, ok := d.m.(agents.ClusterRelease); ok && s.loses > 0 {
			s.loses--
			return
		}
		if _, ok := d.m.(agents.ClusterHold); ok && s.stale {
			s.stale = false
			s.deliver(delivery{to: theCluster, m: agents.NodesLost{Group: "main", Count: 4, For: grid.Hour}})
		}
		s.step(s.cluster, d, &out)
		for _, f := range out.Facts {
			s.disk.facts = append(s.disk.facts, recorded{s.now, f})
			if _, down := f.(facts.NodesDown); down {
				s.note("  fact %s", traced.Say(f))
			}
			if x, ok := f.(facts.JobRefused); ok {
				s.note("  cluster refuses local job %d: %s", x.Job, x.Reason.Code)
			}
			if x, ok := f.(facts.JobEnded); ok && x.Killed {
				s.note("  cluster kills local job %d", x.Job)
			}
		}
	}
	if s.check != nil {
		s.check(d.to, &out)
	}
	for _, x := range out.Sends {
		s.sent(d.to, x)
	}
	for _, a := range out.Alarms {
		x := delivery{at: max(a.At, s.now), to: d.to, from: d.to, m: a.Message, life: s.nonce}
		i, _ := slices.BinarySearchFunc(s.later, x, func(a, b delivery) int {
			if a.at <= b.at {
				return -1
			}
			return 1
		})
		s.later = slices.Insert(s.later, i, x)
	}
}

// step hands an agent a message, or has it refuse one of a kind that its runtime
// does not hand to it any more.
func (s *tale) step(a agents.Agent, d delivery, out *agents.Outbox) {
	if d.m.Kind() != s.fails {
		a.Step(s.now, d.from, d.m, out)
		return
	}
	a.(agents.Refuser).Refuse(s.now, d.from, d.m, grid.Reason{Code: grid.Invalid, Detail: "it has failed over that before"}, out)
	if len(out.Facts)+len(out.Alarms) > 0 {
		panic("a refusal is no more than an answer")
	}
}

// locks is what the cluster keeps, by leg.
func (s *tale) locks() map[grid.LegID]agents.ClusterLock {
	var out agents.Outbox
	s.cluster.Step(s.now, theSite, agents.ClusterInventory{}, &out)
	locks := map[grid.LegID]agents.ClusterLock{}
	for _, l := range out.Sends[0].Message.(agents.ClusterLocks).Locks {
		locks[l.Leg] = l
	}
	return locks
}

// gives reports whether a lock has nodes.
func gives(l agents.ClusterLock) bool { return l.Leg != grid.LegID{} && !l.Lost && !l.Ended }

// forget has the cluster give up what it keeps for a leg, unasked.
func (s *tale) forget(id grid.LegID) {
	s.cluster.Step(s.now, theSite, agents.ClusterRelease{Leg: id}, &agents.Outbox{})
}

// sent writes a message down and passes it on.
func (s *tale) sent(from agents.ID, x agents.Send) {
	switch {
	case x.To == theCluster || x.To == theSite:
		switch x.Message.(type) {
		case agents.SnapshotRequest, agents.Snapshot, agents.ClusterInventory, agents.ClusterLocks, agents.ClusterDone, agents.ClusterHeard:
		default:
			s.note("  %s: %s", from, traced.Say(x.Message))
		}
		s.put(x.To, from, x.Message)
	default:
		s.note("  to %s: %s", x.To, traced.Say(x.Message))
		s.prove(x.Message)
	}
}

// prove keeps the proofs that a message carries.
func (s *tale) prove(m agents.Message) {
	keep := func(id grid.LegID, p grid.Proof) {
		if s.proofs == nil {
			s.proofs = map[grid.LegID][]grid.Proof{}
		}
		if p != (grid.Proof{}) {
			s.proofs[id] = append(s.proofs[id], p)
		}
	}
	switch m := m.(type) {
	case agents.OfLeg:
		proofs := story.Proofs(m)
		keep(m.LegID(), proofs["Proof"])
		if l := s.site.legs[m.LegID()]; l != nil {
			keep(l.Replaces, proofs["Replaced"])
		}
	case agents.Listing:
		for i := range m.Legs {
			keep(m.Legs[i].Leg, m.Legs[i].Proof)
		}
	}
}

// advance lets time pass.
func (s *tale) advance(to grid.Time) {
	for len(s.later) > 0 && s.later[0].at <= to {
		d := s.later[0]
		s.later = s.later[1:]
		if d.to == theSite && d.life != s.nonce {
			continue // an alarm of a life that is over
		}
		s.now = d.at
		s.soon = append(s.soon, d)
		s.settle()
	}
	s.now = to
}

func (s *tale) note(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf("%7v ", s.now)+fmt.Sprintf(format, args...))
}

// money writes down what a step did to the site's accounts.
func (s *tale) money(before []grid.Account) {
	old := map[string]grid.Account{}
	for _, a := range before {
		old[a.Name] = a
	}
	for _, a := range s.site.Ledger().Accounts() {
		b := old[a.Name]
		if a == b || a == (grid.Account{Name: a.Name}) {
			continue
		}
		var changes []string
		for _, c := range []struct {
			what     string
			was, now grid.Credits
		}{{"pending out", b.PendingDebit, a.PendingDebit}, {"pending in", b.PendingCredit, a.PendingCredit},
			{"out", b.Debit, a.Debit}, {"in", b.Credit, a.Credit}} {
			if c.was != c.now {
				changes = append(changes, fmt.Sprintf("%s %v -> %v", c.what, c.was, c.now))
			}
		}
		s.note("  %s: %s", a.Name, strings.Join(changes, ", "))
	}
}

func testLeg(seq uint64) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq}}
}

func window(nodes int, start, end grid.Time) grid.Leg {
	return grid.Leg{Group: "main", Nodes: nodes, Start: start * 1000, End: end * 1000}
}
