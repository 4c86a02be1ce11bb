package grid

import (
	"fmt"
	"strings"
)

// Goal is what a plan minimises, for a batch or for one job. The zero Goal is none: the
// broker's goal applies.
type Goal uint8

// The goals.
const (
	NoGoal     Goal = iota
	GoalValue       // cost + urgency x (end - ready)
	GoalCost        // credits
	GoalFinish      // the end
	GoalTime        // the length of windows
)

var goalNames = [...]string{NoGoal: "", GoalValue: "value", GoalCost: "cost", GoalFinish: "finish", GoalTime: "time"}

// Goals are the names of the goals.
func Goals() []string { return goalNames[GoalValue:] }

// String is the goal's name, "" of NoGoal.
func (g Goal) String() string { return goalNames[g] }

// ParseGoal reads "value", "cost", "finish" or "time".
func ParseGoal(s string) (Goal, error) {
	for g := GoalValue; int(g) < len(goalNames); g++ {
		if s == goalNames[g] {
			return g, nil
		}
	}
	return NoGoal, fmt.Errorf("goal %q is unknown; must be value, cost, finish or time", s)
}

// MarshalText writes the goal's name.
func (g Goal) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads a goal's name, or nothing as NoGoal.
func (g *Goal) UnmarshalText(text []byte) (err error) {
	if *g = NoGoal; len(text) > 0 {
		*g, err = ParseGoal(string(text))
	}
	return err
}

// Urgency is what it is worth to a job's owner that the job ends an hour sooner: an amount
// of credits, or a share of the job's budget. The zero Urgency is none: the broker's urgency
// applies.
type Urgency int64 // micro-credits an hour + 1, or -1 - millionths of the budget an hour

// The bounds on an urgency: 10^9 credits an hour, ten times the budget an hour.
const (
	MaxUrgency      = 1_000_000_000 * Credit
	maxUrgencyShare = 10_000_000
)

// Hourly is an urgency of c credits an hour, which must be 0..MaxUrgency.
func Hourly(c Credits) Urgency { return Urgency(c + 1) }

// DefaultUrgency is 11 % of a job's budget an hour. Measured: on the default scenario
// jobs then end no later than by first alternatives, for less, and more of them are
// placed; from 12 % on they cost as much, below 10 % they end later.
func DefaultUrgency() Urgency { return -1 - 110_000 }

// Sound reports whether it is one that ParseUrgency could have read, or none.
func (u Urgency) Sound() bool { return u >= -1-maxUrgencyShare && u <= Urgency(MaxUrgency)+1 }

// Else is the urgency or, if it is none, other.
func (u Urgency) Else(other Urgency) Urgency {
	if u != 0 {
		return u
	}
	return other
}

// Of is what an hour is worth to a job with that budget, in credits, at most
// MaxUrgency.
func (u Urgency) Of(budget Credits) Credits {
	switch {
	case u > 0:
		return Credits(u - 1)
	case u < 0:
		return min(MaxUrgency, Credits(MulDiv(int64(budget), int64(-1-u), 1_000_000)))
	}
	return 0
}

// ParseUrgency reads credits an hour, 0 to 10^9, or a share of the budget an hour
// as a percentage, "0%" to "1000%".
func ParseUrgency(s string) (Urgency, error) {
	if number, percent := strings.CutSuffix(s, "%"); percent {
		v, err := parseDecimal(strings.TrimSpace(number), 4)
		if err != nil || v < 0 || v > maxUrgencyShare {
			return 0, fmt.Errorf("urgency %q is outside 0%%..1000%% of the budget an hour", s)
		}
		return Urgency(-1 - v), nil
	}
	v, err := parseDecimal(s, 6)
	if err != nil || v < 0 || Credits(v) > MaxUrgency {
		return 0, fmt.Errorf("urgency %q is outside 0..1000000000 credits an hour; a share of the budget is written \"5%%\"", s)
	}
	return Hourly(Credits(v)), nil
}

// String is the urgency as ParseUrgency reads it; "" of none.
func (u Urgency) String() string {
	switch {
	case u > 0:
		return Credits(u - 1).String()
	case u < 0:
		return formatDecimal(int64(-1-u), 4) + "%"
	}
	return ""
}

// MarshalText writes the urgency as ParseUrgency reads it.
func (u Urgency) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText is ParseUrgency; nothing is none.
func (u *Urgency) UnmarshalText(text []byte) (err error) {
	if *u = 0; len(text) > 0 {
		*u, err = ParseUrgency(string(text))
	}
	return err
}

// UnmarshalTOML reads an urgency from a file: a number or a string.
func (u *Urgency) UnmarshalTOML(v any) (err error) {
	*u, err = ParseUrgency(fmt.Sprint(v))
	return err
}
