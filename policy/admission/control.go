package admission

import (
	"fmt"
	"slices"
	"strings"
)

// Control says which jobs are taken, and how nodes serve them.
type Control uint8

const (
	// Libra accepts a job on time-shared nodes whose shares, including the new one, sum to
	// at most 1: the fullest such nodes first.
	Libra Control = iota
	// LibraRisk accepts a job on the first time-shared nodes without risk: those whose
	// shares sum to at most 1, and empty ones even if the estimate lies beyond the
	// deadline. It is the paper's rule except where all tasks of a node would be equally
	// late; see LibraRiskSigma.
	LibraRisk
	// LibraRiskSigma is LibraRisk exactly as printed: a node is without risk if the
	// standard deviation of the deadline delays predicted there is 0. It costs some ten
	// times as much. It differs from LibraRisk only if all tasks of a node have the same
	// remaining deadline, none is past its estimate, and the shares sum to more than 1. All
	// tasks are then equally late, and it accepts one more.
	LibraRiskSigma
	// EDF runs one task at a time on a node. The job with the earliest deadline waits until
	// enough nodes are free, and the others wait behind it. Then it starts, or is dropped
	// if its estimate does not fit before its deadline.
	EDF
	// EDFOpen is EDF that drops nothing.
	EDFOpen
)

var controlNames = [...]string{"libra", "librarisk", "librarisk-sigma", "edf", "edf-open"}

// ParseControl reads the name of a control; any other text is an error.
func ParseControl(s string) (Control, error) {
	if i := slices.Index(controlNames[:], s); i >= 0 {
		return Control(i), nil
	}
	return 0, fmt.Errorf("admission control %q is unknown; the controls are %s", s, strings.Join(controlNames[:], ", "))
}

// String returns the name that ParseControl reads.
func (c Control) String() string { return controlNames[c] }

// TimeShared reports whether nodes run several tasks at once.
func (c Control) TimeShared() bool { return c < EDF }
