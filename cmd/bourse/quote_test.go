package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// figure1Site is the layout of figure 1 of Singh, Kesselman and Deelman.
const figure1Site = `name = "figure1"
now = 0
policy = "easy"
[[group]]
name = "main"
nodes = 5
price = 1.0
[[running]]
job = "A"
nodes = 4
end = 2
[[running]]
job = "B"
nodes = 1
end = 3
[[reserved]]
job = "R"
nodes = 1
start = 4
end = 6
[[queued]]
job = "C"
nodes = 2
estimate = 5
[[queued]]
job = "D"
nodes = 2
estimate = 3
`

type quoteAnswer struct {
	Offers []struct {
		Start           float64
		Feasible        bool
		Base            float64
		Additive        *float64
		AdditiveCredits *float64
		Delayed         []struct {
			Job   string
			By    float64
			Nodes int
		}
		GPUHour *float64
		Reason  string
	}
	Chosen *struct{ Start float64 }
}

// quoteOf runs the command with --json on a site's text.
func quoteOf(t *testing.T, site string, flags ...string) (a quoteAnswer, exit int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "site.toml")
	if err := os.WriteFile(file, []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, out := newRoot(), new(bytes.Buffer)
	cmd.SetOut(out)
	cmd.SetErr(new(bytes.Buffer))
	cmd.SetArgs(append([]string{"quote", file, "--json"}, flags...))
	exit = exitCode(cmd.Execute())
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &a); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	}
	return a, exit
}

func TestQuote_FigureOne(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"easy", "conservative"} {
		a, exit := quoteOf(t, figure1Site, "--nodes", "2", "--duration", "3", "--policy", policy)
		if exit != 0 || len(a.Offers) != 7 {
			t.Fatalf("%s: exit %d, %d offers", policy, exit, len(a.Offers))
		}
		by := []float64{0, 3, 4, 5, 0, 0, 0}
		for i, start := range []float64{0, 2, 3, 4, 5, 6, 7} {
			o := a.Offers[i]
			if o.Start != start || o.Base != 0.001667 || o.Feasible != (i > 0) {
				t.Errorf("%s: offer %+v", policy, o)
			}
			if i == 0 {
				if o.Additive != nil || !strings.Contains(o.Reason, "running job A") {
					t.Errorf("%s: infeasible offer %+v", policy, o)
				}
				continue
			}
			if *o.Additive != 2*by[i] {
				t.Errorf("%s: start %v costs %v, want %v", policy, start, *o.Additive, 2*by[i])
			}
			if by[i] > 0 && (len(o.Delayed) != 1 || o.Delayed[0].Job != "D" || o.Delayed[0].By != by[i]) {
				t.Errorf("%s: start %v delays %v", policy, start, o.Delayed)
			}
		}
	}
}

// A part of a node costs its slices, of the largest share of any resource, and delays what a whole
// node would.
func TestQuote_OfAPartOfEachNode(t *testing.T) {
	t.Parallel()
	const site = `name = "s"
now = 0
policy = "easy"
[[group]]
name = "bare"
nodes = 9
price = 1.0
[[group]]
name = "main"
nodes = 2
price = 8.0
slices = 8
cores = 64
gpus = 8
[[queue]]
name = "q"
delay_cost = 1
[[queued]]
job = "C"
queue = "q"
group = "main"
nodes = 1
estimate = "1h"
`
	for _, c := range []struct {
		flags         string
		cost, gpuHour float64
	}{
		{"--duration 4h --gpus-per-node 4", 16, 1},
		{"--duration 2h --gpus-per-node 1 --cores-per-node 20", 6, 3},
		{"--duration 1h --gpus-per-node 8", 8, 1},
		{"--duration 1h --cores-per-node 8", 1, 0},
	} {
		a, exit := quoteOf(t, site, append(strings.Fields(c.flags), "--nodes", "1", "--start", "3600")...)
		if exit != 0 || len(a.Offers) != 1 {
			t.Fatalf("%s: exit %d, %+v", c.flags, exit, a)
		}
		o := a.Offers[0]
		if !o.Feasible || o.Base != c.cost || (o.GPUHour == nil) != (c.gpuHour == 0) || o.GPUHour != nil && *o.GPUHour != c.gpuHour {
			t.Errorf("%s: %+v, want %v credits, %v for an hour of a GPU", c.flags, o, c.cost, c.gpuHour)
		}
	}
	whole, _ := quoteOf(t, site, "--nodes", "2", "--duration", "1h", "--start", "0", "--group", "main")
	part, _ := quoteOf(t, site, "--nodes", "2", "--duration", "1h", "--start", "0", "--gpus-per-node", "1")
	if w, p := whole.Offers[0], part.Offers[0]; *w.Additive != 3600 || *p.Additive != *w.Additive || w.Base != 16 || p.Base != 2 {
		t.Errorf("two whole nodes %+v, two with a GPU of each %+v", w, p)
	}
	if a, exit := quoteOf(t, site, "--nodes", "1", "--duration", "1h", "--gpus-per-node", "9"); exit != 0 || a.Offers[0].Feasible || !strings.Contains(a.Offers[0].Reason, "too few GPUs") {
		t.Errorf("nine GPUs of eight: exit %d, %+v", exit, a)
	}
	for _, bad := range []string{"--gpus-per-node 0", "--cores-per-node 40000", "--memory-per-node 3x", "--memory-per-node 0"} {
		if _, exit := quoteOf(t, site, append(strings.Fields(bad), "--nodes", "1", "--duration", "1h")...); exit != 2 {
			t.Errorf("%s: exit %d, want 2", bad, exit)
		}
	}
}

