package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// find says in one sentence what the numbers show: how many of the VO's jobs were placed,
// where most of their work ran, what they paid above the base price, and why the rest was not
// placed. Several VOs are taken together; for a run without a VO it describes the local jobs.
func (s *Summary) find() string {
	if len(s.Brokers) == 0 {
		return s.findLocal()
	}
	var jobs JobSummary
	var cost Income
	var refunded grid.Credits
	unplaced := map[grid.Code]int{}
	for _, b := range s.Brokers {
		jobs.Submitted += b.Jobs.Submitted
		jobs.Placed += b.Jobs.Placed
		jobs.CoAllocated += b.Jobs.CoAllocated
		jobs.GivenUp += b.Jobs.GivenUp
		jobs.Failed += b.Jobs.Failed
		refunded = refunded.Plus(b.Refunded)
		cost.Base = cost.Base.Plus(b.Cost.Base)
		cost.Additive = cost.Additive.Plus(b.Cost.Additive)
		for code, n := range b.Jobs.Unplaced {
			unplaced[code] += n
		}
	}
	who := s.Brokers[0].Name
	if len(s.Brokers) > 1 {
		who = fmt.Sprintf("The %d VOs together", len(s.Brokers))
	}
	if jobs.Submitted == 0 {
		return who + " had no jobs."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s placed %d of %s", who, jobs.Placed, grid.Count(jobs.Submitted, "job"))
	if jobs.CoAllocated > 0 {
		fmt.Fprintf(&b, " (%d across sites)", jobs.CoAllocated)
	}
	if name, share := s.busiestForVO(); name != "" && len(s.Sites) > 1 {
		fmt.Fprintf(&b, ", %s of their node-hours on %s", percent(share), name)
	}
	due := s.deadlines()
	if jobs.Placed > 0 {
		b.WriteString(", " + paid(cost, due != Deadlines{}))
	}
	if n := jobs.GivenUp; n > 0 {
		fmt.Fprintf(&b, "; their users gave up %s", grid.Count(n, "job"))
	}
	if n := jobs.Failed; n > 0 {
		fmt.Fprintf(&b, "; the work of %s failed", grid.Count(n, "job"))
	}
	if refunded > 0 {
		fmt.Fprintf(&b, "; sites paid back %s credits", money(refunded))
	}
	b.WriteString(left(jobs.Submitted-jobs.Placed-jobs.GivenUp, unplaced))
	if n := due.Kept + due.Missed; n > 0 {
		fmt.Fprintf(&b, "; %d of %s taken with time-shared work were kept", due.Kept, grid.Count(n, "deadline"))
	}
	return b.String() + "."
}

// besideLogs compares the waits of local jobs with those in their logs, in a sentence of
// its own; "" if no site's jobs are from a log that has any.
func (s *Summary) besideLogs() string {
	var logged, here grid.Duration
	jobs, started := 0, 0
	for i := range s.Sites {
		if l := &s.Sites[i].Local; l.Log != nil {
			logged += l.Log.MeanWait * grid.Duration(l.Log.Jobs)
			jobs += l.Log.Jobs
			here += l.MeanWait * grid.Duration(l.Started)
			started += l.Started
		}
	}
	if jobs == 0 || started == 0 {
		return ""
	}
	return fmt.Sprintf(" Local jobs waited %s on average; in their logs it was %s.", span(here/grid.Duration(started)), span(logged/grid.Duration(jobs)))
}

// deadlines is what became of those that all sites took.
func (s *Summary) deadlines() Deadlines {
	var sum Deadlines
	for i := range s.Sites {
		sum.Kept += s.Sites[i].Deadlines.Kept
		sum.Missed += s.Sites[i].Deadlines.Missed
	}
	return sum
}

// busiestForVO is the site that carried most of the VOs' node-time, and its
// share of it; the first of the header where several did.
func (s *Summary) busiestForVO() (name string, share float64) {
	var all, most float64
	for _, one := range s.Sites {
		var hours float64
		for _, g := range one.Groups {
			hours += g.VONodeHours
		}
		if hours > most {
			name, most = one.Name, hours
		}
		all += hours
	}
	return name, ratio(most, all)
}

// paid says what was paid for the harm to those who wait and, where sites take
// deadlines, for haste.
func paid(cost Income, haste bool) string {
	harm := "delaying local jobs"
	if haste {
		harm += " and for haste"
	}
	switch {
	case cost.Base == 0 && cost.Additive == 0:
		return "for nothing"
	case cost.Additive == 0:
		return "all at base price"
	case cost.Base == 0:
		return fmt.Sprintf("for %s credits, all of it for %s", money(cost.Additive), harm)
	}
	return fmt.Sprintf("at %s above base price for %s", percent(cost.Additive.Float()/cost.Base.Float()), harm)
}

// left says how many jobs found no place, and the commonest reason of those
// that were given one; the first in order of code where several are.
func left(n int, unplaced map[grid.Code]int) string {
	if n == 0 {
		return "; none was left over"
	}
	text := fmt.Sprintf("; %s found no place", grid.Count(n, "job"))
	if unplaced[grid.None] == n {
		return text + " before the end"
	}
	return text + commonest(n, unplaced)
}

// commonest gives the commonest reason of n things and, where it is not that of
// all, how many it has; the first in order of code where several are as common.
func commonest(n int, reasons map[grid.Code]int) string {
	var why grid.Code
	for _, code := range slices.Sorted(maps.Keys(reasons)) {
		if code != grid.None && reasons[code] > reasons[why] || why == grid.None {
			why = code
		}
	}
	if reasons[why] == n {
		return " because " + because(why)
	}
	return fmt.Sprintf(", %d of them because %s", reasons[why], because(why))
}

// TurnedAway says, in lines for users, which jobs were refused before they could wait: local
// jobs by a site, and jobs of a VO by its broker.
func (s *Summary) TurnedAway() []string {
	var lines []string
	for i := range s.Sites {
		if one := &s.Sites[i]; one.Local.Refused > 0 {
			lines = append(lines, fmt.Sprintf("site %s refused %s%s", one.Name,
				grid.Count(one.Local.Refused, "local job"), commonest(one.Local.Refused, one.Local.RefusedFor)))
		}
	}
	for i := range s.Brokers {
		if one := &s.Brokers[i]; one.Jobs.NotTaken > 0 {
			lines = append(lines, fmt.Sprintf("broker %s did not accept %s", one.Name, grid.Count(one.Jobs.NotTaken, "job")))
		}
	}
	return lines
}

// because puts the code of a reason into words.
func because(code grid.Code) string {
	if words, ok := reasonWords[code]; ok {
		return words
	}
	return "of \"" + string(code) + "\""
}

var reasonWords = map[grid.Code]string{
	grid.TooLarge:    "more nodes were asked for than there are",
	grid.TooLong:     "more time was asked for than the horizon has",
	grid.NoNode:      "no node met the requirements",
	grid.NoWindow:    "no window was free in time",
	grid.OverBudget:  "every free window was beyond the budget",
	grid.NoOffer:     "no site answered in time",
	grid.LimitTime:   "the batch's time limit left no choice",
	grid.LimitBudget: "the batch's budget limit left no choice",
	grid.NoMoney:     "the account did not cover the price",
	grid.WithSite:    "a site was lost",
	grid.Bound:       "a bound of the user or tenant was reached",
	grid.Expired:     "the deadline could not be met",
	grid.Busy:        "the nodes were taken meanwhile",
	grid.TooDear:     "the price had risen meanwhile",
	grid.Past:        "the start had passed meanwhile",
	grid.MinNotice:   "a site requires longer notice",
	grid.MaxHorizon:  "a site does not accept reservations so far ahead",
	grid.MaxShare:    "reservations held their share of a site",
	grid.VOShare:     "VOs held their share of a site",
	grid.NotAllowed:  "a site is closed to the user or the VO",
	grid.Cap:         "too much was held unconfirmed",
	grid.QueueFull:   "too many jobs were waiting",
	grid.NoCluster:   "a cluster did not answer in time",
	grid.After:       "a job that it depends on was not placed, or was abandoned or withdrawn",
	grid.NoShare:     "too few time-shared nodes could meet the deadline",
	grid.Early:       "a leg was reported to have ended before its window began",
}

func (s *Summary) findLocal() string {
	var started, late int
	var used, nodes float64
	for i, one := range s.Sites {
		started += one.Local.Started
		used += one.Utilisation.Local * float64(one.Nodes)
		nodes += float64(one.Nodes)
		if one.Local.MeanWait > s.Sites[late].Local.MeanWait {
			late = i
		}
	}
	if started == 0 {
		return "Nothing ran."
	}
	return fmt.Sprintf("No VO took part: %s kept the nodes busy for %s of the time and waited longest on %s, %s on average.",
		grid.Count(started, "local job"), percent(ratio(used, nodes)), s.Sites[late].Name, span(s.Sites[late].Local.MeanWait))
}

// percent shows a share of 1 with one decimal, without it from 10 % on.
func percent(share float64) string {
	if share >= 0.0995 {
		return fmt.Sprintf("%.0f %%", share*100)
	}
	return fmt.Sprintf("%.1f %%", share*100)
}

// money shows credits with two decimals, large amounts without, for tables
// and sentences.
func money(c grid.Credits) string {
	switch {
	case c == grid.MaxCredits:
		return c.String()
	case c >= 100_000*grid.Credit:
		return fmt.Sprintf("%.0f", c.Float())
	}
	return fmt.Sprintf("%.2f", c.Float())
}

// span shows a duration in the unit that suits it, for tables and sentences.
func span(d grid.Duration) string {
	switch {
	case d < grid.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < grid.Hour:
		return fmt.Sprintf("%.0f min", d.Seconds()/60)
	case d < 2*grid.Day:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.1f d", d.Hours()/24)
}
