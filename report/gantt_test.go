package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// drawn is a rectangle of the picture.
type drawn struct {
	class, title string
	x, y, w, h   float64
}

// picture reads the bars back, band by band: a band's ground is a rectangle of
// class "band", and every bar lies on one.
func picture(t testing.TB, svg string) (bands []drawn, bars []drawn) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var open []string // elements
	var title string  // of a bar cut into pieces
	last := -1
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return bands, bars
		}
		if err != nil {
			t.Fatalf("the picture is not XML: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
			if e.Name.Local == "g" {
				title, last = "", -1
			}
			if e.Name.Local != "rect" {
				continue
			}
			r := drawn{title: title}
			for _, a := range e.Attr {
				v, _ := strconv.ParseFloat(a.Value, 64)
				switch a.Name.Local {
				case "class":
					r.class = a.Value
				case "x":
					r.x = v
				case "y":
					r.y = v
				case "width":
					r.w = v
				case "height":
					r.h = v
				}
			}
			switch {
			case r.class == "band":
				bands = append(bands, r)
			case r.x >= 120 && r.y >= 100 && r.class != "bg":
				last = len(bars)
				bars = append(bars, r)
			}
		case xml.EndElement:
			if e.Name.Local == "rect" {
				last = -1
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && open[len(open)-1] == "title" {
				if title = string(e); last >= 0 {
					bars[last].title, title = title, ""
				}
			}
		}
	}
}

func TestGantt_EveryJobAndLegThatRanIsDrawnInTrueSize(t *testing.T) {
	t.Parallel()
	w := month()
	_, _, _, svg := written(t, w)
	bands, bars := picture(t, svg)
	groups, until := 0, w.until.Seconds()
	area := map[bool]float64{} // node-seconds, by whether a VO took them
	for _, s := range w.header.Sites {
		for _, g := range s.Groups {
			band := bands[groups]
			groups++
			for _, b := range bars {
				if b.y >= band.y && b.y < band.y+band.h {
					area[strings.HasPrefix(b.class, "v ")] += b.w / band.w * until * b.h / band.h * float64(g.Nodes)
				}
			}
		}
	}
	if groups != len(bands) {
		t.Fatalf("%d bands for %d groups", len(bands), groups)
	}
	want := map[bool]float64{}
	for _, s := range w.report(t, report.Options{}).Summary.Sites {
		want[true] += s.Utilisation.VO * float64(s.Nodes) * until
		want[false] += s.Utilisation.Local * float64(s.Nodes) * until
	}
	for vo := range want {
		if math.Abs(area[vo]-want[vo]) > 0.01*want[vo] {
			t.Errorf("bars of VO %t cover %.0f node-seconds, %.0f were used", vo, area[vo], want[vo])
		}
	}
	titles := map[string]bool{}
	legs, locals := 0, 0
	for _, b := range bars {
		if titles[b.title] {
			continue // another piece
		}
		titles[b.title] = true
		if strings.Contains(b.title, "local job") {
			locals++
		} else {
			legs++
		}
	}
	if legs != w.legs || locals != w.locals {
		t.Errorf("%d legs and %d local jobs are drawn, %d and %d ran", legs, locals, w.legs, w.locals)
	}
}

func TestGantt_NoBarsOverlapOrLeaveTheirGroup(t *testing.T) {
	t.Parallel()
	_, _, _, svg := written(t, month())
	bands, bars := picture(t, svg)
	const hair = 0.001
	for i, b := range bars {
		home := false
		for _, g := range bands {
			home = home || b.x >= g.x-hair && b.x+b.w <= g.x+g.w+hair && b.y >= g.y-hair && b.y+b.h <= g.y+g.h+hair
		}
		if !home {
			t.Fatalf("bar %+v leaves its group", b)
		}
		for _, o := range bars[:i] {
			if b.x+hair < o.x+o.w && o.x+hair < b.x+b.w && b.y+hair < o.y+o.h && o.y+hair < b.y+b.h {
				t.Fatalf("bars overlap:\n%+v\n%+v", b, o)
			}
		}
	}
}

func TestGantt_LegsOfOneWindowShareAColourAndALine(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := tell(t, report.Options{Keep: true}).WriteGantt(&b); err != nil {
		t.Fatal(err)
	}
	_, bars := picture(t, b.String())
	var wave []drawn
	for _, r := range bars {
		if strings.Contains(r.title, "wave of vo1") {
			wave = append(wave, r)
		}
	}
	if len(wave) != 2 || wave[0].class != wave[1].class || wave[0].x != wave[1].x {
		t.Fatalf("the legs of wave are %+v", wave)
	}
	if want := "north/main, wave of vo1: 1 node, 0:03:20 to 0:08:20 (5 min), 0.33 credits (0.03 for delay), part 1 of 2"; wave[0].title != want {
		t.Errorf("tooltip %q, want %q", wave[0].title, want)
	}
	if strings.Count(b.String(), `<path class="j j0" d="M322 `) != 1 {
		t.Errorf("no line joins the legs of wave:\n%s", b.String())
	}
}

