package admission

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// performances are those of the nodes of a server under test: all differ.
var performances = []grid.Performance{1000, 1500, 500, 2000, 750}

func newServer(t *testing.T, opt Options, now grid.Time) Server {
	t.Helper()
	s, err := New(opt, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// story lives on until nothing is left, and tells what happens and when; jobs arrive
// on the way.
func story(s Server, arrivals []arrival) (list []string) {
	for {
		next := s.Next()
		if len(arrivals) > 0 {
			next = min(next, arrivals[0].at)
		}
		if next == grid.Never {
			return list
		}
		events := slices.Clone(s.Advance(next))
		for len(arrivals) > 0 && arrivals[0].at <= next {
			x := arrivals[0]
			d := s.Arrive(x.job, x.run)
			list = append(list, fmt.Sprint(next, x.job.ID, d.Nodes, d.Reason.Code))
			arrivals = arrivals[1:]
		}
		for _, e := range append(events, s.Pass()...) {
			list = append(list, fmt.Sprint(next, e, s.Nodes(e.Job)))
		}
	}
}

type arrival struct {
	at  grid.Time
	job Job
	run grid.Duration
}

func drawArrivals(r *rand.Rand, from grid.Time, first int64) (list []arrival) {
	for i := range int64(12) {
		from += grid.Time(r.Int64N(60))
		est := grid.Duration(1 + r.Int64N(150))
		list = append(list, arrival{from, Job{ID: 100 - first - i, Nodes: 1 + r.IntN(4), Estimate: est, Deadline: from.Add(2*est + grid.Duration(r.Int64N(300)))},
			max(1, est*grid.Duration(50+r.IntN(80))/100)})
	}
	return list
}

// A server that is saved at any instant and restored goes on as if it had never stopped,
// to the millisecond, and is saved as the same again.
func TestRestore_GoesOnAsIfItHadNeverStopped(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 200 {
		opt := Options{Control: Control(i % 5), Nodes: performances, OverrunBare: i%3 == 0}
		s := newServer(t, opt, 0)
		arrivals := drawArrivals(r, 0, 0)
		for _, x := range arrivals {
			for s.Next() <= x.at {
				s.Advance(s.Next())
				s.Pass()
			}
			s.Advance(x.at)
			s.Arrive(x.job, x.run)
			s.Pass()
		}
		var saved, again facts.ServerMemory
		s.Save(&saved)
		other := newServer(t, opt, 0)
		if lost := other.Restore(&saved); len(lost) > 0 {
			t.Fatalf("%v: %v are lost, with as many nodes", opt.Control, lost)
		}
		other.Save(&again)
		if err := other.Audit(); err != nil || !reflect.DeepEqual(again, saved) || other.Now() != s.Now() {
			t.Fatalf("%v: restored as\n%+v at %v, was\n%+v at %v; %v", opt.Control, again, other.Now(), saved, s.Now(), err)
		}
		more := drawArrivals(r, s.Now(), 50)
		if got, want := story(other, more), story(s, more); !slices.Equal(got, want) {
			t.Fatalf("%v: goes on with\n%v, not\n%v", opt.Control, got, want)
		}
	}
}

// The saved state is in order: running tasks by end, then number, and waiting ones by arrival.
func TestSave_IsInOrder(t *testing.T) {
	t.Parallel()
	s := newServer(t, Options{Control: EDF, Nodes: slices.Repeat([]grid.Performance{1000}, 4)}, 0)
	for i, id := range []int64{7, 3, 9, 5} { // 5 ends first, and 3, 7 and 9 at once
		s.Arrive(Job{ID: id, Nodes: 1, Estimate: 50, Deadline: 100}, grid.Duration(50-10*(i/3)))
	}
	s.Pass()
	for i, id := range []int64{8, 2, 6} { // by deadline 6 is first
		s.Arrive(Job{ID: id, Nodes: 2, Estimate: 50, Deadline: grid.Time(900 - i)}, 50)
	}
	var m facts.ServerMemory
	s.Save(&m)
	var running, waiting []int64
	for _, x := range m.Running {
		running = append(running, x.Number)
	}
	for _, x := range m.Waiting {
		waiting = append(waiting, x.Number)
	}
	if !slices.Equal(running, []int64{5, 3, 7, 9}) || !slices.Equal(waiting, []int64{8, 2, 6}) {
		t.Errorf("running %v, waiting %v", running, waiting)
	}
}

// A server that is restored with fewer nodes loses exactly the jobs that had a node that
// is gone, or that need more nodes than there are. Their other nodes are free.
func TestRestore_LosesWhoHasLostANode(t *testing.T) {
	t.Parallel()
	even := slices.Repeat([]grid.Performance{1000}, 4)
	for _, control := range []Control{Libra, EDF} {
		s := newServer(t, Options{Control: control, Nodes: even}, 0)
		for _, id := range []int64{4, 2, 1} { // 4 on node 0, 2 on 1 and 2, 1 on the last
			s.Arrive(Job{ID: id, Nodes: 1 + int(id%4/2), Estimate: 90, Deadline: 100}, 90)
		}
		s.Pass()
		want := []int64{1, 2}
		if control == EDF {
			s.Arrive(Job{ID: 8, Nodes: 3, Estimate: 10, Deadline: 900}, 10) // waits
			want = append(want, 8)
		}
		var m facts.ServerMemory
		s.Save(&m)
		for left := 1; left <= 2; left++ { // of one node, job 2 has lost both of its own
			other := newServer(t, Options{Control: control, Nodes: even[:left]}, 0)
			lost := other.Restore(&m)
			if !slices.Equal(lost, want) || len(other.Nodes(4)) != 1 || other.Audit() != nil {
				t.Errorf("%v: lost %v, want %v; job 4 on %v; %v", control, lost, want, other.Nodes(4), other.Audit())
			}
			if d := other.Try(Job{ID: 10, Nodes: 1, Estimate: 90, Deadline: 100}); left > 1 && d.Reason.Refused() {
				t.Errorf("%v: the node that is left is not free: %v", control, d.Reason)
			}
		}
	}
}

// A job is placed again on nodes that there are, that are free, and once.
func TestPlace_OnNodesThatThereAre(t *testing.T) {
	t.Parallel()
	for _, control := range []Control{Libra, EDF} {
		s := newServer(t, Options{Control: control, Nodes: performances}, 0)
		j := Job{ID: 1, Nodes: 2, Estimate: 10, Deadline: 100}
		for _, nodes := range [][]int{{-1}, {5}, {0, 5}} {
			if s.Place(j, 10, nodes) {
				t.Errorf("%v: placed on %v of nodes 0 to 4", control, nodes)
			}
		}
		if !s.Place(j, 10, []int{0, 4}) || !slices.Equal(s.Nodes(1), []int{0, 4}) {
			t.Errorf("%v: not placed on the first and the last", control)
		}
		if control == EDF {
			// The slower of the two has a performance of 0.75.
			if s.Next() != 14 {
				t.Errorf("ends at %v, want 14", s.Next())
			}
			if s.Place(Job{ID: 2, Nodes: 1, Estimate: 10, Deadline: 100}, 10, []int{4}) {
				t.Error("placed on a node that is busy")
			}
			if s.Place(Job{ID: 3, Nodes: 6, Estimate: 1, Deadline: 100}, 1, nil) || !s.Place(Job{ID: 4, Nodes: 5, Estimate: 1, Deadline: 100}, 1, nil) || s.Place(Job{ID: 4, Nodes: 5, Estimate: 1, Deadline: 100}, 1, nil) {
				t.Error("a job waits that is too large, or twice, or not at all")
			}
		} else if s.Place(j, 10, []int{1}) {
			t.Error("a job is placed twice")
		}
		if err := s.Audit(); err != nil {
			t.Error(err)
		}
	}
}

// A job larger than the server is refused with the number of missing nodes.
func TestTry_SaysHowManyNodesAreShort(t *testing.T) {
	t.Parallel()
	for _, control := range []Control{Libra, LibraRisk, LibraRiskSigma, EDF, EDFOpen} {
		s := newServer(t, Options{Control: control, Nodes: performances}, 0)
		for nodes, short := range map[int]int{5: 0, 7: 2} {
			d := s.Try(Job{ID: 1, Nodes: nodes, Estimate: 10, Deadline: 1000})
			if d.Short != short || (d.Reason.Code == grid.TooLarge) != (short > 0) {
				t.Errorf("%v: %d of 5 nodes: %d short, %v", control, nodes, d.Short, d.Reason)
			}
		}
	}
}

// The room for one more task on a node: all of an empty one; anything where a task that is alone
// may be late; the rest beside others; nothing on a node that has all it may have.
func TestRoom_IsWhatIsLeftOfANode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opt  Options
		want [3]float64 // with no task, one of a half, and one more of a quarter
	}{
		{Options{Control: Libra}, [3]float64{1, .5, .25}}, {Options{Control: LibraRisk}, [3]float64{math.Inf(1), .5, .25}},
		{Options{Control: LibraRiskSigma, RefuseLoneLate: true}, [3]float64{1, .5, .25}}, {Options{Control: Libra, Tasks: 2}, [3]float64{1, .5, -1}},
	} {
		c.opt.Nodes = performances[:1]
		s := newServer(t, c.opt, 0).(*Shares)
		for i, want := range c.want {
			if got := s.Room(0); got != want && math.Abs(got-want) > 1e-6 {
				t.Errorf("%+v with %d tasks: %v, want %v", c.opt, i, got, want)
			}
			s.Arrive(Job{ID: int64(i), Nodes: 1, Estimate: grid.Duration(50 >> i), Deadline: 100}, 10)
		}
	}
}
