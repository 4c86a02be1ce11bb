package slurm

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// Jobs that are handed over one by one start as those of a list, where places are used again, too.
func TestBegin_HandedOverIsAsListed(t *testing.T) {
	t.Parallel()
	c, jobs := month(400, 0.95)
	c.QOS = []QOS{{Name: "normal", UsageFactor: 1000, Limits: NoLimits()}}
	c.QOS[0].UserJobs, c.Limits, c.QOSLimits = 3, true, true
	for i := range jobs {
		jobs[i].QOS = i%2 - 1
	}
	whole := New(c, jobs, Options{})
	whole.Run()
	live := Begin(c, jobs[0].Submit)
	starts, of := map[int64]grid.Time{}, map[int]int64{}
	note := func() {
		for _, place := range live.Started() {
			starts[of[place]] = live.Outcome(place).Start
		}
	}
	for _, j := range jobs {
		for live.Next() < j.Submit {
			live.Until(live.Next())
			note()
		}
		of[live.Submit(j)] = j.ID
	}
	for !live.Over() {
		live.Until(live.Next())
		note()
	}
	for i := range jobs {
		if got, want := starts[jobs[i].ID], whole.Outcome(i).Start; got != want {
			t.Fatalf("job %d starts at %v, in the list at %v", jobs[i].ID, got, want)
		}
	}
	if n := len(live.jobs); n > len(jobs)/2 {
		t.Errorf("%d places for %d jobs; places are used again", n, len(jobs))
	}
}

// A hold keeps its nodes while it lasts, whatever is held, released, killed and canceled beside it:
// no node ever has two.
func TestHold_NoNodeHasTwo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		nodes := rapid.IntRange(2, 9).Draw(rt, "nodes")
		c := cluster(nodes)
		tw := Begin(c, 0)
		type held struct {
			start, end grid.Time
			n          int
		}
		holds, number, now := map[int64]held{}, int64(0), grid.Time(0)
		var places []int
		seconds := func(most int, name string) grid.Duration {
			return grid.Duration(rapid.IntRange(1, most).Draw(rt, name)) * grid.Second
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0:
				now = now.Add(seconds(120, "later"))
				tw.Until(now)
			case 1:
				j := job(int64(len(places)+1), 0, rapid.IntRange(1, nodes).Draw(rt, "wide"), 1, 1)
				j.Submit, j.Limit = now, seconds(300, "limit")
				j.Run = min(seconds(300, "run"), j.Limit)
				places = append(places, tw.Submit(j))
			case 2:
				number++
				h := held{now.Add(seconds(100, "from") - grid.Second), 0, rapid.IntRange(1, nodes).Draw(rt, "of")}
				h.end = h.start.Add(seconds(200, "for"))
				if tw.Hold(number, 0, h.start, h.end, h.n) {
					holds[number] = h
				}
			case 3:
				if number > 0 {
					gone := int64(rapid.IntRange(1, int(number)).Draw(rt, "gone"))
					tw.Release(gone)
					delete(holds, gone)
				}
			default:
				if len(places) > 0 {
					i := places[rapid.IntRange(0, len(places)-1).Draw(rt, "whose")]
					if rapid.Bool().Draw(rt, "kill") {
						tw.Kill(i)
					} else if tw.Waiting(i) {
						tw.Cancel(i)
					}
				}
			}
			busy := NewSet(nodes)
			for _, i := range tw.running {
				if s := tw.of(i); s.phase == running {
					if s.on.overlaps(busy) {
						rt.Fatalf("a node has two jobs at %v", now)
					}
					busy.or(s.on)
				}
			}
			lasting := 0
			for _, h := range holds {
				if h.start <= now && now < h.end {
					lasting += h.n
				}
			}
			kept := 0
			for _, r := range tw.Reservations() {
				if r.Start <= now && now < r.End {
					if r.Nodes.overlaps(busy) {
						rt.Fatalf("a job runs on a node that is held at %v", now)
					}
					busy.or(r.Nodes)
					kept += r.Nodes.Count()
				}
			}
			if kept != lasting {
				rt.Fatalf("%d nodes are held at %v, want %d", kept, now, lasting)
			}
		}
	})
}
