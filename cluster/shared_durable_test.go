package cluster

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse"
	"bourse/agents"
	"bourse/policy/admission"
)

// sharedLives are those of one durable cluster of deadlines.
type sharedLives struct {
	cfg     SharedConfig
	cluster *DurableSharedCluster
	facts   []recorded
	alarms  []alarm
	story   []string // what came of jobs and legs, at its own instant
	nonce   uint64
}

func (l *sharedLives) begin(t *rapid.T, now bourse.Time) {
	l.cluster, l.alarms = NewDurableSharedCluster(l.cfg), nil
	for _, f := range l.facts {
		l.cluster.Replay(f.at, written(t, f.fact))
	}
	l.nonce++
	l.step(now, agents.Started{Nonce: l.nonce << 32})
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

func (l *sharedLives) step(now bourse.Time, m agents.Message) {
	var out agents.Outbox
	l.cluster.Step(now, theSite, m, &out)
	for _, f := range out.Facts {
		l.facts = append(l.facts, recorded{now, f})
		at := func(when bourse.Time) bourse.Time {
			if when > 0 {
				return when
			}
			return now
		}
		switch f := f.(type) {
		case bourse.TasksPlaced:
			l.story = append(l.story, fmt.Sprintf("%v work of job %d or %v on %v", at(f.When), f.Job.ID, f.Leg, f.Nodes))
		case bourse.JobEnded:
			l.story = append(l.story, fmt.Sprintf("%v job %d ends, begun at %v, killed %t", at(f.Ended), f.Job, f.Start, f.Killed))
		case bourse.JobRefused:
			l.story = append(l.story, fmt.Sprintf("job %d of %v refused", f.Job, f.Submit))
		case bourse.LockMoved:
			l.story = append(l.story, fmt.Sprintf("%v %v %v", at(f.When), f.Leg, f.State))
		}
	}
	for _, a := range out.Alarms {
		l.alarms = append(l.alarms, alarm{max(a.At, now), a.Message})
	}
}

func (l *sharedLives) advance(to bourse.Time) {
	for {
		i := soonest(l.alarms, to)
		if i < 0 {
			return
		}
		a := l.alarms[i]
		l.alarms = slices.Delete(l.alarms, i, i+1)
		l.step(a.at, a.m)
	}
}

// A cluster of deadlines that dies at any moment, beside a twin that never does:
// the same work on the same nodes ends at the same instants, whatever of it was
// done before; and what is kept is the same in the end, to the last bit.
func TestDurableShared_LivesAsATwinThatNeverDies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		control := rapid.SampledFrom([]admission.Control{admission.Libra, admission.LibraRisk, admission.EDF, admission.EDFOpen}).Draw(t, "control")
		var jobs []DeadlineJob
		at := bourse.Time(0)
		for i := range rapid.IntRange(0, 25).Draw(t, "jobs") {
			at += bourse.Time(rapid.IntRange(0, 20).Draw(t, "gap") * 1000)
			j := bourse.LocalJob{ID: int64(i%20 + 1), Submit: at, Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"),
				Estimate: bourse.Duration(rapid.IntRange(1, 60).Draw(t, "estimate")) * bourse.Second}
			j.Run = max(1, j.Estimate*bourse.Duration(rapid.IntRange(0, 15).Draw(t, "run"))/10)
			jobs = append(jobs, DeadlineJob{j, at.Add(j.Estimate * bourse.Duration(rapid.IntRange(8, 40).Draw(t, "factor")) / 10)})
		}
		cfg := SharedConfig{Site: theSite, Groups: []bourse.Group{{Site: "north", Name: "main", Nodes: 4, Performance: 1300, Price: 1}},
			Options: SharedOptions{Control: control, Limit: 5},
			Work: func(_ int, _, after bourse.Time) func() (DeadlineJob, bool) {
				list := jobs
				for len(list) > 0 && list[0].Submit < after {
					list = list[1:]
				}
				return func() (j DeadlineJob, ok bool) {
					if len(list) > 0 {
						j, list, ok = list[0], list[1:], true
					}
					return j, ok
				}
			}}
		mortal, twin := &sharedLives{cfg: cfg}, &sharedLives{cfg: cfg}
		mortal.begin(t, 0)
		twin.begin(t, 0)
		now, seq := bourse.Time(0), uint64(0)
		both := func(m agents.Message) { mortal.step(now, m); twin.step(now, m) }
		var legs []bourse.LegID
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			act := rapid.IntRange(0, 7).Draw(t, "act")
			if act >= 1 && act <= 3 && len(legs) == 0 {
				act = 0
			}
			switch act {
			case 0:
				seq++
				id := bourse.LegID{Tx: bourse.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq}}
				legs = append(legs, id)
				work := bourse.Duration(rapid.IntRange(1, 60).Draw(t, "work")) * bourse.Second
				both(agents.ClusterHold{Leg: id, Run: work * bourse.Duration(rapid.IntRange(1, 15).Draw(t, "really")) / 10,
					What: bourse.Leg{Group: "main", Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), Start: now, End: now.Add(work * bourse.Duration(rapid.IntRange(8, 40).Draw(t, "until")) / 10), Work: work}})
			case 1:
				both(agents.ClusterConfirm{Leg: rapid.SampledFrom(legs).Draw(t, "leg")})
			case 2:
				both(agents.ClusterRelease{Leg: rapid.SampledFrom(legs).Draw(t, "leg")})
			case 3:
				both(agents.ClusterHeard{Leg: rapid.SampledFrom(legs).Draw(t, "leg")})
			case 4, 5:
				now = now.Add(bourse.Duration(rapid.IntRange(0, 30_000).Draw(t, "wait")))
				mortal.advance(now)
				twin.advance(now)
			default:
				if rapid.Bool().Draw(t, "image") {
					mortal.facts = []recorded{{now, mortal.cluster.Image()}}
				}
				now = now.Add(bourse.Duration(rapid.IntRange(0, 30_000).Draw(t, "down")))
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
		now = now.Add(bourse.Second)
		mortal.advance(now)
		twin.advance(now)
		both(agents.ClusterHeard{}) // both look at the clock
		if a, b := asImage(mortal.cluster.Image(), now), asImage(twin.cluster.Image(), now); a != b {
			t.Fatalf("it keeps\n%s\nits twin\n%s", a, b)
		}
	})
}

