package simulation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/report"
)

// findingNames is how many differences of each kind a finding names.
const findingNames = 3

// Finding says in sentences what differs from the first combination: for VOs, in the
// measures of the table; for sites, in their balance and their users' waits. It also names
// parameters that have no effect at all.
func (s *SweepResults) Finding() string {
	means := s.Means()
	names, _ := report.SweepColumns()
	vos := beyond(means, func(m *SweepMean) bool { return slices.Contains(names, m.Measure) })
	said := "Against the first combination, seed by seed: "
	if len(vos) == 0 {
		said += "for the VOs nothing differs beyond its interval."
	} else {
		said += s.differences(vos) + "."
	}
	var sites []string
	for _, measure := range []string{report.SpreadOfUse, report.LocalWait} {
		is := func(m *SweepMean) bool { return m.Measure == measure }
		list := beyond(means, is)
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b SweepMean) int { return cmp.Compare(math.Abs(b.Apart.Mean), math.Abs(a.Apart.Mean)) })
		words := s.differences(list)
		if of := compared(means, is); of > 1 {
			words += fmt.Sprintf(" (%d of %d such differences are beyond their intervals)", len(list), of)
		}
		sites = append(sites, words)
	}
	if len(sites) > 0 {
		said += " For the sites: " + strings.Join(sites, "; ") + "."
	}
	for i := range s.Sweep.Config.Parameters {
		if s.idle(i) {
			said += " " + s.Sweep.Config.Parameters[i].Name + " changed nothing in any seed" + s.whyIdle(i) + "."
		}
	}
	return said + s.placed(means) + s.few()
}

// placed says between which numbers the combinations differ in the jobs that VOs placed.
func (s *SweepResults) placed(means []SweepMean) string {
	least, most := map[string]float64{}, map[string]float64{}
	var vos []string
	for i := range means {
		m := &means[i]
		if m.Measure != report.JobsPlaced {
			continue
		}
		if _, seen := least[m.Owner]; !seen {
			vos = append(vos, m.Owner)
			least[m.Owner], most[m.Owner] = m.Mean, m.Mean
		}
		least[m.Owner], most[m.Owner] = min(least[m.Owner], m.Mean), max(most[m.Owner], m.Mean)
	}
	var words []string
	for _, vo := range vos {
		if least[vo] < most[vo] && len(words) < findingNames {
			words = append(words, fmt.Sprintf("%s placed %.1f to %.1f jobs", vo, least[vo], most[vo]))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " " + strings.Join(words, "; ") + ", by combination. " + report.DifferentJobs
}

// beyond lists the means whose differences are beyond their intervals.
func beyond(means []SweepMean, of func(*SweepMean) bool) []SweepMean {
	var list []SweepMean
	for i := range means {
		if m := &means[i]; of(m) && m.Apart.Beyond() {
			list = append(list, *m)
		}
	}
	return list
}

// compared counts the means that have a difference.
func compared(means []SweepMean, of func(*SweepMean) bool) int {
	n := 0
	for i := range means {
		if m := &means[i]; of(m) && m.Apart != nil {
			n++
		}
	}
	return n
}

// differences puts the first few differences into words.
func (s *SweepResults) differences(list []SweepMean) string {
	var words []string
	for _, m := range list[:min(len(list), findingNames)] {
		words = append(words, fmt.Sprintf("%s has %s %s of %s", s.unlike(m.Point), report.WithInterval("%+.*f", m.Apart.Mean, m.Apart.CI95), m.Measure, m.Owner))
	}
	return strings.Join(words, "; ")
}

// idle reports whether a parameter has several values but no effect: combinations that
// differ only in it have the same figures with every seed.
func (s *SweepResults) idle(parameter int) bool {
	config := s.Sweep.Config
	if len(config.Parameters[parameter].Values) < 2 {
		return false
	}
	first := map[string]int{} // first point by the values of the other parameters
	for point := range config.Points() {
		others := fmt.Sprint(slices.Delete(config.Choice(point), parameter, parameter+1))
		like, seen := first[others]
		if !seen {
			first[others] = point
			continue
		}
		for i := range config.Runs {
			if !slices.EqualFunc(s.Figures[like*config.Runs+i], s.Figures[point*config.Runs+i], report.Figure.Is) {
				return false
			}
		}
	}
	return true
}

// whyIdle says why a parameter has no effect, if the figures show it.
func (s *SweepResults) whyIdle(parameter int) string {
	key := s.Sweep.Config.Parameters[parameter].Keys[0]
	switch {
	case key[0] == "site" && s.allZero(report.LocalWait):
		return ": no local job waited, so there were no queues; smaller sites or more load would make some"
	case key[len(key)-1] == "pricing" && s.allZero(report.AboveBase):
		return ": no window delayed a local job, so none cost more than its base price; smaller sites or more load would make queues"
	}
	return ""
}

// allZero reports whether a measure exists and is 0 in every run, for every site and VO.
func (s *SweepResults) allZero(measure string) bool {
	there := false
	for _, run := range s.Figures {
		for _, f := range run {
			if f.Measure != measure || math.IsNaN(f.Value) {
				continue
			}
			if there = true; f.Value != 0 {
				return false
			}
		}
	}
	return there
}
