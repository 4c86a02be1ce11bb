package report

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// The words of the status column of jobs.csv.
const (
	waiting = "waiting"
	Running = "running"
	Ended   = "ended"
	failed  = "failed"
	Killed  = "killed"
	refused = "refused"
)

// noGroup stands for a group that is not known.
const noGroup = -1

// localRow is a local job of a site. Start and end are Never where there is none.
type localRow struct {
	job                int64
	submit, start, end grid.Time
	nodes, group       int32
	work               grid.Duration // of each node, where nodes are shared
	class, status      string
	reason             grid.Code
}

// WriteJobs writes jobs.csv. Local jobs come first, site by site in the order
// of the header, by submit, then number; then VO jobs, broker by broker, in the
// order in which they were submitted, their legs in the order of the window.
//
// A VO job has one row for each leg of its last window, or a single row without
// a site if it had none. In place of a leg that was lost and repaired are the legs
// of the repair. Rows of earlier legs that cost something follow, in the order in
// which they were bought, so that the costs of a broker's rows add up to what it
// has spent. The start of a confirmed leg that does not run yet is the
// reserved one; start and end are empty for what never ran. Reason is the code of
// the last refusal.
func (r *Report) WriteJobs(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	out := csv.NewWriter(buffered)
	row := Heads(columns)
	if r.windows() {
		row = append(row, Heads(windowColumns)...)
	}
	if r.parted() {
		row = append(row, partColumn.Name)
	}
	if err := out.Write(row); err != nil {
		return err
	}
	for _, s := range r.sites {
		if err := s.writeJobs(out, row); err != nil {
			return err
		}
	}
	for _, b := range r.brokers {
		earlier := b.earlier()
		for _, j := range b.order {
			if err := j.write(out, row, b.name, r.until, earlier[j]); err != nil {
				return err
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buffered.Flush()
}

func (s *site) writeJobs(out *csv.Writer, row []string) error {
	rows := slices.Clone(s.rows)
	slices.SortStableFunc(rows, func(a, b localRow) int {
		return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.job, b.job))
	})
	for _, j := range rows {
		group := ""
		if j.group != noGroup {
			group = s.groups[j.group].Name
		}
		fill(row, "", s.name, strconv.FormatInt(j.job, 10), "local", j.submit.String(), instant(j.start), instant(j.end),
			strconv.Itoa(int(j.nodes)), "0", j.status, string(j.reason), group, j.class)
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// write writes the rows of a job: its last window, and earlier legs that cost something.
func (j *voJob) write(out *csv.Writer, row []string, broker string, until grid.Time, earlier []formerLeg) error {
	if len(j.window) == 0 {
		fill(row, broker, "", j.Name, "vo", j.Submit.String(), "", "", strconv.Itoa(j.Nodes), "0", j.state.String(), string(j.reason.Code))
		j.fillWindow(row, &history.Leg{})
		if err := out.Write(row); err != nil {
			return err
		}
	}
	for i := range j.window {
		l := j.window.at(i)
		if err := j.writeLeg(out, row, broker, until, l, lastBecame(l)); err != nil {
			return err
		}
	}
	for _, l := range earlier {
		if err := j.writeLeg(out, row, broker, until, l.Leg, l.became); err != nil {
			return err
		}
	}
	return nil
}

// writeLeg writes the row of a leg.
func (j *voJob) writeLeg(out *csv.Writer, row []string, broker string, until grid.Time, l *history.Leg, became string) error {
	start, end := instant(l.What.Start), ""
	switch _, at, ran := l.Ran(until); {
	case l.State.Terminal() && !ran:
		start = ""
	case l.State.Terminal():
		end = at.String()
	}
	fill(row, broker, l.Site, j.Name, "vo", j.Submit.String(), start, end, strconv.Itoa(l.What.Nodes),
		l.Posted.String(), status(l, until), string(cmp.Or(l.Failed.Code, l.Reason)), l.What.Group, "", became)
	j.fillWindow(row, l)
	if len(j.Parts) > 0 {
		row[len(row)-1] = l.Part
	}
	return out.Write(row)
}

// status is the word for a leg of a committed window.
func status(l *history.Leg, until grid.Time) string {
	switch {
	case l.Failed.Refused():
		return failed
	case l.State == grid.Settled:
		return Ended
	case l.State.Terminal():
		return l.State.String()
	case l.State >= grid.Confirmed && l.What.Start < until:
		return Running
	case l.State == grid.Running:
		return Running
	}
	return grid.Confirmed.String() // decided; the site may not have acknowledged it yet
}

// fill fills the first cells of a row and leaves the others empty.
func fill(row []string, cells ...string) {
	clear(row[copy(row, cells):])
}

// fillWindow fills the cells of a leg's window, if the row has them.
func (j *voJob) fillWindow(row []string, l *history.Leg) {
	if len(row) < len(columns)+len(windowColumns) {
		return
	}
	cells := row[len(columns):]
	if l.Flex.Due > 0 {
		cells[0], cells[1] = l.Flex.Ready.String(), l.Flex.Due.String()
	}
	if l.Version > 0 {
		cells[2] = strconv.Itoa(int(l.Version))
	}
	cells[3], cells[4] = strconv.Itoa(l.Shifts), j.paid.String()
}

// windows reports whether any job leaves its site a choice.
func (r *Report) windows() bool {
	for _, b := range r.brokers {
		if slices.ContainsFunc(b.order, func(j *voJob) bool { return j.Flexible > 0 }) {
			return true
		}
	}
	return false
}

// parted reports whether any job has parts.
func (r *Report) parted() bool {
	return slices.ContainsFunc(r.brokers, func(b *vo) bool {
		return slices.ContainsFunc(b.order, func(j *voJob) bool { return len(j.Parts) > 0 })
	})
}

// instant shows t in seconds, nothing for Never.
func instant(t grid.Time) string {
	if t >= grid.Never {
		return ""
	}
	return t.String()
}
