package admission

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// The naive twin of Shares: it walks through every millisecond, and decides by
// sums over all tasks, or by a prediction in fractions.

type naiveTask struct {
	job                  int64
	deadline             grid.Time
	estimate, work, rate float64
}

type naiveNodes struct {
	control Control
	late    bool
	bare    bool
	speeds  []grid.Performance
	now     grid.Time
	tasks   [][]naiveTask
	close   bool // some work came so near to its end that rounding decides in which millisecond that is
}

func (n *naiveNodes) sum(i int) (total float64) {
	for _, t := range n.tasks[i] {
		total += naiveShare(t, n.now)
	}
	return total
}

func naiveShare(t naiveTask, now grid.Time) float64 {
	if t.estimate < 1e-6 {
		return 0
	}
	if t.deadline <= now {
		return 1
	}
	return t.estimate / float64(t.deadline-now)
}

func (n *naiveNodes) rates(i int) {
	total := n.sum(i)
	if n.bare && total > 0 {
		var over []int
		given := 0.0
		for k := range n.tasks[i] {
			t := &n.tasks[i][k]
			if t.rate = naiveShare(*t, n.now) / max(1, total); t.estimate < 1e-6 {
				over = append(over, k)
			}
			given += t.rate
		}
		if len(over) > 0 {
			for _, k := range over {
				n.tasks[i][k].rate = max(0, 1-given) / float64(len(over))
			}
			return
		}
	}
	for k := range n.tasks[i] {
		t := &n.tasks[i][k]
		if t.rate = naiveShare(*t, n.now) / total; total == 0 {
			t.rate = 1 / float64(len(n.tasks[i]))
		}
	}
}

func (n *naiveNodes) busy() bool {
	return slices.ContainsFunc(n.tasks, func(list []naiveTask) bool { return len(list) > 0 })
}

// step lets a millisecond pass and returns the jobs that have ended by its end.
func (n *naiveNodes) step() (ended []int64) {
	n.now++
	left := map[int64]bool{}
	var gone []int64
	for i := range n.tasks {
		over := false
		kept := []naiveTask{}
		for _, t := range n.tasks[i] {
			t.estimate -= t.rate
			t.work -= t.rate
			n.close = n.close || t.work > 1e-7 && t.work < 1e-5
			if t.work < 1e-6 {
				over = true
				gone = append(gone, t.job)
				continue
			}
			left[t.job] = true
			kept = append(kept, t)
		}
		n.tasks[i] = kept
		if over {
			n.rates(i)
		}
	}
	for _, id := range gone {
		if !left[id] && !slices.Contains(ended, id) {
			ended = append(ended, id)
		}
	}
	slices.Sort(ended)
	return ended
}

// choose returns the nodes that the control takes, fewer than wanted if they do
// not suffice; near says that a sum lies so close to 1 that rounding decides.
func (n *naiveNodes) choose(j Job) (nodes []int, near bool) {
	for i := range n.tasks {
		e := float64(n.speeds[i].Runtime(j.Estimate))
		total := n.sum(i) + e/float64(j.Deadline-n.now)
		near = near || math.Abs(total-1) < 1e-7
		suits := total <= 1
		if n.control != Libra && len(n.tasks[i]) == 0 {
			suits = suits || n.late
		}
		if suits {
			nodes = append(nodes, i)
		}
	}
	if n.control == Libra {
		for a := range nodes { // insertion sort, stable
			for b := a; b > 0 && n.sum(nodes[b]) > n.sum(nodes[b-1])+1e-12; b-- {
				nodes[b], nodes[b-1] = nodes[b-1], nodes[b]
			}
		}
	}
	return nodes[:min(len(nodes), j.Nodes)], near
}

// tiedByRounding reports whether two nodes are equally full but for the last digits of
// their sums, which hang on how often each has been divided: these say which one Libra
// takes, not the number. Sums that are equal to the last digit are a tie.
func (n *naiveNodes) tiedByRounding(s *Shares) bool {
	for a := range n.tasks {
		for b := range a {
			off := math.Abs(s.nodes[a].shares(n.now) - s.nodes[b].shares(n.now))
			if off != 0 && off < 1e-9 && math.Abs(n.sum(a)-n.sum(b)) < 1e-9 {
				return true
			}
		}
	}
	return false
}

func (n *naiveNodes) arrive(j Job, run grid.Duration, nodes []int) {
	for _, i := range nodes {
		n.tasks[i] = append(n.tasks[i], naiveTask{job: j.ID, deadline: j.Deadline,
			estimate: float64(n.speeds[i].Runtime(j.Estimate)), work: float64(n.speeds[i].Runtime(run))})
		n.rates(i)
	}
}

