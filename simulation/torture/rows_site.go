package torture

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// refusedFor are the rows of a Hold that is refused before anybody is asked for nodes,
// by the reason.
var refusedFor = map[grid.Code]string{
	grid.MinNotice: "S11", grid.Past: "S11", grid.MaxHorizon: "S11", grid.MaxShare: "S11", grid.Cap: "S11", grid.VOShare: "S74",
	grid.TooDear: "S12", grid.Busy: "S12", grid.Stale: "S44", grid.Draining: "S61", grid.NotAllowed: "S63", grid.NoMoney: "S96", grid.NoShare: "S91",
}

// site takes in a step of a site.
func (x *taking) site() {
	x.siteRefusals()
	if _, inventory := x.step.Message.(agents.ClusterLocks); inventory {
		x.take("S60")
	}
	for _, f := range x.step.Facts {
		switch f := f.(type) {
		case facts.LifeSeen:
			x.take("S2")
		case facts.LegMoved:
			x.siteMoved(f)
		case facts.LegShifted:
			x.take("S81")
		case facts.ShiftNoted:
			x.take("S83")
		case facts.NoticeNoted:
			x.take("S56")
		case facts.LegsForgotten:
			x.take("S57")
		case facts.LegRestored:
			x.take("S59", "S102")
		case facts.ShiftOffered:
			x.take("S87")
		case facts.OfferClosed:
			x.take("S89")
		case facts.MaintenanceSet:
			x.take(map[bool]string{true: "S66", false: "S65"}[x.forced[f.Name]])
		case facts.MaintenanceOver:
			x.take("S67")
		}
	}
	switch m := x.step.Message.(type) {
	case agents.Hold:
		x.hold(m)
	case agents.Prepare, agents.Confirm, agents.Cancel, agents.Release:
		x.again(m.(agents.OfLeg).LegID())
	case agents.Answer:
		if m.Verdict == agents.Wait || m.Verdict == agents.Unknown {
			x.takeIf(x.was(m.Leg) == grid.Prepared, "S34")
		}
	case agents.List:
		x.takeIf(x.says(func(m agents.Message) bool { r, ok := m.(agents.Listing); return ok && !r.Refusal.Refused() }), "S58")
	case agents.Reassert:
		x.reassert(m)
	case agents.ClusterStarted:
		l := x.m.legs[m.Leg]
		x.takeIf(l != nil && l.State == grid.Confirmed && len(x.step.Facts) == 0 && x.step.Now < l.What.Start.Add(-2*grid.Second), "S105")
	case agents.OfferRequest:
		x.takeIf(m.Horizon <= x.step.Now && sent[agents.Offers](x), "S117")
		k := heardFrom{x.step.Process, x.step.From}
		x.takeIf(x.waits[k] == m.Cycle && m.Cycle > 0, "S116")
		x.waits[k] = m.Cycle
	case agents.QuoteRequest:
		x.takeIf(m.Together, "S118")
	case agents.Drain, agents.Resume:
		x.take("S62")
	case agents.Close, agents.Open:
		x.take("S64")
	case agents.Maintenance:
		x.forced[m.Name] = m.Force
	case agents.MaintenanceCancel:
		x.take("S67")
	case agents.ClusterDone, agents.ClusterHeld, agents.ClusterLocks:
		for _, s := range x.step.Sends {
			r, ok := s.Message.(agents.ClusterRelease)
			x.takeIf(ok && x.m.legs[r.Leg] == nil, "S120")
		}
	}
	if x.alarm {
		x.siteRepeats()
	}
}

