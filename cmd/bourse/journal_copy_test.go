package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// A copy of a folder of journals is verified as the journals are, and is never
// written over another one.
func TestJournalCopy_IsWhatTheJournalsAre(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "deep", "copy")
	broker, site := story()
	writeJournal(t, filepath.Join(dir, "a"), "broker:vo1", broker...)
	writeJournal(t, filepath.Join(dir, "b"), "site:north", site...)
	out, err := runJournal(t, "copy", dir, to, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var said []struct {
		Agent string
		Facts int
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || len(said) != 2 || said[0].Facts != len(broker) || said[1].Agent != "site:north" {
		t.Errorf("%s: %v", out, err)
	}
	was, err := runJournal(t, "show", dir)
	if err != nil {
		t.Fatal(err)
	}
	is, err := runJournal(t, "show", to)
	if is = strings.ReplaceAll(is, to, dir); err != nil || is != was {
		t.Errorf("the copy says\n%s\nthe journals\n%s\n%v", is, was, err)
	}
	if _, err := runJournal(t, "verify", to); err != nil {
		t.Errorf("the copy is not in order: %v", err)
	}
	if _, err := runJournal(t, "copy", dir, to); err == nil || !strings.Contains(err.Error(), "has a journal already") {
		t.Errorf("a copy is written over another one: %v", err)
	}
	for _, args := range [][]string{{"copy"}, {"copy", dir}, {"copy", t.TempDir(), to}, {"copy", filepath.Join(dir, "b", "site-north", "00000001.journal"), to}} {
		if _, err := runJournal(t, args...); err == nil || exitCode(err) != 2 {
			t.Errorf("journal %q: %v", args, err)
		}
	}
}
