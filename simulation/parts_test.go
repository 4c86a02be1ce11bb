package simulation

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/report"
)

// unlike are three sites of unlike nodes, and a broker; its jobs follow. The invariants check
// each window against its job: nodes, offsets and sites part by part.
const unlike = `
until = "2d"
[[site]]
name = "delft"
[[site.group]]
name = "qpu"
nodes = 2
performance = 1.0
price = 10.0
features = ["qpu"]
[[site]]
name = "juelich"
policy = "easy"
[[site.group]]
name = "gpu"
nodes = 24
performance = 2.0
price = 3.0
[site.workload]
model = "lublin"
load = 0.5
[[site]]
name = "espoo"
[[site.group]]
name = "gpu"
nodes = 16
performance = 1.0
price = 2.0
[[broker]]
name = "vo1"
budget = 100000.0
cycle = "30m"
horizon = "1d"
algorithm = %q
minimize = %q
`

// parted is a job of a scenario with parts.
func parted(name, more string, parts ...string) string {
	return fmt.Sprintf("[[broker.job]]\nname = %q\nmax_price = 20.0\n%s\n", name, more) + strings.Join(parts, "")
}

func piece(name string, nodes int, length, more string) string {
	return fmt.Sprintf("[[broker.job.part]]\nname = %q\nnodes = %d\nlength = %q\n%s\n", name, nodes, length, more)
}

// Windows of jobs of parts are committed: each part starts its offset after the job, and what
// each leg carries is in jobs.csv.
func TestParts_EachStartsItsOffsetAfterTheJob(t *testing.T) {
	t.Parallel()
	r, files := simulated(t, fmt.Sprintf(unlike, "amp", "cost")+
		parted("hybrid", "", piece("qpu", 1, "10m", `offset = "5m"`+"\n"+`require = { features = ["qpu"] }`), piece("gpu", 16, "30m", `sites = ["espoo"]`)), 1)
	if r.Summary.Brokers[0].Jobs.Placed != 1 {
		t.Fatalf("not placed:\n%s", files)
	}
	for _, line := range []string{
		"vo1,delft,hybrid,vo,0,1231.769,1831.769,1,1.666667,ended,,qpu,,kept,qpu\n",
		"vo1,espoo,hybrid,vo,0,931.769,2731.769,16,16,ended,,gpu,,kept,gpu\n",
	} {
		if !strings.Contains(files, line) {
			t.Errorf("no %q in:\n%s", line, files[strings.Index(files, "hybrid,vo"):])
		}
	}
}

// One node serves two parts one after the other, in two legs.
func TestParts_OneNodeServesTwo(t *testing.T) {
	t.Parallel()
	r, files := simulated(t, fmt.Sprintf(unlike, "amp", "cost")+
		parted("twice", "", piece("x", 2, "10m", `sites = ["delft"]`), piece("y", 2, "10m", `sites = ["delft"]`+"\n"+`offset = "10m"`)), 1)
	if r.Summary.Brokers[0].Jobs.Placed != 1 {
		t.Fatalf("not placed:\n%.3000s", files)
	}
}

// Jobs of parts beside others, by every search and goal, with all invariants on.
func TestParts_BesideOthersByEverySearch(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"amp", "cost"}, {"alp", "time"}, {"best", "value"}} {
		text := fmt.Sprintf(unlike, c[0], c[1])
		for i := range 12 {
			rule := [...]string{"", "apart = true", "together = true"}[i%3]
			qpu := piece("qpu", 1+i%2, "20m", fmt.Sprintf("offset = \"%dm\"\nrequire = { features = [\"qpu\"] }", i%4*7))
			if i%3 == 2 {
				qpu = piece("pre", 3, "20m", fmt.Sprintf("offset = \"%dm\"", i%4*7))
			}
			text += parted(fmt.Sprintf("p%d", i), rule+fmt.Sprintf("\nsubmit = \"%dm\"", 25*i), qpu, piece("gpu", 6+i, "1h", ""))
			text += workflow(fmt.Sprintf("o%d", i), 5, "1h", fmt.Sprintf("submit = \"%dm\"", 20*i))
		}
		r, files := simulated(t, text, 7)
		if n := r.Summary.Brokers[0].Jobs.Placed; n < 20 {
			t.Errorf("%v: %d of 24 jobs placed\n%.3000s", c, n, files)
		}
	}
}

// The picture and the page name the part that each leg carries.
func TestParts_ThePicturesNameThem(t *testing.T) {
	t.Parallel()
	r, _ := simulated(t, fmt.Sprintf(unlike, "amp", "cost")+parted("hybrid", "apart = true", piece("qpu", 1, "10m", `require = { features = ["qpu"] }`), piece("gpu", 4, "30m", "")), 1)
	var svg bytes.Buffer
	if err := r.WriteGantt(&svg); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"part 1 of 2 (qpu)", "part 2 of 2 (gpu)"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no bar is %q", want)
		}
	}
}

// exampleSites are those of the worked examples of the specification of parts, an hour of whose
// scale begins at 7200 s: A with a1 and a2, B with b1 until 60 and b2 from 30 on, Q with q1
// from 25 to 50. Blockers hold the rest, and the job is submitted when they are placed.
const exampleSites = `
until = "4h"
[[site]]
name = "A"
[[site.group]]
name = "a1"
nodes = 1
performance = 1.0
price = 3600.0
[[site.group]]
name = "a2"
nodes = 1
performance = 2.0
price = 18000.0
[[site]]
name = "B"
[[site.group]]
name = "b"
nodes = 2
performance = 1.0
price = 7200.0
[[site]]
name = "Q"
[[site.group]]
name = "q1"
nodes = 1
performance = 1.0
price = 36000.0
[[broker]]
name = "vo1"
budget = 1000000.0
cycle = "10m"
horizon = "4h"
algorithm = %q
minimize = "cost"
max_alternatives = 1
%s
`

