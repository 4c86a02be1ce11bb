package live

import (
	"bytes"
	"testing"
	"time"
)

// key returns the n-th of the tests' gossip keys.
func key(n byte) []byte { return bytes.Repeat([]byte{n}, keySize) }

// Gossip of another VO, or under another key, is not heard.
func TestGossip_OfAnotherVOOrKeyIsNotHeard(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]GossipOptions{
		"another VO":  {Label: "other", Keys: [][]byte{key(1)}},
		"another key": {Label: "vo", Keys: [][]byte{key(2)}},
		"no key":      {Label: "vo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				memory := newMemory()
				broker := startPeer(t, NodeOptions{Name: "broker:vo", network: memory, Gossip: GossipOptions{Keys: [][]byte{key(1)}}})
				friend := startPeer(t, NodeOptions{Name: "site:friend", network: memory, Gossip: GossipOptions{Keys: [][]byte{key(1)}}}, broker.Gossip())
				stranger := startPeer(t, NodeOptions{Name: "site:stranger", network: memory, Gossip: other}, broker.Gossip())
				eventually(t, 5*time.Second, "friends find each other", func() bool { return broker.knows("site:friend") && friend.knows("broker:vo") })
				time.Sleep(10 * time.Second)
				if broker.knows("site:stranger") || stranger.knows("broker:vo") {
					t.Error("a stranger was heard")
				}
			})
		})
	}
}

// A key is changed one process at a time without anybody losing anybody: first
// all learn to read the new one, then all write it, then the old one is dropped.
func TestGossip_AKeyIsChangedOneProcessAtATime(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		memory := newMemory()
		o := NodeOptions{Name: "broker:vo", network: memory, Gossip: GossipOptions{Keys: [][]byte{key(1), key(2)}}}
		broker := startPeer(t, o)
		for i, keys := range [][][]byte{{key(1), key(2)}, {key(2), key(1)}} {
			o.Name, o.Gossip.Keys = "site:north", keys
			o.Life = uint64(i + 1)
			north := startPeer(t, o, broker.Gossip())
			eventually(t, 5*time.Second, "they find each other", func() bool { return broker.knows("site:north") && north.knows("broker:vo") })
			time.Sleep(5 * time.Second)
			if !broker.knows("site:north") || !north.knows("broker:vo") {
				t.Error("they have lost each other")
			}
			north.Close()
			eventually(t, 5*time.Second, "it is missed", func() bool { return !broker.knows("site:north") })
		}
	})
}
