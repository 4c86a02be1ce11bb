package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One trace is taken for SDSC SP2: its rows have the paper's figures beside them. Those of
// CTC are left out, and the command says so.
func TestStudy_PricingLeavesOutTheTraceThatIsNotGiven(t *testing.T) {
	t.Parallel()
	trace := filepath.Join("..", "..", "..", "shared", "traces", "SDSC-SP2-1998-4.2-cln.swf.gz")
	if _, err := os.Stat(trace); err != nil {
		t.Skipf("the trace is absent: %v", err)
	}
	stdout, stderr, err := runStudy(t, "adaptive-pricing", "--trace", trace, "--quick", "--runs", "1", "--json")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stderr, "no --trace for CTC SP2 given: its rows are left out") {
		t.Errorf("stderr says %q", stderr)
	}
	var rows []struct {
		Measure, Setting string
		Paper            any
		Here             float64
	}
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
		t.Fatal(err)
	}
	paper := 0
	for _, r := range rows {
		if !strings.HasPrefix(r.Setting, "SP2, ") {
			t.Errorf("a row of another trace: %+v", r)
		}
		if r.Measure == "utilisation, %" && r.Setting == "SP2, +0 %" {
			paper++
			if r.Paper != 63.4 || r.Here < 63 || r.Here > 64 {
				t.Errorf("%+v", r)
			}
		}
	}
	if paper != 1 {
		t.Errorf("%d rows of the utilisation", paper)
	}
}

// Without a trace a study draws one, and says so. The paper's figures, which are about
// other traces, are not shown.
func TestStudy_PricingWithoutATraceDrawsOne(t *testing.T) {
	t.Parallel()
	stdout, stderr, err := runStudy(t, "adaptive-pricing", "--runs", "1", "--quick", "--json")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stderr, "no --trace given: drawing jobs") {
		t.Errorf("stderr says %q", stderr)
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if _, figure := r["paper"].(float64); figure || !strings.HasPrefix(r["setting"].(string), "generated, ") {
			t.Errorf("%v", r)
		}
	}
}

func TestStudy_BadTracesOfThePapersOfPrices(t *testing.T) {
	t.Parallel()
	short := filepath.Join(t.TempDir(), "short.swf")
	if err := os.WriteFile(short, []byte("; MaxNodes: 4\n1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"adaptive-pricing", "--trace", short}, "trace SP2 has 1 jobs in its first 30 days; must be 100 or more"},
		{[]string{"adaptive-pricing", "--trace", short, "--trace", short, "--trace", "c.swf"}, "--trace c.swf: the study takes 2 traces, SDSC SP2, CTC SP2; 3 given"},
		{[]string{"slot-search", "--trace", short}, "takes no trace"},
	} {
		_, _, err := runStudy(t, c.args...)
		if err == nil || exitCode(err) != 2 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q with exit 2", c.args, err, c.want)
		}
	}
}
