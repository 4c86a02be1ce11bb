package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/weeks"
)

// A measure is one figure of a site's or a VO's summary. Its line here is all it needs: the
// tables of the terminal and of the page, means over seeds, comparisons and sweeps show these
// measures, in this order.
type measure[S any] struct {
	name  string // in files, with its unit; "": it is in no file of means
	head  string // of its column on the terminal; "": not there
	page  string // of its column on the page; "": not there
	sweep string // of its column in the table of a sweep; "": not there
	about string // what it is, for docs/OUTPUT.md; of those with a name
	quantity[S]
}

// quantity is how a figure is taken out of a summary, as a number in the unit of
// its name and in words.
type quantity[S any] struct {
	value func(*S) float64
	words func(*S) string
}

var siteMeasures = []measure[SiteSummary]{
	{"", "Nodes", "Nodes", "", "", tally(func(s *SiteSummary) int { return s.Nodes })},
	{"used %", "Used", "Used", "", "share of the node-time used by local jobs and legs", share(func(s *SiteSummary) float64 { return s.Utilisation.All })},
	{"used by local jobs %", "Local", "By local jobs", "", "share of the node-time used by local jobs", share(func(s *SiteSummary) float64 { return s.Utilisation.Local })},
	{"used by VOs %", "VOs", "By VOs", "", "share of the node-time used by legs of VOs", share(func(s *SiteSummary) float64 { return s.Utilisation.VO })},
	{"", "Started", "Jobs started", "", "", tally(func(s *SiteSummary) int { return s.Local.Started })},
	{"", "Queued", "Queued", "", "", tally(func(s *SiteSummary) int { return s.Local.Waiting })},
	{LocalWait, "Wait", "Mean wait", "", "hours from submit to start, mean over the local jobs that started", length(func(s *SiteSummary) grid.Duration { return s.Local.MeanWait })},
	{localSlowdown, "Slowdown", "Slowdown", "", "(wait + run) / max(run, 10 s), at least 1, mean over the local jobs that started", factor(func(s *SiteSummary) float64 { return s.Local.BoundedSlowdown })},
	{"legs", "Legs", "Legs", "", "legs of windows that became reservations", tally(func(s *SiteSummary) int { return s.Legs })},
	{"income credits", "Income", "Income", "", "what brokers have paid, net of refunds", amount(func(s *SiteSummary) grid.Credits { return s.Income.Total - s.Refunded })},
	{"refunded credits", "", "", "", "what the site has paid back for legs that were cancelled or lost, with penalties", amount(func(s *SiteSummary) grid.Credits { return s.Refunded })},
}

var brokerMeasures = []measure[BrokerSummary]{
	{"jobs submitted", "Jobs", "Jobs", "", "jobs submitted by the users of the VO", tally(func(b *BrokerSummary) int { return b.Jobs.Submitted })},
	{JobsPlaced, "Placed", "Placed", "placed", "jobs that have a window, or had one that was served", tally(func(b *BrokerSummary) int { return b.Jobs.Placed })},
	{placedShare, "", "", "", "share of the submitted jobs that were placed", share(func(b *BrokerSummary) float64 { return float64(b.Jobs.Placed) / float64(max(b.Jobs.Submitted, 1)) })},
	{"jobs co-allocated", "Co-alloc", "On several sites", "", "jobs placed on more than one site at once", tally(func(b *BrokerSummary) int { return b.Jobs.CoAllocated })},
	{"", "Unplaced", "Not placed", "", "", tally(func(b *BrokerSummary) int { return b.Jobs.Submitted - b.Jobs.Placed })},
	{meanWait, "", "Mean wait", "wait h", "hours from submission to the start of the window, mean over the jobs placed", length(func(b *BrokerSummary) grid.Duration { return b.MeanWait })},
	{meanTime, "", "Mean time", "", "hours that the window takes, mean over the jobs placed", length(func(b *BrokerSummary) grid.Duration { return b.MeanTime })},
	{meanFinish, "Finish", "", "finish h", "hours from submission to the end of the window, mean over the jobs placed", length(func(b *BrokerSummary) grid.Duration { return b.MeanFinish })},
	{"90 % finish h", "", "", "", "hours within which nine of ten placed jobs have ended", length(func(b *BrokerSummary) grid.Duration { return b.Finish90 })},
	{valueLost, "Lost", "Value lost", "lost", "cost of the jobs plus the worth of their waits, by their urgencies; a job without a window loses its budget and its wait until it was abandoned, its deadline or the end. Compare it with `jobs placed` beside it", amount(func(b *BrokerSummary) grid.Credits { return b.Value.Total })},
	{"regret credits", "", "", "", "value lost by placed jobs beyond the least that each could have lost alone in its cycle", amount(func(b *BrokerSummary) grid.Credits { return b.Regret })},
	{costCredits, "Cost", "Cost", "cost", "paid for windows, net of refunds", amount((*BrokerSummary).paid)},
	{costNodeHour, "", "", "", "credits for a node-hour of windows", amount(func(b *BrokerSummary) grid.Credits { return b.CostNodeHour })},
	{AboveBase, "", "", "", "the adaptive part of the cost: the price of delaying local jobs", amount(func(b *BrokerSummary) grid.Credits { return b.Cost.Additive })},
	{"", "Extra", "Above base price", "", "", extra()},
	{"", "Left", "Left of the budget", "", "", amount(func(b *BrokerSummary) grid.Credits { return b.Left })},
	{"jobs given up", "", "", "", "jobs that their users cancelled, of those not placed", tally(func(b *BrokerSummary) int { return b.Jobs.GivenUp })},
	{"windows moved", "", "", "", "windows that were exchanged for others of the same job", tally(func(b *BrokerSummary) int { return b.Transactions.Moved })},
	{"refunded credits", "", "", "", "what sites have paid back for legs that were cancelled or lost, with penalties", amount(func(b *BrokerSummary) grid.Credits { return b.Refunded })},
}

