package balance

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/simulation"
)

// A user of a market has a job that is worth something until a deadline, and waits
// at a cost. When the job arrives the user looks at what each way to run it would bring
// by the sites' plans, and takes the best, or leaves:
//
//	best effort    pays the base price
//	priority queue pays double, and goes before
//	reservation    pays the base price and, under adaptive prices, the delay it causes;
//	               it is as long as the job will run, as in the paper's experiments
//	another site   any of these elsewhere
//
// Half of the users do not look: they stay in their own queue, as local users do.
//
// A way brings the job's value, if the job ends by the deadline, less the price, less
// the user's delay cost x nodes x planned wait. Of equal ways a reservation is taken,
// because it keeps its start. The outcome is measured when all jobs have ended. The
// right choice is that of a planner who knows all delay costs and who counts the delay
// to all others, by the same plans, in place of what is paid above base.

// regime says what the users of a market may do and what they pay.
type regime struct {
	name     string
	stay     bool  // on their own site's queue; no user leaves
	home     bool  // any way, but on their own site
	additive bool  // reservations pay for the delay that they cause
	declared bool  // at the delay costs that users declare, else all at 1
	lie      int64 // factor, in thousandths, by which a fifth of the users who stay overstate their delay cost; 0: none do
	planner  bool  // the right choice is made for them
}

// The regimes of the market.
const (
	ownQueue = iota
	fixedPrice
	flatPrice
	declaredPrice
	homeOnly
	planned
	overstate
	understate
)

var regimes = []regime{
	ownQueue:      {name: "own queue only", stay: true},
	fixedPrice:    {name: "choice, fixed prices"},
	flatPrice:     {name: "choice, adaptive prices", additive: true},
	declaredPrice: {name: "choice, adaptive prices at declared delay costs", additive: true, declared: true},
	homeOnly:      {name: "choice at home only, adaptive prices", home: true, additive: true},
	planned:       {name: "a planner chooses", additive: true, declared: true, planner: true},
	overstate:     {name: "a tenth declare 4 x their delay cost", additive: true, declared: true, lie: 4000},
	understate:    {name: "a tenth declare 1/4 of their delay cost", additive: true, declared: true, lie: 250},
}

// way is how a job is run.
type way int

const (
	leave way = iota
	bestEffort
	priorityQueue
	reservation
	ways
)

var wayNames = [ways]string{"leave", "best effort", "the priority queue", "a reservation"}

// marketOutcome is the result of a market.
type marketOutcome struct {
	welfare   float64 // values reached less delay costs, % of all values
	inTime    float64 // % of the users whose job ended by its deadline
	wait      float64 // mean over users who did not leave, h
	burden    float64 // the same weighted by delay cost x nodes, h
	paid      float64 // credits per node-hour, of users who did not leave
	refunds   float64 // what would be passed on to the delayed, % of what is paid
	elsewhere float64 // % of the users
	by        [ways]float64
	right     float64 // % of the choices that the planner would have made too
	spread    float64 // of the sites' work over capacity, standard deviation in points
	liars     float64 // mean utility of the tenth, in credits
	liarsBack float64 // the same with refunds as quoted
}

// chooser is a user with a job and its outcome.
type chooser struct {
	grid.LocalJob
	home     int
	value    float64 // credits, if it ends by the deadline
	delay    int64   // delay cost, thousandths of the base price per node-hour
	declared int64
	deadline grid.Time
	liar     bool
	stays    bool

	way    way
	at     int
	start  grid.Time
	paid   float64
	refund float64
}

// market is a market under way.
type market struct {
	regime
	users   []chooser
	nodes   []int
	span    grid.Duration // of the submits
	queues  []*queue.Queue
	price   []float64 // base, credits per node-hour
	true    *pricing.Book
	asked   *pricing.Book
	right   int // of the choices
	choices int
	delays  []grid.Delay
}

// newMarket returns a market without sites or users.
func newMarket(r regime) *market {
	return &market{regime: r, true: pricing.NewBook(), asked: pricing.NewBook()}
}

// add adds a site with that many nodes.
func (m *market) add(s *configs.Site, nodes int) {
	m.span = max(m.span, s.Workload.Days)
	m.nodes = append(m.nodes, nodes)
	m.price = append(m.price, s.Groups[0].Price.Float())
	q := queue.New(queue.Options{Nodes: nodes, Policy: s.Policy,
		Queues: []queue.Named{{Rate: 1000, DelayCost: 1000}, {Priority: 1, Rate: 2000, DelayCost: 1000}}})
	q.Watch(marketWatcher{m})
	m.queues = append(m.queues, q)
}

