package workload

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetMagic begins and ends a Parquet file.
const parquetMagic = "PAR1"

// rowsAtOnce is how many rows of a Parquet file are read together.
const rowsAtOnce = 256

// readParquet reads a table of Apache Parquet. Columns of lists and of groups are left
// out.
func readParquet(f *os.File, name string, opt Options) (t *Trace, err error) {
	if opt.Skip < 0 {
		return nil, fmt.Errorf("%s: %d records cannot be skipped; must be 0 or more", name, opt.Skip)
	}
	defer func() { // the library meets damage with panics, too
		if what := recover(); what != nil {
			t, err = nil, fmt.Errorf("%s: is damaged: %v", name, what)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkFooter(f, info.Size()); err != nil {
		return nil, fmt.Errorf("%s: is no Parquet file: %w", name, err)
	}
	file, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%s: is no Parquet file: %w", name, err)
	}
	if err := checkPages(f, info.Size(), file.Metadata()); err != nil {
		return nil, fmt.Errorf("%s: is damaged: %w", name, err)
	}
	opt.Format = FormatParquet
	p := newParser(name, opt)
	columns, err := p.table.columns(file.Root())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	rows := parquet.NewReader(file)
	defer rows.Close()
	for batch := make([]parquet.Row, rowsAtOnce); ; {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			p.line++
			p.table.cells = make([]string, len(p.table.names))
			for _, v := range row {
				if c := v.Column(); c >= 0 && c < len(columns) && columns[c].place >= 0 && !v.IsNull() {
					p.table.cells[columns[c].place] = columns[c].text(v)
				}
			}
			if err := p.keep(nil); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			return p.finish()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: after row %d: %w", name, p.line, err)
		}
	}
}

// column is a leaf of a Parquet file: its place in the table, -1 for none, and what its
// values are.
type column struct {
	place    int
	unit     time.Duration // of its times, 0 if it has none
	wall     bool          // its times are of a clock on the wall, in no stated zone
	unsigned bool
}

// columns takes the names of a file's columns, and returns its leaves in their order.
func (t *table) columns(root *parquet.Column) ([]column, error) {
	var names []string
	var leaves []column
	var walk func(c *parquet.Column, top bool)
	walk = func(c *parquet.Column, top bool) {
		switch {
		case !c.Leaf():
			for _, child := range c.Columns() {
				walk(child, c == root)
			}
		case top && !c.Repeated():
			leaves = append(leaves, columnOf(c, len(names)))
			names = append(names, c.Name())
		default:
			leaves = append(leaves, column{place: -1})
		}
	}
	walk(root, false)
	return leaves, t.head(names)
}

// columnOf says what a column's values are.
func columnOf(c *parquet.Column, place int) column {
	is := column{place: place}
	logical := c.Type().LogicalType()
	if logical == nil {
		return is
	}
	switch l := logical.Value.(type) {
	case *format.TimestampType:
		if l.Unit.Value != nil {
			is.unit, is.wall = l.Unit.Value.Duration(), !l.IsAdjustedToUTC
		}
	case *format.IntType:
		is.unsigned = !l.IsSigned
	}
	return is
}

// text returns a value as a text table would have it.
func (c column) text(v parquet.Value) string {
	switch v.Kind() {
	case parquet.Int32:
		if c.unsigned {
			return strconv.FormatUint(uint64(v.Uint32()), 10)
		}
		return strconv.FormatInt(int64(v.Int32()), 10)
	case parquet.Int64:
		if c.unit > 0 {
			ms := v.Int64() / max(int64(time.Millisecond/c.unit), 1)
			if c.wall {
				return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999")
			}
			return Millis(ms).String()
		}
		if c.unsigned {
			return strconv.FormatUint(v.Uint64(), 10)
		}
		return strconv.FormatInt(v.Int64(), 10)
	case parquet.Float, parquet.Double:
		f := v.Double()
		if v.Kind() == parquet.Float {
			f = float64(v.Float())
		}
		if math.IsNaN(f) {
			return ""
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	case parquet.Int96: // an old form of times: nanoseconds of a day, and the day of Julius
		const begin1970 = 2_440_588
		day := v.Int96()
		ns := int64(day[1])<<32 | int64(day[0])
		return Millis((int64(day[2])-begin1970)*86_400_000 + ns/1_000_000).String()
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return string(v.ByteArray())
	}
	return v.String()
}
