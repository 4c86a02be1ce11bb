package shadow

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Verdict says which of the numbers of docs/ADOPT.md a report meets.
type Verdict struct {
	Is  string   `json:"is"`  // Go, NoGo or TooLittle
	Why []string `json:"why"` // in words; none: all numbers are met
}

// What a verdict is.
const (
	Go        = "go"
	NoGo      = "no-go"
	TooLittle = "too little to tell"
)

// The numbers of docs/ADOPT.md.
const (
	leastObserved = 7 * grid.Day
	leastShare    = 95 // of the time, in hundredths, that was looked at
	leastSold     = 1  // of the node-time, in hundredths
	mostRefused   = 50 // of the windows, in hundredths
	mostDelayed   = 10 // of what is sold, in hundredths
	mostInTheWay  = 50 // of what is sold, in hundredths
	longestDelay  = 4 * grid.Hour
)

// Verdict judges a report. Without enough that was observed, or asked for, nothing follows from
// it. What a node-hour costs is not known here, so the income is not judged.
func (r *Report) Verdict() Verdict {
	v := Verdict{Is: TooLittle, Why: []string{}}
	say := func(format string, args ...any) { v.Why = append(v.Why, fmt.Sprintf(format, args...)) }
	switch {
	case r.NodeTime == 0:
		say("nothing was observed: it takes two looks that succeed")
	case r.Observed < leastObserved:
		say("observed is %s, of %s", r.Observed.Words(), leastObserved.Words())
	case r.Observed < part(leastShare, r.To.Sub(r.From)):
		say("observed is less than %d %% of the time", leastShare)
	}
	if r.Asked == 0 {
		say("nobody asked for a window")
	}
	if len(v.Why) > 0 {
		return v
	}
	if r.SoldTime < part(leastSold, r.NodeTime) {
		say("less than %d %% of the node-time would have been sold", leastSold)
	}
	if 100*(r.Asked-r.Sold) >= mostRefused*r.Asked {
		say("half of the windows and more would have been refused")
	}
	if r.Delayed.Time > part(mostDelayed, r.SoldTime) {
		say("by plan local jobs wait longer by more than %d %% of what is sold", mostDelayed)
	}
	if r.Delayed.Longest > longestDelay {
		say("by plan a local job waits longer by %s, more than %s", r.Delayed.Longest.Words(), longestDelay.Words())
	}
	if r.InTheWay.Time > part(mostInTheWay, r.SoldTime) {
		say("local jobs were started in a window's way for more than %d %% of what is sold", mostInTheWay)
	}
	if v.Is = Go; len(v.Why) > 0 {
		v.Is = NoGo
	}
	return v
}

// part is so many hundredths of a time.
func part(hundredths int64, of grid.Duration) grid.Duration {
	return grid.Duration(grid.MulDiv(int64(of), hundredths, 100))
}
