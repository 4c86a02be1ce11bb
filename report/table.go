package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/bourse-grid/bourse/report/fitted"
)

// nameWidth bounds names in the tables, so that these fit a terminal.
const nameWidth = 16

// tableWidth is what the finding is wrapped to.
const tableWidth = 78

// WriteTables writes what ends a simulation: a row for each site and each VO with their
// measures, and the finding. The caller writes the head of the run and where its files are.
func (s *Summary) WriteTables(w io.Writer) error {
	if err := render(w, terminalTable("Site", siteMeasures, s.Sites, siteName)); err != nil {
		return err
	}
	if len(s.Brokers) > 0 {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := render(w, terminalTable("VO", brokerMeasures, s.vos(), brokerName)); err != nil {
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

// vos are the rows of a table of VOs: each of them and, if there are several, all together.
func (s *Summary) vos() []BrokerSummary {
	if s.AllVOs == nil {
		return s.Brokers
	}
	return append(slices.Clone(s.Brokers), *s.AllVOs)
}

func siteName(s *SiteSummary) string     { return s.Name }
func brokerName(b *BrokerSummary) string { return b.Name }

// Columns is how wide a terminal is.
const Columns = fitted.Columns

// NewTable opens a table in the common style of all commands: words to the left, numbers to
// the right. The first column and those with a head that begins with "<" hold words. It is
// fitted to Columns as well as possible.
func NewTable(head ...string) table.Writer { return fitted.New(head...) }

// Unfitted renders a table at its full width.
func Unfitted(t table.Writer) string { return fitted.Unfitted(t) }

func render(w io.Writer, t table.Writer) error {
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

// Wrapped cuts a sentence into lines of at most width letters where words allow.
func Wrapped(sentence string, width int) []string { return wrap(sentence, width) }

// wrap cuts a sentence into lines of at most width letters where words allow.
func wrap(sentence string, width int) []string {
	lines := strings.Split(text.WrapSoft(sentence, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}
