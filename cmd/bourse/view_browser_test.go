package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bourse-grid/bourse/report/view"
)

// An update changes what is new and leaves the rest: what is open, sorted, filtered,
// lit and focused.
func TestView_UpdateKeepsWhatIsOpenSortedAndFiltered(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "view.html")
	text := `<!DOCTYPE html><html><head><meta charset="utf-8"><style>` + view.Style() + `</style></head><body class="view"><main></main><script>` + view.Script() + `
const hour = 3600000, asked = [];
const job = (id, state, start, rest) => ({id, name: id, state, submit: 0, start, end: start + hour, nodes: 4, sites: ["north"], ...rest});
const bar = (id, start, rest) => ({id: id + "/0", site: "north", group: "main", nodes: 4, start, end: start + hour, kind: 4, job: id, window: 1, part: 1, parts: 1, ...rest});
const site = (name, state) => ({name, state, groups: [{name: "main", nodes: 16}], cells: [16]});
const v = createView(document.querySelector("main"), {newest: true, price: "asked", explain: async j => { asked.push(j.id + " " + j.state); return {turns: ["it is " + j.state]}; }, jobActions: () => [{label: "Cancel", run() {}}]});
const words = () => document.querySelector(".panel").textContent;
v.load({until: 8 * hour, now: hour, siteColumns: [{name: "Nodes", kind: "number"}], sites: [site("north", "usable"), site("south", "usable")], tables: [{title: "Queue", about: "one", columns: [{name: "Job", kind: "word"}], rows: [["a"]]}],
	jobs: [job("a", "running", hour), job("b", "placed", 2 * hour), job("c", "placed", 3 * hour)], bars: [bar("a", hour), bar("b", 2 * hour), bar("c", 3 * hour)],
	loads: [{site: "north", nodes: 16, at: [0, hour / 2], local: [1, 2], vo: [0, 4], asked: [1, 2]}]}).then(() => requestAnimationFrame(() => { document.documentElement.dataset.loaded = 1; }));
</script></body></html>`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openPage(t, file)
	b.loaded(t)
	is := func(what, js, want string) {
		t.Helper()
		if got := ask[string](t, b, js); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	const rows = `v.jobs.shown.map(r => r.key + ":" + r.cells[1]).join(" ")`
	const focus = `document.activeElement.textContent + " " + !!document.activeElement.closest("tr.inside")`
	b.do(t, script(`v.jobs.sort(0); v.jobs.sort(0); v.jobs.open("b"); document.querySelector("tr.inside .blocks:last-of-type button").focus(); v.siteTable.input.value = "nor"; v.siteTable.input.dispatchEvent(new Event("input"))`),
		script(`v.gantt.select(v.store.find("b/0")); v.span.show(hour, 5 * hour)`))
	is("focus", focus, "Cancel true")

	// One job is added, whose block comes first; one goes; what is open stays as it is.
	b.do(t, script(`window.node = document.activeElement; v.update({now: 2 * hour, jobs: [job("d", "placed", 0), {id: "c", gone: true}], bars: [bar("d", 0), {id: "c/0", gone: true}], tables: [{title: "Queue", about: "none", columns: [{name: "Job", kind: "word"}], rows: []}]})`))
	b.drawn(t)
	is("jobs, in the order asked for", rows, "d:placed b:placed a:running")
	is("focus after a job was added", focus+` + (document.activeElement === node)`, "Cancel truetrue")
	is("the block that is lit", `v.gantt.words(v.gantt.lit).split(":")[0]`, "north/main, b")
	is("blocks", `String(v.store.bars.n)`, "3")
	is("sites shown", `v.gantt.shown.join(" ")+" "+v.siteTable.said.textContent`, "0 1 of 2 sites")
	is("span", `String([v.span.from / hour, v.span.to / hour])`, "1,5")
	is("queue", `[...document.querySelectorAll("h2")].find(h => h.textContent === "Queue").parentElement.querySelector("p").textContent`, "none")
	is("explained", `asked.join(", ")`, "b placed")

	// Of many failures a narrow page shows two at first, and all that is no failure.
	b.do(t, script(`v.update({alerts: [..."1234"].map(n => ({kind: "failed", words: n})).concat({kind: "site", words: "south"})})`))
	const seen = `[...document.querySelectorAll(".alerts li")].filter(x => x.offsetHeight).map(x => x.querySelector("span,button").textContent).join(" ")`
	is("alerts", seen, "1 2 3 4 south")
	b.do(t, chromedp.EmulateViewport(390, 844))
	is("alerts where it is narrow", seen, "1 2 south Show 2 more that failed")
	b.do(t, script(`document.querySelector(".alerts .rest button").click()`))
	is("all alerts", seen, "1 2 3 4 south")
	b.do(t, chromedp.EmulateViewport(1280, 1000), script(`node.focus()`))

	// The job that is open changes: it is told again, and the focus stays on its button.
	b.do(t, script(`v.update({jobs: [job("b", "running", 2 * hour)], sites: [site("north", "drained")]})`))
	b.drawn(t)
	is("jobs after one has changed", rows, "d:placed b:running a:running")
	is("focus after its job has changed", focus, "Cancel true")
	is("explained again", `asked.join(", ")`, "b placed, b running")
	is("site", `v.siteTable.shown.map(r => r.cells[1]).join(" ")`, "drained")

	// The panel of a block follows its job, and goes with it.
	b.do(t, script(`v.gantt.canvas.focus()`), chromedp.KeyEvent(kb.Enter))
	if said := ask[string](t, b, `words()`); !strings.Contains(said, "b: running") {
		t.Errorf("the panel says %q", said)
	}
	b.do(t, script(`v.update({jobs: [job("b", "done", 2 * hour)]})`))
	b.drawn(t)
	if said := ask[string](t, b, `words()`); !strings.Contains(said, "b: done") {
		t.Errorf("the panel says %q after an update", said)
	}
	b.do(t, script(`v.update({jobs: [{id: "b", gone: true}], bars: [{id: "b/0", gone: true}]})`))
	b.drawn(t)
	is("panel and light after the job has gone", `document.querySelector(".panel").hidden + " " + v.gantt.lit + " " + v.jobs.shown.length`, "true null 2")
	b.do(t, script(`void v.charts.element.scrollIntoView()`), chromedp.WaitReady(chromedp.CSS(".uplot")))
	is("prices and use end now", `String(v.charts.plots.map(p => p.data[0].at(-1) / hour))`, "2,2")
	// On a phone the words of a group stand above its blocks, not on them.
	b.do(t, chromedp.EmulateViewport(390, 900))
	b.drawn(t)
	is("room for the words of groups", `v.gantt.items.filter(i => i.row !== undefined).map(i => i.band.y - i.y >= 14 && i.band.y + i.band.h <= i.y + i.h).join(" ")`, "true")
	b.do(t, chromedp.EmulateViewport(1280, 1000))
	b.drawn(t)
	b.isWide(t)
	b.isQuiet(t)
}

