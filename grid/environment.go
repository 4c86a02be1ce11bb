package grid

import (
	"strconv"
	"strings"
)

// MaxVariable bounds a variable that lists nodes, in bytes: no system accepts a longer one.
// A longer list is left out entirely.
const MaxVariable = 100_000

// Variables are the environment variables that tell a leg's work about itself: whose window
// it is, when, on which nodes of which site, and what the other legs are. All clusters use
// the same ones. Times are Unix seconds, the start rounded up and the end down.
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
	if _, i, ok := ElementOf(h.Job); ok { // no other job has such a name
		list = append(list, EnvVar{"BOURSE_ARRAY_INDEX", number(int64(i))})
	}
	if h.Part != "" {
		list = append(list, EnvVar{"BOURSE_PART", h.Part}, EnvVar{"BOURSE_LEG_PARTS", listed(strings.Join(h.Parts, " "))})
	}
	if h.Meeting != "" {
		list = append(list, EnvVar{"BOURSE_RENDEZVOUS", h.Meeting}, EnvVar{"BOURSE_TOKEN", h.Token})
	}
	return list
}

// Variables are the environment variables that tell work what it may use of each of its nodes;
// none if that is all.
func (p LegPart) Variables() (list []EnvVar) {
	for _, x := range []struct {
		name  string
		value int64
	}{{"BOURSE_CORES", int64(p.Cores)}, {"BOURSE_MEMORY", p.Memory}, {"BOURSE_GPUS", int64(p.GPUs)}} {
		if x.value > 0 {
			list = append(list, EnvVar{x.name, strconv.FormatInt(x.value, 10)})
		}
	}
	return list
}

func listed(s string) string {
	if len(s) > MaxVariable {
		return ""
	}
	return s
}
