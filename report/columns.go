package report

// Column is a column of jobs.csv, and what it says.
type Column struct{ Name, Says string }

// columns are those of jobs.csv.
var columns = []Column{
	{"broker", "the VO's broker; empty for a local job"},
	{"site", "where the job or leg ran; empty for a VO job that was never placed"},
	{"job", "its name, unique at its broker; of a local job its number at its site"},
	{"kind", "`local` or `vo`"},
	{"submit", "when it was submitted, in seconds from the scenario's zero"},
	{"start", "when it started; for a leg that does not run yet, its reserved start; empty if it never ran"},
	{"end", "when it really ended; empty if it still runs or never ran"},
	{"nodes", "how many nodes it has, or asks for"},
	{"cost", "credits charged for the leg, net of refunds and penalties; 0 for a local job. The rows of a broker add up to what it has spent"},
	{"status", "a local job is `waiting`, `running`, `ended`, `killed` at its estimate, or `refused`; a VO job that was never placed `waiting`, `abandoned` or `withdrawn`; " +
		"a leg `confirmed`, `running`, `ended`, `failed`, `expired`, `heuristic` (released in doubt), `released` or `lost`"},
	{"reason", "the code of the last refusal; of a leg whose work failed `failed`"},
	{"group", "the group of nodes"},
	{"class", "of a local job: `immediate`, `backfilled` or `reserved`"},
	{"became", "of a leg: `kept` in its job's last window; `given-up` or `lost` with nothing in its place; `moved` if another window took its place; `repaired` if it was lost and another leg took its place; `replaced` if its window broke and the job was placed anew. Rows but of the last window are there if they cost something, and follow it"},
}

// windowColumns follow if any job of the run is flexible.
var windowColumns = []Column{
	{"opens", "earliest start of a flexible leg"},
	{"closes", "latest end of a flexible leg"},
	{"version", "of the leg: 1, plus one for each change by its user"},
	{"shifts", "how often its site has moved or fixed it"},
	{"paid", "credits that the job has paid so far for this leg and those before it, net of refunds"},
}

// partColumn follows if any job of the run has parts.
var partColumn = Column{"part", "of a job of parts: the part that the leg carries"}

// portionColumns come last if any job of the run asks for less than whole nodes.
var portionColumns = []Column{
	{"gpus", "GPUs that the job, or its part, asks for of each node; empty if it names none, as in the next two"},
	{"cores", "cores that it asks for of each node"},
	{"memory", "bytes of memory that it asks for of each node"},
	{"slices", "slices that the leg takes of each node; empty if it takes all of it"},
	{"of", "how many slices such a node has"},
}

// EvalysColumns are those of an export to evalys: of evalys.jobset.JobSet, then ours.
var EvalysColumns = []Column{
	{"jobID", "`SITE/NUMBER` of a local job, `VO/JOB.LEG` of a leg of a VO's job, `VO/JOB.PART.LEG` if it carries a part"},
	{"workload_name", "the owner of the job: its site, or the VO"},
	{"submission_time", "when it was submitted; if only a site's journal is read, when the site first heard of the leg"},
	{"requested_number_of_resources", "its nodes"},
	{"requested_time", "estimated or reserved run time"},
	{"success", "1 if it ended by itself, 0 if it was killed, released or lost, or still runs"},
	{"starting_time", "when it began"},
	{"execution_time", "how long it had its nodes; if it still runs, until the end of the run"},
	{"finish_time", "when it ended"},
	{"waiting_time", "from submission to start"},
	{"turnaround_time", "from submission to end"},
	{"stretch", "turnaround_time / execution_time; empty if it took no time"},
	{"allocated_resources", "its nodes as an interval set, such as `0-7 12`, numbered over all groups of all sites, in their order; empty if jobs share nodes"},
	{"site", "where it ran"},
	{"group", "the group of nodes"},
	{"status", "as in jobs.csv"},
}

// Heads are the names of columns.
func Heads(list []Column) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name
	}
	return names
}
