package facts

import (
	"github.com/bourse-grid/bourse/grid"
)

var siteFacts = []Fact{
	SiteDrained{}, SiteClosed{}, SiteOpened{}, MaintenanceSet{}, MaintenanceOver{}, LegMoved{},
	LegRestored{}, SiteBegun{}, LifeSeen{}, LifeListed{}, Tombstone{}, NoticeNoted{},
	LegsForgotten{}, SiteImage{}, NodesDown{}, SettingChanged{},
}

// Of a site: the legs it carries.
type (
	// LegMoved says that a leg has entered a state. It carries everything the site knows of
	// the leg, including the binding fare.
	LegMoved struct {
		Leg    grid.LegID    `json:"leg"`
		State  grid.LegState `json:"state"`
		What   grid.Leg      `json:"what"`
		Job    string        `json:"job"`
		User   string        `json:"user,omitempty"`
		Fare   grid.Fare     `json:"fare"`
		Limit  grid.Credits  `json:"limit"`         // the most the broker would pay
		End    grid.Time     `json:"end,omitempty"` // Settled: when the work ended
		Reason grid.Reason   `json:"reason,omitzero"`

		Version  uint32        `json:"version,omitempty"` // 1, and one more with every move
		Replaces grid.LegID    `json:"replaces,omitzero"` // the leg that a Confirm gives up for this one
		Digest   uint64        `json:"digest,omitempty"`  // of its Hold
		For      grid.Duration `json:"for,omitempty"`     // Held, Prepared: how long it may stay so
		Run      grid.Duration `json:"run,omitempty"`     // what the work really takes; 0: to the end, or the leg's Work
		Refund   grid.Credits  `json:"refund,omitempty"`  // posted back, once
		Penalty  grid.Credits  `json:"penalty,omitempty"` // posted by the site for a confirmed leg that it lost
		Flex     grid.Flex     `json:"flex,omitzero"`     // the window within which the site may move it
		Offer    uint32        `json:"offer,omitempty"`   // the offer for the leg that it replaces, accepted by the user; 0: none
		Kept     grid.Credits  `json:"kept,omitempty"`    // the part of its price that is never refunded, as the schedule would have kept it for the leg that it replaces

		Real *RealLeg `json:"real,omitempty"` // on real nodes: what came with this move; in an image, everything that is still needed
	}
	// RealLeg is what is known of a leg on real nodes.
	RealLeg struct {
		Names  []string         `json:"names,omitempty"`  // from Held on: of its nodes
		Work   *grid.Handover   `json:"work,omitempty"`   // from Confirmed until it runs
		On     []int32          `json:"on,omitempty"`     // of a part, from Held on: its nodes, by the numbers under which its cluster opened them
		Result *grid.WorkResult `json:"result,omitempty"` // Settled: the result of work that the site started
	}
	// LegRestored says that a site that had lost its memory of a leg has taken the leg back
	// on its broker's word. As this is an amnesia, the leg need not have moved along the
	// table.
	LegRestored struct {
		Was   LegMoved   `json:"was"`
		Held  grid.Time  `json:"held,omitempty"` // the instant from which its notice counts
		Proof grid.Proof `json:"proof,omitzero"` // of the answer on which it relies
	}
	// SiteBegun says that a site begins a life in which it proves its answers. With it a
	// later life can tell what its journal has lost. The first one, and one that begins by a
	// file with other sizes, says how large the groups are.
	SiteBegun struct {
		Epoch  uint64            `json:"epoch"`
		Groups []grid.GroupNodes `json:"groups,omitempty"`
	}
	// LifeSeen says that a site has heard of a life of a broker that is later than all
	// before.
	LifeSeen struct {
		Broker      string `json:"broker"`
		Address     string `json:"address"` // of the broker's agent
		Incarnation uint32 `json:"incarnation"`
		Nonce       uint64 `json:"nonce"`
	}
	// LifeListed says that a life of a broker has been told its legs. From then on the site
	// accepts nothing that earlier lives decided.
	LifeListed struct {
		Broker      string `json:"broker"`
		Incarnation uint32 `json:"incarnation"`
	}
	// Tombstone says that a leg, unknown so far, must never be held.
	Tombstone struct {
		Leg grid.LegID `json:"leg"`
	}
	// NoticeNoted says that a broker has acknowledged the outcome of a leg.
	NoticeNoted struct {
		Leg grid.LegID `json:"leg"`
	}
	// LegsForgotten says that a site has dropped legs that ended long ago.
	LegsForgotten struct {
		Legs []grid.LegID `json:"legs"`
	}
	// SiteImage is everything a site keeps, or a part of it. A journal begins anew with it.
	// If there are several parts, the first one has everything that is not a leg.
	SiteImage struct {
		Part     int            `json:"part,omitempty"`  // from 0
		Parts    int            `json:"parts,omitempty"` // how many parts the image has; 0: this is all of it
		Facts    uint64         `json:"facts"`           // recorded before it
		Lives    []SiteLife     `json:"lives"`           // in order of broker, then incarnation
		Legs     []LegMemory    `json:"legs"`            // in order of their first fact
		Accounts []grid.Account `json:"accounts"`

		Drain       SiteDrained      `json:"drain,omitzero"`
		Closed      []SiteClosed     `json:"closed,omitempty"`      // in the order in which they were recorded
		Maintenance []MaintenanceSet `json:"maintenance,omitempty"` // likewise
		Maintained  uint64           `json:"maintained,omitempty"`  // how many there have been

		Epochs []SiteEpoch `json:"epochs,omitempty"` // its own lives, the latest few, in order

		Sizes []grid.GroupNodes `json:"sizes,omitempty"` // of its groups, as far as they are on record
	}
	// SiteEpoch is a life of the site itself.
	SiteEpoch struct {
		Epoch uint64 `json:"epoch"`
		From  uint64 `json:"from"` // how many facts there were when it began
	}
	// SiteLife is what a site remembers about one life of a broker.
	SiteLife struct {
		LifeSeen
		Listed bool `json:"listed,omitempty"`
	}
	// LegMemory is what a site remembers about one leg.
	LegMemory struct {
		LegMoved
		Tomb    bool      `json:"tomb,omitempty"`    // cancelled before it was known
		Charged bool      `json:"charged,omitempty"` // it was confirmed once
		Noted   bool      `json:"noted,omitempty"`
		HeldAt  grid.Time `json:"heldAt"`
		At      grid.Time `json:"at"` // of its last move

		Shifts uint32 `json:"turn,omitempty"` // of its last LegShifted
		Told   uint32 `json:"told,omitempty"` // the last one that its broker has acknowledged

		Offered JobOffer `json:"offered,omitzero"` // the last offer made for it
	}
	// NodesDown says that nodes of a group have failed; they are back at Until.
	NodesDown struct {
		Group string    `json:"group"`
		Nodes int       `json:"nodes"`
		Until grid.Time `json:"until"`
	}
)

