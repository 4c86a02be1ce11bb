package admission

import "github.com/bourse-grid/bourse/policy/names"

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

type controlIs struct {
	timeShared bool // nodes run several tasks at once
}

// controls is the table of them. How each picks nodes is in Shares and Queue.
var controls = names.Table[Control, controlIs]{Kind: "admission control", Lines: []names.Line[controlIs]{
	Libra:          {Name: "libra", Means: "takes a job if on enough nodes the required shares stay within the node", Is: controlIs{true}},
	LibraRisk:      {Name: "librarisk", Means: "as libra, or alone on an empty node even if it looks late", Is: controlIs{true}},
	LibraRiskSigma: {Name: "librarisk-sigma", Means: "librarisk exactly as printed in the paper", Is: controlIs{true}},
	EDF:            {Name: "edf", Means: "one task on a node, the earliest deadline first; drops what its estimate shows to be late"},
	EDFOpen:        {Name: "edf-open", Means: "edf that drops nothing"},
}}

// ParseControl reads the name of a control; any other text is an error.
func ParseControl(s string) (Control, error) { return controls.Parse(s) }

// Controls returns the controls with what they do.
func Controls() []names.Policy { return controls.Policies() }

// String returns the name that ParseControl reads.
func (c Control) String() string { return controls.Name(c) }

// TimeShared reports whether nodes run several tasks at once.
func (c Control) TimeShared() bool { return controls.Is(c).timeShared }
