package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browser is a page open in a real one.
type browser struct {
	context.Context
	mu       sync.Mutex
	requests []string // beside the page itself
	errors   []string // of the console
}

// openPage opens a file in Chromium, or skips the test with a word. It ends with
// the test.
func openPage(t *testing.T, file string) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium here: the page is not tested in a browser")
	}
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(60*time.Second), chromedp.WindowSize(1280, 1000), chromedp.Flag("disable-dev-shm-usage", true))
	alive, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	allocator, cancel := chromedp.NewExecAllocator(alive, options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &browser{Context: ctx}
	page := (&url.URL{Scheme: "file", Path: file}).String()
	if err := chromedp.Listen(ctx, func(event any) { b.hear(event, page) }); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.Navigate(page), chromedp.WaitReady(chromedp.CSS("main")))
	return b
}

// hear notes what a page must not do: ask for more than itself, and complain.
func (b *browser) hear(event any, page string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Request.URL != page && !strings.HasPrefix(e.Request.URL, "data:") {
			b.requests = append(b.requests, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, fmt.Sprint(e.ExceptionDetails.Text, " line ", e.ExceptionDetails.LineNumber))
	case *runtime.EventConsoleAPICalled:
		b.errors = append(b.errors, fmt.Sprint("console.", e.Type))
	case *log.EventEntryAdded:
		b.errors = append(b.errors, e.Entry.Text)
	}
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		t.Fatal(err)
	}
}

// script is an action that evaluates JavaScript for what it does.
func script(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](text)
}

