// Package estimates predicts how long a local job will run, for sites that do not plan by
// the user's request: from the user's last two runs or by a regression on what is known of
// the job.
//
// The rule tsafrir is that of Tsafrir, Etsion and Feitelson ("Backfilling Using
// System-Generated Predictions Rather than User Runtime Estimates", IEEE TPDS 18, 2007). It
// waits for two runs of a user and corrects in the paper's steps. The rule last-two is our
// own: it begins with the first run, and its corrections double.
//
// A site plans by the prediction and kills by the request. A job that outlives its
// prediction gets another one, up to its request. What has been learned is a value that
// can be saved and loaded. The same runs in the same order give the same predictions on
// every machine. Runs that end at one instant are learned in some order, and the later one
// is then a user's last: that order is the caller's, and it matters (docs/POLICIES.md).
// The package reads no clock and does no I/O.
package estimates

import (
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
)

// Rule is a way to estimate. The zero Rule is the user's request.
type Rule uint8

// The rules.
const (
	Request    Rule = iota // what the user asked for
	Exact                  // what the job will really run, which nobody knows: the best possible estimate
	Tsafrir                // the mean of the user's last two runs, once there are two, corrected as the paper does
	LastTwo                // the same from the first run on, with corrections that double
	Regression             // a linear fit of all runs so far
)

// rules is the table of them.
var rules = names.Table[Rule, struct{}]{Kind: "estimates", Lines: []names.Line[struct{}]{
	Request:    {Name: "request", Means: "what the user asked for"},
	Exact:      {Name: "exact", Means: "what the job will really run, which nobody knows"},
	Tsafrir:    {Name: "tsafrir", Means: "mean of the user's last two runs, as in the paper"},
	LastTwo:    {Name: "last-two", Means: "the same from the first run on, with corrections that double"},
	Regression: {Name: "regression", Means: "a linear fit of all runs so far"},
}}

// Rules returns the rules with what they do.
func Rules() []names.Policy { return rules.Policies() }

// Names are the names that ParseRule reads.
func Names() []string { return rules.Names() }

// String is the name that ParseRule reads.
func (r Rule) String() string { return rules.Name(r) }

// Predicts reports whether plans assume another run time than the user's request.
func (r Rule) Predicts() bool { return r != Request }

// ParseRule reads the name of a rule.
func ParseRule(s string) (Rule, error) { return rules.Parse(s) }

// shortest is the shortest prediction.
const shortest = grid.Second

// most is how many users are remembered; for later ones the request is the prediction.
const most = 100_000

// Predictor is a rule with what it has learned.
type Predictor struct {
	rule  Rule
	users map[int64]facts.UserRuns
	fit   fit
}

// New returns a predictor that has learned nothing.
func New(r Rule) *Predictor {
	return &Predictor{rule: r, users: map[int64]facts.UserRuns{}, fit: newFit()}
}

// Predict predicts at submission how long a job will run: from a second to limit, what it
// may run, above 0. For a user without a known run it is limit under Tsafrir and LastTwo;
// for a user with one run it is limit under Tsafrir, and the run under LastTwo. Under
// Tsafrir the mean is in whole seconds, rounded down: logs and the published simulators of
// the rule have no finer time.
func (p *Predictor) Predict(j *grid.LocalJob, limit grid.Duration) grid.Duration {
	d := limit
	switch last, known := p.users[j.User]; {
	case p.rule == Exact:
		d = j.Run
	case p.rule == Tsafrir && last.Before > 0:
		d = mean(last.Last, last.Before) / grid.Second * grid.Second
	case p.rule == LastTwo && last.Before > 0:
		d = mean(last.Last, last.Before)
	case p.rule == LastTwo && known:
		d = last.Last
	case p.rule == Regression:
		d = p.fit.predict(p.features(j, limit))
	}
	return min(max(d, shortest), limit)
}

// mean is the mean of two runs above 0, rounded down.
func mean(a, b grid.Duration) grid.Duration { return a/2 + b/2 + (a&1+b&1)/2 }

// Learn records how long a job has run. Call it in the order in which jobs end.
func (p *Predictor) Learn(j *grid.LocalJob, limit, run grid.Duration) {
	if p.rule < Tsafrir {
		return
	}
	run = max(run, 1)
	if p.rule == Regression {
		p.fit.learn(p.features(j, limit), octaves(int64(run)))
	}
	last, known := p.users[j.User]
	if j.User >= 0 && (known || len(p.users) < most) {
		p.users[j.User] = facts.UserRuns{User: j.User, Last: run, Before: last.Last}
	}
}

// corrections are how far beyond its first prediction a job is planned that outlives one
// after the other (Tsafrir, Etsion and Feitelson 2007). After the last the job is planned
// for all that it asked for.
var corrections = []grid.Duration{
	grid.Minute, 5 * grid.Minute, 15 * grid.Minute, 30 * grid.Minute,
	grid.Hour, 2 * grid.Hour, 5 * grid.Hour, 10 * grid.Hour, 20 * grid.Hour, 50 * grid.Hour, 100 * grid.Hour,
}

// Correct is the next prediction of a job that has outlived one, up to its limit. first is
// the prediction at submission, now the last one. Under Tsafrir the next is first plus the
// first of the paper's steps that is beyond now. Under the other rules a minute is added at
// first, then fifteen minutes, then twice as much each time.
func (r Rule) Correct(first, now, limit grid.Duration) grid.Duration {
	added, more := now-first, grid.Duration(grid.Minute)
	switch {
	case r == Tsafrir:
		i := slices.IndexFunc(corrections, func(d grid.Duration) bool { return d > added })
		if i < 0 {
			return limit
		}
		more = corrections[i] - added
	case added > 0:
		more = added + 14*grid.Minute
	}
	if now > limit-more {
		return limit
	}
	return now + more
}

// Save returns what has been learned, with users in order; nil if nothing.
func (p *Predictor) Save() *facts.LearnedRuns {
	if len(p.users) == 0 && p.fit.runs == 0 {
		return nil
	}
	l := &facts.LearnedRuns{}
	for _, u := range slices.Sorted(maps.Keys(p.users)) {
		l.Users = append(l.Users, p.users[u])
	}
	if p.fit.runs > 0 {
		l.Runs, l.Weights = p.fit.runs, slices.Clone(p.fit.weights[:])
		for i := range p.fit.spread {
			l.Spread = append(l.Spread, p.fit.spread[i][:]...)
		}
	}
	return l
}

// Load replaces what has been learned by what was saved; nil: by nothing. A regression
// with another number of features is left out.
func (p *Predictor) Load(l *facts.LearnedRuns) {
	*p = *New(p.rule)
	if l == nil {
		return
	}
	for _, u := range l.Users {
		p.users[u.User] = u
	}
	if len(l.Weights) == features && len(l.Spread) == features*features {
		p.fit.runs = l.Runs
		copy(p.fit.weights[:], l.Weights)
		for i := range p.fit.spread {
			copy(p.fit.spread[i][:], l.Spread[i*features:])
		}
	}
}
