package agents

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/sla"
)

// The messages between a site and its cluster, simulated or real. A cluster knows nodes and
// queues, but no money and no brokers.

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
	{ClusterReload{}, Site, Cluster, Request, ClusterReloaded{}},
	{ClusterReloaded{}, Cluster, Site, Reply, nil},
	{NodesLost{}, Outside, Cluster, News, nil},
}

// SnapshotRequest asks for the state of every group's queue.
type SnapshotRequest struct {
	Ref  uint64
	Have uint64 // the version that the site has: only later changes are needed
	// Queued are jobs of which the site wants to know when they would start in a queue.
	Queued []grid.Queueing
}

// Snapshot is the state of a cluster at an instant, or its changes since the version that
// the site has. It shares nothing with the cluster and must not be changed.
type Snapshot struct {
	Ref     uint64
	Version uint64
	States  []backfill.State // one per group; nil if there are Changes, or the site has this version
	Since   uint64           // the version that Changes follow
	Changes []backfill.Delta // one per group
	Plans   []*sla.Image     // by group; nil for groups that make no promises
	Room    [][]float64      // by group and node: largest share for one more task; nil for groups without deadlines
	// Longest is, by group, the longest window that can be held, 0 if any; nil: any
	// everywhere. With this version it replaces what the site had.
	Longest []grid.Duration
	// Opened are, by group, the nodes that parts share, in the order in which they were
	// opened; nil: there are none. With this version it replaces what the site had.
	Opened [][]grid.Opened
	// BestEffort answers Queued, job by job; nil: the cluster does not forecast.
	BestEffort []grid.BestEffort
}

// ClusterHold asks the cluster to lock nodes. It is refused if running jobs or reservations
// are in the way; the queue does not count. A repeat gets the same answer. A released leg
// is not locked again unless Again is set.
type ClusterHold struct {
	Leg      grid.LegID
	What     grid.Leg
	Run      grid.Duration // real runtime of the work; 0: to the end
	Replaces grid.LegID    // the lock whose nodes it may use; the zero LegID if none
	Again    bool          // even if it was released before
	Begun    bool          // with Again: its work has begun, and must not begin again
	Moves    uint32        // with Again: how often it was moved or fixed since it was first locked
	Force    bool          // for maintenance: what is in the way gives way, as when nodes fail
	Flex     grid.Flex     // in groups that make promises: the window for the nodes
	Job      string        // job and user of the work, for real nodes
	User     string
	Pilot    grid.LegID // whose nodes it is to have; the zero LegID: none's
	Shift    int        // without room: how far other legs might be asked to shift, in thousandths of their lengths; 0: no leg
}

// ClusterHeld answers a ClusterHold.
type ClusterHeld struct {
	Leg     grid.LegID
	Refusal grid.Reason
	What    grid.Leg    // of a lock with a Flex: where the nodes are locked
	Moves   uint32      // with What: how often they were moved or fixed since they were first locked
	Fixed   bool        // with What: they no longer move
	Nodes   []string    // names of real nodes
	On      []int32     // of a part: its nodes, by the numbers of their opening
	Instead []grid.Time // of a refusal: starts with room, nearest first
	Shifts  []LegShift  // of a refusal: confirmed legs, each of which would make room if shifted
}

// LegShift is where a confirmed leg would have to move to make room for another one, with
// its new window.
type LegShift struct {
	Leg        grid.LegID
	Start, End grid.Time
	Ready, Due grid.Time
}

// MaxShifts bounds the LegShifts of a refusal.
const MaxShifts = 16

// ClusterConfirm turns a lock into a reservation for the work of its user, replacing
// another one if the lock does. It is repeated until done.
type ClusterConfirm struct {
	Leg  grid.LegID
	Work *grid.Handover // what to run on real nodes; nil if the cluster starts nothing
}

// ClusterRelease gives back a lock or what is left of a reservation. It is repeated until
// done, and stops repeats of ClusterEnded and ClusterLost.
type ClusterRelease struct{ Leg grid.LegID }

