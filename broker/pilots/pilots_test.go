package pilots

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/lives"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// A site that names a pilot twice in one answer is not paid for it twice, and what it says of
// another job's pilots or another part's does not count.
func TestGather_APilotThatIsNamedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	if x := named(); len(x.look.Pilots) != 2 || x.look.Pilots[0].Pilot != 0 || x.look.Pilots[1].Pilot != 1 {
		t.Errorf("%+v", x.look.Pilots)
	}
}

// named is a job that has heard of its own pilots, and of others'.
func named() *job {
	x := &job{state: grid.Gathering{ID: grid.TxID{Broker: "vo1", Seq: 7}, Parts: []grid.GatheringPart{{Site: "north"}, {Site: "south"}}}}
	x.owes = map[grid.LegID]owed{}
	x.look.Fits, x.look.Room = make([]bool, 2), make([]int, 2)
	over := func(tx uint64, part, number int) agents.PilotIs {
		id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: tx}, Leg: part + grid.MaxParts*number}
		return agents.PilotIs{Pilot: id, State: grid.PilotOver, Begin: 1000, End: 61_000}
	}
	x.take(0, agents.Pilots{Group: "main", Pilots: []agents.PilotIs{over(7, 0, 0), over(7, 0, 0), over(7, 0, 1), over(7, 1, 0), over(8, 0, 2)}})
	return x
}

// A job for a queue is of one piece, long enough that its pilot can be seen in time.
func TestUnsound_AJobForAQueue(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*grid.Job){
		"":      func(*grid.Job) {},
		"short": func(j *grid.Job) { j.Length = grid.LeastQueued - 1 },
		"piece": func(j *grid.Job) {
			j.Parts = []grid.JobPart{{Name: "a", Nodes: 2, Length: grid.Hour, Sites: []string{"north"}}}
		},
		"freedom":       func(j *grid.Job) { j.Flexible = grid.Hour },
		"gpus_per_node": func(j *grid.Job) { j.Portion.GPUs = 1 },
		"require":       func(j *grid.Job) { j.Require.GPUs = 1 },
		"as many":       func(j *grid.Job) { j.Sizes = []grid.Size{{Nodes: 2, Length: grid.Hour}, {Nodes: 4, Length: grid.Hour}} },
	} {
		j := grid.Job{Name: "train", Request: grid.Request{Nodes: 2, Length: grid.Hour}, Gather: grid.GatherQueued(grid.Hour)}
		change(&j)
		if why := Unsound(&j); why.Refused() != (name != "") || !strings.Contains(why.Detail, name) {
			t.Errorf("%q: %v", name, why)
		}
	}
}

// The site of the least median is chosen among those that take the job, of equal ones the first.
func TestBest_TheLeastMedianOfThoseThatTakeIt(t *testing.T) {
	t.Parallel()
	x := &job{job: jobs.NewJob(grid.Job{Name: "train", Request: grid.Request{Nodes: 2, Length: grid.Hour, Budget: 10 * grid.Credit}, Gather: grid.GatherQueued(grid.Hour)})}
	at := func(median grid.Time) *agents.Pilots {
		return &agents.Pilots{Group: "main", Price: grid.Price(grid.Credit), Room: 1, Likely: grid.BestEffort{Median: median, Lower: median, Upper: median, Level: 80}}
	}
	full, dear, closed, unknown := at(1), at(1), at(1), at(1)
	full.Room, dear.Price, closed.Refusal, unknown.Likely = 0, grid.Price(6*grid.Credit), grid.Because(grid.NotAllowed, "closed"), grid.BestEffort{}
	c := &choice{answers: []*agents.Pilots{full, dear, nil, closed, unknown, at(grid.Never), at(30), at(20), at(20)}}
	if got := c.best(x); got != 7 {
		t.Errorf("%d is chosen", got)
	}
	if c.answers = c.answers[:6]; c.best(x) != -1 {
		t.Error("one is chosen that does not take it")
	}
}

// A part asks its site for nodes alone: by a batch file, by the API and by a broker's own intake
// the same is refused.
func TestUnsound_APartThatAsksForMoreThanNodes(t *testing.T) {
	t.Parallel()
	job := func(change func(*grid.JobPart)) *grid.Job {
		j := &grid.Job{Gather: &grid.Gather{Waste: 50_000, Deadline: grid.Day}}
		for _, site := range []string{"north", "south"} {
			j.Parts = append(j.Parts, grid.JobPart{Name: site, Nodes: 4, Length: grid.Hour, MinPerformance: grid.Unit, Sites: []string{site}})
		}
		change(&j.Parts[1])
		return j
	}
	if r := Unsound(job(func(*grid.JobPart) {})); r.Refused() {
		t.Fatal(r)
	}
	for key, change := range map[string]func(*grid.JobPart){
		"min_performance": func(p *grid.JobPart) { p.MinPerformance = 2 * grid.Unit },
		"require":         func(p *grid.JobPart) { p.Require.GPUs = 1 },
		"cores_per_node":  func(p *grid.JobPart) { p.Portion.Cores = 4 },
		"gpus_per_node":   func(p *grid.JobPart) { p.Portion.GPUs = 1 },
		"memory_per_node": func(p *grid.JobPart) { p.Portion.Memory = 1 << 30 },
	} {
		if r := Unsound(job(change)); r.Code != grid.Invalid || !strings.Contains(r.Detail, key+" of part south "+grid.NodesAlone) {
			t.Errorf("%s: %v", key, r)
		}
	}
}

