package study

import (
	"io"
	"sync"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// runFolder is the folder of a run: the files of the report, and those needed to repeat
// the run.
type runFolder struct {
	*report.Folder
	run     *configs.Run
	writing sync.Mutex // held while files are put in place
}

// names lists the files, with those that users look at first.
func (f *runFolder) names() []string {
	list := []string{report.ReportFile, report.SummaryFile, report.JobsFile, report.EventsFile, report.GanttFile, configs.RunFile}
	if f.run.Runs > 1 {
		list = append(list, report.SummariesFile, report.MeansFile)
	}
	return list
}

// write puts all files in place.
func (f *runFolder) write(first *report.Report, all []report.Summary) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	more := []report.File{{Name: configs.RunFile, Write: f.run.Write}}
	if len(all) > 1 {
		more = append(more,
			report.File{Name: report.SummariesFile, Write: func(w io.Writer) error { return writeLines(w, all) }},
			report.File{Name: report.MeansFile, Write: func(w io.Writer) error { return flags.WriteJSON(w, report.Means(all)) }})
	}
	return f.Write(first, more...)
}

// writeLines writes each summary as a line of JSON.
func writeLines(w io.Writer, all []report.Summary) error {
	for i := range all {
		if err := flags.WriteLine(w, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// abandon removes half-written files. If write is running, it lets it finish first.
func (f *runFolder) abandon() {
	f.writing.Lock()
	f.Discard()
}
