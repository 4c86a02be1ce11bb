package sites

import (
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// What a peer may say. The wire bounds what can be said at all; a site checks
// once more that a message makes sense, for none must make it fail. Rows S70 to
// S73.

// Bounds on what peers can ask for, or have the site remember.
const (
	maxLegs    = 100_000   // of one QuoteRequest or List
	maxNodes   = 1_000_000 // of a leg
	maxName    = 256       // bytes of a job, user or broker
	maxBrokers = 10_000    // that the site remembers
	// maxBrokersOfVO is how many of those may be of one VO at a site of several, so
	// that a VO that makes up brokers leaves the others room.
	maxBrokersOfVO = 100
	maxLives       = 8 // of one broker, the latest
)

// speaker is the broker in whose name a message speaks; false for messages that
// no broker sends.
func speaker(m agents.Message) (string, bool) {
	if l, ok := m.(agents.List); ok {
		return l.Broker, true
	}
	if l, ok := m.(agents.OfLeg); ok && sender(m) == agents.Broker {
		return l.LegID().Tx.Broker, true
	}
	return "", false
}

// sender is the role of those who send such messages; Any if they are of no known
// kind, as alarms are.
func sender(m agents.Message) agents.Role {
	if p, known := agents.Lookup(m.Kind()); known {
		return p.From
	}
	return agents.Any
}

// brokerOf is the name of the broker at an address, false if none can be there.
func brokerOf(from agents.ID) (string, bool) {
	name, ok := strings.CutPrefix(string(from), "broker:")
	return name, ok && name != "" && len(name) <= maxName
}

// foreign reports whether a message is not for its sender to send: of a broker's
// leg by another one, or of the cluster by somebody else.
func (s *Site) foreign(from agents.ID, m agents.Message) bool {
	if broker, ok := speaker(m); ok {
		name, is := brokerOf(from)
		return !is || name != broker
	}
	switch m := m.(type) {
	case agents.OfferRequest: // an operator's has the site look at its cluster
		_, is := brokerOf(from)
		return !is && !strings.HasPrefix(string(from), "operator:")
	case agents.QuoteRequest:
		_, is := brokerOf(from)
		return !is || len(m.Legs) > maxLegs
	}
	return sender(m) == agents.Cluster && from != s.cfg.Cluster
}

// senseless says what makes no sense in a Hold.
func senseless(m agents.Hold) bourse.Reason {
	switch {
	case m.Leg.Leg < 0:
		return refused(bourse.Invalid, "there is no leg %d of a window", m.Leg.Leg).Refusal
	case !calendar(m.What):
		return refused(bourse.Invalid, "%d nodes over [%v, %v) are no leg", m.What.Nodes, m.What.Start, m.What.End).Refusal
	case m.Limit < 0 || m.Limit > bourse.MaxBudget:
		return refused(bourse.Invalid, "a limit of %v must be 0 to %v", m.Limit, bourse.MaxBudget).Refusal
	case m.For < 0 || m.Run < 0 || m.Run > bourse.MaxDuration:
		return refused(bourse.Invalid, "a hold for %v must be 0 or more, a run of %v must be 0 to %v", m.For, m.Run, bourse.MaxDuration).Refusal
	case !meant(m.Flex, m.What):
		return refused(bourse.Invalid, "a window [%v, %v) for a leg over [%v, %v), fixed at %d and with alternatives up to %d thousandths, makes no sense",
			m.Flex.Ready, m.Flex.Due, m.What.Start, m.What.End, m.Flex.Fix, m.Flex.Phi).Refusal
	case len(m.Job) > maxName || len(m.User) > maxName:
		return tooLong("job or user", m.Job+m.User, maxName)
	}
	return bourse.Reason{}
}

// calendar reports whether a leg's figures lie within the calendar and the bounds.
func calendar(l bourse.Leg) bool {
	return l.Nodes >= 1 && l.Nodes <= maxNodes && l.Start >= -bourse.MaxTime && l.Start < l.End && l.End <= bourse.MaxTime && len(l.Group) <= maxName
}
