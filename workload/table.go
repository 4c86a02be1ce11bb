package workload

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A table is a log with the names of its columns in the first line: the output of Slurm's
// sacct with --parsable2 (or --parsable), with any choice and order of columns, or the same
// as Parquet. A column may also have the SWF name of its field, as submit_time or "submit
// time", with numbers as in SWF. Case does not matter.
//
// The clock of the trace begins at its earliest submission, which the header has as
// UnixStartTime. A job that was not eligible when submitted (as it waited for another job,
// or for a time) counts as submitted when it became eligible, since until then it did not
// wait for nodes. Steps of jobs, and jobs that had not ended, are left out.

const (
	maxColumns = 512
	dated      = 100_000_000 // seconds: a clock that begins later is of the calendar's
)

// tableColumns are the columns of sacct that are read, with what they are read for.
var tableColumns = [...]struct{ Name, Is string }{
	{"JobIDRaw", "job number"},
	{"JobID", "job number where JobIDRaw is not there; steps are known by it"},
	{"Submit", "submit time"},
	{"Eligible", "submit time where later than Submit"},
	{"Start", "wait time, from submit on"},
	{"End", "run time where Elapsed is not there"},
	{"ElapsedRaw", "run time"},
	{"Elapsed", "run time where ElapsedRaw is not there"},
	{"TimelimitRaw", "requested time, in minutes"},
	{"Timelimit", "requested time where TimelimitRaw is not there"},
	{"AllocCPUS", "allocated processors"},
	{"NCPUS", "allocated processors where AllocCPUS is not there"},
	{"AllocTRES", "allocated processors by cpu=, where no column has them"},
	{"AllocNodes", "allocated processors where none are known"},
	{"NNodes", "allocated processors where none are known, nor AllocNodes"},
	{"ReqCPUS", "requested processors"},
	{"ReqTRES", "requested processors by cpu=, where ReqCPUS is not there"},
	{"ReqNodes", "requested processors where none are known"},
	{"State", "status; jobs that had not ended are left out"},
	{"User", "user"},
	{"UID", "user where User is not there"},
	{"Group", "group"},
	{"Account", "group where Group is not there"},
	{"JobName", "executable"},
	{"QOS", "queue"},
	{"Partition", "partition"},
}

// passed says that a line is a record of something else, and no flaw.
const passed = "passed over"

// table reads records by the names of their columns.
type table struct {
	words vocabulary
	names []string       // the columns as the file has them
	index map[string]int // their places by plain name
	cells []string       // of the record in hand
	zone  *time.Location // of times that say none

	steps, unended int
	unnumbered     bool // not every job has a unique number
	numbers        map[int64]bool
}

// plain is a column's name without case, blanks and underscores.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '_' {
			return -1
		}
		return c
	}, strings.ToLower(name))
}

// head takes the names of the columns.
func (t *table) head(names []string) error {
	if n := len(names); n > 0 && names[n-1] == "" {
		names = names[:n-1] // --parsable ends its lines with a bar
	}
	if len(names) > maxColumns {
		return fmt.Errorf("has %d columns, must have %d at most", len(names), maxColumns)
	}
	t.names, t.index, t.numbers = names, map[string]int{}, map[int64]bool{}
	for i, name := range names {
		key := plain(name)
		if _, twice := t.index[key]; twice {
			return fmt.Errorf("has the column %.40q twice", name)
		}
		t.index[key] = i
	}
	if !t.has("Submit") && !t.has(SubmitTime.String()) && !t.has("Eligible") {
		return fmt.Errorf("names no column Submit in its first line, %.60q; sacct --parsable2 prints the names unless --noheader is given", strings.Join(names, "|"))
	}
	return nil
}

func (t *table) has(name string) bool {
	_, ok := t.index[plain(name)]
	return ok
}

// cell is what the record says in the first of the columns that says something.
func (t *table) cell(names ...string) string {
	for _, name := range names {
		if i, ok := t.index[plain(name)]; ok {
			switch c := t.cells[i]; c {
			case "", "None", "Unknown", "N/A", nothing:
			default:
				return c
			}
		}
	}
	return ""
}

