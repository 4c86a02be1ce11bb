package manager

import (
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// keptLooks is how many looks of the past there are, one a sweep.
const keptLooks = 8

// look answers what the manager has to say of itself.
func (m *Manager) look(from agents.ID, q agents.LookRequest) {
	life := m.driver
	m.after(within(m.calls, 40, 300), func() {
		answer := agents.Looked{Ref: q.Ref}
		wait := within(m.calls, 1, 200)
		switch {
		case !m.up():
			answer.Failure = bourse.Reason{Code: bourse.Unknown, Detail: "the controller does not answer"}
		case !m.strikes(OldLook):
			answer.Look = m.view()
			if down := m.crashesShown; down > 0 && m.unwritten() {
				m.crashesShown = 0
				m.after(1, func() { m.crash(down) })
			}
		case m.calls.IntN(2) == 0 && len(m.looks) > 2: // it was asked for before
			answer.Look = m.looks[m.calls.IntN(len(m.looks)-2)]
			m.trouble(m.now)
		default: // it comes late
			answer.Look = m.view()
			wait = within(m.calls, 5*bourse.Second, 3*bourse.Minute)
			m.trouble(m.now.Add(wait))
		}
		m.after(wait, func() {
			if m.driver == life {
				m.out.Send(from, answer)
			}
		})
	})
}

// unwritten reports whether there is a job of ours that a crash would lose.
func (m *Manager) unwritten() bool {
	return m.dirty && slices.ContainsFunc(m.book.jobs, func(j *job) bool {
		return j.ours && !slices.ContainsFunc(m.saved.jobs, func(s *job) bool { return s.id == j.id })
	})
}

// remember keeps a look for later.
func (m *Manager) remember() {
	if m.looks = append(m.looks, m.view()); len(m.looks) > keptLooks {
		m.looks = m.looks[1:]
	}
}

// view is what a look shows now.
func (m *Manager) view() *bourse.Look {
	l := &bourse.Look{At: m.clock(), Source: "simulated"}
	for _, n := range m.nodes {
		busy := 0
		if n.work != nil {
			busy = 1
		}
		l.Nodes = append(l.Nodes, bourse.ManagedNode{Name: n.name, State: n.state, CPUs: 1, Busy: busy, Partitions: []string{n.partition}})
	}
	slices.SortFunc(l.Nodes, func(a, b bourse.ManagedNode) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	jobs := slices.Clone(m.book.jobs)
	slices.SortStableFunc(jobs, byPriority)
	for _, j := range jobs {
		l.Jobs = append(l.Jobs, bourse.ManagedJob{Number: j.id10(), Name: j.name, User: j.user, State: j.state, Why: j.why, Partition: j.partition,
			Reservation: j.reservation, Count: j.count, Nodes: j.nodes, Exclusive: true, Limit: j.limit, Submit: j.submit, Start: max(j.start, j.planned()), End: j.end, Exit: j.exit, Signal: j.signal})
	}
	for _, r := range m.book.reservations {
		l.Reservations = append(l.Reservations, bourse.ManagedReservation{Name: r.name, Start: r.start, End: r.end, Nodes: slices.Clone(r.nodes), Users: slices.Clone(r.users)})
	}
	return l
}

// planned is when a job that waits is to start, if it says.
func (j *job) planned() bourse.Time {
	if j.state == bourse.ManagedPending {
		return j.begin
	}
	return 0
}

// output answers what work has printed: a line for its begin and one for its end.
func (m *Manager) output(from agents.ID, q agents.OutputRequest) {
	life := m.driver
	m.after(within(m.calls, 40, 300), func() {
		answer := agents.Output{Ref: q.Ref, Name: q.Name}
		text := ""
		for _, r := range m.truth.runs {
			if r.Name == q.Name && r.Ours {
				if text += "begun\n"; r.Over > 0 {
					text += "over with " + strconv.Itoa(r.Exit) + "\n"
				}
			}
		}
		if text == "" || !m.up() {
			answer.Failure = bourse.Reason{Code: bourse.Unknown, Detail: "there is no output of " + q.Name}
		}
		answer.Size = int64(len(text))
		if answer.From = min(q.From, answer.Size); q.From < 0 {
			answer.From = max(0, answer.Size-bourse.MaxTail)
		}
		answer.Data = []byte(text[answer.From:])
		if m.driver == life {
			m.out.Send(from, answer)
		}
	})
}
