package story

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// plain has no tables: messages are read and printed by their fields alone.
var plain = Language{Leg: func(text string) (grid.LegID, error) {
	return grid.LegID{Tx: grid.TxID{Broker: text, Incarnation: 3}}, nil
}}

func TestLanguage_AMessageNeedsNoLine(t *testing.T) {
	t.Parallel()
	m, err := plain.Line(strings.Fields("ShiftOffer x 2 1 160 1160 100 2000 4 30"))
	if err != nil {
		t.Fatal(err)
	}
	leg, _ := plain.Leg("x")
	want := agents.ShiftOffer{Leg: leg, Number: 2, Version: 1, Start: 160_000, End: 1_160_000, Ready: 100_000, Due: 2_000_000,
		Pay: 4 * grid.Credit, For: 30 * grid.Second}
	if m != agents.Message(want) {
		t.Errorf("read %+v, want %+v", m, want)
	}
	if got := NewWords("", nil).Say(m); got != "ShiftOffer x/3/0.0 number=2 version=1 start=160 end=1160 ready=100 due=2000 pay=4 for=30" {
		t.Errorf("printed %q", got)
	}
}

func TestLanguage_ACommandNamesFieldsAtAnyDepth(t *testing.T) {
	t.Parallel()
	m, err := plain.Command("hold", []datadriven.CmdArg{{Key: "x"}, {Key: "nodes", Vals: []string{"4"}}, {Key: "due", Vals: []string{"2h"}}})
	if h, ok := m.(agents.Hold); err != nil || !ok || h.What.Nodes != 4 || h.Flex.Due != grid.Time(2*grid.Hour) {
		t.Errorf("read %+v, %v", m, err)
	}
	m, err = plain.Command("release", []datadriven.CmdArg{{Key: "x"}, {Key: "full"}})
	if r, ok := m.(agents.Release); err != nil || !ok || !r.Full || r.DecidedBy != 3 {
		t.Errorf("read %+v, %v; a switch is set by its name, and the decision is of the leg's life", m, err)
	}
}

func TestLanguage_WhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"Hald x":           `no message is a "Hald"`,
		"Prepared x 4":     `Prepared has no field for "4"`,
		"Held x dear":      `Held: "dear"`,
		"Prepared colour=": `Prepared has no field "colour"`,
	} {
		if _, err := plain.Line(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

func TestWords_ATableHasTheLastWord(t *testing.T) {
	t.Parallel()
	w := NewWords(`
	Prepared Cancelled: {{.Kind}} for
		{{also " life " .Leg.Tx.Incarnation}}{{also ", epoch " .Epoch}}
`, nil)
	leg, _ := plain.Leg("x")
	if got := w.Say(agents.Cancelled{Leg: leg}); got != "Cancelled for life 3" {
		t.Errorf("printed %q", got)
	}
	if got := w.Say(agents.Released{Leg: leg, Refund: grid.Credit, Stamp: agents.Stamp{Epoch: 1, Seq: 7}}); got != "Released x/3/0.0 refund=1 [1:7]" {
		t.Errorf("printed %q", got)
	}
}

func TestJob_IsReadByItsFields(t *testing.T) {
	t.Parallel()
	j := Job(t, grid.Job{User: "ana"}, "wave sizes=2:600,4:300 after=b+c gpus=1 price=10 onesite gap=5 deadline=900")
	if j.Name != "wave" || j.User != "ana" || len(j.Sizes) != 2 || j.Nodes != 2 && j.Nodes != 4 || len(j.After) != 2 || j.Require.GPUs != 1 ||
		j.MaxPrice != 36*grid.Price(grid.Credit) || !j.OneSite || j.Gap != 5*grid.Second || j.Deadline != 900_000 {
		t.Errorf("read %+v", j)
	}
}
