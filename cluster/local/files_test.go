//go:build linux

package local

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// reads asks the driver for something of a work.
func (m machine) reads(name string, what grid.Reading, path string, from int64) agents.Output {
	m.Helper()
	a := m.asks(agents.OutputRequest{Ref: 5, Name: name, Source: grid.Source{What: what, Path: path}, From: from}).(agents.Output)
	if a.Ref != 5 || a.Name != name || a.What != what {
		m.Fatalf("asked for %v of %s, answered %+v", what, name, a)
	}
	return a
}

func (m machine) refuses(name string, what grid.Reading, path, words string) {
	m.Helper()
	a := m.reads(name, what, path, 0)
	if !strings.Contains(a.Failure.Detail, words) || len(a.Data) > 0 || len(a.Files) > 0 {
		m.Errorf("%v %q: %q, %d bytes, %d files; want %q", what, path, a.Failure.Detail, len(a.Data), len(a.Files), words)
	}
}

func TestFiles_ErrorsAreApartIfTheJobSaysSo(t *testing.T) {
	m := newMachine(t)
	c := m.order("bourse.1", "sh", "-c", "echo good; echo bad >&2")
	c.Work.Work.Error = "err-%j.%l"
	m.runs(c)
	m.over("bourse.1")
	named, err := os.ReadFile(filepath.Join(m.work("bourse.1").file(supervisor.HomeFolder), "err-vo1_wave.1"))
	if got := m.reads("bourse.1", grid.ReadErrors, "", -grid.MaxTail); string(got.Data) != "bad\n" || m.prints("bourse.1") != "good\n" || string(named) != "bad\n" || err != nil {
		t.Errorf("%+v; printed %q; in its file %q, %v", got, m.prints("bourse.1"), named, err)
	}
	m.runs(m.order("bourse.2", "sh", "-c", "echo good; echo bad >&2"))
	m.over("bourse.2")
	if got := m.prints("bourse.2"); got != "good\nbad\n" {
		t.Errorf("without error it prints %q", got)
	}
	m.refuses("bourse.2", grid.ReadErrors, "", "part of its output")
}

func TestFiles_AreListedReadAndDigested(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "sh", "-c", "mkdir -p d/e; printf abc >d/e/f; printf 12345 >'a b'; ln -s d/e/f link; ln -s / out; mkfifo pipe; printf x >\"$(printf 'a\\nb')\""))
	m.over("bourse.1")
	check := func() {
		t.Helper()
		words := ""
		for _, f := range m.reads("bourse.1", grid.ReadList, "", 0).Files {
			words += fmt.Sprintf("%s %d;", f.Path, f.Size)
			if f.At == 0 {
				t.Errorf("%s has no time", f.Path)
			}
		}
		if words != "a b 5;d/e/f 3;" {
			t.Errorf("listed: %s", words)
		}
	}
	check()
	if got := m.reads("bourse.1", grid.ReadList, "d", 0); len(got.Files) != 1 || got.Files[0].Path != "d/e/f" || got.Size != 1 {
		t.Errorf("below d: %+v", got)
	}
	if got := m.reads("bourse.1", grid.ReadList, "a b", 0); len(got.Files) != 1 || got.Files[0].Path != "a b" {
		t.Errorf("one file: %+v", got)
	}
	if got := m.reads("bourse.1", grid.ReadFile, "a b", 2); string(got.Data) != "345" || got.From != 2 || got.Size != 5 {
		t.Errorf("%+v", got)
	}
	want := sha256.Sum256([]byte("abc"))
	if got := m.reads("bourse.1", grid.ReadDigest, "d/e/f", 0); string(got.Data) != string(want[:]) || got.Size != 3 {
		t.Errorf("%+v", got)
	}
	m.refuses("bourse.1", grid.ReadFile, "link", "is a link")
	m.refuses("bourse.1", grid.ReadFile, "out/etc/passwd", "out is a link")
	m.refuses("bourse.1", grid.ReadList, "out/etc", "out is a link")
	m.refuses("bourse.1", grid.ReadFile, "pipe", "no regular file")
	m.refuses("bourse.1", grid.ReadList, "pipe", "no regular file")
	m.refuses("bourse.1", grid.ReadFile, "d", "no regular file")
	m.refuses("bourse.1", grid.ReadFile, "../order.json", "leads out of")
	m.refuses("bourse.1", grid.ReadDigest, "/etc/passwd", "leads out of")
	m.refuses("bourse.1", grid.ReadFile, "nothing", "there is no file")
	m.refuses("bourse.9", grid.ReadList, "", "nothing of it is there")
	m.does(agents.Command{Verb: agents.Delete, Name: "bourse.1"}, agents.Done, "")
	check() // put aside, it is kept
}

// If the folder on the way is replaced by a link between the check and the opening, the path
// still leads to nothing outside.
func TestFiles_ARootLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if f, err := root.OpenFile("d/secret", os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0); err == nil {
		t.Errorf("%s was opened", f.Name())
	}
}

// With a site that runs as root, files are read by the rights of the work's account.
func TestFiles_AreReadByTheAccountsRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	m := newMachine(t)
	m.runs(m.order("bourse.1", "true"))
	m.over("bourse.1")
	file := filepath.Join(m.work("bourse.1").file(supervisor.HomeFolder), "roots")
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.refuses("bourse.1", grid.ReadFile, "roots", "permission denied")
}

func TestFiles_WhatIsTooLargeOrChangesIsRefused(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "true"))
	m.over("bourse.1")
	home := m.work("bourse.1").file(supervisor.HomeFolder)
	large := filepath.Join(home, "large")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, grid.MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	m.refuses("bourse.1", grid.ReadDigest, "large", "at most 268435456 can be fetched")
	f, err := os.Open(large)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if err := os.Truncate(large, 4096); err != nil {
		t.Fatal(err)
	}
	before, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(large, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := digest(f, before, "large", &agents.Output{}); err == nil || !strings.Contains(err.Error(), "changes while it is read") {
		t.Errorf("a file that changed is digested: %v", err)
	}
}

func TestFiles_AListIsBounded(t *testing.T) {
	m := newMachine(t)
	m.runs(m.order("bourse.1", "sh", "-c", "seq -f 'f%05g' 1001 | xargs touch; p=; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do p=${p}d/; mkdir $p; touch ${p}x; done; mkdir ${p}d; touch ${p}d/y"))
	m.over("bourse.1")
	got := m.reads("bourse.1", grid.ReadList, "", 0)
	if len(got.Files) != grid.MaxFiles || got.Size != 1001+16 || got.Failure.Refused() {
		t.Errorf("%d of %d files, %v; printed %.300s", len(got.Files), got.Size, got.Failure, m.prints("bourse.1"))
	}
}
