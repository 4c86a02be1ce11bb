package bourse

// Of a cluster: its local queue and what runs in its reservations.
type (
	// JobStarted says that a local job has started.
	JobStarted struct {
		Job    int64  `json:"job"`
		Group  string `json:"group"`
		Nodes  int    `json:"nodes"`
		Submit Time   `json:"submit"`
		End    Time   `json:"end"`   // by its estimate
		Class  string `json:"class"` // immediate, backfilled or reserved
		User   int64  `json:"user"`
		Queue  int    `json:"queue"`
		Begun  Time   `json:"begun,omitempty"` // when, if it is recorded later; see JobEnded
		Due    Time   `json:"due,omitempty"`   // where jobs have deadlines: by when it should have ended
	}
	// JobEnded says that a local job has ended: at the instant of the fact or,
	// where the cluster's process did not run then, before.
	JobEnded struct {
		Job    int64  `json:"job"`
		Group  string `json:"group"`
		Nodes  int    `json:"nodes"`
		Submit Time   `json:"submit"`
		Start  Time   `json:"start"`
		Killed bool   `json:"killed,omitempty"` // at its estimate
		Ended  Time   `json:"ended,omitempty"`  // when, if it is recorded later
		Due    Time   `json:"due,omitempty"`    // where jobs have deadlines: by when it should have
		// Work is what each of its nodes has done for it, where several jobs share
		// one; 0: they were its own all the time.
		Work Duration `json:"work,omitempty"`
	}
	// JobRefused says that a local job was turned away at entry.
	JobRefused struct {
		Job    int64  `json:"job"`
		Nodes  int    `json:"nodes"`
		Submit Time   `json:"submit"`
		Reason Reason `json:"reason"`
		Group  string `json:"group,omitempty"` // of a durable cluster
	}
	// NodesLocked says that a cluster has locked nodes for a leg.
	NodesLocked struct {
		Leg    LegID    `json:"leg"`
		What   Leg      `json:"what"`
		Beside LegID    `json:"beside,omitzero"` // a reservation whose nodes it counts on: no more than the larger of both is taken
		Ends   Time     `json:"ends,omitempty"`  // of a durable cluster: when its work is really over
		Flex   Flex     `json:"flex,omitzero"`   // the window within which it may lie
		Names  []string `json:"names,omitempty"` // of real nodes
		Job    string   `json:"job,omitempty"`   // whose work is to run on them, where they are real
		User   string   `json:"user,omitempty"`
	}
	// NodesFreed says that a leg's nodes are free from now on.
	NodesFreed struct {
		Leg  LegID `json:"leg"`
		When Time  `json:"when,omitempty"` // if it is recorded later
	}
)

