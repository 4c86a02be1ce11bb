package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"html"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/tree/thorough"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
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
	address := (&url.URL{Scheme: "file", Path: file}).String()
	return openAddress(t, address, address)
}

// openAddress opens a page that may ask for what is below an address.
func openAddress(t *testing.T, address, below string) *browser {
	t.Helper()
	thorough.Only(t, "starts a browser")
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(60*time.Second), chromedp.WindowSize(1280, 1000), chromedp.Flag("disable-dev-shm-usage", true))
	alive, cancel := context.WithTimeout(context.Background(), 8*time.Minute) // a machine may have much else to do
	t.Cleanup(cancel)
	allocator, cancel := chromedp.NewExecAllocator(alive, options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &browser{Context: ctx}
	if err := chromedp.Listen(ctx, func(event any) { b.hear(event, below) }); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("main")))
	return b
}

// hear notes what a page must not do: ask for more than is its own, and complain.
func (b *browser) hear(event any, below string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, below) && !strings.HasPrefix(e.Request.URL, "data:") {
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
	v, err := chromedp.Run(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// block is what a view knows of a bar, and where its canvas shows it.
type block struct {
	Bar                int
	Words              string
	X, Y, W, H         float64 // on the screen
	Left, Width, BandH float64 // of the plot, of the band
	Row                string
}

// blocks is a script that gives the blocks whose words begin with a prefix.
func blocks(prefix string) string {
	return fmt.Sprintf(`(() => { const {gantt, store} = views[0], list = [], c = gantt.canvas.getBoundingClientRect(), p = gantt.painter;
	for (let i = 0; i < store.bars.n; i++) {
		const words = gantt.words(i);
		if (!words.startsWith(%q)) continue;
		const item = gantt.items.find(x => x.row === store.row(i)), row = store.rows[store.row(i)];
		let box = null;
		p.boxes(item, i, (x, y, w, h) => { box ??= {x, y, w, h: 0}; box.h += h; });
		list.push({Bar: i, Words: words, X: c.x + box.x, Y: c.y + box.y, W: box.w, H: box.h, Left: c.x + p.left, Width: p.width - p.left, BandH: item.h, Row: store.sites[row.site].name + "/" + row.name});
	}
	return list; })()`, prefix)
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
	thorough.Only(t, "starts a browser")
	dir, _, _, err := simulate(t, tiny, "--seed", "7", "--out", "DIR/out")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := runReport(t, out, "--figures", "svg"); err != nil {
		t.Fatal(err)
	}
	b := openPage(t, filepath.Join(out, "report.html"))
	b.loaded(t)
	blocksAreWhatTheDataSay(t, b, out)
	blocksSayWhatTheFigureSays(t, b, out)
	zoomMovesAllFigures(t, b)
	aBlockOpensItsJobAndBack(t, b)
	keysReachEveryBlock(t, b)
	frontIsWhatTheDataSay(t, b, out)
	jobsAreSortedAndFiltered(t, b, out)
	sitesSortThePicture(t, b)
	takeShots(t, b)
	b.isWide(t)
	b.isQuiet(t)
}

// isQuiet reports what a page has asked for elsewhere, and its complaints.
func (b *browser) isQuiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) > 0 || len(b.errors) > 0 {
		t.Errorf("the page asked for %q and complained %q", b.requests, b.errors)
	}
}

// isWide reports what is wider than the screen, of a desk by night, of a phone by day,
// and of paper.
func (b *browser) isWide(t *testing.T) {
	t.Helper()
	for _, as := range []struct {
		media, scheme string
		width         int64
	}{{"", "dark", 1280}, {"", "light", 390}, {"print", "light", 720}} {
		b.do(t, chromedp.EmulateViewport(as.width, 900), chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
			_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: as.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: as.scheme}}})
			return err
		}))
		b.drawn(t)
		const wider = `[...document.querySelectorAll("body, body *")].filter(e => document.documentElement.scrollWidth > innerWidth && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + "." + e.className)`
		if list := ask[[]string](t, b, wider); len(list) > 0 {
			t.Errorf("%d pixels wide, %s %s: wider are %q", as.width, as.scheme, as.media, list[:min(len(list), 8)])
		}
	}
	b.do(t, chromedp.EmulateViewport(1280, 1000), chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
		return err
	}))
	b.drawn(t)
}