// parse reads a line, or the present cells if line is nil, into a record.
func (t *table) parse(r *Record, line []byte) (why string) {
	if line != nil {
		t.cells = strings.Split(string(bytes.TrimRight(line, "\r")), "|")
		if n := len(t.cells); n == len(t.names)+1 && t.cells[n-1] == "" {
			t.cells = t.cells[:n-1]
		}
	}
	if len(t.cells) != len(t.names) {
		return fmt.Sprintf("has %d columns, must have the %d that the first line names", len(t.cells), len(t.names))
	}
	id := t.cell("JobID", "JobIDRaw")
	if strings.Contains(id, ".") {
		t.steps++
		return passed
	}
	for f := range r {
		r[f] = Unknown
	}
	for _, read := range [...]func(*Record) string{t.fields, t.status, t.sizes, t.times, t.named} {
		if why := read(r); why != "" {
			return why
		}
	}
	if number, err := strconv.ParseInt(cmp.Or(t.cell("JobIDRaw"), id), 10, 64); err == nil && number >= 0 && number < maxMantissa && !t.numbers[number] {
		t.numbers[number] = true
		r[JobNumber] = Int(number)
	} else if r[JobNumber] == Unknown {
		t.unnumbered = true
	}
	return ""
}

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

// sizes reads the processors; nodes stand for them where they are not known.
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

// cpus is the number of processors of "billing=4,cpu=4,node=1", "" if it says none.
func cpus(tres string) string {
	for part := range strings.SplitSeq(tres, ",") {
		if n, ok := strings.CutPrefix(part, "cpu="); ok {
			return n
		}
	}
	return ""
}

// times reads when a job came, began and ended, and what it asked for.
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

// layouts are those that times have.
var layouts = [...]string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339Nano, "2006-01-02 15:04:05Z07:00"}

// instant is a time in ms since 1970.
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

// length is a length of time in ms: [[DAYS-]HOURS:]MINUTES:SECONDS, or a number of
// units.
func length(c string, unit int64) (int64, bool) {
	if n, ok := parseNumber([]byte(c)); ok {
		ms := n.Millis()
		return ms / 1000 * unit, n.mantissa() >= 0 && ms < int64(maxSeconds)*1000
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

// named reads the columns of words.
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

// finish sets the clock and the numbers, and says what was read.
func (t *table) finish(trace *Trace) {
	t.words.finish(trace)
	trace.order()
	base := trace.Records[0][SubmitTime].Millis() / 1000
	if base >= dated {
		trace.Header.Add("UnixStartTime", strconv.FormatInt(base, 10))
		trace.Header.Add("TimeZoneString", t.zone.String())
	}
	for i := range trace.Records {
		r := &trace.Records[i]
		if base >= dated {
			r[SubmitTime] = Millis(r[SubmitTime].Millis() - base*1000)
		}
		if t.unnumbered {
			r[JobNumber] = Int(int64(i) + 1)
		}
	}
	trace.Notes = t.notes(trace.Name)
}

// notes say what each column was read for, and what was left out.
func (t *table) notes(name string) (lines []string) {
	known := map[string]bool{}
	for _, c := range tableColumns {
		if known[plain(c.Name)] = true; t.has(c.Name) {
			lines = append(lines, fmt.Sprintf("%s: column %s: %s", name, c.Name, c.Is))
		}
	}
	for f := range fields {
		if known[plain(f.String())] = true; t.has(f.String()) && !columnIs(f.String()) {
			lines = append(lines, fmt.Sprintf("%s: column %s: %v", name, t.names[t.index[plain(f.String())]], f))
		}
	}
	var other []string
	for _, c := range t.names {
		if !known[plain(c)] {
			other = append(other, c)
		}
	}
	if len(other) > 0 {
		lines = append(lines, fmt.Sprintf("%s: not read: %s", name, strings.Join(other, ", ")))
	}
	if t.steps > 0 {
		lines = append(lines, fmt.Sprintf("%s: %s of jobs left out", name, counted(t.steps, "step")))
	}
	if t.unended > 0 {
		lines = append(lines, fmt.Sprintf("%s: %s left out that had not ended", name, counted(t.unended, "job")))
	}
	if t.unnumbered {
		lines = append(lines, name+": not every job has a number of its own; they are numbered from 1 by submit")
	}
	return lines
}

// counted is "1 job", or "2 jobs".
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// columnIs reports whether a name is one of sacct's.
func columnIs(name string) bool {
	for _, c := range tableColumns {
		if plain(c.Name) == plain(name) {
			return true
		}
	}
	return false
}
