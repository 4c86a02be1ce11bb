package process

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var metricName = regexp.MustCompile(`\bbourse_[a-z_]+[a-z]\b`)

// An alert on a metric that does not exist never comes.
func TestMetrics_DashboardAndAlertsNameThoseThatThereAre(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, pattern := range []string{"*.go", "../web/*.go", "../agents/live/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`"(bourse_[a-z_]+)"`).FindAllSubmatch(text, -1) {
				known[string(m[1])] = true
			}
		}
	}
	for _, name := range []string{"alerts.yml", "grafana.json"} {
		text, err := os.ReadFile(filepath.Join("../docs/examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".json" && !json.Valid(text) {
			t.Errorf("%s is no JSON", name)
		}
		found := metricName.FindAllString(string(text), -1)
		if len(found) < 10 {
			t.Errorf("%s names %d metrics", name, len(found))
		}
		for _, m := range found {
			if base := regexp.MustCompile(`_bucket$`).ReplaceAllString(m, ""); !known[base] {
				t.Errorf("%s names %s, which no process has", name, m)
			}
		}
	}
}
