package agents

import "github.com/bourse-grid/bourse/grid"

// The messages about pilots: jobs that hold nodes of a cluster without reservations, and idle
// until a window is committed on them. A broker says which pilots of a job's part it wants,
// the site passes that on to its cluster, and the cluster answers with what is there. Each
// request says all, so that one that is lost is made good by the next, and nothing about it
// is stored in between. What is not asked for again for PilotLease is left.

var pilotMessages = []Properties{
	{PilotsRequest{}, Broker, Site, Request, Pilots{}},
	{Pilots{}, Site, Broker, Reply, nil},
	{ClusterPilotsRequest{}, Site, Cluster, Request, ClusterPilots{}},
	{ClusterPilots{}, Cluster, Site, Reply, nil},
}

// PilotLease is how long a pilot is wanted after it was last asked for.
const PilotLease = 8 * grid.Minute

// PilotLeaves is how long before the end of its grant a pilot leaves, whatever becomes of all others:
// so that it is gone when the grant is over.
const PilotLeaves = 5 * grid.Second

// MaxPilots bounds the pilots of a request.
const MaxPilots = 64

// PilotsRequest says which pilots a broker wants for a part of a job, and asks what is there.
// Without orders it only asks.
type PilotsRequest struct {
	Ref    uint64 // echoed; the broker's life is in its upper half, and it grows within a life
	Broker string
	Job    string
	User   string
	Group  string        // where the nodes are; "": in the first group that has enough
	Nodes  int           // of each pilot
	Limit  grid.Duration // of each pilot
	Price  grid.Price    // of a node, as the broker was told; a new pilot is denied if it has risen. 0: none was told
	Orders []PilotOrder
	// Foresee asks when a pilot would begin that came last in the manager's queue now.
	Foresee bool
}

// PilotOrder is what is wanted of one pilot. What is granted never falls, and one that is told
// to leave is never wanted again.
type PilotOrder struct {
	Pilot   grid.LegID
	Granted grid.Duration // how long it may idle from its begin, by its manager
	Leave   bool
}

// Pilots answers a PilotsRequest.
type Pilots struct {
	Ref     uint64
	Refusal grid.Reason     // why nothing can be had or said; the pilots stay as they are
	Group   string          // in which they are; "": in none
	Cluster int             // its nodes
	Price   grid.Price      // of one of them
	At      grid.Time       // the answer shows what was there then, or later
	Fits    bool            // one more pilot would start now
	Room    int             // so many more pilots the site takes, of all jobs
	Pilots  []PilotIs       // of the orders, in their order
	Likely  grid.BestEffort // when one more pilot would begin, if that was asked and is forecast
}

// PilotIs is what is known of a pilot.
type PilotIs struct {
	Pilot      grid.LegID
	State      grid.PilotState // one of a later build: it is asked for again
	Begin, End grid.Time       // by its manager; 0: not yet, or never
	Reason     grid.Reason     // of one that is denied, or has ended early

	// Of one that is over, the time of its nodes from its begin to its end, or to the begin of
	// the window that was confirmed on them; and what a node cost when it was claimed.
	Idled grid.Duration
	Price grid.Price
	Cost  grid.Credits // what the site has charged for that, once
}

// ClusterPilotsRequest passes a broker's request on.
type ClusterPilotsRequest struct {
	For ID // the broker
	Ask PilotsRequest
}

// ClusterPilots passes the answer back.
type ClusterPilots struct {
	For ID
	Pilots
}

// Kind names the message.
func (PilotsRequest) Kind() string        { return "PilotsRequest" }
func (Pilots) Kind() string               { return "Pilots" }
func (ClusterPilotsRequest) Kind() string { return "ClusterPilotsRequest" }
func (ClusterPilots) Kind() string        { return "ClusterPilots" }

// JobName is the job whose part the pilots are for.
func (m PilotsRequest) JobName() string { return m.Job }

// BrokerName is the broker in whose name the message is sent.
func (m PilotsRequest) BrokerName() string { return m.Broker }