// gridMeasures are of all sites of a run together, where there are several.
var gridMeasures = []measure[Summary]{
	{SpreadOfUse, "", "", "", "standard deviation of the sites' used %, each site counted once; 0 if all are equally full", factor(func(s *Summary) float64 {
		return s.spread(func(u *Utilisation) float64 { return u.All })
	})},
	{"spread of local use points", "", "", "", "the same for the share used by local jobs alone", factor(func(s *Summary) float64 {
		return s.spread(func(u *Utilisation) float64 { return u.Local })
	})},
}

// Measures that a finding asks for by name.
const (
	LocalWait   = "mean local wait h"
	AboveBase   = "above base credits"
	SpreadOfUse = "spread of use points"
	JobsPlaced  = "jobs placed"
)

// Measures that are also added up by week.
const (
	localSlowdown = "bounded slowdown"
	placedShare   = "placed %"
	meanWait      = "mean wait h"
	meanTime      = "mean time h"
	meanFinish    = "mean finish h"
	valueLost     = "value lost credits"
	costCredits   = "cost credits"
	costNodeHour  = "cost a node-hour"
)

// weekUnits are how many milliseconds or micro-credits make one of a measure by week.
var weekUnits = map[string]float64{LocalWait: float64(grid.Hour), meanWait: float64(grid.Hour), meanTime: float64(grid.Hour), meanFinish: float64(grid.Hour),
	valueLost: float64(grid.Credit), costCredits: float64(grid.Credit), costNodeHour: float64(grid.Credit) / float64(grid.Hour)}

// AllSites is the owner of the measures of all sites together. No site or VO has a
// name with a space.
const AllSites = "all sites"

// spread is the standard deviation of a share over the sites, in points.
func (s *Summary) spread(of func(*Utilisation) float64) float64 {
	mean, sum := 0.0, 0.0
	for i := range s.Sites {
		mean += 100 * of(&s.Sites[i].Utilisation) / float64(len(s.Sites))
	}
	for i := range s.Sites {
		apart := 100*of(&s.Sites[i].Utilisation) - mean
		sum += apart * apart
	}
	return math.Sqrt(sum / float64(len(s.Sites)))
}

func tally[S any](of func(*S) int) quantity[S] {
	return quantity[S]{func(s *S) float64 { return float64(of(s)) }, func(s *S) string { return strconv.Itoa(of(s)) }}
}

// share is a share of 1: a percentage.
func share[S any](of func(*S) float64) quantity[S] {
	return quantity[S]{func(s *S) float64 { return 100 * of(s) }, func(s *S) string { return percent(of(s)) }}
}

func factor[S any](of func(*S) float64) quantity[S] {
	return quantity[S]{of, func(s *S) string { return fmt.Sprintf("%.1f", of(s)) }}
}

// length is a duration: hours in files, the unit that suits it in words.
func length[S any](of func(*S) grid.Duration) quantity[S] {
	return quantity[S]{func(s *S) float64 { return of(s).Hours() }, func(s *S) string { return span(of(s)) }}
}

func amount[S any](of func(*S) grid.Credits) quantity[S] {
	return quantity[S]{func(s *S) float64 { return of(s).Float() }, func(s *S) string { return money(of(s)) }}
}

// extra is what was paid above base price, "-" where nothing was paid at base.
func extra() quantity[BrokerSummary] {
	above := func(b *BrokerSummary) float64 { return b.Cost.Additive.Float() / b.Cost.Base.Float() }
	return quantity[BrokerSummary]{above, func(b *BrokerSummary) string {
		if b.Cost.Base <= 0 {
			return "-"
		}
		return percent(above(b))
	}}
}

// figures are the measures of one summary that files of means have.
func figures[S any](owner string, measures []measure[S], of *S, byWeek map[string]weeks.Sums) []Figure {
	var list []Figure
	for _, m := range measures {
		if m.name != "" {
			list = append(list, Figure{owner, m.name, m.value(of), byWeek[m.name]})
		}
	}
	return list
}

// tableOf gives the heads of a table, whose first is what is measured, and the
// cells of a row; head chooses the table.
func tableOf[S any](first string, measures []measure[S], head func(*measure[S]) string) (heads []string, cells func(name string, of *S) []string) {
	heads = []string{first}
	var shown []measure[S]
	for i := range measures {
		if h := head(&measures[i]); h != "" {
			heads, shown = append(heads, h), append(shown, measures[i])
		}
	}
	return heads, func(name string, of *S) []string {
		row := []string{name}
		for i := range shown {
			row = append(row, shown[i].words(of))
		}
		return row
	}
}

// onTerminal chooses the columns of the terminal.
func onTerminal[S any](m *measure[S]) string { return m.head }

// VOMeasures lists the measures of a VO, by their names in files.
func VOMeasures() []string {
	var names []string
	for _, m := range brokerMeasures {
		if m.name != "" {
			names = append(names, m.name)
		}
	}
	return names
}

// SweepColumns are the measures of a VO that the table of a sweep shows, by their
// names in files, and the heads of their columns, in order.
func SweepColumns() (names, heads []string) {
	for _, m := range brokerMeasures {
		if m.sweep != "" {
			names, heads = append(names, m.name), append(heads, m.sweep)
		}
	}
	return names, heads
}
