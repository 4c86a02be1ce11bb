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

// The checks that submit work, and delete it again.

// job is a run of a shell's command for two minutes from now. Its name and nodes are the
// caller's.
func (s *session) job(shell string) agents.Command {
	now := grid.Time(time.Now().UnixMilli())
	return agents.Command{Verb: agents.Run, Start: now, End: now.Add(2 * grid.Minute), User: s.User, Site: "check",
		Work: &grid.Handover{Job: "check", Legs: 1, Work: grid.Work{Command: []string{"sh", "-c", shell}}}}
}

// node is one that is up and idle, but for some. One may be about to be: it is waited for.
func (s *session) node(but ...string) ([]string, error) {
	for until := time.Now().Add(s.within(endWithin)); ; s.pause(200 * time.Millisecond) {
		look, err := s.look()
		if err != nil {
			return nil, err
		}
		for _, n := range look.Nodes {
			if n.State == grid.NodeUp && n.Busy == 0 && !slices.Contains(but, n.Name) {
				return []string{n.Name}, nil
			}
		}
		if time.Now().After(until) {
			return nil, errors.New("too few nodes are up and idle for this check")
		}
	}
}

// submit runs a command under a name, on an idle node but some, and finds it in a look that is begun
// afterwards.
func (s *session) submit(name, shell string, but ...string) (grid.ManagedJob, agents.Command, error) {
	c := s.job(shell)
	c.Name = name
	nodes, err := s.node(but...)
	if err != nil {
		return grid.ManagedJob{}, c, err
	}
	c.Nodes = nodes
	if outcome, why := s.command(c); outcome != agents.Done {
		return grid.ManagedJob{}, c, fmt.Errorf("run is %s (%s)", outcome, why)
	}
	list, err := s.named(name)
	switch {
	case err != nil:
		return grid.ManagedJob{}, c, err
	case len(list) == 0:
		return grid.ManagedJob{}, c, errors.New("run is done, but a later look has no such job: done comes after the manager has it, and no look leaves a job out")
	case len(list) > 1:
		return grid.ManagedJob{}, c, fmt.Errorf("one run has made %d jobs of the name", len(list))
	case list[0].Submit == 0 || list[0].User != s.User:
		return grid.ManagedJob{}, c, fmt.Errorf("the look shows it with user %q and submit time %v; must be %q, and the time", list[0].User, list[0].Submit, s.User)
	}
	return list[0], c, nil
}

// named lists the jobs of a name.
func (s *session) named(name string) (list []grid.ManagedJob, err error) {
	look, err := s.look()
	if err != nil {
		return nil, err
	}
	for _, j := range look.Jobs {
		if j.Name == name {
			list = append(list, j)
		}
	}
	return list, nil
}

// endWithin is how long the checks wait for work to end.
const endWithin = 60 * time.Second

// ends waits until a job has ended.
func (s *session) ends(name string) (grid.ManagedJob, error) {
	for until := time.Now().Add(endWithin); ; s.pause(200 * time.Millisecond) {
		list, err := s.named(name)
		switch {
		case err != nil:
			return grid.ManagedJob{}, err
		case len(list) != 1:
			return grid.ManagedJob{}, fmt.Errorf("%d jobs of the name are there; must be one, shown until it is deleted", len(list))
		case list[0].State == grid.ManagedEnded:
			return list[0], nil
		case time.Now().After(until) || s.ctx.Err() != nil:
			return grid.ManagedJob{}, fmt.Errorf("it is %s after %v; must have ended", list[0].State, endWithin)
		}
	}
}

// remove deletes what a check has made.
func (s *session) remove(names ...string) {
	for _, n := range names {
		_, _ = s.command(agents.Command{Verb: agents.Delete, Name: n})
	}
}

