package managed

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
)

// teller writes down what an oracle is told, with the user in place of the id.
type teller struct {
	users map[int64]string
	told  []string
}

func (o *teller) tell(format string, args ...any) {
	o.told = append(o.told, fmt.Sprintf(format, args...))
}

func (o *teller) SubmittedBy(s *backfill.State, x *backfill.Queued, user string) {
	o.users[x.ID] = user
	behind := ""
	for i := range s.Queue {
		behind += " " + o.users[s.Queue[i].ID]
	}
	runs := ""
	for i := range s.Running {
		runs += " " + o.users[s.Running[i].ID]
	}
	o.tell("%s asks at %v: run%s, wait%s", user, s.Now.Sub(dawn), runs, behind)
}

func (o *teller) Arrived(_ grid.Time, x *backfill.Queued, user string) {
	o.users[x.ID] = user
	o.tell("%s comes", user)
}

func (o *teller) Known(x *backfill.Queued, user string) {
	o.users[x.ID] = user
	o.tell("%s is there", user)
}
func (o *teller) Unseen(from, to grid.Time) {
	o.tell("nobody looks from %v to %v", from.Sub(dawn), to.Sub(dawn))
}
func (o *teller) Started(id int64, at grid.Time) { o.tell("%s starts %v", o.users[id], at.Sub(dawn)) }
func (o *teller) Ended(id int64, at grid.Time)   { o.tell("%s ends %v", o.users[id], at.Sub(dawn)) }
func (o *teller) Canceled(id int64)              { o.tell("%s leaves", o.users[id]) }
func (o *teller) Save() func() []byte            { return func() []byte { return []byte("null") } }
func (o *teller) Load([]byte) error              { return nil }
func (o *teller) BestEffort(*backfill.State, *backfill.Queued) grid.BestEffort {
	return grid.BestEffort{}
}

// shows has a backend see a look.
func (b *Backend) shows(at grid.Time, jobs ...grid.ManagedJob) {
	b.now, b.look, b.asOf = at, &grid.Look{At: at, Nodes: upNodes(nodeNames...), Jobs: jobs}, at
	b.forecasts.follow(at)
}

func waitsFor(number, user string, submit grid.Duration) grid.ManagedJob {
	return grid.ManagedJob{Number: number, User: user, State: grid.ManagedPending, Count: 4, Limit: h, Submit: dawn.Add(submit), Partition: "batch"}
}

func runsFrom(j grid.ManagedJob, start grid.Duration) grid.ManagedJob {
	j.State, j.Start, j.Nodes = grid.ManagedRunning, dawn.Add(start), nodeNames
	return j
}

func endedAt(j grid.ManagedJob, end grid.Duration) grid.ManagedJob {
	j.State, j.End = grid.ManagedEnded, dawn.Add(end)
	return j
}

// From look to look an oracle hears of ends, then of starts, then of submissions, each in the queue
// before it; of what waits for others it hears only that it came, and of a burst not more than it
// can forecast. What no look shows has ended, or was cancelled.
func TestFollow_WhatLooksTellAnOracle(t *testing.T) {
	t.Parallel()
	o := &teller{users: map[int64]string{}}
	cfg := config(true, nodeNames...)
	cfg.Oracle = func(string) Oracle { return o }
	b := New(cfg)
	ana, ben, cem, dan, eve := waitsFor("7", "ana", -10_000), waitsFor("8", "ben", -5000), waitsFor("9", "cem", 10_000), waitsFor("10_3", "dan", 20_000), waitsFor("11", "eve", 15_000)
	dan.After = []string{"9"}
	ana = runsFrom(ana, -8000)
	b.shows(dawn, ana, ben)
	now := dawn.Add(30_000)
	b.shows(now, endedAt(ana, 20_000), runsFrom(ben, 25_000), cem, dan, eve)
	b.shows(now.Add(30_000), runsFrom(cem, 55_000))
	var burst []grid.ManagedJob
	for i := range 6 {
		burst = append(burst, waitsFor(strconv.Itoa(20+i), "u"+strconv.Itoa(i), 70_000))
	}
	b.shows(now.Add(60_000), append(burst, endedAt(ana, 20_000), endedAt(runsFrom(cem, 55_000), 65_000))...)
	want := []string{
		"ana is there", "ana starts -8", "ben is there",
		"ana ends 20", "ben starts 25", "cem asks at 30: run ben, wait", "eve asks at 30: run ben, wait cem", "dan comes",
		"cem starts 55", "dan leaves", "eve leaves", "ben ends 60",
		"cem ends 65", "u0 asks at 90: run, wait", "u1 asks at 90: run, wait u0", "u2 asks at 90: run, wait u0 u1", "u3 asks at 90: run, wait u0 u1 u2", "u4 comes", "u5 comes",
	}
	if got := o.told; !reflect.DeepEqual(got, want) {
		t.Errorf("told\n%q\nwant\n%q", got, want)
	}
}

