package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The files of a report, in the order in which they are told to the user.
const (
	SummaryFile = "summary.json"
	JobsFile    = "jobs.csv"
	EventsFile  = "events.jsonl"
	GanttFile   = "gantt.svg"
)

var names = [...]string{SummaryFile, JobsFile, EventsFile, GanttFile, ReportFile}

// partial marks a file that is being written.
const partial = ".partial"

// Folder is where a report is written. Every file grows beside its place, under
// a name that ends in ".partial", and is renamed when all of them are whole: a
// run that is stopped leaves the files of the run before.
type Folder struct {
	dir    string
	made   string // the topmost folder that OpenFolder had to make, "" if none
	events *os.File
}

// OpenFolder makes the folder if there is none and opens its events, to be
// handed to the collector of a run. End with Write or Discard. A folder in the
// place of one of the files is an error.
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
			return nil, fmt.Errorf("%s is a folder; a file of that name is to be written", path)
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

// Write writes the other files of the report, then puts all in their places.
// On an error nothing is put anywhere, but for a rename that fails halfway.
func (f *Folder) Write(r *Report) error {
	files := []struct {
		name  string
		write func(io.Writer) error
	}{{SummaryFile, r.WriteSummary}, {JobsFile, r.WriteJobs}, {GanttFile, r.WriteGantt}, {ReportFile, r.WriteHTML}}
	err := f.events.Close()
	for _, one := range files {
		if err == nil {
			err = create(filepath.Join(f.dir, one.name+partial), one.write)
		}
	}
	if err != nil {
		f.Discard()
		return err
	}
	for _, name := range names {
		path := filepath.Join(f.dir, name)
		if err := os.Rename(path+partial, path); err != nil {
			f.Discard()
			return err
		}
	}
	return nil
}

// Discard removes the files that were not put in their places, and the folders that
// were made for them.
func (f *Folder) Discard() {
	f.events.Close()
	for _, name := range names {
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
