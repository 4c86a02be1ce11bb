// Package fitted is tables of a terminal's width. It knows nothing of what they hold.
package fitted

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// New opens a table in the common style of all commands: words to the left, numbers to
// the right. The first column and those with a head that begins with "<" hold words. It is
// fitted to Columns as well as possible.
func New(head ...string) table.Writer {
	t := &fitted{Writer: table.NewWriter(), words: []int{0}}
	style := table.StyleDefault
	style.Options = table.Options{SeparateHeader: true, SeparateFooter: true}
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	row := make(table.Row, len(head))
	list := make([]table.ColumnConfig, len(head))
	for i, h := range head {
		words := false
		if row[i], words = strings.CutPrefix(h, "<"); words {
			t.words = append(t.words, i)
		}
		list[i] = table.ColumnConfig{Number: i + 1}
		if i > 0 && !words {
			list[i].Align, list[i].AlignHeader, list[i].AlignFooter = text.AlignRight, text.AlignRight, text.AlignRight
		}
	}
	t.rows = append(t.rows, row)
	t.AppendHeader(row)
	t.columns = list
	t.Writer.SetColumnConfigs(list)
	t.SuppressTrailingSpaces()
	return t
}

// Columns is how wide a terminal is.
const Columns = 80

// leastWords is how far a column of words is folded.
const leastWords = 8

// fitted is a table that is narrowed if it is wider than a terminal. First its columns move
// together, then words are wrapped, the widest column first, and if that is not enough,
// intervals go below their means. Numbers are never cut, so a table with many of them stays
// as wide as they are.
type fitted struct {
	table.Writer
	columns []table.ColumnConfig
	words   []int       // columns that hold words
	rows    []table.Row // with head and footer; measured when the table is narrowed, as most are not
	widths  []int       // of the columns with intervals below their means
	pieces  []int       // how wide the widest piece of each column is, which is never cut
}

// AppendRow notes the row.
func (t *fitted) AppendRow(row table.Row, configs ...table.RowConfig) {
	t.rows = append(t.rows, row)
	t.Writer.AppendRow(row, configs...)
}

// AppendFooter likewise.
func (t *fitted) AppendFooter(row table.Row, configs ...table.RowConfig) {
	t.rows = append(t.rows, row)
	t.Writer.AppendFooter(row, configs...)
}

// measure notes how wide the columns are at least. The first row is the head.
func (t *fitted) measure() {
	n := len(t.rows[0])
	t.widths, t.pieces = make([]int, n), make([]int, n)
	for _, row := range t.rows {
		for i, cell := range row[:min(len(row), n)] {
			t.widths[i] = max(t.widths[i], text.LongestLineLen(stacked(fmt.Sprint(cell), 0)))
			t.pieces[i] = max(t.pieces[i], text.LongestLineLen(folded(fmt.Sprint(cell), 1)))
		}
	}
}

// SetColumnConfigs leaves the widths to the caller.
func (t *fitted) SetColumnConfigs(list []table.ColumnConfig) {
	t.words, t.columns = nil, nil
	t.Writer.SetColumnConfigs(list)
}

// Render draws it.
func (t *fitted) Render() string {
	out := t.Writer.Render()
	if len(t.words) == 0 || text.LongestLineLen(out) <= Columns {
		return out
	}
	t.measure()
	t.Style().Box.PaddingRight = " "
	if out = t.narrowed(t.columns); text.LongestLineLen(out) <= Columns {
		return out
	}
	split := slices.Clone(t.columns)
	for i := range split {
		if !slices.Contains(t.words, i) {
			split[i].WidthMax, split[i].WidthMaxEnforcer = t.widths[i], stacked
		}
	}
	return t.narrowed(split)
}

// narrowed draws it with words folded as far as it takes.
func (t *fitted) narrowed(columns []table.ColumnConfig) string {
	columns = slices.Clone(columns)
	t.Writer.SetColumnConfigs(columns)
	out := t.Writer.Render()
	for _, words := range [][]int{t.words[1:], t.words} { // names last
		for most := Columns / 2; text.LongestLineLen(out) > Columns && most >= leastWords; most-- {
			for _, i := range words {
				columns[i].WidthMax, columns[i].WidthMaxEnforcer = max(most, t.pieces[i]), folded
			}
			t.Writer.SetColumnConfigs(columns)
			out = t.Writer.Render()
		}
	}
	return out
}

// stacked puts the interval of a figure below its mean.
func stacked(cell string, _ int) string { return strings.Replace(cell, " ± ", "\n± ", 1) }

// pieces are what folding leaves whole: spans such as "in 2 h", words, and the parts of names and lists such as
// broker.strategy and shortest-queue.
var pieces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:in )?\d+ (?:s|min|h|d)\b(?: ago)? *|[^ .,-]*[.,-]|[^ .,-]+ *| +`)
})

// folded breaks a cell into lines of at most width letters where its pieces allow.
func folded(cell string, width int) string {
	lines := []string{""}
	for _, piece := range pieces().FindAllString(cell, -1) {
		line := &lines[len(lines)-1]
		if *line != "" && text.StringWidthWithoutEscSequences(strings.TrimRight(*line+piece, " ")) > width {
			*line = strings.TrimRight(*line, " ")
			lines = append(lines, piece)
			continue
		}
		*line += piece
	}
	return strings.Join(lines, "\n")
}

// Unfitted renders a table at its full width.
func Unfitted(t table.Writer) string {
	if f, ok := t.(*fitted); ok {
		return f.Writer.Render()
	}
	return t.Render()
}