// An answer that comes after its round is not lost: what it says to be over is over at the next.
// Its words on pilots that run, and on whether the part fits, are out of date by then.
func TestGather_AnAnswerAfterItsRoundCountsInTheNext(t *testing.T) {
	t.Parallel()
	x := &job{state: grid.Gathering{ID: grid.TxID{Broker: "vo1", Seq: 7}, Parts: []grid.GatheringPart{{Site: "north"}}}}
	gs := &Gathers{of: map[*jobs.Job]*job{{}: x}, rec: &jobs.State{Lives: &lives.Lives{}}}
	is := func(number int, state grid.PilotState) agents.PilotIs {
		return agents.PilotIs{Pilot: grid.LegID{Tx: x.state.ID, Leg: grid.MaxParts * number}, State: state, Begin: 1000, End: 61_000}
	}
	list := []agents.PilotIs{is(0, grid.PilotOver), is(1, grid.PilotRuns)}
	gs.Answered(0, "site:east", agents.Pilots{Ref: 40, Pilots: list}, nil)                                                            // that has no part
	gs.Answered(0, "site:north", agents.Pilots{Ref: 40, Pilots: []agents.PilotIs{{Pilot: grid.LegID{}, State: grid.PilotOver}}}, nil) // of another job
	if len(x.late) > 0 {
		t.Errorf("%+v", x.late)
	}
	x.ref, x.waits = 43, []bool{true} // two rounds later
	gs.Answered(0, "site:north", agents.Pilots{Ref: 40, Pilots: []agents.PilotIs{is(2, grid.PilotOver)}}, nil)
	gs.Answered(0, "site:north", agents.Pilots{Ref: 41, Fits: true, Room: 3, Pilots: list}, nil)
	if m := x.late[0]; m.Fits || m.Room > 0 || len(m.Pilots) != 2 || m.Pilots[0].Pilot != list[0].Pilot || len(list) != 2 || !x.waits[0] {
		t.Errorf("%+v", m)
	}
	x.job = jobs.NewJob(grid.Job{Name: "wave", Gather: &grid.Gather{}, Request: grid.Request{Parts: []grid.JobPart{{Name: "a", Nodes: 2}}}})
	x.parts = x.job.Parts
	var out agents.Outbox
	gs.ask(0, x, &out)
	if len(x.look.Pilots) != 2 || x.look.Fits[0] || x.late != nil || x.ref != 1<<32+1 {
		t.Errorf("the next round begins with %+v, late %v", x.look, x.late)
	}
}

// A job that is given up while its transaction is open waits for the outcome: its window may yet be
// committed, on pilots that must not be told to leave before.
func TestReconcile_AnOpenTransactionComesFirst(t *testing.T) {
	t.Parallel()
	g := gather.New(gather.Order{Length: 3600, Waste: 500_000, Deadline: 86_400, Parts: []gather.Part{{Nodes: 1, Cluster: 8}, {Nodes: 1, Cluster: 8}}})
	g.Round(gather.Look{At: 0, Fits: []bool{true, true}})
	both := []gather.Sight{{Part: 0, State: gather.Running, Begin: 5}, {Part: 1, State: gather.Running, Begin: 6}}
	if g.Round(gather.Look{At: 60, Pilots: both}); g.Phase() != gather.Committing {
		t.Fatalf("phase %v", g.Phase())
	}
	x := &job{job: jobs.NewJob(grid.Job{Name: "wave"}), g: g, tx: &transaction.Tx{}}
	x.job.State = grid.JobWithdrawn
	if x.reconcile(grid.Time(61*grid.Second), nil); g.Phase() != gather.Committing || g.Pilot(0) != 0 {
		t.Errorf("phase %v, pilot %d", g.Phase(), g.Pilot(0))
	}
	x.tx = nil
	if x.reconcile(grid.Time(62*grid.Second), nil); g.Pilot(0) != gather.None {
		t.Errorf("pilot %d stays", g.Pilot(0))
	}
}

