package sla

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/grid"
)

// The scenarios of testdata, each a story of one schedule. Times are in seconds;
// fix, threshold and phi in thousandths; a node-second costs a credit.
//
//	new order=edf nodes=4 [replan] [disclose=closed]
//	submit ID nodes=N te=T window=(READY,DEADLINE) [fix=X] [budget=B]
//	alternatives ...as submit... threshold=PHI [earlier]
//	shifts ...as submit... phi=PHI
//	admit ...as submit... phi=PHI		by the first of those shifts
//	advance T; end ID; cancel ID
//
// After each command stands what was said, then who runs and waits where.
func TestScenarios(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		w := &story{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			said := w.run(d)
			audit(t, w.s)
			return said + w.timeline()
		})
	})
}

type story struct {
	t *testing.T
	s *Schedule
}

func (w *story) run(d *datadriven.TestData) string {
	switch d.Cmd {
	case "new":
		return w.begin(d)
	case "submit":
		a := w.sla(d)
		p, why := w.s.Submit(a)
		if why.Refused() {
			return fmt.Sprintf("refused, %s: %s\n", why.Code, why.Detail)
		}
		return fmt.Sprintf("accepted at %v for %v\n", p.Start, p.Price)
	case "alternatives":
		var b strings.Builder
		for _, o := range w.s.Alternatives(w.sla(d), MaxAlternatives) {
			fmt.Fprintln(&b, o.String())
		}
		return b.String()
	case "shifts":
		return w.shifts(d)
	case "admit":
		return w.admit(d)
	case "advance":
		var b strings.Builder
		for _, e := range w.s.Advance(at(w.id(d))) {
			fmt.Fprintf(&b, "%v: %d %v\n", e.At, e.ID, e.Kind)
		}
		return b.String()
	case "end":
		return fmt.Sprintln(w.s.End(w.id(d)))
	case "cancel":
		return fmt.Sprintln(w.s.Cancel(w.id(d)))
	}
	d.Fatalf(w.t, "unknown command %s", d.Cmd)
	return ""
}

func (w *story) begin(d *datadriven.TestData) string {
	opt := options(EDF)
	opt.Price = 3600 * grid.Price(grid.Credit)
	name, level := opt.Order.String(), opt.Disclose.String()
	d.MaybeScanArgs(w.t, "order", &name)
	d.MaybeScanArgs(w.t, "disclose", &level)
	d.MaybeScanArgs(w.t, "nodes", &opt.Nodes)
	opt.Replan = d.HasArg("replan")
	if err := opt.Order.UnmarshalText([]byte(name)); err != nil {
		d.Fatalf(w.t, "%v", err)
	}
	if err := opt.Disclose.UnmarshalText([]byte(level)); err != nil {
		d.Fatalf(w.t, "%v", err)
	}
	w.s = newSchedule(w.t, opt)
	return ""
}

// id is the number behind the command.
func (w *story) id(d *datadriven.TestData) (id int64) {
	if _, err := fmt.Sscan(d.CmdArgs[0].Key, &id); err != nil {
		d.Fatalf(w.t, "%v", err)
	}
	return id
}

func (w *story) sla(d *datadriven.TestData) SLA {
	var nodes int
	var te, ready, deadline int64
	d.ScanArgs(w.t, "nodes", &nodes)
	d.ScanArgs(w.t, "te", &te)
	d.ScanArgs(w.t, "window", &ready, &deadline)
	a := flexible(w.s, w.id(d), te, nodes, ready, deadline)
	d.MaybeScanArgs(w.t, "fix", &a.Fix)
	d.MaybeScanArgs(w.t, "threshold", &a.Threshold)
	var budget int64
	if d.MaybeScanArgs(w.t, "budget", &budget) {
		a.Budget = grid.Credits(budget) * grid.Credit
	}
	a.Earlier = d.HasArg("earlier")
	return a
}

func (w *story) shifts(d *datadriven.TestData) string {
	var phi int
	d.ScanArgs(w.t, "phi", &phi)
	a := w.sla(d)
	var b strings.Builder
	for _, sh := range w.s.Shifts(a, phi) {
		fmt.Fprintf(&b, "ask %d to [%v, %v) for %v\n", sh.ID, sh.Ready, sh.Due, sh.Compensation)
	}
	return b.String()
}

func (w *story) admit(d *datadriven.TestData) string {
	var phi int
	d.ScanArgs(w.t, "phi", &phi)
	a := w.sla(d)
	p, why := w.s.AdmitByShift(a, w.s.Shifts(a, phi)[0])
	if why.Refused() {
		return fmt.Sprintf("refused, %s: %s\n", why.Code, why.Detail)
	}
	return fmt.Sprintf("accepted at %v for %v\n", p.Start, p.Price)
}

func (w *story) timeline() string {
	var b strings.Builder
	for _, p := range w.s.Promises() {
		state := "waits"
		switch {
		case p.Running:
			state = "runs"
		case p.Fixed:
			state = "fixed"
		}
		fmt.Fprintf(&b, "  %d %-5s %d nodes over [%v, %v) of [%v, %v), version %d, %v credits\n",
			p.SLA.ID, state, p.Size.Nodes, p.Start, p.End(), p.Ready, p.Due, p.Version, p.Price)
	}
	return b.String()
}
