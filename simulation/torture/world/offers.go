package world

import (
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Offers to shift a leg: in one world of sixteen sites with service level agreements ask the
// owners of flexible legs to make room for a payment, and users answer. Nothing else of such a
// world is drawn otherwise.

// asking reports whether owners are asked to shift legs in the world of a seed.
func asking(seed uint64) bool { return seed%16 == 8 }

// drawOffers gives all simulated sites service level agreements and lets them ask. Jobs want few
// nodes, most leave their site a choice of when, and they come in half the time, since only a leg
// that is alone and can move is shifted, and only for another that finds no room.
func (w *World) drawOffers() {
	r := rand.New(rand.NewPCG(w.seed, streamOffers))
	w.answers = r
	for i := range w.Sites {
		s := &w.Sites[i]
		if s.Behind != Simulated {
			continue
		}
		s.drawPromise(r, w.seed)
		s.Config.Promises.Ask = 500 * (1 + r.IntN(4))
	}
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			j := &jobs[k]
			if j.Nodes >= 10 {
				j.Nodes = 3 + r.IntN(4)
			}
			if r.IntN(4) > 0 {
				j.Flexible, j.Phi, j.Fix = grid.Duration(20+r.IntN(60))*grid.Minute, 300*r.IntN(7), 0
			}
		}
	}
}

// reply is what a user has made up his mind to say to an offer, from outside.
type reply struct{ agents.OfferAnswer }

// Kind names the wish.
func (reply) Kind() string { return "Reply" }

// Consider draws what the user of a job says to its n-th offer, which its broker has recorded: mostly
// yes or no, but also both, too late, something about another offer or in another's name, or
// nothing.
func (w *World) Consider(broker agents.ID, j grid.Job, n int, expires grid.Time) {
	if w.answers == nil {
		return
	}
	i := slices.IndexFunc(w.Brokers, func(v VO) bool { return BrokerID(v.Config.Name) == broker })
	to, now, yes := UsersID(w.Brokers[i].Config.Name), w.Now(), agents.OfferAnswer{Job: j.Name, User: j.User, N: n, Accept: true}
	no, later := yes, func(most grid.Duration) grid.Time {
		return now.Add(1 + grid.Duration(w.answers.Int64N(int64(most))))
	}
	no.Accept = false
	at := later(2 * grid.Minute)
	switch w.answers.IntN(12) {
	case 0, 1, 2, 3:
		w.Post(at, to, reply{yes})
	case 4, 5:
		w.Post(at, to, reply{no})
	case 6, 7: // he says it twice, or changes his mind
		second := []agents.OfferAnswer{yes, no}[w.answers.IntN(2)]
		w.Post(at, to, reply{yes})
		w.Post(later(3*grid.Minute), to, reply{second})
	case 8:
		w.Post(at, to, reply{no})
		w.Post(later(3*grid.Minute), to, reply{yes})
	case 9:
		w.Post(max(at, expires.Add(grid.Duration(w.answers.Int64N(int64(grid.Minute))))), to, reply{yes})
	case 10:
		yes.N += w.answers.IntN(2)
		yes.User = []string{"ana", "ben", "eva"}[w.answers.IntN(3)]
		w.Post(at, to, reply{yes})
	}
}
