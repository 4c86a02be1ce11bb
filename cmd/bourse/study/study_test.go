package study

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/studies/evidence"
)

// A figure that rounds to nothing has no sign, and no figure loses its own.
func TestShortFigure(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{-1e-6: "0.00", 0: "0.00", -0.006: "-0.01", 9.876: "9.88", -12.34: "-12.3", 1234.5: "1234"} {
		if got := shortFigure(v); got != want {
			t.Errorf("%v is shown as %s, want %s", v, got, want)
		}
	}
}

func TestStudy_TablesFitAHundredColumns(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := (&studyFlags{}).show("admission", []evidence.Row{
		{Measure: "met, points LibraRisk above Libra, change", Setting: "LibraRisk, trace estimates, arrival delay 0.1, without the cancelled jobs",
			Paper: evidence.Words("hardly any gain below 0.5"), Here: -1234.5, CI95: 1234.5, Runs: 3, Verdict: "differs by -12.3 %"},
		{Measure: "met", Setting: "EDF", Paper: evidence.Figure(70.8), Here: 70.42, CI95: .76, Runs: 3, Verdict: evidence.Agrees},
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	for _, want := range []string{"70.4  0.76  agrees\n", "without the", "No files written; name a folder with --out DIR.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nhas no %q", out.String(), want)
		}
	}
}
