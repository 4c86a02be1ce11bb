//go:build linux

package drill

import (
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/replica"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// alike begins a life more of each replica from its journal, here, where nothing is lost
// between them: once one leads and all have what it has, all must be in the same state, and
// know every job that was taken.
func (f *federation) alike(l *load) {
	f.t.Helper()
	g := &gathering{f: f, now: grid.Time(time.Now().UnixMilli()), of: map[agents.ID]*replica.Replica{}}
	for _, a := range f.replicas {
		g.begin(a)
	}
	for range 2000 {
		if g.turn(); g.together() {
			break
		}
	}
	if !g.together() {
		f.t.Fatal("the replicas' journals do not come to one end")
	}
	states := map[string][]agents.ID{}
	for _, id := range g.ids {
		text, err := journal.NewCodec().Append(nil, 0, g.of[id].Inner().Image())
		must(f.t, err)
		states[string(text)] = append(states[string(text)], id)
	}
	if len(states) > 1 {
		for text, ids := range states {
			f.t.Errorf("%v: %.3000s", ids, text)
		}
	}
	known := map[string]bool{}
	for _, j := range g.of[g.ids[0]].Inner().Image().(facts.BrokerImage).Jobs {
		known[j.Job.Name] = true
	}
	for job := range l.said.taken {
		if !known[job] {
			f.t.Errorf("job %s was taken, and no journal of a replica has it", job)
		}
	}
	f.t.Logf("after entry %d all replicas have the same state, of %d jobs", g.of[g.ids[0]].Applied(), len(known))
}

// gathering is replicas in one place.
type gathering struct {
	f    *federation
	now  grid.Time
	ids  []agents.ID
	of   map[agents.ID]*replica.Replica
	mail []letter
	due  []letter // the alarms of replicas themselves
}

// letter is a message on its way, or an alarm.
type letter struct {
	at       grid.Time
	from, to agents.ID
	m        agents.Message
}

// begin brings a replica to life from its journal.
func (g *gathering) begin(a *agent) {
	g.f.t.Helper()
	file, err := configs.ReadBrokerProcess(a.file())
	must(g.f.t, err)
	config, err := file.Agent(broker.ServiceDefaults(file.Name))
	must(g.f.t, err)
	id := agents.ID(a.id())
	var founders []agents.ID
	for _, x := range g.f.replicas {
		founders = append(founders, agents.ID(x.id()))
	}
	r := replica.New(replica.Config{Group: agents.ID("broker:" + a.name), Self: id, Founders: founders, Codec: journal.NewCodec(),
		New: func() agents.Durable { return broker.New(config) }})
	folder, err := journal.OpenFolder(a.facts())
	must(g.f.t, err)
	_, err = journal.Open(folder, journal.Options{Agent: id}, r.Replay)
	must(g.f.t, err)
	must(g.f.t, folder.Close())
	g.ids, g.of[id] = append(g.ids, id), r
	g.step(letter{to: id, from: id, m: agents.Started{Nonce: uint64(a.number)}})
}

// step hands a replica a message. What its broker says to sites, and the alarms of that,
// come to nothing.
func (g *gathering) step(l letter) {
	var out agents.Outbox
	g.of[l.to].Step(g.now, l.from, l.m, &out)
	for _, s := range out.Sends {
		if g.of[s.To] != nil {
			g.mail = append(g.mail, letter{from: l.to, to: s.To, m: s.Message})
		}
	}
	for _, a := range out.Alarms {
		if a.Message.Kind() == "ReplicaBeat" {
			g.due = append(g.due, letter{at: a.At, from: l.to, to: l.to, m: a.Message})
		}
	}
}

// turn does what comes next.
func (g *gathering) turn() {
	g.now = g.now.Add(10)
	due := g.due
	g.due = nil
	for _, l := range due {
		if l.at > g.now {
			g.due = append(g.due, l)
			continue
		}
		g.step(l)
	}
	for len(g.mail) > 0 {
		l := g.mail[0]
		g.mail = g.mail[1:]
		g.step(l)
	}
}

// together reports whether one leads and all have applied the same.
func (g *gathering) together() bool {
	leads := 0
	for _, id := range g.ids {
		if _, yes := g.of[id].Leads(); yes {
			leads++
		}
		if g.of[id].Applied() != g.of[g.ids[0]].Applied() {
			return false
		}
	}
	return leads == 1
}
