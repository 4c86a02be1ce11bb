package workload

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bourse-grid/bourse/grid"
)

// A table is a log with the names of its columns in the first line: the output of Slurm's
// sacct with --parsable2 (or --parsable), with any choice and order of columns, the same as
// Parquet, or what another program writes with names that tableColumns has or the caller
// maps. Columns are parted by bars, tabs, semicolons or commas.
//
// The clock of the trace begins at its earliest submission, which the header has as
// UnixStartTime. A job that was not eligible when submitted (as it waited for another job,
// or for a time) counts as submitted when it became eligible, since until then it did not
// wait for nodes. Steps of jobs, and jobs that had not ended, are left out. Rows alike in
// number, submit and start are one job, as dumps of neighbouring months overlap; of two the
// longer run counts. A job that was requeued has a row for each of its runs.

const (
	maxColumns = 512
	maxListed  = 30          // names in a message
	dated      = 100_000_000 // seconds: a clock that begins later shows calendar time
)

// passed says that a line is not a job's record, which is no flaw.
const passed = "passed over"

// table reads records by the names of their columns.
type table struct {
	words     vocabulary
	mapped    []Mapped
	delim     string          // between columns
	names     []string        // the columns as the file has them
	index     map[string]int  // their places by plain name
	titleLine []byte          // the line of names
	from      [roles][]source // what is read for each role, the first with a value
	field     [standard]int   // places of the columns that are fields of SWF alone, -1 for none
	cells     []string        // of the current record
	zone      *time.Location  // of times that state none
	key       jobKey          // of the current record
	seen      map[jobKey]int  // the records by what tells jobs apart
	open      map[jobKey]bool // jobs that had not ended when the dump was made
	told      [maxColumns]int // values of a column that say that there is none
	unread    [maxColumns]int // values of a column that cannot be read
	states    map[string]int  // words of no known state
	tally     tableTally      // of the rows
	number    map[int64]bool  // job numbers taken
}

// source is a column that is read for a role.
type source struct {
	place int
	unit  int64 // of a number, ms
	is    string
}

// tableTally counts rows, and times, by what became of them.
type tableTally struct {
	steps      int
	headers    int // lines of names after the first
	repeats    int // rows of a job that another row has
	unended    int // without a number; the others are in open
	lengthless int // ended, and nothing says how long they ran
	early      int // start before their submit
	reversed   int // end before their start
	undecided  int // times in an hour that the clock repeated, with nothing to tell which
	skipped    int // times in an hour that the clock left out
	unnumbered bool
}

// jobKey tells jobs apart: by number, cluster, submit and start.
type jobKey struct {
	number        int64
	word, cluster string // where the number is none
	submit, start int64
}

// delimiters are tried in this order.
var delimiters = [...]string{"|", "\t", ";", ","}

// title reads the line of names and finds out what parts them.
func (t *table) title(line []byte) error {
	line = bytes.TrimRight(line, "\r")
	t.delim = delimiters[0]
	for _, d := range delimiters {
		if names := splitCells(line, d); len(names) > 1 && namesSubmit(names, t.mapped) {
			t.delim = d
			break
		}
	}
	t.titleLine = bytes.Clone(line)
	names := splitCells(line, t.delim)
	if cells := cellsBy(line); !namesSubmit(names, t.mapped) && len(cells) > 1 {
		names = cells
	}
	if bytes.HasPrefix(line, []byte(";")) && !namesSubmit(names, t.mapped) {
		return errors.New("is a comment of SWF, where the names of columns must be; if it is a log in SWF, read it with --from swf")
	}
	if by := partedBy(string(line)); by != "" && (!namesSubmit(names, t.mapped) || strings.Contains(by, t.delim)) {
		return fmt.Errorf("has columns parted by %q; must be parted by a bar, a tab, a semicolon or a comma, as sacct --parsable2 (-P) prints them", by)
	}
	if words := strings.Fields(string(line)); !namesSubmit(names, t.mapped) && len(words) > 2 && namesSubmit(words, nil) {
		return errors.New("has columns parted by blanks, which cuts values short and leaves gaps; print them with sacct --parsable2 (-P)")
	}
	return t.head(names)
}

