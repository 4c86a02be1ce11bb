package gossip

import (
	"net"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestGossipCause_TellsComplaintsApart(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Cause{
		"Decrypt packet failed: No installed keys could decrypt the message from=10.0.0.9:1":                                   Key,
		"failed to receive: Encryption is configured but remote state is not encrypted from=x":                                 Key,
		`discarding packet with unacceptable label "other": from=10.0.0.9:1`:                                                   Label,
		"failed to receive and remove the stream label header: the peer broke off before it had said anything from=10.0.0.9:1": Broken,
		"failed to receive: read tcp 10.0.0.1:7401->10.0.0.9:1: i/o timeout from=10.0.0.9:1":                                   Broken,
		"failed to receive: unexpected EOF from=10.0.0.9:1":                                                                    Broken,
		"msg type (77) not supported from=10.0.0.9:1":                                                                          Form,
		"handler queue full, dropping message (4) from=10.0.0.9:1":                                                             Crowded,
		"Failed to send gossip to 10.0.0.9:1: write udp":                                                                       Away,
		"Conflicting address for site:north#1. Mine: 10.0.0.9:1 Theirs: 10.0.0.8:1 Old state: 0":                               Other,
	} {
		if got := causeOf(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// A peer that connects and gives up, as peers do under load, is no intruder; one that speaks
// without the label of the VO is.
func TestGossip_WhoBreaksOffIsNoIntruder(t *testing.T) {
	t.Parallel()
	o := Options{Listen: "127.0.0.1:0", Label: "vo", Profile: "fast"}
	g, err := Start(o, nil, "site:north#1", nil, zerolog.Nop(), func(string, []byte, bool) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Stop() })
	until := func(what string, holds func(map[Cause]uint64) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !holds(g.Complaints()); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not %s: %v", what, g.Complaints())
			}
		}
	}
	for range 3 {
		c, err := net.Dial("tcp", g.Address())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	until("three that broke off", func(n map[Cause]uint64) bool { return n[Broken] == 3 && n[Label] == 0 })
	c, err := net.Dial("tcp", g.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	until("one without the label", func(n map[Cause]uint64) bool { return n[Broken] == 3 && n[Label] == 1 })
}
