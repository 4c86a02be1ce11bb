package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
)

// standing is whether a site takes anything new of this VO, by its latest word: in its
// offers of a cycle, asked for when it joins, or unasked when its operator changes it.
// It is for those who look at the sites, also while no job waits: what a cycle may use
// are the offers that it has asked for. It is of this life only. Row B130.
type standing struct {
	known   bool
	refusal bourse.Reason // why it takes nothing
}

func (s *standing) take(why bourse.Reason) { *s = standing{true, why} }

// ask asks a site how it stands.
func (s *standing) ask(id agents.ID, out *agents.Outbox) { out.Send(id, agents.OfferRequest{}) }

// show puts the latest word into what is shown of a site: a site that is closed is so
// at once, one that has opened since a cycle found it closed has not been asked again.
func (s *standing) show(v *SiteView) {
	switch {
	case !s.known:
	case s.refusal.Refused():
		v.Answer, v.Refusal = planning.Closed.String(), s.refusal
	case v.Answer == planning.Closed.String() && v.Refusal.Refused():
		v.Answer, v.Refusal = "", bourse.Reason{}
	}
}
