package api

// Deposit is money that an operator pays into the VO's account.
type Deposit struct {
	Key     string  `json:"key" minLength:"1" maxLength:"64" doc:"chosen by the operator: repeating a key changes nothing, as long as it is one of the latest thousand"`
	Credits Credits `json:"credits" doc:"above 0; the total paid in must not exceed 10^12"`
	Note    string  `json:"note,omitempty" maxLength:"256" doc:"text for the statement"`
}

// Statement lists every movement of the VO's money.
type Statement struct {
	Since Instant `json:"since,omitzero" doc:"the statement is complete from this time on, when the broker's journal begins"`
	User  string  `json:"user,omitempty" doc:"only the lines of this user's jobs"`
	Lines []Move  `json:"lines" doc:"in order of time"`
	More  bool    `json:"more,omitempty" doc:"there are more; ask for them with from set to the time of the last line"`
}

// Move is one line of a statement.
type Move struct {
	At      Instant `json:"at"`
	What    string  `json:"what" enum:"budget,carried,deposit,payment,refund,penalty,claim,overdraft" doc:"budget: the initial one, or that of a period; carried: the balance when the journal begins; claim: by or against a lost site, once it is back; overdraft: what the account did not cover"`
	Job     string  `json:"job,omitempty"`
	User    string  `json:"user,omitempty"`
	Site    string  `json:"site,omitempty"`
	Note    string  `json:"note,omitempty"`
	Amount  Balance `json:"amount" doc:"paid into the VO's account; negative: paid out"`
	Balance Balance `json:"balance" doc:"of the account, including credits promised for legs; in a user's statement, the sum of the user's lines"`
}
