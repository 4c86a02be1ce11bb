package agents

import "github.com/bourse-grid/bourse/grid"

// The messages between a broker and a site. The steps of a transaction are those of
// "Co-allocation across autonomous sites": Hold, Prepare, and Confirm or Cancel, each with
// one answer. Messages carry durations, never deadlines.

var brokerMessages = []Properties{
	{Submit{}, User, Broker, Request, SubmitReply{}},
	{SubmitReply{}, Broker, User, Reply, nil},
	{SitesLook{}, User, Broker, Request, SitesLooked{}},
	{SitesLooked{}, Broker, User, Reply, nil},
	{PricesLook{}, User, Broker, Request, PricesLooked{}},
	{PricesLooked{}, Broker, User, Reply, nil},
	{OfferRequest{}, Broker, Site, Request, Offers{}},
	{Offers{}, Site, Broker, Reply, nil},
	{QuoteRequest{}, Broker, Site, Request, Quotes{}},
	{Quotes{}, Site, Broker, Reply, nil},
	{Hold{}, Broker, Site, Step, Held{}},
	{Held{}, Site, Broker, Reply, nil},
	{Refused{}, Site, Broker, Reply, nil},
	{Prepare{}, Broker, Site, Step, Prepared{}},
	{Prepared{}, Site, Broker, Reply, nil},
	{Confirm{}, Broker, Site, Step, Confirmed{}},
	{Confirmed{}, Site, Broker, Reply, nil},
	{Cancel{}, Broker, Site, Step, Cancelled{}},
	{Cancelled{}, Site, Broker, Reply, nil},
	{LegStarted{}, Site, Broker, News, nil},
	{Settled{}, Site, Broker, Notice, Noted{}},
	{Shifted{}, Site, Broker, Notice, Noted{}},
	{ShiftOffer{}, Site, Broker, Request, ShiftDeclined{}},
	{ShiftDeclined{}, Broker, Site, Reply, nil},
}

// Stamp orders the replies of one site. It holds the epoch, which is the nonce of the
// site's life, and the number of facts that the site had recorded when it answered. From is
// their number when that life began: a peer that has heard of more facts of an earlier life
// knows that the site has forgotten some.
type Stamp struct {
	Epoch uint64
	Seq   uint64
	From  uint64
}

// At returns the stamp, for messages that embed it.
func (s Stamp) At() Stamp { return s }

// Submit hands a job to a broker.
type Submit struct{ Job grid.Job }

// SubmitReply says whether a broker has accepted a job; with a Reason it has not.
type SubmitReply struct {
	Job    string
	Reason grid.Reason
}

// SitesLook tells a broker that someone is about to look at what it knows of its sites. It
// asks those whose last answer is old, and answers once they have, or after a second.
type SitesLook struct{}

// SitesLooked says how many sites were asked, and how many of them have not answered.
type SitesLooked struct{ Asked, Silent int }

// PricesLook asks a broker for what sites would charge now for legs that nobody has asked to
// hold. It asks them, and answers once they have answered, or after a second.
type PricesLook struct {
	At       []LegsAt
	Together bool // as in QuoteRequest
}

// MaxQueued bounds the jobs of one question about queues: each answer is drawn anew.
const MaxQueued = 32

// LegsAt are legs at one site, and jobs that would be in its queues instead.
type LegsAt struct {
	Site   string
	Users  []string // leg by leg
	Legs   []grid.Leg
	Queued []grid.Queueing
}

// PricesLooked answers a PricesLook, site by site: nil of a site that has not answered, or does
// not forecast.
type PricesLooked struct {
	Quotes     [][]grid.Quote
	BestEffort [][]grid.BestEffort // job by job of Queued
}

// OfferRequest asks a site what is free from now until the horizon. A horizon in the past,
// such as 0, asks only for the site's stamp and clock.
type OfferRequest struct {
	Cycle   uint64
	Horizon grid.Time
	// Of the life that asks. 0 if it does not say; it is then not fenced.
	Incarnation uint32
	Nonce       uint64
	// Parts says that the broker knows legs that take slices of nodes. Without it no opened
	// nodes are offered, and groups are offered as not divided.
	Parts bool
}

// Offers is a site's answer. It describes the moment and promises nothing.
type Offers struct {
	Cycle   uint64
	Now     grid.Time // the site's clock
	Version uint64    // of the site's state
	Groups  []GroupOffer
	Refusal grid.Reason // set if the site is closed to this VO
	Stamp
	Nonce  uint64 // of the request, if that is refused as fenced
	Latest uint32 // in that case: as in Refused
}

