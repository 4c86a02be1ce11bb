package sla

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// SLA is what a user asks a site to promise. It never changes by itself; its owner may
// agree to a shift (see Shift).
type SLA struct {
	ID       int64        `json:"id"` // unique among what a schedule holds
	Submit   grid.Time    `json:"submit"`
	Sizes    []Size       `json:"sizes"` // Rmin..Rmax with their runtimes; one for a rigid job
	Ready    grid.Time    `json:"ready"` // Tr: it does not start earlier
	Deadline grid.Time    `json:"deadline"`
	Budget   grid.Credits `json:"budget"` // B: the most that it may cost; NoBudget: any price
	// Fix is x in thousandths: after that share of the wait from Submit to the slot, the
	// window closes to the slot. 0: when it is accepted; NeverFix: never.
	Fix int `json:"fix"`
	// Threshold is the largest |phi| of an alternative that the user would consider, in
	// thousandths; 0: none.
	Threshold int `json:"threshold,omitempty"`
	// Earlier leaves out alternatives that begin after the window.
	Earlier bool `json:"earlier,omitempty"`
}

const (
	// NeverFix leaves the window open until the job starts.
	NeverFix = -1
	// NoBudget is a budget that covers every price.
	NoBudget = grid.MaxCredits
	// MaxPhi bounds every phi: a hundred times the runtime, in thousandths.
	MaxPhi = 100_000
)

// Strict is an SLA for exactly [start, start + runtime).
func Strict(id int64, submit grid.Time, z Size, start grid.Time) SLA {
	return Flexible(id, submit, z, start, start.Add(z.Runtime))
}

// ByDeadline is an SLA that may start at once and must end by the deadline.
func ByDeadline(id int64, submit grid.Time, z Size, deadline grid.Time) SLA {
	return Flexible(id, submit, z, submit, deadline)
}

// Flexible is an SLA for any slot between ready and deadline.
func Flexible(id int64, submit grid.Time, z Size, ready, deadline grid.Time) SLA {
	return SLA{ID: id, Submit: submit, Sizes: []Size{z}, Ready: ready, Deadline: deadline, Budget: NoBudget, Fix: NeverFix}
}

// ForLeg is the SLA of a leg that is requested now: a strict one, unless w leaves its site
// a choice.
func ForLeg(id int64, now grid.Time, l grid.Leg, w grid.Flex) SLA {
	z := Size{Nodes: l.Nodes, Runtime: l.Duration()}
	a := Strict(id, now, z, l.Start)
	if w.Movable(l) {
		a = Flexible(id, now, z, w.Ready, w.Due)
	}
	if w.Fix > 0 {
		a.Fix = min(w.Fix, 1000)
	}
	a.Threshold = min(w.Phi, MaxPhi)
	return a
}

// Check says what of the SLA makes no sense at any site. The error names the figures and
// what would be right.
func (a *SLA) Check() error {
	if err := checkSizes(a.Sizes); err != nil {
		return err
	}
	for _, t := range []struct {
		name string
		at   grid.Time
	}{{"submit", a.Submit}, {"ready", a.Ready}, {"deadline", a.Deadline}} {
		if t.at < -grid.MaxTime || t.at > grid.MaxTime {
			return fmt.Errorf("%s %v: must be a time between %v and %v", t.name, t.at, -grid.MaxTime, grid.MaxTime)
		}
	}
	quickest := a.Sizes[len(a.Sizes)-1].Runtime // runtimes do not grow with the nodes
	switch {
	case a.Deadline < a.Ready.Add(quickest):
		return fmt.Errorf("deadline %v is before ready %v + runtime %v = %v", a.Deadline, a.Ready, quickest, a.Ready.Add(quickest))
	case a.Budget < 0:
		return fmt.Errorf("budget %v: must be 0 or more", a.Budget)
	case a.Fix != NeverFix && (a.Fix < 0 || a.Fix > 1000):
		return fmt.Errorf("fix = %v: must be a share of the wait between 0 and 1, or -0.001 for never", grid.Performance(a.Fix))
	case a.Threshold < 0 || a.Threshold > MaxPhi:
		return fmt.Errorf("alternatives = %v: must be a threshold of phi between 0 and %v", grid.Performance(a.Threshold), grid.Performance(MaxPhi))
	}
	return nil
}

// Promise is an accepted SLA as it stands.
type Promise struct {
	SLA     SLA          `json:"sla"`     // as submitted
	Version int          `json:"version"` // from 1; one more with each change that the parties agreed on
	Ready   grid.Time    `json:"ready"`   // the window as it stands: agreed, or fixed
	Due     grid.Time    `json:"due"`     // its deadline
	Size    Size         `json:"size"`    // one of the SLA's
	Start   grid.Time    `json:"start"`   // the slot; may still change within the window
	Price   grid.Credits `json:"price"`   // C, with all surcharges, discounts and compensations so far
	Fixed   bool         `json:"fixed"`   // the window has closed to the slot
	Running bool         `json:"running"`
}

// End is the end of the slot.
func (p *Promise) End() grid.Time { return p.Start.Add(p.Size.Runtime) }
