package sites

import (
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// What a peer may send. The wire format bounds what can be sent at all; the site also checks
// that a message makes sense, because no message may make it fail. Rows S70 to S73.

// Bounds on what peers can ask for, or make the site remember.
const (
	maxLegs    = 100_000   // of one QuoteRequest or List
	maxNodes   = 1_000_000 // of a leg
	maxName    = 256       // bytes in the name of a job, user or broker
	maxBrokers = 10_000    // remembered by the site
	// maxBrokersOfVO is how many of those may belong to one of several VOs, so that a VO
	// that makes up brokers leaves room for the others.
	maxBrokersOfVO = 100
	maxLives       = 8 // of one broker, the latest
)

// sender is the role that sends such messages, or Any if the kind is unknown, as for
// alarms.
func sender(m agents.Message) agents.Role {
	if p, known := agents.Lookup(m.Kind()); known {
		return p.From
	}
	return agents.Any
}

// brokerOf is the name of the broker at an address. It reports false if the address is not a
// broker's.
func brokerOf(from agents.ID) (string, bool) {
	name, ok := strings.CutPrefix(string(from), "broker:")
	return name, ok && name != "" && len(name) <= maxName
}

// foreign reports whether its sender may not send a message: one in another broker's name, or
// one that only a broker or the cluster may send.
func (s *Site) foreign(from agents.ID, m agents.Message) bool {
	name, is := brokerOf(from)
	if broker, ok := agents.SpeakerOf(m); ok {
		return !is || name != broker
	}
	switch m := m.(type) {
	case agents.OfferRequest: // operators send it too, to refresh the site's view of its cluster
		return !is && !strings.HasPrefix(string(from), "operator:")
	case agents.QuoteRequest:
		return !is || len(m.Legs) > maxLegs
	}
	switch sender(m) {
	case agents.Broker:
		return !is
	case agents.Cluster:
		return from != s.cfg.Cluster
	}
	return false
}

// senseless says why a Hold makes no sense; no reason: it does.
func senseless(m agents.Hold) grid.Reason {
	switch {
	case m.Leg.Leg < 0:
		return refused(grid.Invalid, "there is no leg %d of a window", m.Leg.Leg).Refusal
	case !calendar(m.What):
		return refused(grid.Invalid, "no leg: %s over [%v, %v)", grid.Count(m.What.Nodes, "node"), m.What.Start, m.What.End).Refusal
	case m.Limit < 0 || m.Limit > grid.MaxBudget:
		return refused(grid.Invalid, "a limit of %v must be 0 to %v", m.Limit, grid.MaxBudget).Refusal
	case m.For < 0 || m.Run < 0 || m.Run > grid.MaxDuration:
		return refused(grid.Invalid, "a hold for %v must be 0 or more, a run of %v must be 0 to %v", m.For, m.Run, grid.MaxDuration).Refusal
	case !meant(m.Flex, m.What):
		return refused(grid.Invalid, "a window [%v, %v) for a leg over [%v, %v), fixed at %d and with alternatives up to %d thousandths, makes no sense",
			m.Flex.Ready, m.Flex.Due, m.What.Start, m.What.End, m.Flex.Fix, m.Flex.Phi).Refusal
	case len(m.Job) > maxName || len(m.User) > maxName:
		return tooLong("job or user", m.Job+m.User, maxName)
	}
	return grid.Reason{}
}

// calendar reports whether a leg's times and numbers are within bounds.
func calendar(l grid.Leg) bool {
	return l.Nodes >= 1 && l.Nodes <= maxNodes && l.Start >= -grid.MaxTime && l.Start < l.End && l.End <= grid.MaxTime && len(l.Group) <= maxName
}
