package certificate

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// Cause is the kind of a Refusal, a word on which programs can rely.
type Cause string

// The causes.
const (
	None       Cause = "no-certificate" // the peer has shown none
	Foreign    Cause = "foreign"        // of an authority that is not trusted here
	Expired    Cause = "expired"        // it, or its authority
	NotYet     Cause = "not-yet-valid"  // it becomes valid later, or the clock here is behind
	Revoked    Cause = "revoked"        // on the list of revoked certificates
	NoIdentity Cause = "no-identity"    // not exactly one well-formed bourse:// URI
	OtherVO    Cause = "other-vo"       // a member of another VO
	OtherRole  Cause = "other-role"     // a member whose role may not call here
	OtherName  Cause = "other-name"     // a member, but not the one meant
	OtherHost  Cause = "other-host"     // the one meant, but not for the address called
	WrongUse   Cause = "wrong-use"      // its key usages do not allow this end
	ByPeer     Cause = "refused-by-peer"
)

// Refusal says why a connection was refused: whose certificate, what is wrong
// with it and what to do.
type Refusal struct {
	Cause  Cause
	Whose  string // the identity, or what the certificate calls itself
	What   string // what is wrong
	Remedy string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("certificate of %s refused: %s; %s", r.Whose, r.What, r.Remedy)
}

// CauseOf returns the cause of the refusal in an error's chain, "" if there is
// none.
func CauseOf(err error) Cause {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Cause
	}
	return ""
}

// issueAgain is the remedy of most refusals.
func issueAgain(i Identity) string {
	host := ""
	if i.Role.serves() {
		host = " --host HOST,..."
	}
	return fmt.Sprintf("at the authority of VO %s: bourse ca issue --role %s --name %s%s --replace", i.VO, i.Role, shell(i.Name), host)
}

// shell quotes a name for a command line if it needs it.
func shell(name string) string {
	plain := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	}
	if name != "" && !strings.ContainsFunc(name, plain) && name[0] != '-' {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// Explain returns the line that both ends of a refused connection show. If this end has
// refused, the error is a Refusal already. If the other end has refused our certificate,
// TLS gives only an alert, and Explain adds whose certificate it was and what can be seen
// from here. Other errors are returned unchanged. peer names the other end in the text.
func (s *Store) Explain(err error, peer string) error {
	var r *Refusal
	if err == nil || errors.As(err, &r) {
		return err
	}
	var op *net.OpError
	alert := errors.As(err, &op) && op.Op == "remote error"
	if !alert && !strings.Contains(err.Error(), "remote error: tls: ") {
		return err
	}
	what := fmt.Sprintf("%s does not accept it (%v)", peer, err)
	remedy := "its log says why; if it knows another authority or VO, compare ca.pem on both ends"
	if own := s.Self(); own != nil {
		what += ": " + own.Error()
		remedy = "put that right, or see the other end's log"
	}
	return &Refusal{Cause: ByPeer, Whose: s.Identity().String(), What: what, Remedy: remedy}
}
