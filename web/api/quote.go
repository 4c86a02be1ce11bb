package api

import "github.com/bourse-grid/bourse/grid"

// QuoteWish is a batch that is not submitted.
type QuoteWish struct {
	Jobs   []JobRequest `json:"jobs" minItems:"1" maxItems:"5000" doc:"as in a batch; at most 100, if more than prices is wanted"`
	Prices bool         `json:"prices,omitempty" doc:"only say each job's price and budget, and whether the price is the broker's price cap"`
}

// QuoteAnswer says of each job what it would get, in the order of the batch.
type QuoteAnswer struct {
	At   Instant    `json:"at"`
	Jobs []JobQuote `json:"jobs"`
}

// JobQuote is what a job would get. Nothing is held: when it is submitted it may get something
// else.
type JobQuote struct {
	Name      string      `json:"name"`
	Elements  int         `json:"elements,omitempty" doc:"of an array: how many it has. The windows are those of the first, and budget is that of each"`
	MaxPrice  Price       `json:"maxPrice" doc:"the most that it pays for a node-hour"`
	Budget    Credits     `json:"budget" doc:"the most that it pays"`
	Capped    bool        `json:"capped,omitempty" doc:"it gives neither price nor budget, and maxPrice is the broker's price cap"`
	Now       *Outlook    `json:"now,omitempty" doc:"in the next cycle"`
	Later     *Outlook    `json:"later,omitempty" doc:"if it were ready half an hour after that window begins; absent: it gets none"`
	Elsewhere *Outlook    `json:"elsewhere,omitempty" doc:"on none of the sites of that window; absent: it gets none"`
	Queue     *Outlook    `json:"queue,omitempty" doc:"where it would probably begin soonest if it came last in a site's own queue: a guess by the estimates of the jobs there, without a price or a promise; absent: not within the broker's horizon"`
	Sites     []SiteQuote `json:"sites,omitempty" doc:"of sites that forecast their queues, in order of name: a place in the queue, and a window there alone"`
}

// SiteQuote is what one site has for a job.
type SiteQuote struct {
	Site     string     `json:"site"`
	Queued   BestEffort `json:"bestEffort" doc:"if it came last in the site's own queue now"`
	Reserved *Outlook   `json:"reserved" doc:"its window if there were no other site"`
}

// BestEffort is when a job would probably start in a queue. Nothing promises it.
type BestEffort struct {
	Median     *Instant `json:"median" doc:"null: nobody knows"`
	Lower      *Instant `json:"lower"`
	Upper      *Instant `json:"upper" doc:"null: it may not start at all"`
	StartsNow  bool     `json:"startsNow,omitempty"`
	Level      int      `json:"level" doc:"percent of such starts that lie from lower to upper"`
	Calibrated bool     `json:"calibrated" doc:"the band is made from what came of earlier forecasts"`
	Held       *float64 `json:"held" doc:"the share of the site's past bands that held the start; null: none is known yet"`
	Of         int      `json:"of" doc:"of so many past bands"`
}

// Outlook is a window, or why there is none.
type Outlook struct {
	Start   Instant      `json:"start,omitzero"`
	End     Instant      `json:"end,omitzero"`
	Nodes   int          `json:"nodes,omitempty"`
	Cost    *Credits     `json:"cost,omitempty"`
	AtLeast bool         `json:"atLeast,omitempty" doc:"jobs wait there for nodes of the window, and the site has not said in time what it adds to the cost for their delay"`
	Legs    []OutlookLeg `json:"legs,omitempty" doc:"its parts, by site"`
	Reason  *Reason      `json:"reason,omitempty" doc:"why there is no window"`
}

// OutlookLeg is one site's part of such a window.
type OutlookLeg struct {
	Site  string  `json:"site"`
	Group string  `json:"group"`
	Nodes int     `json:"nodes"`
	Cost  Credits `json:"cost"`
}

// BestEffortOf shows a forecast that is known.
func BestEffortOf(b *grid.BestEffort) BestEffort {
	at := func(t grid.Time) *Instant {
		if t == grid.Never {
			return nil
		}
		x := Instant(t)
		return &x
	}
	x := BestEffort{Median: at(b.Median), Lower: at(b.Lower), Upper: at(b.Upper), StartsNow: b.AtOnce, Level: b.Level, Calibrated: b.Calibrated, Of: b.Of}
	if b.Of > 0 {
		share := float64(b.Held) / float64(b.Of)
		x.Held = &share
	}
	return x
}
