// Package estimates says how long a local job will run, where its site does not go by
// what the user requested: by the user's last two runs (Tsafrir, Etsion and Feitelson,
// "Backfilling Using System-Generated Predictions Rather than User Runtime Estimates",
// IEEE TPDS 18, 2007) or by a regression on what is known of the job.
//
// A prediction plans, the request kills: a job that outlives its prediction is given
// another one, up to its request. What has been learned is a value that can be saved and
// loaded; the same runs in the same order give the same predictions on every machine.
// The package reads no clock and does no I/O.
package estimates

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse"
)

// Rule is a way to estimate. The zero Rule is the user's request.
type Rule uint8

// The rules.
const (
	Request    Rule = iota // what the user asked for
	Exact                  // what the job will run, which nobody knows: the best that an estimate can be
	LastTwo                // the mean of the user's last two runs
	Regression             // a linear fit of all runs so far
)

var ruleNames = []string{"request", "exact", "last-two", "regression"}

// Names are those that ParseRule reads.
func Names() []string { return slices.Clone(ruleNames) }

// String is the name that ParseRule reads.
func (r Rule) String() string { return ruleNames[r] }

// ParseRule reads the name of a rule.
func ParseRule(s string) (Rule, error) {
	if i := slices.Index(ruleNames, s); i >= 0 {
		return Rule(i), nil
	}
	return 0, fmt.Errorf("estimates %q: must be %s", s, strings.Join(ruleNames, ", "))
}

// shortest is the least that is predicted.
const shortest = bourse.Second

// most is how many users are remembered; later ones are taken at their word.
const most = 100_000

// Predictor is a rule with what it has learned.
type Predictor struct {
	rule  Rule
	users map[int64]bourse.UserRuns
	fit   fit
}

// New returns a predictor that has learned nothing.
func New(r Rule) *Predictor {
	return &Predictor{rule: r, users: map[int64]bourse.UserRuns{}, fit: newFit()}
}

// Predict says how long a job will run, at submission: from a second to what it may
// run, limit > 0. A user of whom no run is known is taken at their word, a user
// of one run at that.
func (p *Predictor) Predict(j *bourse.LocalJob, limit bourse.Duration) bourse.Duration {
	d := limit
	switch last, known := p.users[j.User]; {
	case p.rule == Exact:
		d = j.Run
	case p.rule == LastTwo && known:
		d = last.Last
		if last.Before > 0 {
			d = last.Last/2 + last.Before/2 + (last.Last&1+last.Before&1)/2
		}
	case p.rule == Regression:
		d = p.fit.predict(p.features(j, limit))
	}
	return min(max(d, shortest), limit)
}

// Learn takes note of how long a job has run, in the order in which jobs end.
func (p *Predictor) Learn(j *bourse.LocalJob, limit, run bourse.Duration) {
	if p.rule < LastTwo {
		return
	}
	run = max(run, 1)
	if p.rule == Regression {
		p.fit.learn(p.features(j, limit), octaves(int64(run)))
	}
	last, known := p.users[j.User]
	if j.User >= 0 && (known || len(p.users) < most) {
		p.users[j.User] = bourse.UserRuns{User: j.User, Last: run, Before: last.Last}
	}
}

// Correct is the next prediction of a job that has outlived one: a minute more at
// first, then a quarter of an hour, and twice as much each time, up to its limit. The
// paper adds in growing steps too; whether in these was not checked against it. first is what was predicted at its submission, now what was last.
func Correct(first, now, limit bourse.Duration) bourse.Duration {
	more := bourse.Minute
	if added := now - first; added > 0 {
		more = added + 14*bourse.Minute
	}
	if now > limit-more {
		return limit
	}
	return now + more
}

// Save is what has been learned, nil if nothing; users in order.
func (p *Predictor) Save() *bourse.LearnedRuns {
	if len(p.users) == 0 && p.fit.runs == 0 {
		return nil
	}
	l := &bourse.LearnedRuns{}
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

// Load begins with what was saved; nil: with nothing. What is of another form is left
// out.
func (p *Predictor) Load(l *bourse.LearnedRuns) {
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
