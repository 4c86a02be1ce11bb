package agents

import "github.com/bourse-grid/bourse/grid"

// The messages with which a user reads the output of a job's work, and the files of its
// folder. They go through the broker, the site that carries the leg, and its cluster. Each is
// sent once and is answered at once or never; nothing about it is stored. An answer names
// what it has read: a build that knows only output answers every request with that.

var outputMessages = []Properties{
	{JobOutput{}, User, Broker, Request, JobOutputReply{}},
	{JobOutputReply{}, Broker, User, Reply, nil},
	{LegOutputRequest{}, Broker, Site, Request, LegOutput{}},
	{LegOutput{}, Site, Broker, Reply, nil},
	{ClusterOutputRequest{}, Site, Cluster, Request, ClusterOutput{}},
	{ClusterOutput{}, Cluster, Site, Reply, nil},
}

// JobOutput asks for the output or the files of one part of a job. User must own the job.
type JobOutput struct {
	Job    string
	User   string
	Part   int // part of its window, from 0, as in BOURSE_LEG
	Source grid.Source
	From   int64 // first byte of output or of a file; below 0: counted from the end
}

// JobOutputReply answers a JobOutput; a Reason means that there is nothing to show.
type JobOutputReply struct {
	Job    string
	Site   string // the site that carries the part
	From   int64  // of Data
	Size   int64  // of the whole so far; of a list, the number of files seen
	Data   []byte // at most grid.MaxTail bytes; of a digest, its 32 bytes
	Files  []grid.WorkFile
	Over   bool // the part has ended: there will be nothing after Size
	Reason grid.Reason
}

// LegOutputRequest asks a site for the output of a leg's work.
type LegOutputRequest struct {
	Leg    grid.LegID
	Ref    uint64      // echoed
	Source grid.Source // as in JobOutput
	From   int64       // as in JobOutput
}

// LegOutput answers a LegOutputRequest. It says nothing about the leg's state, and
// therefore has no stamp.
type LegOutput struct {
	Leg     grid.LegID
	Ref     uint64
	What    grid.Reading // of the request
	From    int64
	Size    int64
	Data    []byte
	Files   []grid.WorkFile
	Failure grid.Reason
}

// ClusterOutputRequest asks a cluster for the output of a leg's work, even if it no longer
// keeps a lock for the leg.
type ClusterOutputRequest struct {
	Leg    grid.LegID
	Ref    uint64
	File   string // as in the result of the work; "" if there is none yet
	Source grid.Source
	From   int64
}

// ClusterOutput answers a ClusterOutputRequest.
type ClusterOutput struct {
	Leg     grid.LegID
	Ref     uint64
	What    grid.Reading
	From    int64
	Size    int64
	Data    []byte
	Files   []grid.WorkFile
	Failure grid.Reason
}

// Kind names the message.
func (JobOutput) Kind() string            { return "JobOutput" }
func (JobOutputReply) Kind() string       { return "JobOutputReply" }
func (LegOutputRequest) Kind() string     { return "LegOutputRequest" }
func (LegOutput) Kind() string            { return "LegOutput" }
func (ClusterOutputRequest) Kind() string { return "ClusterOutputRequest" }
func (ClusterOutput) Kind() string        { return "ClusterOutput" }

// LegID is the leg that the message is about.
func (m LegOutputRequest) LegID() grid.LegID     { return m.Leg }
func (m LegOutput) LegID() grid.LegID            { return m.Leg }
func (m ClusterOutputRequest) LegID() grid.LegID { return m.Leg }
func (m ClusterOutput) LegID() grid.LegID        { return m.Leg }

// JobName names the job that the message is about.
func (m JobOutput) JobName() string      { return m.Job }
func (m JobOutputReply) JobName() string { return m.Job }
