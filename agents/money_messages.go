package agents

import "github.com/bourse-grid/bourse"

// Deposit is an operator's word to a broker that the VO has more money: so many
// credits are paid into its account. It is answered by an OperatorReply once it is
// durable. The same Key again with the same credits changes nothing and is answered
// alike.
type Deposit struct {
	Key     string // the operator's, 1 to 64 bytes
	Credits bourse.Credits
	Note    string // for the statement; may be empty
}

// Kind names the message.
func (Deposit) Kind() string { return "Deposit" }
