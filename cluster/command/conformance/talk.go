package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/command"
	"github.com/bourse-grid/bourse/grid"
)

// The checks that submit nothing.

// hello: an answer in time, and no stray lines.
func (s *session) hello() (string, error) {
	s.pause(300 * time.Millisecond)
	if err := s.p.Stray(); err != nil {
		return "", err
	}
	can := s.p.Hello.Can
	for _, verb := range []string{"run", "end", "delete", "output"} {
		if !slices.Contains(can, verb) {
			return "", fmt.Errorf("it can %s: every driver must also %s", strings.Join(can, ", "), verb)
		}
	}
	return s.p.Hello.Source + " can " + strings.Join(can, ", "), nil
}

// clockWithin is how far the clock of a look may be from ours.
const clockWithin = 5 * grid.Second

// looks: two looks with their fields, order and times.
func (s *session) looks() (string, error) {
	var last grid.Time
	words := ""
	for range 2 {
		look, err := s.look()
		if err != nil {
			return "", err
		}
		now := grid.Time(time.Now().UnixMilli())
		switch {
		case look.At.Sub(now) > clockWithin || now.Sub(look.At) > clockWithin:
			return "", fmt.Errorf("the look is of %v, more than %v from now: at is when it was begun, in seconds since 1970", look.At, clockWithin.Words())
		case look.At < last:
			return "", errors.New("the second look is older than the first")
		case look.Source == "":
			return "", errors.New("the look has no source, such as \"flux 0.70\"")
		case !slices.IsSortedFunc(look.Nodes, func(a, b grid.ManagedNode) int { return strings.Compare(a.Name, b.Name) }):
			return "", errors.New("the nodes are not in order of their names")
		case !slices.IsSortedFunc(look.Reservations, func(a, b grid.ManagedReservation) int { return strings.Compare(a.Name, b.Name) }):
			return "", errors.New("the reservations are not in order of their names")
		case !slices.IsSortedFunc(look.Jobs, func(a, b grid.ManagedJob) int { return rank(a) - rank(b) }):
			return "", errors.New("jobs that run do not come first")
		}
		last, words = look.At, fmt.Sprintf("%s, %s", grid.Count(len(look.Nodes), "node"), grid.Count(len(look.Jobs), "job"))
	}
	return words, nil
}

func rank(j grid.ManagedJob) int {
	if j.State == grid.ManagedRunning {
		return 0
	}
	return 1
}

// unknownVerb: denied as invalid, and still alive.
func (s *session) unknownVerb() (string, error) {
	outcome, why := s.command(agents.Command{Verb: "frobnicate", Name: s.name("x")})
	if outcome != agents.Denied || why.Code != grid.Invalid {
		return "", fmt.Errorf("a verb that does not exist is answered by %s %s (%s); must be denied, invalid", outcome, why.Code, why)
	}
	_, err := s.look()
	return "denied, and it goes on", err
}

// deleteNothing: delete of what is not there is done.
func (s *session) deleteNothing() (string, error) {
	if outcome, why := s.command(agents.Command{Verb: agents.Delete, Name: s.name("nothing")}); outcome != agents.Done {
		return "", fmt.Errorf("delete of what is not there is %s (%s); must be done", outcome, why)
	}
	return "done", nil
}

// hostileNames: denied, and without a trace.
func (s *session) hostileNames() (string, error) {
	folder, err := os.MkdirTemp("", "driver-check")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	trace := filepath.Join(folder, "trace")
	for i, evil := range []string{"';touch " + trace + ";'", "$(touch " + trace + ")", "`touch " + trace + "`", "a\nb", "../../" + filepath.Base(folder)} {
		name := s.name(fmt.Sprint(i)) + evil
		for _, c := range []agents.Command{{Verb: agents.Delete}, {Verb: agents.End}, s.job("true")} {
			if c.Verb == agents.Run && !s.Submit {
				continue
			}
			c.Name = name
			if outcome, why := s.command(c); outcome != agents.Denied {
				return "", fmt.Errorf("%s of the name %q is %s (%s); must be denied", c.Verb, name, outcome, why)
			}
		}
	}
	if _, err := os.Stat(trace); err == nil {
		return "", errors.New("a part of a name was run by a shell")
	}
	look, err := s.look()
	if err != nil {
		return "", err
	}
	for _, j := range look.Jobs {
		if strings.ContainsAny(j.Name, "'$`\n/") && strings.HasPrefix(j.Name, s.Driver.Prefix) {
			return "", fmt.Errorf("the look has a job named %q", j.Name)
		}
	}
	return "denied, without a trace", nil
}

// brokenJSON: it answers again, at the latest in its next life.
func (s *session) brokenJSON() (string, error) {
	for _, line := range []string{`{"id":7,"do":`, `[]`, `"x"`, `{"do":"look"}`, "\x00\xff"} {
		if s.p.Write(line) != nil {
			break // it has ended
		}
	}
	if _, err := s.look(); err == nil {
		return "it goes on", nil
	}
	if err := s.again(); err != nil {
		return "", err
	}
	if _, err := s.look(); err != nil {
		return "", fmt.Errorf("after a broken line it does not answer in its next life either: %w", err)
	}
	return "it ends, and goes on in its next life", nil
}

// lookBeside: a look is answered while a command runs.
func (s *session) lookBeside() (string, error) {
	done := make(chan grid.Reason, 1)
	go func() {
		_, why := s.p.Command(s.ctx, agents.Command{Verb: agents.Delete, Name: s.name("nothing")}, s.within(command.CommandLimit))
		done <- why
	}()
	_, err := s.look()
	if why := <-done; why.Refused() && err == nil {
		err = errors.New(why.String())
	}
	return "both are answered", err
}

// endOfInput: it exits in time, and leaves no process behind.
func (s *session) endOfInput() (string, error) {
	p := s.p
	s.p = nil
	inTime, left := p.Close()
	switch {
	case !inTime:
		return "", fmt.Errorf("it has not ended %v after its input", command.EndLimit)
	case left:
		return "", errors.New("it leaves processes behind")
	}
	return "it ends in time and leaves nothing behind", nil
}

func (s *session) look() (*grid.Look, error) {
	return s.p.Look(s.ctx, s.within(command.LookLimit))
}

func (s *session) command(c agents.Command) (agents.Outcome, grid.Reason) {
	return s.p.Command(s.ctx, c, s.within(command.CommandLimit))
}
