package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process"
)

// writeAt writes facts into the journal of an agent, each of its instant.
func writeAt(t *testing.T, path string, agent agents.ID, at []grid.Time, facts ...agents.Fact) {
	t.Helper()
	disk, err := journal.OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(disk, journal.Options{Agent: agent}, nil)
	for i, f := range facts {
		err = errors.Join(err, j.Append(at[i], f))
	}
	if err := errors.Join(err, j.Sync(), disk.Close()); err != nil {
		t.Fatal(err)
	}
}

// A site that ran two hours ahead has settled a leg an hour before its window. The
// command says so and changes nothing; with --apply the records are brought back,
// the leg stays settled, and verify reports it.
func TestJournalRebase_SaysWhatItWouldChangeAndThenDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "site-north")
	_, site := story()
	for i := range site {
		m := site[i].(facts.LegMoved)
		m.What.Start, m.What.End = 10_000_000_000, 10_000_060_000
		site[i] = m
	}
	writeAt(t, path, "site:north", []grid.Time{9_996_400_000, 9_996_401_000, 10_003_600_000, 10_003_600_000}, site...)
	file := filepath.Join(path, "00000001.journal")
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runJournal(t, "verify", dir); err != nil {
		t.Errorf("by the clock of the site all went well: %v", err)
	}
	at := []string{"rebase", dir, "--to", "9996402"}
	out, err := runJournal(t, at...)
	for _, text := range []string{"2 records from number 3 on", "1h59m58s ahead", "1 file", "leg vo1/1/1.0 of job wave, 4 nodes", "is settled since 1970-04-26T16:46:42.000Z, before its window began; it stays so", "--apply makes the changes"} {
		if err != nil || !strings.Contains(out, text) {
			t.Errorf("%v; it does not say %q:\n%s", err, text, out)
		}
	}
	if is, _ := os.ReadFile(file); string(is) != string(was) {
		t.Error("it has changed the journal")
	}

	busy, err := journal.OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runJournal(t, append(at, "--apply")...); exitCode(err) != 1 || !strings.Contains(err.Error(), "stop the process first") {
		t.Errorf("the journal of a process that runs: %v", err)
	}
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}

	if out, err = runJournal(t, append(at, "--apply")...); err != nil || !strings.Contains(out, "are beside the new ones, with the ending .before-rebase-") {
		t.Errorf("%v\n%s", err, out)
	}
	kept, err := filepath.Glob(file + ".before-rebase-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %v, %v", kept, err)
	}
	if old, _ := os.ReadFile(kept[0]); string(old) != string(was) {
		t.Error("what is kept is not the journal as it was")
	}
	out, err = runJournal(t, "verify", dir)
	if exitCode(err) != 1 || !strings.Contains(out, "leg vo1/1/1.0 is settled at 9996402, and its window begins at 10000000") {
		t.Errorf("verify: %v\n%s", err, out)
	}
	if out, err = runJournal(t, at...); err != nil || !strings.Contains(out, "nothing to change") {
		t.Errorf("a second time: %v\n%s", err, out)
	}
}

// Of a site the last right instant is what later records are brought back to, of a
// broker it is now.
func TestJournalRebase_ToWhen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	future := grid.Time(process.WallClock().Add(2 * 3600e9).UnixMilli())
	b, s := story()
	writeAt(t, filepath.Join(dir, "broker"), "broker:vo1", []grid.Time{0, 1000, future, future}, b...)
	writeAt(t, filepath.Join(dir, "site"), "site:north", []grid.Time{0, 1000, future, future}, s...)
	out, err := runJournal(t, "rebase", dir)
	if err != nil || strings.Count(out, "dated back to 1970-01-01T00:00:01.000Z") != 1 || strings.Count(out, "2 records from number 3 on") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"rebase"}, {"rebase", dir, "--to", "noon"}, {"rebase", filepath.Join(dir, "site", "00000001.journal")}} {
		if _, err := runJournal(t, args...); exitCode(err) != 2 {
			t.Errorf("journal %q: %v", args, err)
		}
	}
}
