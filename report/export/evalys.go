package export

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// evalysFile writes rows in the order in which jobs and legs end.
type evalysFile struct {
	out  *csv.Writer
	end  *bufio.Writer
	base map[*group]int // the number of its first node
	e    *File
}

// Evalys exports to w the columns of evalys' JobSet: a row for each job and each leg
// that has begun.
func Evalys(w io.Writer, own, told []report.Site) *File {
	buffered := bufio.NewWriterSize(w, 1<<16)
	f := &evalysFile{out: csv.NewWriter(buffered), end: buffered, base: map[*group]int{}}
	f.e = newFile(f, own, told)
	n := 0
	for _, s := range f.e.sites {
		for _, g := range s.groups {
			f.base[g] = n
			n += g.nodes
		}
	}
	f.e.tell(f.out.Write(report.Heads(report.EvalysColumns)))
	return f.e
}

func (f *evalysFile) began(*stay) error                               { return nil }
func (f *evalysFile) settled(grid.Time, *site) error                  { return nil }
func (f *evalysFile) brokerFact(grid.Time, string, agents.Fact) error { return nil }

func (f *evalysFile) over(s *stay) error {
	id, of := s.site.name+"/"+s.job, s.site.name
	if s.vo() {
		id, of = fmt.Sprintf("%s/%s.%d", s.broker, s.work("."), s.leg.Leg), s.broker
	}
	success := "0"
	if s.status == report.Ended {
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
		from := f.base[s.group] + p.Lane
		if from != last+1 || first < 0 {
			flush()
			first = from
		}
		last = from + p.Height - 1
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