// Ana submits a job of the whole machine each minute, which runs a little longer.
const anaJobs, anaEvery, anaRuns = 55, 60_000, 70_000

// queueOfAna is what looks show of her jobs, and when the last has ended.
func queueOfAna() (shown func(at grid.Duration) []grid.ManagedJob, free grid.Duration) {
	var list []grid.ManagedJob
	var starts, ends []grid.Duration
	for i := range anaJobs {
		list = append(list, waitsFor(strconv.Itoa(i+1), "ana", grid.Duration(i)*anaEvery))
		start := max(free, grid.Duration(i)*anaEvery)
		free = start + anaRuns
		starts, ends = append(starts, start), append(ends, free)
	}
	return func(at grid.Duration) (jobs []grid.ManagedJob) {
		for i := range list {
			switch j := list[i]; {
			case j.Submit > dawn.Add(at) || ends[i] < at-240_000:
			case ends[i] <= at:
				jobs = append(jobs, endedAt(runsFrom(j, starts[i]), ends[i]))
			case starts[i] <= at:
				jobs = append(jobs, runsFrom(j, starts[i]))
			default:
				jobs = append(jobs, j)
			}
		}
		return jobs
	}, free
}

// A site behind a manager says when a job in its queue would start, and once thirty starts are
// known, how often such bands have held. A manager that is silent is not spoken for.
func TestBestEffort_OfAManagersQueue(t *testing.T) {
	t.Parallel()
	cfg := config(true, nodeNames...)
	cfg.Oracle = func(string) Oracle {
		return forecast.NewOracle(func(stream uint64) forecast.Random { return rand.New(rand.NewPCG(1, stream)) })
	}
	b := New(cfg)
	ask := []grid.Queueing{{Group: "main", Nodes: 4, Limit: h}, {Group: "other", Nodes: 1, Limit: h}, {Group: "main", Nodes: 5, Limit: h}}
	if b.BestEffort(ask) != nil {
		t.Error("nothing was seen, and something is said")
	}
	shown, free := queueOfAna()
	for at := grid.Duration(1000); at < anaJobs*anaEvery; at += 30_000 {
		b.shows(dawn.Add(at), shown(at)...)
	}
	got := b.BestEffort(ask)
	if len(got) != 3 || got[1].Known() || got[2].Known() {
		t.Fatalf("%+v", got)
	}
	is := got[0]
	real := dawn.Add(free) // behind all that wait
	if is.AtOnce || !is.Calibrated || is.Of < 30 || is.Lower > is.Median || is.Median > is.Upper || is.Lower < b.now {
		t.Errorf("%+v at %v", is, b.now)
	}
	if off := is.Median.Sub(real); off > 5*grid.Minute || off < -5*grid.Minute {
		t.Errorf("it would start at %v, and the forecast is %v", real, is.Median)
	}
	if again := b.BestEffort(ask); !slices.Equal(again, got) {
		t.Errorf("asked twice: %+v, %+v", got, again)
	}
	b.now = b.now.Add(h)
	if b.BestEffort(ask) != nil {
		t.Error("the last look is an hour old, and something is said")
	}
}
