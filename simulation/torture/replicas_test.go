package torture

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/replica"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/sites"
)

// replicaFaults are those of a seed, but what strikes a broker strikes one of its
// three replicas. A disk that forgets is not among them, nor what only the checks of
// whole worlds know how to exempt.
func replicaFaults(seed uint64) []sim.Fault {
	list := Faults(seed, sim.Drop, sim.Delay, sim.Duplicate, sim.Reorder, sim.Partition, sim.OneWay, sim.Flap,
		sim.CrashSync, sim.CrashSend, sim.Pause, sim.TornJournal, sim.SyncFailed)
	for i := range list {
		f := &list[i]
		for _, name := range brokerNames {
			k := int(f.Salt+uint64(f.At))%3 + 1
			if f.Host == brokerID(name) {
				f.Host = replicaID(name, k)
			}
			if f.Peer == brokerID(name) {
				f.Peer = replicaID(name, k%3+1)
			}
		}
	}
	return list
}

// replicated is a world whose brokers are three replicas each, and what its users
// were told.
type replicated struct {
	*world
	taken       map[agents.ID]map[string]bool // by users
	leaderships int
	seen        map[agents.ID]uint64
}

func newReplicated(seed uint64) *replicated {
	w := &replicated{taken: map[agents.ID]map[string]bool{}, seen: map[agents.ID]uint64{}}
	w.world = (&world{replicas: 3}).begin(seed, replicaFaults(seed), sim.Options{Snapshot: 40, Codec: replicaCodec})
	w.After(func(s *sim.Step) {
		if r, ok := s.Message.(agents.SubmitReply); ok && !r.Reason.Refused() && w.users[s.ID] != nil {
			if w.taken[s.ID] == nil {
				w.taken[s.ID] = map[string]bool{}
			}
			w.taken[s.ID][r.Job] = true
		}
		if r, ok := w.AgentOf(s.Process).(*replica.Replica); ok {
			if term, leads := r.Leads(); leads && w.seen[s.ID] != term {
				w.seen[s.ID] = term
				w.leaderships++
			}
			if r.Lost() {
				w.Stop(fmt.Errorf("%s holds its journal for one of the past", s.ID))
			}
		}
	})
	return w
}

// leader is the replica of a broker that leads, nil if none does.
func (w *replicated) leader(name string) *replica.Replica {
	for k := 1; k <= 3; k++ {
		if r, ok := w.Agent(replicaID(name, k)).(*replica.Replica); ok {
			if _, leads := r.Leads(); leads {
				return r
			}
		}
	}
	return nil
}

// settled says what does not hold yet, or never will: the replicas of a broker are
// the same, what its users were told is on record, and its money is that of the sites.
func (w *replicated) settled(t *testing.T) error {
	for i := range w.brokers {
		name := w.brokers[i].config.Name
		l := w.leader(name)
		if l == nil {
			return fmt.Errorf("nobody leads %s", name)
		}
		image := l.Inner().Image()
		want := written(t, image)
		for k := 1; k <= 3; k++ {
			r, ok := w.Agent(replicaID(name, k)).(*replica.Replica)
			if !ok {
				return fmt.Errorf("replica %d of %s is down", k, name)
			}
			if got := written(t, r.Inner().Image()); !bytes.Equal(got, want) {
				return fmt.Errorf("replica %d of %s differs after entry %d from the leader after %d:\n%s\n%s", k, name, r.Applied(), l.Applied(), got, want)
			}
		}
		for job := range w.taken[usersID(name)] {
			if !slices.ContainsFunc(image.(bourse.BrokerImage).Jobs, func(j bourse.JobMemory) bool { return j.Job.Name == job }) {
				return fmt.Errorf("job %s was taken by %s and is lost", job, name)
			}
		}
		if u := w.users[usersID(name)]; len(u.unsaid) > 0 || len(w.taken[usersID(name)]) < u.next/2 {
			return fmt.Errorf("%d jobs of %s are without an answer, %d of %d taken", len(u.unsaid), name, len(w.taken[usersID(name)]), u.next)
		}
		b := l.Inner().(*broker.Broker)
		for _, site := range siteNames {
			had := w.Agent(siteID(site)).(*sites.Site).Ledger().Account(string(brokerID(name)))
			paid := b.Ledger().Account(string(siteID(site)))
			if had.Debit-had.Credit != paid.Credit-paid.Debit {
				return fmt.Errorf("%s has had %v of %s, which has paid %v", site, had.Debit-had.Credit, name, paid.Credit-paid.Debit)
			}
		}
	}
	return nil
}

// written is a fact as a journal has it.
func written(t *testing.T, f agents.Fact) []byte {
	t.Helper()
	b, err := replicaCodec.Append(nil, 0, f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Brokers of three replicas each go through what goes wrong: no job that was taken is
// lost, their money and that of the sites agree, and all replicas end with the same.
func TestReplicas_BrokersOutliveTheirLeaders(t *testing.T) {
	t.Parallel()
	first, seeds := 1, 3
	if s := os.Getenv("REPLICA_SEEDS"); s != "" {
		seeds, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("REPLICA_START"); s != "" {
		first, _ = strconv.Atoi(s)
	}
	leaderships, legs := 0, 0
	for seed := uint64(first); seed < uint64(first+seeds); seed++ {
		w := newReplicated(seed)
		if err := w.Run(start.Add(storm)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		w.Heal()
		w.healManagers()
		if err := w.Run(start.Add(storm + calm)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		err := w.settled(t)
		for range 600 { // until nothing is under way for a moment
			if err == nil {
				break
			}
			if err := w.Run(w.Now().Add(bourse.Second)); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			err = w.settled(t)
		}
		if err != nil {
			t.Errorf("seed %d: %.2000v", seed, err)
		}
		t.Logf("seed %d: %d leaderships", seed, w.leaderships)
		leaderships += w.leaderships
		for i := range w.brokers {
			if l := w.leader(w.brokers[i].config.Name); l != nil {
				legs += len(l.Inner().Image().(bourse.BrokerImage).Txs)
			}
		}
	}
	t.Logf("%d seeds: %d leaderships, %d transactions on record at the end", seeds, leaderships, legs)
	if leaderships < 4*seeds || legs < 10*seeds {
		t.Errorf("%d seeds: %d leaderships, %d transactions", seeds, leaderships, legs)
	}
}
