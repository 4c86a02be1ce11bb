package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
)

// RunFile is the file in a run's folder that says how to repeat the run.
const RunFile = "run.json"

// runFormat is the only format of a RunFile that this build reads and writes.
const runFormat = 1

// Run is all that determines a simulation. With the same version of the program, the same
// Run gives the same files, byte for byte.
type Run struct {
	Format   int        `json:"format"`
	Version  string     `json:"version"` // of the program
	Seed     uint64     `json:"seed"`    // the first
	Runs     int        `json:"runs"`    // number of seeds from it on
	Scenario Source     `json:"scenario"`
	Traces   []RunTrace `json:"traces,omitempty"`
}

// RunTrace is a trace that a run has read.
type RunTrace struct {
	Name   string `json:"name"` // in the scenario
	Size   int64  `json:"size"` // bytes of the file
	SHA256 string `json:"sha256"`
}

// NewRun describes a run of a scenario whose traces are resolved. It reads each
// trace once.
func NewRun(s *Scenario, version string, seed uint64, runs int) (*Run, error) {
	r := &Run{Format: runFormat, Version: version, Seed: seed, Runs: runs, Scenario: s.Source}
	for _, t := range s.Traces {
		sum, err := sumTrace(t)
		if err != nil {
			return nil, err
		}
		r.Traces = append(r.Traces, sum)
	}
	return r, nil
}

func sumTrace(t TraceFile) (RunTrace, error) {
	f, err := os.Open(t.Path)
	if err != nil {
		return RunTrace{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return RunTrace{Name: t.Name, Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// Write writes the run as JSON.
func (r *Run) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// NoFolder reports whether a file of a folder cannot be read because it is not there, or because
// what should be the folder is a file.
func NoFolder(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// ReadRun reads how the run in a folder was made. dir may also be the RunFile in it.
func ReadRun(dir string) (*Run, error) {
	if filepath.Base(dir) == RunFile {
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(dir, RunFile)
	text, err := kinds.ReadFile(path)
	if NoFolder(err) {
		return nil, fmt.Errorf("%w; must be the folder of a run, as \"bourse simulate --out DIR\" writes it", err)
	}
	if err != nil {
		return nil, err
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Format != runFormat || r.Runs < 1 || r.Scenario.Text == "" {
		return nil, fmt.Errorf("%s: has format %d, %s and a scenario of %d bytes; this build reads format %d with 1 seed or more",
			path, r.Format, grid.Count(r.Runs, "seed"), len(r.Scenario.Text), runFormat)
	}
	return &r, nil
}

// Again reads the run's scenario again and finds its traces, in dir if their names are
// relative. A trace that has changed is an error.
func (r *Run) Again(dir string) (*Scenario, error) {
	s, err := r.Scenario.Scenario()
	if err != nil {
		return nil, err
	}
	if err := s.ResolveTraces(dir); err != nil {
		return nil, err
	}
	for i, t := range s.Traces {
		sum, err := sumTrace(t)
		if err != nil {
			return nil, err
		}
		if i >= len(r.Traces) || sum != r.Traces[i] {
			return nil, fmt.Errorf("%s is not the trace of the run: it has %d bytes and SHA-256 %s; the run needs %s",
				t.Path, sum.Size, sum.SHA256, r.wants(t.Name))
		}
	}
	return s, nil
}

// wants describes the trace that the run had under a name.
func (r *Run) wants(name string) string {
	for _, t := range r.Traces {
		if t.Name == name {
			return fmt.Sprintf("%d bytes and SHA-256 %s", t.Size, t.SHA256)
		}
	}
	return "its name in " + RunFile
}

// Free refuses a folder that holds another run. The same run may replace itself, whatever
// the version.
func (r *Run) Free(dir string) error {
	old, err := ReadRun(dir)
	switch {
	case err == nil && r.same(old):
		return nil
	case err == nil:
		return fmt.Errorf("%s holds another run: %s; choose another folder, or replace it with --force", dir, old.words())
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; choose another folder, or replace it with --force", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "summary.json")); err == nil {
		return fmt.Errorf("%s holds an unknown run without %s; choose another folder, or replace it with --force", dir, RunFile)
	}
	return nil
}

func (r *Run) same(old *Run) bool {
	a, b := *r, *old
	a.Version, b.Version = "", ""
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// words names a run.
func (r *Run) words() string {
	if r.Runs == 1 {
		return fmt.Sprintf("%s with seed %d", r.Scenario.Name, r.Seed)
	}
	return fmt.Sprintf("%s with %s from %d on", r.Scenario.Name, grid.Count(r.Runs, "seed"), r.Seed)
}
