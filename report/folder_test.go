package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/report"
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

var whole = []string{"events.jsonl", "gantt.svg", "jobs.csv", "report.html", "summary.json"}

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
	if f, err = report.OpenFolder(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Events().Write([]byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(tell(t, report.Options{Keep: true})); err != nil {
		t.Fatal(err)
	}
	after, _ = os.ReadFile(filepath.Join(dir, "events.jsonl"))
	if got := files(t, dir); !slices.Equal(got, whole) || string(after) != "{}\n" {
		t.Errorf("a later run left %v, events %q", got, after)
	}
}

func TestFolder_DiscardTakesAwayTheFoldersItMade(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if err := os.WriteFile(filepath.Join(top, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/c", "a/../d/", "."} {
		f, err := report.OpenFolder(filepath.Join(top) + "/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		f.Discard()
		if got := files(t, top); !slices.Equal(got, []string{"notes.txt"}) {
			t.Errorf("%s: %v are left, want notes.txt alone", dir, got)
		}
	}
}

func TestFolder_AFolderInTheWayIsToldBeforeTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, report.GanttFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := report.OpenFolder(dir); err == nil || !strings.Contains(err.Error(), "gantt.svg is a folder") {
		t.Errorf("%v, want an error that names gantt.svg", err)
	}
	if got := files(t, dir); !slices.Equal(got, []string{report.GanttFile}) {
		t.Errorf("%v lie in the folder, want what lay there before", got)
	}
}

func TestFolder_ARenameThatFailsLeavesNoPartialFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := report.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, report.GanttFile), 0o755); err != nil { // while it runs
		t.Fatal(err)
	}
	if err := f.Write(tell(t, report.Options{Keep: true, Events: f.Events()})); err == nil {
		t.Error("gantt.svg was written over a folder")
	}
	for _, name := range files(t, dir) {
		if strings.HasSuffix(name, ".partial") {
			t.Errorf("%s was left behind", name)
		}
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

func TestReadDir_DrawsTheSamePictureAgain(t *testing.T) {
	t.Parallel()
	for _, w := range []*world{month(), storyWorld()} {
		dir := t.TempDir()
		f, err := report.OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		r := w.report(t, report.Options{Keep: true, Events: f.Events()})
		if err := f.Write(r); err != nil {
			t.Fatal(err)
		}
		again, err := report.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.Summary, r.Summary) {
			t.Errorf("the summary is\n%+v, was\n%+v", again.Summary, r.Summary)
		}
		var b bytes.Buffer
		if err := again.WriteGantt(&b); err != nil {
			t.Fatal(err)
		}
		if was, _ := os.ReadFile(filepath.Join(dir, report.GanttFile)); b.String() != string(was) {
			t.Error("the picture drawn again is another")
		}
	}
}

func storyWorld() *world {
	header, facts, end := theStory()
	return &world{header: header, facts: facts, end: end, until: end.Until}
}
