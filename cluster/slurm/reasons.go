package slurm

import (
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// treatment is what a look makes of a pending job by the reason that Slurm gives.
type treatment uint8

const (
	ready     treatment = iota // it waits for nodes, or for its turn
	begins                     // not before its begin time
	depends                    // not before the ends of other jobs
	throttled                  // not before a task of its array ends
	planned                    // not before the start that Slurm plans for it; held if it plans none
	partition                  // held, unless it may run in another partition
	reserved                   // in its reservation, outside of the queue; held if it names none
	held                       // not at all while the reason lasts
	unheardOf                  // the reason is not in the table: ready, and counted
)

// words says what a treatment means, for documents and messages.
func (t treatment) words() string {
	return [...]string{
		"ready: it waits for nodes, or for its turn",
		"not before its begin time",
		"not before the jobs that it waits for have ended",
		"not before a task of its array ends",
		"not before the start that Slurm plans for it; held if it plans none",
		"held, unless it may run in another partition that it names",
		"in its reservation, outside of the queue; held if it names none",
		"held while the reason lasts",
		"not known: it counts as ready",
	}[t]
}

// cause is a reason of Slurm's documentation (job_reason_codes), or the beginning of several.
// The first that fits counts.
type cause struct {
	word  string // with * at its end: every word that begins so
	treat treatment
	says  string // why, in words
}

// causes are the reasons for which a job may be pending. Slurm shows one of several that a job
// may have.
var causes = []cause{
	{"None", ready, "Slurm has not considered it yet"},
	{"Priority", ready, "others come first"},
	{"Resources", ready, "nodes are not free"},
	{"WaitingForScheduling", ready, "Slurm has not considered it yet"},
	{"SchedDefer", ready, "Slurm considers it in its next pass"},
	{"Prolog", ready, "its prolog runs"},
	{"Cleaning", ready, "it was requeued, and its last run is being cleaned up"},
	{"BurstBufferStageIn", ready, "its data is being staged"},
	{"FedJobLock", ready, "the clusters of a federation agree on it"},
	{"NonZeroExitCode", ready, "it has run before, and was requeued"},
	{"RaisedSignal", ready, "it has run before, and was requeued"},
	{"TimeLimit", ready, "it has run before, and was requeued"},
	{"InactiveLimit", ready, "it has run before, and was requeued"},
	{"OutOfMemory", ready, "it has run before, and was requeued"},
	{"SystemFailure", ready, "it has run before, and was requeued"},

	{"BeginTime", begins, "its begin time has not come"},
	{"DependencyNeverSatisfied", held, "what it depends on cannot happen any more"},
	{"Dependency", depends, "what it depends on has not happened"},
	{"JobArrayTaskLimit", throttled, "as many tasks of its array run as may"},

	{"ReqNodeNotAvail", planned, "a node that it must have is in use, reserved or not up"},
	{"NodeDown", planned, "a node that it must have is down"},
	{"Constraints", planned, "no nodes meet its constraints at this time"},

	{"PartitionDown", partition, "the partition is down"},
	{"PartitionInactive", partition, "the partition is inactive"},
	{"PartitionNodeLimit", partition, "it asks for more or fewer nodes than a job of the partition may have"},
	{"PartitionTimeLimit", partition, "it asks for more time than a job of the partition may have"},
	{"Partition*", partition, "it breaks a limit of the partition"},

	{"JobHeldUser", held, "its user holds it"},
	{"JobHeldAdmin", held, "an administrator holds it"},
	{"JobHeld*", held, "it is held"},
	{"JobHoldMaxRequeue", held, "it was requeued too often"},
	{"JobLaunchFailure", held, "it could not be launched"},
	{"launch*failed*", held, "it could not be launched"},
	{"BadConstraints", held, "no nodes can ever meet its constraints"},
	{"InvalidAccount", held, "its account is not valid"},
	{"AccountNotAllowed", held, "its account may not use the partition"},
	{"AccountingPolicy", held, "it is at a limit of its account or QOS"},
	{"InvalidQOS", held, "its QOS is not valid"},
	{"QOSNotAllowed", held, "its account or partition may not use the QOS"},
	{"QOSUsageThreshold", held, "its account has used too much for the QOS"},
	{"QOS*", held, "it is at a limit of its QOS"},
	{"Assoc*", held, "it is at a limit of its user or account"},
	{"Max*PerAccount", held, "its account is at a limit of the QOS"},
	{"MaxMemPerLimit", held, "it asks for more memory than it may have"},
	{"Licenses", held, "a licence is not free"},
	{"Reservation", reserved, "it waits for its reservation"},
	{"ReservationDeleted", held, "its reservation is gone"},
	{"ReservationInvalid", held, "its reservation is not valid"},
	{"BurstBufferResources", held, "the burst buffer is full"},
	{"BurstBufferOperation", held, "an operation of the burst buffer has failed"},
	{"PowerNotAvail", held, "there is not enough power"},
	{"PowerReserved", held, "there is not enough power beside a reservation"},
	{"FrontEndDown", held, "no front end is up"},
	{"DeadLine", held, "it cannot meet its deadline"},
	{"Invalid*", held, "something that it asks for is not valid"},
	{"Bad*", held, "something that it asks for cannot be had"},
}

// matches reports whether a reason is the cause's, in upper or lower case. A star stands for
// any letters.
func (c *cause) matches(reason string) bool {
	rest, first := strings.ToLower(reason), true
	for piece := range strings.SplitSeq(strings.ToLower(c.word), "*") {
		i := strings.Index(rest, piece)
		if i < 0 || first && i > 0 {
			return false
		}
		rest, first = rest[i+len(piece):], false
	}
	return rest == "" || strings.HasSuffix(c.word, "*")
}

// causeOf returns the cause for a reason as Slurm prints it, such as
// "ReqNodeNotAvail, UnavailableNodes:n[1-2]".
func causeOf(reason string) cause {
	word, _, _ := strings.Cut(strings.Trim(reason, "()"), ",")
	word, _, _ = strings.Cut(word, "(")
	if word = strings.TrimSpace(word); word == "" {
		return cause{"None", ready, ""}
	}
	for i := range causes {
		if causes[i].matches(word) {
			return causes[i]
		}
	}
	return cause{word, unheardOf, ""}
}

// Why says in words why a waiting job of a look has not started, "" if its reason is not known.
func Why(j *grid.ManagedJob) string { return causeOf(j.Why).says }

// AtLimit reports whether a waiting job of a look is held by a limit of its QOS, its user or its
// account, which the ends of others may free.
func AtLimit(j *grid.ManagedJob) bool {
	switch causeOf(j.Why).word {
	case "QOS*", "Assoc*", "Max*PerAccount", "AccountingPolicy":
		return true
	}
	return false
}

// Elsewhere reports whether a waiting job of a look waits for nodes that are reserved, in use or not
// up, and names none of its own: any others will do.
func Elsewhere(j *grid.ManagedJob) bool {
	return causeOf(j.Why).word == "ReqNodeNotAvail" && j.Required == "" && j.Features == ""
}

// Known reports whether the reason of a waiting job is one of Slurm's documentation. A job with
// another counts as ready.
func Known(j *grid.ManagedJob) bool { return causeOf(j.Why).treat != unheardOf }
