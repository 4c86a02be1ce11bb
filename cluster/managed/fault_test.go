package managed

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"

	"pgregory.net/rapid"
)

// Whatever the manager, its administrator, the driver and the cluster's process do, no
// work begins twice or is submitted while it may be there, nothing of another's is
// touched, each leg comes to an end within a stated time, and nothing of ours stays.
func TestFaults_NothingTwiceNothingLeft(t *testing.T) {
	t.Parallel()
	for name, reserves := range map[string]bool{"reserves": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { faults(t, reserves) })
		})
	}
}

func faults(t *rapid.T, reserves bool) {
	cfg := config(reserves, nodeNames...)
	sliced := rapid.Bool().Draw(t, "sliced")
	if sliced {
		cfg.Groups[0] = divided
	}
	w := newWorld(cfg)
	w.toy.skew = grid.Duration(rapid.IntRange(-3000, 3000).Draw(t, "skew"))
	bad := rapid.IntRange(0, 3).Draw(t, "bad") // in ten
	w.fault = func(c agents.Command) fault {
		if rapid.IntRange(0, 9).Draw(t, "command") >= bad {
			return fault{}
		}
		return rapid.SampledFrom([]fault{{failed: true}, {failed: true, undone: true}, {late: 15 * grid.Second}, {silent: true}, {silent: true, undone: true},
			{denied: true}, {slow: 20 * grid.Second}, {slow: 50 * grid.Second}}).Draw(t, "fault")
	}
	legs := map[uint64]grid.Leg{}
	next, held := uint64(0), []uint64(nil)
	for range rapid.IntRange(5, 40).Draw(t, "steps") {
		switch rapid.IntRange(0, 13).Draw(t, "what") {
		case 0, 1, 2: // a leg
			next++
			at := w.now.Add(grid.Duration(rapid.IntRange(20, 400).Draw(t, "ahead")) * grid.Second)
			legs[next] = what(rapid.IntRange(1, 3).Draw(t, "nodes"), at, grid.Duration(rapid.IntRange(1, 5).Draw(t, "long"))*grid.Minute)
			if sliced && rapid.IntRange(0, 3).Draw(t, "whole") > 0 {
				l := legs[next]
				l.Part = eighths(rapid.IntRange(1, 7).Draw(t, "slices"))
				legs[next] = l
			}
			if rapid.Bool().Draw(t, "short") {
				w.toy.lengths[nameOf(next)] = grid.Duration(rapid.IntRange(1, 200).Draw(t, "length")) * grid.Second
			}
			if h := w.hold(next, legs[next]); h.Refusal.Refused() {
				delete(legs, next)
			} else {
				held = append(held, next)
			}
		case 3, 4, 5:
			for _, n := range held {
				if rapid.IntRange(0, 4).Draw(t, "confirm") == 0 {
					w.confirmBare(n)
				} else {
					w.confirm(n)
				}
			}
			held = nil
		case 6:
			if next > 0 {
				w.release(rapid.Uint64Range(1, next).Draw(t, "release"))
			}
		case 7, 8:
			w.administrator(t)
		case 9:
			w.toy.forget(grid.Duration(rapid.IntRange(1, 8).Draw(t, "lately")) * grid.Second)
		case 10:
			w.old = grid.Duration(rapid.SampledFrom([]int{0, 0, 1, 5, 40}).Draw(t, "old")) * grid.Second
			w.stale = grid.Duration(rapid.SampledFrom([]int{0, 0, 2, 10, 19}).Draw(t, "stale")) * grid.Second
			w.mute = rapid.IntRange(0, 4).Draw(t, "mute") == 0
		case 11:
			if rapid.Bool().Draw(t, "compact") {
				w.compact()
			}
			w.begin()
		case 12:
			w.crash = rapid.IntRange(0, 2).Draw(t, "crash")
		default:
			w.wait(grid.Duration(rapid.SampledFrom([]int{1, 5, 30, 100}).Draw(t, "wait")) * grid.Second)
		}
		w.replayed(t)
	}
	w.quiet(t, legs)
}

// administrator has one do something by hand.
func (w *world) administrator(t *rapid.T) {
	m := w.toy
	switch rapid.IntRange(0, 6).Draw(t, "hand") {
	case 0:
		if len(m.reservations) > 0 {
			m.reservations = slices.Delete(m.reservations, 0, 1)
		}
	case 1:
		if len(m.reservations) > 0 {
			m.reservations[0].Start = m.reservations[0].Start.Add(grid.Hour)
			m.reservations[0].End = m.reservations[0].End.Add(grid.Hour)
		}
	case 2, 3:
		for i := range m.jobs {
			if j := &m.jobs[i]; j.State == grid.ManagedPending && isOurs(thePrefix, j.Name) && rapid.Bool().Draw(t, "held") {
				j.State, j.Why = grid.ManagedHeld, "JobHeldAdmin"
			} else if j.State != grid.ManagedEnded && isOurs(thePrefix, j.Name) {
				m.end(j, "CANCELLED by root")
			}
		}
	case 4:
		n := &m.nodes[rapid.IntRange(0, 3).Draw(t, "node")]
		n.State = rapid.SampledFrom([]grid.NodeState{grid.NodeUp, grid.NodeDown, grid.NodeDrained}).Draw(t, "state")
	case 5:
		m.reservations = append(m.reservations, grid.ManagedReservation{Name: "theirs", Start: w.now.Add(3 * grid.Minute), End: w.now.Add(6 * grid.Minute), Nodes: []string{"n1"}})
	case 6:
		m.number++
		m.jobs = append(m.jobs, toyJob{ManagedJob: grid.ManagedJob{Number: "x", Name: "bourse.mine", User: "eve", State: grid.ManagedRunning, Nodes: []string{"n4"}, Start: w.now, Limit: 5 * grid.Minute}, limit: w.now.Add(5 * grid.Minute)})
	}
}

// replayed checks that facts and image say what the cluster is.
func (w *world) replayed(t *rapid.T) {
	b := New(w.cfg)
	a := cluster.New(cluster.Config{Site: theSite}, b)
	for _, f := range w.facts {
		a.Replay(f.at, f.fact)
	}
	show := func(f agents.Fact) string {
		x := f.(facts.ClusterImage)
		x.At = 0
		text, _ := json.Marshal(x)
		return string(text)
	}
	if got, want := show(a.Image()), show(w.agent.Image()); got != want {
		t.Fatalf("the facts say\n%s\nthe cluster is\n%s", got, want)
	}
}

// quiet ends all faults and waits until all must have come to an end.
func (w *world) quiet(t *rapid.T, legs map[uint64]grid.Leg) {
	end := w.now
	for _, l := range legs {
		end = max(end, l.End)
	}
	w.wait(grid.Minute) // what was under way
	w.fault, w.old, w.stale, w.mute, w.crash = nil, 0, 0, false, -1
	for i := range w.toy.nodes {
		w.toy.nodes[i].State = grid.NodeUp
	}
	w.run(max(end, w.now).Add(10 * grid.Minute))
	for n := range legs {
		switch w.last(n).State {
		case facts.LockEnded, facts.LockLost, facts.LockExpired, facts.LockReleased:
		default:
			t.Errorf("10 min after all windows leg %d is %q: %v", n, w.last(n).State, w.toy.story)
		}
	}
	for _, x := range w.toy.breaches {
		t.Error(x)
	}
	if left := w.toy.ours(); len(left) > 0 {
		t.Errorf("left in the manager: %v", left)
	}
	if t.Failed() {
		t.Log(w.toy.story)
	}
}
