package report_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/bourse-grid/bourse/report"
)

// BenchmarkPage_Opens opens a page with a number of blocks in Chromium. ms-open is the
// time until all is drawn, by the page's own clock. cpu-ms-least is the processor time of
// the page's thread, whatever else the machine does.
func BenchmarkPage_Opens(b *testing.B) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		b.Skip("no chromium here")
	}
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n, "Bars"), func(b *testing.B) {
			if n > 100_000 && testing.Short() {
				b.Skip("the large page is left out with -short")
			}
			file := filepath.Join(b.TempDir(), "report.html")
			page := html(b, busy(n).report(b, report.Options{Keep: true}))
			if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
				b.Fatal(err)
			}
			alive, stop := context.WithTimeout(b.Context(), 5*time.Minute)
			defer stop()
			ctx, stop := chromedp.NewExecAllocator(alive, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WSURLReadTimeout(time.Minute))...)
			defer stop()
			ctx, stop = chromedp.NewContext(ctx)
			defer stop()
			if _, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
				b.Fatal(err)
			}
			sum, least, leastCPU := 0, 1<<30, math.Inf(1)
			for b.Loop() {
				if err := chromedp.Do(ctx, chromedp.Navigate("file://"+file), chromedp.WaitReady(chromedp.CSS("html[data-loaded]"))); err != nil {
					b.Fatal(err)
				}
				said, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.documentElement.dataset.loaded`))
				if err != nil {
					b.Fatal(err)
				}
				ms, err := strconv.Atoi(said)
				if err != nil {
					b.Fatal(err)
				}
				sum, least, leastCPU = sum+ms, min(least, ms), min(leastCPU, threadTime(b, ctx))
			}
			b.ReportMetric(float64(sum)/float64(b.N), "ms-open")
			b.ReportMetric(float64(least), "ms-least")
			b.ReportMetric(1000*leastCPU, "cpu-ms-least")
			b.ReportMetric(float64(len(page)), "bytes")
		})
	}
}

// threadTime is the processor time in seconds of all tasks of a page's thread since it was
// opened.
func threadTime(b *testing.B, ctx context.Context) float64 {
	b.Helper()
	r, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.Fatal(err)
	}
	i := slices.IndexFunc(r.Metrics, func(m *performance.Metric) bool { return m.Name == "TaskDuration" })
	if i < 0 {
		b.Fatal("this browser does not say it")
	}
	return r.Metrics[i].Value
}
