package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// nameWidth bounds names in the tables, so that these fit 100 columns.
const nameWidth = 16

// tableWidth is what the finding is wrapped to.
const tableWidth = 98

// WriteTables writes what ends a simulation: a row per site (how full it was,
// by whom, its own jobs started, still queued, their mean wait and slowdown,
// the legs it carried and earned with), a row per VO (jobs placed, on several
// sites, not placed; mean time and finish; cost, the share above base price,
// what is left of the budget), and the finding. The words of a run's head, and where its files lie, are the
// caller's.
func (s *Summary) WriteTables(w io.Writer) error {
	if err := render(w, s.siteTable()); err != nil {
		return err
	}
	if len(s.Brokers) > 0 {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := render(w, s.brokerTable()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(wrap(s.Finding, tableWidth), "\n"))
	return err
}

func (s *Summary) siteTable() table.Writer {
	t := NewTable("Site", "Nodes", "Used", "Local", "VO", "Jobs", "Queued", "Wait", "Slowdown", "Legs", "Income")
	for _, one := range s.Sites {
		t.AppendRow(table.Row{text.Trim(one.Name, nameWidth), strconv.Itoa(one.Nodes), percent(one.Utilisation.All), percent(one.Utilisation.Local),
			percent(one.Utilisation.VO), strconv.Itoa(one.Local.Started), strconv.Itoa(one.Local.Waiting), span(one.Local.MeanWait),
			fmt.Sprintf("%.1f", one.Local.BoundedSlowdown), strconv.Itoa(one.Legs), money(one.Income.Total)})
	}
	return t
}

func (s *Summary) brokerTable() table.Writer {
	t := NewTable("VO", "Jobs", "Placed", "Co-alloc", "Unplaced", "Time", "Finish", "Cost", "Extra", "Left")
	for _, one := range s.Brokers {
		extra := "-"
		if one.Cost.Base > 0 {
			extra = percent(one.Cost.Additive.Float() / one.Cost.Base.Float())
		}
		t.AppendRow(table.Row{text.Trim(one.Name, nameWidth), strconv.Itoa(one.Jobs.Submitted), strconv.Itoa(one.Jobs.Placed),
			strconv.Itoa(one.Jobs.CoAllocated), strconv.Itoa(one.Jobs.Waiting + one.Jobs.Refused),
			span(one.MeanTime), span(one.MeanFinish), money(one.Cost.Total), extra, money(one.Left)})
	}
	return t
}

// NewTable opens a table in the one style of all commands: words to the left,
// figures to the right. The first column and those whose head begins with "<"
// hold words.
func NewTable(head ...string) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.Options{SeparateHeader: true, SeparateFooter: true}
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	row := make(table.Row, len(head))
	list := make([]table.ColumnConfig, len(head))
	for i, h := range head {
		words := false
		row[i], words = strings.CutPrefix(h, "<")
		list[i] = table.ColumnConfig{Number: i + 1}
		if i > 0 && !words {
			list[i].Align, list[i].AlignHeader, list[i].AlignFooter = text.AlignRight, text.AlignRight, text.AlignRight
		}
	}
	t.AppendHeader(row)
	t.SetColumnConfigs(list)
	t.SuppressTrailingSpaces()
	return t
}

func render(w io.Writer, t table.Writer) error {
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

// wrap cuts a sentence into lines of at most width letters where words allow.
func wrap(sentence string, width int) []string {
	lines := strings.Split(text.WrapSoft(sentence, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}
