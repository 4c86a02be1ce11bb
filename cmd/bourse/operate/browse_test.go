package operate

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Others on this machine see the arguments of programs, so the link is not among them.
func TestBrowse_KeepsTheLinkOutOfArguments(t *testing.T) {
	dir := t.TempDir()
	heard := filepath.Join(dir, "heard")
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"$@\" > "+heard+".new; cp \"$1\" "+heard+".page; mv "+heard+".new "+heard+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":0")
	t.Setenv("TMPDIR", dir)
	if opener() == "" {
		t.Skip("another desktop")
	}
	var messages bytes.Buffer
	done := browse("http://127.0.0.1:7413/#SECRET", &messages)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(heard); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("not opened within a minute")
		}
	}
	args, _ := os.ReadFile(heard)
	page, _ := os.ReadFile(heard + ".page")
	if strings.Contains(string(args), "SECRET") || !strings.Contains(string(page), "url=http://127.0.0.1:7413/#SECRET") {
		t.Errorf("it is called with %s for %s", args, page)
	}
	file := strings.TrimSpace(string(args))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	done()
	if _, err := os.Stat(filepath.Dir(file)); err == nil {
		t.Error("the file stays")
	}
}
