package main

import (
	"io"
	"sync"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// runFolder is the folder of a run: the report's files and those by which the run
// is known and done again.
type runFolder struct {
	*report.Folder
	run     *configs.Run
	writing sync.Mutex // files are being put in their places
}

// names lists the files, those that people look at first.
func (f *runFolder) names() []string {
	list := []string{report.ReportFile, report.SummaryFile, report.JobsFile, report.EventsFile, report.GanttFile, configs.RunFile}
	if f.run.Runs > 1 {
		list = append(list, report.SummariesFile, report.MeansFile)
	}
	return list
}

// write puts all files in their places.
func (f *runFolder) write(first *report.Report, all []report.Summary) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	more := []report.File{{Name: configs.RunFile, Write: f.run.Write}}
	if len(all) > 1 {
		more = append(more,
			report.File{Name: report.SummariesFile, Write: func(w io.Writer) error { return writeLines(w, all) }},
			report.File{Name: report.MeansFile, Write: func(w io.Writer) error { return writeJSON(w, report.Means(all)) }})
	}
	return f.Write(first, more...)
}

// writeLines writes each summary as JSON in a line.
func writeLines(w io.Writer, all []report.Summary) error {
	for i := range all {
		if err := writeLine(w, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// abandon takes away what is half-written; what is being written is written to its
// end first.
func (f *runFolder) abandon() {
	f.writing.Lock()
	f.Discard()
}
