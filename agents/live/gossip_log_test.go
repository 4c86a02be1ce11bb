package live

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

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
		g, err := startGossip(GossipOptions{Listen: "127.0.0.1:0", Label: "vo", Keys: [][]byte{key(1)}}, transport,
			"broker:vo#1", nil, zerolog.New(zerolog.SyncWriter(log)).Level(zerolog.InfoLevel), func(string, []byte, bool) {})
		if err != nil {
			t.Fatal(err)
		}
		const packets = 500
		for i := range packets {
			stranger := &memoryGossip{net: memory, addr: fmt.Sprintf("10.0.0.9:%d", i+1)}
			if _, err := stranger.WriteTo([]byte("no packet of this VO, and long enough to be taken for one"), g.address()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		refused := uint64(0)
		for _, n := range g.said.complaints() {
			refused += n
		}
		lines := strings.Count(log.String(), "\n")
		if refused != packets || lines != 1 || !strings.Contains(log.String(), `"cause":"`) {
			t.Errorf("of %d packets %d were counted and %d said:\n%s", packets, refused, lines, log)
		}
		time.Sleep(time.Minute)
		stranger := &memoryGossip{net: memory, addr: "10.0.0.9:1"}
		_, _ = stranger.WriteTo([]byte("no packet of this VO, and long enough to be taken for one"), g.address())
		synctest.Wait()
		if lines = strings.Count(log.String(), "\n"); lines != 2 {
			t.Errorf("%d lines after another minute:\n%s", lines, log)
		}
		if err := g.stop(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // for look
	})
}

func TestGossipCause_TellsComplaintsApart(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]GossipCause{
		"Decrypt packet failed: No installed keys could decrypt the message from=10.0.0.9:1":                                   GossipKey,
		"failed to receive: Encryption is configured but remote state is not encrypted from=x":                                 GossipKey,
		`discarding packet with unacceptable label "other": from=10.0.0.9:1`:                                                   GossipLabel,
		"failed to receive and remove the stream label header: the peer broke off before it had said anything from=10.0.0.9:1": GossipBroken,
		"failed to receive: read tcp 10.0.0.1:7401->10.0.0.9:1: i/o timeout from=10.0.0.9:1":                                   GossipBroken,
		"failed to receive: unexpected EOF from=10.0.0.9:1":                                                                    GossipBroken,
		"msg type (77) not supported from=10.0.0.9:1":                                                                          GossipForm,
		"handler queue full, dropping message (4) from=10.0.0.9:1":                                                             GossipCrowded,
		"Failed to send gossip to 10.0.0.9:1: write udp":                                                                       GossipAway,
		"Conflicting address for site:north#1. Mine: 10.0.0.9:1 Theirs: 10.0.0.8:1 Old state: 0":                               GossipOther,
	} {
		if got := gossipCause(line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// A peer that connects and gives up, as peers do under load, is no intruder; one that speaks
// without the label of the VO is.
func TestGossip_WhoBreaksOffIsNoIntruder(t *testing.T) {
	t.Parallel()
	o := GossipOptions{Listen: "127.0.0.1:0", Label: "vo", Profile: "fast"}
	g, err := startGossip(o, nil, "site:north#1", nil, zerolog.Nop(), func(string, []byte, bool) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.stop() })
	until := func(what string, holds func(map[GossipCause]uint64) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !holds(g.said.complaints()); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not %s: %v", what, g.said.complaints())
			}
		}
	}
	for range 3 {
		c, err := net.Dial("tcp", g.address())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	until("three that broke off", func(n map[GossipCause]uint64) bool { return n[GossipBroken] == 3 && n[GossipLabel] == 0 })
	c, err := net.Dial("tcp", g.address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	until("one without the label", func(n map[GossipCause]uint64) bool { return n[GossipBroken] == 3 && n[GossipLabel] == 1 })
}
