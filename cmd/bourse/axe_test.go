package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axe is the script of axe-core, which looks for what keeps people from using a page.
var axe = sync.OnceValues(func() (string, error) {
	f, err := os.Open("testdata/axe/axe.min.js.gz")
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
})

// axeFinds promises what axe finds on a page: a line for each rule that is broken, with the
// first places; and the rules that hold, of which there are always some.
const axeFinds = `axe.run(document, {resultTypes: ["violations"]}).then(r => ({held: r.passes.length, broken: r.violations.map(v =>
	v.id + " (" + v.impact + "): " + v.nodes.slice(0, 3).map(n => n.target + " " + n.failureSummary.replace(/\s+/g, " ")).join("; "))}))`

// found is what axe finds.
type found struct {
	Held   int      `json:"held"`
	Broken []string `json:"broken"`
}

func (f *found) check(t *testing.T, what string) {
	t.Helper()
	if f.Held < 10 {
		t.Errorf("%s: axe has found only %d rules that hold; it has not looked", what, f.Held)
	}
	for _, b := range f.Broken {
		t.Errorf("%s: %s", what, b)
	}
}

// isUsable looks for what keeps people from using the page as it is now, light and dark.
func (b *browser) isUsable(t *testing.T, what string) {
	t.Helper()
	text, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	b.do(t, script(text+";0"))
	for _, scheme := range []string{"dark", "light"} {
		b.do(t, chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
			_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			return err
		}))
		f := ask[found](t, b, axeFinds)
		f.check(t, fmt.Sprint(what, ", ", scheme))
	}
}
