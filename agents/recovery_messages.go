package agents

import "github.com/bourse-grid/bourse/grid"

// The messages of a transaction that did not go smoothly, or that is given up afterwards;
// see docs/TRANSACTION.md.

var recoveryMessages = []Properties{
	{Release{}, Broker, Site, Step, Released{}},
	{Released{}, Site, Broker, Reply, nil},
	{Inquire{}, Site, Broker, Request, Answer{}},
	{Answer{}, Broker, Site, Reply, nil},
	{Heuristic{}, Site, Broker, Notice, Noted{}},
	{Degraded{}, Site, Broker, Notice, Noted{}},
	{Noted{}, Broker, Site, Reply, nil},
	{List{}, Broker, Site, Request, Listing{}},
	{Listing{}, Site, Broker, Reply, nil},
	{Reassert{}, Broker, Site, Request, Reasserted{}},
	{Reasserted{}, Site, Broker, Reply, nil},
	{JobCancel{}, User, Broker, Request, JobReply{}},
	{JobModify{}, User, Broker, Request, JobReply{}},
	{OfferAnswer{}, User, Broker, Request, JobReply{}},
	{JobReply{}, Broker, User, Reply, nil},
}

// Release gives up a confirmed leg, at the user's wish or because another leg of its window
// is gone. With Full all money is paid back, by agreement of both sides. Otherwise the
// schedule in the site's profile determines the refund.
type Release struct {
	Leg       grid.LegID
	DecidedBy uint32
	Full      bool
}

// Released says that the leg no longer holds anything, and what is refunded.
type Released struct {
	Leg    grid.LegID
	Refund grid.Credits
	Stamp
	Proof grid.Proof
}

// Inquire asks the broker for the decision on a prepared leg.
type Inquire struct {
	Leg grid.LegID
	Stamp
}

// Verdict is a broker's answer to an Inquire.
type Verdict uint8

// The verdicts.
const (
	Wait    Verdict = iota // undecided, or the broker does not know yet
	Commit                 // confirm the leg
	Abort                  // cancel it
	Unknown                // the broker has no record of that life or sequence
)

var verdicts = [...]string{"wait", "commit", "abort", "unknown"}

func (v Verdict) String() string { return verdicts[v] }

// Answer answers an Inquire.
type Answer struct {
	Leg       grid.LegID
	Verdict   Verdict
	DecidedBy uint32
}

// Heuristic says that a prepared leg was released in doubt. It is repeated until Noted.
type Heuristic struct {
	Leg grid.LegID
	Stamp
}

// Degraded says that the site cannot serve a leg. It is repeated until Noted. Refund is
// what was charged for a confirmed leg, and Penalty what the site adds. Reason is set if
// the site knows more than that the nodes are gone.
type Degraded struct {
	Leg     grid.LegID
	Refund  grid.Credits
	Penalty grid.Credits
	Reason  grid.Reason
	Stamp
	Proof grid.Proof
}

// Noted acknowledges a site's notice: Heuristic, Degraded, Settled or Shifted.
type Noted struct {
	Leg         grid.LegID
	Step        string // kind of the notice
	Shifts      uint32 // of a Shifted: its number
	Incarnation uint32 // the broker's life that has taken the notice; 0: a build that does not say
}

// List is the first message of a broker's new life to a site. It asks for all legs under
// the broker's name and tells the site to take no more decisions from its earlier lives.
// Known are the legs at this site that the broker has on record and that are not over. Any
// of them that the site does not know becomes a tombstone.
type List struct {
	Broker      string
	Incarnation uint32
	Nonce       uint64
	Known       []grid.LegID
}

// Listing answers a List.
type Listing struct {
	Incarnation uint32 // of the List that it answers
	Legs        []ListedLeg
	Refusal     grid.Reason // Fenced: another process has this name
	Stamp
	Nonce  uint64 // of the List; 0 if it does not say
	Latest uint32 // of a Refusal: as in Refused
}

