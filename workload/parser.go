package workload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// parser makes a trace out of chunks of bytes.
type parser struct {
	t      *Trace
	grid   *gridLog // nil: the lines are not in GWF
	table  *table   // nil: the first line names no columns
	opt    Options
	skip   int
	line   int    // the line being read, from 1
	rest   []byte // the begun line of the chunks before
	long   bool   // the begun line is too long: its bytes are dropped
	header int    // bytes of comments
	taken  int    // records that have been handed on already
	width  int    // fields of the first record of a log in SWF
	parts  int    // lines of partial executions
	unset  int    // times that are no times: see noTime

	partial map[int64]bool // the jobs that have such lines; nil: none has
	last    int64          // submit of the record before, ms
	lastAt  int            // and its line, 0 if there is none
}

// newParser makes the parser of a file's format.
func newParser(name string, opt Options) *parser {
	p := &parser{t: &Trace{Name: name}, opt: opt, skip: opt.Skip}
	switch cmp.Or(opt.Format, FormatOf(name)) {
	case FormatGWF:
		p.grid = &gridLog{}
	case FormatSacct, FormatCSV, FormatParquet:
		p.table = &table{zone: cmp.Or(opt.Zone, time.UTC), mapped: opt.Map}
	}
	return p
}

// feed parses the lines that end in chunk and keeps the begun one.
func (p *parser) feed(chunk []byte) error {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			if p.long = p.long || len(p.rest)+len(chunk) > maxLine; !p.long {
				p.rest = append(p.rest, chunk...)
			}
			return nil
		}
		line := chunk[:i]
		if len(p.rest) > 0 && !p.long {
			p.rest = append(p.rest, line...)
			line = p.rest
		}
		if err := p.take(line); err != nil {
			return err
		}
		p.rest, p.long = p.rest[:0], false
		chunk = chunk[i+1:]
	}
}

// take parses one whole line.
func (p *parser) take(line []byte) error {
	p.line++
	if len(line) > 2 && line[0] == 0xef && line[1] == 0xbb && line[2] == 0xbf {
		line = line[3:] // files that were joined may each begin with a byte order mark
	}
	if p.long || len(line) > maxLine {
		return p.bad(fmt.Sprintf("is longer than %d bytes", maxLine))
	}
	i := 0
	for i < len(line) && blank(line[i]) {
		i++
	}
	if i == len(line) {
		return nil
	}
	switch {
	case line[i] == ';' && p.table == nil:
		return p.comment(line)
	case line[i] == '#' && p.grid != nil:
		return p.comment(append([]byte{';'}, line[i+1:]...))
	case p.table != nil && p.table.index == nil:
		if err := p.table.title(line); err != nil {
			return fmt.Errorf("%s:%d: %w", p.t.Name, p.line, err)
		}
		return nil
	case p.table != nil:
		i = 0 // a first cell may be empty
		again, err := p.table.again(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", p.t.Name, p.line, err)
		}
		if again {
			return nil
		}
	}
	return p.keep(line[i:])
}

// keep makes a record of a line, or of the cells that the table has.
func (p *parser) keep(line []byte) error {
	if p.skip > 0 {
		p.skip--
		return nil
	}
	if len(p.t.Records) == maxRecords {
		return fmt.Errorf("%s:%d: has more than %d records", p.t.Name, p.line, maxRecords)
	}
	p.reserve()
	p.t.Records = append(p.t.Records, Record{})
	r := &p.t.Records[len(p.t.Records)-1]
	beyond, why := p.record(r, line)
	if why == "" && p.partialExecution(r) {
		why = passed
	}
	if why == "" {
		p.unset += r.unset()
		why = r.flaw()
	}
	if why != "" {
		p.t.Records = p.t.Records[:len(p.t.Records)-1]
		if why == passed {
			return nil
		}
		return p.bad(why)
	}
	if p.grid != nil {
		p.t.Beyond = append(p.t.Beyond, beyond)
	}
	if p.table != nil { // it has no order of its own
		if p.table.twice(p.t.Records) {
			p.t.Records = p.t.Records[:len(p.t.Records)-1]
		}
		return nil
	}
	return p.follow(r[SubmitTime].Millis())
}

