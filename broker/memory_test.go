package broker

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// reserved is a broker of that many sites with that many jobs placed, each on one
// leg that has not begun, from the facts alone.
func reserved(sites, jobs int) *Broker {
	cfg := Defaults("vo1")
	cfg.Budget, cfg.Lead = bourse.MaxBudget, bourse.Minute
	for i := range sites {
		cfg.Sites = append(cfg.Sites, agents.ID(fmt.Sprintf("site:s%03d", i)))
	}
	b := New(cfg)
	b.Replay(0, bourse.LifeBegun{Incarnation: 1, Nonce: 7})
	for i := range jobs {
		name := fmt.Sprintf("job-%06d", i)
		j := testJob(name, 4, bourse.Hour, 10*bourse.Credit)
		j.User = fmt.Sprintf("user%02d", i%50)
		id := bourse.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: uint64(i + 1)}
		leg := bourse.LegID{Tx: id}
		start := bourse.Time(i) * sec
		for _, f := range []agents.Fact{
			bourse.JobSubmitted{Job: j},
			bourse.TxBegun{Tx: id, Job: name, Alternative: 1, Sites: []string{fmt.Sprintf("s%03d", i%sites)},
				Legs:   []bourse.Leg{{Group: "main", Nodes: 4, Start: start, End: start.Add(bourse.Hour)}},
				Limits: []bourse.Credits{bourse.Credit}},
			bourse.LegPriced{Leg: leg, Fare: bourse.Fare{Base: bourse.Credit}},
			bourse.TxDecided{Tx: id, Job: name, Commit: true},
			bourse.LegClosed{Leg: leg, Commit: true, Posted: bourse.Credit},
			bourse.LegProved{Leg: leg, Proof: bourse.Proof{State: bourse.Confirmed, Epoch: 9, Seq: uint64(i)}},
		} {
			b.Replay(0, f)
		}
		if i%100 == 99 {
			b.Replay(0, bourse.CycleClosed{Cycle: uint64(i)})
		}
	}
	return b
}

// heap is what is in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A broker of 200 sites with 100,000 open reservations is to run in 200 MB; what it
// keeps may be half of that, since the collector lets the heap grow. Measured:
// 1.13 kB a reservation, 40 bytes of it the proof of its site's answer. Not parallel: it
// looks at the whole heap.
func TestMemory_OfAReservation(t *testing.T) {
	before := heap()
	const n = 20_000
	b := reserved(200, n)
	each := float64(heap()-before) / n
	if each > 1150 {
		t.Errorf("a reservation takes %.0f bytes", each)
	}
	for v := range b.Jobs() {
		if v.State != bourse.JobPlaced || v.Last.Legs[0].State != bourse.Confirmed {
			t.Fatalf("%s is %v", v.Name, v.State)
		}
	}
}

// BenchmarkMemory measures what a broker keeps for a reservation.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		before := heap()
		x := reserved(200, 100_000)
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		runtime.KeepAlive(x)
	}
}

// BenchmarkRestart is what a broker of 100,000 open reservations does between
// Started and the last of its sites' Listings.
func BenchmarkRestart(b *testing.B) {
	for _, sites := range []int{2, 200} {
		b.Run(fmt.Sprintf("sites=%d", sites), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				x := reserved(sites, 100_000)
				legs := map[agents.ID][]agents.ListedLeg{}
				for _, t := range x.txs.all() {
					legs[t.site(0)] = append(legs[t.site(0)], agents.ListedLeg{Leg: t.leg(0), What: t.legs[0].what, Job: t.job.Name, State: bourse.Confirmed, Fare: t.legs[0].fare, Version: 1})
				}
				b.StartTimer()
				var out agents.Outbox
				x.Step(0, "", agents.Started{Nonce: 8}, &out)
				for _, id := range x.scheduler.sites {
					out.Reset()
					x.Step(0, id, agents.Listing{Incarnation: 2, Legs: legs[id], Stamp: agents.Stamp{Epoch: 1, Seq: 1}}, &out)
				}
				if x.peers.listening() {
					b.Fatal("it still listens")
				}
			}
		})
	}
}