// GroupOffer is what one group has free over the horizon.
type GroupOffer struct {
	Group      grid.Group
	Admissible grid.Profile  // what can be reserved at all
	Clear      grid.Profile  // what can be reserved at base price
	Queued     grid.Duration // waiting work: the sum of nodes x estimate, at most MaxDuration
	Shared     bool          // nodes are time-shared: none can be reserved, and legs with Work are quoted
	// Opened are nodes with legs on them that leave slices free, by start, by end, then in
	// the order in which they were opened; at most grid.MaxOpened. Their Group is 0.
	Opened []grid.Opened
}

// QuoteRequest asks for the prices of legs. Each is priced by itself or, if Together, as if
// those before it were held. A site of an older build does not know Together and prices
// each by itself; quotes are only indicative. It may also ask when jobs would start in the
// queues of the site's groups.
type QuoteRequest struct {
	Ref      uint64   // chosen by the broker, echoed
	Users    []string // leg by leg; nil: no user is named
	Legs     []grid.Leg
	Together bool // the legs are a set, in the order in which they will be held
	Queued   []grid.Queueing
}

// Quotes answers a QuoteRequest, leg by leg. Prices are only indicative.
type Quotes struct {
	Ref        uint64
	Version    uint64
	Quotes     []grid.Quote
	BestEffort []grid.BestEffort // job by job of Queued; nil: the site does not forecast
	Stamp
}

// Hold asks a site to lock capacity for a leg for a short time.
type Hold struct {
	Leg   grid.LegID
	What  grid.Leg
	Job   string
	User  string
	Limit grid.Credits  // the most that the broker will pay
	For   grid.Duration // how long the hold may last
	Run   grid.Duration // for simulated clusters: the real runtime of the work here; 0: to the end

	// Replaces names the confirmed leg that Confirm gives up for this one, and Version the
	// version of it that the broker knows; the zero LegID if there is none. Room and money
	// are counted as if that leg were gone.
	Replaces grid.LegID
	Version  uint32

	// Flex is the window within which the site may place the leg, and move it until it is
	// fixed; the zero Flex if there is none. Only a leg that is alone in its transaction
	// may have one, as legs with a common start cannot move separately.
	Flex grid.Flex

	// Offer is the number of the accepted ShiftOffer for the replaced leg; 0 if there is
	// none.
	Offer uint32

	// Pilot is the pilot whose nodes the leg is to have; the zero LegID if the site's nodes
	// are not had by pilots.
	Pilot grid.LegID
}

// Held says that the capacity is locked, at the binding price. Start and End say where a
// flexible leg was placed.
type Held struct {
	Leg     grid.LegID
	Fare    grid.Fare
	Version uint32 // of the leg: 1, or one more than that of the replaced leg
	Stamp

	Start, End grid.Time // both 0: as asked

	Proof grid.Proof

	Nodes []string // names of real nodes, at most grid.MaxNames
	// Meeting is host:port of the site's rendezvous for the legs of this transaction, and
	// Token admits them; "" if the site has none.
	Meeting string
	Token   string
}

// Refused says that a step was refused. Fare is the present price, if there is one.
type Refused struct {
	Leg    grid.LegID
	Step   string // kind of the refused step: Hold, Prepare, Confirm, Cancel or Release
	Fare   grid.Fare
	Reason grid.Reason
	// DecidedBy is that of the refused Confirm, Cancel or Release, otherwise the
	// incarnation in the leg's name. It keeps a later life of the broker from taking a
	// refusal of an earlier life's message as fencing itself.
	DecidedBy uint32
	Stamp
	// Instead lists, nearest first, where the site would have room for a leg whose Hold
	// asks for alternatives.
	Instead []grid.Place
	// Latest is the latest incarnation of that broker that the site has heard of, if the
	// step is refused as fenced; 0 if the site does not say.
	Latest uint32
}

// MaxInstead bounds the alternatives of a refusal.
const MaxInstead = 10

// Prepare extends the lock to the in-doubt limit, once every leg is held.
type Prepare struct {
	Leg grid.LegID
	For grid.Duration // the in-doubt limit
}

// Prepared says that Confirm can no longer be refused for lack of capacity or because of
// the price.
type Prepared struct {
	Leg grid.LegID
	Stamp
}

// Confirm carries the decision COMMIT.
type Confirm struct {
	Leg       grid.LegID
	DecidedBy uint32 // the incarnation that recorded the decision
	// Work is what the leg runs; nil if the site starts nothing. It comes only with the
	// decision: only then are the names of all legs' nodes known, and a refused or aborted
	// leg never carries it.
	Work *grid.Handover
}

// Confirmed says that the leg is now an advance reservation. Refund is what the site gives
// back for the replaced leg, which is released; Replaced proves that.
type Confirmed struct {
	Leg    grid.LegID
	Refund grid.Credits
	Stamp
	Proof    grid.Proof
	Replaced grid.Proof
}

