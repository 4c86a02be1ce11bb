package live

import (
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
)

// Cause is the kind of what a guard refuses: a word for metrics and logs. The
// causes of refused certificates are those of package certificate, after
// "certificate-".
type Cause string

// The causes.
const (
	BadMethod   Cause = "method"          // a call that agents do not make
	BadGreeting Cause = "greeting"        // not one greeting as a server
	BadType     Cause = "type"            // a message that agents do not send: of the actor system, say, to stop an actor
	NewType     Cause = "new-type"        // a link message that this build does not know: left out
	BadTarget   Cause = "target"          // to an actor that is not the inbox
	BadIndex    Cause = "index"           // an index outside its list
	BadForm     Cause = "form"            // a sender, header, request or serializer where agents send none
	Garbled     Cause = "garbled"         // bytes that are no such message, or too many parts
	BadFrom     Cause = "from"            // an envelope of somebody else
	BadTo       Cause = "to"              // an envelope to somebody else
	BadKind     Cause = "kind"            // a kind of message that goes the other way
	BadLeg      Cause = "leg"             // a leg of another broker's transaction
	BadAddress  Cause = "address"         // an address for answers that is not the sender's
	TooMany     Cause = "batch"           // more envelopes in a batch than any peer sends
	TooLarge    Cause = "too-large"       // a message above the bound
	TooMuch     Cause = "rate"            // too many or too much for too long
	Crowded     Cause = "crowded"         // too many connections or handshakes at a time
	NotPlain    Cause = "plain"           // plain text from or to another machine
	NoHandshake Cause = "handshake"       // not TLS, or not to its end
	Misdirected Cause = "misdirected"     // of this process, to somebody else than the address holds: not sent
	ByPeer      Cause = "refused-by-peer" // this process, by the other end
	Panicked    Cause = "panic"           // the remote could not handle a message
)

func (c Cause) String() string { return string(c) }

// Breach is one thing that a guard has refused.
type Breach struct {
	Cause Cause
	Peer  string // who sent it, as its certificate says
	What  string
}

func (b *Breach) Error() string {
	if strings.HasPrefix(string(b.Cause), certificateCause) {
		return b.Peer + ": " + b.What // which says whose certificate is refused
	}
	return b.Peer + " refused: " + b.What
}

// certificateCause begins the causes of refused certificates.
const certificateCause = "certificate-"

// peer is who is at the other end of a connection.
type peer struct {
	name   string    // for people
	agent  agents.ID // "": plain text, whoever it says
	chain  []*x509.Certificate
	number uint64 // of the store's reading against which the chain was verified
}

// roleOf is the role in an agent's address.
func roleOf(id agents.ID) certificate.Role {
	role, _, _ := strings.Cut(string(id), ":")
	return certificate.Role(role)
}

// nameOf is the name in an agent's address.
func nameOf(id agents.ID) string {
	_, name, _ := strings.Cut(string(id), ":")
	return name
}

// show makes what a peer has written fit for a line.
func show(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fmt.Sprintf("%q", s)
}
