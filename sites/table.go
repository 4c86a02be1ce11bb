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

// act is what a participant does in response to an event, and the row that says so.
type act struct {
	row agents.Row
	do  func(p *participant, l *leg, t step) // nil: nothing
}

// take does it, and reports whether there is anything to do.
func (a act) take(p *participant, l *leg, t step) bool {
	t.out.Row(a.row)
	if a.do != nil {
		a.do(p, l, t)
	}
	return a.do != nil
}

// states are the acts for one event, by the leg's state.
type states [grid.Lost + 1]act

// table is the transaction of docs/TRANSACTION.md: the act for each event in each
// state of a leg. Where there is no act, nothing changes and nothing is answered. The
// table does not cover legs that the site does not know; see of.
var table = [...]states{
	onHold: {
		grid.Asked:      {"S5", nil}, // the answer is on its way
		grid.Held:       {"S5", heldAgain},
		grid.Prepared:   {"S5", heldAgain},
		grid.Confirmed:  {"S5", heldAgain},
		grid.Running:    {"S5", heldAgain},
		grid.Settled:    {"S14", withdrawn},
		grid.Refused:    {"S5", refusedAgain},
		grid.LegExpired: {"S14", withdrawn},
		grid.Cancelled:  {"S14", withdrawn},
		grid.Heuristic:  {"S14", withdrawn},
		grid.Released:   {"S14", withdrawn},
		grid.Lost:       {"S14", withdrawn},
	},
	onPrepare: {
		grid.Asked:      {"S48", badState},
		grid.Held:       {"S20", toPrepared},
		grid.Prepared:   {"S5", preparedAgain},
		grid.Confirmed:  {"S5", preparedAgain},
		grid.Running:    {"S5", preparedAgain},
		grid.Settled:    {"S53", over},
		grid.Refused:    {"S53", over},
		grid.LegExpired: {"S53", over},
		grid.Cancelled:  {"S53", over},
		grid.Heuristic:  {"S53", over},
		grid.Released:   {"S53", over},
		grid.Lost:       {"S53", over},
	},
	onConfirm: {
		grid.Asked:      {"S48", badState},
		grid.Held:       {"S21", toConfirmed},
		grid.Prepared:   {"S30", toConfirmed}, // with what it replaces, S43
		grid.Confirmed:  {"S5", confirmedAgain},
		grid.Running:    {"S5", confirmedAgain},
		grid.Settled:    {"S5", confirmedAgain},
		grid.Refused:    {"S53", over},
		grid.LegExpired: {"S53", over},
		grid.Cancelled:  {"S53", over},
		grid.Heuristic:  {"S53", over},
		grid.Released:   {"S5", confirmedAgain},
		grid.Lost:       {"", confirmedOnce}, // S5 if it was confirmed, else S53
	},
	onCancel: {
		grid.Asked:      {"S18", toCancelled},
		grid.Held:       {"S22", toCancelled},
		grid.Prepared:   {"S31", toCancelled},
		grid.Confirmed:  {"S45", badState},
		grid.Running:    {"S45", badState},
		grid.Settled:    {"S54", cancelledAgain},
		grid.Refused:    {"S54", cancelledAgain},
		grid.LegExpired: {"S54", cancelledAgain},
		grid.Cancelled:  {"S54", cancelledAgain},
		grid.Heuristic:  {"S54", cancelledAgain},
		grid.Released:   {"S54", cancelledAgain},
		grid.Lost:       {"S54", cancelledAgain},
	},
	onRelease: {
		grid.Asked:      {"S48", badState}, // it is confirmed first
		grid.Held:       {"S48", badState},
		grid.Prepared:   {"S48", badState},
		grid.Confirmed:  {"S41", toReleased},
		grid.Running:    {"S41", toReleased},
		grid.Settled:    {"S54", releasedAgain},
		grid.Refused:    {"S54", releasedAgain},
		grid.LegExpired: {"S54", releasedAgain},
		grid.Cancelled:  {"S54", releasedAgain},
		grid.Heuristic:  {"S54", releasedAgain},
		grid.Released:   {"S54", releasedAgain},
		grid.Lost:       {"S110", lostAgain},
	},
	onLimit: {
		grid.Asked:    {"S17", askedInVain},
		grid.Held:     {"S23", toExpired},
		grid.Prepared: {"S35", toHeuristic},
		grid.Lost:     {},
	},
	onStarted: {
		grid.Confirmed: {"S40", toRunning},
		grid.Lost:      {},
	},
	onEnded: {
		grid.Confirmed: {"S46", toSettled}, // the report of S40 was lost
		grid.Running:   {"S46", toSettled},
		grid.Lost:      {},
	},
	onLost: {
		grid.Held:      {"S24", toLost},
		grid.Prepared:  {"S36", toLost},
		grid.Confirmed: {"S42", toLost},
		grid.Running:   {"S42", toLost},
	},
}
