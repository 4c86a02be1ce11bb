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
	dated      = 100_000_000 // seconds: a clock that begins later shows calendar time
)

// tableColumns are the columns of sacct that are read, and what each is read for.
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

// passed says that a line is not a job's record, which is no flaw.
const passed = "passed over"

// table reads records by the names of their columns.
type table struct {
	words vocabulary
	names []string       // the columns as the file has them
	index map[string]int // their places by plain name
	cells []string       // of the current record
	zone  *time.Location // of times that state none

	steps, unended int
	unnumbered     bool // not every job has a unique number
	numbers        map[int64]bool
}

// plain returns a column's name in lower case, without blanks and underscores.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '_' {
			return -1
		}
		return c
	}, strings.ToLower(name))
}

// head reads the names of the columns.
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

// cell returns the first value that is not empty among the given columns of the record.
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

// parse reads a line, or the current cells if line is nil, into a record.
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

// finish sets the clock and the job numbers, and notes what was read.
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

// counted returns "1 job" or "2 jobs".
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// columnIs reports whether sacct has a column of that name.
func columnIs(name string) bool {
	for _, c := range tableColumns {
		if plain(c.Name) == plain(name) {
			return true
		}
	}
	return false
}
