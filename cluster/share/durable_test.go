package share

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/admission"
)

// lives are those of one durable cluster of deadlines.
type lives struct {
	cfg     config
	cluster *cluster.Agent
	facts   []recorded
	alarms  []alarm
	story   []string // what came of jobs and legs, at its own instant
	nonce   uint64
}

const theSite agents.ID = "site:north"

// recorded is a fact and its instant.
type recorded struct {
	at   grid.Time
	fact agents.Fact
}

// alarm is one that a cluster has set.
type alarm struct {
	at grid.Time
	m  agents.Message
}

// config is what such a cluster is made of.
type config struct {
	groups  []grid.Group
	options Options
	work    Work
}

func (c config) made() *cluster.Agent {
	return cluster.New(cluster.Config{Site: theSite}, New(c.groups, c.options, c.work))
}

func (l *lives) begin(t *rapid.T, now grid.Time) {
	l.cluster, l.alarms = l.cfg.made(), nil
	for _, f := range l.facts {
		l.cluster.Replay(f.at, written(t, f.fact))
	}
	l.nonce++
	l.step(now, agents.Started{Nonce: l.nonce << 32})
}

// asImage shows all that is kept but up to when.
func asImage(f agents.Fact) string {
	x := f.(facts.ClusterImage)
	x.At = 0
	b, _ := json.Marshal(x)
	return strings.ReplaceAll(string(b), "null", "[]")
}

// written is a fact as a journal gives it back.
func written(t *rapid.T, f agents.Fact) agents.Fact {
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	x := reflect.New(reflect.TypeOf(f))
	if err := json.Unmarshal(b, x.Interface()); err != nil {
		t.Fatal(err)
	}
	return x.Elem().Interface().(agents.Fact)
}

func (l *lives) step(now grid.Time, m agents.Message) {
	var out agents.Outbox
	l.cluster.Step(now, theSite, m, &out)
	for _, f := range out.Facts {
		l.facts = append(l.facts, recorded{now, f})
		at := func(when grid.Time) grid.Time {
			if when > 0 {
				return when
			}
			return now
		}
		switch f := f.(type) {
		case facts.TasksPlaced:
			l.story = append(l.story, fmt.Sprintf("%v work of job %d or %v on %v", at(f.When), f.Job.ID, f.Leg, f.Nodes))
		case facts.JobEnded:
			l.story = append(l.story, fmt.Sprintf("%v job %d ends, begun at %v, killed %t", at(f.Ended), f.Job, f.Start, f.Killed))
		case facts.JobRefused:
			l.story = append(l.story, fmt.Sprintf("job %d of %v refused", f.Job, f.Submit))
		case facts.LockMoved:
			l.story = append(l.story, fmt.Sprintf("%v %v %v", at(f.When), f.Leg, f.State))
		}
	}
	for _, a := range out.Alarms {
		l.alarms = append(l.alarms, alarm{max(a.At, now), a.Message})
	}
}

func (l *lives) advance(to grid.Time) {
	for {
		i := -1
		for k, a := range l.alarms {
			if a.at <= to && (i < 0 || a.at < l.alarms[i].at) {
				i = k
			}
		}
		if i < 0 {
			return
		}
		a := l.alarms[i]
		l.alarms = slices.Delete(l.alarms, i, i+1)
		l.step(a.at, a.m)
	}
}

// A cluster of deadlines may die at any moment. Compared with a twin that never does, the
// same work on the same nodes ends at the same instants, whatever had been done before,
// and the final state is the same to the last bit.
func TestDurableShared_LivesAsATwinThatNeverDies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		control := rapid.SampledFrom([]admission.Control{admission.Libra, admission.LibraRisk, admission.EDF, admission.EDFOpen}).Draw(t, "control")
		var jobs []Job
		at := grid.Time(0)
		for i := range rapid.IntRange(0, 25).Draw(t, "jobs") {
			at += grid.Time(rapid.IntRange(0, 20).Draw(t, "gap") * 1000)
			j := grid.LocalJob{ID: int64(i%20 + 1), Submit: at, Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"),
				Estimate: grid.Duration(rapid.IntRange(1, 60).Draw(t, "estimate")) * grid.Second}
			j.Run = max(1, j.Estimate*grid.Duration(rapid.IntRange(0, 15).Draw(t, "run"))/10)
			jobs = append(jobs, Job{j, at.Add(j.Estimate * grid.Duration(rapid.IntRange(8, 40).Draw(t, "factor")) / 10)})
		}
		cfg := config{groups: []grid.Group{{Site: "north", Name: "main", Nodes: 4, Performance: 1300, Price: 1}},
			options: Options{Control: control, Limit: 5},
			work: func(_ int, _, after grid.Time) func() (Job, bool) {
				list := jobs
				for len(list) > 0 && list[0].Submit < after {
					list = list[1:]
				}
				return func() (j Job, ok bool) {
					if len(list) > 0 {
						j, list, ok = list[0], list[1:], true
					}
					return j, ok
				}
			}}
		mortal, twin := &lives{cfg: cfg}, &lives{cfg: cfg}
		mortal.begin(t, 0)
		twin.begin(t, 0)
		now, seq := grid.Time(0), uint64(0)
		both := func(m agents.Message) { mortal.step(now, m); twin.step(now, m) }
		var legs []grid.LegID
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			act := rapid.IntRange(0, 7).Draw(t, "act")
			if act >= 1 && act <= 3 && len(legs) == 0 {
				act = 0
			}
			switch act {
			case 0:
				seq++
				id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq}}
				legs = append(legs, id)
				work := grid.Duration(rapid.IntRange(1, 60).Draw(t, "work")) * grid.Second
				both(agents.ClusterHold{Leg: id, Run: work * grid.Duration(rapid.IntRange(1, 15).Draw(t, "really")) / 10,
					What: grid.Leg{Group: "main", Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), Start: now, End: now.Add(work * grid.Duration(rapid.IntRange(8, 40).Draw(t, "until")) / 10), Work: work}})
			case 1:
				both(agents.ClusterConfirm{Leg: rapid.SampledFrom(legs).Draw(t, "leg")})
			case 2:
				both(agents.ClusterRelease{Leg: rapid.SampledFrom(legs).Draw(t, "leg")})
			case 3:
				both(agents.ClusterHeard{Leg: rapid.SampledFrom(legs).Draw(t, "leg")})
			case 4, 5:
				now = now.Add(grid.Duration(rapid.IntRange(0, 30_000).Draw(t, "wait")))
				mortal.advance(now)
				twin.advance(now)
			default:
				if rapid.Bool().Draw(t, "image") {
					mortal.facts = []recorded{{now, mortal.cluster.Image()}}
				}
				now = now.Add(grid.Duration(rapid.IntRange(0, 30_000).Draw(t, "down")))
				twin.advance(now)
				mortal.begin(t, now)
			}
			if err := mortal.cluster.Audit(now); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(mortal.story, twin.story) {
				t.Fatalf("it died, and\n%q\nits twin\n%q", mortal.story, twin.story)
			}
		}
		now = now.Add(grid.Second)
		mortal.advance(now)
		twin.advance(now)
		both(agents.ClusterHeard{}) // both look at the clock
		if a, b := asImage(mortal.cluster.Image()), asImage(twin.cluster.Image()); a != b {
			t.Fatalf("it keeps\n%s\nits twin\n%s", a, b)
		}
	})
}

