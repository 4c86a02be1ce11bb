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
	row := r.heads()
	if err := out.Write(row.cells); err != nil {
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

// jobRow is a row of jobs.csv that is being filled, and where the columns begin that few runs
// have; 0: this run has none of them.
type jobRow struct {
	cells                  []string
	window, part, portions int
}

// heads is the row of heads.
func (r *Report) heads() *jobRow {
	row := &jobRow{cells: Heads(columns)}
	add := func(has bool, list ...Column) (at int) {
		if has {
			at = len(row.cells)
			row.cells = append(row.cells, Heads(list)...)
		}
		return at
	}
	row.window = add(r.anyJob(func(j *voJob) bool { return j.Flexible > 0 }), windowColumns...)
	row.part = add(r.anyJob(func(j *voJob) bool { return len(j.Parts) > 0 }), partColumn)
	row.portions = add(r.anyJob(func(j *voJob) bool { return j.divides() }), portionColumns...)
	return row
}

// anyJob reports whether any job of a VO is one that is looked for.
func (r *Report) anyJob(is func(*voJob) bool) bool {
	return slices.ContainsFunc(r.brokers, func(b *vo) bool { return slices.ContainsFunc(b.order, is) })
}

func (s *site) writeJobs(out *csv.Writer, row *jobRow) error {
	rows := slices.Clone(s.rows)
	slices.SortStableFunc(rows, func(a, b localRow) int {
		return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.job, b.job))
	})
	for _, j := range rows {
		group := ""
		if j.group != noGroup {
			group = s.groups[j.group].Name
		}
		row.fill("", s.name, strconv.FormatInt(j.job, 10), "local", j.submit.String(), instant(j.start), instant(j.end),
			strconv.Itoa(int(j.nodes)), "0", j.status, string(j.reason), group, j.class)
		if err := out.Write(row.cells); err != nil {
			return err
		}
	}
	return nil
}

// write writes the rows of a job: its last window, and earlier legs that cost something.
func (j *voJob) write(out *csv.Writer, row *jobRow, broker string, until grid.Time, earlier []formerLeg) error {
	if len(j.window) == 0 {
		row.fill(broker, "", j.Name, "vo", j.Submit.String(), "", "", strconv.Itoa(j.Nodes), "0", j.state.String(), string(j.reason.Code))
		j.fillWindow(row, &history.Leg{})
		if !j.Composed() {
			j.fillPortion(row, j.PortionOf(0), grid.LegPart{})
		}
		if err := out.Write(row.cells); err != nil {
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
func (j *voJob) writeLeg(out *csv.Writer, row *jobRow, broker string, until grid.Time, l *history.Leg, became string) error {
	start, end := instant(l.What.Start), ""
	switch _, at, ran := l.Ran(until); {
	case l.State.Terminal() && !ran:
		start = ""
	case l.State.Terminal():
		end = at.String()
	}
	row.fill(broker, l.Site, j.Name, "vo", j.Submit.String(), start, end, strconv.Itoa(l.What.Nodes),
		l.Posted.String(), status(l, until), string(cmp.Or(l.Failed.Code, l.Reason)), l.What.Group, "", became)
	j.fillWindow(row, l)
	if len(j.Parts) > 0 {
		row.cells[row.part] = l.Part
	}
	j.fillPortion(row, j.portion(l.Part), l.What.Part)
	return out.Write(row.cells)
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
func (row *jobRow) fill(cells ...string) {
	clear(row.cells[copy(row.cells, cells):])
}

// fillWindow fills the cells of a leg's window, if the row has them.
func (j *voJob) fillWindow(row *jobRow, l *history.Leg) {
	if row.window == 0 {
		return
	}
	cells := row.cells[row.window:]
	if l.Flex.Due > 0 {
		cells[0], cells[1] = l.Flex.Ready.String(), l.Flex.Due.String()
	}
	if l.Version > 0 {
		cells[2] = strconv.Itoa(int(l.Version))
	}
	cells[3], cells[4] = strconv.Itoa(l.Shifts), j.paid.String()
}

// divides reports whether the job asks for less than whole nodes.
func (j *voJob) divides() bool {
	return !j.Portion.Whole() || slices.ContainsFunc(j.Parts, func(p grid.JobPart) bool { return !p.Portion.Whole() })
}

// portion is what the job, or the part of it of a name, asks for of each node.
func (j *voJob) portion(part string) grid.Portion {
	if i := slices.IndexFunc(j.Parts, func(p grid.JobPart) bool { return p.Name == part }); i >= 0 {
		return j.Parts[i].Portion
	}
	return j.Portion
}

// fillPortion fills the cells of what is asked for and taken of each node, if the row has them.
func (j *voJob) fillPortion(row *jobRow, asked grid.Portion, taken grid.LegPart) {
	if row.portions == 0 {
		return
	}
	for i, n := range []int64{int64(asked.GPUs), int64(asked.Cores), asked.Memory, int64(taken.Slices), int64(taken.Of)} {
		if n > 0 {
			row.cells[row.portions+i] = strconv.FormatInt(n, 10)
		}
	}
}

// instant shows t in seconds, nothing for Never.
func instant(t grid.Time) string {
	if t >= grid.Never {
		return ""
	}
	return t.String()
}
