package workload

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/bourse-grid/bourse/grid"
)

// Slurm has the GPUs of a job among its resources, in all and by kind; others have a column.
func TestTable_GPUs(t *testing.T) {
	t.Parallel()
	const begin = "JobID|State|Submit|ElapsedRaw|AllocCPUS|"
	job := func(n, cells string) string { return n + "|COMPLETED|2026-01-01T01:00:00|60|16|" + cells + "\n" }
	m, err := ParseMap("gpus=Cards")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		opt  Options
		want []string
		says string
	}{
		"of sacct": {begin + "AllocTRES|ReqTRES\n" + job("1", "billing=16,cpu=16,gres/gpu=4,gres/gpu:a100=4,node=2|") +
			job("2", "cpu=16,gres/gpu:a100=1,gres/gpu:h100=2,node=1|") + job("3", "|cpu=8,gres/gpu=2") + job("4", "cpu=16,node=1|cpu=16"), Options{}, []string{"1 4", "2 3", "3 2", "4 -1"}, ""},
		"of a column": {begin + "num_gpus\n" + job("1", "2") + job("2", "") + job("3", "many"), Options{}, []string{"1 2", "2 -1", "3 -1"}, "column num_gpus: 1 value could not be read"},
		"mapped":      {begin + "Cards|gpus\n" + job("1", "3|9"), Options{Map: m}, []string{"1 3"}, "column Cards: gpus, as mapped"},
	} {
		c.opt.Strict = true
		got, said := rows(t, "x.sacct", c.text, c.opt, JobNumber, GPUCount)
		if !slices.Equal(got, c.want) || !strings.Contains(said, c.says) {
			t.Errorf("%s: %q, want %q\n%s", name, got, c.want, said)
		}
	}
	type row struct {
		Submit int64  `parquet:"submit_time"`
		Run    int64  `parquet:"run_time"`
		CPUs   uint32 `parquet:"num_cpus"`
		GPUs   uint32 `parquet:"num_gpus"`
	}
	path := filepath.Join(t.TempDir(), "log.parquet")
	if err := parquet.WriteFile(path, []row{{0, 60, 8, 2}}); err != nil {
		t.Fatal(err)
	}
	trace, err := Open(path, Options{Strict: true})
	if err != nil || fieldsOf(trace.Records[0], AllocatedProcessors, GPUCount) != "8 2" || trace.WithGPUs() != 1 {
		t.Errorf("Parquet: %v, %+v", err, trace)
	}
	var swf strings.Builder
	if err := Write(&swf, trace); err != nil || len(strings.Fields(strings.Split(strings.TrimSpace(swf.String()), "\n")[len(trace.Header.Lines)])) != 18 {
		t.Errorf("in SWF: %v\n%s", err, &swf)
	}
}

// Each job of a log takes the fewest nodes that have its cores and GPUs, evenly, and pays for the
// larger of both shares.
func TestTrace_PartedJobs(t *testing.T) {
	t.Parallel()
	text := "Submit,Elapsed,cpus,gpus\n"
	for _, x := range []string{"8,1", "16,1", "4,4", "64,8", "200,", "32,20", "1,0"} {
		text += "2026-01-01T01:00:00,3600," + x + "\n"
	}
	trace, err := Read(strings.NewReader(text), "x.csv", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	terms := Terms{MinPerformance: grid.Unit, MaxPerformance: grid.Unit, MeanPrice: 640 * grid.Price(grid.Credit), PriceFrom: 1, PriceTo: 1, Seed: 1}
	type asks struct{ nodes, gpus, cores, price int }
	for name, c := range map[string]struct {
		node Node
		most int
		want []asks
	}{
		"GPUs and cores": {Node{Cores: 64, GPUs: 8}, 0, []asks{{1, 1, 8, 80}, {1, 1, 16, 160}, {1, 4, 4, 320}, {1, 8, 64, 640}, {4, 0, 50, 500}, {3, 7, 11, 560}, {1, 0, 1, 10}}},
		"cores alone":    {Node{Cores: 64}, 3, []asks{{1, 0, 8, 80}, {1, 0, 16, 160}, {1, 0, 4, 40}}},
	} {
		jobs, err := trace.PartedJobs(terms, JobOptions{}, c.most, c.node)
		var got []asks
		for i := range jobs {
			j := &jobs[i]
			got = append(got, asks{j.Nodes, j.Portion.GPUs, j.Portion.Cores, int(j.MaxPrice / grid.Price(grid.Credit))})
			if j.Submit != 0 || j.Budget != j.DefaultBudget() || j.Length != grid.Hour {
				t.Errorf("%s: %+v", name, j)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, err, got, c.want)
		}
	}
	if _, err := trace.PartedJobs(terms, JobOptions{}, 0, Node{GPUs: 8}); err == nil {
		t.Error("nodes without cores")
	}
}
