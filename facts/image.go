package facts

import (
	"github.com/bourse-grid/bourse/grid"
)

var imageFacts = []Fact{
	BrokerImage{},
}

// The images with which a journal begins anew, in place of the facts before.
type (
	// BrokerImage is everything a broker keeps, or a part of it. A journal begins anew with
	// it. If there are several parts, the first one has everything that is neither job nor
	// transaction, and all jobs come before the transactions.
	BrokerImage struct {
		Part     int            `json:"part,omitempty"`  // from 0
		Parts    int            `json:"parts,omitempty"` // how many parts the image has; 0: this is all of it
		Fenced   bool           `json:"fenced,omitempty"`
		Latest   uint32         `json:"latest,omitempty"` // as in LifeFenced
		Seq      uint64         `json:"seq"`
		Cycles   uint64         `json:"cycles"`
		Lives    []BrokerLife   `json:"lives"`
		Sites    []string       `json:"sites"`
		Lost     []LostSite     `json:"lost,omitempty"` // in order of name
		Left     []LeftSite     `json:"left,omitempty"` // in order of name
		Jobs     []JobMemory    `json:"jobs"`
		Txs      []TxMemory     `json:"txs"`
		Accounts []grid.Account `json:"accounts"`
		Returned []UserReturned `json:"returned,omitempty"`
		Barred   []UserBarred   `json:"barred,omitempty"` // by site and user
		Pacing   Pacing         `json:"pacing,omitzero"`
		Budget   BudgetMemory   `json:"budget,omitzero"`
		Lines    []UserLine     `json:"turns,omitempty"` // of the users who have waiting jobs; the first is served next
		Tenancy  TenancyMemory  `json:"tenancy,omitzero"`
		Dealt    []SiteDealt    `json:"dealt,omitempty"` // in order of site
		Trust    []SiteTrust    `json:"trust,omitempty"` // in order of site
	}
	// SiteDealt is the latest life of a broker that has begun a transaction at a site.
	SiteDealt struct {
		Site        string `json:"site"`
		Incarnation uint32 `json:"incarnation"`
	}
	// Pacing is what a broker's next cycle needs from the last ones.
	Pacing struct {
		Looked int64        `json:"looked"`           // jobs that they looked at, in thousandths; older ones count less
		Failed int64        `json:"failed"`           // those that found nothing worth taking, weighed likewise
		Weight grid.Credits `json:"weight,omitempty"` // what a credit weighs; 0: its own value
	}
	// BudgetMemory is what a broker keeps about the VO's budget, beside the accounts.
	BudgetMemory struct {
		First    grid.Time    `json:"first,omitempty"` // when its first period began
		Opened   bool         `json:"opened,omitempty"`
		Period   int64        `json:"period,omitempty"`
		From     grid.Time    `json:"from,omitempty"` // of the current period
		Until    grid.Time    `json:"until,omitempty"`
		Had      grid.Credits `json:"had,omitempty"`      // what the account had for this period, including later deposits
		Borne    grid.Credits `json:"borne,omitempty"`    // by the overdraft, when the period began
		Deposits []Deposited  `json:"deposits,omitempty"` // the latest, in order
	}
	// LostSite is a site that is lost.
	LostSite struct {
		SiteLost
		Since grid.Time `json:"since"`
	}
	// LeftSite is a former member.
	LeftSite struct {
		Site  string    `json:"site"`
		Since grid.Time `json:"since"`
	}
	// BrokerLife is a life and the highest sequence number that it recorded.
	BrokerLife struct {
		LifeBegun
		High   uint64 `json:"high"`
		Fenced bool   `json:"fenced,omitempty"` // another process had its number, or a later one
	}
	// SiteTrust is how a site has kept its word.
	SiteTrust struct {
		Site   string    `json:"site"`
		Broken uint64    `json:"broken"` // words, in all
		Recent int       `json:"recent"` // of them, within an hour from First
		First  grid.Time `json:"first"`
		Until  grid.Time `json:"until,omitempty"` // it comes last
	}
	// JobMemory is what a broker keeps about a job.
	JobMemory struct {
		Job    grid.Job      `json:"job"`
		Asked  grid.Job      `json:"asked,omitzero"` // as submitted, if it has been moved since
		State  grid.JobState `json:"state"`
		Fresh  bool          `json:"fresh,omitempty"`
		Stub   bool          `json:"stub,omitempty"`
		Last   grid.TxID     `json:"last,omitzero"`
		Reason grid.Reason   `json:"reason,omitzero"`
		Since  grid.Time     `json:"since,omitempty"` // when it entered that state
		Ended  grid.Time     `json:"ended,omitempty"` // when its work ended, once it is done

		Offers    []JobOffer      `json:"offers,omitempty"` // the latest offers to shift it
		Gathering *grid.Gathering `json:"gathering,omitempty"`
		SetAside  grid.Credits    `json:"setAside,omitempty"` // as in Gathered
		Array     *ArrayMemory    `json:"array,omitempty"`    // of an array; its elements follow as jobs, without their work, which is the array's
	}
	// TxMemory is what a broker keeps about a transaction.
	TxMemory struct {
		TxBegun
		State    grid.TxState `json:"state"`
		GivenUp  grid.GivenUp `json:"givenUp,omitempty"`
		Detached bool         `json:"detached,omitempty"`
		Reason   grid.Reason  `json:"reason,omitzero"`
		Memory   []LegRecord  `json:"memory"` // leg by leg
	}
	// LegRecord is what a broker keeps about a leg.
	LegRecord struct {
		State   grid.LegState `json:"state"`
		Fare    grid.Fare     `json:"fare"`
		End     grid.Time     `json:"end,omitempty"`
		Back    grid.Credits  `json:"back,omitempty"`
		Version uint32        `json:"version,omitempty"`
		Priced  bool          `json:"priced,omitempty"`
		Charged bool          `json:"charged,omitempty"`
		Closed  bool          `json:"closed,omitempty"`
		Mended  bool          `json:"mended,omitempty"`
		Moved   bool          `json:"moved,omitempty"`
		InFull  bool          `json:"inFull,omitempty"`  // released for a full refund: the leg that was to replace it is lost
		Undone  bool          `json:"undone,omitempty"`  // it ended after its job was cancelled or abandoned
		Shifts  uint32        `json:"turn,omitempty"`    // as in the last LegShifted
		Proof   grid.Proof    `json:"proof,omitzero"`    // from the site's last answer that carried one
		Claim   bool          `json:"claim,omitempty"`   // abandoned with its site, which has not reported on it since
		Settled bool          `json:"settled,omitempty"` // it was a claim, and its site has reported on it
		Borne   grid.Credits  `json:"borne,omitempty"`   // what the VO bore in a settled claim

		Names   []string         `json:"names,omitempty"` // as in LegPriced, until it is over
		Meeting string           `json:"meeting,omitempty"`
		Token   string           `json:"token,omitempty"`
		Result  *grid.WorkResult `json:"result,omitempty"`
	}
	// UserReturned is how much of a user's payments sites have given back.
	UserReturned struct {
		User    string       `json:"user"`
		Credits grid.Credits `json:"credits"`
	}
)

// Kind names the fact.
func (BrokerImage) Kind() string { return "broker-image" }

// About says what the fact is about.
func (BrokerImage) About() Subject { return Subject{} }
