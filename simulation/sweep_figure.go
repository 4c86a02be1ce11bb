package simulation

import (
	"math"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// maxSurfaces bounds the measures of a figure.
const maxSurfaces = 40

// Figure is the figure of a sweep of two parameters: the measures of the VOs that the table
// shows, then what local jobs wait at each site, at most 40 in all. It is nil for a sweep of
// another number of parameters.
func (s *SweepResults) Figure() *report.Surfaces {
	config := s.Sweep.Config
	if len(config.Parameters) != 2 {
		return nil
	}
	y, x := &config.Parameters[0], &config.Parameters[1]
	out := &report.Surfaces{Title: config.Name, X: x.Name, Y: y.Name, Xs: settingsOf(x), Ys: settingsOf(y)}
	shown, _ := report.SweepColumns()
	at := map[string]int{}
	for _, local := range []bool{false, true} {
		for _, m := range s.Means() {
			if local != (m.Measure == report.LocalWait) || !local && !slices.Contains(shown, m.Measure) {
				continue
			}
			name := m.Owner + ": " + m.Measure
			i, seen := at[name]
			if !seen {
				if len(out.List) == maxSurfaces {
					continue
				}
				i = len(out.List)
				at[name] = i
				out.List = append(out.List, blank(name, len(out.Ys), len(out.Xs)))
			}
			row, column := m.Point/len(out.Xs), m.Point%len(out.Xs)
			out.List[i].Mean[row][column], out.List[i].CI95[row][column] = m.Mean, m.CI95
		}
	}
	return out
}

// settingsOf are the values of a parameter in words.
func settingsOf(p *configs.Parameter) (words []string) {
	for _, v := range p.Values {
		words = append(words, strings.Trim(configs.Shown(v), "[]"))
	}
	return words
}

// blank is a measure of which no point is known.
func blank(name string, ys, xs int) report.Surface {
	f := report.Surface{Measure: name}
	for range ys {
		f.Mean = append(f.Mean, slices.Repeat([]float64{math.NaN()}, xs))
		f.CI95 = append(f.CI95, make([]float64, xs))
	}
	return f
}
