package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Bounds on what an operator's messages can make a site remember.
const (
	maxClosed      = 1000
	maxMaintenance = 1000
	maxWords       = 256 // bytes of a why, or of the name of a VO or user
	maxTitle       = 64  // bytes of a maintenance's name
)

// wishes are the operator's commands that are still in force.
type wishes struct {
	drain       facts.SiteDrained
	closed      []facts.SiteClosed
	maintenance []*maintenance // in the order set
	maintained  uint64         // how many maintenances there were so far
}

// maintenance takes nodes out of service over a window. Its leg belongs to no broker, and
// only names the maintenance to the cluster.
type maintenance struct {
	facts.MaintenanceSet
	leg *leg
}

// apply applies a fact to the wishes.
func (w *wishes) apply(f any) {
	switch f := f.(type) {
	case facts.SiteDrained:
		w.drain = f
	case facts.SiteClosed:
		w.open(f.VO, f.User)
		w.closed = append(w.closed, f)
	case facts.SiteOpened:
		w.open(f.VO, f.User)
	case facts.MaintenanceSet:
		w.maintained = max(w.maintained, f.Leg.Tx.Seq)
		w.maintenance = append(w.maintenance, &maintenance{f, maintenanceLeg(f.Leg, f.What)})
	case facts.MaintenanceOver:
		w.maintenance = slices.DeleteFunc(w.maintenance, func(x *maintenance) bool { return x.Name == f.Name })
	}
}

func (w *wishes) open(vo, user string) {
	w.closed = slices.DeleteFunc(w.closed, func(c facts.SiteClosed) bool { return c.VO == vo && c.User == user })
}

// maintenanceLeg is the leg that represents a maintenance.
func maintenanceLeg(id grid.LegID, what grid.Leg) *leg {
	return &leg{LegMoved: facts.LegMoved{Leg: id, What: what}}
}

// named returns the maintenance of that name, or nil.
func (w *wishes) named(name string) *maintenance {
	for _, x := range w.maintenance {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// barred says why the site accepts nothing new from a user of a VO or, if user is "", from
// the VO as a whole; no reason: it does.
func (m *memory) barred(now grid.Time, vo, user string) grid.Reason {
	if now < m.drain.Until {
		until := grid.Phrase("until further notice")
		if m.drain.Until < grid.Never {
			until = grid.Say("until %v", m.drain.Until)
		}
		return refused(grid.Draining, "%s takes nothing new %s%s", m.cfg.Name, until, because(m.drain.Why)).Refusal
	}
	for _, c := range m.closed {
		if (c.VO == "" || c.VO == vo || c.VO == grid.VOOf(vo)) && (c.User == "" || c.User == user) {
			whom := "user " + c.User
			if c.User == "" {
				whom = "VO " + c.VO
			}
			return refused(grid.NotAllowed, "%s is closed to %s%s", m.cfg.Name, whom, because(c.Why)).Refusal
		}
	}
	return grid.Reason{}
}

// barredRow is the row of what is refused because the site is barred.
func barredRow(why grid.Code) agents.Row {
	switch why {
	case grid.Draining:
		return "S61"
	case grid.NotAllowed:
		return "S63"
	}
	return ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
