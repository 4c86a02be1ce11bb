package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Real journals of a site with policy sla-edf under bourse up, while 180 jobs with
// windows came in: its cluster moved legs 227 times, and no node is promised
// twice.
func TestJournal_VerifyFollowsLegsThatMoveInTheirWindows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := filepath.Glob("testdata/sla-edf/*/*.gz")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		to := filepath.Join(dir, strings.TrimSuffix(strings.TrimPrefix(f, "testdata/sla-edf/"), ".gz"))
		if err := unpack(f, to); err != nil {
			t.Fatal(err)
		}
	}
	out, err := runJournal(t, "verify", dir, "--nodes", "north/main=64")
	if err != nil || !strings.Contains(out, "no invariant is broken") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = runJournal(t, "verify", dir, "--nodes", "north/main=60")
	if err == nil || !strings.Contains(out, "I1") {
		t.Errorf("with four nodes less: %v\n%s", err, out)
	}
}

func unpack(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}
