package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/dash"
)

// day is a federation whose work really runs, and a batch of three of which one fails.
const day = `[[job]]
name = "good"
nodes = 1
length = "20m"
max_price = 9.0
command = ["sh", "-c", "echo it goes on; sleep 1000"]
[[job]]
name = "bad"
nodes = 1
length = "1m"
max_price = 9.0
command = ["sh", "-c", "echo oh no; exit 3"]
[[job]]
name = "next"
nodes = 1
length = "1m"
max_price = 9.0
after = ["bad"]
command = ["true"]
`

// A user's day in the browser: what failed comes first, a job is told by data, filters stay
// in the address, a job is submitted, and nothing of it keeps anybody out. In Chromium, and
// in Firefox where there is one.
func TestDash_AUsersDay(t *testing.T) {
	thorough.Only(t, "starts processes and browsers")
	t.Parallel()
	dir := t.TempDir()
	members, err := federation.LayOut(dir, 2, 0, testPort(44), federation.Local)
	if err != nil {
		t.Skip(err)
	}
	change(t, members[0].File, `cycle = "5s"`, `cycle = "1s"`)
	stdout, _, _ := startUp(t, dir)
	var said struct{ Link string }
	if err := json.Unmarshal([]byte(stdout.String()), &said); err != nil || said.Link == "" {
		t.Fatalf("%v: %s", err, stdout)
	}
	batch, contextFile := filepath.Join(dir, "day.toml"), filepath.Join(dir, federation.ContextFile)
	if err := os.WriteFile(batch, []byte(day), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, messages, err := runCommand(t.Context(), "submit", batch, "--context", contextFile); err != nil {
		t.Fatalf("%v\n%s", err, messages)
	}
	t.Cleanup(func() { // its work would outlive the processes
		if _, messages, err := runCommand(context.Background(), "cancel", "good", "--context", contextFile); err != nil {
			t.Errorf("%v\n%s", err, messages)
		}
	})
	t.Run("chromium", func(t *testing.T) {
		base, _, _ := strings.Cut(said.Link, "#")
		b := openAddress(t, said.Link, base)
		attention(t, b)
		opened(t, b)
		filtered(t, b, base)
		submitted(t, b)
		drained(t, b)
		b.isUsable(t, "1280 pixels wide")
		b.isWide(t)
		b.do(t, chromedp.EmulateViewport(390, 844))
		b.isUsable(t, "390 pixels wide")
		b.isQuiet(t)
	})
	t.Run("firefox", func(t *testing.T) { inFirefox(t, contextFile) })
}

// wait waits until an expression is true.
func (b *browser) wait(t *testing.T, js string) {
	t.Helper()
	ask[bool](t, b, `new Promise(done => { const look = () => { let is = false; try { is = `+js+`; } catch {} is ? done(true) : setTimeout(look, 50); }; look(); })`)
}

// row finds the button of a row of a table by how it begins, press a button by its words.
const (
	row   = `(name => [...document.querySelectorAll("tbody th[scope=row] button")].find(x => x.textContent.startsWith(name)))`
	press = `(name => [...document.querySelectorAll("button")].filter(x => x.textContent.startsWith(name)).at(-1).click())`
)

// Failures come first on the page, with links to their jobs.
func attention(t *testing.T, b *browser) {
	b.wait(t, `document.querySelector(".alerts li[data-kind=failed]").textContent.includes("2 of 3 jobs of batch")`)
	if first := ask[string](t, b, `document.querySelector("main > :not([hidden])").className`); first != "attention" {
		t.Errorf("the first part of the page is %q", first)
	}
	b.wait(t, row+`("3 jobs: ").closest("tr").querySelector(".state").textContent === "1 running, 1 failed, 1 abandoned"`)
	b.do(t, script(`document.querySelector(".alerts button").focus()`), chromedp.KeyEvent(kb.Enter))
	b.wait(t, `!!`+row+`("bad-")`)
}

// A job is told by data: state and exit status, turns, window, alternatives, cost, output.
func opened(t *testing.T, b *browser) {
	b.do(t, script(row+`("bad-").focus()`), chromedp.KeyEvent(kb.Enter))
	b.wait(t, `document.querySelector(".job .output pre").textContent === "oh no\n"`)
	for what, js := range map[string]string{
		"state":       `document.querySelector(".verdict").textContent.startsWith("failedexit status 3")`,
		"address":     `new URLSearchParams(location.search).get("job").startsWith("bad-")`,
		"turns":       `[...document.querySelectorAll(".turns li")].map(x => x.dataset.what).includes("placed")`,
		"newest turn": `document.querySelector(".turns li").dataset.what === "failed"`,
		"window":      `!!document.querySelector(".job svg rect.leg[data-state=failed]")`,
		"taken":       `document.querySelectorAll(".job tr.taken").length === 1`,
		"why not":     `document.querySelectorAll(".job td.why-not").length > 3`,
		"paid":        `[...document.querySelectorAll(".job tr")].some(x => x.textContent.startsWith("paid"))`,
		"again":       `[...document.querySelectorAll(".job button")].some(x => x.textContent === "Submit it again ...")`,
		"no cancel":   `![...document.querySelectorAll(".job button")].some(x => x.textContent === "Cancel the job ...")`,
	} {
		if !ask[bool](t, b, js) {
			t.Errorf("%s: not as it must be:\n%s", what, ask[string](t, b, `document.querySelector(".job").innerText`))
		}
	}
	// The output of one that runs is followed; it can be cancelled.
	b.do(t, script(row+`("good-").click()`))
	b.wait(t, `document.querySelector(".job .output pre").textContent === "it goes on\n" && [...document.querySelectorAll(".job button")].some(x => x.textContent === "Cancel the job ...")`)
}

// Filters stay in the address: who opens it again sees the same.
func filtered(t *testing.T, b *browser, base string) {
	b.do(t, script(`{ const s = document.querySelector("select[aria-label='Filter jobs by state']"); s.value = "failed"; s.dispatchEvent(new Event("change")); }`))
	b.wait(t, `!!`+row+`("bad-") && !`+row+`("3 jobs") && new URLSearchParams(location.search).get("state") === "failed"`)
	b.do(t, chromedp.Navigate(base+"?state=abandoned&colour=state"))
	b.wait(t, `!!`+row+`("next-") && !`+row+`("bad-")`)
	b.wait(t, `document.querySelector("select[aria-label='Colours of the blocks']").value === "state" && document.querySelector(".legend").textContent.includes("failed")`)
	b.do(t, script(press+`("All jobs")`))
	b.wait(t, `!!`+row+`("3 jobs: ")`)
	// A search in the picture selects what it finds.
	b.do(t, script(`document.querySelector("input[aria-label='Find blocks by words']").focus()`), chromedp.KeyEvent("good"), chromedp.KeyEvent(kb.Enter))
	b.wait(t, `document.querySelector(".said").textContent.includes("good-") && document.activeElement.type === "search"`)
	b.do(t, script(`{ const s = document.activeElement; s.value = ""; s.dispatchEvent(new Event("input")); }`))
}

// A job is submitted in the page, by keyboard, and what is wrong is said there.
func submitted(t *testing.T, b *browser) {
	field := func(name, text string) {
		b.do(t, script(fmt.Sprintf(`{ const i = document.querySelector("dialog [name=%s]"); i.focus(); i.select(); }`, name)), chromedp.KeyEvent(text))
	}
	b.do(t, script(press+`("Submit a job")`), chromedp.WaitReady(chromedp.CSS("dialog[open] input")))
	b.isUsable(t, "the form")
	field("name", "typed")
	field("nodes", "1")
	field("length", "a while")
	field("maxPrice", "9")
	field("command", `echo 'from  the page'`)
	b.do(t, chromedp.KeyEvent(kb.Enter))
	b.wait(t, `document.querySelector("dialog .wrong").textContent.includes("a while is not a span")`)
	field("length", "1m")
	b.do(t, chromedp.KeyEvent(kb.Enter))
	b.wait(t, `!document.querySelector("dialog") && document.querySelector(".job .output pre").textContent === "from  the page\n"`)
	// Submitted again it is as it was.
	b.do(t, script(press+`("Submit it again")`), chromedp.WaitReady(chromedp.CSS("dialog[open] input")))
	if is := ask[string](t, b, `["name", "nodes", "length", "maxPrice", "command"].map(n => document.querySelector("dialog [name=" + n + "]").value).join("|")`); is != "typed|1|1m|9|echo 'from  the page'" {
		t.Errorf("it would be submitted again as %q", is)
	}
	b.do(t, script(press+`("Leave it")`))
	b.wait(t, `!document.querySelector("dialog")`)
}

// A site that is drained is called attention to, and drawn.
func drained(t *testing.T, b *browser) {
	b.do(t, script(row+`("south").click()`))
	b.do(t, script(press+`("Drain ...")`), chromedp.WaitReady(chromedp.CSS("dialog[open] input")), script(`document.querySelector("dialog input[name=until]").value = "2h"; document.querySelector("dialog input[name=why]").focus()`), chromedp.KeyEvent("new switch"), chromedp.KeyEvent(kb.Enter))
	const own = `{"again":{"env":{"why":"2026-11-28T17:12:00Z"}}}`
	if got := ask[string](t, b, `import("/page/prose.js").then(m => JSON.stringify(m.parse('`+own+`')))`); got != own {
		t.Errorf("what a user has written in a job is now %s", got)
	}
	const alert = `document.querySelector(".alerts li[data-kind=site] span").textContent`
	b.wait(t, alert+`.startsWith("south is drained: takes nothing new until ") && !!document.querySelector(".legend .k-d")`)
	if said := ask[string](t, b, alert); !strings.Contains(said, ": new switch") || strings.Contains(said, "Z") {
		t.Errorf("a drain with an end, by the reader's clock: %q", said)
	}
}

// inFirefox opens the page by a link of its own.
func inFirefox(t *testing.T, contextFile string) {
	f := openFirefox(t)
	page, err := dash.Open(contextFile, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(page.Start(t.Context()))
	link, _ := page.Link()
	f.open(t, link)
	f.until(t, `document.querySelector(".alerts li[data-kind=failed]").textContent.includes("2 of 3 jobs of batch")`)
	f.ask(t, `document.querySelector(".alerts button").click(); done(0);`, nil)
	f.until(t, `!!`+row+`("bad-")`)
	f.ask(t, row+`("bad-").click(); done(0);`, nil)
	f.until(t, `document.querySelector(".job .output pre").textContent === "oh no\n" && document.querySelectorAll(".job tr.taken").length === 1`)
	text, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	var is found
	f.ask(t, text+";\n"+axeFinds+".then(done);", &is)
	is.check(t, "in firefox")
}
