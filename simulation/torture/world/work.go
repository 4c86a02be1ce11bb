package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/grid"
)

// drawWork gives three of four jobs something to run, in a world that has managers, and
// some of those a rendezvous, for which half of the sites have a place. At one in four
// sites no work of eva's runs. It draws from a stream of its own.
func (w *World) drawWork() {
	r := rand.New(rand.NewPCG(w.seed, streamWork))
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			if r.IntN(4) > 0 {
				jobs[k].Work = &grid.Work{Command: []string{"true", jobs[k].Name}, Rendezvous: r.IntN(3) == 0}
			}
		}
	}
	for i := range w.Sites {
		s := &w.Sites[i]
		if r.IntN(2) == 0 {
			s.Config.Meeting = s.Config.Name + ":7070"
		}
		s.accounts = []managed.Account{{User: "ana", As: "ana_vo"}, {User: "ben", As: "guest"}}
		if r.IntN(4) > 0 {
			s.accounts = append(s.accounts, managed.Account{User: "*", As: "guest"})
		}
	}
}

// AccountOf is as whom a user's work runs at a site; "": it does not.
func (s *Site) AccountOf(user string) string {
	for _, a := range s.accounts {
		if a.User == user || a.User == "*" {
			return a.As
		}
	}
	return ""
}
