package workload

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A role is what a column of a table is read for. Those with a name may be given to a column
// by the caller (ParseMap).
type role int

const (
	roleID role = iota // as users know it; steps of jobs are known by it
	roleNumber
	roleCluster
	roleSubmit
	roleEligible
	roleStart
	roleEnd
	roleWait
	roleRun
	roleEstimate
	roleProcs // allocated
	roleProcsTRES
	roleProcsNodes
	roleReq // requested processors
	roleReqTRES
	roleReqNodes
	roleGPUs
	roleState
	roleUser
	roleGroup
	roleName
	roleQueue
	rolePartition
	roleField // a field of SWF that no other role fills
	roles
)

// roleNames are the words of ParseMap.
var roleNames = map[string]role{
	"job": roleID, "submit": roleSubmit, "start": roleStart, "end": roleEnd, "wait": roleWait, "run": roleRun, "estimate": roleEstimate,
	"nodes": roleProcs, "gpus": roleGPUs, "status": roleState, "user": roleUser, "group": roleGroup, "name": roleName, "queue": roleQueue, "partition": rolePartition,
}

// tableColumn is a column that is read. Its names are the same in any case, and with or
// without blanks and underscores. The first is sacct's, or that of SWF.
type tableColumn struct {
	role  role
	names string // parted by blanks; "_" is none
	unit  int64  // of a number, ms
	is    string
}

// tableColumns lists the columns. Of those of one role the first with a value counts, in
// this order.
var tableColumns = []tableColumn{
	{roleNumber, "JobIDRaw", 0, "job number"},
	{roleID, "JobID job ID", 0, "job number where JobIDRaw is not there; steps are known by it"},
	{roleNumber, "job_number", 0, "job number"},
	{roleCluster, "Cluster cluster_name", 0, "cluster, within which job numbers count"},
	{roleSubmit, "Submit submit_time submission_time time_submit subtime submitted submitted_at arrival arrival_time QDate ctime", 1000, "submit time"},
	{roleEligible, "Eligible eligible_time time_eligible", 1000, "submit time where later than Submit"},
	{roleStart, "Start start_time starting_time time_start started started_at JobCurrentStartDate", 1000, "wait time, from submit on"},
	{roleEnd, "End end_time finish_time time_end ended ended_at finished CompletionDate completion_time", 1000, "run time where Elapsed is not there"},
	{roleWait, "wait_time waiting_time", 1000, "wait time where no column has the start"},
	{roleRun, "ElapsedRaw", 1000, "run time"},
	{roleRun, "Elapsed", 1000, "run time where ElapsedRaw is not there"},
	{roleRun, "run_time run execution_time duration elapsed_time time_elapsed RemoteWallClockTime", 1000, "run time"},
	{roleEstimate, "TimelimitRaw", 60_000, "requested time, in minutes"},
	{roleEstimate, "Timelimit", 60_000, "requested time where TimelimitRaw is not there"},
	{roleEstimate, "requested_time estimate requested_walltime walltime req_walltime time_req", 1000, "requested time"},
	{roleProcs, "AllocCPUS", 0, "allocated processors"},
	{roleProcs, "NCPUS", 0, "allocated processors where AllocCPUS is not there"},
	{roleProcs, "allocated_processors num_cpus cpus cpus_alloc cores num_cores ncores procs processors nproc slots", 0, "allocated processors"},
	{roleProcsTRES, "AllocTRES tres_alloc_str tres_alloc", 0, "allocated processors by cpu=, where no column has them"},
	{roleProcsNodes, "AllocNodes", 0, "allocated processors where none are known"},
	{roleProcsNodes, "NNodes num_nodes nodes nodes_alloc node_count", 0, "allocated processors where none are known, nor AllocNodes"},
	{roleReq, "ReqCPUS requested_processors cpus_req requested_number_of_processors requested_number_of_resources RequestCpus res", 0, "requested processors"},
	{roleReqTRES, "ReqTRES tres_req_str tres_req", 0, "requested processors by cpu=, where ReqCPUS is not there"},
	{roleReqNodes, "ReqNodes requested_nodes nodes_req", 0, "requested processors where none are known"},
	{roleGPUs, "AllocGPUs gpus num_gpus ngpus gpus_alloc allocated_gpus requested_gpus gpus_req gpu_count RequestGPUs", 0, "GPUs; else those of AllocTRES, or of ReqTRES"},
	{roleState, "State job_state final_state st", 0, "status; jobs that had not ended are left out"},
	{roleState, "status success", 0, "status, as a word or as in SWF"},
	{roleUser, "User user_name Owner", 0, "user"},
	{roleUser, "UID user_id id_user", 0, "user where User is not there"},
	{roleGroup, "Group group_name", 0, "group"},
	{roleGroup, "Account group_id gid id_group", 0, "group where Group is not there"},
	{roleName, "JobName executable name", 0, "executable"},
	{roleQueue, "QOS queue queue_name", 0, "queue"},
	{rolePartition, "Partition partition_name", 0, "partition"},
	{roleField, "average_CPU_time", 0, "average CPU time"},
	{roleField, "used_memory", 0, "used memory"},
	{roleField, "requested_memory", 0, "requested memory"},
	{roleField, "preceding_job", 0, "preceding job"},
	{roleField, "think_time", 0, "think time"},
}

