package agents

import "github.com/bourse-grid/bourse/grid"

// Deposit is an operator's message to a broker that pays credits into the account of the
// VO. It is answered by an OperatorReply once it is durable. A repeat with the same Key and
// credits changes nothing and gets the same answer.
type Deposit struct {
	Key     string // chosen by the operator, 1 to 64 bytes
	Credits grid.Credits
	Note    string // for the statement; may be empty
}

// Kind names the message.
func (Deposit) Kind() string { return "Deposit" }

// GrantTerms is an operator's message to a broker about a user or a tenant of the VO. It
// sets terms that take precedence over those of the broker's file, or drops such terms. It
// is answered by an OperatorReply once it is durable. A repeat changes nothing and gets the
// same answer.
type GrantTerms struct {
	Holder grid.Holder
	Drop   []string // names of terms, or "in"
}

// ReadTerms hands a broker the terms of its file after the file was read again. They
// replace the earlier ones. It is answered by an OperatorReply once it is durable.
type ReadTerms struct{ Holders []grid.Holder }

// Kind names the message.
func (GrantTerms) Kind() string { return "GrantTerms" }
func (ReadTerms) Kind() string  { return "ReadTerms" }
