package broker

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The work of a job is part of its request. Its total size is bounded, and forgotten jobs
// make room.
func TestSubmit_WorkIsOfTheJobAndBounded(t *testing.T) {
	t.Parallel()
	cfg := testConfig(newFakeSite("north", 4, 0))
	b := New(cfg)
	submit := func(name string, w *grid.Work) grid.Code {
		j := testJob(name, 1, grid.Second, grid.Credit)
		j.Work = w
		var out agents.Outbox
		b.Step(0, "client", agents.Submit{Job: j}, &out)
		return out.Sends[0].Message.(agents.SubmitReply).Reason.Code
	}
	long := &grid.Work{Script: "#!" + strings.Repeat("x", grid.MaxScript-2)}
	for _, x := range []struct {
		name string
		work *grid.Work
		want grid.Code
	}{
		{"a", &grid.Work{Command: []string{"x"}}, grid.None}, {"a", &grid.Work{Command: []string{"x"}}, grid.None},
		{"a", &grid.Work{Command: []string{"y"}}, grid.Conflict}, {"a", nil, grid.Conflict}, {"b", &grid.Work{Script: "x"}, grid.Invalid},
	} {
		if got := submit(x.name, x.work); got != x.want {
			t.Errorf("%s %+v: %q, want %q", x.name, x.work, got, x.want)
		}
	}
	for i := range maxWorks/grid.MaxScript - 1 {
		if got := submit(fmt.Sprint("long", i), long); got != grid.None {
			t.Fatalf("job %d: %q", i, got)
		}
	}
	if got := submit("more", long); got != grid.QueueFull {
		t.Errorf("beyond the bound: %q", got)
	}
	again := New(cfg)
	again.Replay(0, b.Image())
	if again.mem.Works != b.mem.Works || b.mem.Works != maxWorks-grid.MaxScript+2 {
		t.Errorf("%d bytes after an image, %d before", again.mem.Works, b.mem.Works)
	}
	b.Replay(0, facts.JobsForgotten{Jobs: []string{"long0", "long1"}})
	if got := submit("more", long); got != grid.None {
		t.Errorf("with room: %q", got)
	}
}

// workWorld is a broker whose job of two legs is committed with work.
func workWorld(t *testing.T, until grid.Time) (*testWorld, grid.TxID, map[grid.LegID]*grid.Handover) {
	t.Helper()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	north.nodes, south.nodes = []string{"n1", "n2"}, []string{"s1"}
	south.result = &grid.WorkResult{Exit: 7, Known: true}
	w := newTestWorld(t, testConfig(north, south), north, south)
	told := map[grid.LegID]*grid.Handover{}
	w.After(func(_ grid.Time, _ agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if m, ok := x.Message.(agents.Confirm); ok {
				told[m.Leg] = m.Work
			}
		}
	})
	j := testJob("wave", 8, 100*grid.Second, grid.Credit)
	j.User, j.Work = "ana", &grid.Work{Command: []string{"hostname"}, Rendezvous: true}
	w.submit(0, j)
	w.Run(until)
	begun := only[facts.TxBegun](w)
	if len(begun) != 1 || len(begun[0].Legs) != 2 {
		t.Fatalf("begun %+v", begun)
	}
	return w, begun[0].Tx, told
}

// A later life confirms with the same work, from facts or from an image: names, place
// to meet and all.
func TestHandover_ALaterLifeConfirmsWithTheSame(t *testing.T) {
	t.Parallel()
	w, tx, told := workWorld(t, 10*sec)
	for _, image := range []bool{false, true} {
		again := New(w.b.mem.cfg)
		if image {
			again.Replay(10*sec, w.b.Image())
		} else {
			for _, f := range w.facts {
				again.Replay(0, f)
			}
		}
		for i, want := range []*grid.Handover{
			{Job: "wave", User: "ana", Leg: 0, Legs: 2, Peers: []grid.Peer{{Site: "south", Nodes: []string{"s1"}}}, Meeting: "north:7490", Token: "token of north"},
			{Job: "wave", User: "ana", Leg: 1, Legs: 2, Peers: []grid.Peer{{Site: "north", Nodes: []string{"n1", "n2"}}}, Meeting: "north:7490", Token: "token of north"},
		} {
			want.Work = *w.job("wave").Work
			got := again.mem.Tx.Handover(again.mem.Txs.Get(tx), i)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(told[grid.LegID{Tx: tx, Leg: i}], want) {
				t.Errorf("image %t, leg %d: %+v after %+v, want %+v", image, i, got, told[grid.LegID{Tx: tx, Leg: i}], want)
			}
		}
	}
}

