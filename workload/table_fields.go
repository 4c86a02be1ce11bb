package workload

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// fields reads the columns with the SWF name and number of a field.
func (t *table) fields(r *Record) string {
	for f := range r {
		if f >= int(UserID) && f <= int(PartitionNumber) {
			continue // these may be words
		}
		c := t.cell(Field(f).String())
		if c == "" {
			continue
		}
		n, ok := parseNumber([]byte(c))
		if !ok {
			return fmt.Sprintf("%v %.30q is not a number of at most %d digits", Field(f), c, maxDigits)
		}
		r[f] = n
	}
	return ""
}

// status passes over jobs that had not ended.
func (t *table) status(r *Record) string {
	state, _, _ := strings.Cut(t.cell("State"), " ") // CANCELLED by 1000
	switch state {
	case "":
	case "COMPLETED":
		r[Status] = Int(1)
	case "CANCELLED", "PREEMPTED", "REVOKED":
		r[Status] = Int(5)
	case "PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING", "CONFIGURING", "COMPLETING":
		t.unended++
		return passed
	default: // FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY, ...
		r[Status] = Int(0)
	}
	return ""
}

// sizes reads the numbers of processors. Where they are unknown it takes the nodes instead.
func (t *table) sizes(r *Record) string {
	for _, of := range [...]struct {
		field             Field
		cpus, tres, nodes []string
	}{
		{AllocatedProcessors, []string{"AllocCPUS", "NCPUS"}, []string{"AllocTRES"}, []string{"AllocNodes", "NNodes"}},
		{RequestedProcessors, []string{"ReqCPUS"}, []string{"ReqTRES"}, []string{"ReqNodes"}},
	} {
		c := t.cell(of.cpus...)
		if c == "" {
			c = cpus(t.cell(of.tres...))
		}
		if c = cmp.Or(c, t.cell(of.nodes...)); c == "" {
			continue
		}
		n, ok := parseNumber([]byte(c))
		if !ok || n.mantissa() < 0 {
			return fmt.Sprintf("%v %.30q is not a whole number", of.field, c)
		}
		if n.Whole() > 0 { // 0: none were allocated, or it is not known
			r[of.field] = n
		}
	}
	return ""
}

// cpus returns the number of processors in "billing=4,cpu=4,node=1", "" if there is none.
func cpus(tres string) string {
	for part := range strings.SplitSeq(tres, ",") {
		if n, ok := strings.CutPrefix(part, "cpu="); ok {
			return n
		}
	}
	return ""
}

// times reads when a job was submitted, began and ended, and its time limit.
func (t *table) times(r *Record) string {
	var at [4]int64
	for i, name := range [...]string{"Submit", "Eligible", "Start", "End"} {
		c, ok := t.cell(name), true
		if at[i] = -1; c != "" {
			at[i], ok = t.instant(c)
		}
		if !ok {
			return fmt.Sprintf("%s %.30q is no time; must be as 2026-01-31T12:00:00, or seconds since 1970", name, c)
		}
	}
	submit, start, end := max(at[0], at[1]), at[2], at[3]
	if submit >= 0 {
		r[SubmitTime] = Millis(submit)
	}
	if submit >= 0 && start >= 0 {
		r[WaitTime] = Millis(max(start-submit, 0))
	}
	if start >= 0 && end >= start {
		r[RunTime] = Millis(end - start)
	}
	for _, of := range [...]struct {
		field Field
		name  string
		unit  int64 // of a number, ms
	}{{RunTime, "Elapsed", 1000}, {RunTime, "ElapsedRaw", 1000}, {RequestedTime, "Timelimit", 60_000}, {RequestedTime, "TimelimitRaw", 60_000}} {
		c := t.cell(of.name)
		if c == "" || c == "UNLIMITED" || c == "Partition_Limit" {
			continue
		}
		d, ok := length(c, of.unit)
		if !ok {
			return fmt.Sprintf("%s %.30q is no length of time; must be as 1-12:00:00, or a number", of.name, c)
		}
		r[of.field] = Millis(d)
	}
	return ""
}

// layouts are the formats of times.
var layouts = [...]string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339Nano, "2006-01-02 15:04:05Z07:00"}

// instant parses a time, in ms since 1970.
func (t *table) instant(c string) (int64, bool) {
	if n, ok := parseNumber([]byte(c)); ok {
		return n.Millis(), n.mantissa() >= 0
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, c, t.zone); err == nil {
			return at.UnixMilli(), at.Unix() >= 0
		}
	}
	return 0, false
}

// length parses a length of time, in ms: [[DAYS-]HOURS:]MINUTES:SECONDS, or a number of
// units.
func length(c string, unit int64) (int64, bool) {
	if n, ok := parseNumber([]byte(c)); ok {
		ms := n.Millis()
		return ms * (unit / 1000), n.mantissa() >= 0 && ms < int64(maxSeconds)*1000
	}
	days, clock, ok := strings.Cut(c, "-")
	if !ok {
		days, clock = "0", c
	}
	total, err := strconv.ParseInt(days, 10, 32)
	parts := strings.Split(clock, ":")
	if err != nil || total < 0 || len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	if len(parts) == 2 {
		parts = append([]string{"0"}, parts...)
	}
	last := len(parts) - 1
	seconds, ok := parseNumber([]byte(parts[last]))
	if !ok || seconds.mantissa() < 0 || seconds.Millis() >= 61_000 {
		return 0, false
	}
	total *= 24
	for _, part := range parts[:last] {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return 0, false
		}
		total += int64(n)
		total *= 60
	}
	return total*1000 + seconds.Millis(), true
}

// named reads the columns that have words.
func (t *table) named(r *Record) string {
	for i, names := range [...][]string{{"User", "UID", "user id"}, {"Group", "Account", "group id"}, {"JobName", "executable"}, {"QOS", "queue"}, {"Partition"}} {
		c := strings.Join(strings.Fields(t.cell(names...)), "_") // a word
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
