package rehearsal

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// small is a job of two parts, half of either cluster.
func small() gather.Order {
	return gather.Order{Length: 3600, Waste: 50_000, Deadline: 72 * 3600, Parts: []gather.Part{{Nodes: 50, Cluster: 100}, {Nodes: 50, Cluster: 100}}}
}

// weeks are two logs of so many steps before an instant. At each of them, and at the instant itself, both
// clusters have what a rule says of the step: a job of all nodes that comes some seconds later, for so long.
func weeks(steps int, of func(k int) (later, run grid.Duration)) (logs []Trace, at grid.Time) {
	at = grid.Time(0).Add(warm + grid.Duration(steps)*step)
	x := Trace{Nodes: 100}
	add := func(nodes int, submit grid.Time, run grid.Duration) {
		x.Jobs = append(x.Jobs, grid.LocalJob{Nodes: nodes, Submit: submit, Estimate: run, Run: run})
	}
	add(1, 0, grid.Minute)
	for k := steps; k >= 0; k-- {
		if later, run := of(k); run > 0 {
			add(100, at.Add(later-grid.Duration(k)*step), run)
		}
	}
	y := x
	x.Name, y.Name = "north", "south"
	return []Trace{x, y}, at
}

func forecastOf(t *testing.T, logs []Trace, at grid.Time) *Forecast {
	t.Helper()
	f, err := Of(small(), logs, at, 1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func is(got *int64, low, high int64) bool { return got != nil && *got >= low && *got <= high }

// On empty clusters both pilots are submitted at once, begin within a minute, are seen at the next round,
// and the start is 10 s later.
func TestOf_EmptyClustersBeginAtTheNextRound(t *testing.T) {
	t.Parallel()
	logs, at := weeks(40, func(int) (grid.Duration, grid.Duration) { return 0, 0 })
	f := forecastOf(t, logs, at)
	if f.Replays != Replays || f.Began != Replays || f.Stretch != 1 || f.Why != "" || !is(f.P50, 70, 80) || !is(f.P90, 70, 80) || !is(f.Promised, 70, 80) {
		t.Errorf("%+v", f)
	}
	if f.WasteMax <= 0 || f.WasteMax > 0.05 { // up to 75 s of an hour
		t.Errorf("idled %g", f.WasteMax)
	}
}

// A promise goes by the instants at which the queues were like now's: at every other one the clusters are
// full for four days, and nothing begins.
func TestOf_PromisesByInstantsLikeNow(t *testing.T) {
	t.Parallel()
	full := func(odd int) func(int) (grid.Duration, grid.Duration) {
		return func(k int) (grid.Duration, grid.Duration) {
			if k%14 == odd { // the cluster is then full at the next five steps, too
				return -grid.Minute, 4 * grid.Day
			}
			return 0, 0
		}
	}
	logs, at := weeks(60, full(3))
	f := forecastOf(t, logs, at)
	if f.Began == Replays || f.Began < nearest || f.Promised != nil || !strings.Contains(f.Why, "of 15 replays have not begun by the deadline") {
		t.Errorf("full now: %+v", f)
	}
	if f.Began < 27 == (f.P90 != nil) {
		t.Errorf("nine in ten: %+v", f)
	}
	logs, at = weeks(60, full(9))
	if f := forecastOf(t, logs, at); f.Began == Replays || f.Why != "" || !is(f.Promised, 70, 80) {
		t.Errorf("empty now: %+v", f)
	}
}

// Promises that were too short make the next one longer: of the steps of the past, every second score
// has a job that comes just behind ours' submission, which no queue of the instant shows.
func TestOf_StretchesByWhatPromisesWereTooShortBy(t *testing.T) {
	t.Parallel()
	logs, at := weeks(170, func(k int) (grid.Duration, grid.Duration) {
		if k%40 < 20 {
			return grid.Second, 20 * grid.Minute
		}
		return 0, 0
	})
	if f := forecastOf(t, logs, at); f.Stretch != 4 || f.Promised == nil || *f.Promised < 4*1200 {
		t.Errorf("%+v", f)
	}
	logs, at = weeks(170, func(int) (grid.Duration, grid.Duration) { return grid.Second, 20 * grid.Minute })
	if f := forecastOf(t, logs, at); f.Stretch >= 1.2 || !is(f.Promised, 1200, 1800) {
		t.Errorf("always late: %+v", f)
	}
}

// Logs that begin too late for all replays give fewer, and no promise; without any there is an error.
func TestOf_ShortLogsPromiseNothing(t *testing.T) {
	t.Parallel()
	logs, at := weeks(20, func(int) (grid.Duration, grid.Duration) { return 0, 0 })
	if f := forecastOf(t, logs, at); f.Replays != 16 || f.Promised != nil || f.Why != "a promise needs 30 replays" || !is(f.P90, 70, 80) {
		t.Errorf("%+v", f)
	}
	if _, err := Of(small(), logs, at.Add(-16*step), 1); err == nil {
		t.Error("no replay, and no error")
	}
	o := small()
	if s := Span(&o); s != grid.Duration(34)*step+warm {
		t.Errorf("span %s", s.Words())
	}
}
