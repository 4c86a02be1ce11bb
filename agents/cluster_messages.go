package agents

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/sla"
)

// The messages between a site and its cluster, simulated or real. A cluster
// knows nodes and queues, but no money and no broker.

var clusterMessages = []Properties{
	{SnapshotRequest{}, Site, Cluster, Request, Snapshot{}},
	{Snapshot{}, Cluster, Site, Reply, nil},
	{ClusterHold{}, Site, Cluster, Request, ClusterHeld{}},
	{ClusterHeld{}, Cluster, Site, Reply, nil},
	{ClusterConfirm{}, Site, Cluster, Request, ClusterDone{}},
	{ClusterRelease{}, Site, Cluster, Request, ClusterDone{}},
	{ClusterDone{}, Cluster, Site, Reply, nil},
	{ClusterStarted{}, Cluster, Site, Notice, ClusterHeard{}},
	{ClusterMoved{}, Cluster, Site, Notice, ClusterHeard{}},
	{ClusterHeard{}, Site, Cluster, Reply, nil},
	{ClusterEnded{}, Cluster, Site, Notice, ClusterRelease{}},
	{ClusterLost{}, Cluster, Site, Notice, ClusterRelease{}},
	{ClusterInventory{}, Site, Cluster, Request, ClusterLocks{}},
	{ClusterLocks{}, Cluster, Site, Reply, nil},
	{NodesLost{}, Outside, Cluster, News, nil},
}

// SnapshotRequest asks for the state of every group's queue.
type SnapshotRequest struct {
	Ref  uint64
	Have uint64 // the version the site has: it needs no more than what has changed since
}

// Snapshot is the state of a cluster at an instant, or what has changed since the
// version that the site has. It shares nothing with the cluster and must not be changed.
type Snapshot struct {
	Ref     uint64
	Version uint64
	States  []backfill.State // one per group; nil if there are Changes, or the version is the one the site has
	Since   uint64           // where there are Changes: the version that they follow
	Changes []backfill.Delta // one per group
	Plans   []*sla.Image     // of groups that make promises, by group; nil where there are none
	Room    [][]float64      // of groups that take deadlines, by group and node: the largest share that one more task may need; nil where there are none
}

// ClusterHold asks the cluster to lock nodes. It is refused if running jobs or
// reservations are in the way; the queue is ignored. The same again gets the
// same answer; a leg that was released is not locked again, unless Again says
// so.
type ClusterHold struct {
	Leg      bourse.LegID
	What     bourse.Leg
	Run      bourse.Duration // what the work really takes; 0: to the end
	Replaces bourse.LegID    // the lock whose nodes it may count on; the zero LegID: none
	Again    bool            // even if it was released before
	Force    bool            // what is in the way gives way, as when nodes fail; for maintenance
	Flex     bourse.Flex     // where promises are made: the window within which the nodes may lie
	Job      string          // whose work is to run there, and for whom: real nodes ask
	User     string
	Shift    int // how far others might be asked to shift if there is no room, over their lengths, in thousandths; 0: nobody
}

// ClusterHeld answers a ClusterHold.
type ClusterHeld struct {
	Leg     bourse.LegID
	Refusal bourse.Reason
	What    bourse.Leg    // of a ClusterHold with a Flex: where the nodes are locked
	Nodes   []string      // their names, where they are real
	Instead []bourse.Time // of a refusal: starts that there would be room for, nearest first
	Shifts  []LegShift    // of a refusal: confirmed legs of which one, shifted, would make room
}

// LegShift is where a confirmed leg would have to lie to make room for another
// one, and its window then.
type LegShift struct {
	Leg        bourse.LegID
	Start, End bourse.Time
	Ready, Due bourse.Time
}

// MaxShifts bounds the LegShifts of a refusal.
const MaxShifts = 16

// ClusterConfirm makes a lock a reservation that its user's work runs in, in
// place of the one that it replaces. It is repeated until done.
type ClusterConfirm struct {
	Leg  bourse.LegID
	Work *bourse.Handover // what runs there on real nodes; nil: nothing that the cluster starts
}

// ClusterRelease gives a lock or what is left of a reservation back. It is
// repeated until done, and ends the repeating of ClusterEnded and ClusterLost.
type ClusterRelease struct{ Leg bourse.LegID }

