package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/grid"
)

// replicaOne is a purse that several processes hold, as a host sees it.
type replicaOne struct {
	*purse
	leads  bool
	term   uint64
	leader agents.ID
	list   []grid.ReplicaMember
	mute   bool // no majority answers it
}

// Messages that have it lead, follow and be mute, and know its members.
type (
	lead   struct{ Term uint64 }
	follow struct{ Leader agents.ID }
	muted  struct{}
	met    struct{ List []grid.ReplicaMember }
)

func (lead) Kind() string   { return "lead" }
func (follow) Kind() string { return "follow" }
func (muted) Kind() string  { return "muted" }
func (met) Kind() string    { return "met" }

func (r *replicaOne) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case lead:
		r.leads, r.term, r.leader, r.mute = true, m.Term, "replica:toy/1", false
	case follow:
		r.leads, r.leader = false, m.Leader
	case muted:
		r.mute = true
	case met:
		r.list = m.List
	case agents.ReplicaConfirm:
		if !r.mute && r.leads {
			out.Send(from, agents.ReplicaConfirmed{})
		}
	case agents.Started:
	default:
		if r.leads && !r.mute {
			r.purse.Step(now, from, m, out)
		} else if !r.leads {
			out.Send(from, agents.ReplicaRedirect{Leader: r.leader})
		}
	}
}

func (r *replicaOne) Inner() agents.Durable              { return r.purse }
func (r *replicaOne) Leads() (uint64, bool)              { return r.term, r.leads }
func (r *replicaOne) Leader() agents.ID                  { return r.leader }
func (r *replicaOne) Members() []grid.ReplicaMember      { return r.list }
func (r *replicaOne) Replay(at grid.Time, f agents.Fact) { r.purse.Replay(at, f) }

// hostingReplica is a host with one replica of a purse.
func hostingReplica(t *testing.T) (*Host, *replicaOne) {
	t.Helper()
	h, r := quiet(Options{}), &replicaOne{purse: &purse{}}
	if err := h.AddReplica(toy, "replica:toy/1", r, &Committed{}, &journal.Memory{}, toyJournal); err != nil {
		t.Fatal(err)
	}
	return h, r
}

// becomes hands the replica what changes it, and waits until that has happened.
func becomes(t *testing.T, h *Host, m agents.Message) {
	t.Helper()
	if err := h.Tell("operator:o", toy, m); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// leftWaiting reports whether an asker or a viewer of a replica is still waiting after the
// replica has stopped leading.
func leftWaiting(t *testing.T) (left bool) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := hostingReplica(t)
		defer stop(t, h)
		becomes(t, h, lead{2})
		if give(t, h, 7).Sum != 7 || len(heard(t, h)) != 0 {
			t.Error("it leads, and what is asked is not answered")
		}
		becomes(t, h, muted{})
		ended := make(chan error, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() { _, err := h.Ask(ctx, "user:ana", toy, peek{}); ended <- err }()
		go func() { ended <- h.View(ctx, toy, func(grid.Time, agents.Agent) {}) }()
		synctest.Wait()
		if len(ended) > 0 {
			t.Error("an answer leaves although no majority confirms it")
		}
		becomes(t, h, follow{"replica:toy/2"})
		left = len(ended) < 2
		for range 2 {
			var elsewhere *ElsewhereError
			if err := <-ended; !left && (!errors.As(err, &elsewhere) || elsewhere.Leader != "replica:toy/2") {
				t.Errorf("who has asked is told %v", err)
			}
		}
	})
	return left
}

// Questions end with a leadership, so that their askers can ask the new leader.
func TestReplicated_WhoWaitsIsToldThatItLeadsNoMore(t *testing.T) {
	t.Parallel()
	if leftWaiting(t) {
		t.Error("somebody waits for an answer that never comes")
	}
}

// A replica can be looked at whether it leads or not; the agent inside only while it does.
func TestReplicated_IsSeenWhoeverLeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, r := hostingReplica(t)
		defer stop(t, h)
		becomes(t, h, follow{"replica:toy/2"})
		var elsewhere *ElsewhereError
		if err := h.View(t.Context(), toy, func(grid.Time, agents.Agent) { t.Error("the agent inside is seen") }); !errors.As(err, &elsewhere) {
			t.Error(err)
		}
		var seen agents.Agent
		if err := h.ViewReplica(t.Context(), toy, func(_ grid.Time, a agents.Agent) { seen = a }); err != nil || seen != agents.Agent(r) {
			t.Error(err, seen)
		}
	})
}

// Members that the configuration does not name are reached and let in where the group has
// them on record; of the others the configuration counts.
func TestPeers_LearnWhereMembersAreThatCameLater(t *testing.T) {
	t.Parallel()
	h := quiet(Options{})
	defer stop(t, h)
	g := plainReplicas("replica:vo1/1", zerolog.Nop())
	g.siblings.hosts = map[agents.ID]string{"replica:vo1/2": "two.example.org"} // as with certificates
	p := &Peers{opt: PeersOptions{Self: "replica:vo1/1", Others: map[agents.ID]string{"replica:vo1/2": "two.example.org:1"}, Log: zerolog.Nop()},
		guard: g, directory: members.New(), links: newLinks(members.New(), h.Deliver, zerolog.Nop())}
	p.isAt("replica:vo1/2", "two.example.org:1")
	speaks := func(id agents.ID) bool {
		return g.siblings.speaksAs(peer{name: string(brokerOne), agent: brokerOne}, string(id)) == nil
	}
	if speaks("replica:vo1/4") {
		t.Error("one of whom nobody knows is let in")
	}
	h.connectReplicas(p.links, p.know)
	h.members([]grid.ReplicaMember{{Number: 1, Address: "replica:vo1/1", Endpoint: "elsewhere:1"}, {Number: 2, Address: "replica:vo1/2", Endpoint: "elsewhere:2"},
		{Number: 3, Address: "replica:vo1/3"}, {Number: 4, Address: "replica:vo1/4", Endpoint: "four.example.org:4"}, {Number: 5, Address: "replica:vo1/5", Endpoint: "five"}})
	for id, want := range map[agents.ID]string{"replica:vo1/1": "", "replica:vo1/2": "two.example.org:1", "replica:vo1/3": "", "replica:vo1/4": "four.example.org:4", "replica:vo1/5": ""} {
		if m, _ := p.directory.Find(id); m.Address != want {
			t.Errorf("%s is sought at %q, want %q", id, m.Address, want)
		}
	}
	if !speaks("replica:vo1/4") || speaks("replica:vo1/3") || speaks("replica:vo1/5") || g.siblings.hosts["replica:vo1/2"] != "two.example.org" {
		t.Errorf("the guard knows %v", g.siblings.hosts)
	}
}

// A host tells the network of members as soon as its replica knows them.
func TestReplicated_TellsWhereMembersAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _ := hostingReplica(t)
		defer stop(t, h)
		var told [][]grid.ReplicaMember
		h.connectReplicas(nil, func(list []grid.ReplicaMember) { told = append(told, list) })
		list := []grid.ReplicaMember{{Number: 4, Address: "replica:toy/4", Endpoint: "four:1"}}
		becomes(t, h, met{list})
		becomes(t, h, met{list})
		if len(told) != 2 || len(told[1]) != 1 || told[1][0] != list[0] { // once at the beginning
			t.Errorf("told %v", told)
		}
		if now, _, err := h.Leadership(toy); err != nil || len(now.Members) != 1 {
			t.Error(now, err)
		}
	})
}
