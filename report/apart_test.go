package report

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func runsOf(first uint64, costs ...grid.Credits) []Summary {
	var list []Summary
	for i, c := range costs {
		list = append(list, Summary{Seed: first + uint64(i), Brokers: []BrokerSummary{{Name: "vo1", Cost: Income{Total: c * grid.Credit}}}})
	}
	return list
}

func costApart(t *testing.T, a, b []Summary) Apart {
	t.Helper()
	for _, d := range Compare(a, b, false) {
		if d.Measure == "cost credits" {
			return d
		}
	}
	t.Fatal("there is no cost")
	return Apart{}
}

// Seeds that differ by hundreds say nothing against a difference that each shows.
func TestCompare_SeedBySeedWhereTheSeedsAreTheSame(t *testing.T) {
	t.Parallel()
	a := runsOf(1, 100, 500, 900)
	d := costApart(t, a, runsOf(1, 101, 502, 903))
	// 1, 2, 3: the mean is 2, the half-width t(0.975, 2) / sqrt(3) = 4.303 / 1.732.
	if !d.Paired || d.Less != 2 || math.Abs(d.CI95-2.4841) > .0005 || d.Beyond() {
		t.Errorf("%+v", d)
	}
	// Welch of 100, 500, 900 and 101, 502, 903: both variances near 160,000, 4 degrees of freedom.
	d = costApart(t, a, runsOf(7, 101, 502, 903))
	if d.Paired || d.Less != 2 || math.Abs(d.CI95-2.7764*math.Sqrt((160000+160801)/3.)) > .5 {
		t.Errorf("with other seeds %+v", d)
	}
	if d := costApart(t, a[:1], runsOf(1, 90)); d.Less != -10 || !math.IsNaN(d.CI95) || d.Beyond() {
		t.Errorf("of one seed each %+v", d)
	}
}

// Two runs that have placed different numbers of jobs compare different jobs, and say so.
func TestApartNote_SaysThatDifferentNumbersWerePlaced(t *testing.T) {
	t.Parallel()
	run := func(placed int) []Summary {
		return []Summary{{Seed: 1, Brokers: []BrokerSummary{{Name: "vo1", Jobs: JobSummary{Submitted: 40, Placed: placed}}}}}
	}
	if note := ApartNote(Compare(run(13), run(39), false)); !strings.Contains(note, "vo1 placed 13.0 jobs in A and 39.0 in B. "+DifferentJobs) {
		t.Error(note)
	}
	if note := ApartNote(Compare(run(39), run(39), false)); strings.Contains(note, "placed") {
		t.Errorf("the same number is placed: %s", note)
	}
}
