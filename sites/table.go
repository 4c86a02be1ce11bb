package sites

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// event is what can happen to a leg: a step by its broker, a report from the cluster,
// or the end of its limit.
type event uint8

const (
	onHold event = iota
	onPrepare
	onConfirm
	onCancel
	onRelease
	onLimit
	onStarted
	onEnded
	onLost
)

// names are the kinds of the messages that bring events: a broker's steps, then the
// cluster's reports.
var names = [...]string{
	onHold: agents.Hold{}.Kind(), onPrepare: agents.Prepare{}.Kind(), onConfirm: agents.Confirm{}.Kind(),
	onCancel: agents.Cancel{}.Kind(), onRelease: agents.Release{}.Kind(),
	onStarted: agents.ClusterStarted{}.Kind(), onEnded: agents.ClusterEnded{}.Kind(), onLost: agents.ClusterLost{}.Kind(),
}

// events is the inverse of names.
var events = func() map[string]event {
	m := map[string]event{}
	for e, kind := range names {
		if kind != "" {
			m[kind] = event(e)
		}
	}
	return m
}()

// decider is the incarnation whose decision a step carries or, if it carries none, the
// one that sent it.
func decider(m agents.OfLeg) uint32 {
	if d, ok := m.(agents.Decision); ok {
		return d.Decider()
	}
	return m.LegID().Tx.Incarnation
}

// act is what a participant does in response to an event.
type act func(p *participant, l *leg, t step)

// states are the acts for one event, by the leg's state.
type states [bourse.Lost + 1]act

// table is the transaction of docs/TRANSACTION.md: the act for each event in each
// state of a leg. Where there is no act, nothing changes and nothing is answered. The
// table does not cover legs that the site does not know; see of.
var table = [...]states{
	onHold: {
		bourse.Asked:      nil, // S5: the answer is on its way
		bourse.Held:       heldAgain,
		bourse.Prepared:   heldAgain,
		bourse.Confirmed:  heldAgain,
		bourse.Running:    heldAgain,
		bourse.Settled:    withdrawn,
		bourse.Refused:    refusedAgain, // S5
		bourse.LegExpired: withdrawn,    // S14
		bourse.Cancelled:  withdrawn,
		bourse.Heuristic:  withdrawn,
		bourse.Released:   withdrawn,
		bourse.Lost:       withdrawn,
	},
	onPrepare: {
		bourse.Asked:      badState,
		bourse.Held:       toPrepared,    // S20
		bourse.Prepared:   preparedAgain, // S5
		bourse.Confirmed:  preparedAgain,
		bourse.Running:    preparedAgain,
		bourse.Settled:    over,
		bourse.Refused:    over, // S53
		bourse.LegExpired: over,
		bourse.Cancelled:  over,
		bourse.Heuristic:  over,
		bourse.Released:   over,
		bourse.Lost:       over,
	},
	onConfirm: {
		bourse.Asked:      badState,
		bourse.Held:       toConfirmed,    // S21
		bourse.Prepared:   toConfirmed,    // S30, S43
		bourse.Confirmed:  confirmedAgain, // S5
		bourse.Running:    confirmedAgain,
		bourse.Settled:    confirmedAgain,
		bourse.Refused:    over, // S53
		bourse.LegExpired: over,
		bourse.Cancelled:  over,
		bourse.Heuristic:  over,
		bourse.Released:   confirmedAgain,
		bourse.Lost:       confirmedOnce, // S5 if it was confirmed, else S53
	},
	onCancel: {
		bourse.Asked:      toCancelled, // S18
		bourse.Held:       toCancelled, // S22
		bourse.Prepared:   toCancelled, // S31
		bourse.Confirmed:  badState,    // S45
		bourse.Running:    badState,
		bourse.Settled:    cancelledAgain, // S54
		bourse.Refused:    cancelledAgain,
		bourse.LegExpired: cancelledAgain,
		bourse.Cancelled:  cancelledAgain,
		bourse.Heuristic:  cancelledAgain,
		bourse.Released:   cancelledAgain,
		bourse.Lost:       cancelledAgain,
	},
	onRelease: {
		bourse.Asked:      badState, // it is confirmed first
		bourse.Held:       badState,
		bourse.Prepared:   badState,
		bourse.Confirmed:  toReleased, // S41
		bourse.Running:    toReleased,
		bourse.Settled:    releasedAgain, // S54
		bourse.Refused:    releasedAgain,
		bourse.LegExpired: releasedAgain,
		bourse.Cancelled:  releasedAgain,
		bourse.Heuristic:  releasedAgain,
		bourse.Released:   releasedAgain,
		bourse.Lost:       lostAgain, // S110
	},
	onLimit: {
		bourse.Asked:    askedInVain, // S17
		bourse.Held:     toExpired,   // S23
		bourse.Prepared: toHeuristic, // S35
		bourse.Lost:     nil,
	},
	onStarted: {
		bourse.Confirmed: toRunning, // S40
		bourse.Lost:      nil,
	},
	onEnded: {
		bourse.Confirmed: toSettled, // S46, where the report of S40 was lost
		bourse.Running:   toSettled,
		bourse.Lost:      nil,
	},
	onLost: {
		bourse.Held:      toLost, // S24
		bourse.Prepared:  toLost, // S36
		bourse.Confirmed: toLost, // S42
		bourse.Running:   toLost,
	},
}
