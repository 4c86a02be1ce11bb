package use

import (
	"fmt"
	"slices"
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

// Offers and dry runs say what an hour of a GPU costs, where nodes are divided.
func TestGPUHour_InOffersAndQuotes(t *testing.T) {
	t.Parallel()
	price := func(credits int) api.Price { return api.Price{Price: grid.Price(credits) * grid.Price(grid.Credit)} }
	free := []api.FreeStep{{From: 0, Free: 4, Clear: 4}, {From: api.Instant(grid.Hour), Free: 2, Clear: 2}, {From: api.Instant(2 * grid.Hour)}}
	offers := []api.Offer{{Site: "plain", Group: "cpu", Nodes: 4, Price: price(3), Free: free[:1]},
		{Site: "north", Group: "gpu", Nodes: 4, Price: price(16), Prices: []api.PriceStep{{From: api.Instant(grid.Hour), Price: price(8)}}, Free: free,
			Shares: api.Shares{Slices: 8, GPUs: 8, GPUPrice: price(2)}}}
	var got []string
	for line := range strings.Lines(offersTable(offers, 2, time.Time{}).Render()) {
		if words := strings.Fields(line); !strings.HasPrefix(line, "--") {
			got = append(got, words[len(words)-1])
		}
	}
	if want := []string{"GPU-hour", "4", "2", "1", "later"}; !slices.Equal(got, want) {
		t.Errorf("last columns are %q, want %q", got, want)
	}
	if text := offersTable(offers[:1], 2, time.Time{}).Render(); strings.Contains(text, "GPU") {
		t.Error(text)
	}
	var out strings.Builder
	printGPUHours(&out, []api.JobQuote{{Name: "none"}, {Name: "a", Now: &api.Outlook{Start: 0, End: api.Instant(3 * grid.Hour), Nodes: 2, Cost: &api.Credits{Credits: 6 * grid.Credit}}}},
		[]api.JobRequest{{Name: "a", PortionRequest: api.PortionRequest{GPUsPerNode: 2}}, {Name: "none", PortionRequest: api.PortionRequest{GPUsPerNode: 2}}})
	if out.String() != "a: 12.00 GPU-hours, 0.50 credits each.\n" {
		t.Error(out.String())
	}
}
