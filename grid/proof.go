package grid

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// Proof is evidence of a site's answer about a leg. The broker keeps it and shows it to the
// site if the site loses its memory. It is a keyed digest, which only the site can make,
// over the leg, the state in the answer and the answer's stamp. The zero Proof is none.
type Proof struct {
	State LegState // Held, Confirmed, Released or Lost
	Epoch uint64   // the site's life, from the answer's stamp
	Seq   uint64   // how many facts the site had recorded, from the answer's stamp
	MAC   [ProofMAC]byte
}

// ProofMAC is how many bytes of the digest a proof carries. Guessing one takes 2^128 tries,
// and the whole proof takes 33 bytes.
const ProofMAC = 16

// proofSize is the size of a proof in bytes: state, epoch, sequence, digest.
const proofSize = 1 + 8 + 8 + ProofMAC

// MarshalText writes the proof in base64, or nothing if there is none.
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

// UnmarshalText reads what MarshalText writes.
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
