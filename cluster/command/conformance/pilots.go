package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// The check that submits pilots.

const (
	// firstGrant is what the pilots of the check are granted at first, longerGrant what the second
	// is granted then.
	firstGrant  = 8 * grid.Second
	longerGrant = 60 * grid.Second
	leavesIn    = 15 * grid.Second // after the end of its grant a pilot must be gone
	startsIn    = 2 * grid.Second  // work in a pilot begins that long after its start at the latest
	pilotWithin = 5 * time.Minute  // how long a check waits for a pilot to begin
)

// pilots: one leaves by itself while nobody asks the driver; one is prolonged and becomes work,
// once, at its second.
func (s *session) pilots() (string, error) {
	for _, verb := range []agents.CommandVerb{agents.Claim, agents.Grant} {
		if !slices.Contains(s.p.Hello.Can, string(verb)) {
			return "", fmt.Errorf("it cannot %s", verb)
		}
	}
	gone, stays, work := s.name("gone"), s.name("stays"), s.name("in-it")
	defer func() {
		if s.p != nil {
			s.remove(work, stays, gone)
		}
	}()
	if err := s.leaves(gone, work); err != nil {
		return "", fmt.Errorf("a pilot that is left alone: %w", err)
	}
	if err := s.becomes(stays, work); err != nil {
		return "", fmt.Errorf("a pilot that is prolonged: %w", err)
	}
	return "it leaves by itself, is prolonged, and becomes work once, at its second", nil
}

// claimed submits a pilot of one node and waits until it runs.
func (s *session) claimed(name string) (grid.ManagedJob, error) {
	look, err := s.look()
	if err != nil {
		return grid.ManagedJob{}, err
	}
	i := slices.IndexFunc(look.Nodes, func(n grid.ManagedNode) bool { return n.State == grid.NodeUp && len(n.Partitions) > 0 })
	if i < 0 {
		return grid.ManagedJob{}, errors.New("no node that is up is in a partition, of which a pilot could be claimed")
	}
	c := agents.Command{Verb: agents.Claim, Name: name, Group: look.Nodes[i].Partitions[0], Count: 1, Limit: 10 * grid.Minute, Granted: firstGrant, User: s.User}
	for range 2 { // the second time as if the answer had been lost
		if outcome, why := s.command(c); outcome != agents.Done {
			return grid.ManagedJob{}, fmt.Errorf("claim is %s (%s)", outcome, why)
		}
	}
	for until := time.Now().Add(pilotWithin); ; s.pause(200 * time.Millisecond) {
		list, err := s.named(name)
		switch {
		case err != nil:
			return grid.ManagedJob{}, err
		case len(list) != 1:
			return grid.ManagedJob{}, fmt.Errorf("claim, twice, has made %d jobs of the name; must be one", len(list))
		case list[0].State == grid.ManagedRunning && list[0].Granted != firstGrant:
			return grid.ManagedJob{}, fmt.Errorf("the look shows that it is granted %s; must be %s", list[0].Granted.Words(), firstGrant.Words())
		case list[0].State == grid.ManagedRunning:
			return list[0], nil
		case time.Now().After(until) || s.ctx.Err() != nil:
			return grid.ManagedJob{}, fmt.Errorf("it is %s after %v; must run", list[0].State, pilotWithin)
		}
	}
}

// leaves: without the driver a pilot leaves at its grant, and then becomes no work.
func (s *session) leaves(name, work string) error {
	j, err := s.claimed(name)
	if err != nil {
		return err
	}
	s.p.Close()
	s.p = nil
	s.pauseUntil(j.Start.Add(firstGrant))
	if err := s.begin(); err != nil {
		return err
	}
	for ; ; s.pause(500 * time.Millisecond) {
		list, err := s.named(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(j grid.ManagedJob) bool { return j.State == grid.ManagedRunning }) {
			break
		}
		if wall() > j.Start.Add(firstGrant+leavesIn) || s.ctx.Err() != nil {
			return fmt.Errorf("it runs %s after its begin, and was granted %s", wall().Sub(j.Start).Words(), firstGrant.Words())
		}
	}
	c := s.job("true")
	c.Name, c.In, c.Nodes = work, name, j.Nodes
	if outcome, why := s.command(c); outcome != agents.Denied {
		return fmt.Errorf("run in it, after it has left, is %s (%s); must be denied", outcome, why)
	}
	return nil
}

// becomes: a grant prolongs a pilot and never shortens it, and work in it begins once, at its
// second.
func (s *session) becomes(name, work string) error {
	j, err := s.claimed(name)
	if err != nil {
		return err
	}
	for _, granted := range []grid.Duration{longerGrant, firstGrant / 2} {
		if outcome, why := s.command(agents.Command{Verb: agents.Grant, Name: name, Granted: granted}); outcome != agents.Done {
			return fmt.Errorf("grant of %s is %s (%s)", granted.Words(), outcome, why)
		}
	}
	s.pauseUntil(j.Start.Add(firstGrant + 2*grid.Second))
	list, err := s.named(name)
	switch {
	case err != nil:
		return err
	case len(list) != 1 || list[0].State != grid.ManagedRunning:
		return fmt.Errorf("it has left, though a grant of %s had prolonged it", longerGrant.Words())
	case list[0].Granted != longerGrant:
		return fmt.Errorf("the look shows that it is granted %s; must be %s: a smaller grant changes nothing", list[0].Granted.Words(), longerGrant.Words())
	}
	c := s.job("echo once; sleep 1")
	c.Name, c.In, c.Nodes, c.Start = work, name, j.Nodes, (wall().Add(3*grid.Second)+999)/1000*1000
	for range 2 {
		if outcome, why := s.command(c); outcome != agents.Done {
			return fmt.Errorf("run in it is %s (%s)", outcome, why)
		}
	}
	w, err := s.ends(work)
	switch {
	case err != nil:
		return err
	case w.In != name || w.Number != j.Number:
		return fmt.Errorf("the look shows work in %q with number %s; must be the pilot's, %q and %s", w.In, w.Number, name, j.Number)
	case w.Start < c.Start.Add(-500) || w.Start > c.Start.Add(startsIn):
		return fmt.Errorf("work in it began at %v; must be at %v, to %s", w.Start, c.Start, startsIn.Words())
	}
	out, err := s.p.Output(s.ctx, work, s.within(endWithin))
	if err != nil || strings.Count(out, "once") != 1 {
		return fmt.Errorf("its output is %q (%v); must be %q: it runs once", out, err, "once\n")
	}
	return nil
}

func wall() grid.Time { return grid.Time(time.Now().UnixMilli()) }

// pauseUntil waits for an instant.
func (s *session) pauseUntil(t grid.Time) {
	s.pause(time.Duration(t.Sub(wall())) * time.Millisecond)
}
