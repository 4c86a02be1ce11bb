package use

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// A job of parts asks for its parts, one of a single part for what that asks for.
func TestAsked_AJobOfPartsSaysEach(t *testing.T) {
	t.Parallel()
	part := func(name string, nodes int, offset grid.Duration) api.PartRequest {
		return api.PartRequestOf(&grid.JobPart{Name: name, Nodes: nodes, Length: 10 * grid.Minute, Offset: offset, MinPerformance: grid.Unit})
	}
	say := func(j *api.Job) string {
		var s strings.Builder
		asked(func(name, format string, args ...any) { fmt.Fprintf(&s, name+": "+format+"\n", args...) }, j)
		return s.String()
	}
	j := &api.Job{Nodes: 17, Length: api.Seconds{Duration: 10 * grid.Minute}, Apart: true, Parts: []api.PartRequest{part("qpu", 1, 5*grid.Minute), part("gpu", 16, 0)}}
	if got, want := say(j), "asks for: 2 parts, no two at one site, for at most 0.00 credits\n  part qpu: 1 node, 10m at performance 1 or more, 5m after the start\n  part gpu: 16 nodes, 10m at performance 1 or more\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	j.Parts = j.Parts[:1]
	if got := say(j); !strings.HasPrefix(got, "asks for: 17 nodes, 10m at performance ") {
		t.Error(got)
	}
	j.PortionRequest = api.PortionRequest{GPUsPerNode: 2, CoresPerNode: 1, MemoryPerNode: 3 << 29}
	if got := say(j); !strings.HasPrefix(got, "asks for: 17 nodes (2 GPUs, 1 core, 1.5 GiB of each), 10m at performance ") || !strings.Contains(got, "per hour of such a part") {
		t.Error(got)
	}
}

// The legs of a job that takes parts of nodes say how much, and what a GPU-hour costs.
func TestLegTable_PartsOfNodes(t *testing.T) {
	t.Parallel()
	j := &api.Job{PortionRequest: api.PortionRequest{GPUsPerNode: 2}, Legs: []api.Leg{
		{Site: "north", Nodes: 2, Start: 0, End: api.Instant(3 * grid.Hour), Slices: 2, Of: 8, Cost: api.Credits{Credits: 12 * grid.Credit}},
		{Site: "south", Nodes: 1, Start: 0, End: api.Instant(3 * grid.Hour), Cost: api.Credits{Credits: 24 * grid.Credit}},
	}}
	if got := legTable(j, time.Time{}).Render(); !strings.Contains(got, "2 of 8") || !strings.Contains(got, "all") {
		t.Error(got)
	}
	said := ""
	line := func(name, format string, args ...any) { said = name + " " + fmt.Sprintf(format, args...) }
	if gpuLine(line, j); said != "GPU-hours 18.00, 2.00 credits each" {
		t.Error(said)
	}
	j.Legs[0].State, said = grid.Settled.String(), ""
	if gpuLine(line, j); said != "" {
		t.Error(said)
	}
}