// marketRun simulates one market.
func marketRun(sc *configs.Scenario, load *simulation.Workloads, r regime, seed uint64) (marketOutcome, error) {
	m := newMarket(r)
	for i := range sc.Sites {
		s := &sc.Sites[i]
		jobs, err := load.Local(s, seed)
		if err != nil {
			return marketOutcome{}, err
		}
		for _, j := range jobs {
			if j.Run > 0 && j.Nodes <= s.Groups[0].Nodes {
				j.Estimate = max(j.Estimate, j.Run)
				m.users = append(m.users, chooser{LocalJob: j, home: i, start: grid.Never})
			}
		}
		m.add(s, s.Groups[0].Nodes)
	}
	slices.SortStableFunc(m.users, func(a, b chooser) int { return cmp.Compare(a.Submit, b.Submit) })
	m.draw(seed)
	for i := range m.users {
		m.serve(&m.users[i])
	}
	for _, q := range m.queues {
		for t := q.Next(); t < grid.Never; t = q.Next() {
			q.Advance(t)
		}
	}
	return m.outcome(), nil
}

// draw draws what the workload lacks, each purpose from its own stream: values of 1 to 16
// times the base price, delay costs of 1/16 to 4 with a mean of about 1, deadlines of 1.5
// to 20 runtimes and an hour after the submission, which users lie, and which stay.
func (m *market) draw(seed uint64) {
	stream := func(purpose string) *rand.Rand {
		return rand.New(rand.NewPCG(simulation.SeedOf(seed, "market "+purpose), 0))
	}
	values, delays, deadlines, liars, habits := stream("values"), stream("delays"), stream("deadlines"), stream("liars"), stream("habits")
	between := func(r *rand.Rand, low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }
	for i := range m.users {
		u := &m.users[i]
		u.ID = int64(i + 1)
		u.value = between(values, 1, 16) * m.price[u.home] * float64(u.Nodes) * u.Run.Hours()
		u.delay = int64(1000 * between(delays, 1./16, 4))
		u.deadline = u.Submit.Add(grid.Duration(between(deadlines, 1.5, 20)*float64(u.Run)) + grid.Hour)
		u.stays = habits.IntN(2) == 0
		u.liar = liars.IntN(5) == 0 && u.stays // whom others' reservations delay
		if u.declared = u.delay; u.liar && m.lie > 0 {
			u.declared = u.delay * m.lie / 1000
		}
	}
}

// marketWatcher notes when jobs start.
type marketWatcher struct{ *market }

func (w marketWatcher) Started(j *grid.LocalJob, s *backfill.Start) {
	w.users[j.ID-1].start = s.End.Add(-s.Estimate)
}
func (w marketWatcher) Ended(*grid.LocalJob, grid.Time, grid.Time, bool) {}
func (w marketWatcher) Refused(j *grid.LocalJob, why grid.Reason) {
	panic("studies: a job of the market was refused: " + why.String())
}

// outcome sums up.
func (m *market) outcome() marketOutcome {
	var x marketOutcome
	var values, stayed, hours, weights, refunds, liars float64
	work := make([]float64, len(m.queues))
	for i := range m.users {
		u := &m.users[i]
		values += u.value
		x.by[u.way]++
		utility := 0.0
		if u.way != leave {
			wait := u.start.Sub(u.Submit).Hours()
			cost := m.waiting(u, u.start, u.at)
			stayed++
			hours += float64(u.Nodes) * u.Run.Hours()
			work[u.at] += float64(u.Nodes) * u.Run.Hours()
			x.wait += wait
			weight := float64(u.delay) * float64(u.Nodes)
			x.burden, weights = x.burden+weight*wait, weights+weight
			x.paid += u.paid
			refunds += u.refund
			x.welfare -= cost
			utility -= cost + u.paid
			if u.start.Add(u.Run) <= u.deadline {
				x.welfare += u.value
				x.inTime++
				utility += u.value
			}
			if u.at != u.home {
				x.elsewhere++
			}
		}
		if u.liar {
			liars++
			x.liars += utility
			x.liarsBack += utility + u.refund
		}
	}
	n := float64(len(m.users))
	x.welfare *= 100 / values
	x.inTime, x.elsewhere, x.right = 100*x.inTime/n, 100*x.elsewhere/n, 100*float64(m.right)/max(1, float64(m.choices))
	x.refunds = 100 * refunds / x.paid
	x.wait, x.burden, x.paid = x.wait/stayed, x.burden/weights, x.paid/hours
	for w := range x.by {
		x.by[w] *= 100 / n
	}
	for i := range work {
		work[i] *= 100 / (float64(m.nodes[i]) * m.span.Hours())
	}
	x.spread = deviation(work)
	x.liars, x.liarsBack = x.liars/liars, x.liarsBack/liars
	return x
}
