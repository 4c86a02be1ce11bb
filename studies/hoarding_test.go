package studies

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/simulation"
)

// A fee changes no decision: of one seed all is the same but for what is paid, and that
// grows with the fee.
func TestHoarding_AFeeChangesWhatIsPaidAndNothingElse(t *testing.T) {
	t.Parallel()
	load := simulation.NewWorkloads()
	var before [hoardingFigures]float64
	for i := 2; i < len(hoardings); i++ {
		f, err := hoardings[i].run(load, 1)
		if err != nil {
			t.Fatal(err)
		}
		if i > 2 {
			for k := range hoardingFigures {
				same := math.Abs(f[k]-before[k]) < 1e-9
				if paid := k == keptCost || k == keptLoss; same == paid || paid && f[k] < before[k] {
					t.Errorf("%s: %s is %v, with the smaller fee %v", hoardings[i].name, hoardingNames[k], f[k], before[k])
				}
			}
		}
		before = f
	}
}

// Of the jobs booked twice as often half are left, and each row is compared with who
// books when a job is needed, seed by seed.
func TestHoarding_RowsArePairedWithWhoBooksWhenNeeded(t *testing.T) {
	t.Parallel()
	rows, err := Hoarding(HoardingOptions{Seed: 1, Runs: 3})
	if err != nil {
		t.Fatal(err)
	}
	if want := int(hoardingFigures) * (2*len(hoardings) - 1); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	at := map[string]float64{}
	for i := range rows {
		at[rows[i].Measure+"|"+rows[i].Setting] = rows[i].Here
	}
	for f := range hoardingFigures {
		for _, h := range hoardings[1:] {
			got, want := at[hoardingNames[f]+", more than "+whenKnown+"|"+h.name], at[hoardingNames[f]+"|"+h.name]-at[hoardingNames[f]+"|"+whenKnown]
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%s, %s: more by %v, the means differ by %v", hoardingNames[f], h.name, got, want)
			}
		}
	}
	if text := HoardingFinding(rows); !strings.Contains(text, "local jobs wait") {
		t.Error(text)
	}
	if _, err := Hoarding(HoardingOptions{}); err == nil {
		t.Error("no runs are no error")
	}
}

// The world of hoarding is what its words say.
func TestHoarding_TheWorld(t *testing.T) {
	t.Parallel()
	for _, h := range hoardings {
		sc, err := h.scenario()
		if err != nil {
			t.Fatal(err)
		}
		one, other := sc.Brokers[0], sc.Brokers[1]
		jobs := neededJobs
		if h.twice {
			jobs *= 2
		}
		if one.Workload.Jobs != neededJobs || one.Workload.Cancel != 0 || other.Workload.Jobs != jobs || other.Workload.Ahead != h.ahead ||
			(other.Workload.Cancel == 500) != h.twice || sc.Sites[0].HoldingFee != h.fee || one.Name == other.Name {
			t.Errorf("%s: %+v, %+v", h.name, one.Workload, other.Workload)
		}
	}
}
