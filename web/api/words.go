package api

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// Answers in words, for both the command line and the live page.

// Sentence describes the result of a cancellation.
func (c *Cancelled) Sentence() string {
	if c.Done && c.Refund != nil && c.Refund.Credits == 0 && c.Paid == nil {
		return c.ID + " is withdrawn; nothing had been paid for it"
	}
	if c.Done && c.Refund != nil {
		s := fmt.Sprintf("%s is withdrawn; %.2f credits are refunded", c.ID, c.Refund.Float())
		if c.Paid != nil {
			s += "\nin total: " + Booked(c.Paid, c.Back)
		}
		return s
	}
	return c.ID + " is withdrawn; not all of its sites have answered yet: cancel it again to see the refund"
}

// Booked says what was paid for a job in total, and what was refunded.
func Booked(paid, back *Credits) string {
	return fmt.Sprintf("%.2f credits paid, %.2f refunded; net cost %.2f", paid.Float(), back.Float(), (paid.Credits - back.Credits).Float())
}

// Sentences say whether a site takes new legs, and to whom it is closed. at writes an
// instant.
func (s *SiteState) Sentences(at func(Instant) string) []string {
	state := "accepts new legs"
	if d := s.Drained; d != nil {
		state = "accepts nothing new until further notice"
		if d.Until != 0 {
			state = "accepts nothing new until " + at(d.Until)
		}
		state += because(d.Why)
	}
	legs := fmt.Sprintf("%s nodes", grid.Count(s.Open, "leg holds", "legs hold"))
	if s.Open == 1 {
		legs = "1 leg holds nodes"
	}
	list := []string{fmt.Sprintf("%s %s; %s", s.Name, state, legs)}
	for _, c := range s.Closed {
		var whom []string
		if c.User != "" {
			whom = append(whom, "user "+c.User)
		}
		if c.VO != "" {
			whom = append(whom, "VO "+c.VO)
		}
		list = append(list, fmt.Sprintf("closed to %s%s", strings.Join(whom, " of "), because(c.Why)))
	}
	return list
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
