package agents

import "github.com/bourse-grid/bourse"

// The messages of a transaction that did not go smoothly, or that is given up
// after it did; see docs/TRANSACTION.md.

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

// Release gives a confirmed leg up: by its user, or because another leg of its
// window is gone. Full asks for all money back, by both sides' agreement; else
// the schedule of the site's profile says what is refunded.
type Release struct {
	Leg       bourse.LegID
	DecidedBy uint32
	Full      bool
}

// Released says that the leg holds nothing any more and what is refunded.
type Released struct {
	Leg    bourse.LegID
	Refund bourse.Credits
	Stamp
	Proof bourse.Proof
}

// Inquire asks the broker for the decision on a prepared leg.
type Inquire struct {
	Leg bourse.LegID
	Stamp
}

// Verdict is a broker's answer to an Inquire.
type Verdict uint8

// The verdicts.
const (
	Wait    Verdict = iota // not decided, or the broker does not know yet
	Commit                 // confirm the leg
	Abort                  // cancel it
	Unknown                // a life or a sequence that the broker has no record of
)

var verdicts = [...]string{"wait", "commit", "abort", "unknown"}

func (v Verdict) String() string { return verdicts[v] }

// Answer answers an Inquire.
type Answer struct {
	Leg       bourse.LegID
	Verdict   Verdict
	DecidedBy uint32
}

// Heuristic says that a prepared leg was released in doubt; repeated
// until Noted.
type Heuristic struct {
	Leg bourse.LegID
	Stamp
}

// Degraded says that the site cannot serve a leg; repeated until Noted.
// Refund is what a confirmed leg was charged, Penalty what the site adds, Reason
// why, where the site knows more than that the nodes are gone.
type Degraded struct {
	Leg     bourse.LegID
	Refund  bourse.Credits
	Penalty bourse.Credits
	Reason  bourse.Reason
	Stamp
	Proof bourse.Proof
}

// Noted acknowledges a notice of a site: Heuristic, Degraded, Settled or Shifted.
type Noted struct {
	Leg    bourse.LegID
	Step   string // the notice's kind
	Shifts uint32 // of a Shifted: its number
}

// List is the first word of a broker's new life to a site: tell me all legs of
// my name, and from now on take no decision of my earlier lives. Known are the
// legs the broker has a record of there and that are not over; one the site
// does not know becomes a tombstone.
type List struct {
	Broker      string
	Incarnation uint32
	Nonce       uint64
	Known       []bourse.LegID
}

// Listing answers a List.
type Listing struct {
	Incarnation uint32 // of the List it answers
	Legs        []ListedLeg
	Refusal     bourse.Reason // Fenced: another process has this name
	Stamp
	Nonce  uint64 // of the List; 0: it does not say
	Latest uint32 // of a Refusal: as in Refused
}

// ListedLeg is one leg of a Listing.
type ListedLeg struct {
	Leg   bourse.LegID
	What  bourse.Leg
	Job   string
	User  string
	State bourse.LegState
	Fare  bourse.Fare
	Limit bourse.Credits
	Left  bourse.Duration // held or prepared: until its limit
	End   bourse.Time     // settled: of the work

	Version uint32
	Refund  bourse.Credits // released or lost: given back
	Penalty bourse.Credits // lost: added by the site
	Run     bourse.Duration
	Result  *bourse.WorkResult // settled: of work that the site has started
	Reason  bourse.Reason      // lost: why, where the site knows more

	// Of a Listing: the window that its site may move it in, where it lies once that is
	// fixed, and the number of its last Shifted. A site of an older build names neither.
	Flex   bourse.Flex
	Shifts uint32

	Proof bourse.Proof // the site's own, of what it said the leg is
}

// Reassert tells a site that has lost its memory of a leg what it was: an open
// one to be had again at the same price, a closed one to be known as closed. The
// leg comes with the proof that the site gave when it said so.
type Reassert struct {
	Leg         ListedLeg
	Incarnation uint32
	Nonce       uint64
	Work        *bourse.Handover // of an open leg: as in Confirm
}

// Reasserted says whether the leg stands as asserted; a Reason says why not.
type Reasserted struct {
	Leg    bourse.LegID
	Reason bourse.Reason
	Stamp
}

// JobCancel is a user's wish to give a job up; JobModify to have it otherwise.
// User must be the job's own.
type JobCancel struct {
	Job  string
	User string
}

// JobModify asks for another window for a placed job, of this request, in place
// of the one it has: both or neither.
type JobModify struct {
	Job     string
	User    string
	Request bourse.Request
}

// OfferAnswer is a user's answer to the offer of that number, one of those for a
// job. To accept asks for a transaction that shifts the job.
type OfferAnswer struct {
	Job    string
	User   string
	N      int
	Accept bool
}

// JobReply answers a JobCancel, JobModify or OfferAnswer; a Reason means no.
type JobReply struct {
	Job    string
	Refund bourse.Credits
	Reason bourse.Reason
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
func (m Release) LegID() bourse.LegID    { return m.Leg }
func (m Released) LegID() bourse.LegID   { return m.Leg }
func (m Inquire) LegID() bourse.LegID    { return m.Leg }
func (m Answer) LegID() bourse.LegID     { return m.Leg }
func (m Heuristic) LegID() bourse.LegID  { return m.Leg }
func (m Degraded) LegID() bourse.LegID   { return m.Leg }
func (m Noted) LegID() bourse.LegID      { return m.Leg }
func (m Reassert) LegID() bourse.LegID   { return m.Leg.Leg }
func (m Reasserted) LegID() bourse.LegID { return m.Leg }

// Decider is the incarnation that recorded the decision.
func (m Release) Decider() uint32 { return m.DecidedBy }
func (m Answer) Decider() uint32  { return m.DecidedBy }

// JobName names the job that the message is about.
func (m JobCancel) JobName() string   { return m.Job }
func (m JobModify) JobName() string   { return m.Job }
func (m OfferAnswer) JobName() string { return m.Job }
func (m JobReply) JobName() string    { return m.Job }
