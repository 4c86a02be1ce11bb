package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation/manager"
)

// Clusters with a resource manager: in half of the worlds, at half of the sites. One in
// three of the managers keeps no reservations.

// Behind is what is behind a site.
type Behind uint8

const (
	Simulated Behind = iota // a queue, without a manager
	Reserving               // a manager that keeps reservations
	Machine                 // one that starts what it is told to
	Piloted                 // one that grants no reservations: nodes are had by pilots
)

// ManagedKinds draws what is behind each site in the world of a seed, and whether the
// clusters of that world die too. It has its own stream, so everything else of a seed stays
// the same. nil means that the world has no manager.
func ManagedKinds(seed uint64) (kinds []Behind, die bool) {
	r := rand.New(rand.NewPCG(seed, streamKinds))
	if r.IntN(2) == 0 {
		return nil, false
	}
	die = r.IntN(2) == 0
	kinds = make([]Behind, len(SiteNames))
	kinds[r.IntN(len(kinds))] = Reserving
	for i := range kinds {
		if kinds[i] == Simulated && r.IntN(2) == 0 {
			kinds[i] = []Behind{Reserving, Reserving, Machine}[r.IntN(3)]
		}
	}
	return kinds, die
}

// DriverID is the address of the driver of a site's manager, which there may not be.
func DriverID(name string) agents.ID { return agents.ID("driver:" + name) }

// Prefix begins the names of everything that Bourse creates in a manager.
const Prefix = "bourse."

// limits are the reconciler's in these worlds: they fit what their managers do.
var limits = managed.Limits{Late: manager.Latest, CommandTimeout: manager.Slowest + 30*grid.Second, Skew: MaxOff}

// MaxOff is how far the clock of a manager may be off.
const MaxOff = 5 * grid.Second

// manage puts a manager behind a site that has one.
func (w *World) manage(s *Site, seed uint64) {
	s.Config.Promises, s.promises = nil, nil
	name := s.Config.Name
	r := rand.New(rand.NewPCG(seed, streamManager+uint64(slices.Index(SiteNames, name))))
	opt := manager.Options{Reserves: s.Behind == Reserving, Pilots: s.Behind == Piloted, Holder: "holder", Account: "guest", Resubmit: true, Policy: []backfill.Policy{backfill.EASY, backfill.Conservative, backfill.FCFS}[r.IntN(3)],
		Seed: r.Uint64()}
	opt.MinJobAge = []grid.Duration{30 * grid.Second, 2 * grid.Minute, 5 * grid.Minute}[r.IntN(3)]
	if opt.Reserves {
		opt.Skew = grid.Duration(r.Int64N(int64(2*MaxOff)+1)) - MaxOff
	}
	for i, g := range s.Config.Groups {
		p := manager.Partition{Name: g.Name}
		for n := range g.Nodes {
			p.Nodes = append(p.Nodes, fmt.Sprintf("%s-%s-%02d", name, g.Name, n+1))
		}
		if opt.Reserves || opt.Pilots {
			p.Jobs = s.Local[i]
		}
		s.nodeNames = append(s.nodeNames, slices.Clip(p.Nodes)) // a reload may offer fewer of them, and then no more than these
		opt.Partitions = append(opt.Partitions, p)
	}
	s.policy = opt.Policy
	m := manager.New(opt)
	w.Managers[DriverID(name)] = m
	w.Add(sim.Host{ID: DriverID(name), New: func() agents.Agent { return m }, Sturdy: true, Near: true})
}

// managed is the backend of a site that has a manager.
func (s *Site) managed() cluster.Backend {
	l := limits
	if s.Behind == Machine { // it is the same machine
		l.Skew, l.Late = 0, grid.Second
	}
	return managed.New(managed.Config{Site: s.Config.Name, Driver: DriverID(s.Config.Name), Groups: s.Config.Groups, Nodes: s.nodeNames,
		Reserves: s.Behind == Reserving, Prefix: Prefix, Accounts: s.accounts,
		Pilots: s.maxPilots, Denied: []string{"holder"}, Policy: s.policy, Oracle: s.oracle, Limits: l})
}

