package agents

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Key is the secret with which a site proves its own earlier answers to itself; no other
// process checks them. It is in no journal, so restoring an old journal does not bring back
// an old key. With a nil Key nothing is proved.
type Key []byte

// KeySize is the size of a key in bytes.
const KeySize = sha256.Size

// DerivedKey returns the key of a simulated site, derived from the seed and the site's
// name.
func DerivedKey(seed uint64, site string) Key {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, seed)
	h.Write([]byte(site))
	return h.Sum(nil)
}

// String keeps the key out of what is printed.
func (Key) String() string { return "(a key)" }

// GoString does the same.
func (Key) GoString() string { return "(a key)" }

// Prove returns the proof that the site has said, with that stamp, that a leg is in its
// state. A state from which nothing can be restored has no proof.
func (k Key) Prove(l *ListedLeg, at Stamp) grid.Proof {
	state := provable(l.State)
	if len(k) == 0 || state == grid.Asked {
		return grid.Proof{}
	}
	p := grid.Proof{State: state, Epoch: at.Epoch, Seq: at.Seq}
	p.MAC = k.mac(l, p)
	return p
}

// Proves reports whether the leg comes with a proof under this key that the site has said
// it to be in the proof's state, at this place, for this price, with this refund.
func (k Key) Proves(l *ListedLeg) bool {
	want := k.mac(l, l.Proof)
	return len(k) > 0 && hmac.Equal(want[:], l.Proof.MAC[:])
}

// provable returns the state that an answer about a leg proves. Prepared counts as Held,
// and work that runs may begin again.
func provable(s grid.LegState) grid.LegState {
	switch s {
	case grid.Held, grid.Prepared:
		return grid.Held
	case grid.Confirmed, grid.Running:
		return grid.Confirmed
	case grid.Released, grid.Lost:
		return s
	}
	return grid.Asked
}

// mac returns a truncated HMAC-SHA256 over the leg's name and content, the proved state,
// the refund if the leg is over, and the stamp.
func (k Key) mac(l *ListedLeg, p grid.Proof) (mac [grid.ProofMAC]byte) {
	b := make([]byte, 0, 256)
	number := func(n uint64) { b = binary.BigEndian.AppendUint64(b, n) }
	text := func(s string) {
		number(uint64(len(s)))
		b = append(b, s...)
	}
	text("bourse: a site's answer about a leg, 1")
	text(l.Leg.Tx.Broker)
	number(uint64(l.Leg.Tx.Incarnation))
	number(l.Leg.Tx.Nonce)
	number(l.Leg.Tx.Seq)
	number(uint64(l.Leg.Leg))
	text(l.What.Group)
	number(uint64(l.What.Nodes))
	number(uint64(l.What.Start))
	number(uint64(l.What.End))
	number(uint64(l.What.Work))
	if x := l.What.Part; x.Some() {
		text("part")
		number(uint64(x.Slices))
		number(uint64(x.Of))
		number(uint64(x.Cores))
		number(uint64(x.Memory))
		number(uint64(x.GPUs))
	}
	number(uint64(l.Fare.Base))
	number(uint64(l.Fare.Additive))
	number(uint64(l.Version))
	number(uint64(p.State))
	if p.State == grid.Released || p.State == grid.Lost {
		number(uint64(l.Refund))
		number(uint64(l.Penalty))
	}
	number(p.Epoch)
	number(p.Seq)
	h := hmac.New(sha256.New, k)
	h.Write(b)
	copy(mac[:], h.Sum(nil))
	return mac
}

// Token returns what admits a leg of a transaction to the site's rendezvous. It is the same
// on every call, and known only to those whom the site has told.
func (k Key) Token(tx grid.TxID) string {
	room := k.sum("bourse: a rendezvous, 1", fmt.Sprintf("%d %d %d %s", tx.Incarnation, tx.Nonce, tx.Seq, tx.Broker))
	return hex.EncodeToString(append(room, k.sum("bourse: a token, 1", string(room))...))
}

// Admits returns the name of the room that a token is for; false if the token was not made
// with this key.
func (k Key) Admits(token string) (room string, ok bool) {
	b, err := hex.DecodeString(token)
	if err != nil || len(b) != 2*tokenPart || len(k) == 0 {
		return "", false
	}
	return string(b[:tokenPart]), hmac.Equal(b[tokenPart:], k.sum("bourse: a token, 1", string(b[:tokenPart])))
}

// tokenPart is the number of bytes of a room's name, and of its proof.
const tokenPart = 12

func (k Key) sum(what, of string) []byte {
	h := hmac.New(sha256.New, k)
	h.Write([]byte(what + "\x00" + of))
	return h.Sum(nil)[:tokenPart]
}
