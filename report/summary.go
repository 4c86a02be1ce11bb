package report

import (
	"encoding/json"
	"io"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/weeks"
)

// Summary is summary.json: the measures of a run. Times and durations are in
// seconds, money in credits, utilisations shares of 1. The mean over nothing
// is 0.
type Summary struct {
	Scenario string          `json:"scenario"`
	Seed     uint64          `json:"seed"`
	Until    grid.Time       `json:"until"`
	Finding  string          `json:"finding"` // one sentence
	Sites    []SiteSummary   `json:"sites"`
	Brokers  []BrokerSummary `json:"brokers"`
	AllVOs   *BrokerSummary  `json:"allVOs,omitempty"` // all VOs together: sums, and means over all of their jobs; absent if there are fewer than two
	Settings []Setting       `json:"settings,omitempty"`
}

// SiteSummary is what became of one site over [0, until].
type SiteSummary struct {
	Name        string            `json:"name"`
	Nodes       int               `json:"nodes"`
	Utilisation Utilisation       `json:"utilisation"`
	Groups      []GroupSummary    `json:"groups"`
	Local       LocalSummary      `json:"local"`
	Legs        int               `json:"legs"`        // that became reservations
	LegsEnded   int               `json:"legsEnded"`   // settled
	LegsBroken  int               `json:"legsBroken"`  // released (in doubt too) or lost
	RefusedLegs map[grid.Code]int `json:"refusedLegs"` // by reason
	Income      Income            `json:"income"`
	Refunded    grid.Credits      `json:"refunded,omitzero"` // paid back for legs that were cancelled or lost, with penalties
	Accounts    []grid.Account    `json:"accounts"`
	Deadlines   Deadlines         `json:"deadlines,omitzero"` // of a site that takes some
	// Weeks are measures of the jobs of a log by week of submission, each an array of an amount
	// and a weight: a measure is the ratio of their sums.
	Weeks map[string]weeks.Sums `json:"weeks,omitempty"`
}

// Deadlines counts the deadlines that a site accepted, of its own jobs and of VOs,
// once their work was over.
type Deadlines struct {
	Kept   int `json:"kept"`
	Missed int `json:"missed"`
}

// Utilisation is the share of the node-time over [0, until] that was used.
type Utilisation struct {
	All   float64 `json:"all"`
	Local float64 `json:"local"`
	VO    float64 `json:"vo"`
}

// GroupSummary is one group of a site.
type GroupSummary struct {
	Name        string           `json:"name"`
	Nodes       int              `json:"nodes"`
	Performance grid.Performance `json:"performance"`
	Price       grid.Price       `json:"price"`           // base, per node-hour
	Curve       string           `json:"curve,omitempty"` // factors on it over time, as grid.PriceCurve.String writes them; absent: 1
	Utilisation Utilisation      `json:"utilisation"`
	VONodeHours float64          `json:"voNodeHours"`
}

// LocalSummary is what became of a site's own jobs.
type LocalSummary struct {
	Started         int               `json:"started"`
	Immediate       int               `json:"immediate"` // of those started
	Backfilled      int               `json:"backfilled"`
	Reserved        int               `json:"reserved"`
	Ended           int               `json:"ended"`
	Killed          int               `json:"killed"` // of those ended, at their estimate
	Running         int               `json:"running"`
	Waiting         int               `json:"waiting"`
	Refused         int               `json:"refused"`
	RefusedFor      map[grid.Code]int `json:"refusedFor"`      // those refused, by reason
	MeanWait        grid.Duration     `json:"meanWait"`        // of those started
	BoundedSlowdown float64           `json:"boundedSlowdown"` // mean of those ended, bound 10 s
	Log             *LogSummary       `json:"log,omitempty"`   // of their log; absent if it has no waits
}

// LogSummary is how a site's local jobs fared on the machine of their log, for
// comparison: those of the log that the site was given and whose record has a wait.
type LogSummary struct {
	Jobs            int           `json:"jobs"` // with a wait in their record
	MeanWait        grid.Duration `json:"meanWait"`
	BoundedSlowdown float64       `json:"boundedSlowdown"` // mean, bound 10 s
}

// Income is what the legs that became reservations were charged when they did.
type Income struct {
	Base     grid.Credits `json:"base"`
	Additive grid.Credits `json:"additive"`
	Total    grid.Credits `json:"total"`
}

