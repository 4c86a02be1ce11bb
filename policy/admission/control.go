package admission

import (
	"fmt"
	"slices"
	"strings"
)

// Control says which jobs are taken, and how nodes serve them.
type Control uint8

const (
	// Libra takes a job onto time-shared nodes whose shares, the new one
	// included, are at most 1 in sum: the fullest such nodes first.
	Libra Control = iota
	// LibraRisk takes a job onto the first time-shared nodes without risk: those
	// whose shares are at most 1 in sum, and empty ones even if the estimate lies
	// beyond the deadline. It is the paper's rule but where all tasks of a node
	// would be late alike; see LibraRiskSigma.
	LibraRisk
	// LibraRiskSigma is LibraRisk by the letter: a node is without risk if the
	// deadline delays that are predicted there have a standard deviation of 0. It
	// costs some ten times as much. It differs from LibraRisk exactly where all
	// tasks of a node have one remaining deadline, none is past its estimate, and
	// the shares are above 1 in sum: then all are late alike, and it takes one more.
	LibraRiskSigma
	// EDF runs one task at a time on a node. The job with the earliest deadline
	// waits until enough nodes are free, and the others behind it; then it starts,
	// or is dropped if its estimate does not fit before its deadline.
	EDF
	// EDFOpen is EDF that drops nothing.
	EDFOpen
)

var controlNames = [...]string{"libra", "librarisk", "librarisk-sigma", "edf", "edf-open"}

// ParseControl reads the name of a control.
func ParseControl(s string) (Control, error) {
	if i := slices.Index(controlNames[:], s); i >= 0 {
		return Control(i), nil
	}
	return 0, fmt.Errorf("admission control %q is unknown; the controls are %s", s, strings.Join(controlNames[:], ", "))
}

// String is the name that ParseControl reads.
func (c Control) String() string { return controlNames[c] }

// TimeShared reports whether nodes run several tasks at once.
func (c Control) TimeShared() bool { return c < EDF }
