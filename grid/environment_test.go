package grid

import (
	"slices"
	"strings"
	"testing"
)

func TestHandover_TellsTheWorkOfItsWindowAndItsPeers(t *testing.T) {
	t.Parallel()
	h := Handover{Job: "vo1/wave", Leg: 1, Legs: 3, Peers: []Peer{{"north", []string{"n1", "n2"}}, {Site: "east"}}}
	want := []EnvVar{
		{"BOURSE_JOB", "vo1/wave"}, {"BOURSE_LEG", "1"}, {"BOURSE_LEGS", "3"}, {"BOURSE_SITE", "south"}, {"BOURSE_NODES", "s1,s2"},
		{"BOURSE_START", "1700000001"}, {"BOURSE_END", "1700003600"}, {"BOURSE_PEERS", "north:n1,n2 east:"},
	}
	got := h.Variables("south", []string{"s1", "s2"}, 1_700_000_000_001, 1_700_003_600_999)
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	h.Meeting, h.Token = "north.example:7480", "secret"
	if got := h.Variables("south", nil, 0, 0); !slices.Equal(got[len(got)-2:], []EnvVar{{"BOURSE_RENDEZVOUS", "north.example:7480"}, {"BOURSE_TOKEN", "secret"}}) {
		t.Errorf("of the rendezvous: %v", got)
	}
	if got := h.Variables("south", []string{strings.Repeat("n", MaxVariable+1)}, 0, 0)[4]; got.Value != "" {
		t.Errorf("%s has %d bytes", got.Name, len(got.Value))
	}
}
