package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/weeks"
)

// FewSeeds is the least number of seeds for a useful interval. With fewer, Student's t is
// wide and a single odd seed decides.
const FewSeeds = 10

// Apart is the difference of a measure between runs A and B, over all seeds of both.
type Apart struct {
	Owner, Measure string
	A, B           Mean    // Runs is 0 if the run does not have the measure
	Less           float64 // B less A
	CI95           float64 // half-width of its 95 % interval; NaN if a run has one seed
	Paired         bool    // taken seed by seed, because both have the same seeds
	// OverWeeks is the interval of Less over the weeks of a log, nil if they do not have the same.
	OverWeeks *weeks.Interval
}

// Compare returns the differences between two runs, each of one seed or more: seed by seed if
// both have the same seeds (Student's t of the differences), else between the means (Welch's
// t). If sameLog, their weeks are pairs too.
func Compare(a, b []Summary, sameLog bool) []Apart {
	mine, theirs := bySeed(a), bySeed(b)
	paired := slices.EqualFunc(a, b, func(x, y Summary) bool { return x.Seed == y.Seed })
	var list []Apart
	for _, c := range mine {
		d := Apart{Owner: c.of.Owner, Measure: c.of.Measure, A: c.mean(), CI95: math.NaN()}
		if i := slices.IndexFunc(theirs, func(o column) bool { return o.is(c.of) }); i >= 0 {
			d.against(c.values, theirs[i].values, paired)
			if sameLog {
				d.OverWeeks = weeks.Difference(c.weeks, theirs[i].weeks)
			}
			d.B = theirs[i].mean()
			theirs = slices.Delete(theirs, i, i+1)
		}
		list = append(list, d)
	}
	for _, c := range theirs {
		list = append(list, Apart{Owner: c.of.Owner, Measure: c.of.Measure, B: c.mean(), CI95: math.NaN()})
	}
	return list
}

// column is a measure over the seeds of a run.
type column struct {
	of     Figure
	values []float64
	weeks  []weeks.Sums
}

func bySeed(runs []Summary) []column {
	var list []column
	for n := range runs {
		for k, f := range runs[n].Figures() {
			if n == 0 {
				list = append(list, column{of: f})
			}
			if k < len(list) && list[k].is(f) {
				list[k].values = append(list[k].values, f.Value)
				list[k].weeks = append(list[k].weeks, f.Weeks)
			}
		}
	}
	return list
}

func (c *column) is(f Figure) bool { return c.of.Owner == f.Owner && c.of.Measure == f.Measure }

func (c *column) mean() Mean {
	m := Mean{Owner: c.of.Owner, Measure: c.of.Measure, Runs: len(c.values)}
	m.Mean, m.CI95 = Interval(c.values)
	return m
}

// against fills in the difference.
func (d *Apart) against(a, b []float64, paired bool) {
	if d.Paired = paired && len(a) == len(b); d.Paired {
		less := make([]float64, len(a))
		for i := range a {
			less[i] = b[i] - a[i]
		}
		if d.Less, d.CI95 = Interval(less); len(less) < 2 {
			d.CI95 = math.NaN()
		}
		return
	}
	meanA, varA := stat.MeanVariance(a, nil)
	meanB, varB := stat.MeanVariance(b, nil)
	d.Less = meanB - meanA
	if len(a) < 2 || len(b) < 2 {
		return
	}
	x, y := varA/float64(len(a)), varB/float64(len(b))
	if x+y == 0 {
		d.CI95 = 0
		return
	}
	freedom := (x + y) * (x + y) / (x*x/float64(len(a)-1) + y*y/float64(len(b)-1))
	d.CI95 = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(.975) * math.Sqrt(x+y)
}

// BeyondWeeks reports whether the difference is beyond its interval over weeks.
func (d *Apart) BeyondWeeks() bool { return d.OverWeeks != nil && math.Abs(d.Less) > d.OverWeeks.CI95 }

// Beyond reports whether the difference is beyond its interval.
func (d *Apart) Beyond() bool { return math.Abs(d.Less) > d.CI95 }