// partedBy returns what stands between the names of a line if that is no delimiter, such as
// "||"; "" if it is one, or blanks.
func partedBy(line string) string {
	inName := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	rest := strings.TrimLeftFunc(line, inName)
	by := rest[:len(rest)-len(strings.TrimLeftFunc(rest, func(r rune) bool { return !inName(r) }))]
	if strings.TrimSpace(by) == "" || slices.Contains(delimiters[:], by) {
		return ""
	}
	if names := strings.Split(line, by); len(names) < 3 || !namesSubmit(names, nil) {
		return ""
	}
	return by
}

// head takes the names of the columns.
func (t *table) head(names []string) error {
	if n := len(names); n > 0 && names[n-1] == "" {
		names = names[:n-1] // --parsable ends its lines with a bar
	}
	if len(names) > maxColumns {
		return fmt.Errorf("has %d columns, must have %d at most", len(names), maxColumns)
	}
	t.names, t.index = names, map[string]int{}
	t.seen, t.open, t.states, t.number = map[jobKey]int{}, map[jobKey]bool{}, map[string]int{}, map[int64]bool{}
	for i, name := range names {
		key := plain(name)
		if _, twice := t.index[key]; twice {
			return fmt.Errorf("has the column %.40q twice", name)
		}
		t.index[key] = i
	}
	if err := t.take(); err != nil {
		return err
	}
	if len(t.from[roleSubmit])+len(t.from[roleEligible]) == 0 {
		if len(names) < 3 || slices.ContainsFunc(names, isNumber) {
			return fmt.Errorf("names no column Submit in its first line, %.60q; sacct --parsable2 prints the names unless --noheader is given", strings.Join(names, "|"))
		}
		return nameless(names)
	}
	return nil
}

// nameless says that a table has no known name for the submit time.
func nameless(names []string) error {
	return fmt.Errorf("its first line names no column Submit, or another for the submit time, among %s. Say what its columns are: bourse convert LOG OUT.swf --map %s",
		listed(names), MapForm)
}

// take finds the columns that are read: those that are mapped, and those with a known name.
func (t *table) take() error {
	for f := range t.field {
		t.field[f] = -1
	}
	taken := map[int]bool{}
	for _, m := range t.mapped {
		i, ok := t.index[plain(m.Column)]
		if !ok {
			unit := ""
			if _, after, ok := strings.Cut(m.Column, ":"); ok {
				unit = fmt.Sprintf(", and %.40q is no unit, which must be ms, s, min, h or d", after)
			}
			return fmt.Errorf("has no column %.40q, which is to be the %s%s; it has %s", m.Column, m.word, unit, listed(t.names))
		}
		unit := m.unit
		if unit == 0 {
			unit = 1000
		}
		t.from[m.role] = []source{{i, unit, m.word + ", as mapped"}}
		taken[i] = true
	}
	fixed := t.from
	for _, c := range tableColumns {
		for name := range strings.FieldsSeq(c.names) {
			i, ok := t.index[plain(name)]
			if !ok || taken[i] || len(fixed[c.role]) > 0 {
				continue
			}
			taken[i] = true
			t.from[c.role] = append(t.from[c.role], source{i, c.unit, c.is})
			for f := range t.field {
				if c.role == roleField && plain(name) == plain(Field(f).String()) {
					t.field[f] = i
				}
			}
		}
	}
	return nil
}

// again reports whether a line repeats the names, as in dumps that were joined. Other names
// are an error: what follows would be misread.
func (t *table) again(line []byte) (bool, error) {
	line = bytes.TrimRight(line, "\r")
	if bytes.Equal(line, t.titleLine) {
		t.tally.headers++
		return true, nil
	}
	if bytes.ContainsAny(line, "0123456789") {
		return false, nil
	}
	names, known := cellsBy(line), 0
	if same := splitCells(line, t.delim); len(same) >= len(t.names) && slices.EqualFunc(same[:len(t.names)], t.names, func(a, b string) bool { return plain(a) == plain(b) }) {
		t.tally.headers++
		return true, nil
	}
	for _, n := range names {
		if _, ok := knownColumns()[plain(n)]; ok {
			known++
		}
	}
	if known < 2 || 2*known < len(names) {
		return false, nil
	}
	return false, fmt.Errorf("names other columns than the first line; read each of the dumps that were joined on its own")
}

