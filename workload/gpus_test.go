package workload

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Sizes come in the shares of the model; a job of less than a node takes a part for its part
// of the price, one of more takes whole nodes.
func TestGPUs_Sizes(t *testing.T) {
	t.Parallel()
	const n = 49_000
	terms := Terms{MeanPrice: 8 * grid.Price(grid.Credit), PriceFrom: 1, PriceTo: 1, Seed: 3}
	jobs, err := GPUs{Terms: terms, Count: n, Until: grid.Day, Cores: 64, Uneven: 0.25}.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	seen, uneven := map[int]int{}, 0
	for i := range jobs {
		j := &jobs[i]
		gpus := j.Nodes * j.Portion.GPUs
		seen[gpus]++
		share := j.Portion.GPUs
		if j.Portion.Cores > 0 {
			uneven++
			if share *= 2; j.Portion.Cores != 8*share || gpus >= 8 {
				t.Fatalf("%+v", j.Portion)
			}
		}
		if gpus >= 8 && j.Portion.GPUs != 8 || j.MaxPrice != grid.Price(int64(share)*int64(grid.Credit)) || j.Budget != j.DefaultBudget() {
			t.Fatalf("%d GPUs: %+v at %v", gpus, j.Portion, j.MaxPrice)
		}
	}
	for _, x := range gpuSizes {
		if want := x.of * n / 98; seen[x.gpus] < want*9/10-30 || seen[x.gpus] > want*11/10+30 {
			t.Errorf("%d jobs of %d GPUs, expected %d", seen[x.gpus], x.gpus, want)
		}
	}
	if parts := seen[1] + seen[2] + seen[4]; uneven < parts*23/100 || uneven > parts*27/100 {
		t.Errorf("%d of %d parts are uneven", uneven, parts)
	}
}

func TestGPUs_Refusals(t *testing.T) {
	t.Parallel()
	for _, g := range []GPUs{{PerNode: -1}, {PerNode: 1 << 20}, {Cores: -1}, {Uneven: 1.5}, {Uneven: -1}, {}} {
		if _, err := g.Jobs(); err == nil {
			t.Errorf("%+v is taken", g)
		}
	}
}
