//go:build linux

package drill

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// docs/RUNBOOK.md, the cards that one federation can walk: the fault is made, the alert of
// docs/examples/alerts.yml holds, the commands are typed as they stand, and it holds no
// longer. Other cards name the tests that walk them.
func TestRunbook_TheCommandsAsTheyStand(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n", sites: threeSites()[:2]})
	w := &walk{f: f, north: f.site("north"), cards: cards(t), alerts: alerts(t)}
	w.north.issue(f.ca, certificate.Request{Valid: 72 * time.Hour, Replace: true})
	f.start()
	f.place("before", 10, grid.Second, patience)

	w.holds("BourseCertificateEnds", w.north)
	w.typed("Certificate expiring")
	eventually(t, patience, "the new certificate is in use", func() bool { return !w.alert("BourseCertificateEnds", w.north) })

	w.tooMany()

	w.north.kill()
	said := w.typed("Site lost")
	if !strings.Contains(said, "the machine burnt") {
		t.Errorf("the site is not lost for that reason:\n%s", said)
	}
	f.stop()
	f.verify()
}

// tooMany has a thousand jobs wait that nobody will pay for.
func (w *walk) tooMany() {
	t := w.f.t
	price := api.Price{Price: 1}
	b := api.Batch{ID: client.NewBatchID()}
	for i := range 1001 {
		b.Jobs = append(b.Jobs, api.JobRequest{Name: fmt.Sprint("cheap", i), User: "ana", Nodes: 1, Length: api.Seconds{Duration: grid.Minute}, MaxPrice: &price})
	}
	taken, err := w.f.client().Submit(context.Background(), b)
	must(t, err)
	w.job = taken.Jobs[0].ID
	w.holds("BourseJobsWait", w.f.broker)
	said := w.typed("Too many waiting")
	for _, want := range []string{w.job, "max_waiting"} {
		if !strings.Contains(said, want) {
			t.Errorf("the commands do not say %q:\n%.2000s", want, said)
		}
	}
	more, err := w.f.client().Submit(context.Background(), api.Batch{ID: client.NewBatchID(), Jobs: b.Jobs[:1]})
	if err == nil && more.Jobs[0].Taken || err != nil && !strings.Contains(err.Error(), "wait") {
		t.Errorf("one more job of ana is taken, or refused without a reason: %+v, %v", more, err)
	}
}

// walk goes through cards in a federation.
type walk struct {
	f      *federation
	north  *agent
	job    string // that JOB stands for
	cards  map[string][]string
	alerts map[string]rule
}

// typed types what a card says of bourse, in the folder that has the authority, and returns
// what was said. Between the two words of the card about a lost site, it is started again.
func (w *walk) typed(card string) string {
	w.f.t.Helper()
	var said strings.Builder
	for _, line := range w.cards[card] {
		if strings.Contains(line, "--undo") {
			w.holds("BourseSiteLost", w.f.broker)
			w.north.start()
			w.north.ready()
		}
		line = strings.NewReplacer(" JOB", " "+w.job, "10.0.0.5", w.north.host, "bourse ", binary+" ").Replace(line)
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir = w.f.dir
		cmd.Env = append(os.Environ(), client.Variable+"="+w.f.context())
		out, err := cmd.CombinedOutput()
		if err != nil {
			w.f.t.Errorf("%s: %s: %v\n%s", card, line, err, out)
		}
		said.Write(out)
		if strings.Contains(line, "--undo") {
			eventually(w.f.t, patience, "the site is lost no more", func() bool { return !w.alert("BourseSiteLost", w.f.broker) })
		}
	}
	return said.String()
}

// cards are the commands of the runbook that begin with bourse, by card.
func cards(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/RUNBOOK.md")
	must(t, err)
	list := map[string][]string{}
	card, code := "", false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			card = title
		}
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if code && strings.HasPrefix(line, "bourse ") {
			list[card] = append(list[card], line)
		}
	}
	return list
}

// rule is an alert that compares one metric with a number.
type rule struct {
	metric, is string
	than       float64
}

// alerts are those of docs/examples/alerts.yml that do so.
func alerts(t *testing.T) map[string]rule {
	t.Helper()
	text, err := os.ReadFile("../../docs/examples/alerts.yml")
	must(t, err)
	list := map[string]rule{}
	for _, m := range regexp.MustCompile(`- alert: (\w+)\n +expr: (bourse_\w+(?:\{[^}]*\})?) (==|<|>) (\d+)(?: \* (\d+))?\n`).FindAllStringSubmatch(string(text), -1) {
		than, _ := strconv.ParseFloat(m[4], 64)
		if times, err := strconv.ParseFloat(m[5], 64); err == nil {
			than *= times
		}
		list[m[1]] = rule{m[2], m[3], than}
	}
	return list
}

// alert reports whether an alert's expression holds at an agent now; how long it must hold
// is left to Prometheus.
func (w *walk) alert(name string, at *agent) bool {
	r, ok := w.alerts[name]
	if !ok {
		w.f.t.Fatalf("there is no alert %s that compares a metric with a number", name)
	}
	name, labels, _ := strings.Cut(r.metric, "{")
	_, text := w.f.asks(at)("/metrics")
	for line := range strings.Lines(text) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		is, with, _ := strings.Cut(series, "{")
		n, err := strconv.ParseFloat(value, 64)
		if is != name || err != nil || !strings.Contains(with, strings.TrimSuffix(labels, "}")) {
			continue
		}
		if r.is == "==" && n == r.than || r.is == "<" && n < r.than || r.is == ">" && n > r.than {
			return true
		}
	}
	return false
}

// holds waits until an alert's expression holds.
func (w *walk) holds(alert string, at *agent) {
	w.f.t.Helper()
	eventually(w.f.t, patience, alert+" holds at "+at.id(), func() bool { return w.alert(alert, at) })
}

// Every card names a test that there is.
func TestRunbook_CardsAreWalkedByTestsThatThereAre(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/RUNBOOK.md")
	must(t, err)
	names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1)
	if cards := strings.Count(string(text), "\nWalked by") + strings.Count(string(text), " Walked by"); len(names) < 10 || cards < 10 {
		t.Errorf("%d cards are walked by %d tests", cards, len(names))
	}
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", "../../cmd/bourse/*_test.go"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			source, err := os.ReadFile(name)
			must(t, err)
			sources.Write(source)
		}
	}
	for _, m := range names {
		if !strings.Contains(sources.String(), "\nfunc "+m[1]+"(t *testing.T)") {
			t.Errorf("docs/RUNBOOK.md names %s, which is no test", m[1])
		}
	}
	list, err := os.ReadFile("../../docs/examples/alerts.yml")
	must(t, err)
	for _, name := range regexp.MustCompile(`\bBourse[A-Z]\w+`).FindAllString(string(text), -1) {
		if !strings.Contains(string(list), "- alert: "+name+"\n") {
			t.Errorf("docs/RUNBOOK.md names %s, which docs/examples/alerts.yml does not have", name)
		}
	}
}
