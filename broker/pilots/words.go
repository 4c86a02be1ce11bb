package pilots

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// Words says how far a job is gathered: "gathering, try 2: north idles, south waits;
// idle 1.1 of 9.6 node-hours". Idling counts as granted until a pilot's end is seen.
func Words(j *jobs.Job) grid.Phrase {
	x := job{job: j, state: *j.Gathering()}
	g := gather.Restore(x.order(), &x.state)
	var parts []string
	runs, waits := g.Running()
	for i := range x.state.Parts {
		switch site := x.state.Parts[i].Site; {
		case slices.Contains(runs, i):
			parts = append(parts, site+" idles")
		case slices.Contains(waits, i):
			parts = append(parts, site+" waits")
		}
	}
	if parts == nil {
		parts = []string{"no pilots yet"}
	}
	idle := g.Spent() + granted(&x.state, runs, func(part int) int64 { return int64(j.Parts[part].Nodes) })
	o := x.order()
	return grid.Say("gathering, try %d: %s; idle %s of %s node-hours", x.state.Tries+1, grid.Phrase(strings.Join(parts, ", ")),
		nodeHours(idle), nodeHours(o.Allowance()))
}

// granted is what the pilots that run are granted, in node-seconds.
func granted(s *grid.Gathering, runs []int, nodes func(part int) int64) (sum int64) {
	for _, p := range s.Pilots {
		if !p.Given && slices.Contains(runs, p.Part) {
			sum += nodes(p.Part) * p.Granted
		}
	}
	return sum
}

// nodeHours is an amount of node-seconds in node-hours, to two figures.
func nodeHours(s int64) grid.Phrase {
	h := float64(s) / 3600
	text := strconv.FormatFloat(h, 'g', 2, 64)
	if h >= 10 {
		text = strconv.FormatFloat(h, 'f', 0, 64)
	}
	return grid.Phrase(text)
}
