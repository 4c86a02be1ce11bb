//go:build linux

package drill

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// rule is an alert that compares one metric with a number.
type rule struct {
	of         string // "abs(": of its amount
	metric, is string
	than       float64
}

// alerts are those of docs/examples/alerts.yml that do so: also of an amount, or of the most
// of all processes.
func alerts(t *testing.T) map[string]rule {
	t.Helper()
	text, err := os.ReadFile("../../docs/examples/alerts.yml")
	must(t, err)
	list := map[string]rule{}
	for _, m := range regexp.MustCompile(`- alert: (\w+)\n +expr: (abs\(|max by \(\w+\) \()?((?:bourse_\w+|up)(?:\{[^}]*\})?)\)? (==|<|>) (\d+)(?: \* (\d+))?\n`).FindAllStringSubmatch(string(text), -1) {
		than, _ := strconv.ParseFloat(m[5], 64)
		if times, err := strconv.ParseFloat(m[6], 64); err == nil {
			than *= times
		}
		list[m[1]] = rule{m[2], m[3], m[4], than}
	}
	return list
}

// alert reports whether an alert's expression holds at an agent now; how long it must hold
// is left to Prometheus. That a process is up is that its metrics can be had.
func (f *federation) alert(name string, at *agent) bool {
	r, ok := alerts(f.t)[name]
	if !ok {
		f.t.Fatalf("there is no alert %s that compares a metric with a number", name)
	}
	status, text := f.asks(at)("/metrics")
	if strings.HasPrefix(r.metric, "up{") {
		return status != 200
	}
	name, labels, _ := strings.Cut(r.metric, "{")
	for line := range strings.Lines(text) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		is, with, _ := strings.Cut(series, "{")
		n, err := strconv.ParseFloat(value, 64)
		if is != name || err != nil || !strings.Contains(with, strings.TrimSuffix(labels, "}")) {
			continue
		}
		if r.of == "abs(" {
			n = max(n, -n)
		}
		if r.is == "==" && n == r.than || r.is == "<" && n < r.than || r.is == ">" && n > r.than {
			return true
		}
	}
	return false
}

// holds waits until an alert's expression holds.
func (f *federation) holds(alert string, at *agent) {
	f.t.Helper()
	eventually(f.t, patience, alert+" holds at "+at.id(), func() bool { return f.alert(alert, at) })
}

// unmade are alerts of cards whose fault no test makes against an agent's metrics, and why.
var unmade = map[string]string{
	"BourseSiteSilent":  "it needs a silence of five minutes",
	"BourseSlowDisk":    "it is a quantile over ten minutes, of a disk that is slow",
	"BourseNoCycle":     "it needs an hour without a cycle",
	"BourseQueueGrows":  "it needs a thousand messages that an agent does not take",
	"BourseOneCopy":     "agents/mirror loses second disks; the metric is that of its tests",
	"BourseReplicaLost": "the replica has to be replaced: process makes it, TestReady_OfAReplicaInEveryStateInWhichItIsOfNoUse",
}

// Each alert that a card names is evaluated by a test against the metrics of an agent in that
// fault, or there is a reason why not.
func TestRunbook_EachAlertOfACardIsEvaluated(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/RUNBOOK.md")
	must(t, err)
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", "../../cmd/bourse/*_test.go"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			source, err := os.ReadFile(name)
			must(t, err)
			sources.Write(source)
		}
	}
	named, evaluated := 0, 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| alert |") {
			continue
		}
		for _, name := range regexp.MustCompile(`Bourse[A-Z]\w+`).FindAllString(line, -1) {
			named++
			_, why := unmade[name]
			is := regexp.MustCompile(`\b(holds|alert)\("` + name + `"`).MatchString(sources.String())
			if is {
				evaluated++
			}
			if is == why {
				t.Errorf("%s: evaluated %t, and a reason why not %t", name, is, why)
			}
		}
	}
	if named < 15 || evaluated < 10 {
		t.Errorf("cards name %d alerts, and %d are evaluated", named, evaluated)
	}
}
