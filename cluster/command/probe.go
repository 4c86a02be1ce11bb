package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Probe is one life of a driver under test. It asks what a site would ask, and also what a
// site never would.
type Probe struct {
	l     *life
	Hello Hello
}

// Hello is a driver's answer to hello.
type Hello struct {
	Source string
	Can    []string
}

// Begin starts a program and greets it, for a test of it.
func Begin(ctx context.Context, cfg Config) (*Probe, error) {
	l, err := start(cfg)
	if err != nil {
		return nil, err
	}
	hello, err := greet(ctx, l, cfg)
	if err != nil {
		l.kill(err)
		<-l.ended
		return nil, l.reason()
	}
	return &Probe{l: l, Hello: Hello{hello.Source, hello.Can}}, nil
}

// Look asks for a look.
func (p *Probe) Look(ctx context.Context, within time.Duration) (*grid.Look, error) {
	a, err := p.l.ask(ctx, request{Do: "look"}, within)
	if err != nil {
		return nil, err
	}
	return a.readLook()
}

// Command asks for a command, also for one of an unknown verb.
func (p *Probe) Command(ctx context.Context, c agents.Command, within time.Duration) (agents.Outcome, grid.Reason) {
	a, err := p.l.ask(ctx, requestOf(c), within)
	if err != nil {
		return agents.Failure, asReason(err)
	}
	return a.outcome()
}

// Output asks for the end of what work has printed.
func (p *Probe) Output(ctx context.Context, name string, within time.Duration) (string, error) {
	from := int64(-grid.MaxTail)
	a, err := p.l.ask(ctx, request{Do: "output", Name: name, From: &from, Max: grid.MaxTail}, within)
	if err == nil {
		err = a.failed()
	}
	if err != nil {
		return "", err
	}
	return string(a.Data), nil
}

// Write writes a line that need be no request.
func (p *Probe) Write(line string) error {
	p.l.writing.Lock()
	defer p.l.writing.Unlock()
	_, err := fmt.Fprintln(p.l.in, line)
	return err
}

// Send writes the request of a command and waits for no answer.
func (p *Probe) Send(c agents.Command) error {
	r := requestOf(c)
	r.ID = 1 << 40
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return p.Write(string(line))
}

// Ended is closed when the program has ended.
func (p *Probe) Ended() <-chan struct{} { return p.l.ended }

// Why is why it has ended.
func (p *Probe) Why() error { return p.l.reason() }

// Kill kills it at once.
func (p *Probe) Kill() {
	_ = syscall.Kill(-p.l.cmd.Process.Pid, syscall.SIGKILL)
	<-p.l.ended
}

// Close ends its input. It reports whether it ended in time, and whether it left processes of
// its group behind, which are killed.
func (p *Probe) Close() (inTime, left bool) {
	inTime = p.l.end()
	return inTime, p.l.left
}

// Stray is what it wrote that is no answer, or nil.
func (p *Probe) Stray() error {
	select {
	case <-p.l.ended:
		if err := p.l.reason(); strings.Contains(err.Error(), "no answer") {
			return err
		}
	default:
	}
	return nil
}
