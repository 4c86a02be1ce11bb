package bourse

import (
	"strconv"
	"strings"
)

// MaxVariable bounds a variable that names nodes, in bytes: no system takes a longer
// one. A list that is longer is left out whole.
const MaxVariable = 100_000

// Variables is what a leg's work is told of itself in its environment: whose window
// it is, when, on which nodes of which site, and who the others are. All clusters
// tell it in the same words. Times are Unix seconds, the start rounded up and the end
// down.
func (h *Handover) Variables(site string, nodes []string, start, end Time) []EnvVar {
	peers := make([]string, len(h.Peers))
	for i, p := range h.Peers {
		peers[i] = p.Site + ":" + strings.Join(p.Nodes, ",")
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	list := []EnvVar{
		{"BOURSE_JOB", h.Job},
		{"BOURSE_LEG", number(int64(h.Leg))},
		{"BOURSE_LEGS", number(int64(h.Legs))},
		{"BOURSE_SITE", site},
		{"BOURSE_NODES", listed(strings.Join(nodes, ","))},
		{"BOURSE_START", number((int64(start) + 999) / 1000)},
		{"BOURSE_END", number(int64(end) / 1000)},
		{"BOURSE_PEERS", listed(strings.Join(peers, " "))},
	}
	if h.Meeting != "" {
		list = append(list, EnvVar{"BOURSE_RENDEZVOUS", h.Meeting}, EnvVar{"BOURSE_TOKEN", h.Token})
	}
	return list
}

func listed(s string) string {
	if len(s) > MaxVariable {
		return ""
	}
	return s
}
