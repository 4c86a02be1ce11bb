package workload

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The Grid Workload Format of the Grid Workloads Archive (Iosup et al. 2008) has 29
// columns, separated by blanks, and comments that begin with "#". The first eleven columns
// are those of SWF. Users, groups, executables, queues and partitions are words. The
// others, from the submission site on, are kept as they are.
//
// When it is read as a Trace, a column of words becomes numbers: the words themselves if
// all are numbers, otherwise 1, 2, 3 in order of appearance, with a header line for each
// ("; User: 3 ana"). If a record names no partition, the site where it ran, or was
// submitted, takes its place, as logs of a grid are split by site.

const (
	gridColumns = 29
	gridLeast   = 18 // columns that a record has at least: up to the site that it ran on
	gridWords   = int(UserID)
	gridBeyond  = int(PartitionNumber) + 1 // the first column without a Field
	maxWords    = 1 << 20                  // different words of a column; a record with one more is bad
)

// gridNames are the archive's names of the columns.
const gridNames = "JobID SubmitTime WaitTime RunTime NProcs AverageCPUTimeUsed UsedMemory ReqNProcs ReqTime ReqMemory Status " +
	"UserID GroupID ExecutableID QueueID PartitionID OrigSiteID LastRunSiteID JobStructure JobStructureParams UsedNetwork " +
	"UsedLocalDiskSpace UsedResources ReqPlatform ReqNetwork ReqLocalDiskSpace ReqResources VOID ProjectID"

// nothing fills columns without a value.
const nothing = "-1"

// gridKeys are the header keys under which the words of a column are listed.
var gridKeys = [...]string{"User", "Group", "Executable", "Queue", "Partition"}

// grid reads records of the Grid Workload Format.
type gridLog struct {
	words vocabulary
	cells [][]byte // of the current line
}

// vocabulary is the words of the columns that have words, in the order of gridKeys.
type vocabulary [len(gridKeys)]words

// number returns the number of a word in the i-th of the columns, or what is wrong.
func (v *vocabulary) number(i int, word []byte) (Number, string) {
	n := v[i].number(word)
	if n == 0 {
		return Unknown, fmt.Sprintf("has a %s beyond the %d different ones that are kept", Field(gridWords+i), maxWords)
	}
	return Int(n), ""
}

// words are the distinct words of a column, in order of appearance.
type words struct {
	list  []string
	index map[string]int64
}

// number returns the place of a word, from 1; 0 if there are too many words.
func (w *words) number(word []byte) int64 {
	if n, ok := w.index[string(word)]; ok {
		return n
	}
	if len(w.list) == maxWords {
		return 0
	}
	if w.index == nil {
		w.index = map[string]int64{}
	}
	w.list = append(w.list, string(word))
	n := int64(len(w.list))
	w.index[w.list[n-1]] = n
	return n
}

// numeric reports whether all words are whole numbers, -1 among them or not.
func (w *words) numeric() bool {
	for _, word := range w.list {
		if v, err := strconv.ParseInt(word, 10, 64); err != nil || v < 0 || v >= maxMantissa || word != strconv.FormatInt(v, 10) {
			return false
		}
	}
	return true
}

// parse reads a line into a record, with its words as numbers, and returns the remaining
// columns, or what is wrong.
func (g *gridLog) parse(r *Record, line []byte) (beyond, why string) {
	g.cells = append(g.cells[:0], bytes.Fields(line)...)
	if n := len(g.cells); n < gridLeast || n > gridColumns {
		return "", fmt.Sprintf("has %d fields, must have %d", n, gridColumns)
	}
	for f := range gridWords {
		n, ok := parseNumber(g.cells[f])
		if !ok {
			return "", fmt.Sprintf("field %d (%s) %.30q is not a number of at most %d digits", f+1, Field(f), g.cells[f], maxDigits)
		}
		r[f] = n
	}
	r[PrecedingJob], r[ThinkTime], r[GPUCount] = Unknown, Unknown, Unknown
	for i := range gridKeys {
		cell := g.cells[gridWords+i]
		if f := Field(gridWords + i); f == PartitionNumber {
			cell = g.site(cell)
		}
		r[gridWords+i] = Unknown
		if string(cell) == nothing {
			continue
		}
		if r[gridWords+i], why = g.words.number(i, cell); why != "" {
			return "", why
		}
	}
	for len(g.cells) < gridColumns {
		g.cells = append(g.cells, []byte(nothing))
	}
	return string(bytes.Join(g.cells[gridBeyond:], []byte(" "))), ""
}

// site returns what a log is split by: the partition, else the site where the job ran, else
// the one where it was submitted.
func (g *gridLog) site(partition []byte) []byte {
	for _, cell := range [][]byte{partition, g.cells[gridBeyond+1], g.cells[gridBeyond]} {
		if string(cell) != nothing {
			return cell
		}
	}
	return partition
}

// finish replaces places by the words if these are all numbers; otherwise it lists the
// words in the header.
func (v *vocabulary) finish(t *Trace) {
	for i := range v {
		w, f := &v[i], gridWords+i
		if !w.numeric() {
			for n, word := range w.list {
				t.Header.Add(gridKeys[i], strconv.Itoa(n+1)+" "+word)
			}
			continue
		}
		for k := range t.Records {
			if place := t.Records[k][f].Whole(); place > 0 {
				v, _ := strconv.ParseInt(w.list[place-1], 10, 64)
				t.Records[k][f] = Int(v)
			}
		}
	}
}

// WriteGrid writes a trace in the Grid Workload Format. Numbers that the header names are
// written as those names, and columns that SWF lacks as they were read, or as -1. Preceding
// jobs and think times have no column and are left out.
func WriteGrid(w io.Writer, t *Trace) error {
	b := bufio.NewWriterSize(w, chunkSize)
	var names [len(gridKeys)]map[int64]string
	for i, key := range gridKeys {
		names[i] = map[int64]string{}
		for _, n := range t.Header.Names(key) {
			if n.Name != "" && len(strings.Fields(n.Name)) == 1 {
				names[i][n.Number] = n.Name
			}
		}
	}
	for _, line := range t.Header.Lines {
		text, ok := strings.CutPrefix(strings.TrimLeft(line, " \t\r"), ";")
		if !ok || strings.Contains(line, "\n") {
			return fmt.Errorf("header line %q is no comment; must be one line that begins with ;", line)
		}
		if key, _ := keyValue(line); !named(key) && strings.TrimSpace(text) != gridNames {
			fmt.Fprintf(b, "#%s\n", text)
		}
	}
	fmt.Fprintf(b, "# %s\n", gridNames)
	unsaid := strings.TrimSuffix(strings.Repeat(nothing+" ", gridColumns-gridBeyond), " ")
	for k := range t.Records {
		out := b.AvailableBuffer()
		for f, v := range t.Records[k][:gridBeyond] {
			if f > 0 {
				out = append(out, ' ')
			}
			if i := f - gridWords; i >= 0 {
				if name := names[i][v.Whole()]; name != "" {
					out = append(out, name...)
					continue
				}
			}
			out = v.append(out)
		}
		rest := unsaid
		if t.Beyond != nil {
			rest = t.Beyond[k]
		}
		out = append(append(append(out, ' '), rest...), '\n')
		if _, err := b.Write(out); err != nil {
			return err
		}
	}
	return b.Flush()
}

// named reports whether a header key lists the words of a column. The format has those
// words in its records.
func named(key string) bool {
	for _, k := range gridKeys {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}
