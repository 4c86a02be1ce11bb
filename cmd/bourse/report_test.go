package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/report"
)

// runReport runs the command without looking at what it prints.
func runReport(t *testing.T, args ...string) error {
	t.Helper()
	_, err := reportOut(args...)
	return err
}

func reportOut(args ...string) (string, error) {
	root := newRoot()
	var o, m bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&m)
	root.SetArgs(append([]string{"report"}, args...))
	err := root.Execute()
	return o.String(), err
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A report is drawn again from the files of its run alone, byte for byte.
func TestReport_DrawsTheSameAgain(t *testing.T) {
	t.Parallel()
	dir, _, _, err := simulate(t, tiny, "--seed", "3", "--out", "DIR/out")
	if err != nil {
		t.Fatal(err)
	}
	out, again := filepath.Join(dir, "out"), filepath.Join(dir, "again")
	printed, err := reportOut(out, "--out", again, "--figures", "png", "--json")
	var files []string
	if err == nil {
		err = json.Unmarshal([]byte(printed), &files)
	}
	if err != nil {
		t.Fatal(err, printed)
	}
	for _, name := range []string{"report.html", "gantt.svg"} {
		if read(t, out, name) != read(t, again, name) {
			t.Errorf("%s is drawn otherwise from the files of its run", name)
		}
	}
	pictures, data := 0, 0
	for _, file := range files {
		text := read(t, file)
		switch filepath.Ext(file) {
		case ".png":
			if pictures++; !strings.HasPrefix(text, "\x89PNG") {
				t.Errorf("%s is no PNG", file)
			}
		case ".csv":
			if data++; strings.Count(text, "\n") < 3 {
				t.Errorf("%s has no data: %s", file, text)
			}
		}
	}
	if pictures < 4 || pictures != data || len(files) != 2+pictures+data {
		t.Errorf("files are %q", files)
	}
}

func TestReport_TwoRunsAreSetSideBySide(t *testing.T) {
	t.Parallel()
	dir, _, _, err := simulate(t, tiny, "--seed", "3", "--out", "DIR/a")
	if err != nil {
		t.Fatal(err)
	}
	other, _, _, err := simulate(t, tiny, "--seed", "4", "--out", "DIR/b")
	if err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(other, "b")
	printed, err := reportOut(a, b)
	if err != nil || !strings.HasSuffix(printed, "\n"+filepath.Join(a, "comparison.html")+"\n"+filepath.Join(a, "comparison.csv")+"\n") {
		t.Fatal(err, printed)
	}
	for _, want := range []string{"VO ", "placed", "wait h", "\nA ", "\nB ", "\nB - A ", "says nothing about chance"} {
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in\n%s", want, printed)
		}
	}
	page := read(t, a, "comparison.html")
	if strings.Contains(page, dir) || !strings.Contains(page, "Seed 3,") || !strings.Contains(page, "Seed 4,") {
		t.Error("the page names a folder, or does not name the seeds")
	}
}

func TestReport_SaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "summary.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "the folders of one or two runs"},
		{[]string{"a", "b", "c"}, "3 given"},
		{[]string{filepath.Join(dir, "none")}, `as "bourse simulate --out DIR" writes it`},
		{[]string{dir}, "summary.json: unexpected end"},
		{[]string{dir, "--figures", "pdf"}, `--figures "pdf": must be svg or png`},
	} {
		if err := runReport(t, c.args...); err == nil || exitCode(err) != 2 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("report %v: %v, exit %d, want %q and 2", c.args, err, exitCode(err), c.want)
		}
	}
}

// The figure of use holds the node-time that the summary counts, also where jobs
// share nodes.
func TestReport_UseIsWhatTheSummarySays(t *testing.T) {
	t.Parallel()
	dir, _, _, err := simulate(t, tiny, "--preset", "sla", "--out", "DIR/out")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := runReport(t, out, "--figures", "svg"); err != nil {
		t.Fatal(err)
	}
	var sum report.Summary
	if err := json.Unmarshal([]byte(read(t, out, "summary.json")), &sum); err != nil {
		t.Fatal(err)
	}
	used := map[string]float64{}
	for _, row := range readCSV(t, filepath.Join(out, "figures", "load.csv")) {
		used[row["site"]] += (seconds(t, row["local nodes"]) + seconds(t, row["VO nodes"])) * (seconds(t, row["to s"]) - seconds(t, row["from s"]))
	}
	for _, s := range sum.Sites {
		if share := used[s.Name] / float64(s.Nodes) / sum.Until.Seconds(); math.Abs(share-s.Utilisation.All) > 0.0005 || share == 0 {
			t.Errorf("%s: the figure has %.4f of the node-time, the summary %.4f", s.Name, share, s.Utilisation.All)
		}
	}
}