func TestQuote_OneStartOnly(t *testing.T) {
	t.Parallel()
	a, exit := quoteOf(t, figure1Site, "--nodes", "2", "--duration", "3s", "--start", "2")
	if exit != 0 || len(a.Offers) != 1 || *a.Offers[0].Additive != 6 || *a.Offers[0].AdditiveCredits != 0.001667 {
		t.Errorf("exit %d, %+v", exit, a)
	}
}

func TestQuote_Choices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flag, value string
		start       float64
	}{{"--alpha", "0", 2}, {"--alpha", "1", 5}, {"--cheapest-before", "6", 2}, {"--within", "0.002", 5}, {"--within", "1", 2}} {
		a, exit := quoteOf(t, figure1Site, "--nodes", "2", "--duration", "3", c.flag, c.value)
		if exit != 0 || a.Chosen == nil || a.Chosen.Start != c.start {
			t.Errorf("%s %s: exit %d, chosen %+v, want %v", c.flag, c.value, exit, a.Chosen, c.start)
		}
	}
	if a, exit := quoteOf(t, figure1Site, "--nodes", "2", "--duration", "3", "--within", "0.001"); exit != 1 || a.Chosen != nil {
		t.Errorf("a budget below the base: exit %d, chosen %+v", exit, a.Chosen)
	}
	if a, _ := quoteOf(t, figure1Site, "--nodes", "2", "--duration", "3", "--pareto"); len(a.Offers) != 2 {
		t.Errorf("Pareto list of %d offers, want 2", len(a.Offers))
	}
}

func TestQuote_QueuesCountByPriorityAndDelayCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		queue string
		want  float64
		job   string
	}{
		{"delay_cost = 2.0", 12, "D"}, // D by 3 s, as before, at double weight
		{"priority = 1", 6, "C"},      // D first: it keeps its start, and C is in the way for 3 s
	} {
		site := strings.Replace(figure1Site, "[[group]]", "[[queue]]\nname = \"gold\"\n"+c.queue+"\n[[group]]", 1) + "queue = \"gold\"\n"
		a, exit := quoteOf(t, site, "--nodes", "2", "--duration", "3", "--start", "2")
		if exit != 0 || *a.Offers[0].Additive != c.want || len(a.Offers[0].Delayed) != 1 || a.Offers[0].Delayed[0].Job != c.job {
			t.Errorf("%s: exit %d, %+v", c.queue, exit, a.Offers)
		}
	}
}

func TestQuote_GroupByNameOrTheFirstLargeEnough(t *testing.T) {
	t.Parallel()
	site := figure1Site + "[[group]]\nname = \"big\"\nnodes = 8\nprice = 2.0\n"
	a, exit := quoteOf(t, site, "--nodes", "6", "--duration", "1h")
	if exit != 0 || len(a.Offers) != 1 || a.Offers[0].Base != 12 || *a.Offers[0].Additive != 0 {
		t.Errorf("6 nodes: exit %d, %+v", exit, a)
	}
	a, exit = quoteOf(t, site, "--nodes", "6", "--duration", "1h", "--group", "main")
	if exit != 0 || a.Offers[0].Feasible || !strings.Contains(a.Offers[0].Reason, "the group has 5") {
		t.Errorf("6 nodes of main: exit %d, %+v", exit, a)
	}
}

func TestQuote_LimitsOfTheOperatorAreNamed(t *testing.T) {
	t.Parallel()
	for key, flags := range map[string][]string{
		"min_notice = 10": nil, "max_horizon = 4": nil, "max_share = 0.2": nil, "max_share = 0.0": nil, `users = ["ana"]`: {"--user", "bob"},
	} {
		site := strings.Replace(figure1Site, "[[group]]", "[limits]\n"+key+"\n[[group]]", 1)
		a, exit := quoteOf(t, site, append([]string{"--nodes", "2", "--duration", "3", "--start", "5"}, flags...)...)
		if name, _, _ := strings.Cut(key, " "); exit != 0 || len(a.Offers) != 1 || a.Offers[0].Feasible || !strings.HasPrefix(a.Offers[0].Reason, name) {
			t.Errorf("%s: exit %d, %+v", key, exit, a)
		}
	}
}

func TestQuote_BadInputIsExitTwo(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{
		{"--nodes", "2"},
		{"--nodes", "0", "--duration", "3"},
		{"--nodes", "2", "--duration", "0"},
		{"--nodes", "2", "--duration", "x"},
		{"--nodes", "2", "--duration", "3", "--policy", "lifo"},
		{"--nodes", "2", "--duration", "3", "--alpha", "2"},
		{"--nodes", "2", "--duration", "3", "--alpha", "1", "--within", "2"},
		{"--nodes", "2", "--duration", "3", "--start", "soon"},
		{"--nodes", "2", "--duration", "3", "--group", "gpu"},
	} {
		if _, exit := quoteOf(t, figure1Site, flags...); exit != 2 {
			t.Errorf("%v: exit %d, want 2", flags, exit)
		}
	}
	overbooked := strings.Replace(figure1Site, "nodes = 4", "nodes = 5", 1)
	if _, exit := quoteOf(t, overbooked, "--nodes", "2", "--duration", "3"); exit != 2 {
		t.Errorf("running jobs beyond the group: exit %d, want 2", exit)
	}
}
