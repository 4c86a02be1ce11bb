package workload

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// fields reads the columns that are fields of SWF and nothing else.
func (t *table) fields(r *Record) string {
	for f, i := range t.field {
		if i < 0 || absent(t.cells[i]) {
			continue
		}
		if sentinel(t.cells[i]) {
			t.told[i]++
			continue
		}
		n, ok := parseNumber([]byte(t.cells[i]))
		if !ok {
			return fmt.Sprintf("%v %.30q is not a number of at most %d digits", Field(f), t.cells[i], maxDigits)
		}
		r[f] = n
	}
	return ""
}

// statusOf are the states of Slurm's jobs, short as squeue has them and long, those of
// others, and what they are in SWF; unended if the job had not ended.
var statusOf = sync.OnceValue(func() map[string]int64 {
	all := map[string]int64{}
	for status, words := range map[int64]string{
		1:        "COMPLETED CD COMPLETE COMPLETED_SUCCESSFULLY SUCCESS SUCCEEDED DONE FINISHED TRUE",
		5:        "CANCELLED CA CANCELED PREEMPTED PR REVOKED RV COMPLETED_KILLED REJECTED ABORTED DELETED REMOVED",
		0:        "FAILED F TIMEOUT TO NODE_FAIL NF OUT_OF_MEMORY OOM BOOT_FAIL BF DEADLINE DL LAUNCH_FAILED RECONFIG_FAIL COMPLETED_FAILED COMPLETED_WALLTIME_REACHED EXIT EXITED ERROR KILLED FALSE",
		unended:  "PENDING PD RUNNING R SUSPENDED S CONFIGURING CF COMPLETING CG SIGNALING SI STAGE_OUT SO STOPPED ST QUEUED SUBMITTED WAITING HELD",
		requeued: "REQUEUED RQ REQUEUE_FED RF REQUEUE_HOLD RH RESIZING RS SPECIAL_EXIT SE",
	} {
		for w := range strings.FieldsSeq(words) {
			all[w] = status
		}
	}
	return all
})

const (
	unended  = -2
	requeued = -3 // ended if it has an end: another row has the next run
)

// status reads how a job ended, and passes over jobs that had not ended.
func (t *table) status(r *Record) string {
	c := t.word(roleState)
	if n, ok := parseNumber([]byte(c)); ok && t.swfStatus() {
		r[Status] = n
		return t.ended()
	}
	word, _, _ := strings.Cut(c, " ") // CANCELLED by 1000
	status, ok := statusOf()[strings.TrimRight(strings.ToUpper(word), "+")]
	switch {
	case c == "":
		return t.ended()
	case !ok:
		if len(t.states) < maxListed || t.states[c] > 0 {
			t.states[strings.Clone(c)]++
		} else {
			t.states["others"]++
		}
	case status == unended:
		return t.unended()
	case status == requeued && !t.hasEnd():
		return t.unended()
	case status == requeued:
		r[Status] = Int(5)
	default:
		r[Status] = Int(status)
	}
	return ""
}

// swfStatus reports whether the current record's status is a number as in SWF. Numbers in a
// column of states are codes of another program.
func (t *table) swfStatus() bool {
	_, s := t.cell(roleState)
	name := plain(t.names[s.place])
	return name == "status" || name == "success"
}

// hasEnd reports whether the current record says when its job ended.
func (t *table) hasEnd() bool {
	c := t.word(roleEnd)
	return c != "" && c != "0"
}

// ended passes over a job without a state that has begun and has no end, in a table with a
// column for it.
func (t *table) ended() string {
	start := t.word(roleStart)
	if len(t.from[roleEnd]) > 0 && !t.hasEnd() && start != "" && start != "0" {
		return t.unended()
	}
	return ""
}

// unended notes a job that had not ended. Another dump may have its end.
func (t *table) unended() string {
	if !t.known() {
		t.tally.unended++
		return passed
	}
	key := t.key
	key.word, key.cluster = strings.Clone(key.word), strings.Clone(key.cluster)
	c, s := t.cell(roleSubmit)
	if at, n := t.instant(c, s.unit); n > 0 {
		key.submit = at[0]
	}
	t.open[key] = true
	return passed
}