// ask evaluates JavaScript.
func ask[T any](t *testing.T, b *browser, script string) T {
	t.Helper()
	v, err := chromedp.Run(b, chromedp.Evaluate[T](script))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// on is where a mark lies on the screen, and where its drawing does.
type on struct{ X, Y, W, H, SvgX, SvgW, BandY, BandH float64 }

// find is a script that finds a mark by its words: a bar, or the first piece of
// one, in the picture of what ran where.
func find(words string) string {
	return fmt.Sprintf(`(() => { const svg = document.getElementById("gantt");
	const tipped = e => e.tipWords ?? e.querySelector(":scope > title")?.textContent;
	const m = [...svg.querySelectorAll("rect, g:not([class])")].find(e => tipped(e)?.startsWith(%q));
	if (!m) return null;
	const r = m.getBoundingClientRect(), s = svg.getBoundingClientRect();
	const band = [...svg.querySelectorAll("rect.band")].map(e => e.getBoundingClientRect()).find(b => r.y >= b.y - 1 && r.y < b.bottom);
	return {X: r.x, Y: r.y, W: r.width, H: r.height, SvgX: s.x, SvgW: s.width, BandY: band.y, BandH: band.height}; })()`, words)
}

func readCSV(t *testing.T, file string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	list := make([]map[string]string, len(rows)-1)
	for i, row := range rows[1:] {
		list[i] = map[string]string{}
		for k, cell := range row {
			list[i][rows[0][k]] = cell
		}
	}
	return list
}

func seconds(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReport_InARealBrowser(t *testing.T) {
	t.Parallel()
	dir, _, _, err := simulate(t, tiny, "--seed", "7", "--out", "DIR/out")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := runReport(t, out, "--figures", "svg"); err != nil {
		t.Fatal(err)
	}
	b := openPage(t, filepath.Join(out, "report.html"))
	barsAreWhatTheDataSay(t, b, out)
	zoomDoublesAllFigures(t, b)
	hoverTells(t, b, out)
	frontIsWhatTheDataSay(t, b, out)
	jobsAreSortedAndFiltered(t, b, out)
	takeShots(t, b)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) > 0 || len(b.errors) > 0 {
		t.Errorf("the page asked for %q and complained %q", b.requests, b.errors)
	}
}

// barsAreWhatTheDataSay compares bars as the browser lays them out with jobs.csv.
func barsAreWhatTheDataSay(t *testing.T, b *browser, out string) {
	t.Helper()
	nodes := map[string]float64{"barge/main": 512, "harbour/main": 256, "island/main": 128, "yacht/thin": 128, "yacht/fat": 32}
	const until = 5 * 86400
	compared := 0
	for i, row := range readCSV(t, filepath.Join(out, "jobs.csv")) {
		if row["kind"] != "vo" || row["end"] == "" || i%20 != 0 {
			continue
		}
		place := row["site"] + "/" + row["group"]
		r := ask[*on](t, b, find(fmt.Sprintf("%s, %s of %s: ", place, row["job"], row["broker"])))
		if r == nil {
			t.Fatalf("%s of %s is not drawn", row["job"], place)
		}
		scale := r.SvgW / 1150
		left := r.SvgX + (120+1010*seconds(t, row["start"])/until)*scale
		width := (seconds(t, row["end"]) - seconds(t, row["start"])) / until * 1010 * scale
		if math.Abs(r.X-left) > 1.5 || math.Abs(r.W-width) > 2 {
			t.Errorf("%s on %s lies at %.1f, %.1f wide; want %.1f, %.1f", row["job"], place, r.X, r.W, left, width)
		}
		// One that was cut into pieces spreads over more than its nodes.
		if least := r.BandH * seconds(t, row["nodes"]) / nodes[place]; r.H < least-2.5 {
			t.Errorf("%s on %s is %.1f high, %.1f is the least", row["job"], place, r.H, least)
		}
		compared++
	}
	if compared < 8 {
		t.Errorf("only %d bars were compared", compared)
	}
}

func zoomDoublesAllFigures(t *testing.T, b *browser) {
	t.Helper()
	const size = `[...document.querySelectorAll("figure.timed g.z")].slice(0, 1).concat(document.querySelector("#load g.z")).map(g => g.getBoundingClientRect().width)`
	whole := ask[[]float64](t, b, size)
	b.do(t, chromedp.Click(chromedp.CSS(`[data-act=in]`)))
	twice := ask[[]float64](t, b, size)
	for i := range whole {
		if ratio := twice[i] / whole[i]; math.Abs(ratio-2) > 0.02 {
			t.Errorf("figure %d is %.3f times as wide after zooming in", i, ratio)
		}
	}
	if said := ask[string](t, b, `document.getElementById("shown").textContent`); said != "1 d 6:00 to 3 d 18:00" {
		t.Errorf("shown is %q", said)
	}
	first := ask[string](t, b, `document.querySelector("#gantt g.ticks text").textContent`)
	if first != "1 d 6:00" && first != "1 d 12:00" {
		t.Errorf("the ruler begins with %q", first)
	}
	// By the keyboard: out again, in, later, and back to the whole.
	b.do(t, chromedp.Focus(chromedp.CSS(`figure.timed .scroll`)), chromedp.KeyEvent("+"), chromedp.KeyEvent(kb.ArrowRight))
	if said := ask[string](t, b, `document.getElementById("shown").textContent`); said != "2 d 4:30 to 3 d 10:30" {
		t.Errorf("after + and right there is shown %q", said)
	}
	b.do(t, chromedp.KeyEvent("0"))
	if back := ask[[]float64](t, b, size); math.Abs(back[0]-whole[0]) > 0.5 {
		t.Errorf("the whole is %.1f wide, was %.1f", back[0], whole[0])
	}
}

// hoverTells points at a bar and reads the tip.
func hoverTells(t *testing.T, b *browser, out string) {
	t.Helper()
	for _, row := range readCSV(t, filepath.Join(out, "jobs.csv")) {
		if row["kind"] != "vo" || row["site"] != "barge" || row["status"] != "ended" {
			continue
		}
		words := fmt.Sprintf("barge/main, %s of vo1: %s node", row["job"], row["nodes"])
		b.do(t, script(`document.getElementById("gantt").scrollIntoView()`))
		r := ask[*on](t, b, find(words))
		b.do(t, chromedp.MouseEvent(chromedp.MouseMoved, r.X+r.W/2, r.Y+r.H/2))
		tip := ask[string](t, b, `getComputedStyle(document.getElementById("tip")).display + " " + document.getElementById("tip").textContent`)
		if !strings.HasPrefix(tip, "block "+words) || !strings.Contains(tip, " credits") {
			t.Errorf("the tip is %q, want %q", tip, words)
		}
		return
	}
	t.Error("no leg at barge")
}

// frontIsWhatTheDataSay compares the first front with its CSV: the place of the
// points is linear in what they cost and take.
func frontIsWhatTheDataSay(t *testing.T, b *browser, out string) {
	t.Helper()
	name := ask[string](t, b, `document.querySelector("svg[id^=front]").id`)
	rows := readCSV(t, filepath.Join(out, "figures", name+".csv"))
	type dot struct{ X, Y float64 }
	dots := ask[[]dot](t, b, fmt.Sprintf(`[...document.querySelectorAll("#%s circle")].map(c => ({X: +c.getAttribute("cx"), Y: +c.getAttribute("cy")}))`, name))
	if len(dots) != len(rows) || len(rows) < 3 {
		t.Fatalf("%s has %d points, its data %d", name, len(dots), len(rows))
	}
	value := func(i int, column string) float64 { return seconds(t, rows[i][column]) }
	last := len(rows) - 2 // of the front; then comes the chosen point
	perCredit := (dots[last].X - dots[0].X) / (value(last, "cost credits") - value(0, "cost credits"))
	perHour := (dots[last].Y - dots[0].Y) / (value(last, "time h") - value(0, "time h"))
	for i := range rows {
		x := dots[0].X + perCredit*(value(i, "cost credits")-value(0, "cost credits"))
		y := dots[0].Y + perHour*(value(i, "time h")-value(0, "time h"))
		if math.Abs(x-dots[i].X) > 0.1 || math.Abs(y-dots[i].Y) > 0.1 {
			t.Errorf("%s: point %d is at %v, its data are at %.2f, %.2f", name, i, dots[i], x, y)
		}
	}
	if perCredit <= 0 || perHour >= 0 || rows[len(rows)-1]["what"] != "chosen" {
		t.Errorf("%s: %f pixels a credit, %f an hour", name, perCredit, perHour)
	}
}

func jobsAreSortedAndFiltered(t *testing.T, b *browser, out string) {
	t.Helper()
	jobs := map[string]bool{}
	for _, row := range readCSV(t, filepath.Join(out, "jobs.csv")) {
		if row["kind"] == "vo" {
			jobs[row["job"]] = true
		}
	}
	if n := ask[int](t, b, `document.querySelectorAll("table.jobs > tbody > tr").length`); n != len(jobs) {
		t.Errorf("%d jobs have rows, there are %d", n, len(jobs))
	}
	const costs = `[...document.querySelectorAll("table.jobs > tbody > tr")].map(r => r.cells[9].dataset.v)`
	b.do(t, script(`document.querySelectorAll("table.jobs > thead button")[9].click()`))
	before := -1.0
	for _, c := range ask[[]string](t, b, costs) {
		if c == "" {
			before = math.Inf(1)
			continue
		}
		if v := seconds(t, c); v < before {
			t.Fatalf("%v comes after %v", v, before)
		} else {
			before = v
		}
	}
	b.do(t, chromedp.SendKeys(chromedp.CSS(`input[type=search]`), "waiting"))
	if n := ask[int](t, b, `[...document.querySelectorAll("table.jobs > tbody > tr")].filter(r => !r.hidden).length`); n < 1 || n > 200 {
		t.Errorf("%d rows have waiting in them", n)
	}
	b.do(t, script(`(() => { const i = document.querySelector("input[type=search]"); i.value = ""; i.dispatchEvent(new Event("input")); })()`))
}

// takeShots writes pictures of the page into the folder that BOURSE_SHOTS names,
// for people to look at: by day and night, on a phone, on paper.
func takeShots(t *testing.T, b *browser) {
	t.Helper()
	dir := os.Getenv("BOURSE_SHOTS")
	if dir == "" {
		return
	}
	shot := func(name string, before ...chromedp.Action[chromedp.Void]) {
		b.do(t, before...)
		text, err := chromedp.Run(b, chromedp.FullScreenshot(90))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".jpg"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	media := func(p emulation.SetEmulatedMediaParams) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
			_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, p)
			return err
		})
	}
	scheme := func(name string) chromedp.Action[chromedp.Void] {
		return media(emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	}
	open := script(`document.querySelectorAll("td details")[3].open = true`)
	shot("light", open)
	shot("dark", scheme("dark"))
	shot("zoomed", scheme("light"), chromedp.Click(chromedp.CSS(`[data-act=in]`)), chromedp.Click(chromedp.CSS(`[data-act=in]`)))
	shot("phone", chromedp.Click(chromedp.CSS(`[data-act=whole]`)), chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2)))
	shot("print", chromedp.EmulateViewport(1000, 1400), media(emulation.SetEmulatedMediaParams{Media: "print"}))
}
