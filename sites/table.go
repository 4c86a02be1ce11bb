package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
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
type states [grid.Lost + 1]act

// table is the transaction of docs/TRANSACTION.md: the act for each event in each
// state of a leg. Where there is no act, nothing changes and nothing is answered. The
// table does not cover legs that the site does not know; see of.
var table = [...]states{
	onHold: {
		grid.Asked:      nil, // S5: the answer is on its way
		grid.Held:       heldAgain,
		grid.Prepared:   heldAgain,
		grid.Confirmed:  heldAgain,
		grid.Running:    heldAgain,
		grid.Settled:    withdrawn,
		grid.Refused:    refusedAgain, // S5
		grid.LegExpired: withdrawn,    // S14
		grid.Cancelled:  withdrawn,
		grid.Heuristic:  withdrawn,
		grid.Released:   withdrawn,
		grid.Lost:       withdrawn,
	},
	onPrepare: {
		grid.Asked:      badState,
		grid.Held:       toPrepared,    // S20
		grid.Prepared:   preparedAgain, // S5
		grid.Confirmed:  preparedAgain,
		grid.Running:    preparedAgain,
		grid.Settled:    over,
		grid.Refused:    over, // S53
		grid.LegExpired: over,
		grid.Cancelled:  over,
		grid.Heuristic:  over,
		grid.Released:   over,
		grid.Lost:       over,
	},
	onConfirm: {
		grid.Asked:      badState,
		grid.Held:       toConfirmed,    // S21
		grid.Prepared:   toConfirmed,    // S30, S43
		grid.Confirmed:  confirmedAgain, // S5
		grid.Running:    confirmedAgain,
		grid.Settled:    confirmedAgain,
		grid.Refused:    over, // S53
		grid.LegExpired: over,
		grid.Cancelled:  over,
		grid.Heuristic:  over,
		grid.Released:   confirmedAgain,
		grid.Lost:       confirmedOnce, // S5 if it was confirmed, else S53
	},
	onCancel: {
		grid.Asked:      toCancelled, // S18
		grid.Held:       toCancelled, // S22
		grid.Prepared:   toCancelled, // S31
		grid.Confirmed:  badState,    // S45
		grid.Running:    badState,
		grid.Settled:    cancelledAgain, // S54
		grid.Refused:    cancelledAgain,
		grid.LegExpired: cancelledAgain,
		grid.Cancelled:  cancelledAgain,
		grid.Heuristic:  cancelledAgain,
		grid.Released:   cancelledAgain,
		grid.Lost:       cancelledAgain,
	},
	onRelease: {
		grid.Asked:      badState, // it is confirmed first
		grid.Held:       badState,
		grid.Prepared:   badState,
		grid.Confirmed:  toReleased, // S41
		grid.Running:    toReleased,
		grid.Settled:    releasedAgain, // S54
		grid.Refused:    releasedAgain,
		grid.LegExpired: releasedAgain,
		grid.Cancelled:  releasedAgain,
		grid.Heuristic:  releasedAgain,
		grid.Released:   releasedAgain,
		grid.Lost:       lostAgain, // S110
	},
	onLimit: {
		grid.Asked:    askedInVain, // S17
		grid.Held:     toExpired,   // S23
		grid.Prepared: toHeuristic, // S35
		grid.Lost:     nil,
	},
	onStarted: {
		grid.Confirmed: toRunning, // S40
		grid.Lost:      nil,
	},
	onEnded: {
		grid.Confirmed: toSettled, // S46, where the report of S40 was lost
		grid.Running:   toSettled,
		grid.Lost:      nil,
	},
	onLost: {
		grid.Held:      toLost, // S24
		grid.Prepared:  toLost, // S36
		grid.Confirmed: toLost, // S42
		grid.Running:   toLost,
	},
}
