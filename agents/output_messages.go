package agents

import "github.com/bourse-grid/bourse"

// The messages by which a user reads what the work of a job has printed: through
// the broker, the site that carries the leg, and its cluster. Each is asked once and
// answered at once or not at all; nothing of it is kept.

var outputMessages = []Properties{
	{JobOutput{}, User, Broker, Request, JobOutputReply{}},
	{JobOutputReply{}, Broker, User, Reply, nil},
	{LegOutputRequest{}, Broker, Site, Request, LegOutput{}},
	{LegOutput{}, Site, Broker, Reply, nil},
	{ClusterOutputRequest{}, Site, Cluster, Request, ClusterOutput{}},
	{ClusterOutput{}, Cluster, Site, Reply, nil},
}

// JobOutput asks for what one part of a job has printed. User must be the job's own.
type JobOutput struct {
	Job  string
	User string
	Part int   // of its window, from 0, as BOURSE_LEG has it
	From int64 // first byte; below 0: so many of the last ones
}

// JobOutputReply answers a JobOutput; a Reason means that there is nothing to show.
type JobOutputReply struct {
	Job    string
	Site   string // that carries the part
	From   int64  // of Data
	Size   int64  // of the whole output as yet
	Data   []byte // at most bourse.MaxTail bytes
	Over   bool   // the part has ended: nothing more comes after Size
	Reason bourse.Reason
}

// LegOutputRequest asks a site for what the work of a leg has printed.
type LegOutputRequest struct {
	Leg  bourse.LegID
	Ref  uint64 // echoed
	From int64  // as in JobOutput
}

// LegOutput answers a LegOutputRequest. It says nothing of the leg's state, and so
// has no stamp.
type LegOutput struct {
	Leg     bourse.LegID
	Ref     uint64
	From    int64
	Size    int64
	Data    []byte
	Failure bourse.Reason
}

// ClusterOutputRequest asks a cluster for what the work of a leg has printed, also
// of a leg that it keeps no lock for any more.
type ClusterOutputRequest struct {
	Leg  bourse.LegID
	Ref  uint64
	File string // as the result of the work has it; "": there is none yet
	From int64
}

// ClusterOutput answers a ClusterOutputRequest.
type ClusterOutput struct {
	Leg     bourse.LegID
	Ref     uint64
	From    int64
	Size    int64
	Data    []byte
	Failure bourse.Reason
}

// Kind names the message.
func (JobOutput) Kind() string            { return "JobOutput" }
func (JobOutputReply) Kind() string       { return "JobOutputReply" }
func (LegOutputRequest) Kind() string     { return "LegOutputRequest" }
func (LegOutput) Kind() string            { return "LegOutput" }
func (ClusterOutputRequest) Kind() string { return "ClusterOutputRequest" }
func (ClusterOutput) Kind() string        { return "ClusterOutput" }

// LegID is the leg that the message is about.
func (m LegOutputRequest) LegID() bourse.LegID     { return m.Leg }
func (m LegOutput) LegID() bourse.LegID            { return m.Leg }
func (m ClusterOutputRequest) LegID() bourse.LegID { return m.Leg }
func (m ClusterOutput) LegID() bourse.LegID        { return m.Leg }

// JobName names the job that the message is about.
func (m JobOutput) JobName() string      { return m.Job }
func (m JobOutputReply) JobName() string { return m.Job }
