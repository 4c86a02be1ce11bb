package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/api"
)

// browser opens a page in a headless browser and returns its text, once it holds
// a word. BOURSE_SCREENSHOTS names a folder to keep pictures in.
func browser(t *testing.T, s *Server, word, picture string) string {
	t.Helper()
	thorough.Only(t, "starts a browser")
	program := ""
	for _, name := range []string{"chromium", "google-chrome", "headless-shell", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no browser here")
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1100, 700))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	defer stop()
	ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	ctx, stop = chromedp.NewContext(ctx)
	defer stop()
	if _, err := chromedp.Run(ctx, chromedp.Navigate(server.URL+"/")); err != nil {
		t.Fatal(err)
	}
	text := ""
	eventually(t, func() bool {
		var err error
		if text, err = chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`)); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(text, word)
	})
	shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("BOURSE_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(dir+"/"+picture+".png", shot, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// The page shows in a browser what the API says, under its own policy.
func TestPage_ShowsJobsSitesAndMoneyInABrowser(t *testing.T) {
	t.Parallel()
	h := world(t)
	operator := func(*http.Request) (Caller, error) { return Caller{Operator, "olga"}, nil }
	s := brokerAPI(t, h, func(o *Options) {
		o.Identify, o.VOs = operator, func() []string { return []string{"atlas"} }
	})
	b := api.Batch{ID: "batch-0001", Jobs: []api.JobRequest{job("huge"), job("wave"), job("wide")}} // huge comes before the sites are known
	b.Jobs[0].Nodes, b.Jobs[2].Nodes = 2400, 24
	submit(t, s, olga, b)
	h.pass(grid.Second)
	text := browser(t, s, "abandoned", "broker")
	for _, want := range []string{"Bourse broker vo1 of VO atlas", "live", "operator olga", "Failed", "3 jobs: ", "north, south", "abandoned", "usable", "the VO", "10000.00"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the page:\n%s", want, text)
		}
	}
	if strings.Contains(text, "End session") {
		t.Error("there is a session to end, where a certificate says who calls")
	}
	north := siteAPI(t, h, func(o *Options) {
		o.Identify, o.VOs = operator, func() []string { return []string{"atlas", "cms"} }
	})
	call(t, north, olga, "POST", "/v1/drain", api.DrainWish{Why: "new switch"}, nil)
	text = browser(t, north, "read every", "site")
	for _, want := range []string{"Bourse site north of VOs atlas, cms", "drained", "wide-", "vo1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on the site's page:\n%s", want, text)
		}
	}
}
