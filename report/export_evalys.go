package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// evalysColumns are those of evalys.jobset.JobSet, then ours.
var evalysColumns = []csvColumn{
	{"jobID", "`SITE/NUMBER` of a local job, `VO/JOB.LEG` of a leg of a VO's job"},
	{"workload_name", "the owner of the job: its site, or the VO"},
	{"submission_time", "when it was submitted; if only a site's journal is read, when the site first heard of the leg"},
	{"requested_number_of_resources", "its nodes"},
	{"requested_time", "estimated or reserved run time"},
	{"success", "1 if it ended by itself, 0 if it was killed, released or lost, or still runs"},
	{"starting_time", "when it began"},
	{"execution_time", "how long it had its nodes; if it still runs, until the end of the run"},
	{"finish_time", "when it ended"},
	{"waiting_time", "from submission to start"},
	{"turnaround_time", "from submission to end"},
	{"stretch", "turnaround_time / execution_time; empty if it took no time"},
	{"allocated_resources", "its nodes as an interval set, such as `0-7 12`, numbered over all groups of all sites, in their order; empty if jobs share nodes"},
	{"site", "where it ran"},
	{"group", "the group of nodes"},
	{"status", "as in jobs.csv"},
}

// evalysFile writes rows in the order in which jobs and legs end.
type evalysFile struct {
	out  *csv.Writer
	end  *bufio.Writer
	base map[*exportGroup]int // the number of its first node
	e    *Export
}

// NewEvalys exports to w the columns of evalys' JobSet: a row for each job and each leg
// that has begun.
func NewEvalys(w io.Writer, own, told []Site) *Export {
	buffered := bufio.NewWriterSize(w, 1<<16)
	f := &evalysFile{out: csv.NewWriter(buffered), end: buffered, base: map[*exportGroup]int{}}
	f.e = newExport(f, own, told)
	n := 0
	for _, s := range f.e.sites {
		for _, g := range s.groups {
			f.base[g] = n
			n += g.nodes
		}
	}
	f.e.tell(f.out.Write(heads(evalysColumns)))
	return f.e
}

func (f *evalysFile) began(*stay) error                               { return nil }
func (f *evalysFile) settled(grid.Time, *exportSite) error            { return nil }
func (f *evalysFile) brokerFact(grid.Time, string, agents.Fact) error { return nil }

func (f *evalysFile) over(s *stay) error {
	id, of := s.site.name+"/"+s.job, s.site.name
	if s.vo() {
		id, of = fmt.Sprintf("%s/%s.%d", s.broker, s.job, s.leg.Leg), s.broker
	}
	success := "0"
	if s.status == ended {
		success = "1"
	}
	ran, around, stretch := s.end.Sub(s.start), s.end.Sub(s.submit), ""
	if ran > 0 {
		stretch = strconv.FormatFloat(float64(around)/float64(ran), 'f', 6, 64)
	}
	return f.out.Write([]string{id, of, s.submit.String(), strconv.Itoa(s.nodes), seconds(s.due.Sub(s.start)), success, s.start.String(), seconds(ran), s.end.String(),
		seconds(s.start.Sub(s.submit)), seconds(around), stretch, f.intervals(s), s.site.name, s.group.name, s.status})
}

// seconds shows a span as an instant is shown.
func seconds(d grid.Duration) string { return grid.Time(d).String() }

// intervals are the nodes of a stay, as procset.ProcSet reads them.
func (f *evalysFile) intervals(s *stay) string {
	var b strings.Builder
	first, last := -1, -1
	flush := func() {
		if first < 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(first))
		if last > first {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(last))
		}
	}
	for _, p := range s.lanes {
		from := f.base[s.group] + p.lane
		if from != last+1 || first < 0 {
			flush()
			first = from
		}
		last = from + p.height - 1
	}
	flush()
	return b.String()
}

func (f *evalysFile) finish() error {
	f.out.Flush()
	if err := f.out.Error(); err != nil {
		return err
	}
	return f.end.Flush()
}
