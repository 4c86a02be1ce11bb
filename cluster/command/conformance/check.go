// Package conformance checks that a driver does what the protocol of drivers asks, by numbered
// checks against the running program. What a driver says is never believed where a look can
// show it. It follows the list of checks of "Drivers".
package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bourse-grid/bourse/cluster/command"
)

// State is how a check went.
type State string

// The states of a check.
const (
	OK      State = "ok"
	Failed  State = "FAILED"
	Skipped State = "skipped"
)

// Result is one check.
type Result struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	State  State  `json:"state"`
	Words  string `json:"words"` // one sentence
}

// Options say what is checked, and how long an answer may take.
type Options struct {
	Driver command.Config
	Submit bool   // also submit work, and delete it again
	Pilots bool   // also submit pilots, and delete them again
	User   string // as whom it runs
	// Within bounds each answer; 0: the limits of the protocol.
	Within time.Duration
	// Names begins the names of the check; no job of the manager may have them.
	Names string

	only string // the one check that is run after the first; "": all
}

// checks are all checks, in order.
var checks = []struct {
	name  string
	needs func(*Options) string // why it is skipped, or ""
	run   func(*session) (words string, err error)
}{
	{"hello", always, (*session).hello},
	{"looks", always, (*session).looks},
	{"unknown verb", always, (*session).unknownVerb},
	{"delete what is not there", always, (*session).deleteNothing},
	{"hostile names", always, (*session).hostileNames},
	{"broken JSON", always, (*session).brokenJSON},
	{"look beside a command", always, (*session).lookBeside},
	{"end of input", always, (*session).endOfInput},
	{"work", submits, (*session).work},
	{"names that begin alike", submits, (*session).alike},
	{"pilots", pilots, (*session).pilots},
}

func always(*Options) string { return "" }

func submits(o *Options) string {
	if o.Submit {
		return ""
	}
	return "it submits work; ask for it with --submit"
}

func pilots(o *Options) string {
	if o.Pilots {
		return ""
	}
	return "it submits pilots; ask for it with --pilots"
}

// Check runs all checks in order. Once the driver does not even say hello, the others are
// skipped.
func Check(ctx context.Context, o Options) []Result {
	var list []Result
	mute := ""
	for i, c := range checks {
		r := Result{Number: i + 1, Name: c.name}
		why := c.needs(&o)
		switch {
		case mute != "":
			why = mute
		case o.only != "" && i > 0 && c.name != o.only:
			why = "not asked for"
		}
		if why != "" {
			r.State, r.Words = Skipped, why
		} else if words, err := (&session{ctx: ctx, Options: o}).do(c.run); err != nil {
			r.State, r.Words = Failed, err.Error()
			if i == 0 {
				mute = "the driver does not say hello"
			}
		} else {
			r.State, r.Words = OK, words
		}
		list = append(list, r)
	}
	return list
}

// Passed reports whether no check has failed.
func Passed(list []Result) bool {
	return !slices.ContainsFunc(list, func(r Result) bool { return r.State == Failed })
}

// session is one check: a life of the driver, or several.
type session struct {
	Options
	ctx context.Context
	p   *command.Probe
}

// do runs a check with a new life of the driver, and ends it.
func (s *session) do(run func(*session) (string, error)) (string, error) {
	if err := s.begin(); err != nil {
		return "", err
	}
	defer func() {
		if s.p != nil {
			s.p.Close()
		}
	}()
	words, err := run(s)
	if s.p != nil && s.p.Stray() != nil {
		err = s.p.Stray()
	}
	return words, err
}

func (s *session) begin() (err error) {
	s.p, err = command.Begin(s.ctx, s.Driver)
	return err
}

// again ends this life of the driver and begins another.
func (s *session) again() error {
	s.p.Close()
	s.p = nil
	return s.begin()
}

func (s *session) within(usual time.Duration) time.Duration {
	if s.Within > 0 {
		return min(s.Within, usual)
	}
	return usual
}

// pause waits, or until the check is broken off.
func (s *session) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.ctx.Done():
	case <-t.C:
	}
}

// name is a name of the check, of its own each time the program runs.
func (s *session) name(of string) string {
	return fmt.Sprintf("%s%s%s", s.Driver.Prefix, s.Names, of)
}
