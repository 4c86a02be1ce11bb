//go:build plants

package broker

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// partPlants are the planted bugs of jobs of parts.
var partPlants = map[string]func(*testing.T) bool{
	"part-bought-twice": func(t *testing.T) bool {
		return strings.Contains(lostPart(t).tell("south", "Held 2.0 4"), "begun vo1/1/3")
	},
	"part-forgotten": func(t *testing.T) bool {
		s := partsOf(t)
		s.tell("north", "Held 1.0 2")
		s.tell("south", "Held 1.1 4")
		return strings.Contains(s.tell("south", "Prepared 1.1"), "COMMIT")
	},
	"part-at-another-instant": func(t *testing.T) bool { return !strings.Contains(lostPart(t).trace.String(), "[800, ") },
	"part-by-anothers-rules":  func(t *testing.T) bool { return !strings.Contains(lostPart(t).trace.String(), ", 1300)") },
	"part-not-apart": func(t *testing.T) bool {
		return !strings.Contains(lostPart(t).trace.String(), "-> south: Hold vo1/1/2.0")
	},
	"part-given-up-late": func(t *testing.T) bool { // the locks must end before its first part starts
		s := storyOf(t, datadriven.CmdArg{Key: "lead", Vals: []string{"10"}})
		s.tell("submit", "wave parts=x:1:500:300,y:1:1000 budget=90")
		s.trace.Reset()
		s.after(9 * grid.Second)
		return !strings.Contains(s.trace.String(), "ABORT")
	},
	"part-offset-lost": func(t *testing.T) bool {
		s, again := partsOf(t), New(Defaults("vo1"))
		again.Replay(0, s.b.Image())
		return again.mem.Names["wave"].Parts[1].Offset != 300*grid.Second
	},
}

// storyOf begins a story with two sites.
func storyOf(t *testing.T, more ...datadriven.CmdArg) *tale {
	s := &tale{t: t, taken: map[agents.Row]bool{}}
	s.command(&datadriven.TestData{Cmd: "broker", CmdArgs: append(more,
		datadriven.CmdArg{Key: "sites", Vals: []string{"north", "south"}}, datadriven.CmdArg{Key: "alternatives", Vals: []string{"1"}})})
	return s
}

// tell returns what a command leads to.
func (s *tale) tell(who, what string) string {
	s.trace.Reset()
	s.command(&datadriven.TestData{Cmd: who, Input: what})
	return s.trace.String()
}

// partsOf has a job of two parts that stay apart, the second later and shorter. South is
// dearer than north, which has room for both.
func partsOf(t *testing.T) *tale {
	s := storyOf(t)
	s.tell("group", "north price=1\nsouth price=4")
	s.tell("submit", "wave parts=x:2:1000,y:2:500:300 budget=90 ready=500 apart=true")
	return s
}

// lostPart has it placed, and its second part lost.
func lostPart(t *testing.T) *tale {
	s := partsOf(t)
	for _, x := range []string{"Held 1.0 2", "Held 1.1 4", "Prepared 1.0", "Prepared 1.1", "Confirmed 1.0", "Confirmed 1.1"} {
		s.tell(map[bool]string{true: "north", false: "south"}[strings.Contains(x, "1.0")], x)
	}
	s.after(100 * grid.Second)
	s.tell("south", "Degraded 1.1 4 0.4")
	return s
}
