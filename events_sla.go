package bourse

// The facts of legs that leave their site a choice: service level agreements.
// Without flexible legs none of them is recorded.
type (
	// LegShifted says that a site has moved a flexible leg within its window, or
	// that the window has closed to where the leg stands: of the site, which
	// decides it, and of the broker, which has heard of it.
	LegShifted struct {
		Leg   LegID  `json:"leg"`
		Start Time   `json:"start"`
		End   Time   `json:"end"`
		Turn  uint32 `json:"turn"` // counts them, from 1
		Fixed bool   `json:"fixed,omitempty"`
	}
	// ShiftNoted says that a broker has acknowledged a LegShifted and those before.
	ShiftNoted struct {
		Leg  LegID  `json:"leg"`
		Turn uint32 `json:"turn"`
	}
	// NodesMoved says that a cluster has moved what it keeps for a leg, or that it
	// stays where it is from now on.
	NodesMoved struct {
		Leg   LegID  `json:"leg"`
		Start Time   `json:"start"`
		End   Time   `json:"end"`
		Turn  uint32 `json:"turn"` // counts them, from 1
		Fixed bool   `json:"fixed,omitempty"`
		When  Time   `json:"when,omitempty"` // if it is recorded later
	}
	// JobPromised says which slot a durable cluster has promised a local job, within
	// which window: when it is taken, and each time it is moved or fixed.
	JobPromised struct {
		Group string   `json:"group"`
		Job   LocalJob `json:"job"`
		Start Time     `json:"start"`
		Ready Time     `json:"ready"`
		Due   Time     `json:"due"`
		Fix   int      `json:"fix,omitempty"`  // x, in thousandths of the wait; 0: when it starts
		When  Time     `json:"when,omitempty"` // if it is recorded later
	}
)

// Kind names the fact.
func (LegShifted) Kind() string  { return "leg-shifted" }
func (ShiftNoted) Kind() string  { return "shift-noted" }
func (NodesMoved) Kind() string  { return "nodes-moved" }
func (JobPromised) Kind() string { return "job-promised" }
