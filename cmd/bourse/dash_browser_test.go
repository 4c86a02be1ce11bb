package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/tree/thorough"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bourse-grid/bourse/process/federation"
)

// The live page of real processes, by its link: what is there, what is new, and what an
// operator changes, with the keyboard.
func TestDash_LivePageInARealBrowser(t *testing.T) {
	thorough.Only(t, "starts processes and a browser")
	t.Parallel()
	dir := t.TempDir()
	members, err := federation.LayOut(dir, 2, 0, testPort(7), federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	change(t, members[0].File, `cycle = "5s"`, `cycle = "1s"`)
	stdout, _, _ := startUp(t, dir)
	var said struct{ Link string }
	if err := json.Unmarshal([]byte(stdout.String()), &said); err != nil || said.Link == "" {
		t.Fatalf("%v: %s", err, stdout)
	}
	submit := func(name string, nodes int) {
		t.Helper()
		batch := filepath.Join(dir, name+".toml")
		text := fmt.Sprintf("[[job]]\nname = %q\nnodes = %d\nlength = \"2h\"\nmin_performance = 0.5\nmax_price = 9.0\n", name, nodes)
		if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, messages, err := runCommand(t.Context(), "submit", batch, "--context", filepath.Join(dir, federation.ContextFile)); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, messages)
		}
	}
	submit("tide", 2)
	base, _, _ := strings.Cut(said.Link, "#")
	b := openAddress(t, said.Link, base)
	until := func(js string) { // what the stream brings
		t.Helper()
		ask[bool](t, b, `new Promise(done => { const look = () => { let is = false; try { is = `+js+`; } catch {} is ? done(true) : setTimeout(look, 50); }; look(); })`)
	}
	const find = `(name => [...document.querySelectorAll("tbody th button")].find(x => x.textContent.startsWith(name)))`
	const press = `(name => [...document.querySelectorAll("tr.inside button, dialog button")].filter(x => x.textContent.startsWith(name)).at(-1).click())`
	state := func(name string) string {
		return find + fmt.Sprintf(`(%q).closest("tr").querySelector(".state").textContent`, name)
	}
	until(state("tide-") + ` === "running"`)
	until(state("north") + ` === "usable" && document.getElementById("status").textContent === "live" && location.hash === ""`)
	if who := ask[string](t, b, `document.getElementById("who").textContent`); !strings.HasPrefix(who, "operator ") {
		t.Errorf("the page is of %q", who)
	}

	// By keyboard: from row to row, into one, and back.
	b.do(t, script(find+`("north").focus()`), chromedp.KeyEvent(kb.ArrowDown))
	if on := ask[string](t, b, `document.activeElement.textContent`); on != "south" {
		t.Errorf("the arrow has led to %q", on)
	}
	b.do(t, chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	if on := ask[string](t, b, `document.activeElement.textContent + " " + !!document.activeElement.closest("tr.inside")`); on != "Show what ran there true" {
		t.Errorf("Tab has led to %q", on)
	}

	// A drain is asked about, told, and shown; so is its end.
	b.do(t, script(press+`("Drain ...")`), chromedp.WaitReady(chromedp.CSS("dialog[open] input")), script(`document.querySelector("dialog input[name=why]").focus()`), chromedp.KeyEvent("new switch"), chromedp.KeyEvent(kb.Enter))
	until(state("north") + ` === "drained" && document.querySelector("tr.inside").textContent.includes("new switch") && !document.querySelector("dialog")`)
	if told := ask[string](t, b, `document.getElementById("answers").textContent`); !strings.Contains(told, "north accepts nothing new until further notice: new switch") {
		t.Errorf("the answer is %q", told)
	}
	b.do(t, script(press+`("Undrain ...")`), chromedp.WaitReady(chromedp.CSS("dialog[open]")), script(press+`("End the drain")`))
	until(state("north") + ` === "usable" && !document.querySelector("dialog")`)

	// Whatever is open keeps its place and the focus when news arrives.
	b.do(t, script(find+`("tide-").click()`))
	until(`document.querySelector("tr.inside li")`)
	b.do(t, script(`[...document.querySelectorAll("tr.inside button")].find(x => x.textContent.startsWith("Cancel the job")).focus()`))
	submit("wave", 3)
	until(state("wave-") + ` === "running"`)
	until(`document.querySelector("tr.inside li")`)
	if on := ask[string](t, b, `document.activeElement.textContent`); on != "Cancel the job ..." {
		t.Errorf("after an update the focus is on %q", on)
	}

	// A job is cancelled once that is confirmed, and not before.
	b.do(t, chromedp.KeyEvent(kb.Enter), chromedp.WaitReady(chromedp.CSS("dialog[open]")), chromedp.KeyEvent(kb.Escape))
	until(`!document.querySelector("dialog")`)
	if is := ask[string](t, b, state("tide-")); is != "running" {
		t.Errorf("after Escape the job is %s", is)
	}
	b.do(t, script(press+`("Cancel the job ...")`), chromedp.WaitReady(chromedp.CSS("dialog[open]")), script(press+`("Cancel the job")`))
	until(state("tide-") + ` !== "running"`)
	b.isWide(t)
	if wider := ask[[]string](t, b, `[...document.querySelectorAll(".scroll")].filter(x => x.scrollWidth > x.clientWidth).map(x => x.ariaLabel)`); len(wider) > 0 {
		t.Errorf("1280 pixels wide, %q have to be scrolled", wider)
	}
	b.isQuiet(t)

	// The link lets nobody else in.
	b.do(t, script(`localStorage.clear()`), chromedp.Navigate("about:blank"), chromedp.Navigate(said.Link))
	until(`document.querySelector(".welcome")`)
	if refused := ask[string](t, b, `document.querySelector(".welcome").textContent`); !strings.Contains(refused, "not open here") || !strings.Contains(refused, "bourse dash") {
		t.Errorf("the second use: %q", refused)
	}
}
