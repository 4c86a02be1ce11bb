package certificate

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
)

// gossipKeySize is the size of an AES-256 key.
const gossipKeySize = 32

// maxGossipKeys bounds the keys of one file: the one in use and those that it replaces.
const maxGossipKeys = 8

// GossipKeys reads the keys of a VO's gossip, each a line of base64. The first is used to
// send; all are understood. Whoever has one can join the gossip and nothing else: gossip
// is a hint, certificates are the authority.
func GossipKeys(name string) ([][]byte, error) {
	data, err := readSecret(name)
	if err != nil {
		return nil, err
	}
	keys, err := parseGossipKeys(data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return keys, nil
}

// parseGossipKeys never puts a key into its errors, because they go into logs.
func parseGossipKeys(data []byte) ([][]byte, error) {
	var keys [][]byte
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != gossipKeySize {
			return nil, fmt.Errorf("%d: must be a key of %d bytes in base64", n, gossipKeySize)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 || len(keys) > maxGossipKeys {
		return nil, fmt.Errorf("1: it has %d keys; must be 1 to %d", len(keys), maxGossipKeys)
	}
	return keys, nil
}

// newGossipKey makes a file with one new key.
func newGossipKey(name string) error {
	key := make([]byte, gossipKeySize)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	return writeGossipKeys(name, [][]byte{key})
}

func writeGossipKeys(name string, keys [][]byte) error {
	var text []byte
	for _, key := range keys {
		text = append(base64.StdEncoding.AppendEncode(text, key), '\n')
	}
	return writeFile(name, text, 0o600)
}

// KeyStep is one of the three steps that change the key of a VO's gossip while agents run.
// After each step copy the file to every agent and restart all of them before the next.
type KeyStep string

// The steps.
const (
	AddKey   KeyStep = "add"  // a new key, understood but not used to send
	UseKey   KeyStep = "use"  // the newest is used to send, the others are understood
	DropKeys KeyStep = "drop" // only the one used to send is left
)

// RotateGossip takes one step of changing the key, and returns how many keys the file then
// holds.
func (a *Authority) RotateGossip(step KeyStep) (int, error) {
	file := a.path(gossipFile)
	keys, err := GossipKeys(file)
	if err != nil {
		return 0, err
	}
	switch step {
	case AddKey:
		if len(keys) == maxGossipKeys {
			return 0, fmt.Errorf("%s has %d keys already; drop the old ones first", file, len(keys))
		}
		key := make([]byte, gossipKeySize)
		if _, err := rand.Read(key); err != nil {
			return 0, err
		}
		keys = append(keys, key)
	case UseKey:
		if len(keys) < 2 {
			return 0, fmt.Errorf("%s has one key only; add another first", file)
		}
		last := len(keys) - 1
		keys = append([][]byte{keys[last]}, keys[:last]...)
	case DropKeys:
		keys = keys[:1]
	default:
		return 0, fmt.Errorf("%q is no step; there are add, use and drop", step)
	}
	return len(keys), writeGossipKeys(file, keys)
}
