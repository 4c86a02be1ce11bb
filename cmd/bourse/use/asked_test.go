package use

import (
	"fmt"
	"strings"
	"testing"

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
}
