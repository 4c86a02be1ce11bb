package facts

import (
	"github.com/bourse-grid/bourse/grid"
)

var clusterFacts = []Fact{
	JobStarted{}, JobEnded{}, JobRefused{}, NodesLocked{}, NodesFreed{}, WorkBegun{}, JobQueued{},
	JobExtended{}, LockMoved{}, TasksPlaced{}, ClusterImage{}, NodesSet{}, PilotClaimed{}, PilotBegun{}, PilotOver{}, OrphanFound{},
}

// The facts of a cluster: its local queue, and what runs in its reservations.
type (
	// JobStarted says that a local job has started.
	JobStarted struct {
		Job    int64     `json:"job"`
		Group  string    `json:"group"`
		Nodes  int       `json:"nodes"`
		Submit grid.Time `json:"submit"`
		End    grid.Time `json:"end"`   // by its estimate
		Class  string    `json:"class"` // immediate, backfilled or reserved
		User   int64     `json:"user"`
		Queue  int       `json:"queue"`
		Begun  grid.Time `json:"begun,omitempty"` // when it started, if it is recorded later; see JobEnded
		Due    grid.Time `json:"due,omitempty"`   // if jobs have deadlines: by when it should end
	}
	// JobEnded says that a local job has ended: at the instant of the fact or, if the
	// cluster's process was not running then, at Ended.
	JobEnded struct {
		Job    int64     `json:"job"`
		Group  string    `json:"group"`
		Nodes  int       `json:"nodes"`
		Submit grid.Time `json:"submit"`
		Start  grid.Time `json:"start"`
		Killed bool      `json:"killed,omitempty"` // at its estimate
		Ended  grid.Time `json:"ended,omitempty"`  // when it ended, if it is recorded later
		Due    grid.Time `json:"due,omitempty"`    // if jobs have deadlines: by when it should have ended
		// Work is what each of its nodes has done for it, if jobs share nodes; 0: the
		// nodes were its own all the time.
		Work grid.Duration `json:"work,omitempty"`
	}
	// JobRefused says that a local job was refused on arrival.
	JobRefused struct {
		Job    int64       `json:"job"`
		Nodes  int         `json:"nodes"`
		Submit grid.Time   `json:"submit"`
		Reason grid.Reason `json:"reason"`
		Group  string      `json:"group,omitempty"` // on a durable cluster
	}
	// NodesLocked says that a cluster has locked nodes for a leg.
	NodesLocked struct {
		Leg    grid.LegID `json:"leg"`
		What   grid.Leg   `json:"what"`
		Beside grid.LegID `json:"beside,omitzero"` // a reservation that it shares nodes with: together they take no more than the larger of the two
		Ends   grid.Time  `json:"ends,omitempty"`  // on a durable cluster: when its work is really over
		Flex   grid.Flex  `json:"flex,omitzero"`   // the window within which it may be placed
		Names  []string   `json:"names,omitempty"` // of the nodes, if they are real
		Job    string     `json:"job,omitempty"`   // whose work is to run on them, if they are real
		User   string     `json:"user,omitempty"`
		On     []int32    `json:"on,omitempty"`   // of a part: its nodes, by the numbers under which they were opened
		Pilot  grid.LegID `json:"pilot,omitzero"` // whose nodes they are, if they were had by one
	}
	// NodesFreed says that a leg's nodes are free from now on.
	NodesFreed struct {
		Leg  grid.LegID `json:"leg"`
		When grid.Time  `json:"when,omitempty"` // since when, if it is recorded later
	}
)