// A job whose window was lost, and which waits again until what it comes after is placed, has its
// pilots leave, and asks of them until they are settled: their charges would stay open. It asks for
// nothing else.
func TestDue_AHeldJobSettlesItsPilots(t *testing.T) {
	t.Parallel()
	x := &job{job: jobs.NewJob(grid.Job{Name: "wave", Gather: &grid.Gather{}}), parts: []grid.JobPart{{Nodes: 1}, {Nodes: 1}}}
	x.state = grid.Gathering{ID: grid.TxID{Broker: "vo1", Seq: 7}, Parts: []grid.GatheringPart{{Site: "north"}, {Site: "south"}}}
	x.g = gather.New(gather.Order{Length: 3600, Waste: 500_000, Deadline: 86_400, Parts: []gather.Part{{Nodes: 1, Cluster: 8}, {Nodes: 1, Cluster: 8}}})
	x.g.Round(gather.Look{At: 0, Fits: []bool{true, true}})
	both := []gather.Sight{{Part: 0, State: gather.Running, Begin: 5}, {Part: 1, State: gather.Running, Begin: 6}}
	x.g.Round(gather.Look{At: 60, Pilots: both})
	x.job.State, x.job.Held = grid.JobWaiting, true
	gs := &Gathers{of: map[*jobs.Job]*job{x.job: x}, rec: &jobs.State{Lives: &lives.Lives{}, Names: map[string]*jobs.Job{"wave": x.job}}}
	asks := func() (leave, stay int) {
		var out agents.Outbox
		x.next = 70_000
		gs.due(70_000, due{"wave", 70_000}, &out)
		for _, s := range out.Sends {
			for _, o := range s.Message.(agents.PilotsRequest).Orders {
				if o.Leave {
					leave++
				} else {
					stay++
				}
			}
		}
		return leave, stay
	}
	if leave, stay := asks(); leave != 2 || stay != 0 {
		t.Errorf("%d pilots are told to leave, %d to stay", leave, stay)
	}
	x.look = gather.Look{At: 80}
	if acts := x.decide(80_000); len(acts) > 0 {
		t.Errorf("%+v", acts)
	}
	x.g.Seen(gather.Sight{Part: 0, State: gather.Ended, Begin: 5, End: 75}, gather.Sight{Part: 1, State: gather.Ended, Begin: 6, End: 75})
	if x.ref = 0; x.g.Unsettled() {
		t.Fatal("pilots that ended are not settled")
	}
	if asks(); x.ref != 0 || x.next != 130_000 {
		t.Errorf("it asks on (%d), next at %v", x.ref, x.next)
	}
}

// A pilot that begins between rounds brings the next one at once: it may have left before that is
// due. One that leaves, or of which that is known, does not.
func TestGather_APilotThatBeginsBringsTheRound(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		pilot grid.GatheringPilot
		state grid.PilotState
		next  grid.Time
	}{
		"it begins":    {grid.GatheringPilot{Number: 2, Begin: -1}, grid.PilotRuns, 5000},
		"it waits":     {grid.GatheringPilot{Number: 2, Begin: -1}, grid.PilotWaits, 60_000},
		"it is known":  {grid.GatheringPilot{Number: 2, Begin: 1}, grid.PilotRuns, 60_000},
		"it leaves":    {grid.GatheringPilot{Number: 2, Begin: -1, Given: true}, grid.PilotRuns, 60_000},
		"another does": {grid.GatheringPilot{Number: 1, Begin: -1}, grid.PilotRuns, 60_000},
	} {
		x := &job{state: grid.Gathering{ID: grid.TxID{Broker: "vo1", Seq: 7}, Parts: []grid.GatheringPart{{Site: "north"}, {Site: "south"}}, Pilots: []grid.GatheringPilot{c.pilot}}, asked: 41, next: 60_000}
		x.job = jobs.NewJob(grid.Job{Name: "wave", Gather: &grid.Gather{}})
		gs := &Gathers{of: map[*jobs.Job]*job{x.job: x}}
		is := agents.PilotIs{Pilot: grid.LegID{Tx: x.state.ID, Leg: grid.MaxParts * 2}, State: c.state, Begin: 4000}
		gs.Answered(5000, "site:north", agents.Pilots{Ref: 41, Pilots: []agents.PilotIs{is}}, &agents.Outbox{})
		if x.next != c.next {
			t.Errorf("%s: the next round is at %v, must be at %v", what, x.next, c.next)
		}
	}
}

// A job for a queue is gathered as a job of one part, without a name and at first without a site.
func TestNewJob_ForAQueueIsOfOnePart(t *testing.T) {
	t.Parallel()
	j := grid.Job{Name: "train", Gather: grid.GatherQueued(grid.Hour), Request: grid.Request{Nodes: 4, Length: grid.Hour}, Run: 50 * grid.Minute}
	x := newJob(jobs.NewJob(j))
	if want := []grid.JobPart{{Nodes: 4, Length: grid.Hour, Run: 50 * grid.Minute}}; !reflect.DeepEqual(x.parts, want) {
		t.Errorf("its parts are %+v", x.parts)
	}
	if o := x.order(); o.Check() != nil || !o.Alone || len(o.Parts) != 1 {
		t.Errorf("it is gathered as %+v: %v", o, o.Check())
	}
	wave := jobs.NewJob(grid.Job{Gather: &grid.Gather{}, Request: grid.Request{Parts: []grid.JobPart{{Name: "a", Nodes: 2, Sites: []string{"north"}}}}})
	if got := newJob(wave).parts; !reflect.DeepEqual(got, wave.Parts) {
		t.Errorf("another job's parts are %+v", got)
	}
}
