package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The files of a report, in the order in which they are listed for the user.
const (
	SummaryFile = "summary.json"
	JobsFile    = "jobs.csv"
	EventsFile  = "events.jsonl"
	GanttFile   = "gantt.svg"
	// Of several seeds.
	SummariesFile = "summaries.jsonl"
	MeansFile     = "means.json"
)

var names = [...]string{SummaryFile, JobsFile, EventsFile, GanttFile, ReportFile}

// several are the files that only a run of several seeds has.
var several = [...]string{SummariesFile, MeansFile}

// File is a file that is written beside those of the report.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// partial marks a file that is being written.
const partial = ".partial"

// Folder is the folder of a report. Every file is written under a name that ends in ".partial"
// and renamed when all of them are complete, so a run that is stopped leaves the files of the
// previous run.
type Folder struct {
	dir    string
	made   string // the topmost folder that OpenFolder had to make, "" if none
	events *os.File
	more   []File
}

// OpenFolder makes the folder if it does not exist and opens its file of events, for the
// collector of a run. End with Write or Discard. It is an error if one of the files is a
// folder.
func OpenFolder(dir string) (*Folder, error) {
	f := &Folder{dir: filepath.Clean(dir)}
	for d := f.dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err == nil || filepath.Dir(d) == d {
			break
		}
		f.made = d
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(f.dir, name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s is a folder, but a file of that name must be written", path)
		}
	}
	var err error
	if f.events, err = os.Create(filepath.Join(f.dir, EventsFile+partial)); err != nil {
		return nil, err
	}
	return f, nil
}

// Events takes the lines of events.jsonl.
func (f *Folder) Events() io.Writer { return f.events }

// Write writes the other files of the report and those in more, then puts all in place, and
// removes files that only an earlier run of several seeds had. On an error nothing is put in
// place, unless a rename fails halfway.
func (f *Folder) Write(r *Report, more ...File) error {
	f.more = more
	err := f.events.Close()
	for _, one := range append([]File{{SummaryFile, r.WriteSummary}, {JobsFile, r.WriteJobs}, {GanttFile, r.WriteGantt}, {ReportFile, r.WriteHTML}}, more...) {
		if err == nil {
			err = create(filepath.Join(f.dir, one.Name+partial), one.Write)
		}
	}
	if err != nil {
		f.Discard()
		return err
	}
	for _, name := range several {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.Discard()
			return err
		}
	}
	for _, name := range f.names() {
		path := filepath.Join(f.dir, name)
		if err := os.Rename(path+partial, path); err != nil {
			f.Discard()
			return err
		}
	}
	return nil
}

// names lists the files that the folder takes.
func (f *Folder) names() []string {
	list := names[:]
	for _, one := range f.more {
		list = append(list, one.Name)
	}
	return list
}

// Discard removes the files that were not put in their places, and the folders that
// were made for them.
func (f *Folder) Discard() {
	f.events.Close()
	for _, name := range f.names() {
		os.Remove(filepath.Join(f.dir, name+partial))
	}
	if f.made == "" {
		return
	}
	for d := f.dir; os.Remove(d) == nil && d != f.made; { // until one is not empty
		d = filepath.Dir(d)
	}
}

// create writes a file whole or says why not.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