func TestGantt_NamesAreSafeInXML(t *testing.T) {
	t.Parallel()
	header, recorded, end := theStory()
	header.Scenario = "<b>&\x01\"ü\""
	c := report.NewCollector(header, report.Options{Keep: true})
	for _, s := range recorded {
		if f, ok := s.fact.(facts.JobSubmitted); ok && f.Job.Name == "wave" {
			s.at = 0
		}
		c.Add(s.at, s.id, s.fact)
	}
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteGantt(&b); err != nil {
		t.Fatal(err)
	}
	picture(t, b.String())
	if !strings.Contains(b.String(), "&lt;b&gt;&amp;\uFFFD&#34;ü&#34;") {
		t.Error("the name is not there")
	}
}

func TestGantt_TooManyBarsShowDensityAndSaySo(t *testing.T) {
	t.Parallel()
	w := newWorld(worldSize{sites: [][]int{{64}, {64, 64}}, brokers: 1, locals: 12_000, jobs: 50,
		until: grid.Time(100 * grid.Day), longest: grid.Hour, seed: 3})
	_, _, _, svg := written(t, w)
	bands, bars := picture(t, svg)
	if len(bands) != 3 || len(bars) != 0 {
		t.Errorf("%d bands and %d bars, want 3 and none", len(bands), len(bars))
	}
	if !strings.Contains(svg, "jobs and legs are too many to draw one by one") || len(svg) > 300_000 {
		t.Errorf("the picture of %d bytes does not say what it shows", len(svg))
	}
}

func TestGantt_TooManyGroupsShowSites(t *testing.T) {
	t.Parallel()
	single := make([]int, 150)
	for i := range single {
		single[i] = 1
	}
	w := newWorld(worldSize{sites: [][]int{single, {8}}, locals: 200, until: grid.Time(grid.Day), longest: grid.Hour, seed: 4})
	_, _, _, svg := written(t, w)
	if bands, _ := picture(t, svg); len(bands) != 2 || !strings.Contains(svg, "151 groups are too many") {
		t.Errorf("%d bands, want one a site", len(bands))
	}
}

func TestGantt_NodePromisedTwiceNamesTheGroup(t *testing.T) {
	t.Parallel()
	header, recorded, end := theStory()
	c := report.NewCollector(header, report.Options{Keep: true})
	for _, s := range recorded {
		c.Add(s.at, s.id, s.fact)
	}
	c.Add(at(900), "cluster:north", facts.JobStarted{Job: 70, Group: "main", Nodes: 1, Submit: 0, Class: "immediate"})
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteGantt(io.Discard); err == nil || !strings.Contains(err.Error(), "site north, group main: 1 node needed at 900 s, 0 of 4 free") {
		t.Errorf("error is %v", err)
	}
}

func TestGantt_NeedsTheJobs(t *testing.T) {
	t.Parallel()
	if err := tell(t, report.Options{}).WriteGantt(io.Discard); err == nil {
		t.Error("a picture without jobs")
	}
}

func BenchmarkGantt_20000Bars(b *testing.B) {
	w := newWorld(worldSize{sites: [][]int{{128}, {256}}, brokers: 1, locals: 9500, jobs: 200,
		until: grid.Time(100 * grid.Day), longest: 4 * grid.Hour, seed: 3})
	r := w.report(b, report.Options{Keep: true})
	var buf bytes.Buffer
	for b.Loop() {
		buf.Reset()
		if err := r.WriteGantt(&buf); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(buf.Len()), "bytes")
}

func BenchmarkCollector_Facts20000(b *testing.B) {
	w := newWorld(worldSize{sites: [][]int{{128}, {256}}, brokers: 1, locals: 5000, jobs: 200,
		until: grid.Time(100 * grid.Day), longest: 4 * grid.Hour, seed: 3})
	for _, o := range []struct {
		name string
		report.Options
	}{{"summary", report.Options{}}, {"keep", report.Options{Keep: true}}, {"events", report.Options{Events: io.Discard}}} {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.report(b, o.Options)
			}
			b.ReportMetric(float64(len(w.facts))*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
		})
	}
}

func BenchmarkJobs_100000Rows(b *testing.B) {
	w := newWorld(worldSize{sites: [][]int{{128}, {256}}, locals: 50_000,
		until: grid.Time(400 * grid.Day), longest: grid.Hour, seed: 3})
	r := w.report(b, report.Options{Keep: true})
	for b.Loop() {
		if err := r.WriteJobs(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