// loaded waits until all views have drawn what they loaded.
func (b *browser) loaded(t *testing.T) {
	t.Helper()
	b.do(t, chromedp.WaitReady(chromedp.CSS("html[data-loaded]")))
	b.drawn(t)
}

// drawn waits until what was changed is on the canvas.
func (b *browser) drawn(t *testing.T) {
	t.Helper()
	ask[bool](t, b, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// blocksAreWhatTheDataSay compares the blocks of VO legs as they are drawn with jobs.csv.
func blocksAreWhatTheDataSay(t *testing.T, b *browser, out string) {
	t.Helper()
	nodes := map[string]float64{"barge/main": 512, "harbour/main": 256, "island/main": 128, "yacht/thin": 128, "yacht/fat": 32}
	const until = 5 * 86400
	drawn := map[string]block{}
	for place := range nodes {
		for _, one := range ask[[]block](t, b, blocks(place+", ")) {
			name, _, _ := strings.Cut(one.Words, ":")
			drawn[name] = one
		}
	}
	compared := 0
	for _, row := range readCSV(t, filepath.Join(out, "jobs.csv")) {
		place := row["site"] + "/" + row["group"]
		who := row["job"] + " of " + row["broker"]
		if row["kind"] == "local" {
			who = "local job " + row["job"]
		}
		if row["start"] == "" || row["end"] == "" {
			continue
		}
		r, ok := drawn[place+", "+who]
		if !ok {
			t.Fatalf("%s of %s is not drawn", who, place)
		}
		left := r.Left + seconds(t, row["start"])/until*r.Width
		width := (seconds(t, row["end"]) - seconds(t, row["start"])) / until * r.Width
		if math.Abs(r.X-left) > 0.5 || math.Abs(r.W-max(width, 0.6)) > 0.5 {
			t.Errorf("%s on %s lies at %.1f, %.1f wide; want %.1f, %.1f", who, place, r.X, r.W, left, width)
		}
		if want := r.BandH * seconds(t, row["nodes"]) / nodes[place]; math.Abs(r.H-want) > 0.01 {
			t.Errorf("%s on %s is %.2f high, want %.2f: all its nodes, no more", who, place, r.H, want)
		}
		compared++
	}
	if compared < 200 {
		t.Errorf("only %d blocks were compared", compared)
	}
}

// blocksSayWhatTheFigureSays compares the words of blocks with the tooltips of gantt.svg.
func blocksSayWhatTheFigureSays(t *testing.T, b *browser, out string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "figures", "gantt.svg"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, m := range regexp.MustCompile(`<title>([^<]*)</title>`).FindAllStringSubmatch(string(text), -1) {
		said[html.UnescapeString(m[1])] = true
	}
	all := ask[[]block](t, b, blocks(""))
	for _, one := range all {
		if !said[one.Words] {
			t.Fatalf("gantt.svg does not say %q", one.Words)
		}
	}
	if len(all) < 200 || len(all) > len(said) {
		t.Errorf("%d blocks, %d tooltips", len(all), len(said))
	}
}

func zoomMovesAllFigures(t *testing.T, b *browser) {
	t.Helper()
	shown := func(want string) {
		t.Helper()
		b.drawn(t)
		if said := ask[string](t, b, `document.querySelector(".shown").textContent`); said != want {
			t.Errorf("shown is %q, want %q", said, want)
		}
	}
	const charts = `views[0].charts.plots.map(p => (p.scales.x.max - p.scales.x.min) / 3600000)`
	b.do(t, script(`views[0].charts.element.scrollIntoView()`), chromedp.WaitReady(chromedp.CSS(".uplot")))
	if hours := ask[[]float64](t, b, charts); len(hours) != 2 || hours[0] != 120 {
		t.Errorf("the charts show %v hours", hours)
	}
	whole := ask[[]block](t, b, blocks("barge/main, local job 1:"))
	b.do(t, chromedp.Click(chromedp.CSS(`[data-act=in]`)))
	shown("1 d 6:00:00 to 3 d 18:00:00")
	if twice := ask[[]block](t, b, blocks("barge/main, local job 1:")); math.Abs(twice[0].W/whole[0].W-2) > 0.02 {
		t.Errorf("a block is %.3f times as wide after zooming in", twice[0].W/whole[0].W)
	}
	if hours := ask[[]float64](t, b, charts); hours[0] != 60 || hours[1] != 60 {
		t.Errorf("the charts show %v hours after zooming in", hours)
	}
	b.do(t, script(`views[0].gantt.canvas.focus()`), chromedp.KeyEvent("+"), chromedp.KeyEvent(kb.ArrowRight))
	shown("2 d 4:30:00 to 3 d 10:30:00")
	b.do(t, chromedp.KeyEvent("0"))
	shown("the whole run")
}

// aBlockOpensItsJobAndBack clicks on a block, goes on to its job's row, and back.
func aBlockOpensItsJobAndBack(t *testing.T, b *browser) {
	t.Helper()
	b.do(t, script(`views[0].gantt.box.scrollIntoView()`))
	b.drawn(t)
	var leg block
	for _, one := range ask[[]block](t, b, blocks("barge/main, ")) {
		if strings.Contains(one.Words, " of vo1: ") && one.W > 4 && one.H > 4 && one.Y > 40 {
			leg = one
		}
	}
	b.do(t, chromedp.MouseEvent(chromedp.MouseMoved, leg.X+leg.W/2, leg.Y+1))
	if tip := ask[string](t, b, `document.querySelector(".tip").hidden + " " + document.querySelector(".tip").textContent`); tip != "false "+leg.Words {
		t.Errorf("the tip is %q, want %q", tip, leg.Words)
	}
	b.do(t, chromedp.MouseClickXY(leg.X+leg.W/2, leg.Y+1))
	name := strings.Fields(leg.Words)[1]
	if said := ask[string](t, b, `document.querySelector(".panel .why").textContent`); !strings.HasPrefix(said, name+" of vo1: ended; no. ") {
		t.Errorf("the panel says %q of %s", said, name)
	}
	const widths = `views[0].jobs.heads.map(h => h.getBoundingClientRect().width)`
	before := ask[[]float64](t, b, widths)
	b.do(t, script(`[...document.querySelectorAll(".panel button")].find(x => x.textContent === "Show in the table of jobs").click()`))
	if after := ask[[]float64](t, b, widths); !slices.EqualFunc(before, after, func(x, y float64) bool { return math.Abs(x-y) < 2 }) { // of what a browser rounds
		t.Errorf("to open a job has moved columns from %v to %v", before, after)
	}
	const row = `(() => { const r = document.querySelector("tr.inside"), above = r.previousSibling; return above.cells[0].textContent + " " + (Math.abs(r.cells[0].offsetWidth - above.offsetWidth) < 2) + " " + r.querySelectorAll("li").length; })()`
	if said := ask[string](t, b, row); !strings.HasPrefix(said, name+" true ") || strings.HasSuffix(said, " 0") {
		t.Errorf("the row below the job's is %q", said)
	}
	b.do(t, script(`document.querySelector("tr.inside .blocks button").click()`))
	b.drawn(t)
	if lit := ask[string](t, b, `views[0].gantt.words(views[0].gantt.lit)`); !strings.Contains(lit, ", "+name+" of vo1: ") {
		t.Errorf("the block that is lit is %q", lit)
	}
	b.do(t, script(`views[0].gantt.canvas.focus()`), chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("0"))
	if open := ask[bool](t, b, `!document.querySelector(".panel").hidden || views[0].gantt.lit !== null`); open {
		t.Error("Escape has not let go")
	}
}

// keysReachEveryBlock goes from block to block by keyboard, and opens one. The table
// beside the picture has the same content.
func keysReachEveryBlock(t *testing.T, b *browser) {
	t.Helper()
	const said = `document.querySelector(".said").textContent`
	b.do(t, script(`views[0].gantt.canvas.focus()`), chromedp.KeyEvent(kb.Enter))
	first := ask[string](t, b, said)
	b.do(t, chromedp.KeyEvent(kb.ArrowRight))
	second := ask[string](t, b, said)
	b.do(t, chromedp.KeyEvent(kb.ArrowDown))
	below := ask[string](t, b, said)
	if !strings.HasPrefix(first, "barge/main, ") || first == second || !strings.HasPrefix(second, "barge/main, ") || !strings.HasPrefix(below, "harbour/main, ") {
		t.Errorf("the keys have led to %q, %q, %q", first, second, below)
	}
	b.do(t, chromedp.KeyEvent(kb.Enter))
	if open := ask[bool](t, b, `!document.querySelector(".panel").hidden`); !open {
		t.Error("Enter has not opened the block")
	}
	b.do(t, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("0"), script(`document.querySelector(".blocks-list").open = true`))
	b.drawn(t)
	if list := ask[[]string](t, b, `[...document.querySelectorAll(".blocks-list tbody button")].map(x => x.textContent)`); len(list) < 100 || list[0] != first || list[1] != second {
		t.Errorf("the table of blocks has %d, and begins %.2q", len(list), list)
	}
	b.do(t, script(`document.querySelector(".blocks-list").open = false`))
}

// frontIsWhatTheDataSay compares the first front with its CSV: the place of the
// points is linear in what they cost and take.
func frontIsWhatTheDataSay(t *testing.T, b *browser, out string) {
	t.Helper()
	title := strings.Fields(ask[string](t, b, `document.querySelector(".front h3").textContent`))
	rows := readCSV(t, filepath.Join(out, "figures", fmt.Sprintf("front-%s-%s.csv", strings.Trim(title[0], ","), strings.Trim(title[2], ":"))))
	type dot struct{ X, Y float64 }
	dots := ask[[]dot](t, b, `[...document.querySelector(".front").querySelectorAll("circle")].map(c => ({X: +c.getAttribute("cx"), Y: +c.getAttribute("cy")}))`)
	if len(dots) != len(rows) || len(rows) < 3 {
		t.Fatalf("the front has %d points, its data %d", len(dots), len(rows))
	}
	value := func(i int, column string) float64 { return seconds(t, rows[i][column]) }
	last := len(rows) - 2 // of the front; then comes the chosen point
	perCredit := (dots[last].X - dots[0].X) / (value(last, "cost credits") - value(0, "cost credits"))
	perHour := (dots[last].Y - dots[0].Y) / (value(last, "time h") - value(0, "time h"))
	for i := range rows {
		x := dots[0].X + perCredit*(value(i, "cost credits")-value(0, "cost credits"))
		y := dots[0].Y + perHour*(value(i, "time h")-value(0, "time h"))
		if math.Abs(x-dots[i].X) > 0.1 || math.Abs(y-dots[i].Y) > 0.1 {
			t.Errorf("point %d is at %v, its data are at %.2f, %.2f", i, dots[i], x, y)
		}
	}
	if perCredit <= 0 || perHour >= 0 || rows[len(rows)-1]["what"] != "chosen" {
		t.Errorf("%f pixels a credit, %f an hour", perCredit, perHour)
	}
}

func jobsAreSortedAndFiltered(t *testing.T, b *browser, out string) {
	t.Helper()
	jobs, island := map[string]bool{}, map[string]bool{}
	for _, row := range readCSV(t, filepath.Join(out, "jobs.csv")) {
		if row["kind"] == "vo" {
			jobs[row["job"]] = true
			if row["site"] == "island" {
				island[row["job"]] = true
			}
		}
	}
	if n := ask[int](t, b, `views[0].jobs.shown.length`); n != len(jobs) {
		t.Errorf("%d jobs have rows, there are %d", n, len(jobs))
	}
	b.do(t, script(`views[0].jobs.sort(10); while (!views[0].jobs.more.hidden) views[0].jobs.more.click()`))
	before := -1.0
	for _, c := range ask[[]string](t, b, `[...views[0].jobs.body.rows].filter(r => r.cells.length > 10 && r.key).map(r => r.cells[10].textContent)`) {
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
	const input = `(words => { const i = views[0].jobs.input; i.value = words; i.dispatchEvent(new Event("input")); })`
	b.do(t, script(input+`("island")`))
	if n := ask[int](t, b, `views[0].jobs.shown.length`); n < 1 || n != len(island) {
		t.Errorf("%d rows have island in them, want %d", n, len(island))
	}
	b.do(t, script(input+`("")`), script(`(() => { const s = views[0].jobs.select; s.value = "ended"; s.dispatchEvent(new Event("change")); })()`))
	if n := ask[[]string](t, b, `[...new Set(views[0].jobs.shown.map(r => r.cells[1]))]`); len(n) != 1 || n[0] != "ended" {
		t.Errorf("of the state ended there are jobs that are %q", n)
	}
	b.do(t, script(`(() => { const s = views[0].jobs.select; s.value = ""; s.dispatchEvent(new Event("change")); })()`))
}

// sitesSortThePicture filters and sorts the sites: the picture follows.
func sitesSortThePicture(t *testing.T, b *browser) {
	t.Helper()
	const rows = `views[0].gantt.items.filter(i => i.row === undefined).map(i => views[0].store.sites[i.site].name).join(" ")`
	b.do(t, script(`views[0].siteTable.sort(0); views[0].siteTable.sort(0)`))
	if got := ask[string](t, b, rows); got != "yacht island harbour barge" {
		t.Errorf("the picture has %s", got)
	}
	b.do(t, script(`(() => { const i = views[0].siteTable.input; i.value = "ar"; i.dispatchEvent(new Event("input")); })()`))
	if got := ask[string](t, b, rows); got != "harbour barge" {
		t.Errorf("filtered by ar, the picture has %s", got)
	}
	b.do(t, script(`(() => { const i = views[0].siteTable.input; i.value = ""; i.dispatchEvent(new Event("input")); views[0].siteTable.sort(0); })()`))
}

// takeShots writes pictures of the page into the folder that BOURSE_SHOTS names,
// for people to look at: by day and night, on a phone, on paper.
func takeShots(t *testing.T, b *browser) {
	t.Helper()
	dir := os.Getenv("BOURSE_SHOTS")
	if dir == "" {
		return
	}
	write := func(name string, text []byte, err error) {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shot := func(name string, before ...chromedp.Action[chromedp.Void]) {
		b.do(t, before...)
		b.drawn(t)
		text, err := chromedp.Run(b, chromedp.FullScreenshot(100))
		write(name+".png", text, err)
	}
	scheme := func(name string) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
			_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
			return err
		})
	}
	part := func(name, selector string) {
		b.do(t, script(fmt.Sprintf(`document.querySelectorAll("section:not([hidden])")[%s].scrollIntoView()`, selector)))
		b.drawn(t)
		text, err := chromedp.Run(b, chromedp.CaptureScreenshot())
		write(name+".png", text, err)
	}
	for i := range 5 {
		part(fmt.Sprint("part", i), fmt.Sprint(i))
	}
	shot("light", script(`views[0].jobs.open(views[0].store.jobs[3].id)`))
	part("job", "5")
	shot("dark", scheme("dark"))
	shot("zoomed", scheme("light"), script(`views[0].span.zoom(0.1); views[0].showBar(views[0].store.jobs.map(j => views[0].store.barsOf(j)).find(l => l.length > 1)[0])`))
	shot("phone", script(`views[0].span.all(); views[0].close()`), chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2)))
	b.do(t, chromedp.EmulateViewport(1280, 1000))
	b.drawn(t)
	var pdf []byte
	b.do(t, chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		r, err := cdp.Call(ctx, to, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69})
		if err == nil {
			pdf = r.Data
		}
		return err
	}))
	write("print.pdf", pdf, nil)
}