// Random streams of arrivals and cancellations: the server takes the same jobs
// onto the same nodes and ends them in the same milliseconds as the naive twin,
// and its audit never complains.
func TestShares_EqualTheNaiveTwinThatWalksThroughEveryMillisecond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		control := rapid.SampledFrom([]Control{Libra, LibraRisk}).Draw(rt, "control")
		late := rapid.Bool().Draw(rt, "late")
		speeds := rapid.SliceOfN(rapid.SampledFrom([]grid.Performance{500, 1000, 1300, 2000}), 1, 4).Draw(rt, "speeds")
		bare := rapid.Bool().Draw(rt, "bare")
		server, err := New(Options{Control: control, Nodes: speeds, RefuseLoneLate: !late, OverrunBare: bare}, 0)
		if err != nil {
			rt.Fatal(err)
		}
		naive := &naiveNodes{control: control, late: late, bare: bare, speeds: speeds, tasks: make([][]naiveTask, len(speeds))}
		for id := int64(1); id <= 20; id++ {
			for range rapid.IntRange(0, 60).Draw(rt, "pause") {
				compareEnds(rt, server, naive)
			}
			if id > 1 && rapid.IntRange(0, 9).Draw(rt, "cancel") == 0 {
				gone := rapid.Int64Range(1, id-1).Draw(rt, "whom")
				server.End(gone)
				for i := range naive.tasks {
					before := len(naive.tasks[i])
					naive.tasks[i] = slices.DeleteFunc(naive.tasks[i], func(x naiveTask) bool { return x.job == gone })
					if len(naive.tasks[i]) < before {
						naive.rates(i)
					}
				}
			}
			j := Job{ID: id, Nodes: rapid.IntRange(1, len(speeds)).Draw(rt, "nodes"),
				Estimate: grid.Duration(rapid.IntRange(1, 150).Draw(rt, "estimate"))}
			j.Deadline = server.Now().Add(grid.Duration(rapid.IntRange(1, 300).Draw(rt, "deadline")))
			run := grid.Duration(rapid.IntRange(1, 150).Draw(rt, "run"))
			nodes, near := naive.choose(j)
			if near || control == Libra && naive.tiedByRounding(server.(*Shares)) {
				continue
			}
			d := server.Arrive(j, run)
			switch {
			case len(nodes) < j.Nodes:
				if d.Short != j.Nodes-len(nodes) || d.Reason.Code != grid.NoShare {
					rt.Fatalf("job %d: %+v, want %d short", id, d, j.Nodes-len(nodes))
				}
			case !slices.Equal(sorted(nodes), sorted(d.Nodes)):
				rt.Fatalf("job %d: nodes %v, want %v", id, d.Nodes, nodes)
			default:
				naive.arrive(j, run, nodes)
			}
		}
		for naive.busy() {
			compareEnds(rt, server, naive)
		}
		if server.Next() != grid.Never {
			rt.Fatalf("something is left: %v", server.Next())
		}
	})
}

func sorted(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// compareEnds lets a millisecond pass in both.
func compareEnds(rt *rapid.T, server Server, naive *naiveNodes) {
	want := naive.step()
	var got []int64
	for now := server.Now() + 1; ; {
		for _, e := range server.Advance(min(now, server.Next())) {
			got = append(got, e.Job)
		}
		if server.Now() == now && server.Next() > now {
			break
		}
	}
	if naive.close {
		rt.SkipNow()
	}
	if !slices.Equal(got, want) {
		rt.Fatalf("at %d ms %v end, want %v", server.Now(), got, want)
	}
	if err := server.Audit(); err != nil {
		rt.Fatal(err)
	}
}

// predictExactly is predict in fractions.
func predictExactly(tasks []outlook) []*big.Rat {
	rat := func(v float64) *big.Rat { return new(big.Rat).SetInt64(int64(v)) }
	left, ends, now := make([]*big.Rat, len(tasks)), make([]*big.Rat, len(tasks)), new(big.Rat)
	for i, t := range tasks {
		left[i], ends[i] = rat(t.estimate), new(big.Rat)
	}
	share := func(i int) *big.Rat {
		remaining := new(big.Rat).Sub(rat(tasks[i].deadline), now)
		if left[i].Sign() <= 0 {
			return new(big.Rat)
		}
		if remaining.Sign() <= 0 {
			return big.NewRat(1, 1)
		}
		return new(big.Rat).Quo(left[i], remaining)
	}
	for {
		total, first := new(big.Rat), (*big.Rat)(nil)
		shares := make([]*big.Rat, len(tasks))
		for i := range tasks {
			shares[i] = share(i)
			total.Add(total, shares[i])
		}
		for i := range tasks {
			if shares[i].Sign() > 0 {
				d := new(big.Rat).Mul(new(big.Rat).Quo(left[i], shares[i]), total)
				if first == nil || d.Cmp(first) < 0 {
					first = d
				}
			}
		}
		if first == nil {
			return ends
		}
		for i := range tasks {
			if shares[i].Sign() > 0 {
				left[i].Sub(left[i], new(big.Rat).Mul(new(big.Rat).Quo(shares[i], total), first))
				if left[i].Sign() == 0 {
					ends[i] = new(big.Rat).Add(now, first)
				}
			}
		}
		now.Add(now, first)
	}
}

func drawTasks(rt *rapid.T, least int) []outlook {
	tasks := make([]outlook, rapid.IntRange(least, 6).Draw(rt, "tasks"))
	for i := range tasks {
		tasks[i].estimate = float64(rapid.IntRange(0, 100).Draw(rt, "estimate"))
		tasks[i].deadline = float64(rapid.IntRange(1, 8).Draw(rt, "deadline") * 50)
	}
	return tasks
}

func TestPredict_EqualsFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		tasks := drawTasks(rt, 0)
		for i := range tasks { // some deadlines are over
			tasks[i].deadline -= float64(rapid.IntRange(0, 60).Draw(rt, "gone"))
		}
		want := predictExactly(tasks)
		predict(tasks)
		for i := range tasks {
			if w, _ := want[i].Float64(); math.Abs(w-tasks[i].end) > 1e-6 {
				rt.Fatalf("task %d of %v ends at %v, want %v", i, tasks, tasks[i].end, w)
			}
		}
	})
}

