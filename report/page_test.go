package report_test

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/report/view"
	"github.com/bourse-grid/bourse/tree/thorough"
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
	page = regexp.MustCompile(`"[A-Za-z0-9+/=]{40,}"`).ReplaceAllString(page, "packed")
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

// document is what the view of a page loads.
func document(t testing.TB, page, id string) map[string]any {
	t.Helper()
	_, rest, _ := strings.Cut(page, `<script type="application/json" data-view="`+id+`">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var d map[string]any
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("the page has no document %s: %v", id, err)
	}
	fed := map[string]string{}
	for _, piece := range regexp.MustCompile(`data-view="`+id+`" data-feed="(\d+)">([^<]*)<`).FindAllStringSubmatch(page, -1) {
		fed[piece[1]] += piece[2]
	}
	for _, field := range d {
		if p, ok := field.(map[string]any); ok && p["feed"] != nil {
			p["packed"] = fed[fmt.Sprint(p["feed"])]
		}
	}
	return d
}

// unpacked is a field of a document that is packed.
func unpacked(t testing.TB, field any) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(field.(map[string]any)["packed"].(string))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPage_TellsEveryVOJobWithItsWay(t *testing.T) {
	t.Parallel()
	d := document(t, html(t, tell(t, report.Options{Keep: true})), "run")
	for _, want := range []string{`"wave"`, `"doomed"`, `"abandoned"`, "11 credits short"} {
		if jobs := unpacked(t, d["jobs"]); !strings.Contains(jobs, want) {
			t.Errorf("the jobs do not say %q", want)
		}
	}
	for _, want := range []string{
		"0:02:00: placed: 1 node of north/main, 2 nodes of south/main, for 0.83 credits",
		"2 times", // poor was put off twice for one reason
	} {
		if stories := unpacked(t, d["stories"]); !strings.Contains(stories, want) {
			t.Errorf("the stories do not say %q", want)
		}
	}
	if note := d["jobsNote"].(string); !strings.Contains(note, "What alternatives the jobs of vo1 had is not on record.") {
		t.Errorf("the note is %q", note)
	}
}

// A moldable job is shown with the nodes of its window, not those it would rather have.
func TestPage_AMoldableJobHasTheNodesOfItsWindow(t *testing.T) {
	t.Parallel()
	w := &world{until: 1000, header: report.Header{Scenario: "mold", Brokers: []report.Broker{{Name: "vo1"}},
		Sites: []report.Site{{Name: "north", Groups: []grid.Group{{Site: "north", Name: "main", Nodes: 8, Performance: grid.Unit}}}}}}
	tx := grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}
	w.say(0, 1, "broker:vo1", facts.JobSubmitted{Job: grid.Job{Name: "mold", Request: grid.Request{Nodes: 4, Length: 100, Sizes: []grid.Size{{Nodes: 4, Length: 100}, {Nodes: 5, Length: 90}}}}})
	w.say(0, 1, "broker:vo1", facts.TxBegun{Tx: tx, Job: "mold", Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main", Nodes: 5, Start: 10, End: 100}}})
	w.say(0, 1, "broker:vo1", facts.TxDecided{Tx: tx, Commit: true})
	w.end = report.End{Until: w.until}
	if jobs := unpacked(t, document(t, html(t, w.report(t, report.Options{Keep: true})), "run")["jobs"]); !strings.Contains(jobs, `"nodes":[5]`) {
		t.Errorf("5 nodes are not shown: %s", jobs)
	}
}

// busy is a run of so many jobs on four sites, over a year: lanes of nodes that take one
// job after the other, the last of them legs of a VO.
func busy(jobs int) *world {
	const sites, lanes, legs = 4, 20, 1
	rng := rand.New(rand.NewPCG(3, 7))
	w := &world{until: grid.Time(365 * grid.Day), header: report.Header{Scenario: "busy", Seed: 3, Brokers: []report.Broker{{Name: "vo1", Budget: 1_000_000 * grid.Credit}}}}
	w.end = report.End{Until: w.until, Waiting: map[string][]report.Waiting{}}
	each := jobs / (sites * lanes)
	most := int64(w.until) / int64(each) * 2
	for i := range sites {
		name := fmt.Sprint("site", i+1)
		w.header.Sites = append(w.header.Sites, report.Site{Name: name, Groups: []grid.Group{{Site: name, Name: "main", Nodes: lanes * 8, Performance: grid.Unit, Price: 1_000_000}}})
		for lane := range lanes {
			at := grid.Time(0)
			for k := range each {
				start := at.Add(grid.Duration(rng.Int64N(most / 5)))
				end := start.Add(grid.Duration(1000 + rng.Int64N(most*4/5)))
				nodes := 1 + rng.IntN(8)
				if at = end; lane < lanes-legs {
					w.locals++
					job := int64(k*lanes + lane + 1)
					w.say(start, 1, agents.ID("cluster:"+name), facts.JobStarted{Job: job, Group: "main", Nodes: nodes, Submit: start - min(start, 60_000), End: end, Class: []string{"immediate", "backfilled", "reserved"}[rng.IntN(3)]})
					w.say(end, 0, agents.ID("cluster:"+name), facts.JobEnded{Job: job, Group: "main", Nodes: nodes, Submit: start - min(start, 60_000), Start: start})
					continue
				}
				w.legs++
				tx, job := grid.TxID{Broker: "vo1", Incarnation: 1, Seq: uint64(w.legs)}, fmt.Sprintf("wave-%06d", w.legs)
				w.say(start, 1, "broker:vo1", facts.JobSubmitted{Job: grid.Job{Name: job, Submit: start, Request: grid.Request{Nodes: nodes, Deadline: grid.Never}}})
				w.say(start, 1, "broker:vo1", facts.TxBegun{Tx: tx, Job: job, Alternative: 1, Sites: []string{name}, Legs: []grid.Leg{{Group: "main", Nodes: nodes, Start: start, End: end}}, Limits: []grid.Credits{grid.Credit}})
				w.say(start, 1, "broker:vo1", facts.TxDecided{Tx: tx, Commit: true})
				w.say(end, 0, "broker:vo1", facts.LegDone{Leg: grid.LegID{Tx: tx}, State: grid.Settled, End: end})
			}
		}
	}
	slices.SortStableFunc(w.facts, func(a, b said) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank)) })
	return w
}

func TestPage_IsTenMegabytesAtMost(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "draws a million jobs")
	w := busy(1_000_000)
	page := html(t, w.report(t, report.Options{Keep: true}))
	if len(page) > 10<<20 {
		t.Errorf("%d bars make a page of %d bytes", w.legs+w.locals, len(page))
	}
	rows, bars := document(t, page, "run")["bars"].(map[string]any)["rows"].([]any), 0
	for _, n := range rows {
		bars += int(n.(float64))
	}
	if bars < 900_000 || bars > w.legs+w.locals {
		t.Errorf("the page has %d bars of %d", bars, w.legs+w.locals)
	}
	if dir := os.Getenv("BOURSE_MILLION"); dir != "" { // to be opened by people
		if err := os.WriteFile(dir+"/million.html", []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
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
		until: grid.Time(20 * grid.Day), longest: 9 * grid.Hour, seed: 4})
	b.header.Settings = []report.Setting{{Owner: "north", Key: "pricing", Value: "fixed"}}
	var out bytes.Buffer
	first, second := a.report(t, report.Options{Keep: true}), b.report(t, report.Options{Keep: true})
	apart := report.Compare([]report.Summary{first.Summary}, []report.Summary{second.Summary}, false)
	if err := report.WriteComparison(&out, first, second, apart); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{`id="A"`, `id="B"`, "<h1>A: made up</h1>", "B − A", "One seed says nothing about chance", "<td class=\"word\">fixed</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	one, other := document(t, page, "A"), document(t, page, "B")
	if one["until"] != float64(20*grid.Day) && other["until"] != one["until"] || one["topPrice"] != other["topPrice"] {
		t.Errorf("the rulers end at %v and %v, the axes of prices at %v and %v", one["until"], other["until"], one["topPrice"], other["topPrice"])
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

// If nothing varies there is no figure, but a sentence that says so. A paper's number
// beside it, an interval, or one more value make a figure.
func TestStudy_DrawsNoFigureWhereNothingVaries(t *testing.T) {
	t.Parallel()
	row := func(measure, setting string, here, ci float64) report.StudyRow {
		return report.StudyRow{Measure: measure, Setting: setting, Here: here, CI95: ci, Runs: 3}
	}
	paper := row("paper", "a", 5, 0)
	paper.Number, paper.Paper, paper.Said = true, 4, "4"
	s := report.Study{Name: "x", Plain: true, Rows: []report.StudyRow{row("vo1: placed %", "a", 100, 0), row("vo1: placed %", "b", 100, 0),
		row("wait", "a", 100, 0), row("wait", "b", 100, 2), row("cost", "a", 3, 0), row("cost", "b", 4, 0), row("alone", "a", 1, 0), paper, row("paper", "b", 5, 0),
		row("none", "a", math.NaN(), math.NaN()), row("none", "b", math.NaN(), math.NaN())}}
	var drawn []string
	for _, p := range s.Plots() {
		drawn = append(drawn, p.Title)
	}
	if got := strings.Join(drawn, ", "); got != "wait, cost, paper" {
		t.Errorf("drawn are %s", got)
	}
	var page bytes.Buffer
	if err := s.Write(&page); err != nil || !strings.Contains(page.String(), "No figure where nothing varies: vo1: placed % is 100; alone is 1; none is not known.") {
		t.Error("the page does not say what has no figure", err)
	}
}

// The view has the colours of the figures that are files.
func TestPage_ColoursAreThoseOfTheFigures(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := tell(t, report.Options{Keep: true}).WriteGantt(&b); err != nil {
		t.Fatal(err)
	}
	for k := range 8 {
		ink := regexp.MustCompile(fmt.Sprintf(`\.v%d\{fill:(#[0-9a-f]+)`, k)).FindStringSubmatch(b.String())
		if ink == nil || !strings.Contains(view.Style(), fmt.Sprintf("--v%d:%s", k, ink[1])) {
			t.Errorf("colour %d is %q in figures", k, ink)
		}
	}
}