// Of a site, by its operator's command; in real time only.
type (
	// SiteDrained says that a site accepts no new legs until an instant. Never: until
	// further notice; 0: it accepts legs again.
	SiteDrained struct {
		Until grid.Time `json:"until"`
		Why   string    `json:"why,omitempty"`
	}
	// SiteClosed says that a site accepts no new legs of a VO, of a user or, if both are
	// named, of that user of that VO.
	SiteClosed struct {
		VO   string `json:"vo,omitempty"`
		User string `json:"user,omitempty"`
		Why  string `json:"why,omitempty"`
	}
	// SiteOpened ends a SiteClosed for the same VO and user.
	SiteOpened struct {
		VO   string `json:"vo,omitempty"`
		User string `json:"user,omitempty"`
	}
	// MaintenanceSet says that nodes are out of service over a window.
	MaintenanceSet struct {
		Name string     `json:"name"`
		Leg  grid.LegID `json:"leg"` // of no broker: its name at the cluster
		What grid.Leg   `json:"what"`
		Why  string     `json:"why,omitempty"`
	}
	// SettingChanged says that a site goes on by another setting of its file, read again
	// while it runs. Its next life goes by the file, whatever this says.
	SettingChanged struct {
		Key string `json:"key"` // as in the file, with the group
		Was string `json:"was"` // in words; "": none
		Is  string `json:"is"`
		Why string `json:"why,omitempty"`
	}
	// MaintenanceOver says that the nodes of a maintenance were given back, or that its
	// window has passed.
	MaintenanceOver struct {
		Name string `json:"name"`
	}
)

// Kind names the fact.
func (LegMoved) Kind() string        { return "leg-moved" }
func (LegRestored) Kind() string     { return "leg-restored" }
func (SiteBegun) Kind() string       { return "site-begun" }
func (LifeSeen) Kind() string        { return "life-seen" }
func (LifeListed) Kind() string      { return "life-listed" }
func (Tombstone) Kind() string       { return "tombstone" }
func (NoticeNoted) Kind() string     { return "notice-noted" }
func (LegsForgotten) Kind() string   { return "legs-forgotten" }
func (SiteImage) Kind() string       { return "site-image" }
func (NodesDown) Kind() string       { return "nodes-down" }
func (SiteDrained) Kind() string     { return "site-drained" }
func (SiteClosed) Kind() string      { return "site-closed" }
func (SiteOpened) Kind() string      { return "site-opened" }
func (MaintenanceSet) Kind() string  { return "maintenance-set" }
func (SettingChanged) Kind() string  { return "setting-changed" }
func (MaintenanceOver) Kind() string { return "maintenance-over" }

// About says what the fact is about.
func (f LegMoved) About() Subject       { return Subject{Leg: f.Leg, Tx: f.Leg.Tx, Job: f.Job, User: f.User} }
func (f LegRestored) About() Subject    { return f.Was.About() }
func (SiteBegun) About() Subject        { return Subject{} }
func (LifeSeen) About() Subject         { return Subject{} }
func (LifeListed) About() Subject       { return Subject{} }
func (f Tombstone) About() Subject      { return ofLeg(f.Leg) }
func (f NoticeNoted) About() Subject    { return ofLeg(f.Leg) }
func (LegsForgotten) About() Subject    { return Subject{} }
func (SiteImage) About() Subject        { return Subject{} }
func (NodesDown) About() Subject        { return Subject{} }
func (SiteDrained) About() Subject      { return Subject{} }
func (f SiteClosed) About() Subject     { return Subject{User: f.User} }
func (f SiteOpened) About() Subject     { return Subject{User: f.User} }
func (f MaintenanceSet) About() Subject { return ofLeg(f.Leg) }
func (SettingChanged) About() Subject   { return Subject{} }
func (MaintenanceOver) About() Subject  { return Subject{} }