// The table of jobs is as wide as its place. Columns without room are folded: opening a
// row tells them, and a button shows all columns.
func TestView_TableOfJobsFitsItsPlaceAndLosesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "jobs.html")
	text := `<!DOCTYPE html><html><head><meta charset="utf-8"><style>` + view.Style() + ` body{margin:0 1.25rem}</style></head><body class="view"><main></main><script>` + view.Script() + `
const hour = 3600000, v = createView(document.querySelector("main"), {users: true, explain: async () => ({turns: ["it waits"]})});
v.load({epoch: Date.UTC(2026, 10, 23), until: 8 * hour, sites: [], bars: [], jobs: [{id: "a", name: "analysis-of-waves-klmnopqr", user: "anastasia", state: "placed", submit: 0, start: hour, end: 5 * hour, nodes: 128,
	sites: ["north-hall", "south-hall"], cost: 1234567890, price: 1.234, why: "moved by its user, after the site had asked for room for a reservation of another VO at the same time"}]}).then(() => { document.documentElement.dataset.loaded = 1; });
</script></body></html>`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openPage(t, file)
	b.loaded(t)
	const fits, shown = `v.jobs.scroll.scrollWidth <= v.jobs.scroll.clientWidth`, `v.jobs.heads.filter(h => h.offsetWidth).map(h => h.textContent).join(", ")`
	for _, as := range []struct {
		width int64
		shown string
	}{
		{2400, "Job, State, Why, User, Submit, Nodes, Start, Wait, End, Sites, Credits, per node-hour"},
		{1280, "Job, State, Why, User, Nodes, Start, End, Sites, Credits"},
		{390, "Job, State"},
	} {
		b.do(t, chromedp.EmulateViewport(as.width, 900))
		b.drawn(t)
		if is, heads := ask[bool](t, b, fits), ask[string](t, b, shown); !is || heads != as.shown {
			t.Errorf("%d pixels wide it shows %s; it fits: %v", as.width, heads, is)
		}
	}
	b.do(t, script(`v.jobs.open("a")`))
	told := ask[string](t, b, `document.querySelector("tr.inside .story").textContent`)
	for _, want := range []string{"analysis-of-waves-klmnopqr", "at the same time", "anastasia", "Submitted", "Starts", "Ends", "Waits1.0 h", "Nodes128", "Credits1234.57", "per node-hour1.234", "north-hall, south-hall"} {
		if !strings.Contains(told, want) {
			t.Errorf("the open row has no %q: %s", want, told)
		}
	}
	b.do(t, script(`v.jobs.folds.click()`))
	if heads := ask[string](t, b, shown); strings.Count(heads, ",") != 11 {
		t.Errorf("all columns are %s", heads)
	}
	b.isQuiet(t)
}

