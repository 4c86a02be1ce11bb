package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/rs/zerolog"
)

// key returns the n-th of the tests' gossip keys.
func key(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

// Gossip of another VO, or under another key, is not heard.
func TestGossip_OfAnotherVOOrKeyIsNotHeard(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]gossip.Options{
		"another VO":  {Label: "other", Keys: [][]byte{key(1)}},
		"another key": {Label: "vo", Keys: [][]byte{key(2)}},
		"no key":      {Label: "vo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				memory := newMemory()
				broker := startPeer(t, NodeOptions{Name: "broker:vo", network: memory, Gossip: gossip.Options{Keys: [][]byte{key(1)}}})
				friend := startPeer(t, NodeOptions{Name: "site:friend", network: memory, Gossip: gossip.Options{Keys: [][]byte{key(1)}}}, broker.Gossip())
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
		o := NodeOptions{Name: "broker:vo", network: memory, Gossip: gossip.Options{Keys: [][]byte{key(1), key(2)}}}
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

// Packets from outside the VO are all counted, and logged once a minute for each cause,
// whoever sends them.
func TestGossip_StrangersPacketsAreSaidOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory, log := newMemory(), &bytes.Buffer{}
		transport, err := memory.gossip("")
		if err != nil {
			t.Fatal(err)
		}
		g, err := gossip.Start(gossip.Options{Listen: "127.0.0.1:0", Label: "vo", Keys: [][]byte{key(1)}}, transport,
			"broker:vo#1", nil, zerolog.New(zerolog.SyncWriter(log)).Level(zerolog.InfoLevel), func(string, []byte, bool) {})
		if err != nil {
			t.Fatal(err)
		}
		const packets = 500
		for i := range packets {
			stranger := &memoryGossip{net: memory, addr: fmt.Sprintf("10.0.0.9:%d", i+1)}
			if _, err := stranger.WriteTo([]byte("no packet of this VO, and long enough to be taken for one"), g.Address()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		refused := uint64(0)
		for _, n := range g.Complaints() {
			refused += n
		}
		lines := strings.Count(log.String(), "\n")
		if refused != packets || lines != 1 || !strings.Contains(log.String(), `"cause":"`) {
			t.Errorf("of %d packets %d were counted and %d said:\n%s", packets, refused, lines, log)
		}
		time.Sleep(time.Minute)
		stranger := &memoryGossip{net: memory, addr: "10.0.0.9:1"}
		_, _ = stranger.WriteTo([]byte("no packet of this VO, and long enough to be taken for one"), g.Address())
		synctest.Wait()
		if lines = strings.Count(log.String(), "\n"); lines != 2 {
			t.Errorf("%d lines after another minute:\n%s", lines, log)
		}
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // for look
	})
}
