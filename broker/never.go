package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// What can never run here is refused at submission, where Config.Refuse asks for it. That needs
// to be known of all sites: in what they have offered in this life, to a cycle or to whoever
// looked at them. As long as a site has not answered, is away or closed, the job waits. The
// first cycle that hears all of them judges it by the same rules.

// noteGroups remembers what a site has, free or not.
func (ask *asking) noteGroups(id agents.ID, s *planning.Site) {
	a := ask.of(id)
	if a.has = nil; s.Answer == planning.Usable {
		a.has = make([]agents.GroupOffer, len(s.Groups))
		for i := range s.Groups {
			a.has[i] = agents.GroupOffer{Group: s.Groups[i].Group, Shared: s.Groups[i].Shared}
		}
	}
}

// reach is what all sites have; false if that is not known of one of them.
func (ask *asking) reach(now grid.Time) (planning.Reach, bool) {
	x := planning.ReachOf(ask.cfg.Horizon-ask.cfg.Lead, ask.cfg.planning())
	if ask.inTurn() || !ask.Peers.Settled(now) {
		return x, false
	}
	for p := range ask.Peers.All() {
		switch {
		case !p.Member() && (!p.Went() || now >= p.Left().Add(ask.cfg.Horizon)), p.Lost() != nil && now >= p.Lost().Since.Add(ask.cfg.Horizon):
			// it is not expected any more
		case !p.Usable() || ask.of(p.ID()).has == nil:
			return x, false
		default:
			x.Add(p.Name(), ask.of(p.ID()).has)
		}
	}
	return x, len(x.Groups) > 0
}

// neverHere says why a job can never run on what the sites have; no reason: it may, or what
// they have is not known.
func (in *intake) neverHere(now grid.Time, j *grid.Job) grid.Reason {
	if !in.cfg.Refuse || len(in.Trust.Among(now, j.User, namesOf(in.Peers.Usable(nil)))) > 0 {
		return grid.Reason{}
	}
	x, known := in.asking.reach(now)
	if !known {
		return grid.Reason{}
	}
	return x.Never(&j.Request, now)
}