// record parses a line in the format of the file.
func (p *parser) record(r *Record, line []byte) (beyond, why string) {
	switch {
	case p.grid != nil:
		return p.grid.parse(r, line)
	case p.table != nil:
		return "", p.table.parse(r, line)
	}
	return "", p.plain(r, line)
}

// plain parses a line in SWF. Fields beyond the 18 are left out if the first record has them
// too; in a log of 18 fields, a line with more is bad.
func (p *parser) plain(r *Record, line []byte) string {
	n, why := r.parse(line)
	switch {
	case why != "" || n == standard && p.width > 0:
		return why
	case n > standard && p.width == 0 && p.opt.Strict:
		return fmt.Sprintf("has %d fields, must have %d; without strict reading those after the %dth would be left out", n, standard, standard)
	case p.width == 0 && n <= standard+maxExtra:
		p.width = n
	case n > p.width && p.width > standard:
		return fmt.Sprintf("has %d fields, must have the %d of the first record", n, p.width)
	case n > max(p.width, standard):
		return fmt.Sprintf("has more than %d fields", standard)
	}
	return ""
}

// maxExtra is how many fields a line in SWF may have beyond the 18.
const maxExtra = 64

// partialExecution reports whether a record is of a part of a job that was swapped out or
// restarted from a checkpoint. By the definition of the format a line of status 0 or 1 sums
// up such a job, so its parts would count it twice.
func (p *parser) partialExecution(r *Record) bool {
	if s := r[Status].Whole(); s < 2 || s > 4 || r[Status].scale() > 0 {
		return false
	}
	if p.partial == nil {
		p.partial = map[int64]bool{}
	}
	p.parts++
	p.partial[r[JobNumber].Whole()] = true
	return true
}

func (p *parser) comment(line []byte) error {
	if p.header += len(line); p.header > maxHeader {
		return fmt.Errorf("%s:%d: has more than %d bytes of comments", p.t.Name, p.line, maxHeader)
	}
	p.t.Header.Lines = append(p.t.Header.Lines, string(bytes.TrimRight(line, " \t\r")))
	return nil
}

// reserve makes room for the records that the header promises, before the first.
func (p *parser) reserve() {
	if p.t.Records != nil {
		return
	}
	n, ok := p.t.Header.Int("MaxRecords")
	if !ok {
		n, _ = p.t.Header.Int("MaxJobs")
	}
	p.t.Records = make([]Record, 0, min(max(n-int64(p.opt.Skip), 64), maxReserve))
}

// follow counts, or refuses, a record earlier than the one before it.
func (p *parser) follow(submit int64) error {
	if p.lastAt > 0 && submit < p.last {
		p.t.Backwards++
		if p.opt.Strict {
			return fmt.Errorf("%s:%d: runs backwards: submit %v after %v of line %d; without strict reading it would be sorted",
				p.t.Name, p.line, Millis(submit), Millis(p.last), p.lastAt)
		}
	}
	p.last, p.lastAt = submit, p.line
	return nil
}

// bad counts, or refuses, a line that is no record.
func (p *parser) bad(why string) error {
	if p.opt.Strict {
		return fmt.Errorf("%s:%d: %s", p.t.Name, p.line, why)
	}
	p.t.BadCount++
	if len(p.t.Bad) < MaxBad {
		p.t.Bad = append(p.t.Bad, BadLine{p.line, why})
	}
	return nil
}