// Cancel carries the decision ABORT, or gives a leg up before any decision.
type Cancel struct {
	Leg       grid.LegID
	DecidedBy uint32
}

// Cancelled says that the leg no longer holds anything.
type Cancelled struct {
	Leg grid.LegID
	Stamp
}

// LegStarted tells the broker that a confirmed leg runs.
type LegStarted struct {
	Leg grid.LegID
	Stamp
}

// Settled tells the broker that a leg has ended.
type Settled struct {
	Leg     grid.LegID
	End     grid.Time // its actual end
	Charged grid.Credits
	Result  *grid.WorkResult // of work started by the site; nil if there is none
	Stamp
}

// Shifted tells the broker that the site has moved its flexible leg within its window, or
// has fixed it where it is. It is repeated until a Noted with this number or a later one.
type Shifted struct {
	Leg        grid.LegID
	Start, End grid.Time
	Shifts     uint32 // counts the shifts of the leg, from 1
	Fixed      bool
	Stamp
	Proof grid.Proof
}

// ShiftOffer asks the owner of a confirmed leg to give up its place for another one, for
// payment. A site makes it on behalf of a request that it cannot place otherwise. It is
// accepted by a Hold that replaces the leg and names the offer. It is repeated until that,
// a ShiftDeclined, or its expiry. A leg has at most one open offer.
type ShiftOffer struct {
	Leg        grid.LegID
	Number     uint32    // counts the offers for the leg, from 1
	Version    uint32    // of the leg
	Start, End grid.Time // the new place
	Ready, Due grid.Time // the new window
	Pay        grid.Credits
	For        grid.Duration // remaining time for an answer
	Stamp
}

// ShiftDeclined declines a ShiftOffer, at the user's wish or for the Reason.
type ShiftDeclined struct {
	Leg     grid.LegID
	Number  uint32
	Version uint32
	Reason  grid.Reason
}

// Kind names the message.
func (Submit) Kind() string        { return "Submit" }
func (SubmitReply) Kind() string   { return "SubmitReply" }
func (SitesLook) Kind() string     { return "SitesLook" }
func (SitesLooked) Kind() string   { return "SitesLooked" }
func (PricesLook) Kind() string    { return "PricesLook" }
func (PricesLooked) Kind() string  { return "PricesLooked" }
func (OfferRequest) Kind() string  { return "OfferRequest" }
func (Offers) Kind() string        { return "Offers" }
func (QuoteRequest) Kind() string  { return "QuoteRequest" }
func (Quotes) Kind() string        { return "Quotes" }
func (Hold) Kind() string          { return "Hold" }
func (Held) Kind() string          { return "Held" }
func (Refused) Kind() string       { return "Refused" }
func (Prepare) Kind() string       { return "Prepare" }
func (Prepared) Kind() string      { return "Prepared" }
func (Confirm) Kind() string       { return "Confirm" }
func (Confirmed) Kind() string     { return "Confirmed" }
func (Cancel) Kind() string        { return "Cancel" }
func (Cancelled) Kind() string     { return "Cancelled" }
func (LegStarted) Kind() string    { return "LegStarted" }
func (Settled) Kind() string       { return "Settled" }
func (Shifted) Kind() string       { return "Shifted" }
func (ShiftOffer) Kind() string    { return "ShiftOffer" }
func (ShiftDeclined) Kind() string { return "ShiftDeclined" }

// LegID is the leg that the message is about.
func (m Hold) LegID() grid.LegID          { return m.Leg }
func (m Held) LegID() grid.LegID          { return m.Leg }
func (m Refused) LegID() grid.LegID       { return m.Leg }
func (m Prepare) LegID() grid.LegID       { return m.Leg }
func (m Prepared) LegID() grid.LegID      { return m.Leg }
func (m Confirm) LegID() grid.LegID       { return m.Leg }
func (m Confirmed) LegID() grid.LegID     { return m.Leg }
func (m Cancel) LegID() grid.LegID        { return m.Leg }
func (m Cancelled) LegID() grid.LegID     { return m.Leg }
func (m LegStarted) LegID() grid.LegID    { return m.Leg }
func (m Settled) LegID() grid.LegID       { return m.Leg }
func (m Shifted) LegID() grid.LegID       { return m.Leg }
func (m ShiftOffer) LegID() grid.LegID    { return m.Leg }
func (m ShiftDeclined) LegID() grid.LegID { return m.Leg }

// Decider is the incarnation that recorded the decision.
func (m Confirm) Decider() uint32 { return m.DecidedBy }
func (m Cancel) Decider() uint32  { return m.DecidedBy }

// JobName names the job that the message is about.
func (m Submit) JobName() string      { return m.Job.Name }
func (m SubmitReply) JobName() string { return m.Job }
