package simulation

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
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