// siteRefusals counts the rows recognised only by the reply.
func (x *taking) siteRefusals() {
	for _, s := range x.step.Sends {
		switch r := s.Message.(type) {
		case agents.Offers:
			delete(x.waits, heardFrom{x.step.Process, s.To})
			switch x.step.Message.(type) {
			case agents.OfferRequest, agents.ClusterLocks: // an answer, or S60
			default:
				x.takeIf(r.Cycle == 0, "S122")
			}
			x.take(map[grid.Code]string{grid.Fenced: "S115", grid.Draining: "S61", grid.NotAllowed: "S63"}[r.Refusal.Code])
		case agents.Listing:
			x.takeIf(r.Refusal.Code == grid.Fenced, "S1")
		case agents.Reasserted:
			switch r.Reason.Code {
			case grid.Invalid, grid.Unknown, grid.Expired:
				x.take("S103")
			case grid.None:
				x.take("S59")
			}
		case agents.Refused:
			x.takeIf(len(r.Instead) > 0, "S84")
			x.siteRefused(r)
		}
	}
}

func (x *taking) siteRefused(r agents.Refused) {
	was := x.was(r.Leg)
	switch r.Reason.Code {
	case grid.Fenced:
		switch {
		case x.m.otherNonce(r.Leg.Tx.Broker, r.Leg.Tx.Incarnation, r.Leg.Tx.Nonce):
			x.take("S1")
		case r.Step == "Hold" || r.Step == "Prepare":
			x.take("S3")
		default:
			x.take("S4")
		}
	case grid.Conflict:
		x.take("S6")
	case grid.QueueFull:
		x.take(map[bool]string{true: "S73", false: "S10"}[x.crowded(r.Leg.Tx.Broker)])
	case grid.Invalid:
		x.take("S72")
	case grid.NoCluster:
		x.take("S17")
	case grid.Withdrawn:
		x.take("S14")
	case grid.Expired:
		x.take("S53")
	case grid.Unknown:
		x.takeIf(r.Step == "Prepare", "S50")
		x.takeIf(r.Step == "Confirm" || r.Step == "Release", "S51")
	case grid.BadState:
		x.takeIf(r.Step == "Cancel", "S45")
		x.takeIf(r.Step != "Cancel" && (was == grid.Asked || was == grid.Held || was == grid.Prepared), "S48")
	}
}

// hold are the rows of a Hold that is new, or comes again.
func (x *taking) hold(h agents.Hold) {
	l := x.m.legs[h.Leg]
	switch {
	case l == nil && !sent[agents.Refused](x):
		x.take("S13")
		if at := (limitKey{x.step.Process, h.Leg}); !x.step.Died {
			x.asked[at] = true
		}
	case l != nil && !l.tomb && !l.State.Terminal() && l.Digest == h.Digest():
		x.take("S5")
	}
}

// again counts the rows of a step that the leg has already seen or passed.
func (x *taking) again(id grid.LegID) {
	l, was := x.m.legs[id], x.was(id)
	over := l != nil && was.Terminal()
	switch x.step.Message.(type) {
	case agents.Prepare:
		x.takeIf(was == grid.Prepared && sent[agents.Prepared](x), "S5")
	case agents.Confirm:
		x.takeIf(len(x.step.Facts) == 0 && sent[agents.Confirmed](x), "S5")
	case agents.Cancel:
		x.takeIf(over && sent[agents.Cancelled](x), "S54")
		for _, f := range x.step.Facts {
			_, tomb := f.(facts.Tombstone)
			x.takeIf(tomb, "S52")
		}
	case agents.Release:
		x.takeIf(over && sent[agents.Released](x), "S54")
		x.takeIf(was == grid.Lost && sent[agents.Degraded](x), "S110")
	}
}

