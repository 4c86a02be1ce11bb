package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

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

// RunsAs reports whether a user's work may run as an account at a site: by its file or, placed
// before a reload, by one before.
func (s *Site) RunsAs(user, as string) bool {
	return slices.ContainsFunc(append(slices.Clone(s.former), s.accounts), func(list []managed.Account) bool {
		i := slices.IndexFunc(list, func(a managed.Account) bool { return a.User == user || a.User == "*" })
		return i >= 0 && list[i].As == as
	})
}

// renamed has the work of all users run as other accounts from now on.
func (s *Site) renamed() {
	s.former = append(slices.Clone(s.former), s.accounts)
	s.accounts = slices.Clone(s.accounts)
	for i := range s.accounts {
		a := &s.accounts[i]
		a.As = fmt.Sprintf("%s.%d", strings.Split(a.As, ".")[0], len(s.former))
	}
}
