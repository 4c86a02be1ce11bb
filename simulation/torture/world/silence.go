package world

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// Silence: in one world of sixteen brokers are cut off from all sites for a quarter of an hour, and
// users insist that jobs be given up.

const (
	// AllSilent cuts a broker off from all sites at once. Host is the VO's users.
	AllSilent sim.Kind = "all-silent"
	// Insistence has more people ask for the end of one job than may wait for the answer. Host is
	// the VO's users.
	Insistence sim.Kind = "insistence"
)

// silent reports whether all sites fall silent in the world of a seed.
func silent(seed uint64) bool { return seed%16 == 14 }

// late is when the silence of the first broker begins.
const late = Storm - 16*grid.Minute

// drawSilence leaves the first broker with the first of its jobs, which are over before its sites
// fall silent, and with one more that comes then and cannot wait for long: after that nothing is due,
// and nobody answers (B113).
func (w *World) drawSilence() {
	b := &w.Brokers[0]
	b.Jobs = b.Jobs[:10]
	for i := range b.Jobs {
		b.Jobs[i].Deadline = min(b.Jobs[i].Deadline, Start.Add(late-10*grid.Minute))
	}
	at := Start.Add(late + grid.Minute)
	b.Jobs = append(b.Jobs, grid.Job{Name: b.Config.Name + "-last", User: "ana", Submit: at,
		Request: grid.Request{Nodes: 1, Length: grid.Minute, MinPerformance: 1000, MaxPrice: 6_000_000, Deadline: at.Add(5 * grid.Minute)}})
}

// silenceFaults draws when that happens, and what is insisted on while all are silent, since the end
// of a job takes long then.
func silenceFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamSilence))
	within := func(lo, hi grid.Duration) grid.Duration { return lo + grid.Duration(r.Int64N(int64(hi-lo)+1)) }
	for i, name := range BrokerNames {
		at, length := Start.Add(within(15*grid.Minute, 100*grid.Minute)), within(10*grid.Minute, 15*grid.Minute)
		if i == 0 {
			at, length = Start.Add(late), 15*grid.Minute
		}
		list = append(list, sim.Fault{Kind: AllSilent, Host: UsersID(name), Salt: 1 + r.Uint64N(1<<32), At: at, For: length})
		for range 3 {
			list = append(list, sim.Fault{Kind: Insistence, Host: UsersID(name), Salt: 1 + r.Uint64N(1<<32), At: at.Add(within(grid.Minute, length))})
		}
	}
	return list
}

// silence cuts a broker off from all sites: each of its replicas, if it has any.
func (w *World) silence(f sim.Fault) {
	id := BrokerID(strings.TrimPrefix(string(f.Host), "users:"))
	hosts := []agents.ID{id}
	if g := w.Groups[id]; g != nil {
		hosts = nil
		for _, m := range g.Members {
			hosts = append(hosts, m.Id)
		}
	}
	for _, host := range hosts {
		for _, name := range SiteNames {
			w.Strike(sim.Fault{Kind: sim.Partition, At: w.Now(), For: f.For, Host: host, Peer: SiteID(name), Salt: f.Salt})
		}
	}
}

// insistent is how many people insist: one more than may wait.
const insistent = 9

func insistentID(n int) agents.ID { return agents.ID(fmt.Sprintf("users:insistent%d", n)) }

// insist has many people ask for the end of a job that a user has submitted.
func (w *World) insist(f sim.Fault) {
	u := w.users[f.Host]
	if u.next == 0 {
		return
	}
	j := u.jobs[u.next-1-int(f.Salt%uint64(min(u.next, 8)))] // one of the latest, which may not have ended
	for n := range insistent {
		w.Post(w.Now(), insistentID(n), wanted{u.broker, agents.JobCancel{Job: j.Name, User: j.User}})
	}
}

// once tells a broker once what it is to be told, and ignores the answer.
type once struct{}

// Step says it.
func (once) Step(_ grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	if m, ok := m.(wanted); ok {
		out.Send(m.broker, m.m)
	}
}

// addInsistent adds those who insist.
func (w *World) addInsistent() {
	for n := range insistent {
		w.Add(sim.Host{ID: insistentID(n), New: func() agents.Agent { return once{} }, Sturdy: true})
	}
}

// ofFewWorlds reports whether a kind of faults is drawn for worlds of its own alone.
func ofFewWorlds(k sim.Kind) bool {
	return k == OperatorGrant || k == AllSilent || k == Insistence || k == SiteReload
}
