package report_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// The first site of a month asks half its price for the first quarter of the time.
func TestLoad_ShowsWhatIsAskedWherePricesChange(t *testing.T) {
	t.Parallel()
	w := month()
	plain, err := w.report(t, report.Options{Keep: true}).Plots()
	if err != nil {
		t.Fatal(err)
	}
	if head := strings.Join(plain[1].Head, ","); strings.Contains(head, "asked") {
		t.Errorf("without a curve the data have %s", head)
	}
	curve, err := grid.PriceCurveOf([]grid.PricePiece{{From: 0, Factor: 500}, {From: w.until / 4, Factor: 1000}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	site := &w.header.Sites[0]
	for g := range site.Groups {
		site.Groups[g].Curve = curve
	}
	r := w.report(t, report.Options{Keep: true})
	plots, err := r.Plots()
	if err != nil {
		t.Fatal(err)
	}
	load := data(t, plots, "load")
	asked, from, to := numbers(t, load["base price asked credits/node-hour"]), numbers(t, load["from s"]), numbers(t, load["to s"])
	price := site.Groups[0].Price.Float()
	for i, name := range load["site"] {
		want := price
		if name != site.Name {
			continue
		}
		switch quarter := w.until.Seconds() / 4; {
		case to[i] <= quarter:
			want /= 2
		case from[i] < quarter:
			continue // it changes in between
		}
		if math.Abs(asked[i]-want) > 1e-6 {
			t.Fatalf("up to %v s %s asks %v, want %v", to[i], name, asked[i], want)
		}
	}
	var with, without bytes.Buffer
	if err := plots[1].Write(&with, "svg"); err != nil {
		t.Fatal(err)
	}
	if err := plain[1].Write(&without, "svg"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(with.String(), `class="j j5"`); n != 2 || strings.Contains(without.String(), `class="j j5"`) {
		t.Errorf("%d lines of what is asked, want that of the site and of the legend", n)
	}
}

// A summary keeps the curve, so that the page can be drawn again.
func TestReadDir_KeepsThePriceCurve(t *testing.T) {
	t.Parallel()
	w := storyWorld()
	curve, err := grid.ParsePriceCurve("86400000/0:500 21600000:1000")
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.header.Sites[0].Groups {
		w.header.Sites[0].Groups[i].Curve = curve
	}
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
	a, errA := r.Plots()
	b, errB := again.Plots()
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if x, y := strings.Join(a[1].Rows[0], ","), strings.Join(b[1].Rows[0], ","); x != y || len(a[1].Rows[0]) != 9 {
		t.Errorf("read back the first row is %s, it was %s", y, x)
	}
	summary, err := os.ReadFile(filepath.Join(dir, report.SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	spoilt := strings.Replace(string(summary), `86400000/0:500`, `86400000/0:x`, 1)
	if err := os.WriteFile(filepath.Join(dir, report.SummaryFile), []byte(spoilt), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := report.ReadDir(dir); err == nil || !strings.Contains(err.Error(), "step 1 of a price curve") {
		t.Errorf("%v", err)
	}
}