// BrokerSummary is what became of one VO.
type BrokerSummary struct {
	Name          string            `json:"name"`
	Jobs          JobSummary        `json:"jobs"`
	Postponements map[grid.Code]int `json:"postponements"`     // how often a job was put off, by reason
	Cost          Income            `json:"cost"`              // bound by the committed legs
	Refunded      grid.Credits      `json:"refunded,omitzero"` // paid back for legs that were cancelled or lost, with penalties
	Spent         grid.Credits      `json:"spent"`             // posted, net of what was given back
	Budget        grid.Credits      `json:"budget"`
	Left          grid.Credits      `json:"left"`             // of the budget, less what was spent
	Urgency       grid.Urgency      `json:"urgency,omitzero"` // of jobs that have none of their own
	// Over the jobs placed, as their windows were reserved.
	MeanWait   grid.Duration `json:"meanWait"`   // submit to start
	MeanTime   grid.Duration `json:"meanTime"`   // start to end
	MeanFinish grid.Duration `json:"meanFinish"` // submit to end
	Finish90   grid.Duration `json:"finish90"`   // submit to end, of nine in ten at most
	// CostNodeHour is what a node-hour of the windows has cost, net of refunds.
	CostNodeHour grid.Credits `json:"costNodeHour"`
	Value        ValueLost    `json:"value"`
	// Regret is what the windows that its cycles chose lose beyond the least that
	// each job alone could have lost in its cycle; under the goal value only.
	Regret grid.Credits `json:"regret,omitzero"`
	// Over the jobs done, as they ran.
	MeanResponse grid.Duration      `json:"meanResponse"` // submit to actual end
	Transactions TransactionSummary `json:"transactions"`
	Cycles       CycleSummary       `json:"cycles"`
	Accounts     []grid.Account     `json:"accounts"`
	// Weeks are measures by week, as those of a site, if a log has a part in them.
	Weeks map[string]weeks.Sums `json:"weeks,omitempty"`
}

// ValueLost is what a VO's jobs have lost: what they cost net of refunds; what each
// hour from when they were ready until their ends was worth to those placed; and, of
// those without a window, the budgets and the worth of the wait until they were abandoned,
// their deadlines, or the end of the run. A job that its user has cancelled loses what
// that cost. The less the better, between runs that placed the same jobs.
type ValueLost struct {
	Total    grid.Credits `json:"total"`
	Cost     grid.Credits `json:"cost"`
	Waiting  grid.Credits `json:"waiting"`
	Unplaced grid.Credits `json:"unplaced"`
}

// JobSummary counts a VO's jobs.
type JobSummary struct {
	Submitted   int `json:"submitted"`
	NotTaken    int `json:"notTaken"`            // turned away at submission, not among those submitted
	Placed      int `json:"placed"`              // with a committed window, unless it was cancelled before its start
	CoAllocated int `json:"coAllocated"`         // of those placed, on more than one site
	Done        int `json:"done"`                // of those placed, all legs ended and no work failed
	Failed      int `json:"failed,omitempty"`    // of those placed, all legs ended and the work of one failed
	Waiting     int `json:"waiting"`             // not placed, to be tried again
	Abandoned   int `json:"abandoned"`           // not placed, not to be tried again
	Withdrawn   int `json:"withdrawn,omitempty"` // not placed, cancelled by their users
	GivenUp     int `json:"givenUp,omitempty"`   // of those withdrawn, by their users
	// Unplaced counts those without a window that no user gave up by the last reason given;
	// those that no cycle has looked at yet stand under "".
	Unplaced map[grid.Code]int `json:"unplaced"`
}

// TransactionSummary counts the attempts to commit a window.
type TransactionSummary struct {
	Committed int               `json:"committed"`
	Moved     int               `json:"moved,omitempty"` // of those committed, for another window of the same job
	Aborted   int               `json:"aborted"`
	Aborts    map[grid.Code]int `json:"aborts"` // by reason
	Open      int               `json:"open"`   // not decided
}

// CycleSummary is the mean cycle, each limit over the cycles that had one.
type CycleSummary struct {
	Run                int           `json:"run"`
	MeanTimeLimit      grid.Duration `json:"meanTimeLimit"`   // T*
	MeanBudgetLimit    grid.Credits  `json:"meanBudgetLimit"` // B*
	AlternativesPerJob float64       `json:"alternativesPerJob"`
}

// WriteSummary writes summary.json.
func (r *Report) WriteSummary(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r.Summary)
}

func sumOf(counts map[grid.Code]int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}

