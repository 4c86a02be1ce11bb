package display

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// The longest identities that fit are found as by trying each length, in three renderings.
func TestFitting_MeasuresOnceAndCutsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	lengths := thorough.Count(120, 15)
	for i := range lengths {
		long := i * (120 / lengths)
		for _, rest := range []int{1, 30, 55, 61, 63, 64, 65, 90} {
			for _, letter := range []string{"x", "界"} {
				tries := 0
				fill := func(width int) table.Writer {
					tries++
					w := report.NewTable("job", "<rest")
					w.AppendRow(table.Row{CutMiddle(strings.Repeat(letter, long), width), strings.Repeat("r", rest)})
					return w
				}
				got := Fitting(fill)
				if tries > 3 && letter == "x" {
					t.Errorf("identities of %d beside %d: rendered %d times", long, rest, tries)
				}
				want := report.Unfitted(fill(1000)) // as with every width from the identity's own on
				for width := min(TableWidth, long); text.LongestLineLen(want) > TableWidth; width-- {
					if want = report.Unfitted(fill(width)); width < JobLeast {
						want = fill(JobLeast).Render()
						break
					}
				}
				if got != want {
					t.Errorf("identities of %d %s beside %d:\n%s\nwant\n%s", long, letter, rest, got, want)
				}
			}
		}
	}
}

// A sentence is folded, and never between a mean and its interval.
func TestFolded_AMeanStaysWithItsInterval(t *testing.T) {
	t.Parallel()
	for pad := range 20 {
		var out bytes.Buffer
		if err := Folded(&out, strings.Repeat("x", 50+pad)+" has +7395 ± 5478 value lost, and so on to the end"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "+7395 ± 5478") || strings.Count(out.String(), "\n") != 2 {
			t.Errorf("it is\n%s", out.String())
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > TableWidth {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

func TestRoughly_IsTheTwoLargestUnits(t *testing.T) {
	t.Parallel()
	for d, want := range map[grid.Duration]string{
		0: "0s", 42_300: "42s", 90 * grid.Second: "1m 30s", grid.Hour: "1h", 25*grid.Hour + 59*grid.Minute: "1d 1h", grid.Day + grid.Minute: "1d",
	} {
		if got := Roughly(d); got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
}
