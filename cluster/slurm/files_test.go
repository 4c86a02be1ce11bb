package slurm

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// The work's standard error goes to the file that the job names for it, and its output stays
// where it was.
func TestWrapper_ErrorsGoWhereTheJobSays(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{"": "here\n", "out": ""} {
		_, m, here := newWork(t)
		m.Work.Work = grid.Work{Command: []string{"sh", "-c", "echo here; echo there >&2"}, Output: output, Error: "err-%j.%l"}
		status, said := runWrapper(t, m, here)
		text, err := os.ReadFile(filepath.Join(here, "err-job-7.1"))
		if status != 0 || string(text) != "there\n" || err != nil || said != want {
			t.Errorf("output %q: status %d, %q, %v; said %q", output, status, text, err, said)
		}
	}
}

// reads asks a driver of a folder for something of the work in it.
func reads(t *testing.T, f folder, name string, what grid.Reading, path string) agents.Output {
	t.Helper()
	d := &Driver{work: f, cfg: Config{Keep: time.Hour}}
	return d.read(t.Context(), agents.OutputRequest{Ref: 5, Name: name, Source: grid.Source{What: what, Path: path}})
}

func TestFiles_AreReadByProcessesOfTheirAccount(t *testing.T) {
	t.Parallel()
	f, m, here := newWork(t)
	m.Work.Work = grid.Work{Command: []string{"sh", "-c", "echo good; echo bad >&2; mkdir -p d/e; printf abc >d/e/f; printf 12345 >'a b'; ln -s d/e/f link; ln -s / out; mkfifo pipe"},
		Output: "o", Error: "e"}
	if err := os.WriteFile(filepath.Join(here, "where"), []byte(whereabouts(m, here)), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, said := runWrapper(t, m, here); status != 0 {
		t.Fatalf("status %d, %s", status, said)
	}
	words := ""
	for _, x := range reads(t, f, m.Name, grid.ReadList, "").Files {
		if x.Path != "where" && x.Path != "begun" && x.Path != "exit" {
			words += fmt.Sprintf("%s %d;", x.Path, x.Size)
		}
		if x.At == 0 {
			t.Errorf("%s has no time", x.Path)
		}
	}
	if words != "a b 5;d/e/f 3;e 4;o 5;" {
		t.Errorf("listed: %s", words)
	}
	if got := reads(t, f, m.Name, grid.ReadList, "d/e"); len(got.Files) != 1 || got.Files[0].Path != "d/e/f" || got.Size != 1 {
		t.Errorf("below d/e: %+v", got)
	}
	want := sha256.Sum256([]byte("abc"))
	if got := reads(t, f, m.Name, grid.ReadDigest, "d/e/f"); string(got.Data) != string(want[:]) || got.Size != 3 {
		t.Errorf("%+v", got)
	}
	if got := reads(t, f, m.Name, grid.ReadFile, "a b"); string(got.Data) != "12345" || got.Size != 5 {
		t.Errorf("%+v", got)
	}
	if out, errs := reads(t, f, m.Name, grid.ReadOutput, ""), reads(t, f, m.Name, grid.ReadErrors, ""); string(out.Data) != "good\n" || string(errs.Data) != "bad\n" {
		t.Errorf("printed %+v and %+v", out, errs)
	}
	if err := os.Truncate(filepath.Join(here, "o"), grid.MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		what        grid.Reading
		path, words string
	}{
		{grid.ReadFile, "link", "links are not followed"}, {grid.ReadFile, "out/etc/passwd", "links are not followed"}, {grid.ReadList, "out/etc", "links are not followed"},
		{grid.ReadFile, "pipe", "no regular file"}, {grid.ReadFile, "d", "no regular file"}, {grid.ReadFile, "../x", "leads out of"}, {grid.ReadDigest, "/etc/passwd", "leads out of"},
		{grid.ReadFile, "nothing", "there is no nothing"}, {grid.ReadDigest, "o", "files of at most 268435456"},
	} {
		if got := reads(t, f, m.Name, x.what, x.path); !strings.Contains(got.Failure.Detail, x.words) || len(got.Data)+len(got.Files) > 0 {
			t.Errorf("%v %q: %+v; want %q", x.what, x.path, got, x.words)
		}
	}
	if got := reads(t, f, "bourse.none", grid.ReadList, ""); !strings.Contains(got.Failure.Detail, "nothing of it is kept") {
		t.Errorf("%+v", got)
	}
}

// A path is an argument of the script and never a part of it.
func TestFiles_APathIsNoCommand(t *testing.T) {
	t.Parallel()
	f, m, here := newWork(t)
	for _, name := range []string{"$(touch x)", "-rf", "a'b\"c", "*"} {
		if err := os.WriteFile(filepath.Join(here, name), []byte("1"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := reads(t, f, m.Name, grid.ReadFile, name); string(got.Data) != "1" {
			t.Errorf("%q: %+v", name, got)
		}
		if got := reads(t, f, m.Name, grid.ReadList, name); len(got.Files) != 1 || got.Files[0].Path != name {
			t.Errorf("%q: %+v", name, got)
		}
	}
	if err := exec.Command("test", "-e", filepath.Join(here, "x")).Run(); err == nil {
		t.Error("a path was run")
	}
}

func FuzzReadList(f *testing.F) {
	f.Add([]byte("d 4096 1.5 ./\x00f 3 1795808994.5 ./a b\x00l 3 1.0 ./link\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var out agents.Output
		if err := readList(text, &out); err == nil && (len(out.Files) > grid.MaxFiles || int64(len(out.Files)) > out.Size) {
			t.Errorf("%d of %d files", len(out.Files), out.Size)
		}
		for _, x := range out.Files {
			if (grid.Source{What: grid.ReadFile, Path: x.Path}).Check() != nil {
				t.Errorf("%q", x.Path)
			}
		}
	})
}
