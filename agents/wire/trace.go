package wire

import (
	"bourse"
	"bourse/agents"
)

// Trace names what a message is about, for the logs of all agents that handle
// it: the transaction, else the job, "" if it is about neither. It takes every
// type of agents, those without a form on the wire too.
func Trace(m agents.Message) string {
	if leg, ok := legOf(m); ok {
		return leg.Tx.String()
	}
	switch m := m.(type) {
	case agents.Submit:
		return m.Job.Name
	case agents.SubmitReply:
		return m.Job
	case agents.JobCancel:
		return m.Job
	case agents.JobModify:
		return m.Job
	case agents.OfferAnswer:
		return m.Job
	case agents.JobReply:
		return m.Job
	}
	return ""
}

// legOf returns the leg that a message is about.
func legOf(m agents.Message) (leg bourse.LegID, ok bool) {
	switch m := m.(type) {
	case agents.Hold:
		return m.Leg, true
	case agents.HeldReply:
		return m.Leg, true
	case agents.RefusedReply:
		return m.Leg, true
	case agents.Prepare:
		return m.Leg, true
	case agents.PreparedReply:
		return m.Leg, true
	case agents.Confirm:
		return m.Leg, true
	case agents.ConfirmedReply:
		return m.Leg, true
	case agents.Cancel:
		return m.Leg, true
	case agents.CancelledReply:
		return m.Leg, true
	case agents.StartedNotice:
		return m.Leg, true
	case agents.SettledNotice:
		return m.Leg, true
	case agents.Release:
		return m.Leg, true
	case agents.ReleasedReply:
		return m.Leg, true
	case agents.Inquire:
		return m.Leg, true
	case agents.Answer:
		return m.Leg, true
	case agents.HeuristicNotice:
		return m.Leg, true
	case agents.DegradedNotice:
		return m.Leg, true
	case agents.Noted:
		return m.Leg, true
	case agents.Reassert:
		return m.Leg.Leg, true
	case agents.ShiftedNotice:
		return m.Leg, true
	case agents.ShiftOffer:
		return m.Leg, true
	case agents.ShiftDeclined:
		return m.Leg, true
	case agents.ReassertedReply:
		return m.Leg, true
	}
	return clusterLeg(m)
}

// clusterLeg is legOf of what a site and its cluster send each other.
func clusterLeg(m agents.Message) (leg bourse.LegID, ok bool) {
	switch m := m.(type) {
	case agents.ClusterHold:
		return m.Leg, true
	case agents.ClusterHeld:
		return m.Leg, true
	case agents.ClusterConfirm:
		return m.Leg, true
	case agents.ClusterRelease:
		return m.Leg, true
	case agents.ClusterDone:
		return m.Leg, true
	case agents.ClusterStarted:
		return m.Leg, true
	case agents.ClusterHeard:
		return m.Leg, true
	case agents.ClusterEnded:
		return m.Leg, true
	case agents.ClusterLost:
		return m.Leg, true
	case agents.ClusterMoved:
		return m.Leg, true
	}
	return bourse.LegID{}, false
}