// A life that ends between two facts of a step leaves a state to go on from.
func TestDurableShared_AnyPrefixOfItsFactsIsAStateToLiveOnFrom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		control := rapid.SampledFrom([]admission.Control{admission.Libra, admission.LibraRisk, admission.EDF}).Draw(t, "control")
		var list []Job
		for i := range 20 {
			submit := grid.Time(i * 5000)
			j := grid.LocalJob{ID: int64(i + 1), Submit: submit, Nodes: 1 + i%4, Estimate: grid.Duration(rapid.IntRange(1000, 40_000).Draw(t, "estimate"))}
			j.Run = j.Estimate * 9 / 10
			list = append(list, Job{j, submit.Add(2 * j.Estimate)})
		}
		cfg := config{groups: []grid.Group{{Site: "north", Name: "main", Nodes: 4, Performance: 1000, Price: 1}},
			options: Options{Control: control, Limit: 5},
			work: func(_ int, _, after grid.Time) func() (Job, bool) {
				rest := list
				for len(rest) > 0 && rest[0].Submit < after {
					rest = rest[1:]
				}
				return func() (j Job, ok bool) {
					if len(rest) > 0 {
						j, rest, ok = rest[0], rest[1:], true
					}
					return j, ok
				}
			}}
		l := &lives{cfg: cfg}
		l.begin(t, 0)
		l.advance(200_000)
		l.facts = l.facts[:rapid.IntRange(0, len(l.facts)).Draw(t, "kept")]
		now := grid.Time(0)
		if n := len(l.facts); n > 0 {
			now = l.facts[n-1].at
		}
		l.begin(t, now)
		l.advance(400_000)
		if err := l.cluster.Audit(400_000); err != nil {
			t.Fatal(err)
		}
		ends := map[int64]int{}
		for _, r := range l.facts {
			switch f := r.fact.(type) {
			case facts.JobEnded:
				ends[f.Job]++
			case facts.JobRefused:
				ends[f.Job]++
			}
		}
		for _, j := range list {
			if ends[j.ID] != 1 {
				t.Fatalf("job %d came to %d ends", j.ID, ends[j.ID])
			}
		}
	})
}

// A job that ended while the process was down is recorded late, after other things of a
// later instant. A replay has it end when it did.
func TestDurable_AnEndKeepsItsInstant(t *testing.T) {
	t.Parallel()
	c := config{groups: []grid.Group{{Site: "north", Name: "main", Nodes: 2, Performance: 1000, Price: 1}}, options: Options{Control: admission.Libra}}.made()
	id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}}
	what := grid.Leg{Group: "main", Nodes: 1, End: 100_000, Work: 50_000}
	c.Replay(1, facts.WorkBegun{At: 1})
	c.Replay(1, facts.TasksPlaced{Group: "main", Number: 1, Leg: id, What: what, Deadline: what.End, Run: 50_000, Nodes: []int{0}})
	c.Replay(2, facts.LockMoved{Leg: id, State: facts.LockConfirmed})
	c.Replay(200_000, facts.LockMoved{Leg: grid.LegID{Leg: 1}, State: facts.LockLost}) // of another leg
	c.Replay(200_000, facts.LockMoved{Leg: id, State: facts.LockEnded, When: 50_001})
	if l := c.Image().(facts.ClusterImage).Locks[0]; l.State != facts.LockEnded || l.Ends != 50_001 {
		t.Errorf("it is %s at %v, it ended at 50.001", l.State, l.Ends)
	}
}