// work: one job of a name, its exit and output, SIGTERM first, and one or none if the driver
// is killed.
func (s *session) work() (string, error) {
	for _, part := range []struct {
		what string
		do   func(name string) error
	}{{"run twice", s.twice}, {"next life", s.nextLife}, {"exit", s.exits}, {"end", s.told}, {"killed", s.killed}} {
		name := s.name(strings.ReplaceAll(part.what, " ", "-"))
		err := part.do(name)
		if s.p != nil {
			s.remove(name)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return "one job of a name, its exit and output, SIGTERM first, one or none when the driver is killed", nil
}

// twice: run again makes no second job, and what it prints can be read.
func (s *session) twice(name string) error {
	_, c, err := s.submit(name, "echo hello; sleep 1")
	if err != nil {
		return err
	}
	if outcome, why := s.command(c); outcome == agents.Failure {
		return fmt.Errorf("run again is a failure: %s", why)
	}
	j, err := s.ends(name)
	if err != nil {
		return err
	}
	if j.Exit != 0 || j.Signal != 0 {
		return fmt.Errorf("the look shows exit %d, signal %d; must be 0, 0", j.Exit, j.Signal)
	}
	if out, err := s.p.Output(s.ctx, name, s.within(endWithin)); err != nil || out != "hello\n" {
		return fmt.Errorf("its output is %q (%v); must be %q", out, err, "hello\n")
	}
	return nil
}

// nextLife: a driver remembers nothing; its next life finds the job by its name.
func (s *session) nextLife(name string) error {
	before, c, err := s.submit(name, "sleep 2")
	if err != nil {
		return err
	}
	if err := s.again(); err != nil {
		return err
	}
	list, err := s.named(name)
	if err != nil {
		return err
	}
	if len(list) != 1 || list[0].Number != before.Number {
		return fmt.Errorf("its next life shows %d jobs of the name; must be job %s: it reads all from the manager", len(list), before.Number)
	}
	if outcome, why := s.command(c); outcome == agents.Failure {
		return fmt.Errorf("run again in the next life is a failure: %s", why)
	}
	_, err = s.ends(name)
	return err
}

// exits: a status that is not 0 comes back.
func (s *session) exits(name string) error {
	if _, _, err := s.submit(name, "exit 3"); err != nil {
		return err
	}
	j, err := s.ends(name)
	if err == nil && j.Exit != 3 {
		err = fmt.Errorf("the look shows exit %d of work that exits with 3", j.Exit)
	}
	return err
}

// told: end sends SIGTERM first.
func (s *session) told(name string) error {
	if _, _, err := s.submit(name, `trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 0.1; done`); err != nil {
		return err
	}
	for until := time.Now().Add(endWithin); ; s.pause(200 * time.Millisecond) {
		if out, err := s.p.Output(s.ctx, name, s.within(endWithin)); err == nil && strings.Contains(out, "ready") {
			break
		}
		if time.Now().After(until) || s.ctx.Err() != nil {
			return errors.New("it has printed nothing")
		}
	}
	if outcome, why := s.command(agents.Command{Verb: agents.End, Name: name}); outcome != agents.Done {
		return fmt.Errorf("end is %s (%s)", outcome, why)
	}
	if _, err := s.ends(name); err != nil {
		return err
	}
	if out, err := s.p.Output(s.ctx, name, s.within(endWithin)); err != nil || !strings.Contains(out, "told") {
		return fmt.Errorf("it was ended without SIGTERM: its output is %q (%v)", out, err)
	}
	return nil
}

// killed: of a run in which the driver is killed, one job comes or none, and never two.
func (s *session) killed(name string) error {
	c := s.job("sleep 1")
	c.Name = name
	var err error
	if c.Nodes, err = s.node(); err != nil {
		return err
	}
	if err := s.p.Send(c); err != nil {
		return err
	}
	s.pause(20 * time.Millisecond)
	s.p.Kill()
	s.p = nil
	if err := s.begin(); err != nil {
		return err
	}
	if outcome, why := s.command(c); outcome == agents.Failure {
		return fmt.Errorf("run again after a kill is a failure: %s", why)
	}
	s.pause(time.Second) // what the first may still have begun
	list, err := s.named(name)
	if err == nil && len(list) > 1 {
		err = fmt.Errorf("%d jobs of the name are there; must be one or none", len(list))
	}
	return err
}

// alike: delete takes no job of another name that begins alike.
func (s *session) alike() (string, error) {
	short := s.name("alike")
	long := short + "x"
	defer func() {
		if s.p != nil {
			s.remove(short, long)
		}
	}()
	_, other, err := s.submit(long, "sleep 60")
	if err != nil {
		return "", err
	}
	if _, _, err := s.submit(short, "sleep 60", other.Nodes...); err != nil {
		return "", err
	}
	if outcome, why := s.command(agents.Command{Verb: agents.Delete, Name: short}); outcome == agents.Denied {
		return "", fmt.Errorf("delete is %s (%s)", outcome, why)
	}
	list, err := s.named(long)
	if err != nil {
		return "", err
	}
	if len(list) != 1 || list[0].State != grid.ManagedRunning && list[0].State != grid.ManagedPending {
		return "", fmt.Errorf("after delete of %s, job %s does not run any more", short, long)
	}
	return "the other goes on", nil
}