func (s *site) summary(until grid.Time) SiteSummary {
	sum := SiteSummary{Name: s.name, Groups: []GroupSummary{}, RefusedLegs: s.refusals,
		Legs: s.legs[grid.Confirmed], LegsEnded: s.legs[grid.Settled],
		LegsBroken: s.legs[grid.Released] + s.legs[grid.Lost] + s.legs[grid.Heuristic],
		Income:     income(s.income), Refunded: s.refunded, Deadlines: s.due, Weeks: s.weeks.Sums(),
		Local: LocalSummary{Started: s.started, Immediate: s.classes["immediate"], Backfilled: s.classes["backfilled"],
			Reserved: s.classes["reserved"], Ended: s.ended, Killed: s.killed, Running: s.started - s.ended,
			Waiting: s.waiting, Refused: sumOf(s.refused), RefusedFor: s.refused, MeanWait: mean(s.waits, s.started),
			BoundedSlowdown: ratio(s.slowdowns, float64(s.ended)), Log: s.log}}
	vo := s.voTime(until)
	var local, remote int64
	for i, g := range s.groups {
		used := g.local.by(until)
		local, remote = local+used, remote+vo[i]
		sum.Nodes += g.Nodes
		sum.Groups = append(sum.Groups, GroupSummary{Name: g.Name, Nodes: g.Nodes, Performance: g.Performance, Price: g.Price, Curve: g.Curve.String(),
			Utilisation: utilisation(used, vo[i], g.Nodes, until), VONodeHours: ratio(float64(vo[i]), float64(grid.Hour))})
	}
	sum.Utilisation = utilisation(local, remote, sum.Nodes, until)
	return sum
}

func (b *vo) summary(until grid.Time) BrokerSummary {
	sum := BrokerSummary{Name: b.name, Postponements: b.postponements, Cost: income(b.fare), Refunded: b.refunded, Spent: b.spent,
		Budget: b.budget, Left: b.budget - b.spent, Urgency: b.urgency,
		Transactions: TransactionSummary{Committed: b.counts.committed, Moved: b.counts.moved, Aborted: b.counts.aborted, Aborts: b.aborts},
		Cycles: CycleSummary{Run: b.cycles, MeanTimeLimit: mean(b.timeLimits, b.timed),
			MeanBudgetLimit:    mean(b.budgetLimits, b.capped),
			AlternativesPerJob: ratio(float64(b.alternatives), float64(b.looked))}}
	all := &b.over
	for _, j := range b.left() {
		all.add(j, b.urgency, until)
	}
	all.summary(&sum)
	sum.Jobs.Submitted, sum.Jobs.NotTaken = b.submitted, b.notTaken
	sum.Value.Cost, sum.Regret = sum.paid(), b.regret
	sum.CostNodeHour = grid.Credits(ratio(float64(sum.Value.Cost), float64(all.nodes)/float64(grid.Hour)))
	sum.Value.Total = sum.Value.Cost.Plus(sum.Value.Waiting).Plus(sum.Value.Unplaced)
	sum.Transactions.Open = b.undecided()
	return sum
}

// paid returns what the committed legs cost, net of refunds.
func (b *BrokerSummary) paid() grid.Credits { return b.Cost.Total - b.Refunded }

func income(f grid.Fare) Income { return Income{f.Base, f.Additive, f.Total()} }

func utilisation(local, vo int64, nodes int, until grid.Time) Utilisation {
	whole := float64(nodes) * float64(until)
	return Utilisation{All: ratio(float64(local+vo), whole), Local: ratio(float64(local), whole), VO: ratio(float64(vo), whole)}
}

// mean returns sum / n rounded half up, 0 for n = 0. Sums must not be negative.
func mean[T ~int64](sum T, n int) T {
	if n == 0 {
		return 0
	}
	q, rest := sum/T(n), sum%T(n)
	if rest >= T(n)-rest {
		q++
	}
	return q
}

// meanAnd90 returns the mean of a list and the value that nine in ten do not exceed.
func meanAnd90(list []grid.Duration) (middle, most grid.Duration) {
	if len(list) == 0 {
		return 0, 0
	}
	var sum grid.Duration
	for _, d := range list {
		sum += d
	}
	slices.Sort(list)
	return mean(sum, len(list)), list[(9*len(list)+9)/10-1]
}

// ratio returns a / b rounded to six decimals, 0 for b = 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return math.Round(a/b*1e6) / 1e6
}