// finish takes the last line if no newline ended it and puts the trace in order.
func (p *parser) finish() (*Trace, error) {
	if len(p.rest) > 0 || p.long {
		if err := p.take(p.rest); err != nil {
			return nil, err
		}
	}
	t := p.t
	if len(t.Records)+p.taken == 0 {
		switch {
		case p.opt.Skip > p.skip:
			return nil, fmt.Errorf("%s: has no record left after the first %d", t.Name, p.opt.Skip-p.skip)
		case t.BadCount > 0 && p.grid != nil:
			return nil, fmt.Errorf("%s:%s; no line is a record of %d columns", t.Name, t.Bad[0], gridColumns)
		case t.BadCount > 0 && p.table != nil:
			return nil, fmt.Errorf("%s:%s; no line is a record of what the first line names", t.Name, t.Bad[0])
		case p.parts > 0:
			return nil, fmt.Errorf("%s: has no record but %s of partial executions, whose jobs have no line of status 0 or 1", t.Name, grid.Count(p.parts, "line"))
		case p.table != nil && p.table.left() != "":
			return nil, fmt.Errorf("%s: has no record left: %s", t.Name, p.table.left())
		case t.BadCount > 0:
			return nil, fmt.Errorf("%s:%s; no line is a record of 18 numbers", t.Name, t.Bad[0])
		}
		return nil, fmt.Errorf("%s: has no record", t.Name)
	}
	switch {
	case p.grid != nil:
		p.grid.words.finish(t)
	case p.table != nil:
		p.table.finish(t)
	}
	if t.Backwards > 0 {
		t.order()
	}
	t.Notes = append(t.Notes, p.notes()...)
	return t, nil
}

// notes say what was left out on purpose.
func (p *parser) notes() (lines []string) {
	say := func(n int, format string, args ...any) {
		if n > 0 {
			lines = append(lines, p.t.Name+": "+fmt.Sprintf(format, args...))
		}
	}
	if n := p.width - standard; n > 0 {
		say(n, "%s after the %dth left out: SWF has no place for them", grid.Count(n, "column"), standard)
	}
	say(p.parts, "%s of partial executions left out", grid.Count(p.parts, "line"))
	for i := range p.t.Records {
		delete(p.partial, p.t.Records[i][JobNumber].Whole())
	}
	say(len(p.partial), "%s with such lines and no line of status 0 or 1 left out with them", grid.Count(len(p.partial), "job"))
	say(p.unset, "%s of 4294967295 or 4294967294 seconds, which are Slurm's words for infinite and none, taken as unknown", grid.Count(p.unset, "time"))
	return lines
}

// broken says where reading broke off.
func (p *parser) broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: after line %d: the compressed data breaks off; get the whole file again: %w", p.t.Name, p.line, err)
	}
	return fmt.Errorf("%s: after line %d: %w", p.t.Name, p.line, err)
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// parse reads the first 18 fields of a line and returns how many it has, and what is wrong
// with it, or "". It has a fast path for whole numbers, which nearly all are.
func (r *Record) parse(line []byte) (n int, why string) {
	f, i := 0, 0
	r[GPUCount] = Unknown
	for {
		for i < len(line) && blank(line[i]) {
			i++
		}
		if i == len(line) {
			break
		}
		if f == standard {
			return f + len(bytes.Fields(line[i:])), ""
		}
		start := i
		neg := line[i] == '-'
		if neg {
			i++
		}
		var v int64
		digits := i
		for i < len(line) && line[i]-'0' <= 9 {
			v = v*10 + int64(line[i]-'0')
			i++
		}
		if n := i - digits; n > 0 && n <= maxDigits && (i == len(line) || blank(line[i])) {
			if neg {
				v = -v
			}
			r[f] = Number(v << scaleBits)
			f++
			continue
		}
		for i < len(line) && !blank(line[i]) {
			i++
		}
		n, ok := parseNumber(line[start:i])
		if !ok {
			return f, fmt.Sprintf("field %d (%s) %.30q is not a number of at most %d digits", f+1, Field(f), line[start:i], maxDigits)
		}
		r[f] = n
		f++
	}
	if f < standard {
		return f, fmt.Sprintf("has %d fields, must have 18", f)
	}
	return f, ""
}