// absent reports whether a value says that there is none.
func absent(c string) bool {
	switch c {
	case "", "None", "Unknown", "N/A", nothing:
		return true
	}
	if len(c) > 20 || c[0] >= '0' && c[0] <= '9' {
		return false
	}
	switch strings.ToUpper(c) {
	case "NONE", "UNKNOWN", "N/A", "NA", "NULL", "(NULL)", "NAN", "NAT", "NIL", "NOT_SET", "NONE ASSIGNED", "-", "--":
		return true
	}
	return false
}

// sentinel reports whether a value is one that Slurm writes where a number is not set, or
// where it makes no sense.
func sentinel(c string) bool {
	switch strings.TrimSuffix(c, ".0") {
	case "4294967295", "4294967294", "18446744073709551615", "18446744073709551614", "18446744073709551616", "INVALID":
		return true
	}
	return false
}

// cell returns the first value of a role in the current record, and its column; "" if there
// is none.
func (t *table) cell(r role) (string, source) {
	for _, s := range t.from[r] {
		switch c := t.cells[s.place]; {
		case absent(c):
		case sentinel(c):
			t.told[s.place]++
		default:
			return c, s
		}
	}
	return "", source{}
}

// word is cell for roles whose column does not matter.
func (t *table) word(r role) string {
	c, _ := t.cell(r)
	return c
}

// parse reads a line, or the current cells if line is nil, into a record.
func (t *table) parse(r *Record, line []byte) (why string) {
	if line != nil {
		t.cells = splitCells(bytes.TrimRight(line, "\r"), t.delim)
		if n := len(t.cells); n == len(t.names)+1 && t.cells[n-1] == "" {
			t.cells = t.cells[:n-1]
		}
	}
	if len(t.cells) != len(t.names) {
		return fmt.Sprintf("has %d columns, must have the %d that the first line names", len(t.cells), len(t.names))
	}
	if strings.Contains(t.word(roleID), ".") || strings.Contains(t.word(roleNumber), ".") {
		t.tally.steps++
		return passed
	}
	for f := range r {
		r[f] = Unknown
	}
	t.identify()
	for _, read := range [...]func(*Record) string{t.fields, t.status, t.sizes, t.gpus, t.times, t.named} {
		if why := read(r); why != "" {
			return why
		}
	}
	return ""
}

// identify notes what tells the job apart from others; its times are added when known.
func (t *table) identify() {
	id := t.word(roleNumber)
	if id == "" {
		id = t.word(roleID)
	}
	t.key = jobKey{number: -1, submit: -1, start: -1, cluster: t.word(roleCluster)}
	n, ok := parseNumber([]byte(id))
	if ok && n.mantissa() >= 0 && Int(n.Whole()).Millis() == n.Millis() {
		t.key.number = n.Whole()
	} else {
		t.key.word = id
	}
}

// known reports whether the current row names its job.
func (t *table) known() bool { return t.key.number >= 0 || t.key.word != "" }

// twice gives the last record its number, and reports whether it is of a job that another
// record has, which then takes the longer of both runs.
func (t *table) twice(records []Record) bool {
	r := &records[len(records)-1]
	if t.known() {
		if i, ok := t.seen[t.key]; ok {
			t.tally.repeats++
			if other := &records[i]; r[RunTime].Millis() > other[RunTime].Millis() {
				r[JobNumber] = other[JobNumber]
				*other = *r
			}
			return true
		}
		k := t.key
		k.word, k.cluster = strings.Clone(k.word), strings.Clone(k.cluster)
		t.seen[k] = len(records) - 1
	}
	if n := t.key.number; n >= 0 && n < maxMantissa && !t.number[n] {
		t.number[n] = true
		r[JobNumber] = Int(n)
	} else {
		t.tally.unnumbered = true
	}
	return false
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
		if t.tally.unnumbered {
			r[JobNumber] = Int(int64(i) + 1)
		}
	}
	sizeless := 0
	for i := range trace.Records {
		if trace.Records[i].Processors() <= 0 {
			sizeless++
		}
	}
	trace.Table, trace.Notes = true, t.notes(trace.Name)
	if sizeless > 0 {
		trace.Notes = append(trace.Notes, fmt.Sprintf("%s: %s without a number of processors", trace.Name, grid.Count(sizeless, "job")))
	}
}
