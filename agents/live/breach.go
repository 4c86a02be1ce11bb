package live

import (
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
)

// Cause is the kind of a guard's refusal: a word for metrics and logs. For refused
// certificates it is a cause of package certificate, prefixed by "certificate-".
type Cause string

// The causes.
const (
	BadMethod   Cause = "method"          // a call that agents never make
	BadGreeting Cause = "greeting"        // not exactly one greeting as a server
	BadType     Cause = "type"            // a message that agents never send, for example one that stops an actor
	NewType     Cause = "new-type"        // a link message unknown to this build: skipped
	BadTarget   Cause = "target"          // to an actor that is not the inbox
	BadIndex    Cause = "index"           // an index out of range
	BadForm     Cause = "form"            // a sender, header, request or serializer, which agents never send
	Garbled     Cause = "garbled"         // bytes that are not such a message, or have too many parts
	BadFrom     Cause = "from"            // an envelope from another agent
	BadTo       Cause = "to"              // an envelope to another agent
	BadKind     Cause = "kind"            // a kind of message that only goes the other way
	BadLeg      Cause = "leg"             // a leg of another broker's transaction
	BadAddress  Cause = "address"         // a reply address that is not the sender's
	TooMany     Cause = "batch"           // more envelopes in a batch than any peer sends
	TooLarge    Cause = "too-large"       // a message above the bound
	TooMuch     Cause = "rate"            // too many messages or bytes for too long
	Crowded     Cause = "crowded"         // too many connections or handshakes at a time
	NotPlain    Cause = "plain"           // plain text from or to another machine
	NoHandshake Cause = "handshake"       // not TLS, or an unfinished handshake
	Misdirected Cause = "misdirected"     // from this process, to another agent than the one at the address: not sent
	ByPeer      Cause = "refused-by-peer" // the other end has refused this process
	Panicked    Cause = "panic"           // the remote could not handle a message
)

func (c Cause) String() string { return string(c) }

// Breach is something that a guard has refused.
type Breach struct {
	Cause Cause
	Peer  string // the sender, according to its certificate
	What  string
}

func (b *Breach) Error() string {
	if strings.HasPrefix(string(b.Cause), certificateCause) {
		return b.Peer + ": " + b.What // What names the refused certificate
	}
	return b.Peer + " refused: " + b.What
}

// certificateCause is the prefix of causes of refused certificates.
const certificateCause = "certificate-"

// peer is the other end of a connection.
type peer struct {
	name   string    // for display
	agent  agents.ID // "": plain text, which may claim any name
	chain  []*x509.Certificate
	number uint64 // the reading of the store against which the chain was verified
}

// roleOf returns the role in an agent's address.
func roleOf(id agents.ID) certificate.Role {
	role, _, _ := strings.Cut(string(id), ":")
	return certificate.Role(role)
}

// nameOf returns the name in an agent's address.
func nameOf(id agents.ID) string {
	_, name, _ := strings.Cut(string(id), ":")
	return name
}

// show makes text from a peer fit for one line.
func show(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fmt.Sprintf("%q", s)
}