// sizes reads the numbers of processors. Where they are unknown it takes the nodes instead.
func (t *table) sizes(r *Record) string {
	for _, of := range [...]struct {
		field             Field
		cpus, tres, nodes role
	}{
		{AllocatedProcessors, roleProcs, roleProcsTRES, roleProcsNodes},
		{RequestedProcessors, roleReq, roleReqTRES, roleReqNodes},
	} {
		c := t.word(of.cpus)
		if c == "" {
			c = cpus(t.word(of.tres))
		}
		if c == "" {
			if n, s := t.cell(of.nodes); n != "" {
				if _, ok := count(n); !ok { // a list of their names, for one
					t.unread[s.place]++
					continue
				}
				c = n
			}
		}
		if c == "" {
			continue
		}
		n, ok := count(c)
		if !ok {
			return fmt.Sprintf("%v %.30q is not a whole number", of.field, c)
		}
		if n.Whole() > 0 { // 0: none were allocated, or it is not known
			r[of.field] = n
		}
	}
	return ""
}

// gpus reads the number of GPUs, of all nodes together. A number that cannot be read is passed
// over and noted.
func (t *table) gpus(r *Record) string {
	c, s := t.cell(roleGPUs)
	for _, tres := range [...]role{roleProcsTRES, roleReqTRES} {
		if c == "" {
			var text string
			text, s = t.cell(tres)
			c = gpusIn(text)
		}
	}
	if c == "" {
		return ""
	}
	if n, ok := count(c); ok && !n.beyond(maxProcessors) {
		r[GPUCount] = n
	} else {
		t.unread[s.place]++
	}
	return ""
}

// gpusIn returns the number of GPUs in "cpu=4,gres/gpu=2,gres/gpu:a100=2", "" if there is none.
// If only kinds of GPUs are counted, it is their sum.
func gpusIn(tres string) string {
	sum, kinds := int64(0), false
	for part := range strings.SplitSeq(tres, ",") {
		name, n, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case name == "gres/gpu" && !sentinel(n):
			return n
		case strings.HasPrefix(name, "gres/gpu:"):
			if k, ok := count(n); ok {
				sum, kinds = sum+k.Whole(), true
			}
		}
	}
	if !kinds {
		return ""
	}
	return strconv.FormatInt(sum, 10)
}

// count reads a number of nodes or processors as Slurm prints it: 2K is 2048, 4-8 at
// least 4.
func count(c string) (Number, bool) {
	c, _, _ = strings.Cut(strings.TrimSpace(c), "-")
	factor := int64(1)
	if c != "" {
		if i := strings.IndexByte("KMGkmg", c[len(c)-1]); i >= 0 {
			factor = 1 << (10 * (i%3 + 1))
			c = c[:len(c)-1]
		}
	}
	n, ok := parseNumber([]byte(c))
	switch {
	case !ok || n.mantissa() < 0 || n.beyond(maxSeconds):
		return Unknown, false
	case factor == 1:
		return n, true
	case n.beyond(1 << 20):
		return Unknown, false
	}
	return Int(n.Millis() * factor / 1000), true
}

// cpus returns the number of processors in "billing=4,cpu=4,node=1", "" if there is none.
func cpus(tres string) string {
	for part := range strings.SplitSeq(tres, ",") {
		if n, ok := strings.CutPrefix(strings.TrimSpace(part), "cpu="); ok && !sentinel(n) {
			return n
		}
	}
	return ""
}

// named reads the columns that have words.
func (t *table) named(r *Record) string {
	for i, role := range [...]role{roleUser, roleGroup, roleName, roleQueue, rolePartition} {
		c := strings.Join(strings.Fields(t.word(role)), "_") // a word
		if c == "" {
			continue
		}
		n, why := t.words.number(i, []byte(c))
		if why != "" {
			return why
		}
		r[gridWords+i] = n
	}
	return ""
}
