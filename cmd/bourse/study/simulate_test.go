package study

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
)

// A full disk costs the files, not the work.
func TestSimulate_WhatWasFoundIsShownThoughTheFilesFail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out bytes.Buffer
	f := simulateFlags{seed: 1, runs: 1, out: filepath.Join(dir, "out")}
	scenario, err := f.scenario(nil)
	if err != nil {
		t.Fatal(err)
	}
	sim := &simulation.Simulation{Scenario: scenario, Workloads: simulation.NewWorkloads()}
	err = f.simulate(sim, writeFunc(func(b []byte) (int, error) {
		if err := os.MkdirAll(filepath.Join(dir, "out", "gantt.svg", "in the way"), 0o700); err != nil {
			t.Error(err)
		}
		return out.Write(b)
	}), io.Discard)
	if !failure.Is(err) || !strings.Contains(out.String(), "vo1 placed") {
		t.Errorf("%v, printed %q", err, out.String())
	}
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(b []byte) (int, error) { return f(b) }
