package dialogue

import (
	"encoding/json"
	"io"
	"os/exec"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// Chooser is a program that chooses among the windows of a broker's cycles: a line for each
// cycle that has any, a line back. At the end its stdin is closed.
type Chooser struct{ peer *Peer }

// StartChooser starts such a program, a name and its arguments, in a folder; "": this one. Its
// stderr goes to messages. Close must be called.
func StartChooser(command []string, dir string, messages io.Writer) (*Chooser, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	p, err := start(cmd, messages)
	if err != nil {
		return nil, err
	}
	return &Chooser{p}, nil
}

// cycle is the line of a cycle.
type cycle struct {
	Cycle  uint64       `json:"cycle"`
	Now    grid.Time    `json:"now"`
	Budget grid.Credits `json:"budget"`
	Jobs   []cycleJob   `json:"jobs"`
}

type cycleJob struct {
	Name         string        `json:"name"`
	User         string        `json:"user"`
	Submit       grid.Time     `json:"submit"`
	Priority     int           `json:"priority"`
	Nodes        int           `json:"nodes"`
	Length       grid.Duration `json:"length"`
	Budget       grid.Credits  `json:"budget"`
	Deadline     *grid.Time    `json:"deadline"` // null: none
	Alternatives []alternative `json:"alternatives"`
}

// alternative is as in the answer of bourse search.
type alternative struct {
	Start grid.Time     `json:"start"`
	End   grid.Time     `json:"end"`
	Time  grid.Duration `json:"time"`
	Cost  grid.Credits  `json:"cost"`
	Parts []part        `json:"parts"`
}

type part struct {
	Part  string       `json:"part,omitempty"` // of a job of parts
	Node  string       `json:"node"`           // site/group
	Nodes int          `json:"nodes"`
	Start grid.Time    `json:"start"`
	End   grid.Time    `json:"end"`
	Cost  grid.Credits `json:"cost"`
}

// likeChoice is an answer to a cycle.
const likeChoice = `{"choose":{"wave":1}}`

// Choose asks for the choice of a cycle.
func (c *Chooser) Choose(q *planning.Question) ([]int, error) {
	line, err := json.Marshal(lineOf(q))
	if err != nil {
		return nil, err
	}
	text, err := c.peer.Ask(append(line, '\n'))
	if err != nil {
		return nil, err
	}
	var said struct {
		Choose map[string]int `json:"choose"`
	}
	if err := parseAs(text, &said, likeChoice); err != nil {
		return nil, err
	}
	return q.Choice(said.Choose)
}

// Close ends the program: once it has seen the end of its input, or by force after a while.
func (c *Chooser) Close() { c.peer.Stop(true) }

// Kill ends the program at once.
func (c *Chooser) Kill() { c.peer.Stop(false) }

func lineOf(q *planning.Question) *cycle {
	line := &cycle{Cycle: q.Cycle, Now: q.Now, Budget: q.Budget, Jobs: make([]cycleJob, len(q.Jobs))}
	for i := range q.Jobs {
		a := &q.Jobs[i]
		r := &a.Job.Request
		j := cycleJob{Name: a.Job.Name, User: a.Job.User, Submit: a.Job.Submit, Priority: a.Job.Priority,
			Nodes: r.Nodes, Length: r.Length, Budget: r.Budget, Alternatives: make([]alternative, len(a.Windows))}
		if r.Deadline != grid.Never {
			j.Deadline = &r.Deadline
		}
		for k := range a.Windows {
			w := &a.Windows[k]
			j.Alternatives[k] = alternative{Start: w.Start, End: w.End, Time: w.Time, Cost: w.Cost, Parts: make([]part, len(w.Legs))}
			for n, l := range w.Legs {
				j.Alternatives[k].Parts[n] = part{l.Part, l.Site + "/" + l.Leg.Group, l.Leg.Nodes, l.Leg.Start, l.Leg.End, l.Cost}
			}
		}
		line.Jobs[i] = j
	}
	return line
}
