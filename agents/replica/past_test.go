package replica

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// An agent that ran alone continues as a group. Nothing of its past is lost, whoever
// leads, and nobody leads without it, even if the member that brings it begins late.
func TestReplica_AGroupTakesOverThePastOfAnAgentAlone(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 5; seed++ {
		past := newRegister()
		for n := range 50 {
			past.Replay(0, changed{"client:0", n + 1, 7})
		}
		faults := []sim.Fault{{Kind: sim.Pause, At: 1, For: 5000, Host: "replica:1"}, {Kind: sim.Pause, At: 15_000, For: 5000, Host: "replica:1"}}
		g := newGroup(3, 2, sim.Options{Seed: seed, Snapshot: 100, Faults: faults}, func(c *Config) {
			if c.Past = "replica:1"; c.Self == c.Past {
				c.Brought = Brought{Agent: past, At: 0}
			}
		})
		if err := g.Run(40_000); err != nil {
			t.Fatal(err)
		}
		quieten(g, t)
		if g.leaderships < 2 {
			t.Errorf("seed %d: %d leaderships", seed, g.leaderships)
		}
		for _, id := range g.ids {
			r := g.replica(id).Inner().(*register)
			if len(r.changes) < 70 || !slices.Equal(r.changes[:50], past.(*register).changes) {
				t.Fatalf("seed %d: %s has %d changes, begun with %v", seed, id, len(r.changes), r.changes[:3])
			}
		}
	}
}

// A reader of a replica's journal gets the facts of the agent that it holds, each
// once, whatever terms, images and void entries there are around them.
func TestReplica_JournalIsReadAsThatOfTheAgentWithin(t *testing.T) {
	t.Parallel()
	images := 0
	for seed := uint64(1); seed <= 12; seed++ {
		g := tortured(t, seed, faultsOf(seeded(seed), three), false)
		for _, id := range g.ids {
			want := g.replica(id).Inner().(*register)
			got := newRegister().(*register)
			segments, err := journal.Read(g.Disk(id), codec, func(r journal.Record) error {
				if r.Image {
					images++
				}
				got.Replay(r.At, r.Fact)
				return nil
			})
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, id, err)
			}
			if got.lasting() != want.lasting() || got.twice > 0 {
				t.Fatalf("seed %d: the journal of %s, of %d files, tells\n%s\nthe replica has\n%s", seed, id, len(segments), got.lasting(), want.lasting())
			}
			var found []changed
			err = journal.Find(g.Disk(id), codec, 0, &changes{}, nil, func(r journal.Record) error {
				found = append(found, r.Fact.(changed))
				return nil
			})
			// Entries that came with an image are not found one by one.
			if n := len(want.changes) - len(found); err != nil || n < 0 || len(found) == 0 || !slices.Equal(found[len(found)-1:], want.changes[len(want.changes)-1:]) {
				t.Fatalf("seed %d: %s: %d of %d changes found: %v", seed, id, len(found), len(want.changes), err)
			}
		}
	}
	if images == 0 {
		t.Error("no journal began with an image")
	}
}

// changes is a sieve for changes of the register.
type changes struct{ places []uint64 }

func (c *changes) Look(place uint64, kind string, _ []byte) bool {
	if kind == "changed" {
		c.places = append(c.places, place)
	}
	return false
}
func (c *changes) Learn(uint64, agents.Fact) {}
func (c *changes) Places() []uint64          { return c.places }

// A question whether a replica leads is answered by the one that does, and by it only once
// a majority has said so after the question.
func TestReplica_ConfirmsThatItLeads(t *testing.T) {
	t.Parallel()
	g := newGroup(3, 0, sim.Options{Seed: 4}, nil)
	heard := map[string]int{}
	g.Add(sim.Host{ID: "operator:o", New: func() agents.Agent { return listener(heard) }, Sturdy: true})
	ask := func() {
		for _, id := range g.ids {
			g.Inject(g.Now(), "operator:o", id, agents.ReplicaConfirm{})
		}
	}
	run := func(d grid.Duration) {
		if err := g.Run(g.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	run(5000)
	ask()
	run(1000)
	if heard["ReplicaConfirmed"] != 1 || heard["ReplicaRedirect"] != 2 {
		t.Fatalf("three that were asked have said %v", heard)
	}
	leader := slices.IndexFunc(g.ids, func(id agents.ID) bool { _, leads := g.replica(id).Leads(); return leads })
	for _, id := range g.ids {
		if id != g.ids[leader] { // cut off from the others, it still believes that it leads
			g.Strike(sim.Fault{Kind: sim.Partition, At: g.Now(), For: 3000, Host: g.ids[leader], Peer: id})
		}
	}
	g.Inject(g.Now(), "operator:o", g.ids[leader], agents.ReplicaConfirm{})
	run(100)
	if _, leads := g.replica(g.ids[leader]).Leads(); !leads || heard["ReplicaConfirmed"] != 1 {
		t.Fatalf("a leader without a majority: leads %v, has said %v", leads, heard)
	}
	run(5000)
	if heard["ReplicaConfirmed"] != 1 {
		t.Errorf("a leader that was none any more has said %v", heard)
	}
}

type listener map[string]int

func (l listener) Step(_ grid.Time, _ agents.ID, m agents.Message, _ *agents.Outbox) {
	l[m.Kind()]++
}
