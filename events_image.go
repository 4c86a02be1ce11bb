package bourse

// What is left of many facts once a journal begins anew.
type (
	// BrokerImage is all that a broker keeps, or a part of it: a journal begins anew
	// with it. Of several parts, the first has what is neither job nor transaction,
	// and all jobs come before the transactions.
	BrokerImage struct {
		Part     int            `json:"part,omitempty"`  // from 0
		Parts    int            `json:"parts,omitempty"` // of the image; 0: this is all of it
		Fenced   bool           `json:"fenced,omitempty"`
		Latest   uint32         `json:"latest,omitempty"` // of LifeFenced
		Seq      uint64         `json:"seq"`
		Cycles   uint64         `json:"cycles"`
		Lives    []BrokerLife   `json:"lives"`
		Sites    []string       `json:"sites"`
		Lost     []LostSite     `json:"lost,omitempty"` // in order of name
		Left     []LeftSite     `json:"left,omitempty"` // in order of name
		Jobs     []JobMemory    `json:"jobs"`
		Txs      []TxMemory     `json:"txs"`
		Accounts []Account      `json:"accounts"`
		Returned []UserReturned `json:"returned,omitempty"`
		Barred   []UserBarred   `json:"barred,omitempty"` // by site and user
		Pacing   Pacing         `json:"pacing,omitzero"`
		Budget   BudgetMemory   `json:"budget,omitzero"`
		Lines    []UserLine     `json:"turns,omitempty"` // of the users who have jobs that wait, first the one who is served next
		Tenancy  TenancyMemory  `json:"tenancy,omitzero"`
	}
	// Pacing is what a broker's last cycles tell its next one.
	Pacing struct {
		Looked int64   `json:"looked"`           // jobs that they have looked at, in thousandths, the older the fewer
		Failed int64   `json:"failed"`           // of those, the jobs that found nothing worth taking
		Weight Credits `json:"weight,omitempty"` // what a credit weighs; 0: it costs what it says
	}
	// BudgetMemory is what a broker keeps of the VO's budget beside the accounts.
	BudgetMemory struct {
		First    Time        `json:"first,omitempty"` // when its first time began
		Opened   bool        `json:"opened,omitempty"`
		Period   int64       `json:"period,omitempty"`
		From     Time        `json:"from,omitempty"` // of the time under way
		Until    Time        `json:"until,omitempty"`
		Had      Credits     `json:"had,omitempty"`      // that the account had for it, deposits since included
		Borne    Credits     `json:"borne,omitempty"`    // by the overdraft, when it began
		Deposits []Deposited `json:"deposits,omitempty"` // the latest, in order
	}
	// LostSite is a site that is lost.
	LostSite struct {
		SiteLost
		Since Time `json:"since"`
	}
	// LeftSite is a site that was a member, and has left.
	LeftSite struct {
		Site  string `json:"site"`
		Since Time   `json:"since"`
	}
	// BrokerLife is a life and the highest sequence that it has recorded.
	BrokerLife struct {
		LifeBegun
		High uint64 `json:"high"`
	}
	// JobMemory is what a broker keeps of a job.
	JobMemory struct {
		Job    Job      `json:"job"`
		Asked  Job      `json:"asked,omitzero"` // as submitted, where it was moved since
		State  JobState `json:"state"`
		Fresh  bool     `json:"fresh,omitempty"`
		Stub   bool     `json:"stub,omitempty"`
		Last   TxID     `json:"last,omitzero"`
		Reason Reason   `json:"reason,omitzero"`
		Since  Time     `json:"since,omitempty"` // when it came to that state
		Ended  Time     `json:"ended,omitempty"` // of its work, once it is done

		Offers []JobOffer `json:"offers,omitempty"` // of shifts, the latest
	}
	// TxMemory is what a broker keeps of a transaction.
	TxMemory struct {
		TxBegun
		State    TxState     `json:"state"`
		GivenUp  GivenUp     `json:"givenUp,omitempty"`
		Detached bool        `json:"detached,omitempty"`
		Reason   Reason      `json:"reason,omitzero"`
		Memory   []LegRecord `json:"memory"` // leg by leg
	}
	// LegRecord is what a broker keeps of a leg.
	LegRecord struct {
		State   LegState `json:"state"`
		Fare    Fare     `json:"fare"`
		End     Time     `json:"end,omitempty"`
		Back    Credits  `json:"back,omitempty"`
		Version uint32   `json:"version,omitempty"`
		Priced  bool     `json:"priced,omitempty"`
		Charged bool     `json:"charged,omitempty"`
		Closed  bool     `json:"closed,omitempty"`
		Mended  bool     `json:"mended,omitempty"`
		Moved   bool     `json:"moved,omitempty"`
		InFull  bool     `json:"inFull,omitempty"`  // given up for all of its price: the leg that was to take its place is lost
		Undone  bool     `json:"undone,omitempty"`  // it ended after its job was given up
		Shifts  uint32   `json:"turn,omitempty"`    // of the last LegShifted
		Proof   Proof    `json:"proof,omitzero"`    // of the site's last answer that carried one
		Claim   bool     `json:"claim,omitempty"`   // given up with its site, which has not been heard of it
		Settled bool     `json:"settled,omitempty"` // it was a claim, and has been heard of
		Borne   Credits  `json:"borne,omitempty"`   // by the VO, in a settled claim

		Names   []string    `json:"names,omitempty"` // as in LegPriced, until it is over
		Meeting string      `json:"meeting,omitempty"`
		Token   string      `json:"token,omitempty"`
		Result  *WorkResult `json:"result,omitempty"`
	}
	// UserReturned is what sites have given back of a user's payments.
	UserReturned struct {
		User    string  `json:"user"`
		Credits Credits `json:"credits"`
	}
)

// Kind names the fact.
func (BrokerImage) Kind() string { return "broker-image" }
