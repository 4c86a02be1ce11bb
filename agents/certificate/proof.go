package certificate

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bourse-grid/bourse/agents"
)

// ReadProofKey reads the key with which a site proves its answers: one line of base64, in a
// file that only its owner can read.
func ReadProofKey(name string) (agents.Key, error) {
	data, err := readSecret(name)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) != agents.KeySize {
		return nil, fmt.Errorf("%s: one key of %d bytes in base64 must be in it; put the file back from its backup, or move it aside and have a new one made: "+
			"what the site had sold before a restored journal cannot be restored then", name, agents.KeySize)
	}
	return key, nil
}

// ProofKey reads that key, or makes it if there is none yet; made reports whether it did.
func ProofKey(name string) (key agents.Key, made bool, err error) {
	key, err = ReadProofKey(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	key = make(agents.Key, agents.KeySize)
	if _, err := rand.Read(key); err != nil {
		return nil, false, err
	}
	if err := writeFile(name, append(base64.StdEncoding.AppendEncode(nil, key), '\n'), 0o600); err != nil {
		return nil, false, fmt.Errorf("the key that this site proves its answers with cannot be made: %w; proof_key names a file where it may be, beside no journal", err)
	}
	return key, true, nil
}
