package agents

import "github.com/bourse-grid/bourse"

// The messages between a broker and a site. The steps of a transaction are
// those of "Co-allocation across autonomous sites": Hold, Prepare, Confirm or
// Cancel, each answered once. Messages carry durations, never deadlines.

var brokerMessages = []Properties{
	{Submit{}, User, Broker, Request, SubmitReply{}},
	{SubmitReply{}, Broker, User, Reply, nil},
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

// Stamp orders the replies of one site: the epoch, which is the nonce of its
// life, and how many facts it had recorded when it answered. From is how many
// there were when that life began: who has heard more of an earlier life knows
// that the site has forgotten.
type Stamp struct {
	Epoch uint64
	Seq   uint64
	From  uint64
}

// At is the stamp itself: what a site says has it embedded.
func (s Stamp) At() Stamp { return s }

// Submit hands a job to a broker.
type Submit struct{ Job bourse.Job }

// SubmitReply says whether a broker has taken a job; a Reason means not.
type SubmitReply struct {
	Job    string
	Reason bourse.Reason
}

// OfferRequest asks a site what is free from now until the horizon; with one that
// is over, such as 0, for its stamp and its clock alone.
type OfferRequest struct {
	Cycle   uint64
	Horizon bourse.Time
	// Of the life that asks. 0: it does not say, and is not fenced.
	Incarnation uint32
	Nonce       uint64
}

// Offers is a site's answer: data of the moment, not a promise.
type Offers struct {
	Cycle   uint64
	Now     bourse.Time // the site's clock
	Version uint64      // of the site's state
	Groups  []GroupOffer
	Refusal bourse.Reason // the site is closed to this VO
	Stamp
	Nonce  uint64 // of the request, where it is refused as fenced
	Latest uint32 // then: as in Refused
}

// GroupOffer is one group's free nodes over the horizon.
type GroupOffer struct {
	Group      bourse.Group
	Admissible bourse.Profile  // what can be reserved at all
	Clear      bourse.Profile  // what can be reserved at base price
	Queued     bourse.Duration // what waits in the group's queue: the sum of nodes x estimate, at most MaxDuration
	Shared     bool            // its nodes are time-shared: none can be reserved, legs with Work are quoted
}

// QuoteRequest asks for the price of legs: of each taken by itself or, together, of
// each once those before it are held. A site of an older build does not know
// Together and prices each by itself: quotes are indicative.
type QuoteRequest struct {
	Ref      uint64   // the broker's, echoed
	Users    []string // leg by leg; nil: nobody's by name
	Legs     []bourse.Leg
	Together bool // the legs are a set, in the order in which they will be held
}

// Quotes answers a QuoteRequest, leg by leg. They are indicative.
type Quotes struct {
	Ref     uint64
	Version uint64
	Quotes  []bourse.Quote
	Stamp
}

// Hold asks a site to lock capacity for a leg for a short time.
type Hold struct {
	Leg   bourse.LegID
	What  bourse.Leg
	Job   string
	User  string
	Limit bourse.Credits  // the most it will pay
	For   bourse.Duration // how long the hold may last
	Run   bourse.Duration // what the work really takes here, for simulated clusters; 0: to the end

	// Replaces names the confirmed leg that Confirm is to give up for this one,
	// and Version the version of it that the broker knows; the zero LegID: none.
	// Room and money are counted net of it.
	Replaces bourse.LegID
	Version  uint32

	// Flex is the window within which the site may place the leg, and move it until
	// it is fixed; the zero one: none. Only the one leg of a transaction has any:
	// legs with a common start do not move alone.
	Flex bourse.Flex

	// Offer is the number of the ShiftOffer for the leg replaced that this accepts;
	// 0: none.
	Offer uint32
}

// Held says that the capacity is locked, at the price that binds. Start and
// End are where a flexible leg has its place.
type Held struct {
	Leg     bourse.LegID
	Fare    bourse.Fare
	Version uint32 // of the leg: 1, or one more than that of the leg it replaces
	Stamp

	Start, End bourse.Time // both 0: where it was asked

	Proof bourse.Proof

	Nodes []string // their names, where they are real; at most bourse.MaxNames
	// Meeting is host:port of a rendezvous that the site has for the legs of this
	// transaction, and Token lets them in; "": it has none.
	Meeting string
	Token   string
}

// Refused says that a step was refused; Fare is the present price where
// there is one.
type Refused struct {
	Leg    bourse.LegID
	Step   string // the kind of what is refused: Hold, Prepare, Confirm, Cancel or Release
	Fare   bourse.Fare
	Reason bourse.Reason
	// DecidedBy is that of the Confirm, Cancel or Release refused, else the
	// incarnation in the leg's name: a later life of the broker is not fenced by
	// what one before it had sent.
	DecidedBy uint32
	Stamp
	// Instead lists, nearest first, where the site would have had room for a leg
	// whose Hold wants to hear of alternatives.
	Instead []bourse.Place
	// Latest is of a step refused as fenced: the latest incarnation of that broker
	// that the site has heard of. 0: it does not say.
	Latest uint32
}

// MaxInstead bounds the alternatives of a refusal.
const MaxInstead = 10

// Prepare extends the lock to the in-doubt limit, once every leg is held.
type Prepare struct {
	Leg bourse.LegID
	For bourse.Duration // the in-doubt limit
}

// Prepared says that Confirm can no longer be refused for capacity or price.
type Prepared struct {
	Leg bourse.LegID
	Stamp
}

// Confirm carries the decision COMMIT.
type Confirm struct {
	Leg       bourse.LegID
	DecidedBy uint32 // the incarnation that recorded the decision
	// Work is what the leg runs; nil: nothing that the site starts. It comes with the
	// decision and not before: by then the names of all legs' nodes are known, and
	// what is refused or aborted has not carried it.
	Work *bourse.Handover
}

// Confirmed says that the leg is an advance reservation now. Refund is what
// the site gives back of the leg that it replaces, which is released; Replaced is
// the proof of that.
type Confirmed struct {
	Leg    bourse.LegID
	Refund bourse.Credits
	Stamp
	Proof    bourse.Proof
	Replaced bourse.Proof
}

// Cancel carries the decision ABORT, or gives a leg up before any.
type Cancel struct {
	Leg       bourse.LegID
	DecidedBy uint32
}

// Cancelled says that the leg holds nothing any more.
type Cancelled struct {
	Leg bourse.LegID
	Stamp
}

// LegStarted tells the broker that a confirmed leg runs.
type LegStarted struct {
	Leg bourse.LegID
	Stamp
}

// Settled tells the broker that a leg has ended.
type Settled struct {
	Leg     bourse.LegID
	End     bourse.Time // its actual end
	Charged bourse.Credits
	Result  *bourse.WorkResult // of work that the site has started; nil: none
	Stamp
}

// Shifted tells the broker that its flexible leg stands elsewhere within
// its window now, or is fixed where it stands; repeated until Noted with its number
// or a later one.
type Shifted struct {
	Leg        bourse.LegID
	Start, End bourse.Time
	Shifts     uint32 // counts the shifts of the leg, from 1
	Fixed      bool
	Stamp
	Proof bourse.Proof
}

// ShiftOffer asks the owner of a confirmed leg to give up its place for another
// one, against a payment: what a site does for somebody whom it cannot place
// otherwise. It is accepted by a Hold that replaces the leg and names the offer,
// and is repeated until that, a ShiftDeclined, or its time. A leg has one open
// offer at most.
type ShiftOffer struct {
	Leg        bourse.LegID
	Number     uint32      // counts the offers for the leg, from 1
	Version    uint32      // of the leg
	Start, End bourse.Time // where it would lie
	Ready, Due bourse.Time // its window then
	Pay        bourse.Credits
	For        bourse.Duration // how long it can be answered yet
	Stamp
}

// ShiftDeclined says no to a ShiftOffer: by the user's wish, or for the Reason.
type ShiftDeclined struct {
	Leg     bourse.LegID
	Number  uint32
	Version uint32
	Reason  bourse.Reason
}

// Kind names the message.
func (Submit) Kind() string        { return "Submit" }
func (SubmitReply) Kind() string   { return "SubmitReply" }
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
func (m Hold) LegID() bourse.LegID          { return m.Leg }
func (m Held) LegID() bourse.LegID          { return m.Leg }
func (m Refused) LegID() bourse.LegID       { return m.Leg }
func (m Prepare) LegID() bourse.LegID       { return m.Leg }
func (m Prepared) LegID() bourse.LegID      { return m.Leg }
func (m Confirm) LegID() bourse.LegID       { return m.Leg }
func (m Confirmed) LegID() bourse.LegID     { return m.Leg }
func (m Cancel) LegID() bourse.LegID        { return m.Leg }
func (m Cancelled) LegID() bourse.LegID     { return m.Leg }
func (m LegStarted) LegID() bourse.LegID    { return m.Leg }
func (m Settled) LegID() bourse.LegID       { return m.Leg }
func (m Shifted) LegID() bourse.LegID       { return m.Leg }
func (m ShiftOffer) LegID() bourse.LegID    { return m.Leg }
func (m ShiftDeclined) LegID() bourse.LegID { return m.Leg }

// Decider is the incarnation that recorded the decision.
func (m Confirm) Decider() uint32 { return m.DecidedBy }
func (m Cancel) Decider() uint32  { return m.DecidedBy }

// JobName names the job that the message is about.
func (m Submit) JobName() string      { return m.Job.Name }
func (m SubmitReply) JobName() string { return m.Job }
