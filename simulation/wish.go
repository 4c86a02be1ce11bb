package simulation

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// A wish is what the user of a job does with it once it has a window. All of a job's numbers
// are drawn, whatever the shares are. So a larger share adds jobs and changes none.
type wish struct {
	cancels, modifies  bool
	cancelAt, modifyAt configs.Thousandths // over the time from the booking to the start
	length             configs.Thousandths // the new one, over the old one
}

// wishesOf draws the wishes for a workload's jobs, in their order; nil if there are none.
func wishesOf(w *configs.VOWorkload, jobs int, seed uint64) []wish {
	if w == nil || w.Cancel == 0 && w.Modify == 0 {
		return nil
	}
	stream := rand.New(rand.NewPCG(seed, 0))
	happens := func(share configs.Thousandths) bool { return stream.Int64N(int64(configs.One)) < int64(share) }
	between := func(r configs.Range[configs.Thousandths]) configs.Thousandths { return evenly(stream, r) }
	list := make([]wish, jobs)
	for i := range list {
		list[i] = wish{cancels: happens(w.Cancel), cancelAt: between(w.CancelAt),
			modifies: happens(w.Modify), modifyAt: between(w.ModifyAt), length: between(w.ModifyLength)}
	}
	return list
}

// evenly draws a number from a range.
func evenly(stream *rand.Rand, r configs.Range[configs.Thousandths]) configs.Thousandths {
	return r.Lo + configs.Thousandths(stream.Int64N(int64(r.Hi-r.Lo)+1))
}

// ahead lets the jobs of a workload start only some time after they are submitted.
func ahead(w *configs.VOWorkload, jobs []grid.Job) {
	for i := range jobs {
		jobs[i].Ready = jobs[i].Submit.Add(w.Ahead)
	}
}

// part returns so many thousandths of a duration. A hundredfold of the longest fits.
func part(d grid.Duration, share configs.Thousandths) grid.Duration {
	return d * grid.Duration(share) / grid.Duration(configs.One)
}

// shorten makes the work of a workload's jobs really take a drawn part of their lengths, as
// its key says.
func shorten(w *configs.VOWorkload, jobs []grid.Job, seed uint64) {
	if w.Run.Hi == 0 || w.Run.Lo == configs.One { // not read from a file, or all of it
		return
	}
	stream := rand.New(rand.NewPCG(seed, 0))
	for i := range jobs {
		j := &jobs[i]
		takes := j.Length
		if j.Run > 0 {
			takes = j.Run
		}
		j.Run = max(part(takes, evenly(stream, w.Run)), grid.Millisecond)
	}
}

// booked tells the users that one of their jobs has a window.
type booked struct {
	job   string
	start grid.Time
}

// turnOf is the alarm of a user who will change a job.
type turnOf struct {
	job     int // of the users' jobs
	cancels bool
}

// Kind names the message.
func (booked) Kind() string { return "Booked" }

// Kind names the alarm.
func (turnOf) Kind() string { return "TurnOf" }

// notify returns a hook of the world that tells a broker's users of each window that is
// booked for a job.
func (w *world) notify(broker, users agents.ID) {
	open := map[grid.TxID]booked{}
	w.sim.After(func(now grid.Time, id agents.ID, out *agents.Outbox) {
		if id != broker {
			return
		}
		for _, f := range out.Facts {
			switch f := f.(type) {
			case facts.TxBegun:
				if f.Repairs == (grid.LegID{}) && f.Replaces == nil {
					open[f.Tx] = booked{f.Job, history.StartOf(f.Legs)}
				}
			case facts.TxDecided:
				if b, ok := open[f.Tx]; ok && f.Commit {
					w.sim.Post(now, users, b)
				}
				delete(open, f.Tx)
			}
		}
	})
}

// book sets the alarms for a user's wishes about a job. A job that loses its window and gets
// another one is not looked at again.
func (u *users) book(now grid.Time, b booked, out *agents.Outbox) {
	i, ok := u.index[b.job]
	if !ok {
		return
	}
	delete(u.index, b.job)
	at := func(share configs.Thousandths) grid.Time {
		return now.Add(part(b.start.Sub(now), share))
	}
	x := &u.wishes[i]
	if x.modifies {
		out.Alarm(at(x.modifyAt), turnOf{i, false})
	}
	if x.cancels {
		out.Alarm(at(x.cancelAt), turnOf{i, true})
	}
}

// wish sends a user's wish for a job to the broker.
func (u *users) wish(t turnOf, out *agents.Outbox) {
	j := &u.jobs[t.job]
	if t.cancels {
		out.Send(u.broker, agents.JobCancel{Job: j.Name, User: j.User})
		return
	}
	r := j.Request
	r.Length = max(part(r.Length, u.wishes[t.job].length), grid.Millisecond)
	r.Budget = max(r.Budget, r.DefaultBudget())
	out.Send(u.broker, agents.JobModify{Job: j.Name, User: j.User, Request: r})
}
