package agents

import (
	"bourse"
	"bourse/policy/backfill"
)

// The messages between a site and its cluster, simulated or real. A cluster
// knows nodes and queues, but no money and no broker.

// SnapshotRequest asks for the state of every group's queue.
type SnapshotRequest struct {
	Ref  uint64
	Have uint64 // the version the site has; the same again is answered without the state
}

// Snapshot is the state of a cluster at an instant. It shares nothing with the
// cluster and must not be changed.
type Snapshot struct {
	Ref     uint64
	Version uint64
	States  []backfill.State // one per group; nil if the version is the one the site has
}

// ClusterHold asks the cluster to lock nodes. It is refused if running jobs or
// reservations are in the way; the queue is ignored.
type ClusterHold struct {
	Leg  bourse.LegID
	What bourse.Leg
	Run  bourse.Duration // what the work really takes; 0: to the end
}

// ClusterHeld answers a ClusterHold.
type ClusterHeld struct {
	Leg     bourse.LegID
	Refusal bourse.Reason
}

// ClusterConfirm makes a lock a reservation that its user's work runs in.
type ClusterConfirm struct{ Leg bourse.LegID }

// ClusterRelease gives a lock or what is left of a reservation back.
type ClusterRelease struct{ Leg bourse.LegID }

// ClusterStarted tells the site that a reservation's work has started.
type ClusterStarted struct{ Leg bourse.LegID }

// ClusterEnded tells the site that a reservation's work has ended.
type ClusterEnded struct {
	Leg bourse.LegID
	End bourse.Time
}

// Kind names the message.
func (SnapshotRequest) Kind() string { return "SnapshotRequest" }
func (Snapshot) Kind() string        { return "Snapshot" }
func (ClusterHold) Kind() string     { return "ClusterHold" }
func (ClusterHeld) Kind() string     { return "ClusterHeld" }
func (ClusterConfirm) Kind() string  { return "ClusterConfirm" }
func (ClusterRelease) Kind() string  { return "ClusterRelease" }
func (ClusterStarted) Kind() string  { return "ClusterStarted" }
func (ClusterEnded) Kind() string    { return "ClusterEnded" }
