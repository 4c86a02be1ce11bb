package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Status is what a site's operator sees. It shares nothing with the site.
type Status struct {
	Name string    `json:"name"`
	Now  grid.Time `json:"now"`

	Drained     *facts.SiteDrained     `json:"drained,omitempty"` // while it drains
	Closed      []facts.SiteClosed     `json:"closed"`
	Maintenance []facts.MaintenanceSet `json:"maintenance"` // not yet over

	Open     int                 `json:"open"` // legs that hold nodes
	Legs     []OpenLeg           `json:"legs"` // the first of them, in order of their holds
	Kept     int                 `json:"kept"` // legs remembered, open or over
	Waiting  int                 `json:"waiting"`
	Stray    uint64              `json:"stray"`    // messages that made no sense, or that their sender may not send
	Early    uint64              `json:"early"`    // the cluster's reports about work before its window
	Accounts []grid.Account      `json:"accounts"` // in order of name
	Groups   []agents.GroupOffer `json:"groups"`   // as the site last saw its cluster; none before that
	Shares   []VOShare           `json:"shares"`   // as configured: of all VOs, then in order of name
	Span     grid.Duration       `json:"span"`     // the time over which shares are counted
}

// VOShare is how much of the site's node-time over the span from now a VO may hold, and
// holds, in thousandths.
type VOShare struct {
	VO    string `json:"vo"` // or a broker; "": all
	Share int    `json:"share"`
	Held  int    `json:"held"`
}

// Status shows the site at an instant, with at most most legs and what is free until the
// horizon. It copies what it shows.
func (s *Site) Status(now grid.Time, most int, horizon grid.Duration) Status {
	a := Status{Name: s.cfg.Name, Now: now, Closed: slices.Clone(s.closed), Open: s.open.count(),
		Kept: len(s.kept), Waiting: s.requests.waiting(), Stray: s.stray, Early: s.Early(), Accounts: s.accounts.list(),
		Shares: s.limits.shares(now), Span: s.cfg.Span}
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
	if s.offers.known() {
		a.Groups = s.offers.free(now, now.Add(horizon), "")
	}
	return a
}

// Page shows up to most of the legs that hold nodes, in order of their holds, leaving out
// the first skip; more says that others follow.
func (s *Site) Page(skip, most int) (list []OpenLeg, more bool) {
	for l := range s.open.each {
		switch {
		case skip > 0:
			skip--
		case len(list) == most:
			return list, true
		default:
			list = append(list, s.openLeg(l))
		}
	}
	return list, false
}

// Maintained lists the windows of maintenance that are set.
func (s *Site) Maintained() (list []facts.MaintenanceSet) {
	for _, x := range s.maintenance {
		list = append(list, x.MaintenanceSet)
	}
	return list
}

// Replay applies a fact of an earlier life.
func (s *Site) Replay(at grid.Time, f agents.Fact) { s.apply(at, f) }

// Name is the site's name.
func (s *Site) Name() string { return s.cfg.Name }

// OpenLegs returns the legs that hold nodes, in order of their holds, for reports and
// checks.
func (s *Site) OpenLegs() []OpenLeg {
	list := make([]OpenLeg, 0, s.open.count())
	for l := range s.open.each {
		list = append(list, s.openLeg(l))
	}
	return list
}

func (s *Site) openLeg(l *leg) OpenLeg {
	return OpenLeg{Leg: l.Leg, Broker: s.life(l.Leg.Tx.Broker).address(), Job: l.Job, User: l.User,
		What: l.What, State: l.State, Fare: l.Fare, Limit: l.ends}
}

// OpenLeg is a leg that holds nodes.
type OpenLeg struct {
	Leg    grid.LegID    `json:"leg"`
	Broker agents.ID     `json:"broker"`
	Job    string        `json:"job"`
	User   string        `json:"user,omitempty"`
	What   grid.Leg      `json:"what"`
	State  grid.LegState `json:"state"`
	Fare   grid.Fare     `json:"fare"`
	Limit  grid.Time     `json:"limit,omitempty"` // while held or prepared: when that ends
}
