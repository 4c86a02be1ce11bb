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

// GrantTerms is an operator's word to a broker about a user or a tenant of the VO: terms
// that count more than those of the broker's file, or that do so no more. It is answered by
// an OperatorReply once it is durable. The same again changes nothing and is answered
// alike.
type GrantTerms struct {
	Holder bourse.Holder
	Drop   []string // names of terms, or "in"
}

// ReadTerms hands a broker the terms of its file, which was read again: they take the place
// of those that it had before. It is answered by an OperatorReply once it is durable.
type ReadTerms struct{ Holders []bourse.Holder }

// Kind names the message.
func (GrantTerms) Kind() string { return "GrantTerms" }
func (ReadTerms) Kind() string  { return "ReadTerms" }
