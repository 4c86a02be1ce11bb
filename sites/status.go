package sites

import (
	"slices"

	"bourse"
	"bourse/agents"
)

// Status is what a site's operator sees: a copy that shares nothing.
type Status struct {
	Name string      `json:"name"`
	Now  bourse.Time `json:"now"`

	Drained     *bourse.SiteDrained     `json:"drained,omitempty"` // while it drains
	Closed      []bourse.SiteClosed     `json:"closed"`
	Maintenance []bourse.MaintenanceSet `json:"maintenance"` // that is not over

	Open     int                 `json:"open"` // legs that hold nodes
	Legs     []OpenLeg           `json:"legs"` // the first of them, in order of their holds
	Kept     int                 `json:"kept"` // legs remembered, open or over
	Waiting  int                 `json:"waiting"`
	Stray    uint64              `json:"stray"`    // messages that made no sense, or were not their sender's to send
	Early    uint64              `json:"early"`    // words of the cluster about work whose time has not come
	Accounts []bourse.Account    `json:"accounts"` // in order of name
	Groups   []agents.GroupOffer `json:"groups"`   // as the site last saw its cluster; none before it has
}

// Status shows the site at an instant, with so many legs at most and what is
// free until the horizon. It costs a copy of what it shows.
func (s *Site) Status(now bourse.Time, most int, horizon bourse.Duration) Status {
	a := Status{Name: s.cfg.Name, Now: now, Closed: slices.Clone(s.closed), Open: len(s.open.list) - s.open.gaps,
		Kept: len(s.kept), Waiting: s.desk.waiting(), Stray: s.stray, Early: s.early, Accounts: s.ledger.Accounts()}
	if now < s.drain.Until {
		drain := s.drain
		a.Drained = &drain
	}
	for _, x := range s.maintenance {
		if x.What.End > now {
			a.Maintenance = append(a.Maintenance, x.MaintenanceSet)
		}
	}
	for l := range s.open.each {
		if len(a.Legs) == most {
			break
		}
		a.Legs = append(a.Legs, s.openLeg(l))
	}
	if s.offers.states != nil {
		a.Groups = s.offers.free(now, now.Add(horizon), "")
	}
	return a
}
