package torture

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// Report sums up many runs.
type Report struct {
	Seeds        int            `json:"seeds"`
	Transactions int            `json:"transactions"` // tries decided
	Committed    int            `json:"committed"`
	Faults       map[string]int `json:"faults"` // that took effect, by kind
	Rows         map[string]int `json:"rows"`   // of docs/TRANSACTION.md, how often each was taken
	Violations   []Violation    `json:"violations"`

	flags string // see NewReport
}

// Violation is a run that broke an invariant.
type Violation struct {
	Seed      uint64   `json:"seed"`
	Invariant string   `json:"invariant"` // I1 to I33, a row such as S32, or panic
	Detail    string   `json:"detail"`
	Command   string   `json:"command"`          // replays it
	Faults    []string `json:"faults,omitempty"` // that are enough to break it
}

// NewReport returns a report of no runs. flags are those that a run has to be
// given again to be the same, with a space before each: what replays a violation
// ends with them.
func NewReport(flags string) *Report {
	r := &Report{Faults: map[string]int{}, Rows: map[string]int{}, Violations: []Violation{}, flags: flags}
	for _, k := range Kinds() {
		r.Faults[string(k)] = 0
	}
	return r
}

// Add takes in the result of a run.
func (r *Report) Add(x Result) {
	r.Seeds++
	r.Transactions += x.Transactions
	r.Committed += x.Committed
	for k, n := range x.Struck {
		r.Faults[string(k)] += n
	}
	for row, n := range x.Rows {
		r.Rows[row] += n
	}
	if x.Broken != nil {
		r.Violations = append(r.Violations, Violation{Seed: x.Seed, Invariant: Invariant(x.Broken), Detail: x.Broken.Error(),
			Command: fmt.Sprintf("bourse torture --start %d --seeds 1%s", x.Seed, r.flags)})
	}
}

// Injected is how many faults took effect in all.
func (r *Report) Injected() int {
	sum := 0
	for _, n := range r.Faults {
		sum += n
	}
	return sum
}

// Explain finds out, in a limited number of runs, which of a run's faults are enough for
// the violation, and adds them to it.
func (v *Violation) Explain(runs int, kinds []sim.Kind) {
	v.Faults = []string{}
	for _, f := range Shrink(v.Seed, world.Faults(v.Seed, kinds...), v.Invariant, runs) {
		v.Faults = append(v.Faults, f.String())
	}
}

// Invariant returns the name of the invariant that an error violates.
func Invariant(err error) string {
	name, _, _ := strings.Cut(err.Error(), ":")
	if name == "panic" || len(name) < 5 && name != "" && strings.Contains("ISB", name[:1]) {
		return name
	}
	return "other"
}

// ParseFaults reads faults, one a line; empty lines and what follows a # are
// left out. An error names the line.
func ParseFaults(text string) ([]sim.Fault, error) {
	list := []sim.Fault{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		f, err := sim.ParseFault(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		list = append(list, f)
	}
	return list, nil
}