// ListedLeg is one leg of a Listing.
type ListedLeg struct {
	Leg   grid.LegID
	What  grid.Leg
	Job   string
	User  string
	State grid.LegState
	Fare  grid.Fare
	Limit grid.Credits
	Left  grid.Duration // held or prepared: time left until its limit
	End   grid.Time     // settled: end of the work

	Version uint32
	Refund  grid.Credits // released or lost: given back
	Penalty grid.Credits // lost: added by the site
	Run     grid.Duration
	Result  *grid.WorkResult // settled: of work started by the site
	Reason  grid.Reason      // lost: why, if the site knows more

	// Of a Listing: the window in which the site may move the leg, its place once that is
	// fixed, and the number of its last Shifted. A site of an older build names neither.
	Flex   grid.Flex
	Shifts uint32

	Proof grid.Proof // the site's proof of what it has said about the leg
}

// Reassert tells a site that has lost its memory of a leg what the leg was. An open one is
// to be restored at the same price, and a closed one recorded as closed. It includes the
// proof that the site gave when it said so.
type Reassert struct {
	Leg         ListedLeg
	Incarnation uint32
	Nonce       uint64
	Work        *grid.Handover // of an open leg: as in Confirm
}

// Reasserted says whether the leg now stands as asserted; a Reason says why not.
type Reasserted struct {
	Leg    grid.LegID
	Reason grid.Reason
	Stamp
}

// JobCancel asks, on behalf of a user, to give up a job. User must own the job.
type JobCancel struct {
	Job  string
	User string
}

// JobModify asks for another window, for this request, to replace the window of a placed
// job. The job gets the new window or keeps the old one. User must own the job.
type JobModify struct {
	Job     string
	User    string
	Request grid.Request
}

// OfferAnswer is a user's answer to one of the offers for a job, by number. Accepting asks
// for a transaction that shifts the job.
type OfferAnswer struct {
	Job    string
	User   string
	N      int
	Accept bool
}

// JobReply answers a JobCancel, JobModify or OfferAnswer; a Reason means that it was
// refused.
type JobReply struct {
	Job    string
	Refund grid.Credits
	Reason grid.Reason
}

// Kind names the message.
func (Release) Kind() string     { return "Release" }
func (Released) Kind() string    { return "Released" }
func (Inquire) Kind() string     { return "Inquire" }
func (Answer) Kind() string      { return "Answer" }
func (Heuristic) Kind() string   { return "Heuristic" }
func (Degraded) Kind() string    { return "Degraded" }
func (Noted) Kind() string       { return "Noted" }
func (List) Kind() string        { return "List" }
func (Listing) Kind() string     { return "Listing" }
func (Reassert) Kind() string    { return "Reassert" }
func (Reasserted) Kind() string  { return "Reasserted" }
func (JobCancel) Kind() string   { return "JobCancel" }
func (JobModify) Kind() string   { return "JobModify" }
func (OfferAnswer) Kind() string { return "OfferAnswer" }
func (JobReply) Kind() string    { return "JobReply" }

// LegID is the leg that the message is about.
func (m Release) LegID() grid.LegID    { return m.Leg }
func (m Released) LegID() grid.LegID   { return m.Leg }
func (m Inquire) LegID() grid.LegID    { return m.Leg }
func (m Answer) LegID() grid.LegID     { return m.Leg }
func (m Heuristic) LegID() grid.LegID  { return m.Leg }
func (m Degraded) LegID() grid.LegID   { return m.Leg }
func (m Noted) LegID() grid.LegID      { return m.Leg }
func (m Reassert) LegID() grid.LegID   { return m.Leg.Leg }
func (m Reasserted) LegID() grid.LegID { return m.Leg }

// BrokerName is the broker in whose name the message is sent.
func (m List) BrokerName() string { return m.Broker }

// Decider is the incarnation that recorded the decision.
func (m Release) Decider() uint32 { return m.DecidedBy }
func (m Answer) Decider() uint32  { return m.DecidedBy }

// JobName names the job that the message is about.
func (m JobCancel) JobName() string   { return m.Job }
func (m JobModify) JobName() string   { return m.Job }
func (m OfferAnswer) JobName() string { return m.Job }
func (m JobReply) JobName() string    { return m.Job }
