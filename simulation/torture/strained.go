package torture

import (
	"fmt"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Worlds that are strained in one way or another: in one of sixteen bounds are so low that they
// are reached, users are choosy and change their minds often, and a day and a half passes in the
// end; in one of sixteen sites lie.

// narrow reports whether the bounds of a seed's world are low.
func narrow(seed uint64) bool { return seed%16 == 7 }

// lying reports whether sites lie in the world of a seed.
func lying(seed uint64) bool { return seed%16 == 15 }

// drawNarrow lowers what sites and brokers remember, have waiting and sell, gives nodes and jobs
// what tells them apart, and some jobs one site alone.
func (w *world) drawNarrow() {
	r := rand.New(rand.NewPCG(w.seed, streamNarrow))
	for i := range w.sites {
		s := &w.sites[i].config
		switch i % 3 {
		case 0:
			s.MaxKept = 60 + r.IntN(60)
		case 1:
			s.MaxWork = 1 + r.IntN(2)
		default:
			s.VOShares = map[string]int{brokerNames[r.IntN(len(brokerNames))]: 50 + r.IntN(150)}
		}
		for k := range s.Groups {
			s.Groups[k].Machine.GPUs = r.IntN(3)
		}
	}
	for i := range w.brokers {
		b := &w.brokers[i]
		b.config.MaxWaiting, b.config.MaxAsked = 2+r.IntN(3), 3+r.IntN(4)
		for k := range b.jobs {
			j := &b.jobs[k]
			switch r.IntN(6) {
			case 0:
				j.OneSite = true
			case 1:
				j.MinPerformance = grid.Performance(1250 + 250*r.IntN(3))
			case 2:
				j.Require.GPUs = 1 + r.IntN(2)
			}
		}
	}
}

// narrowFaults are many changes of mind, and faults aimed at what follows from them.
func narrowFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamNarrowFaults))
	for range 20 {
		list = append(list, otherWindow(r))
	}
	for range 6 {
		list = append(list, sim.Fault{Kind: LegAimed, Host: siteID(siteNames[r.IntN(len(siteNames))]), Salt: 1 + r.Uint64N(1<<32), Share: ofMove,
			At: start.Add(grid.Duration(r.Int64N(int64(storm - 30*grid.Minute)))), Size: int64(grid.Second) + r.Int64N(int64(5*grid.Minute))})
	}
	return list
}

// aDayAndAHalf is how long a narrow world goes on after the calm: a day longer than anything lasts
// that was begun before.
const aDayAndAHalf = 34 * grid.Hour

// forgottenAtLast checks, a day after everything has ended, that no agent remembers any of
// it (S57), and therefore nothing is stuck forever (I13). Only claims are kept longer.
func (c *checker) forgottenAtLast() error {
	if err := c.sitesForget(); err != nil {
		return err
	}
	for i := range c.w.brokers {
		b, alone := c.w.Agent(brokerID(c.w.brokers[i].config.Name)).(*broker.Broker)
		if !alone {
			continue
		}
		m := c.of(brokerID(c.w.brokers[i].config.Name))
		for _, t := range b.Image().(facts.BrokerImage).Txs {
			if !c.keptFor(m, t.Tx, len(t.Legs)) {
				return fmt.Errorf("I13: after a day %s still has %v of job %s on record, as %v", m.id, t.Tx, t.Job, t.State)
			}
		}
	}
	return nil
}

func (c *checker) sitesForget() error {
	for i := range c.w.sites {
		m := c.of(siteID(c.w.sites[i].config.Name))
		if list := sortedLegs(m.legs); len(list) > 0 {
			return fmt.Errorf("S57: after a day %s still has leg %v on record, as %v", m.id, list[0], m.legs[list[0]].State)
		}
	}
	return nil
}

// keptFor reports whether a transaction is kept for a claim.
func (c *checker) keptFor(m *mirror, id grid.TxID, legs int) bool {
	for i := range legs {
		leg := grid.LegID{Tx: id, Leg: i}
		if _, claimed := c.claimed[leg]; claimed {
			if _, settled := m.settled[leg]; !settled {
				return true
			}
		}
	}
	return false
}
