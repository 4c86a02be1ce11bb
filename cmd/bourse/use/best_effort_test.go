package use

import (
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

func TestSiteLine_AQueueBesideAWindow(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_795_000_000_000)
	in := func(minutes int64) *api.Instant {
		i := api.Instant(now.UnixMilli() + minutes*60_000)
		return &i
	}
	share := .786
	cost := &api.Credits{Credits: 12 * grid.Credit}
	full := api.BestEffort{Median: in(40), Lower: in(25), Upper: in(120), Level: 80, Calibrated: true, Held: &share, Of: 1204}
	for want, q := range map[string]api.SiteQuote{
		"north: queued, likely 40 min (80 %: 25 min to 2 h, held 79 % of 1,204); reserved: now, 12.00 credits": {Site: "north", Queued: full,
			Reserved: &api.Outlook{Start: *in(0), Cost: cost}},
		"north: queued, likely 1 h 5 min (80 %: now to 1 d 2 h, not calibrated); reserved: 10 h, at least 12.00 credits": {Site: "north",
			Queued: api.BestEffort{Median: in(65), Lower: in(0), Upper: in(26*60 + 10), Level: 80, Of: 12}, Reserved: &api.Outlook{Start: *in(610), Cost: cost, AtLeast: true}},
		"north: queued, likely 40 min (80 %: 25 min to no end, not calibrated); reserved: no window": {Site: "north",
			Queued: api.BestEffort{Median: in(40), Lower: in(25), Level: 80}, Reserved: &api.Outlook{Reason: &api.Reason{}}},
		"south: queued, starts at once; reserved: no window": {Site: "south", Queued: api.BestEffort{Median: in(0), Lower: in(0), Upper: in(0), StartsNow: true, Level: 80}},
		"south: queued, not foreseen; reserved: no window":   {Site: "south", Queued: api.BestEffort{Level: 80}},
	} {
		if got := siteLine(&q, now); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
