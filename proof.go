package bourse

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// Proof is what a site gives its broker with an answer about a leg, to be shown
// again should the site lose its memory: a keyed digest, which the site alone can
// make, over the leg, the state that it answered and the stamp of that answer. The
// zero one is none.
type Proof struct {
	State LegState // Held, Confirmed, Released or Lost
	Epoch uint64   // the stamp of the answer: the site's life
	Seq   uint64   // and how many facts it had recorded
	MAC   [ProofMAC]byte
}

// ProofMAC is how many bytes of the digest a proof carries: nobody forges one by
// trying, at 2^128 tries, and a leg's proof takes 33 bytes.
const ProofMAC = 16

// proofSize is what a proof takes: state, epoch, sequence, digest.
const proofSize = 1 + 8 + 8 + ProofMAC

// MarshalText writes the proof in base64, nothing if there is none.
func (p Proof) MarshalText() ([]byte, error) {
	if p == (Proof{}) {
		return nil, nil
	}
	b := make([]byte, 0, proofSize)
	b = append(b, byte(p.State))
	b = binary.BigEndian.AppendUint64(b, p.Epoch)
	b = binary.BigEndian.AppendUint64(b, p.Seq)
	b = append(b, p.MAC[:]...)
	return base64.RawURLEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText reads what MarshalText has written.
func (p *Proof) UnmarshalText(text []byte) error {
	*p = Proof{}
	if len(text) == 0 {
		return nil
	}
	b, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil || len(b) != proofSize || LegState(b[0]) > Lost {
		return fmt.Errorf("%.60q is no proof of a site's answer: %d bytes in base64 must be given", text, proofSize)
	}
	p.State = LegState(b[0])
	p.Epoch, p.Seq = binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])
	copy(p.MAC[:], b[17:])
	return nil
}