// died ends the driver of a cluster together with the process that both are in.
func (w *World) died(id agents.ID) {
	for i := range w.Sites {
		if s := &w.Sites[i]; ClusterID(s.Config.Name) == id && s.Behind != Simulated {
			w.Post(w.Now(), DriverID(s.Config.Name), manager.DriverDied{})
		}
	}
}

// managedFaults draws what goes wrong with the managers of a seed's world.
func managedFaults(seed uint64) []sim.Fault {
	kinds, die := ManagedKinds(seed)
	var hosts []agents.ID
	for i, k := range kinds {
		if k != Simulated {
			hosts = append(hosts, DriverID(SiteNames[i]))
		}
	}
	if hosts == nil {
		return nil
	}
	r := rand.New(rand.NewPCG(seed, streamManagerFaults))
	between := func(lo, hi grid.Duration) grid.Duration { return lo + grid.Duration(r.Int64N(int64(hi-lo)+1)) }
	var list []sim.Fault
	for _, k := range manager.Kinds() {
		if manager.Follows(k) {
			continue
		}
		for range 1 + r.IntN(5) {
			f := sim.Fault{Kind: k, Host: hosts[r.IntN(len(hosts))], At: Start.Add(between(2*grid.Minute, Storm-5*grid.Minute)), Salt: 1 + r.Uint64N(1<<32),
				For: between(grid.Minute, 8*grid.Minute), Share: 100 + r.IntN(900)}
			switch k {
			case manager.ManagerRestart:
				f.For, f.Share = between(grid.Second, 90*grid.Second), 0
			case manager.SlowCommand:
				f.For = between(30*grid.Second, 5*grid.Minute)
			case manager.ClockSkew:
				f.Size, f.Share = int64(between(-MaxOff, MaxOff)), 0
			case manager.NodeDrained, manager.NodeDown, manager.NodeRenamed, manager.NodeUnknown, manager.Foreign:
				f.For, f.Share = between(grid.Minute, 20*grid.Minute), 0
			case manager.LostAnswer, manager.LateCommand, manager.RefusedCommand, manager.OldLook, manager.EchoedCreate:
			default:
				f.For, f.Share = 0, 0
			}
			list = append(list, f)
		}
	}
	for range 6 {
		f := sim.Fault{Kind: CrashAimed, Host: ClusterID(strings.TrimPrefix(string(hosts[r.IntN(len(hosts))]), "driver:")), At: Start.Add(between(grid.Minute, Storm-10*grid.Minute)),
			Salt: 1 + r.Uint64N(1<<32), For: between(100, 20*grid.Second)}
		if die {
			list = append(list, f)
		}
	}
	return list
}

// strikeManager carries out a fault of a manager, which counts it if it takes effect.
func (w *World) strikeManager(f sim.Fault) {
	if w.Managers[f.Host] == nil {
		return // faults of another seed
	}
	w.Post(w.Now(), f.Host, manager.Strike{Is: f.Kind, For: f.For, Share: f.Share, Size: f.Size, Salt: f.Salt})
}

// healManagers ends all faults of managers.
func (w *World) healManagers() {
	for i := range w.Sites {
		if id := DriverID(w.Sites[i].Config.Name); w.Managers[id] != nil {
			w.Post(w.Now(), id, manager.Heal{})
		}
	}
}

// ofManager reports whether a kind of fault is a manager's.
func ofManager(k sim.Kind) bool { return slices.Contains(manager.Kinds(), k) }

// struckManagers is how often a kind of fault has taken effect at any manager.
func (w *World) struckManagers(k sim.Kind) int {
	n := 0
	for _, m := range w.Managers {
		n += m.Struck(k)
	}
	return n
}