// A life that ends between two facts of a step leaves a state to go on from.
func TestDurableShared_AnyPrefixOfItsFactsIsAStateToLiveOnFrom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		control := rapid.SampledFrom([]admission.Control{admission.Libra, admission.LibraRisk, admission.EDF}).Draw(t, "control")
		var list []DeadlineJob
		for i := range 20 {
			submit := bourse.Time(i * 5000)
			j := bourse.LocalJob{ID: int64(i + 1), Submit: submit, Nodes: 1 + i%4, Estimate: bourse.Duration(rapid.IntRange(1000, 40_000).Draw(t, "estimate"))}
			j.Run = j.Estimate * 9 / 10
			list = append(list, DeadlineJob{j, submit.Add(2 * j.Estimate)})
		}
		cfg := SharedConfig{Site: theSite, Groups: []bourse.Group{{Site: "north", Name: "main", Nodes: 4, Performance: 1000, Price: 1}},
			Options: SharedOptions{Control: control, Limit: 5},
			Work: func(_ int, _, after bourse.Time) func() (DeadlineJob, bool) {
				rest := list
				for len(rest) > 0 && rest[0].Submit < after {
					rest = rest[1:]
				}
				return func() (j DeadlineJob, ok bool) {
					if len(rest) > 0 {
						j, rest, ok = rest[0], rest[1:], true
					}
					return j, ok
				}
			}}
		l := &sharedLives{cfg: cfg}
		l.begin(t, 0)
		l.advance(200_000)
		l.facts = l.facts[:rapid.IntRange(0, len(l.facts)).Draw(t, "kept")]
		now := bourse.Time(0)
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
			case bourse.JobEnded:
				ends[f.Job]++
			case bourse.JobRefused:
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