// blockers hold nodes of the worked examples from a start to an end.
func blockers() (text string) {
	for i, x := range []struct {
		site     string
		from, to int
	}{{"B", 0, 30}, {"B", 60, 100}, {"Q", 0, 25}, {"Q", 50, 100}} {
		text += fmt.Sprintf("[[broker.job]]\nname = \"block%d\"\nnodes = 1\nlength = \"%ds\"\nsites = [%q]\nready = \"%ds\"\ndeadline = \"%ds\"\nmax_price = 100000.0\n",
			i, x.to-x.from, x.site, 7200+x.from, 7200+x.to)
	}
	return text
}

// The worked examples of the specification of parts are committed exactly as they are searched.
func TestParts_WorkedExamplesAreCommitted(t *testing.T) {
	t.Parallel()
	const xy = "[[broker.job.part]]\nname = \"x\"\nnodes = 1\nlength = \"10s\"\n[[broker.job.part]]\nname = \"y\"\nnodes = 1\nlength = \"20s\"\n"
	at := func(part string, length, offset int, more string) string {
		return fmt.Sprintf("[[broker.job.part]]\nname = %q\nlength = \"%ds\"\noffset = \"%ds\"\n%s\n", part, length, offset, more)
	}
	const q = "nodes = 1\nsites = [\"Q\"]"
	for _, c := range []struct{ name, algorithm, more, parts, want string }{
		{"dearer first", "amp", "budget = 45.0", xy, "x b [0,10) 20; y a1 [0,20) 20"},
		{"together", "amp", "budget = 200.0\ntogether = true", xy, "x a2 [0,5) 25; y a1 [0,20) 20"},
		{"together by time", "best", "budget = 200.0\ntogether = true", xy, "x a1 [0,10) 10; y a2 [0,10) 50"},
		{"apart", "amp", "budget = 200.0\napart = true", xy, "x b [0,10) 20; y a1 [0,20) 20"},
		{"offset", "amp", "budget = 400.0", at("qpu", 10, 5, q) + at("gpu", 30, 0, "nodes = 2"), "qpu q1 [25,35) 100; gpu a1 [20,50) 30; gpu b [20,50) 60"},
		{"offset too late", "amp", "budget = 400.0", at("qpu", 10, 45, q) + at("gpu", 30, 0, "nodes = 2"), ""},
		{"one node after the other", "amp", "budget = 400.0", at("x", 10, 0, q) + at("y", 10, 10, q), "x q1 [25,35) 100; y q1 [35,45) 100"},
		{"one node at once", "amp", "budget = 400.0", at("x", 20, 0, q) + at("y", 10, 10, q), ""},
	} {
		weights := ""
		if c.algorithm == "best" {
			weights = "weights = { time = 1.0 }"
		}
		r, _ := simulated(t, fmt.Sprintf(exampleSites, c.algorithm, weights)+blockers()+
			"[[broker.job]]\nname = \"J\"\nsubmit = \"1h\"\nready = \"1h\"\ndeadline = \"3700s\"\n"+c.more+"\n"+c.parts, 1)
		if got := windowOf(t, r, "J"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A group of 6 with 5 free, but 6 over [12,20), has both parts start at 2, though no sixth node
// is free for 30 s.
func TestParts_AShortRiseIsCommitted(t *testing.T) {
	t.Parallel()
	block := func(name string, from, to int) string {
		return fmt.Sprintf("[[broker.job]]\nname = %q\nnodes = 1\nlength = \"%ds\"\nready = \"%ds\"\ndeadline = \"%ds\"\nmax_price = 100000.0\n", name, to-from, 7200+from, 7200+to)
	}
	r, _ := simulated(t, "until = \"4h\"\n[[site]]\nname = \"A\"\n[[site.group]]\nname = \"g\"\nnodes = 6\nperformance = 1.0\nprice = 3600.0\n"+
		"[[broker]]\nname = \"vo1\"\nbudget = 1000000.0\ncycle = \"10m\"\nhorizon = \"4h\"\nalgorithm = \"amp\"\nminimize = \"cost\"\n"+
		block("before", 0, 12)+block("after", 20, 100)+"[[broker.job]]\nname = \"J\"\nsubmit = \"1h\"\nready = \"1h\"\nbudget = 400.0\n"+
		"[[broker.job.part]]\nname = \"x\"\nnodes = 5\nlength = \"15s\"\n[[broker.job.part]]\nname = \"y\"\nnodes = 1\nlength = \"30s\"\noffset = \"10s\"\n", 1)
	if got, want := windowOf(t, r, "J"), "x g [2,17) 75; y g [12,42) 30"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// windowOf shows the legs of a job's window, in seconds after 7200; "" if it has none.
func windowOf(t *testing.T, r *report.Report, job string) string {
	t.Helper()
	var text strings.Builder
	if err := r.WriteJobs(&text); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	number := func(text string) int {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return int(math.Round(x))
	}
	var legs []string
	for _, row := range rows[1:] {
		if row[at["job"]] == job && row[at["site"]] != "" {
			legs = append(legs, fmt.Sprintf("%s %s [%d,%d) %d", row[at["part"]], row[at["group"]], number(row[at["start"]])-7200, number(row[at["end"]])-7200, number(row[at["cost"]])))
		}
	}
	return strings.Join(legs, "; ")
}
