package report

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"bourse"
)

// The words of the status column of jobs.csv. Local jobs are waiting, running,
// ended, killed (ended at their estimate) or refused. A VO job that was never
// placed is waiting or refused (it will not be tried again); the legs of one
// that was placed are confirmed, running, ended, or came to a sad end: expired,
// heuristic (given up in doubt), released or lost.
const (
	waiting = "waiting"
	running = "running"
	ended   = "ended"
	killed  = "killed"
	refused = "refused"
)

// columns is the head of jobs.csv.
var columns = []string{"broker", "site", "job", "kind", "submit", "start", "end", "nodes", "cost", "status", "reason",
	"group", "class"}

// noGroup stands for a group that nobody has named.
const noGroup = -1

// localRow is a local job of a site. Start and end are Never where there is none.
type localRow struct {
	job                int64
	submit, start, end bourse.Time
	nodes, group       int32
	class, status      string
	reason             bourse.Code
}

// WriteJobs writes jobs.csv. Local jobs come first, site by site in the order
// of the header, by submit, then number; then VO jobs, broker by broker, in the
// order in which they were submitted, their legs in the order of the window.
//
// A VO job has one row for each leg of the last transaction that was committed
// for it, or a single row without a site if none was. The start of a confirmed
// leg that does not run yet is the reserved one; start and end are empty for
// what never ran. Reason is the code of the last refusal.
func (r *Report) WriteJobs(w io.Writer) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	out := csv.NewWriter(buffered)
	row := make([]string, len(columns))
	copy(row, columns)
	if err := out.Write(row); err != nil {
		return err
	}
	for _, s := range r.sites {
		if err := s.writeJobs(out, row); err != nil {
			return err
		}
	}
	for _, b := range r.brokers {
		for _, j := range b.order {
			if err := j.write(out, row, b.name, r.until); err != nil {
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

func (j *voJob) write(out *csv.Writer, row []string, broker string, until bourse.Time) error {
	if j.tx == nil {
		status := waiting
		if j.final {
			status = refused
		}
		fill(row, broker, "", j.Name, "vo", j.Submit.String(), "", "", strconv.Itoa(j.Nodes), "0", status, string(j.reason.Code), "", "")
		return out.Write(row)
	}
	for i := range j.tx.legs {
		l := &j.tx.legs[i]
		start, end := instant(l.what.Start), ""
		switch _, at, ran := l.ran(until); {
		case l.state.Terminal() && !ran:
			start = ""
		case l.state.Terminal():
			end = at.String()
		}
		fill(row, broker, l.site, j.Name, "vo", j.Submit.String(), start, end, strconv.Itoa(l.what.Nodes),
			l.posted.String(), l.status(until), string(l.reason), l.what.Group, "")
		if err := out.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// status is the word for a leg of a committed window.
func (l *voLeg) status(until bourse.Time) string {
	switch {
	case l.state == bourse.Settled:
		return ended
	case l.state.Terminal():
		return l.state.String()
	case l.state >= bourse.Confirmed && l.what.Start < until:
		return running
	case l.state == bourse.Running:
		return running
	}
	return bourse.Confirmed.String() // decided; the site may not have acknowledged it yet
}

func fill(row []string, cells ...string) { copy(row, cells) }

// instant shows t in seconds, nothing for Never.
func instant(t bourse.Time) string {
	if t >= bourse.Never {
		return ""
	}
	return t.String()
}