// ClusterDone acknowledges a ClusterConfirm or ClusterRelease.
type ClusterDone struct {
	Leg  bourse.LegID
	Step string // the kind of what is done
}

// ClusterStarted tells the site that a reservation's work has started; repeated
// until the site has heard it, or releases the leg.
type ClusterStarted struct{ Leg bourse.LegID }

// ClusterMoved tells the site that a flexible reservation lies elsewhere within
// its window now, or is fixed where it lies; repeated until the site has heard it.
type ClusterMoved struct {
	Leg        bourse.LegID
	Start, End bourse.Time
	Shifts     uint32 // counts them, leg by leg, from 1
	Fixed      bool
}

// ClusterHeard acknowledges a ClusterStarted or, where it has Shifts, the
// ClusterMoved with that number.
type ClusterHeard struct {
	Leg    bourse.LegID
	Shifts uint32
}

// ClusterEnded tells the site that a reservation's work has ended; repeated
// until the site releases the leg.
type ClusterEnded struct {
	Leg    bourse.LegID
	End    bourse.Time
	Result *bourse.WorkResult // of work that the cluster has started
}

// ClusterLost tells the site that a leg's nodes are gone; repeated until the
// site releases the leg.
type ClusterLost struct {
	Leg    bourse.LegID
	Reason bourse.Reason // where more is known than that the nodes are
}

// ClusterInventory asks what the cluster keeps for the site's legs.
type ClusterInventory struct{ Ref uint64 }

// ClusterLocks answers a ClusterInventory.
type ClusterLocks struct {
	Ref   uint64
	Locks []ClusterLock // in the order in which they were made
}

// ClusterLock is what a cluster keeps for one leg.
type ClusterLock struct {
	Leg       bourse.LegID
	Confirmed bool
	Running   bool
	Lost      bool
	Ended     bool
	End       bourse.Time // Ended: when
	Result    *bourse.WorkResult
	Reason    bourse.Reason // Lost

	// Of a flexible reservation: the last that ClusterMoved has said, or would.
	Shifts     uint32
	From, To   bourse.Time
	FixedThere bool
}

// NodesLost has nodes of a group fail, for a time: idle ones first, then those
// of local jobs, which are killed, then held ones, then those of the latest
// confirmed leg. It comes from outside: from the world of a simulation.
type NodesLost struct {
	Group string
	Count int
	For   bourse.Duration
}

// Kind names the message.
func (SnapshotRequest) Kind() string  { return "SnapshotRequest" }
func (Snapshot) Kind() string         { return "Snapshot" }
func (ClusterHold) Kind() string      { return "ClusterHold" }
func (ClusterHeld) Kind() string      { return "ClusterHeld" }
func (ClusterConfirm) Kind() string   { return "ClusterConfirm" }
func (ClusterRelease) Kind() string   { return "ClusterRelease" }
func (ClusterDone) Kind() string      { return "ClusterDone" }
func (ClusterStarted) Kind() string   { return "ClusterStarted" }
func (ClusterHeard) Kind() string     { return "ClusterHeard" }
func (ClusterMoved) Kind() string     { return "ClusterMoved" }
func (ClusterEnded) Kind() string     { return "ClusterEnded" }
func (ClusterLost) Kind() string      { return "ClusterLost" }
func (ClusterInventory) Kind() string { return "ClusterInventory" }
func (ClusterLocks) Kind() string     { return "ClusterLocks" }
func (NodesLost) Kind() string        { return "NodesLost" }

// LegID is the leg that the message is about.
func (m ClusterHold) LegID() bourse.LegID    { return m.Leg }
func (m ClusterHeld) LegID() bourse.LegID    { return m.Leg }
func (m ClusterConfirm) LegID() bourse.LegID { return m.Leg }
func (m ClusterRelease) LegID() bourse.LegID { return m.Leg }
func (m ClusterDone) LegID() bourse.LegID    { return m.Leg }
func (m ClusterStarted) LegID() bourse.LegID { return m.Leg }
func (m ClusterHeard) LegID() bourse.LegID   { return m.Leg }
func (m ClusterMoved) LegID() bourse.LegID   { return m.Leg }
func (m ClusterEnded) LegID() bourse.LegID   { return m.Leg }
func (m ClusterLost) LegID() bourse.LegID    { return m.Leg }