// siteMoved are the rows of a leg that moves.
func (x *taking) siteMoved(f facts.LegMoved) {
	l, was := x.m.legs[f.Leg], x.was(f.Leg)
	message := x.step.Message
	_, answered := message.(agents.Answer)
	delete(x.asked, limitKey{x.step.Process, f.Leg})
	switch f.State {
	case grid.Refused:
		if _, asked := message.(agents.ClusterHeld); asked {
			x.take("S16")
		} else if f.Offer > 0 && (f.Reason.Code == grid.Stale || f.Reason.Code == grid.Expired) {
			x.take("S88")
		} else if row := refusedFor[f.Reason.Code]; row != "" {
			x.take(row)
		}
	case grid.Held:
		x.take("S15")
		x.takeIf(f.What.Work > 0, "S90")
		if f.Flex.Movable(f.What) {
			x.take(map[bool]string{true: "S80", false: "S94"}[x.promises()])
		}
	case grid.LegExpired:
		x.take(map[bool]string{true: "S17", false: "S23"}[l == nil])
	case grid.Cancelled:
		x.takeIf(f.What.Work > 0 && was != grid.Asked, "S92")
		x.take(map[grid.LegState]string{grid.Asked: "S18", grid.Held: "S22", grid.Prepared: "S31"}[was])
		x.takeIf(answered, "S33")
	case grid.Prepared:
		x.take("S20")
	case grid.Confirmed:
		x.take(map[grid.LegState]string{grid.Held: "S21", grid.Prepared: "S30"}[was])
		x.takeIf(answered, "S33")
		if f.Replaces != (grid.LegID{}) {
			x.take("S43")
			x.takeIf(f.Offer > 0, "S88")
			x.takeIf(f.Kept > 0, "S121")
			old := x.m.legs[f.Replaces]
			x.takeIf(old != nil && old.What == f.What && old.Flex != f.Flex, "S86")
		}
	case grid.Heuristic:
		x.take("S35")
	case grid.Lost:
		x.take(map[grid.LegState]string{grid.Held: "S24", grid.Prepared: "S36", grid.Confirmed: "S42", grid.Running: "S42"}[was])
		x.takeIf(f.Reason.Code == grid.Early, "S106")
		if m, inventory := message.(agents.ClusterLocks); inventory {
			x.takeIf(slices.ContainsFunc(m.Locks, func(k agents.ClusterLock) bool { return k.Leg == f.Leg && !k.Lost }), "S123")
		}
	case grid.Running:
		x.take("S40")
	case grid.Released:
		x.takeIf(sent[agents.Released](x), "S41")
		x.takeIf(l != nil && l.Kept > 0, "S121")
		x.takeIf(f.What.Work > 0, "S92")
	case grid.Settled:
		x.take("S46")
	}
}

// reassert are the rows of an assertion that is not believed.
func (x *taking) reassert(m agents.Reassert) {
	for _, s := range x.step.Sends {
		r, ok := s.Message.(agents.Reasserted)
		if !ok || r.Reason.Code != grid.Unproven {
			continue
		}
		key := x.c.siteConfig(x.step.ID).Key
		x.take(map[bool]string{true: "S101", false: "S100"}[key.Proves(&m.Leg)])
	}
}

// siteRepeats counts the rows of messages that an alarm repeats.
func (x *taking) siteRepeats() {
	for _, s := range x.step.Sends {
		switch m := s.Message.(type) {
		case agents.Inquire:
			x.take("S32")
		case agents.Heuristic, agents.Degraded, agents.Settled:
			x.takeIf(x.was(m.(agents.OfLeg).LegID()).Terminal(), "S55")
		case agents.Shifted:
			x.takeIf(len(x.step.Facts) == 0, "S82")
		case agents.ShiftOffer:
			x.takeIf(len(x.step.Facts) == 0, "S89")
		}
	}
}

// crowded reports whether half of what a site may remember belongs to one broker, or all of
// it is in use.
func (x *taking) crowded(broker string) bool {
	most, of := x.c.siteConfig(x.step.ID).MaxKept, 0
	for id := range x.m.legs {
		if id.Tx.Broker == broker {
			of++
		}
	}
	return most > 0 && (len(x.m.legs) >= most || 2*of >= most)
}

// promises reports whether the step is of a site whose cluster makes promises.
func (x *taking) promises() bool { return x.c.siteConfig(x.step.ID).Promises != nil }