// The facts that a cluster in real time must not forget. A simulation in virtual time
// records none of them.
type (
	// WorkBegun says from which instant on a cluster receives its local work: the zero of
	// its trace or model. It is the first fact of a cluster, and says how large its groups are.
	WorkBegun struct {
		At     grid.Time         `json:"at"`
		Groups []grid.GroupNodes `json:"groups,omitempty"`
	}
	// JobQueued says that a local job waits. It carries the whole job, so that the cluster
	// can go on after a restart.
	JobQueued struct {
		Group string        `json:"group"`
		Job   grid.LocalJob `json:"job"`
	}
	// JobExtended says that a local job outlives its estimate, and gives its new planned
	// end.
	JobExtended struct {
		Job   int64     `json:"job"`
		Group string    `json:"group"`
		End   grid.Time `json:"end"`
		When  grid.Time `json:"when,omitempty"` // if it is recorded later
	}
	// LockMoved says that nodes locked for a leg have entered a state.
	LockMoved struct {
		Leg    grid.LegID       `json:"leg"`
		State  LockState        `json:"state"`
		When   grid.Time        `json:"when,omitempty"`   // if it is recorded later
		Work   *grid.Handover   `json:"work,omitempty"`   // if confirmed: what is to run there
		Result *grid.WorkResult `json:"result,omitempty"` // if ended
		Reason grid.Reason      `json:"reason,omitzero"`  // if lost
		Begun  bool             `json:"begun,omitempty"`  // if released: its work has begun, or may have
	}
	// TasksPlaced says that a cluster of deadlines has accepted the work of a leg or of a
	// local job, and on which of its nodes. Work that waits in line has no nodes yet; a
	// second TasksPlaced ends the wait.
	TasksPlaced struct {
		Group    string        `json:"group"`
		Number   int64         `json:"number"` // the cluster's number for the work
		Leg      grid.LegID    `json:"leg,omitzero"`
		What     grid.Leg      `json:"what,omitzero"` // if it is a leg
		Job      grid.LocalJob `json:"job,omitzero"`
		Deadline grid.Time     `json:"deadline"`
		Run      grid.Duration `json:"run"` // its real length, on a node of performance 1
		Nodes    []int         `json:"nodes,omitempty"`
		Start    grid.Time     `json:"start,omitempty"` // in an image: when it started
		When     grid.Time     `json:"when,omitempty"`  // if it is recorded later
	}
	// NodesSet says that a cluster goes on with other nodes or other local work, and which
	// groups it now has: after a reload, or because a life begins by another file than the one
	// before. The locks that it loses follow. Its next life goes by the file, whatever this
	// says. Of a reload its site records the same once it knows.
	NodesSet struct {
		Groups []grid.GroupNodes `json:"groups"`
		Force  bool              `json:"force,omitempty"` // the operator let it take nodes away from legs
		Why    string            `json:"why,omitempty"`
	}
	// PilotClaimed says that a cluster is about to submit a pilot: it may be there from now on.
	PilotClaimed struct {
		Pilot   grid.LegID    `json:"pilot"`
		Group   string        `json:"group"`
		Nodes   int           `json:"nodes"`
		Limit   grid.Duration `json:"limit"`
		Granted grid.Duration `json:"granted"` // at first
		Job     string        `json:"job,omitempty"`
		User    string        `json:"user,omitempty"`
		Price   grid.Price    `json:"price,omitempty"` // of a node
	}
	// PilotBegun says when a pilot began for the first time: it idles from then on, though its manager
	// may put it back into its queue.
	PilotBegun struct {
		Pilot grid.LegID `json:"pilot"`
		Begin grid.Time  `json:"begin"` // by its manager
	}
	// PilotOver says that nothing of a pilot is left, or ever was there.
	PilotOver struct {
		Pilot  grid.LegID      `json:"pilot"`
		State  grid.PilotState `json:"state"`
		Begin  grid.Time       `json:"begin,omitempty"` // 0: it never ran, or that is not known
		End    grid.Time       `json:"end,omitempty"`
		Idled  grid.Duration   `json:"idled,omitempty"` // the time of its nodes without work, up to the window that was confirmed on them
		Reason grid.Reason     `json:"reason,omitzero"`
	}
	// OrphanFound says that a manager has something with one of our names of which nothing is known:
	// an earlier life left it, whose record is lost. It is deleted, and its name is not used again.
	OrphanFound struct {
		Name string `json:"name"`
	}
	// PilotMemory is what a cluster keeps about a pilot.
	PilotMemory struct {
		PilotClaimed
		At     grid.Time  `json:"at"`               // when it was claimed
		Begin  grid.Time  `json:"begin,omitempty"`  // when it first began; 0: it has not
		Window grid.Time  `json:"window,omitempty"` // the begin of the window that was confirmed on its nodes; 0: none was
		Over   *PilotOver `json:"over,omitempty"`   // nil: it is not over
		Done   grid.Time  `json:"done,omitempty"`   // when that was seen
	}
	// ClusterImage is everything a durable cluster keeps. A journal begins anew with it.
	ClusterImage struct {
		At      grid.Time      `json:"at"`              // the instant of the image
		Begun   grid.Time      `json:"begun,omitempty"` // when its local work began
		Fed     bool           `json:"fed,omitempty"`   // its local work has begun
		Groups  []GroupMemory  `json:"groups"`
		Locks   []LockMemory   `json:"locks"` // in the order in which they were made
		Past    []ReleasedLeg  `json:"past"`  // in order of time
		Outages []NodesDown    `json:"outages"`
		Servers []ServerMemory `json:"servers,omitempty"` // on a cluster of deadlines, by group
		Pilots  []PilotMemory  `json:"pilots,omitempty"`  // in the order in which they were claimed
		Orphans []string       `json:"orphans,omitempty"` // their names, the latest last

		Sizes []grid.GroupNodes `json:"sizes,omitempty"` // of its groups, as far as they are on record
	}
	// ServerMemory is what a cluster of deadlines keeps about a group.
	ServerMemory struct {
		Group   string         `json:"group"`
		At      grid.Time      `json:"at"`
		Number  int64          `json:"number,omitempty"`  // of the last work that the cluster accepted
		Nodes   []NodeTasks    `json:"nodes,omitempty"`   // if they are time-shared, by number
		Running []RunningTasks `json:"running,omitempty"` // under EDF, by end
		Waiting []WaitingTasks `json:"waiting,omitempty"` // under EDF, in order of arrival
		Placed  []TasksPlaced  `json:"placed,omitempty"`  // the legs to which work belongs, by number
		Submit  grid.Time      `json:"submit"`            // of the local job that came last
		Taken   int            `json:"taken"`             // how many came with that submit
		Kept    int            `json:"kept,omitempty"`    // deadlines met
		Missed  int            `json:"missed,omitempty"`
		Learned *LearnedRuns   `json:"learned,omitempty"` // from runs that have ended
	}
	// NodeTasks is the work on a time-shared node, as of its last division among tasks.
	NodeTasks struct {
		At    grid.Time  `json:"at"`
		Tasks []TaskLeft `json:"tasks,omitempty"` // in order of arrival
	}
	// TaskLeft is what remains of a task, in milliseconds of its whole node.
	TaskLeft struct {
		Number   int64     `json:"number"`
		Deadline grid.Time `json:"deadline"`
		Estimate float64   `json:"estimate"`
		Work     float64   `json:"work"`
	}
	// RunningTasks is work that has nodes of its own.
	RunningTasks struct {
		Number int64     `json:"number"`
		End    grid.Time `json:"end"`
		Nodes  []int     `json:"nodes"`
	}
	// WaitingTasks is work that waits for nodes.
	WaitingTasks struct {
		Number   int64         `json:"number"`
		Nodes    int           `json:"nodes"`
		Estimate grid.Duration `json:"estimate"`
		Deadline grid.Time     `json:"deadline"`
		Run      grid.Duration `json:"run"`
	}
	// GroupMemory is what a cluster keeps about a group's local jobs.
	GroupMemory struct {
		Group    string          `json:"group"`
		Waiting  []grid.LocalJob `json:"waiting"`            // in queue order
		Running  []RunningJob    `json:"running"`            // in order of id
		Promised []JobPromised   `json:"promised,omitempty"` // jobs that wait for their slots, by id
		Submit   grid.Time       `json:"submit"`             // of the job that came last
		Taken    int             `json:"taken"`              // how many came with that submit
		Learned  *LearnedRuns    `json:"learned,omitempty"`  // from runs that have ended
		Shares   []UserShare     `json:"shares,omitempty"`   // for fair share, by user
	}
	// UserShare is a user's past use of a group's nodes, for fair share.
	UserShare struct {
		User  int64     `json:"user"`
		Had   uint64    `json:"had,omitempty"` // node-milliseconds, decayed to Since
		Since grid.Time `json:"since"`
		Nodes int       `json:"nodes,omitempty"` // in use now
	}
	// LearnedRuns is what a group's predictions of runs are based on.
	LearnedRuns struct {
		Users   []UserRuns `json:"users,omitempty"` // in order of user
		Runs    int64      `json:"runs,omitempty"`  // how many the weights are fitted to
		Weights []float64  `json:"weights,omitempty"`
		Spread  []float64  `json:"spread,omitempty"` // of the regression, row by row
	}
	// UserRuns are the last runs of a user's jobs.
	UserRuns struct {
		User   int64         `json:"user"`
		Last   grid.Duration `json:"last"`
		Before grid.Duration `json:"before,omitempty"`
	}
	// RunningJob is a local job that runs.
	RunningJob struct {
		Job   grid.LocalJob `json:"job"`
		Start grid.Time     `json:"start"`
		End   grid.Time     `json:"end"` // planned
	}
	// LockMemory is what a cluster keeps about nodes locked for a leg.
	LockMemory struct {
		NodesLocked
		State  LockState        `json:"state"`
		Heard  bool             `json:"heard,omitempty"`
		Agreed int              `json:"agreed,omitempty"` // its place in the order in which legs were confirmed
		Shifts uint32           `json:"turn,omitempty"`   // number of its last move within its window
		Fixed  bool             `json:"fixed,omitempty"`  // it no longer moves
		Number int64            `json:"number,omitempty"` // on a cluster of deadlines: that of its work
		Work   *grid.Handover   `json:"work,omitempty"`
		Result *grid.WorkResult `json:"result,omitempty"`
		Reason grid.Reason      `json:"reason,omitzero"`
		// Submitted is when its work was first submitted to a resource manager; 0: never.
		Submitted grid.Time `json:"submitted,omitempty"`
	}
	// ReleasedLeg is a released leg. Nothing is locked for it again.
	ReleasedLeg struct {
		Leg   grid.LegID `json:"leg"`
		At    grid.Time  `json:"at"`
		Begun bool       `json:"begun,omitempty"` // its work has begun, or may have: it must not begin again
	}
)

