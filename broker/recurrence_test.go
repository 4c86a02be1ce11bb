package broker

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// recurring is a job of 100 s that recurs every 4,000 s, far beyond the broker's horizon of
// 10,000 s.
func recurring(count int, all bool) grid.Job {
	j := testJob("r", 1, 100*grid.Second, grid.Credit)
	j.Deadline = grid.Never
	j.Recur(grid.Recurrence{Every: 4000 * grid.Second, Count: count, All: all})
	return j
}

// Each window is bought as soon as the broker plans so far ahead, and lies in its own span.
func TestRecurrence_WindowsAreBoughtAsTheHorizonComes(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 1, 0)
	w := newTestWorld(t, testConfig(north), north)
	w.submit(0, recurring(6, false))
	w.Run(50 * sec)
	if got := w.tallyOf("r"); got != "2 placed, 1 running, 3 waiting" && got != "3 placed, 3 waiting" {
		t.Errorf("at first: %s", got)
	}
	if v := w.job("r[5]"); v.Reason.Code != grid.NoWindow {
		t.Errorf("the last waits for %v", v.Reason)
	}
	if n := w.b.mem.Queue.Size(); n != 0 {
		t.Errorf("%d wait for cycles that cannot place them", n)
	}
	w.finish(t, 30_000*sec)
	if got := w.tallyOf("r"); got != "6 done" {
		t.Errorf("in the end: %s, %v", got, w.job("r").Reason)
	}
	for _, f := range only[facts.TxBegun](w) {
		_, i, _ := grid.ElementOf(f.Job)
		if from := grid.Time(4000*i) * sec; f.Legs[0].Start < from || f.Legs[0].End > from+4000*sec {
			t.Errorf("%s has a window at %v", f.Job, f.Legs[0])
		}
	}
}

// As many as fit: a window whose nodes are taken is abandoned with its span, and the others
// are had.
func TestRecurrence_AWindowThatDoesNotFitIsLeftOut(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 1, 0)
	w := newTestWorld(t, testConfig(north), north)
	block := testJob("block", 1, 3990*grid.Second, grid.Credit)
	block.Ready, block.Priority = 4000*sec, 1
	w.submit(0, block, recurring(3, false))
	w.finish(t, 30_000*sec)
	if got := w.tallyOf("r"); got != "2 done, 1 abandoned" || w.job("r").State != grid.JobAbandoned {
		t.Errorf("%s, %v", got, w.job("r").Reason)
	}
}

// All or nothing: one transaction has all windows, at one distance, or there is none.
func TestRecurrence_AllWindowsAreBoughtInOneTransaction(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 1, 0)
	w := newTestWorld(t, testConfig(north), north)
	w.check.off = true // it knows no parts
	w.submit(0, recurring(3, true))
	w.Run(50 * sec)
	txs := only[facts.TxBegun](w)
	if v := w.job("r"); v.State != grid.JobPlaced || len(txs) != 1 || len(txs[0].Legs) != 3 {
		t.Fatalf("%v: %+v", v.State, txs)
	}
	for i, l := range txs[0].Legs {
		if l.Start != txs[0].Legs[0].Start.Add(4000*grid.Second*grid.Duration(i)) {
			t.Errorf("window %d starts at %v", i, l.Start)
		}
	}
	w.Post(w.Now(), "broker:vo1", agents.JobCancel{Job: "r"})
	w.Run(30_000 * sec)
	if v := w.job("r"); v.State != grid.JobWithdrawn {
		t.Errorf("%v", v.State)
	}
}

// A window that is lost is bought again alone, on other nodes at its own time; the others stay.
func TestRecurrence_OneOfAllThatIsLostIsBoughtAgainAlone(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 1, 3600), newFakeSite("south", 1, 7200)
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.check.off = true // it knows no parts
	w.submit(0, recurring(3, true))
	w.Run(50 * sec)
	all := only[facts.TxBegun](w)[0]
	lost := grid.LegID{Tx: all.Tx, Leg: 1}
	w.Post(60*sec, north.id(), later{"broker:vo1", agents.Degraded{Leg: lost}})
	w.Run(200 * sec)
	txs := only[facts.TxBegun](w)
	if len(txs) != 2 || txs[1].Repairs != lost || len(txs[1].Legs) != 1 || txs[1].Sites[0] != "south" || txs[1].Legs[0].Start != all.Legs[1].Start {
		t.Fatalf("%+v, then %+v", all, txs[1:])
	}
	w.Run(30_000 * sec)
	if v := w.job("r"); v.State != grid.JobDone {
		t.Errorf("in the end %v: %v", v.State, v.Reason)
	}
}

// Where nothing else is free at its time, the rest is given back, and all windows are bought
// again, the one included that has run: all or nothing.
func TestRecurrence_AllAreBoughtAgainIfOneCannotBe(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 1, 3600)
	w := newTestWorld(t, testConfig(north), north)
	w.check.off = true // it knows no parts
	w.submit(0, recurring(3, true))
	w.Run(150 * sec)
	all := only[facts.TxBegun](w)[0]
	if north.legs[grid.LegID{Tx: all.Tx}].state != grid.Settled {
		t.Fatal("the first window has not run")
	}
	north.legs[grid.LegID{Tx: all.Tx, Leg: 1}].state, north.releases = grid.Lost, true
	w.Post(200*sec, north.id(), later{"broker:vo1", agents.Degraded{Leg: grid.LegID{Tx: all.Tx, Leg: 1}}})
	w.Run(1000 * sec)
	txs := only[facts.TxBegun](w)
	again := txs[len(txs)-1]
	if len(again.Legs) != 3 || again.Tx == all.Tx || w.job("r").State == grid.JobDone {
		t.Fatalf("%v: %+v", w.job("r").State, again)
	}
	for i, l := range again.Legs {
		if l.Start < 200*sec || l.Start != again.Legs[0].Start.Add(4000*grid.Second*grid.Duration(i)) {
			t.Errorf("window %d starts at %v", i, l.Start)
		}
	}
	w.Run(30_000 * sec)
	if v := w.job("r"); v.State != grid.JobDone || !slices.Contains(w.b.mem.Names["r"].Window(), w.b.mem.Txs.Get(again.Tx)) {
		t.Errorf("in the end %v: %v", v.State, v.Reason)
	}
}