// The letter and the rule agree but where all tasks of the node have one deadline,
// none is past its estimate, and the shares are above 1 in sum: there all are late
// alike, the letter sees no risk, and the rule does.
func TestLibraRisk_TheRuleIsTheLetterUnlessAllAreLateAlike(t *testing.T) {
	t.Parallel()
	differ, agree := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		tasks := drawTasks(rt, 1)
		if rapid.Bool().Draw(rt, "one deadline") {
			for i := range tasks {
				tasks[i].deadline, tasks[i].estimate = tasks[0].deadline, max(1, tasks[i].estimate)
			}
		}
		last := &tasks[len(tasks)-1]
		last.estimate = max(1, last.estimate)
		total, alike := 0.0, len(tasks) > 1
		for _, o := range tasks {
			total += o.estimate / o.deadline
			alike = alike && o.estimate > 0 && o.deadline == last.deadline
		}
		if math.Abs(total-1) < 1e-6 && total != 1 {
			return // rounding decides
		}
		letter, rule := lastFits(t, LibraRiskSigma, tasks), lastFits(t, LibraRisk, tasks)
		if want := alike && total > 1+tolerance; (letter != rule) != want || want && !letter {
			rt.Fatalf("%v, total %v: the letter says %v, the rule %v", tasks, total, letter, rule)
		}
		if letter == rule {
			agree++
		} else {
			differ++
		}
	})
	if agree == 0 || differ == 0 {
		t.Errorf("%d agree, %d differ: one of the cases was never met", agree, differ)
	}
}

// Where estimates are true, no job that Libra has taken is late, and none that
// LibraRisk has taken but for those that were sure to be.
func TestShares_TrueEstimatesAreMet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		control := rapid.SampledFrom([]Control{Libra, LibraRisk, LibraRiskSigma}).Draw(rt, "control")
		opt := Options{Control: control, Nodes: []grid.Performance{700, 1000, 1100}, RefuseLoneLate: true}
		server, err := New(opt, 0)
		if err != nil {
			rt.Fatal(err)
		}
		due := map[int64]grid.Time{}
		now := grid.Time(0)
		ends := func(to grid.Time) {
			for server.Next() <= to {
				for _, e := range server.Advance(server.Next()) {
					if server.Now() > due[e.Job] && control != LibraRiskSigma { // which takes more where all are late alike
						rt.Fatalf("job %d ends at %d ms, due at %d", e.Job, server.Now(), due[e.Job])
					}
					delete(due, e.Job)
				}
			}
		}
		for id := int64(1); id <= 60; id++ {
			now += grid.Time(rapid.IntRange(0, 5_000).Draw(rt, "pause"))
			ends(now)
			server.Advance(now)
			run := grid.Duration(rapid.IntRange(1, 20_000).Draw(rt, "run"))
			j := Job{ID: id, Nodes: rapid.IntRange(1, 3).Draw(rt, "nodes"), Estimate: run,
				Deadline: now.Add(run + grid.Duration(rapid.IntRange(1, 40_000).Draw(rt, "slack")))}
			if d := server.Arrive(j, run); !d.Reason.Refused() {
				due[id] = j.Deadline
			}
		}
		ends(grid.Never - 1)
		if len(due) > 0 {
			rt.Fatalf("%d jobs never ended", len(due))
		}
	})
}