// LockState is the state of nodes that a cluster has locked for a leg.
type LockState string

// The states of a lock; the last two end it.
const (
	LockHeld      LockState = "locked"    // for a leg that may still be confirmed
	LockConfirmed LockState = "confirmed" // a reservation
	LockSubmitted LockState = "submitted" // still a reservation; its work is being submitted to a manager, so it may run from now on
	LockRunning   LockState = "running"   // its work runs
	LockHeard     LockState = "heard"     // its work runs, and the site knows it
	LockEnded     LockState = "ended"     // its work is over; the site is being told
	LockLost      LockState = "lost"      // its nodes are gone; the site is being told
	LockExpired   LockState = "expired"   // its time passed without a confirmation; it is forgotten
	LockReleased  LockState = "released"  // released by the site; nothing is locked for that leg again
)

// Kind names the fact.
func (JobStarted) Kind() string   { return "job-started" }
func (JobEnded) Kind() string     { return "job-ended" }
func (JobRefused) Kind() string   { return "job-refused" }
func (NodesLocked) Kind() string  { return "nodes-locked" }
func (NodesFreed) Kind() string   { return "nodes-freed" }
func (WorkBegun) Kind() string    { return "work-begun" }
func (JobQueued) Kind() string    { return "job-queued" }
func (JobExtended) Kind() string  { return "job-extended" }
func (LockMoved) Kind() string    { return "lock-moved" }
func (PilotClaimed) Kind() string { return "pilot-claimed" }
func (PilotBegun) Kind() string   { return "pilot-begun" }
func (PilotOver) Kind() string    { return "pilot-over" }
func (OrphanFound) Kind() string  { return "orphan-found" }
func (TasksPlaced) Kind() string  { return "tasks-placed" }
func (NodesSet) Kind() string     { return "nodes-set" }
func (ClusterImage) Kind() string { return "cluster-image" }

