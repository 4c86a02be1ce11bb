package report_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/report"
)

func html(t testing.TB, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// outward is what would make a browser ask for something.
var outward = regexp.MustCompile(`(?i)(src|href|action|srcset)\s*=|url\(\s*['"]?[^#'"]|@import|fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon`)

func TestPage_AsksForNothing(t *testing.T) {
	t.Parallel()
	page := html(t, tell(t, report.Options{Keep: true}))
	for _, found := range outward.FindAllString(page, -1) {
		if found != "href=" || strings.Count(page, "href=") != 1 || !strings.Contains(page, `<link rel="icon" href="data:,">`) {
			t.Errorf("the page has %q", found)
		}
	}
}

func TestPage_NamesAreSafeInHTML(t *testing.T) {
	t.Parallel()
	header, facts, end := theStory()
	header.Scenario = `</script><script>alert("1")</script>`
	header.Settings = []report.Setting{{Owner: "<i>", Key: "'", Value: `"><img>`}}
	c := report.NewCollector(header, report.Options{Keep: true})
	for _, s := range facts {
		c.Add(s.at, s.id, s.fact)
	}
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	page := html(t, r)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img") || strings.Contains(page, "<i>") {
		t.Error("a name has become an element")
	}
	if n := strings.Count(page, "<script>"); n != 1 {
		t.Errorf("the page has %d scripts", n)
	}
}

func TestPage_SameFactsSameBytes(t *testing.T) {
	t.Parallel()
	first := html(t, month().report(t, report.Options{Keep: true}))
	if again := html(t, month().report(t, report.Options{Keep: true})); again != first {
		t.Error("two pages of one run differ")
	}
}

func TestPage_TellsEveryVOJobWithItsWay(t *testing.T) {
	t.Parallel()
	page := html(t, tell(t, report.Options{Keep: true}))
	for _, want := range []string{
		`<th scope="row" class="word">wave</th>`, "0:02:00: placed: 1 nodes of north/main, 2 nodes of south/main, for 0.83 credits",
		`<th scope="row" class="word">doomed</th>`, "abandoned", "11 credits short",
		"2 times", // poor was put off twice for one reason
		"What alternatives the jobs had is not on record.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestPage_IsTenMegabytesAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(worldSize{sites: [][]int{{256}, {512}}, brokers: 1, locals: 9500, jobs: 900,
		until: bourse.Time(150 * bourse.Day), longest: 4 * bourse.Hour, seed: 3})
	page := html(t, w.report(t, report.Options{Keep: true}))
	if len(page) > 10<<20 {
		t.Errorf("%d bars and legs make a page of %d bytes", 19900, len(page))
	}
	if strings.Contains(page, "too many to draw") {
		t.Error("fewer than 20,000 bars are shown as density")
	}
	w = newWorld(worldSize{sites: [][]int{{64}, {64, 64}}, brokers: 1, locals: 12_000, jobs: 50,
		until: bourse.Time(100 * bourse.Day), longest: bourse.Hour, seed: 3})
	page = html(t, w.report(t, report.Options{Keep: true}))
	if len(page) > 2<<20 || !strings.Contains(page, "jobs and legs are too many to draw one by one") {
		t.Errorf("a page of %d bytes, which does not say that it shows density", len(page))
	}
}

// data is the CSV of a plot, column by column.
func data(t *testing.T, plots []report.Plot, name string) map[string][]string {
	t.Helper()
	for i := range plots {
		if plots[i].Name != name {
			continue
		}
		var b bytes.Buffer
		if err := plots[i].WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		columns := map[string][]string{}
		for _, row := range rows[1:] {
			for k, cell := range row {
				columns[rows[0][k]] = append(columns[rows[0][k]], cell)
			}
		}
		return columns
	}
	t.Fatalf("no plot is named %s", name)
	return nil
}

