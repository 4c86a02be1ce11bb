package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

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
	sweepPartial = "progress.jsonl"
)

// sweepSheet holds the results of a sweep's runs, in memory and in the progress file of
// its folder.
type sweepSheet struct {
	sweep *simulation.Sweep
	print string // fingerprint
	dir   string
	file  *os.File
	runs  [][]report.Figure // by run; nil: not done yet
	done  int
	part  sweepPart
	own   func(run int) bool // whether a run belongs to the part; nil: all do
}

func newSweepSheet(sweep *simulation.Sweep, print string) *sweepSheet {
	return &sweepSheet{sweep: sweep, print: print, runs: make([][]report.Figure, sweep.Runs())}
}

func (s *sweepSheet) has(run int) bool { return s.runs[run] != nil || s.own != nil && !s.own(run) }
func (s *sweepSheet) finished() int    { return s.done }

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
		if err := json.Unmarshal(line, &r); err != nil || r.Run < 0 || r.Run >= len(s.runs) || r.Figures == nil {
			return 0, fmt.Errorf("%s:%d: not a run of this sweep; remove the file and start over", path, i+1)
		}
		s.keep(r)
	}
	return whole, nil
}

func (s *sweepSheet) keep(r simulation.SweepRun) {
	if s.runs[r.Run] == nil {
		s.done++
	}
	s.runs[r.Run] = r.Figures
}

// add keeps a run and appends it to the progress file.
func (s *sweepSheet) add(r simulation.SweepRun) error {
	s.keep(r)
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
	list := []report.File{{Name: sweepRuns, Write: s.writeRuns}, {Name: sweepSummary, Write: s.writeSummary}, {Name: sweepFile, Write: s.writeConfig},
		{Name: sweepApart, Write: s.writeDifferences}, {Name: sweepPage, Write: s.writePage}}
	if s.part.of > 0 {
		list = []report.File{{Name: sweepPartFile, Write: s.writePart}}
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

// settings returns the columns that identify a point.
func (s *sweepSheet) settings(point int) []string {
	row := []string{strconv.Itoa(point + 1)}
	for _, v := range s.sweep.Config.Values(point) {
		row = append(row, fmt.Sprint(v))
	}
	return row
}

// names returns the headings of settings.
func (s *sweepSheet) names() []string {
	row := []string{"point"}
	for _, p := range s.sweep.Config.Parameters {
		row = append(row, p.Name)
	}
	return row
}

// writeRuns writes a row for each run. All runs of a sweep have the same sites and VOs, so
// they have the same columns.
func (s *sweepSheet) writeRuns(w io.Writer) error {
	out := csv.NewWriter(w)
	header := append(s.names(), "seed")
	for _, f := range s.runs[0] {
		header = append(header, f.Owner+": "+f.Measure)
	}
	out.Write(header)
	for n, figures := range s.runs {
		row := append(s.settings(s.sweep.Point(n)), strconv.FormatUint(s.sweep.Seed(n), 10))
		for _, f := range figures {
			row = append(row, strconv.FormatFloat(f.Value, 'g', -1, 64))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// writeConfig writes the settings of the sweep.
func (s *sweepSheet) writeConfig(w io.Writer) error {
	config := s.sweep.Config
	type parameter struct {
		Key    string `json:"key"`
		Values []any  `json:"values"`
	}
	doc := struct {
		Name        string      `json:"name"`
		Fingerprint string      `json:"fingerprint"`
		Seed        uint64      `json:"seed"`
		Runs        int         `json:"runs"`
		Parameters  []parameter `json:"parameters"`
	}{config.Name, s.print, config.Seed, config.Runs, nil}
	for _, p := range config.Parameters {
		doc.Parameters = append(doc.Parameters, parameter{p.Name, p.Values})
	}
	b := bufio.NewWriter(w)
	if err := flags.WriteJSON(b, doc); err != nil {
		return err
	}
	return b.Flush()
}
