package study

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/files"
)

// The files of a sweep. The progress file grows by a line with every run and is removed
// when all are done. An interrupted sweep leaves it behind.
const (
	sweepRuns    = "runs.csv"
	sweepSummary = "summary.csv"
	sweepFile    = "sweep.json"
	sweepApart   = "differences.csv"
	sweepPage    = "sweep.html"
	sweepSVG     = "sweep.svg"
	sweepPDF     = "sweep.pdf"
	sweepPartial = "progress.jsonl"
)

// sweepSheet holds the results of a sweep's runs, in memory and in the progress file of
// its folder.
type sweepSheet struct {
	*simulation.SweepResults
	print string // fingerprint
	dir   string
	file  *os.File
	part  sweepPart
	own   func(run int) bool // whether a run belongs to the part; nil: all do
}

func newSweepSheet(sweep *simulation.Sweep, print string) *sweepSheet {
	return &sweepSheet{SweepResults: simulation.NewSweepResults(sweep), print: print}
}

func (s *sweepSheet) has(run int) bool { return s.Figures[run] != nil || s.own != nil && !s.own(run) }

// sweepHead begins the progress file and identifies the sweep.
type sweepHead struct {
	Sweep string `json:"sweep"`
	Part  int    `json:"part,omitempty"`
	Of    int    `json:"of,omitempty"`
	Text  string `json:"text,omitempty"` // of a part: the sweep's file
}

// open opens the folder: a new one or, with resume, that of an interrupted sweep.
func (s *sweepSheet) open(dir string, resume bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return failure.Of(err)
	}
	s.dir = dir
	path := filepath.Join(dir, sweepPartial)
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return failure.Of(err)
	case !resume:
		return fmt.Errorf("%s is left from an interrupted sweep; continue it with --resume, or remove the file", path)
	}
	whole, err := s.read(path, old)
	if err != nil {
		return err
	}
	if s.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return failure.Of(err)
	}
	if err := s.file.Truncate(int64(whole)); err != nil { // a line that was cut short
		return failure.Of(err)
	}
	if _, err := s.file.Seek(int64(whole), io.SeekStart); err != nil {
		return failure.Of(err)
	}
	if whole == 0 {
		return failure.Of(s.line(s.head()))
	}
	return nil
}

// read reads the whole lines of a progress file and returns how long they are.
func (s *sweepSheet) read(path string, old []byte) (whole int, err error) {
	whole = bytes.LastIndexByte(old, '\n') + 1
	lines := bytes.Split(old[:whole], []byte("\n"))
	for i, line := range lines[:len(lines)-1] {
		if i == 0 {
			var head sweepHead
			if err := json.Unmarshal(line, &head); err != nil || head != s.head() {
				return 0, fmt.Errorf("%s belongs to another sweep or part, or to other traces; choose another folder, or remove the file", path)
			}
			continue
		}
		var r simulation.SweepRun
		if err := json.Unmarshal(line, &r); err != nil || r.Run < 0 || r.Run >= len(s.Figures) || r.Figures == nil {
			return 0, fmt.Errorf("%s:%d: not a run of this sweep; remove the file and start over", path, i+1)
		}
		s.Keep(r)
	}
	return whole, nil
}

// add keeps a run and appends it to the progress file.
func (s *sweepSheet) add(r simulation.SweepRun) error {
	s.Keep(r)
	if s.file == nil {
		return nil
	}
	return s.line(r)
}

// line appends a line to the progress file in one write.
func (s *sweepSheet) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = s.file.Write(append(b, '\n'))
	return err
}

func (s *sweepSheet) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// write writes the files of a finished sweep, each whole, and removes its progress file.
func (s *sweepSheet) write() error {
	list := []report.File{{Name: sweepRuns, Write: s.WriteRuns}, {Name: sweepSummary, Write: s.WriteSummary}, {Name: sweepFile, Write: s.writeConfig},
		{Name: sweepApart, Write: s.WriteDifferences}, {Name: sweepPage, Write: s.WritePage}}
	if s.part.of > 0 { // it lacks the runs of the others, so that nothing can be said of the whole
		list = []report.File{{Name: sweepPartFile, Write: s.writePart}}
	} else if figure := s.Figure(); figure != nil {
		d := figure.Drawing()
		list = append(list, report.File{Name: sweepSVG, Write: d.WriteSVG}, report.File{Name: sweepPDF, Write: d.WritePDF})
	}
	for _, one := range list {
		if err := files.Replace(filepath.Join(s.dir, one.Name), one.Write); err != nil {
			return err
		}
	}
	if s.file == nil {
		return nil
	}
	s.close()
	s.file = nil
	return os.Remove(filepath.Join(s.dir, sweepPartial))
}

// writeConfig writes the settings of the sweep.
func (s *sweepSheet) writeConfig(w io.Writer) error {
	config := s.Sweep.Config
	type parameter struct {
		Key    any   `json:"key"` // several are an array
		Values []any `json:"values"`
	}
	doc := struct {
		Name        string      `json:"name"`
		Fingerprint string      `json:"fingerprint"`
		Seed        uint64      `json:"seed"`
		Runs        int         `json:"runs"`
		Parameters  []parameter `json:"parameters"`
	}{config.Name, s.print, config.Seed, config.Runs, nil}
	for _, p := range config.Parameters {
		var key any = p.Name
		if len(p.Keys) > 1 {
			key = p.Names()
		}
		doc.Parameters = append(doc.Parameters, parameter{key, p.Values})
	}
	b := bufio.NewWriter(w)
	if err := flags.WriteJSON(b, doc); err != nil {
		return err
	}
	return b.Flush()
}
