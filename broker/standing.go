package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// standing says whether a site accepts anything new from this VO, by its latest message:
// its offers for a cycle, its answer when it joined, or a message sent when its operator
// changed that. It is only for showing sites, even while no job waits: a cycle relies on
// the offers it has asked for. It is of this life only. Row B130.
type standing struct {
	known   bool
	refusal grid.Reason // why it accepts nothing
}

// askStanding asks a site for its standing.
func askStanding(id agents.ID, out *agents.Outbox) { out.Send(id, agents.OfferRequest{}) }

// show updates a site's view by its latest standing. A closed site is shown as closed at
// once. One that has opened since a cycle found it closed is shown as not asked.
func (s *standing) show(v *SiteView) {
	switch {
	case !s.known:
	case s.refusal.Refused():
		v.Answer, v.Refusal = planning.Closed.String(), s.refusal
	case v.Answer == planning.Closed.String() && v.Refusal.Refused():
		v.Answer, v.Refusal = "", grid.Reason{}
	}
}