// The table of sites folds likewise, from the right: two runs side by side have half the
// width each.
func TestView_TableOfSitesFitsHalfAPage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sites.html")
	text := `<!DOCTYPE html><html><head><meta charset="utf-8"><style>` + view.Style() + ` body{margin:0 1.25rem}</style></head><body class="view"><main></main><script>` + view.Script() + `
const v = createView(document.querySelector("main"));
v.load({until: 8, siteColumns: ["Nodes", "Used", "By VOs", "Jobs done", "Mean wait", "Earned", "Price per node-hour", "Slowdown"].map(name => ({name, kind: "figure"})),
	sites: [{name: "north-hall", groups: [{name: "main", nodes: 128}], cells: ["128", "81.3 %", "23.4 %", "12,345", "3:04:05", "123,456.78", "1.234", "17.25"].map(s => ({v: 1, s}))}]}).then(() => { document.documentElement.dataset.loaded = 1; });
</script></body></html>`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := openPage(t, file)
	b.loaded(t)
	const fits, shown = `v.siteTable.scroll.scrollWidth <= v.siteTable.scroll.clientWidth`, `v.siteTable.heads.filter(h => h.offsetWidth).map(h => h.textContent).join(", ")`
	for _, as := range []struct {
		width int64
		all   bool
	}{{1280, true}, {620, false}, {390, false}} {
		b.do(t, chromedp.EmulateViewport(as.width, 900))
		b.drawn(t)
		heads := ask[string](t, b, shown)
		if is := ask[bool](t, b, fits); !is || strings.HasSuffix(heads, "Slowdown") != as.all || !strings.HasPrefix(heads, "Site, Nodes, Used") || ask[bool](t, b, `v.siteTable.folds.hidden`) != as.all {
			t.Errorf("%d pixels wide it shows %s; it fits: %v", as.width, heads, is)
		}
	}
	b.do(t, script(`v.siteTable.open("north-hall")`))
	if told := ask[string](t, b, `document.querySelector("tr.inside .story").textContent`); !strings.Contains(told, "Slowdown17.25") || !strings.Contains(told, "Earned123,456.78") {
		t.Errorf("the open row has no word of what is folded: %s", told)
	}
	b.isQuiet(t)
}