// An Inquire about a leg with work is answered by Confirm: an Answer would confirm it
// without.
func TestHandover_AnInquiryIsAnsweredWithTheWork(t *testing.T) {
	t.Parallel()
	w, tx, told := workWorld(t, 10*sec)
	leg := grid.LegID{Tx: tx, Leg: 1}
	var out agents.Outbox
	w.b.Step(10*sec, "site:south", agents.Inquire{Leg: leg}, &out)
	m, ok := out.Sends[0].Message.(agents.Confirm)
	if !ok || !reflect.DeepEqual(m.Work, told[leg]) {
		t.Errorf("answered %+v", out.Sends[0].Message)
	}
}

// A Confirm that asks whether a silent site is there may be the first that it hears, and has the
// work as well: without it the leg was confirmed and nothing ran.
func TestHandover_AQuestionHasTheWork(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	south.rule = func(m agents.Message) fakeAnswer {
		_, confirm := m.(agents.Confirm)
		_, offers := m.(agents.OfferRequest)
		return fakeAnswer{lost: confirm || offers && south.legs != nil && len(south.legs) > 0}
	}
	cfg := testConfig(north, south)
	cfg.Lead = grid.Minute
	w := newTestWorld(t, cfg, north, south)
	w.check.off = true // it does not know sites that are lost
	asked, bare := map[grid.LegID]int{}, 0
	w.After(func(_ grid.Time, _ agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if m, ok := x.Message.(agents.Confirm); ok {
				asked[m.Leg]++
				if m.Work == nil {
					bare++
				}
			}
		}
	})
	j := testJob("wave", 8, 100*grid.Second, grid.Credit)
	j.Ready, j.Work = 1000*sec, &grid.Work{Command: []string{"hostname"}}
	w.submit(0, j)
	w.Run(990 * sec)
	if lost := only[facts.SiteLost](w); bare > 0 || len(asked) != 2 || len(lost) != 1 {
		t.Errorf("%d Confirms without work of %v; lost %v", bare, asked, lost)
	}
	// Back again and in doubt, the site may go on without the work, which is not to run there: the
	// window was given up.
	for leg := range asked {
		if _, at := w.b.mem.Txs.Find("site:south", leg); at == nil {
			continue
		}
		var out agents.Outbox
		w.b.Step(990*sec, "site:south", agents.Inquire{Leg: leg}, &out)
		for _, x := range out.Sends {
			if m, ok := x.Message.(agents.Confirm); ok && m.Work != nil {
				t.Errorf("a leg that was given up gets its work: %+v", m)
			}
		}
		if a, ok := out.Sends[len(out.Sends)-1].Message.(agents.Answer); !ok || a.Verdict != agents.Commit {
			t.Errorf("in doubt it is told %+v", out.Sends)
		}
	}
}

