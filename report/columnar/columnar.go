// Package columnar writes the jobs and the events of a run as Apache Parquet, for programs that
// read tables by columns. It reads the files of the run's folder, so that both say the same.
package columnar

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// The kinds of columns.
type kind int

const (
	words kind = iota
	number
	whole
)

// numbers are the columns of jobs.csv that are not words: times in seconds, credits, and counts.
var numbers = map[string]kind{"submit": number, "start": number, "end": number, "cost": number, "paid": number, "opens": number, "closes": number,
	"nodes": whole, "version": whole, "shifts": whole,
	"gpus": whole, "cores": whole, "memory": whole, "slices": whole, "of": whole}

// atOnce is how many rows are written together, and mostLine how long a line of events may be.
const (
	atOnce   = 512
	mostLine = 64 << 20
)

// table is a Parquet file that is being written. Its columns are in order of name, as the format's
// library has them; a cell may be missing.
type table struct {
	names []string // in order of name
	kinds []kind
	from  []int // the place of each in the rows that come
	out   *parquet.GenericWriter[any]
	rows  []parquet.Row
}

func newTable(w io.Writer, name string, names []string, kinds []kind) *table {
	t, nodes := &table{}, parquet.Group{}
	for i := range names {
		t.from = append(t.from, i)
		leaf := parquet.String()
		switch kinds[i] {
		case number:
			leaf = parquet.Leaf(parquet.DoubleType)
		case whole:
			leaf = parquet.Leaf(parquet.Int64Type)
		}
		nodes[names[i]] = parquet.Optional(leaf)
	}
	slices.SortFunc(t.from, func(a, b int) int {
		if names[a] < names[b] {
			return -1
		}
		return 1
	})
	for _, i := range t.from {
		t.names, t.kinds = append(t.names, names[i]), append(t.kinds, kinds[i])
	}
	t.out = parquet.NewGenericWriter[any](w, parquet.NewSchema(name, nodes), parquet.Compression(&parquet.Snappy), parquet.CreatedBy("bourse", "", ""))
	return t
}

// add adds a row. An empty cell is missing.
func (t *table) add(cells []string) error {
	row := make(parquet.Row, len(t.names))
	for i, from := range t.from {
		v, set := parquet.Value{}, 0
		if text := cells[from]; text != "" {
			set = 1
			switch t.kinds[i] {
			case words:
				v = parquet.ByteArrayValue([]byte(text))
			case number:
				n, err := strconv.ParseFloat(text, 64)
				if err != nil || math.IsNaN(n) {
					return fmt.Errorf("%s %q is no number", t.names[i], text)
				}
				v = parquet.DoubleValue(n)
			case whole:
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					return fmt.Errorf("%s %q is no whole number", t.names[i], text)
				}
				v = parquet.Int64Value(n)
			}
		}
		row[i] = v.Level(0, set, i)
	}
	if t.rows = append(t.rows, row); len(t.rows) < atOnce {
		return nil
	}
	return t.flush()
}

func (t *table) flush() error {
	_, err := t.out.WriteRows(t.rows)
	t.rows = t.rows[:0]
	return err
}

func (t *table) close() error { return errors.Join(t.flush(), t.out.Close()) }

// Jobs writes the rows of a jobs.csv, with its columns in order of name. Times are seconds, costs
// credits, as floating-point numbers; what is empty there is missing here. An error names the
// line.
func Jobs(w io.Writer, jobs io.Reader) error {
	in := csv.NewReader(jobs)
	head, err := in.Read()
	if err != nil {
		return fmt.Errorf("line 1: has no columns: %w", err)
	}
	kinds := make([]kind, len(head))
	for i, name := range head {
		kinds[i] = numbers[name]
	}
	t := newTable(w, "job", head, kinds)
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return t.close()
		}
		if err == nil {
			err = t.add(cells)
		}
		if err != nil {
			line, _ := in.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// Events writes the lines of an events.jsonl: agent, at in seconds, kind, and fact, which is the
// line as it stands. An error names the line.
func Events(w io.Writer, events io.Reader) error {
	t := newTable(w, "event", []string{"at", "agent", "kind", "fact"}, []kind{number, words, words, words})
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		var head struct {
			At    json.Number `json:"at"`
			Agent string      `json:"agent"`
			Kind  string      `json:"kind"`
		}
		err := json.Unmarshal(lines.Bytes(), &head)
		if err == nil {
			err = t.add([]string{head.At.String(), head.Agent, head.Kind, lines.Text()})
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return errors.Join(lines.Err(), t.close())
}