// Of a cluster that runs in real time: what it must not forget. A simulation in
// virtual time records none of them.
type (
	// WorkBegun says from which instant on a cluster is fed its local work: the
	// zero of its trace or model.
	WorkBegun struct {
		At Time `json:"at"`
	}
	// JobQueued says that a local job waits. It carries all of the job, for the
	// cluster that goes on after a restart.
	JobQueued struct {
		Group string   `json:"group"`
		Job   LocalJob `json:"job"`
	}
	// JobExtended says that a local job outlives its estimate, and gives its new planned
	// end.
	JobExtended struct {
		Job   int64  `json:"job"`
		Group string `json:"group"`
		End   Time   `json:"end"`
		When  Time   `json:"when,omitempty"` // if it is recorded later
	}
	// LockMoved says that nodes locked for a leg have entered a state.
	LockMoved struct {
		Leg    LegID       `json:"leg"`
		State  LockState   `json:"state"`
		When   Time        `json:"when,omitempty"`   // if it is recorded later
		Work   *Handover   `json:"work,omitempty"`   // of a confirmed one: what is to run there
		Result *WorkResult `json:"result,omitempty"` // of an ended one
		Reason Reason      `json:"reason,omitzero"`  // of a lost one
		Begun  bool        `json:"begun,omitempty"`  // of a released one: its work has, or may have
	}
	// TasksPlaced says that a cluster of deadlines has taken the work of a leg or of
	// a local job, and on which of its nodes; of none while it waits in line,
	// which a second one ends.
	TasksPlaced struct {
		Group    string   `json:"group"`
		Number   int64    `json:"number"` // of the work, as the cluster counts it
		Leg      LegID    `json:"leg,omitzero"`
		What     Leg      `json:"what,omitzero"` // of the leg
		Job      LocalJob `json:"job,omitzero"`
		Deadline Time     `json:"deadline"`
		Run      Duration `json:"run"` // what it really takes, on a node of performance 1
		Nodes    []int    `json:"nodes,omitempty"`
		Start    Time     `json:"start,omitempty"` // in an image: since when it works
		When     Time     `json:"when,omitempty"`  // if it is recorded later
	}
	// ClusterImage is all that a durable cluster keeps: a journal begins anew
	// with it.
	ClusterImage struct {
		At      Time           `json:"at"`              // the instant of the image
		Begun   Time           `json:"begun,omitempty"` // when its local work began
		Fed     bool           `json:"fed,omitempty"`   // local work has begun
		Groups  []GroupMemory  `json:"groups"`
		Locks   []LockMemory   `json:"locks"` // in the order in which they were made
		Past    []ReleasedLeg  `json:"past"`  // in order of time
		Outages []NodesDown    `json:"outages"`
		Servers []ServerMemory `json:"servers,omitempty"` // of a cluster of deadlines, by group
	}
	// ServerMemory is what a cluster of deadlines keeps of a group.
	ServerMemory struct {
		Group   string         `json:"group"`
		At      Time           `json:"at"`
		Number  int64          `json:"number,omitempty"`  // of the last work that the cluster has taken
		Nodes   []NodeTasks    `json:"nodes,omitempty"`   // time-shared ones, by number
		Running []RunningTasks `json:"running,omitempty"` // under EDF, by end
		Waiting []WaitingTasks `json:"waiting,omitempty"` // under EDF, in order of arrival
		Placed  []TasksPlaced  `json:"placed,omitempty"`  // the legs that the work is of, by number
		Submit  Time           `json:"submit"`            // of the local job that was taken last
		Taken   int            `json:"taken"`             // how many of that submit
		Kept    int            `json:"kept,omitempty"`    // deadlines
		Missed  int            `json:"missed,omitempty"`
		Learned *LearnedRuns   `json:"learned,omitempty"` // of runs that have ended
	}
	// NodeTasks is the work on a time-shared node, as of its last division among tasks.
	NodeTasks struct {
		At    Time       `json:"at"`
		Tasks []TaskLeft `json:"tasks,omitempty"` // in order of arrival
	}
	// TaskLeft is what is left of a task, in milliseconds of its whole node.
	TaskLeft struct {
		Number   int64   `json:"number"`
		Deadline Time    `json:"deadline"`
		Estimate float64 `json:"estimate"`
		Work     float64 `json:"work"`
	}
	// RunningTasks is work that has nodes of its own.
	RunningTasks struct {
		Number int64 `json:"number"`
		End    Time  `json:"end"`
		Nodes  []int `json:"nodes"`
	}
	// WaitingTasks is work that waits for nodes.
	WaitingTasks struct {
		Number   int64    `json:"number"`
		Nodes    int      `json:"nodes"`
		Estimate Duration `json:"estimate"`
		Deadline Time     `json:"deadline"`
		Run      Duration `json:"run"`
	}
	// GroupMemory is what a cluster keeps of a group's local jobs.
	GroupMemory struct {
		Group    string        `json:"group"`
		Waiting  []LocalJob    `json:"waiting"`            // in queue order
		Running  []RunningJob  `json:"running"`            // in order of id
		Promised []JobPromised `json:"promised,omitempty"` // that wait for their slots, by id
		Submit   Time          `json:"submit"`             // of the job that was taken last
		Taken    int           `json:"taken"`              // how many of that submit
		Learned  *LearnedRuns  `json:"learned,omitempty"`  // of runs that have ended
		Shares   []UserShare   `json:"shares,omitempty"`   // of fair share, by user
	}
	// UserShare is what a user has had of a group's nodes, for fair share.
	UserShare struct {
		User  int64  `json:"user"`
		Had   uint64 `json:"had,omitempty"` // node-milliseconds, less what has decayed by Since
		Since Time   `json:"since"`
		Nodes int    `json:"nodes,omitempty"` // it has now
	}
	// LearnedRuns are what a group of nodes predicts runs by.
	LearnedRuns struct {
		Users   []UserRuns `json:"users,omitempty"` // in order
		Runs    int64      `json:"runs,omitempty"`  // that the weights are of
		Weights []float64  `json:"weights,omitempty"`
		Spread  []float64  `json:"spread,omitempty"` // row by row
	}
	// UserRuns are the last runs of a user's jobs.
	UserRuns struct {
		User   int64    `json:"user"`
		Last   Duration `json:"last"`
		Before Duration `json:"before,omitempty"`
	}
	// RunningJob is a local job that runs.
	RunningJob struct {
		Job   LocalJob `json:"job"`
		Start Time     `json:"start"`
		End   Time     `json:"end"` // planned
	}
	// LockMemory is what a cluster keeps of nodes locked for a leg.
	LockMemory struct {
		NodesLocked
		State  LockState   `json:"state"`
		Heard  bool        `json:"heard,omitempty"`
		Agreed int         `json:"agreed,omitempty"` // its place in the order in which legs were confirmed
		Shifts uint32      `json:"turn,omitempty"`   // of its last move within its window
		Fixed  bool        `json:"fixed,omitempty"`  // it moves no more
		Number int64       `json:"number,omitempty"` // of a cluster of deadlines: its work
		Work   *Handover   `json:"work,omitempty"`
		Result *WorkResult `json:"result,omitempty"`
		Reason Reason      `json:"reason,omitzero"`
		// Submitted is when a resource manager was first told its work; 0: never.
		Submitted Time `json:"submitted,omitempty"`
	}
	// ReleasedLeg is a leg that was released: nothing is locked for it again.
	ReleasedLeg struct {
		Leg   LegID `json:"leg"`
		At    Time  `json:"at"`
		Begun bool  `json:"begun,omitempty"` // its work has, or may have: it never does again
	}
)

// LockState is the state of nodes that a cluster has locked for a leg.
type LockState string

// The states of a lock, and the two ways in which one leaves.
const (
	LockHeld      LockState = "locked"    // for a leg that may yet be confirmed
	LockConfirmed LockState = "confirmed" // a reservation
	LockSubmitted LockState = "submitted" // still one; a manager is being told its work, so that it may have run from now on
	LockRunning   LockState = "running"   // work runs in it
	LockHeard     LockState = "heard"     // and the site knows it
	LockEnded     LockState = "ended"     // its work is over; the site is being told
	LockLost      LockState = "lost"      // its nodes are gone; the site is being told
	LockExpired   LockState = "expired"   // its time has passed unconfirmed: forgotten
	LockReleased  LockState = "released"  // by the site: nothing is locked for that leg again
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
func (TasksPlaced) Kind() string  { return "tasks-placed" }
func (ClusterImage) Kind() string { return "cluster-image" }