// ClusterDone acknowledges a ClusterConfirm or ClusterRelease.
type ClusterDone struct {
	Leg  grid.LegID
	Step string // kind of the message that is done
}

// ClusterStarted tells the site that a reservation's work has started. It is repeated until
// the site acknowledges it or releases the leg.
type ClusterStarted struct{ Leg grid.LegID }

// ClusterMoved tells the site that a flexible reservation has moved within its window, or
// is fixed where it is. It is repeated until the site acknowledges it.
type ClusterMoved struct {
	Leg        grid.LegID
	Start, End grid.Time
	Shifts     uint32 // counts the moves of a leg, from 1
	Fixed      bool
}

// ClusterHeard acknowledges a ClusterStarted or, with Shifts, the ClusterMoved of that
// number.
type ClusterHeard struct {
	Leg    grid.LegID
	Shifts uint32
}

// ClusterEnded tells the site that a reservation's work has ended. It is repeated until the
// site releases the leg.
type ClusterEnded struct {
	Leg    grid.LegID
	End    grid.Time
	Result *grid.WorkResult // of work started by the cluster
}

// ClusterLost tells the site that a leg's nodes are gone. It is repeated until the site
// releases the leg.
type ClusterLost struct {
	Leg    grid.LegID
	Reason grid.Reason // set if more is known than that the nodes are gone
}

// ClusterReload makes the cluster go on by other settings, unless locks would be lost and
// Force is not set. A repeat gets the same answer.
type ClusterReload struct {
	Ref   uint64
	To    Settings `json:"-"`
	Nonce uint64
	Dry   bool // only say what would be lost
	Force bool
	Why   string
}

// ClusterReloaded answers a ClusterReload.
type ClusterReloaded struct {
	Ref     uint64
	Refusal grid.Reason       // why nothing was changed
	Lost    []grid.LegID      // the first MaxLost of the locks that are lost, or would be
	Locks   int               // how many those are
	Jobs    int               // local jobs that are killed or turned away, or would be
	Groups  []grid.GroupNodes // of which the cluster now consists; nil: nothing was changed
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
	Leg       grid.LegID
	Confirmed bool
	Running   bool
	Lost      bool
	Ended     bool
	End       grid.Time // Ended: when
	Result    *grid.WorkResult
	Reason    grid.Reason // Lost

	// Of a flexible reservation: as in the last ClusterMoved.
	Shifts     uint32
	From, To   grid.Time
	FixedThere bool
}

// NodesLost makes nodes of a group fail for some time: first idle ones, then those of local
// jobs, which are killed, then held ones, then those of the latest confirmed leg. In a
// simulation the world sends it.
type NodesLost struct {
	Group string
	Count int
	For   grid.Duration
	// Chance, if it is not 0, draws which nodes fail: each in service is as likely as any
	// other, and what runs on them is lost.
	Chance uint64
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
func (ClusterReload) Kind() string    { return "ClusterReload" }
func (ClusterReloaded) Kind() string  { return "ClusterReloaded" }
func (ClusterInventory) Kind() string { return "ClusterInventory" }
func (ClusterLocks) Kind() string     { return "ClusterLocks" }
func (NodesLost) Kind() string        { return "NodesLost" }

// LegID is the leg that the message is about.
func (m ClusterHold) LegID() grid.LegID    { return m.Leg }
func (m ClusterHeld) LegID() grid.LegID    { return m.Leg }
func (m ClusterConfirm) LegID() grid.LegID { return m.Leg }
func (m ClusterRelease) LegID() grid.LegID { return m.Leg }
func (m ClusterDone) LegID() grid.LegID    { return m.Leg }
func (m ClusterStarted) LegID() grid.LegID { return m.Leg }
func (m ClusterHeard) LegID() grid.LegID   { return m.Leg }
func (m ClusterMoved) LegID() grid.LegID   { return m.Leg }
func (m ClusterEnded) LegID() grid.LegID   { return m.Leg }
func (m ClusterLost) LegID() grid.LegID    { return m.Leg }
