package report_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/broker/report"
)

func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

var whole = []string{"events.jsonl", "gantt.svg", "jobs.csv", "summary.json"}

func TestFolder_AllFilesOrThoseOfTheRunBefore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "for", "it")
	f, err := report.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"events.jsonl.partial"}) {
		t.Errorf("while it runs there are %v", got)
	}
	if err := f.Write(tell(t, report.Options{Keep: true, Events: f.Events()})); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); !slices.Equal(got, whole) {
		t.Errorf("after the run there are %v", got)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if strings.Count(string(before), "\n") < 50 {
		t.Errorf("events are %q", before)
	}

	f, err = report.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(tell(t, report.Options{Events: f.Events()})); err == nil {
		t.Error("a report without jobs was written")
	}
	after, _ := os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if got := files(t, dir); !slices.Equal(got, whole) || string(after) != string(before) {
		t.Errorf("a run that failed left %v, or changed the events", got)
	}
	if err := report.WriteDir(dir, tell(t, report.Options{Keep: true}), strings.NewReader("{}\n")); err != nil {
		t.Fatal(err)
	}
	after, _ = os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if got := files(t, dir); !slices.Equal(got, whole) || string(after) != "{}\n" {
		t.Errorf("a later run left %v, events %q", got, after)
	}
}

func TestFolder_NoFileNamesTheFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "peculiar-name")
	f, err := report.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(tell(t, report.Options{Keep: true, Events: f.Events()})); err != nil {
		t.Fatal(err)
	}
	for _, name := range whole {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || strings.Contains(string(b), "peculiar") {
			t.Errorf("%s names its folder, or %v", name, err)
		}
	}
}

func TestFolder_PathThatIsAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := report.OpenFolder(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
}