// About says what the fact is about.
func (JobStarted) About() Subject { return Subject{} }
func (JobEnded) About() Subject   { return Subject{} }
func (JobRefused) About() Subject { return Subject{} }
func (f NodesLocked) About() Subject {
	return Subject{Leg: f.Leg, Tx: f.Leg.Tx, Job: f.Job, User: f.User}
}
func (f NodesFreed) About() Subject   { return ofLeg(f.Leg) }
func (WorkBegun) About() Subject      { return Subject{} }
func (JobQueued) About() Subject      { return Subject{} }
func (JobExtended) About() Subject    { return Subject{} }
func (f LockMoved) About() Subject    { return ofLeg(f.Leg) }
func (f PilotClaimed) About() Subject { return ofJob(f.Job, f.User) }
func (PilotBegun) About() Subject     { return Subject{} }
func (f PilotOver) About() Subject    { return Subject{} }
func (OrphanFound) About() Subject    { return Subject{} }
func (f TasksPlaced) About() Subject  { return ofLeg(f.Leg) }
func (NodesSet) About() Subject       { return Subject{} }
func (ClusterImage) About() Subject   { return Subject{} }

func (f JobStarted) since() grid.Time  { return f.Begun }
func (f JobEnded) since() grid.Time    { return f.Ended }
func (f NodesFreed) since() grid.Time  { return f.When }
func (f JobExtended) since() grid.Time { return f.When }
func (f LockMoved) since() grid.Time   { return f.When }
func (f TasksPlaced) since() grid.Time { return f.When }
