package manager

import (
	"strconv"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// driver is the process between the cluster and the manager. It carries out one command
// after the other, takes looks, and remembers nothing.
type driver struct {
	*commands
	faults *faults
	looks  *looks
	out    *agents.Outbox
	line   []asked // commands that wait; the first is being carried out
	life   int     // the number of the life of its process
}

// asked is a command that waits for the driver.
type asked struct {
	from agents.ID
	agents.Command
	at grid.Time
}

// ask gives the driver a command, which waits for those before it.
func (dr *driver) ask(from agents.ID, c agents.Command) {
	dr.line = append(dr.line, asked{from, c, dr.now})
	if len(dr.line) == 1 {
		dr.call()
	}
}

// call begins the first command of the line.
func (dr *driver) call() {
	x, life := dr.line[0], dr.life
	took := within(dr.calls, 40, 230)
	if dr.faults.strikes(SlowCommand) {
		most := Slowest
		if dr.opt.queued() {
			most += Latest
		}
		took = within(dr.calls, grid.Minute/2, most)
		dr.truth.trouble(dr.now.Add(took))
	}
	if took > Slowest { // the driver gives it up, and it is carried out all the same
		dr.after(Slowest, func() { dr.answer(x, life, silent) })
		dr.after(took, func() { dr.late(x) })
		return
	}
	dr.after(took, func() {
		answer := dr.carryOut(x)
		if answer.Outcome == agents.Failure {
			dr.after(callLimit, func() { dr.answer(x, life, answer) })
			return
		}
		dr.answer(x, life, answer)
	})
}

// silent is the answer of the driver if the manager does not answer.
var silent = agents.CommandDone{Outcome: agents.Failure, Reason: grid.Reason{Code: grid.NoCluster, Detail: "no answer in time"}}

// late carries out a command that its driver has given up.
func (dr *driver) late(x asked) {
	if dr.up() {
		dr.do(x, true)
	}
}

// answer ends the first command of the line, if the driver that asked still lives.
func (dr *driver) answer(x asked, life int, d agents.CommandDone) {
	if dr.life != life {
		return
	}
	if d.Outcome == agents.Done {
		dr.at(acknowledged, saveEvery)
	}
	dr.line = dr.line[1:]
	if d.Outcome != "" {
		d.Ref, d.Name = x.Ref, x.Name
		dr.out.Send(x.from, d)
	}
	if len(dr.line) > 0 {
		dr.call()
	}
}

// carryOut carries out a command, or does what goes wrong instead. An answer without an
// outcome is lost.
func (dr *driver) carryOut(x asked) agents.CommandDone {
	switch {
	case !dr.up():
		return silent
	case dr.opt.queued() && dr.faults.strikes(LateCommand):
		late := callLimit + within(dr.calls, 1, Latest)
		dr.truth.trouble(dr.now.Add(late))
		dr.after(late, func() { dr.late(x) })
		return silent
	case dr.faults.strikes(RefusedCommand):
		code := []grid.Code{grid.Busy, grid.NotAllowed}[dr.calls.IntN(2)]
		return agents.CommandDone{Outcome: agents.Denied, Reason: grid.Reason{Code: code, Detail: "refused for no reason that is to be seen"}}
	}
	d := dr.do(x, false)
	if down := dr.aimed[created]; down > 0 && d.Outcome == agents.Done && (x.Verb == agents.Reserve || x.Verb == agents.Run) {
		dr.aimed[created] = 0
		if dr.calls.IntN(2) == 0 {
			dr.save()
		}
		dr.crash(down)
		return silent
	}
	if d.Outcome == agents.Done && x.Verb == agents.Reserve && dr.faults.strikes(EchoedCreate) {
		return dr.do(x, false)
	}
	if dr.faults.strikes(LostAnswer) {
		if dr.calls.IntN(2) == 0 {
			return agents.CommandDone{}
		}
		return silent
	}
	return d
}

// died is the end of the driver's process: waiting commands are forgotten; the present one
// goes on, and nobody hears what comes of it.
func (dr *driver) died() {
	dr.life++
	dr.line = nil
}

// look answers a look.
func (dr *driver) look(from agents.ID, q agents.LookRequest) {
	life := dr.life
	dr.after(within(dr.calls, 40, 300), func() {
		answer := agents.Looked{Ref: q.Ref}
		wait := within(dr.calls, 1, 200)
		switch {
		case !dr.up():
			answer.Failure = grid.Reason{Code: grid.Unknown, Detail: "the controller does not answer"}
		case !dr.faults.strikes(OldLook):
			answer.Look = dr.looks.view()
			if dr.looks.unwritten() {
				dr.at(shown, 1)
			}
		case dr.calls.IntN(2) == 0 && len(dr.looks.past) > 2: // an earlier look is shown
			answer.Look = dr.looks.past[dr.calls.IntN(len(dr.looks.past)-2)]
			dr.truth.trouble(dr.now)
		default: // it comes late
			answer.Look = dr.looks.view()
			wait = within(dr.calls, 5*grid.Second, 3*grid.Minute)
			dr.truth.trouble(dr.now.Add(wait))
		}
		dr.after(wait, func() {
			if dr.life == life {
				dr.out.Send(from, answer)
			}
		})
	})
}

// output answers with the output of work: a line for its begin and one for its end.
func (dr *driver) output(from agents.ID, q agents.OutputRequest) {
	life := dr.life
	dr.after(within(dr.calls, 40, 300), func() {
		answer := agents.Output{Ref: q.Ref, Name: q.Name, What: q.Source.What}
		text := ""
		for _, r := range dr.truth.runs {
			if r.Name == q.Name && r.Ours {
				if text += "begun\n"; r.Over > 0 {
					text += "over with " + strconv.Itoa(r.Exit) + "\n"
				}
			}
		}
		if text == "" || !dr.up() || q.Source.What != grid.ReadOutput {
			answer.Failure = grid.Reason{Code: grid.Unknown, Detail: "there is no output of " + q.Name}
		}
		answer.Size = int64(len(text))
		if answer.From = min(q.From, answer.Size); q.From < 0 {
			answer.From = max(0, answer.Size-grid.MaxTail)
		}
		answer.Data = []byte(text[answer.From:])
		if dr.life == life {
			dr.out.Send(from, answer)
		}
	})
}