// A leg that replaces a lost one is told its place in the window, and the other legs.
func TestHandover_ARepairTakesThePlaceOfWhatItMends(t *testing.T) {
	t.Parallel()
	w, tx, _ := workWorld(t, 10*sec)
	mend := func(seq uint64, of grid.LegID, site string) grid.TxID {
		id := tx
		id.Seq = seq
		for _, f := range []agents.Fact{
			facts.TxBegun{Tx: id, Job: "wave", Sites: []string{site}, Legs: []grid.Leg{{Group: "main", Nodes: 4, Start: 100, End: 200}}, Limits: []grid.Credits{0}, Repairs: of},
			facts.LegPriced{Leg: grid.LegID{Tx: id}, Names: []string{site}, Meeting: site + ":1", Token: "of the repair"},
			facts.TxDecided{Tx: id, Job: "wave", Commit: true},
		} {
			w.b.Replay(10*sec, f)
		}
		return id
	}
	first := mend(2, grid.LegID{Tx: tx, Leg: 0}, "east")
	second := mend(3, grid.LegID{Tx: first}, "west")
	h := w.b.mem.Tx.Handover(w.b.mem.Txs.Get(second), 0)
	if h.Leg != 0 || h.Legs != 2 || len(h.Peers) != 1 || h.Peers[0].Site != "south" || h.Meeting != "north:7490" {
		t.Errorf("the repair is told %+v", h)
	}
	if h = w.b.mem.Tx.Handover(w.b.mem.Txs.Get(tx), 1); h.Leg != 1 || len(h.Peers) != 1 || h.Peers[0].Site != "west" || h.Peers[0].Nodes[0] != "west" {
		t.Errorf("the other is told %+v", h)
	}
	if x, i := w.b.mem.Txs.Shown(w.b.mem.Names["wave"].Itself(), 0); x == nil || x.ID() != second || i != 0 {
		t.Errorf("part 0 lies in %+v", x)
	}
}

// The result of work is on record with the end of its leg, and who reads what it has
// printed hears of a site that is silent.
func TestHandover_ResultsAndReadings(t *testing.T) {
	t.Parallel()
	w, tx, _ := workWorld(t, 200*sec)
	for i, want := range []*grid.WorkResult{nil, {Exit: 7, Known: true}} {
		if v, _ := w.b.Transaction(tx); !reflect.DeepEqual(v.Legs[i].Result, want) {
			t.Errorf("leg %d: %+v", i, v.Legs[i].Result)
		}
	}
	again := New(w.b.mem.cfg)
	again.Replay(200*sec, w.b.Image())
	if v, _ := again.Transaction(tx); v.Legs[1].Result == nil || v.Legs[1].Result.Exit != 7 {
		t.Errorf("after an image %+v", v.Legs[1].Result)
	}
	ask := func(m agents.JobOutput) agents.Outbox {
		var out agents.Outbox
		w.b.Step(200*sec, "user:ana", m, &out)
		return out
	}
	for _, c := range []struct {
		m    agents.JobOutput
		want grid.Code
	}{{agents.JobOutput{Job: "wave", User: "ben"}, grid.NotAllowed}, {agents.JobOutput{Job: "wave", User: "ana", Part: 2}, grid.Unknown},
		{agents.JobOutput{Job: "tide", User: "ana"}, grid.Unknown}} {
		if out := ask(c.m); out.Sends[0].Message.(agents.JobOutputReply).Reason.Code != c.want {
			t.Errorf("%+v: %+v", c.m, out.Sends[0].Message)
		}
	}
	out := ask(agents.JobOutput{Job: "wave", User: "ana", Part: 1, From: -9})
	asked := out.Sends[0].Message.(agents.LegOutputRequest)
	if out.Sends[0].To != "site:south" || asked.Leg != (grid.LegID{Tx: tx, Leg: 1}) || asked.From != -9 {
		t.Errorf("%s is asked %+v", out.Sends[0].To, asked)
	}
	var silent agents.Outbox
	w.b.Step(200*sec, "site:north", agents.LegOutput{Leg: asked.Leg, Ref: asked.Ref, Data: []byte("a lie")}, &silent)
	w.b.Step(205*sec, "broker:vo1", out.Alarms[0].Message, &silent)
	w.b.Step(205*sec, "site:south", agents.LegOutput{Leg: asked.Leg, Ref: asked.Ref}, &silent)
	if r := silent.Sends[0].Message.(agents.JobOutputReply); len(silent.Sends) != 1 || silent.Sends[0].To != "user:ana" || !strings.Contains(r.Reason.Detail, "south did not answer within 5s") {
		t.Errorf("answered %+v", silent.Sends)
	}
	for range maxReadings {
		out = ask(agents.JobOutput{Job: "wave", User: "ana"})
	}
	if out = ask(agents.JobOutput{Job: "wave", User: "ana"}); out.Sends[0].Message.(agents.JobOutputReply).Reason.Code != grid.QueueFull {
		t.Errorf("beyond the bound: %+v", out.Sends[0].Message)
	}
}