// knownColumns are the columns by plain name. The map is made when it is first used, as few
// commands read a table.
var knownColumns = sync.OnceValue(func() map[string]int {
	known := map[string]int{}
	for i, c := range tableColumns {
		for name := range strings.FieldsSeq(c.names) {
			if _, twice := known[plain(name)]; !twice {
				known[plain(name)] = i
			}
		}
	}
	return known
})

// plain returns a column's name in lower case, without blanks, underscores and hyphens.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '_' || c == '-' || c == '\t' {
			return -1
		}
		return c
	}, strings.ToLower(name))
}

// Mapped says what a column of a table is, by its name.
type Mapped struct {
	Column string
	role   role
	word   string // of the role
	unit   int64  // of its numbers, ms; 0: as the role has it
}

// MapForm is how a map is written, for messages.
const MapForm = "submit=COLUMN,nodes=COLUMN,run=COLUMN"

// units are the suffixes of a mapped column.
var units = map[string]int64{"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}

// ParseMap reads "submit=Submit,run=Elapsed,nodes=Cores,estimate=Limit:min": what each
// column is, and the unit of its numbers if that is not a second. Behind a colon that is no unit
// the column's name goes on, as in "Elapsed (HH:MM:SS)".
func ParseMap(text string) ([]Mapped, error) {
	var list []Mapped
	for part := range strings.SplitSeq(text, ",") {
		word, name, ok := strings.Cut(part, "=")
		word, name = strings.TrimSpace(word), strings.TrimSpace(name)
		if !ok || word == "" || name == "" {
			return nil, fmt.Errorf("%q: must be such as %s", part, MapForm)
		}
		r, ok := roleNames[word]
		if !ok {
			return nil, fmt.Errorf("%q is nothing that a column can be; must be one of %s", word, strings.Join(mapWords(), ", "))
		}
		m := Mapped{Column: name, role: r, word: word}
		if i := strings.LastIndexByte(name, ':'); i > 0 && units[name[i+1:]] > 0 {
			if r < roleSubmit || r > roleEstimate {
				return nil, fmt.Errorf("%q: only times have a unit", part)
			}
			m.Column, m.unit = name[:i], units[name[i+1:]]
		}
		for _, other := range list {
			if other.role == r {
				return nil, fmt.Errorf("%s is given twice, as %s and as %s", word, other.Column, m.Column)
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// mapWords lists the words of ParseMap, in the order of the roles.
func mapWords() []string {
	words := make([]string, 0, len(roleNames))
	for w := range roleNames {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int { return int(roleNames[a]) - int(roleNames[b]) })
	return words
}
