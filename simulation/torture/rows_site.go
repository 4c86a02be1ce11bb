package torture

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// refusedFor are the rows of a Hold that is refused before anybody is asked for nodes,
// by the reason.
var refusedFor = map[bourse.Code]string{
	bourse.MinNotice: "S11", bourse.Past: "S11", bourse.MaxHorizon: "S11", bourse.MaxShare: "S11", bourse.Cap: "S11", bourse.VOShare: "S74",
	bourse.TooDear: "S12", bourse.Busy: "S12", bourse.Stale: "S44", bourse.Draining: "S61", bourse.NotAllowed: "S63", bourse.NoMoney: "S96", bourse.NoShare: "S91",
}

// site takes in a step of a site.
func (x *taking) site() {
	x.siteRefusals()
	if _, inventory := x.step.Message.(agents.ClusterLocks); inventory {
		x.take("S60")
	}
	for _, f := range x.step.Facts {
		switch f := f.(type) {
		case bourse.LifeSeen:
			x.take("S2")
		case bourse.LegMoved:
			x.siteMoved(f)
		case bourse.LegShifted:
			x.take("S81")
		case bourse.ShiftNoted:
			x.take("S83")
		case bourse.NoticeNoted:
			x.take("S56")
		case bourse.LegsForgotten:
			x.take("S57")
		case bourse.LegRestored:
			x.take("S59", "S102")
		case bourse.ShiftOffered:
			x.take("S87")
		case bourse.OfferClosed:
			x.take("S89")
		case bourse.MaintenanceSet:
			x.take(map[bool]string{true: "S66", false: "S65"}[x.forced[f.Name]])
		case bourse.MaintenanceOver:
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
			x.takeIf(x.was(m.Leg) == bourse.Prepared, "S34")
		}
	case agents.List:
		x.takeIf(x.says(func(m agents.Message) bool { r, ok := m.(agents.Listing); return ok && !r.Refusal.Refused() }), "S58")
	case agents.Reassert:
		x.reassert(m)
	case agents.ClusterStarted:
		l := x.m.legs[m.Leg]
		x.takeIf(l != nil && l.State == bourse.Confirmed && len(x.step.Facts) == 0 && x.step.Now < l.What.Start.Add(-2*bourse.Second), "S105")
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
			x.take(map[bourse.Code]string{bourse.Fenced: "S115", bourse.Draining: "S61", bourse.NotAllowed: "S63"}[r.Refusal.Code])
		case agents.Listing:
			x.takeIf(r.Refusal.Code == bourse.Fenced, "S1")
		case agents.Reasserted:
			switch r.Reason.Code {
			case bourse.Invalid, bourse.Unknown, bourse.Expired:
				x.take("S103")
			case bourse.None:
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
	case bourse.Fenced:
		switch {
		case x.m.otherNonce(r.Leg.Tx.Broker, r.Leg.Tx.Incarnation, r.Leg.Tx.Nonce):
			x.take("S1")
		case r.Step == "Hold" || r.Step == "Prepare":
			x.take("S3")
		default:
			x.take("S4")
		}
	case bourse.Conflict:
		x.take("S6")
	case bourse.QueueFull:
		x.take(map[bool]string{true: "S73", false: "S10"}[x.crowded(r.Leg.Tx.Broker)])
	case bourse.Invalid:
		x.take("S72")
	case bourse.NoCluster:
		x.take("S17")
	case bourse.Withdrawn:
		x.take("S14")
	case bourse.Expired:
		x.take("S53")
	case bourse.Unknown:
		x.takeIf(r.Step == "Prepare", "S50")
		x.takeIf(r.Step == "Confirm" || r.Step == "Release", "S51")
	case bourse.BadState:
		x.takeIf(r.Step == "Cancel", "S45")
		x.takeIf(r.Step != "Cancel" && (was == bourse.Asked || was == bourse.Held || was == bourse.Prepared), "S48")
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
func (x *taking) again(id bourse.LegID) {
	l, was := x.m.legs[id], x.was(id)
	over := l != nil && was.Terminal()
	switch x.step.Message.(type) {
	case agents.Prepare:
		x.takeIf(was == bourse.Prepared && sent[agents.Prepared](x), "S5")
	case agents.Confirm:
		x.takeIf(len(x.step.Facts) == 0 && sent[agents.Confirmed](x), "S5")
	case agents.Cancel:
		x.takeIf(over && sent[agents.Cancelled](x), "S54")
		for _, f := range x.step.Facts {
			_, tomb := f.(bourse.Tombstone)
			x.takeIf(tomb, "S52")
		}
	case agents.Release:
		x.takeIf(over && sent[agents.Released](x), "S54")
		x.takeIf(was == bourse.Lost && sent[agents.Degraded](x), "S110")
	}
}

// siteMoved are the rows of a leg that moves.
func (x *taking) siteMoved(f bourse.LegMoved) {
	l, was := x.m.legs[f.Leg], x.was(f.Leg)
	message := x.step.Message
	_, answered := message.(agents.Answer)
	delete(x.asked, limitKey{x.step.Process, f.Leg})
	switch f.State {
	case bourse.Refused:
		if _, asked := message.(agents.ClusterHeld); asked {
			x.take("S16")
		} else if f.Offer > 0 && (f.Reason.Code == bourse.Stale || f.Reason.Code == bourse.Expired) {
			x.take("S88")
		} else if row := refusedFor[f.Reason.Code]; row != "" {
			x.take(row)
		}
	case bourse.Held:
		x.take("S15")
		x.takeIf(f.What.Work > 0, "S90")
		if f.Flex.Movable(f.What) {
			x.take(map[bool]string{true: "S80", false: "S94"}[x.promises()])
		}
	case bourse.LegExpired:
		x.take(map[bool]string{true: "S17", false: "S23"}[l == nil])
	case bourse.Cancelled:
		x.takeIf(f.What.Work > 0 && was != bourse.Asked, "S92")
		x.take(map[bourse.LegState]string{bourse.Asked: "S18", bourse.Held: "S22", bourse.Prepared: "S31"}[was])
		x.takeIf(answered, "S33")
	case bourse.Prepared:
		x.take("S20")
	case bourse.Confirmed:
		x.take(map[bourse.LegState]string{bourse.Held: "S21", bourse.Prepared: "S30"}[was])
		x.takeIf(answered, "S33")
		if f.Replaces != (bourse.LegID{}) {
			x.take("S43")
			x.takeIf(f.Offer > 0, "S88")
			x.takeIf(f.Kept > 0, "S121")
			old := x.m.legs[f.Replaces]
			x.takeIf(old != nil && old.What == f.What && old.Flex != f.Flex, "S86")
		}
	case bourse.Heuristic:
		x.take("S35")
	case bourse.Lost:
		x.take(map[bourse.LegState]string{bourse.Held: "S24", bourse.Prepared: "S36", bourse.Confirmed: "S42", bourse.Running: "S42"}[was])
		x.takeIf(f.Reason.Code == bourse.Early, "S106")
		if m, inventory := message.(agents.ClusterLocks); inventory {
			x.takeIf(slices.ContainsFunc(m.Locks, func(k agents.ClusterLock) bool { return k.Leg == f.Leg && !k.Lost }), "S123")
		}
	case bourse.Running:
		x.take("S40")
	case bourse.Released:
		x.takeIf(sent[agents.Released](x), "S41")
		x.takeIf(l != nil && l.Kept > 0, "S121")
		x.takeIf(f.What.Work > 0, "S92")
	case bourse.Settled:
		x.take("S46")
	}
}

// reassert are the rows of an assertion that is not believed.
func (x *taking) reassert(m agents.Reassert) {
	for _, s := range x.step.Sends {
		r, ok := s.Message.(agents.Reasserted)
		if !ok || r.Reason.Code != bourse.Unproven {
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
