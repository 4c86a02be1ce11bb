package slurmdump

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	twin "github.com/bourse-grid/bourse/policy/slurm"
)

const lookAt = grid.Time(1_795_000_000_000)

// aLook is a snapshot of four nodes, of which one is drained: a job runs; an array lets one task run
// at a time; a job depends on the one that runs; one is at the limit of its QOS, which Slurm shows as
// a reason; one is held; a maintenance begins in an hour.
func aLook() *grid.Look {
	look := &grid.Look{At: lookAt, Source: "slurm 22.05.8", Rules: &grid.ManagerRules{
		Config: "AccountingStorageEnforce = associations,limits,qos\nKillWait                = 30 sec\nPriorityType            = priority/multifactor\n" +
			"SchedulerType           = sched/backfill\nSchedulerParameters     = bf_interval=20\n",
		Partitions: "PartitionName=batch AllocNodes=ALL Default=YES MaxTime=1-00:00:00 MaxNodes=UNLIMITED Nodes=n[1-4] PriorityTier=1 PriorityJobFactor=1 State=UP TotalCPUs=16 TotalNodes=4\n",
		QOS:        "Name|Priority|GrpJobs|\nnormal|0||\nsmall|10|1|\n",
		Assocs:     "Cluster|Account|User|Partition|Share|ParentName|\nc|root||||root|\nc|chem||||root|\nc|chem|ann|||1|\n",
	}}
	for _, n := range []string{"n1", "n2", "n3", "n4"} {
		look.Nodes = append(look.Nodes, grid.ManagedNode{Name: n, State: grid.NodeUp, CPUs: 4, Partitions: []string{"batch"}})
	}
	look.Nodes[3].State = grid.NodeDrained
	job := func(number string, nodes int, qos, why string, priority int64) grid.ManagedJob {
		return grid.ManagedJob{Number: number, User: "ann", Account: "chem", State: grid.ManagedPending, Why: why, Partition: "batch", Count: nodes, CPUs: 4 * nodes,
			Limit: 10 * grid.Minute, QOS: qos, Priority: priority, Submit: lookAt - 600_000, Eligible: lookAt - 600_000}
	}
	runs := job("10", 2, "small", "", 0)
	runs.State, runs.Start, runs.Nodes, runs.Limit = grid.ManagedRunning, lookAt-300_000, []string{"n1", "n2"}, 20*grid.Minute
	first, second := job("11_1", 1, "normal", "Resources", 90), job("11_2", 1, "normal", "JobArrayTaskLimit", 90)
	first.Throttle, second.Throttle = 1, 1
	depends := job("12", 1, "normal", "Dependency", 80)
	depends.After = []string{"10"}
	limited := job("13", 1, "small", "QOSGrpJobsLimit", 70)
	limited.State = grid.ManagedHeld // as a snapshot without the rules takes it
	held := job("14", 1, "normal", "JobHeldUser", 60)
	held.State = grid.ManagedHeld
	long := job("15", 1, "normal", "Priority", 50)
	long.Limit = 2 * grid.Hour
	elsewhere := job("17", 3, "normal", "ReqNodeNotAvail, Reserved for maintenance", 45)
	elsewhere.State, elsewhere.Begin, elsewhere.Limit = grid.ManagedHeld, lookAt.Add(5*grid.Hour), grid.Hour // as a snapshot without the rules takes it
	lost := job("16", 1, "normal", "Dependency", 40)
	lost.After = []string{"9"} // which the snapshot does not show
	look.Jobs = []grid.ManagedJob{runs, first, second, depends, limited, held, long, elsewhere, lost}
	look.Reservations = []grid.ManagedReservation{{Name: "maintenance", Start: lookAt.Add(grid.Hour), End: lookAt.Add(2 * grid.Hour), Nodes: []string{"n1", "n2", "n3", "n4"}}}
	return look
}

// A waiting job waits for what Slurm says, and starts when that is over.
func TestOpenLook_WhatWaitsForWhatAndUntilWhen(t *testing.T) {
	t.Parallel()
	q, err := OpenLook(aLook())
	if err != nil {
		t.Fatal(err)
	}
	if q.Scheduler.Interval != 20*grid.Second || !q.Limits || !q.QOSLimits || q.Partitions[0].Nodes.Count() != 3 {
		t.Errorf("interval %v, limits %v, of QOS %v, %d nodes", q.Scheduler.Interval, q.Limits, q.QOSLimits, q.Partitions[0].Nodes.Count())
	}
	w := twin.Resume(&q.Config, q.Jobs, q.Now)
	w.Until(q.Now.Add(q.Scheduler.Interval))
	why := map[string]string{}
	for i := range q.Jobs {
		if w.Waiting(i) {
			why[q.Of[i].Number] = w.Outcome(i).Why.String()
		}
	}
	w.Until(q.Now.Add(grid.Day))
	for i, want := range []struct {
		number, why string
		from, to    grid.Duration
	}{
		{"11_1", "", 0, grid.Minute},
		{"11_2", "JobArrayTaskLimit", 10 * grid.Minute, 11 * grid.Minute},
		{"12", "Dependency", 15 * grid.Minute, 16 * grid.Minute},
		{"13", "QOSLimit", 15 * grid.Minute, 16 * grid.Minute},
		{"14", "Held", grid.MaxDuration, grid.MaxDuration},
		{"15", "Reservation", 2 * grid.Hour, 2*grid.Hour + grid.Minute},
		{"17", "Reservation", 4 * grid.Hour, 4*grid.Hour + grid.Minute},
		{"16", "Held", grid.MaxDuration, grid.MaxDuration},
	} {
		at := grid.MaxDuration
		if start := w.Outcome(i + 1).Start; start < grid.Never {
			at = start.Sub(q.Now)
		}
		if number := q.Of[i+1].Number; number != want.number || why[number] != want.why || at < want.from || at > want.to {
			t.Errorf("%s waits for %q and starts after %v; want %+v", number, why[number], at, want)
		}
	}
}

// Without limits that the snapshot has, a job at one stays held: nobody knows when it is free.
func TestOpenLook_ALimitThatIsNotKnownHolds(t *testing.T) {
	t.Parallel()
	look := aLook()
	look.Rules.QOS, look.Rules.Assocs = "", ""
	q, err := OpenLook(look)
	if err != nil {
		t.Fatal(err)
	}
	for i := range q.Jobs {
		n := q.Of[i].Number
		if want := n == "13" || n == "14" || n == "16"; q.Jobs[i].Held != want {
			t.Errorf("%s: held %v", n, q.Jobs[i].Held)
		}
	}
}

func TestOpenLook_SaysWhatItCannotUse(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*grid.Look){
		"take it again: bourse snapshot --slurm":   func(l *grid.Look) { l.Rules = nil },
		"snapshot: line 1: SchedulerType: sched/b": func(l *grid.Look) { l.Rules.Config = "SchedulerType=sched/builtin" },
		"names no partition":                       func(l *grid.Look) { l.Rules.Partitions = "" },
		"n5 is no node of the cluster":             func(l *grid.Look) { l.Rules.Partitions = "PartitionName=batch Nodes=n5" },
		"is not in the snapshot":                   func(l *grid.Look) { l.Rules.Config += "\nInclude /etc/passwd\n" },
	} {
		look := aLook()
		change(look)
		if _, err := OpenLook(look); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
