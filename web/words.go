package web

import (
	"fmt"
	"strings"
)

// Answers in words, for the command line and the live page alike.

// Sentence says what a cancellation has come to.
func (c *Cancelled) Sentence() string {
	if c.Done && c.Refund != nil {
		s := fmt.Sprintf("%s is withdrawn; %.2f credits come back", c.ID, c.Refund.Float())
		if c.Paid != nil {
			s += "\nbooked for it in all: " + Booked(c.Paid, c.Back)
		}
		return s
	}
	return c.ID + " is withdrawn; its sites have not all answered yet, cancel it again to hear of the refund"
}

// Booked says what was paid for a job in all, and what of that has come back.
func Booked(paid, back *Credits) string {
	return fmt.Sprintf("%.2f credits paid, %.2f came back; it has cost %.2f", paid.Float(), back.Float(), (paid.Credits - back.Credits).Float())
}

// Sentences say whether a site takes new legs, and to whom it is closed. at writes an
// instant.
func (s *SiteState) Sentences(at func(Instant) string) []string {
	state := "takes new legs"
	if d := s.Drained; d != nil {
		state = "takes nothing new until further notice"
		if d.Until != 0 {
			state = "takes nothing new until " + at(d.Until)
		}
		state += because(d.Why)
	}
	legs := fmt.Sprintf("%d legs hold nodes", s.Open)
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
