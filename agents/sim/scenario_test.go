package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"

	"github.com/cockroachdb/datadriven"
)

// A scenario for every kind of fault: an asker sends numbers to a counter, one a
// second, each again every second until it is answered; the file says what goes
// wrong, and the trace is its golden output. The commands:
//
//	world seed=N numbers=N [snapshot=N] [compare]   whose input is the faults, one a line
//	run until=SECONDS                     the trace up to then
//	heal                                  all faults end
//	state                                 what the counter has counted and who was answered
func TestFaulty_Scenarios(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, filepath.Join("testdata", "faults"), func(t *testing.T, path string) {
		t.Parallel()
		var w *Faulty
		var a *asker
		var trace strings.Builder
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			trace.Reset()
			switch d.Cmd {
			case "world":
				opt := Options{Trace: func(l string) { fmt.Fprintln(&trace, l) }, Lo: 10, Hi: 40, Codec: journal.NewCodec(counted{}, image{})}
				var numbers int
				d.ScanArgs(t, "seed", &opt.Seed)
				d.ScanArgs(t, "numbers", &numbers)
				d.MaybeScanArgs(t, "snapshot", &opt.Snapshot)
				if d.HasArg("compare") {
					opt.Compare = func(agents.ID) bool { return true }
				}
				opt.Faults = faults(t, strings.FieldsFunc(d.Input, func(r rune) bool { return r == '\n' })...)
				w = NewFaulty(opt)
				a = &asker{most: numbers, answers: map[int]int{}}
				w.Add(counterOf(opt))
				w.Add(Host{ID: "asker", New: agentOf(a), Sturdy: true})
				return ""
			case "run":
				var until string
				d.ScanArgs(t, "until", &until)
				at, err := grid.ParseTime(until)
				if err == nil {
					err = w.Run(at)
				}
				if err != nil {
					return trace.String() + err.Error()
				}
				return trace.String()
			case "heal":
				w.Heal()
				return trace.String()
			case "state":
				c, _ := w.Agent("counter").(*counter)
				if c == nil {
					return fmt.Sprintf("the counter is down, %d answered", len(a.answers))
				}
				return fmt.Sprintf("counted %v, %d answered", c.order, len(a.answers))
			}
			t.Fatalf("%s: no command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

// Every kind of fault has a scenario named after it.
func TestFaulty_EveryKindHasAScenario(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		if _, err := os.Stat(filepath.Join("testdata", "faults", string(k)+".txt")); err != nil {
			t.Error(err)
		}
	}
}
