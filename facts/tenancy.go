package facts

import (
	"github.com/bourse-grid/bourse/grid"
)

var tenancyFacts = []Fact{
	TermsRead{}, TermsGranted{},
}

// Of a broker: its users and tenants.
type (
	// TermsRead lists all users, tenants and terms in the broker's configuration file. They
	// replace those it had before.
	TermsRead struct {
		Holders []grid.Holder `json:"holders"` // in order
	}
	// TermsGranted says that an operator has set terms of a user or a tenant, which take
	// precedence over the file's, or has dropped such terms, so that the file's apply again.
	TermsGranted struct {
		grid.Holder
		Drop []string `json:"drop,omitempty"` // names of terms, or "in"
		By   string   `json:"by,omitempty"`   // the operator
	}
	// NodesUsed is what a user's windows that begin on one day take.
	NodesUsed struct {
		User     string       `json:"user,omitempty"`
		Day      int64        `json:"day"`                // since 1970, or the start of a simulation
		NodeTime int64        `json:"nodeTime,omitempty"` // milliseconds of a node
		Credits  grid.Credits `json:"credits,omitempty"`
	}
	// TenantLine is how far a tenant has come in the order of service.
	TenantLine struct {
		Tenant string `json:"tenant,omitempty"` // "": users who are in none
		Pass   int64  `json:"pass"`             // node-seconds asked by the jobs taken, over the share
	}
	// TenancyMemory is what a broker keeps of users and tenants.
	TenancyMemory struct {
		File    []grid.Holder `json:"file,omitempty"`
		Read    bool          `json:"read,omitempty"` // File is on record
		Granted []grid.Holder `json:"granted,omitempty"`
		Used    []NodesUsed   `json:"used,omitempty"`
		Counted bool          `json:"counted,omitempty"` // Used is complete
		Lines   []TenantLine  `json:"lines,omitempty"`
	}
)

// Kind names the fact.
func (TermsRead) Kind() string    { return "terms-read" }
func (TermsGranted) Kind() string { return "terms-granted" }

// About says what the fact is about.
func (TermsRead) About() Subject      { return Subject{} }
func (f TermsGranted) About() Subject { return Subject{User: f.User} }
