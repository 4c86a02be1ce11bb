package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// nameWidth bounds names in the tables, so that these fit a terminal.
const nameWidth = 16

// tableWidth is what the finding is wrapped to.
const tableWidth = 78

// WriteTables writes what ends a simulation: a row per site and a row per VO of
// their measures, and the finding. The words of a run's head, and where its files
// lie, are the caller's.
func (s *Summary) WriteTables(w io.Writer) error {
	if err := render(w, terminalTable("Site", siteMeasures, s.Sites, siteName)); err != nil {
		return err
	}
	if len(s.Brokers) > 0 {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := render(w, terminalTable("VO", brokerMeasures, s.Brokers, brokerName)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(wrap(s.Finding, tableWidth), "\n"))
	return err
}

// terminalTable is a row for each of a run's sites or VOs.
func terminalTable[S any](first string, measures []measure[S], list []S, name func(*S) string) table.Writer {
	heads, cells := tableOf(first, measures, onTerminal[S])
	t := NewTable(heads...)
	for i := range list {
		var row table.Row
		for _, cell := range cells(text.Trim(name(&list[i]), nameWidth), &list[i]) {
			row = append(row, cell)
		}
		t.AppendRow(row)
	}
	return t
}

func siteName(s *SiteSummary) string     { return s.Name }
func brokerName(b *BrokerSummary) string { return b.Name }

// NewTable opens a table in the one style of all commands: words to the left,
// figures to the right. The first column and those whose head begins with "<"
// hold words. It fits a terminal of Columns as well as it can, see fitted.
func NewTable(head ...string) table.Writer {
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

// fitted is a table that is narrowed where it is wider than a terminal: its columns move
// together, then words are folded into several lines, the widest column first. Figures
// are never cut: a table of many is as wide as they are.
type fitted struct {
	table.Writer
	columns []table.ColumnConfig
	words   []int // columns that hold words
}

// SetColumnConfigs leaves the widths to its caller, who knows better.
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
	t.Style().Box.PaddingRight = " "
	out = t.Writer.Render()
	for _, words := range [][]int{t.words[1:], t.words} { // names last
		for most := Columns / 2; text.LongestLineLen(out) > Columns && most >= leastWords; most-- {
			for _, i := range words {
				t.columns[i].WidthMax, t.columns[i].WidthMaxEnforcer = most, folded
			}
			t.Writer.SetColumnConfigs(t.columns)
			out = t.Writer.Render()
		}
	}
	return out
}

// pieces are what folding leaves whole: words, and the parts of names and lists such as
// broker.strategy and shortest-queue.
var pieces = regexp.MustCompile(`[^ .,-]*[.,-]|[^ .,-]+ *| +`)

// folded breaks a cell into lines of at most width letters where its pieces allow.
func folded(cell string, width int) string {
	var out strings.Builder
	used := 0
	for _, piece := range pieces.FindAllString(cell, -1) {
		if long := text.StringWidthWithoutEscSequences(strings.TrimRight(piece, " ")); used > 0 && used+long > width {
			out.WriteByte('\n')
			used = 0
		}
		out.WriteString(piece)
		used += text.StringWidthWithoutEscSequences(piece)
	}
	return out.String()
}

// Unfitted draws a table as wide as it is.
func Unfitted(t table.Writer) string {
	if f, ok := t.(*fitted); ok {
		return f.Writer.Render()
	}
	return t.Render()
}

func render(w io.Writer, t table.Writer) error {
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

// Wrapped cuts a sentence into lines that fit a terminal.
func Wrapped(sentence string) []string { return wrap(sentence, tableWidth) }

// wrap cuts a sentence into lines of at most width letters where words allow.
func wrap(sentence string, width int) []string {
	lines := strings.Split(text.WrapSoft(sentence, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}
