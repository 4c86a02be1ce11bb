package use

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSubmit_SaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	got := waitsFor([]string{"a (waiting)", "b (placed)", "c (placed)", "d (placed)", "e (placed)"}, 9, "done")
	if want := "4 of 9 done; waiting for a (waiting), b (placed), c (placed), 2 more"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// "--wait done" waits until the jobs are done.
func TestSubmit_TheWordAfterWaitMayStandAlone(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"b.toml --wait":        "placed",
		"b.toml --wait done":   "done",
		"--wait=done b.toml":   "done",
		"b.toml --wait placed": "placed",
		"b.toml done":          `"done" is one too many`,
		"b.toml --wait c.toml": `"c.toml" is one too many`,
	} {
		var c submitting
		cmd := newSubmit()
		f := cmd.Flags()
		if err := f.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		c.wait = f.Lookup("wait").Value.String()
		err := c.waitWord(f.Args(), false)
		got := c.wait
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// A batch is known by its tables, whatever its name, and may come from a pipe. What is no
// batch is told what it is.
func TestSubmit_KnowsABatchByItsTables(t *testing.T) {
	t.Parallel()
	batch, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "examples", "batch.toml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"jobs.txt":  {string(batch), ""},
		"run.sh":    {"#!/bin/sh\n", "length: missing"},
		"notes.txt": {"remember the milk\n", "is neither a batch, a TOML file with [[job]] tables, nor a script that begins with #!, nor a log of jobs"},
		"log.swf":   {"1 100 -1 50 2 -1 -1 2 40 -1 1 1 1 1 1 -1 -1 -1\n", "a trace has no prices; add --max-price"},
		"job.json":  {`{"nodes": 4}`, "this is JSON"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{file, "-"} {
			s := submitting{in: strings.NewReader(c.text)}
			list, err := s.read(t.Context(), source{file: from}, &strings.Builder{})
			switch {
			case c.want == "" && (err != nil || len(list) == 0) && from == file:
				t.Errorf("%s: %v", from, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s as %s: %v, want %q", name, from, err, c.want)
			}
		}
	}
	s := submitting{in: strings.NewReader("# two jobs\n[[job]]\nname = a\n")}
	if _, err := s.read(t.Context(), source{file: "-"}, &strings.Builder{}); err == nil || !strings.HasPrefix(err.Error(), "standard input:3") {
		t.Errorf("tables from a pipe with a mistake: %v", err)
	}
}