func numbers(t *testing.T, column []string) []float64 {
	t.Helper()
	list := make([]float64, len(column))
	for i, s := range column {
		if s == "" {
			continue
		}
		var err error
		if list[i], err = strconv.ParseFloat(s, 64); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func TestPlots_KeepNodeTimeMoneyAndLegs(t *testing.T) {
	t.Parallel()
	w := month()
	r := w.report(t, report.Options{Keep: true})
	plots, err := r.Plots()
	if err != nil {
		t.Fatal(err)
	}
	load := data(t, plots, "load")
	from, to := numbers(t, load["from s"]), numbers(t, load["to s"])
	local, vo, price := numbers(t, load["local nodes"]), numbers(t, load["VO nodes"]), numbers(t, load["price credits/node-hour"])
	hours, paid := map[string][2]float64{}, 0.0
	for i, site := range load["site"] {
		h := (to[i] - from[i]) / 3600
		one := hours[site]
		hours[site] = [2]float64{one[0] + local[i]*h, one[1] + vo[i]*h}
		paid += price[i] * vo[i] * h
	}
	whole := w.until.Seconds() / 3600
	for _, s := range r.Summary.Sites {
		for k, want := range []float64{s.Utilisation.Local, s.Utilisation.VO} {
			if want *= float64(s.Nodes) * whole; math.Abs(hours[s.Name][k]-want) > 0.002*want+0.1 {
				t.Errorf("%s: the plot has %.1f node-hours, %.1f were used", s.Name, hours[s.Name][k], want)
			}
		}
	}
	// All legs that ran to their end were paid as they ran.
	cost := 0.0
	for _, b := range r.Summary.Brokers {
		cost += b.Cost.Total.Float()
	}
	if paid > cost*1.001 || paid < cost*0.9 {
		t.Errorf("the plot has %.1f credits, %.1f were paid", paid, cost)
	}
	prices := data(t, plots, "prices")
	legs := 0.0
	for i, n := range numbers(t, prices["legs at base price"]) {
		legs += n + numbers(t, prices["legs above it"])[i]
	}
	if want := strings.Count(strings.Join(data(t, plots, "gantt")["kind"], " "), "vo"); int(legs) < want {
		t.Errorf("%v legs have prices, %d ran", legs, want)
	}
	for i := range plots {
		for _, format := range []string{"svg", "png"} {
			var b bytes.Buffer
			if err := plots[i].Write(&b, format); err != nil || b.Len() < 500 {
				t.Errorf("%s as %s: %d bytes, %v", plots[i].Name, format, b.Len(), err)
			}
		}
	}
	if err := plots[0].Write(&bytes.Buffer{}, "pdf"); err == nil {
		t.Error("pdf was written")
	}
}

func TestComparison_ShowsBothRunsOverOneRuler(t *testing.T) {
	t.Parallel()
	a, b := month(), newWorld(worldSize{sites: [][]int{{64}}, brokers: 1, locals: 50, jobs: 20,
		until: bourse.Time(20 * bourse.Day), longest: 9 * bourse.Hour, seed: 4})
	b.header.Settings = []report.Setting{{Owner: "north", Key: "pricing", Value: "fixed"}}
	var out bytes.Buffer
	first, second := a.report(t, report.Options{Keep: true}), b.report(t, report.Options{Keep: true})
	apart := report.Compare([]report.Summary{first.Summary}, []report.Summary{second.Summary})
	if err := report.WriteComparison(&out, first, second, apart); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{`data-until="1728000000"`, `id="A-gantt"`, `id="B-gantt"`, "<h1>A: made up</h1>", "B − A", "One seed says nothing of chance", "<td class=\"word\">fixed</td>", `id="A-jobs-1-filter"`, `id="B-jobs-1-filter"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

func TestStudy_DrawsIntervalsBesideThePaper(t *testing.T) {
	t.Parallel()
	s := report.Study{Name: "adaptive <pricing>", Finding: "It holds.", Seed: 3, Rows: []report.StudyRow{
		{Measure: "free %", Setting: "SP2", Said: "63.4", Paper: 63.4, Number: true, Here: 62, CI95: 2, Runs: 5, Verdict: "agrees"},
		{Measure: "free %", Setting: "CTC", Said: "more", Here: 70, Runs: 1, Verdict: "undecided"},
		{Measure: "none", Setting: "x", Here: math.NaN(), Runs: 0},
	}}
	plots := s.Plots()
	if len(plots) != 2 || len(plots[0].Rows) != 2 {
		t.Fatalf("%d plots", len(plots))
	}
	var svg, page bytes.Buffer
	if err := plots[0].Write(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	// The diamond of the paper lies within the interval, the mean in its middle.
	ends := regexp.MustCompile(`<path class="l1" d="M([\d.]+) [\d.]+H([\d.]+)"`).FindStringSubmatch(svg.String())
	dot := regexp.MustCompile(`<circle class="on" cx="([\d.]+)"`).FindStringSubmatch(svg.String())
	diamond := regexp.MustCompile(`<path class="paper" d="M([\d.]+) `).FindStringSubmatch(svg.String())
	if ends == nil || dot == nil || diamond == nil {
		t.Fatalf("something is not drawn:\n%s", svg.String())
	}
	x := numbers(t, []string{ends[1], ends[2], dot[1], diamond[1]})
	if math.Abs((x[0]+x[1])/2-x[2]) > 0.05 || math.Abs((x[3]-x[0])/(x[1]-x[0])-(63.4-60)/4) > 0.01 {
		t.Errorf("the interval is %v to %v, the mean %v, the paper's %v", x[0], x[1], x[2], x[3])
	}
	if err := s.Write(&page); err != nil || !strings.Contains(page.String(), "adaptive &lt;pricing&gt;") || !strings.Contains(page.String(), "It holds.") {
		t.Error("the page is not of this study", err)
	}
}