// ReadSummaries reads the summaries of all seeds of a run's folder.
func ReadSummaries(dir string) ([]Summary, error) {
	path := filepath.Join(dir, SummariesFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(dir, SummaryFile)
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []Summary
	for in := json.NewDecoder(bufio.NewReader(f)); ; {
		var s Summary
		if err := in.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: summary %d: %w", path, len(list)+1, err)
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: holds no summary", path)
	}
	return list, nil
}

// WriteApart writes the differences as CSV; unknown values are empty.
func WriteApart(w io.Writer, list []Apart) error {
	out := csv.NewWriter(w)
	head, over := []string{"owner", "measure", "a", "a ci95", "a runs", "b", "b ci95", "b runs", "b less a", "ci95", "paired"}, overWeeks(list)
	if over {
		head = append(head, "ci95 weeks", "weeks")
	}
	out.Write(head)
	of := func(m Mean) []string {
		if m.Runs == 0 {
			return []string{"", "", "0"}
		}
		return []string{exactly(m.Mean), exactly(m.CI95), strconv.Itoa(m.Runs)}
	}
	for i := range list {
		d := &list[i]
		row := slices.Concat([]string{d.Owner, d.Measure}, of(d.A), of(d.B), []string{"", "", ""})
		if d.A.Runs > 0 && d.B.Runs > 0 {
			row[8], row[9], row[10] = exactly(d.Less), exactly(d.CI95), strconv.FormatBool(d.Paired)
		}
		if d.OverWeeks != nil {
			row = append(row, exactly(d.OverWeeks.CI95), strconv.Itoa(d.OverWeeks.Weeks))
		} else if over {
			row = append(row, "", "")
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// overWeeks reports whether any difference has an interval over weeks.
func overWeeks(list []Apart) bool {
	return slices.ContainsFunc(list, func(d Apart) bool { return d.OverWeeks != nil })
}

// exactly writes a figure in full, "" if it is unknown.
func exactly(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// apartTable puts the measures of two runs beside each other.
func apartTable(list []Apart) pageTable {
	t := pageTable{Head: []string{"Of", "Measure", "A", "B", "B − A", "± 95 %", "Verdict"}, Words: 2, Verdict: true, Note: ApartNote(list)}
	over := overWeeks(list)
	if over {
		t.Head = slices.Insert(t.Head, 6, "± 95 % over weeks")
	}
	for i := range list {
		d := &list[i]
		row := []string{d.Owner, d.Measure, "", "", "", "", ""}
		for k, m := range []Mean{d.A, d.B} {
			if m.Runs > 0 {
				row[2+k] = strconv.FormatFloat(m.Mean, 'f', 2, 64)
			}
		}
		if d.A.Runs > 0 && d.B.Runs > 0 {
			row[4] = fmt.Sprintf("%+.2f", d.Less)
			if !math.IsNaN(d.CI95) {
				row[5] = fmt.Sprintf("%.2f", d.CI95)
				row[6] = map[bool]string{true: "beyond", false: "within"}[d.Beyond()]
			}
		}
		if d.OverWeeks != nil {
			row = slices.Insert(row, 6, fmt.Sprintf("%.2f", d.OverWeeks.CI95))
		} else if over {
			row = slices.Insert(row, 6, "")
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ApartNote says over how many seeds two runs are compared, and whether these are too few.
func ApartNote(list []Apart) string {
	few, note := math.MaxInt, ""
	for i := range list {
		for _, m := range []Mean{list[i].A, list[i].B} {
			if m.Runs > 0 {
				few = min(few, m.Runs)
			}
		}
	}
	switch {
	case len(list) > 0 && list[0].Paired:
		note = fmt.Sprintf("Means over %s; the differences are taken seed by seed.", grid.Count(list[0].A.Runs, "seed"))
	case len(list) > 0:
		note = fmt.Sprintf("Means over %d and %s; the seeds differ, so the interval is Welch's.", list[0].A.Runs, grid.Count(list[0].B.Runs, "seed"))
	}
	if few == 1 && overWeeks(list) {
		note += " One seed: only the intervals over the log's weeks say anything about chance."
	} else if few == 1 {
		note += " One seed says nothing about chance: run both with --runs 20 --out."
	} else if few < FewSeeds {
		note += fmt.Sprintf(" Fewer than %d seeds: too few to rely on the intervals.", FewSeeds)
	}
	if overWeeks(list) {
		note += " Over weeks is what other weeks of the log's machine might have shown; of a total, with as many jobs."
	}
	return note + placedNote(list)
}

// mostNamed is how many VOs a note names.
const mostNamed = 3

// placedNote says which VOs placed different numbers of jobs in two runs.
func placedNote(list []Apart) string {
	var vos []string
	for i := range list {
		d := &list[i]
		if d.Measure == JobsPlaced && d.A.Runs > 0 && d.B.Runs > 0 && d.A.Mean != d.B.Mean {
			vos = append(vos, fmt.Sprintf("%s placed %.1f jobs in A and %.1f in B", d.Owner, d.A.Mean, d.B.Mean))
		}
	}
	if len(vos) == 0 {
		return ""
	}
	words := strings.Join(vos[:min(len(vos), mostNamed)], "; ")
	if n := len(vos) - mostNamed; n > 0 {
		words += fmt.Sprintf("; %d more VOs differ", n)
	}
	return " " + words + ". " + DifferentJobs
}

// DifferentJobs is what follows if two runs have placed different numbers of jobs.
const DifferentJobs = "Waits, finishes and costs are of the jobs placed, so they compare different jobs; value lost counts those without a window too."
