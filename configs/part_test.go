package configs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

const hybrid = `[[job]]
name = "hybrid"
budget = 400.0
apart = true
length = "30m"
min_performance = 2.0
require = { gpus = 4 }
avoid = ["moon"]
command = ["./run", "all"]
env = { A = "job", B = "job" }
output = "out-%j"
[[job.part]]
name = "qpu"
nodes = 1
length = "10m"
offset = "5m"
sites = ["delft", "juelich"]
avoid = []
require = { features = ["qpu"] }
min_performance = 1.0
command = ["./shots"]
env = { B = "part", C = "part" }
[[job.part]]
name = "gpu"
nodes = 16
spread = "one-site"
max_price = 3.5
`

// A part has from its job what it does not say; what it says replaces the job's whole value,
// but that variables are added.
func TestPart_HasFromItsJobWhatItDoesNotSay(t *testing.T) {
	t.Parallel()
	b, err := ParseBatch("f.toml", []byte(hybrid))
	if err != nil {
		t.Fatal(err)
	}
	j := b.Jobs[0].At(0, time.Time{})
	q, g := &j.Parts[0], &j.Parts[1]
	if j.Nodes != 17 || j.Length != 15*grid.Minute || j.MinPerformance != grid.Unit || j.Budget != 400*grid.Credit || !j.Apart || !j.Composed() || !j.Whole() || j.Work != nil {
		t.Errorf("the job: %+v", j)
	}
	if q.Length != 10*grid.Minute || q.Offset != 5*grid.Minute || q.MinPerformance != 1000 || q.Require.GPUs != 0 || !slices.Equal(q.Require.Features, []string{"qpu"}) ||
		!slices.Equal(q.Sites, []string{"delft", "juelich"}) || len(q.Avoid) != 0 || q.OneSite {
		t.Errorf("qpu: %+v", q)
	}
	if g.Length != 30*grid.Minute || g.Offset != 0 || g.MinPerformance != 2000 || g.Require.GPUs != 4 || !slices.Equal(g.Avoid, []string{"moon"}) || !g.OneSite || g.MaxPrice != 3_500_000 {
		t.Errorf("gpu: %+v", g)
	}
	// 1 node for 10 minutes and 16 for 15: 250 node-minutes share 400 credits.
	if q.MaxPrice != 96_000_000 {
		t.Errorf("the cap of a part without a price is %v", q.MaxPrice)
	}
	env := func(w *grid.Work) (s string) {
		for _, v := range w.Env {
			s += v.Name + "=" + v.Value + " "
		}
		return s + w.Output
	}
	if !slices.Equal(q.Work.Command, []string{"./shots"}) || env(q.Work) != "A=job B=part C=part out-%j" {
		t.Errorf("qpu runs %+v", q.Work)
	}
	if !slices.Equal(g.Work.Command, []string{"./run", "all"}) || env(g.Work) != "A=job B=job out-%j" {
		t.Errorf("gpu runs %+v", g.Work)
	}
}

// A job of a single part is one of one piece, which knows the part's name.
func TestPart_ASinglePartIsAPlainJob(t *testing.T) {
	t.Parallel()
	b, err := ParseBatch("f.toml", []byte("[[job]]\nname = \"j\"\n[[job.part]]\nname = \"only\"\nnodes = 4\nlength = \"1h\"\nmax_price = 2.0\nsites = [\"a\"]\nspread = \"one-site\"\ncommand = [\"true\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	j := b.Jobs[0].At(0, time.Time{})
	if j.Composed() || j.Nodes != 4 || j.Length != grid.Hour || j.MaxPrice != 2_000_000 || j.Budget != 8*grid.Credit || !j.OneSite || !slices.Equal(j.Sites, []string{"a"}) ||
		j.Work == nil || len(j.Parts) != 1 || j.Parts[0].Name != "only" {
		t.Errorf("%+v", j)
	}
}

func TestPart_Refusals(t *testing.T) {
	t.Parallel()
	ninth := strings.Repeat("[[job.part]]\nname = \"x\"\nnodes = 1\n", 7)
	// whole is hybrid with one change, and the line marked in which the fault is reported.
	whole := func(old, new, line string) string {
		return strings.Replace(strings.Replace(hybrid, old, new, 1), line+"\n", line+" #!\n", 1)
	}
	const header = "output = \"out-%j\"\n[[job.part]]"
	const gpu = "name = \"gpu\"\nnodes = 16\n"
	runRefusals(t, hybrid, []refusal{
		{"nodes beside parts", "budget = 400.0\n", "budget = 400.0 \nnodes = 4 #!\n", "job.nodes", "stands beside [[job.part]] tables"},
		{"speedup beside parts", "budget = 400.0\n", "budget = 400.0 \nspeedup = { amdahl = 0.1 } #!\n", "job.speedup", "needs a range of nodes"},
		{"flexible", "budget = 400.0\n", "budget = 400.0 \nflexible = \"1h\" #!\n", "job.flexible", "is for jobs without parts"},
		{"fix", "budget = 400.0\n", "budget = 400.0 \nfix = 0.5 #!\n", "job.fix", "is for flexible jobs"},
		{"alternatives", "budget = 400.0\n", "budget = 400.0 \nalternatives = 0.5 #!\n", "job.alternatives", "is for jobs without parts"},
		{"a range", "nodes = 16", "nodes = \"4..16\"", "job.part.nodes", "a part has a number of nodes, such as 16, and no range"},
		{"a ninth part", hybrid, whole("[[job.part]]\n"+gpu, ninth+"[[job.part]]\n"+gpu, header), "job.part", "9 parts; must be 1 to 8"},
		{"a name twice", gpu, strings.Replace(gpu, "gpu", "qpu", 1), "job.part.name", "is the name of an earlier part too"},
		{"a bad name", gpu, strings.Replace(gpu, "gpu", "GPU", 1), "job.part.name", "must be a letter of a to z"},
		{"no name", "[[job.part]]\n" + gpu, "[[job.part]]\nnodes = 16\n", "job.part.name", "missing"},
		{"no nodes", "[[job.part]]\n" + gpu, "[[job.part]]\nname = \"gpu\"\n", "job.part.nodes", "missing"},
		{"no length", hybrid, whole("apart = true\nlength = \"30m\"\n", "apart = true\n", "env = { B = \"part\", C = \"part\" }\n[[job.part]]"), "job.part.length", "missing"},
		{"no offset of 0", hybrid, whole("max_price = 3.5\n", "max_price = 3.5\noffset = \"1m\"\n", "offset = \"5m\""), "job.part.offset", "no part starts with the job; one must have the offset 0"},
		{"an offset too far", `offset = "5m"`, `offset = "31d"`, "job.part.offset", "must be 0s to 30d"},
		{"neither budget nor every price", hybrid, whole("budget = 400.0\n", "priority = 1\n", header), "job.part.max_price", "for every part or for the job, or budget = 100.0"},
		{"together with apart", "apart = true", "apart = true\ntogether = true #!", "job.together", "stands beside apart"},
		{"sites less avoid", hybrid, whole("avoid = []", "avoid = [\"delft\", \"juelich\"]", "sites = [\"delft\", \"juelich\"]"), "job.part.sites", "avoid has all of them"},
		{"too many sites", "avoid = []", "avoid = [" + strings.Repeat(`"a", `, 64) + `"b"]`, "job.part.avoid", "has 65 names; must have at most 64"},
		{"an unknown key", "max_price = 3.5", "max_prise = 3.5", "job.part.max_prise", "did you mean max_price"},
		{"a bad variable", `C = "part"`, `"1C" = "part"`, "job.part.env", "is no name of a variable"},
	})
	runRefusals(t, smallBatch, []refusal{
		{"together without parts", "nodes = 1\n", "nodes = 1\ntogether = true #!\n", "job.together", "needs parts"},
		{"apart without parts", "nodes = 1\n", "nodes = 1\napart = true #!\n", "job.apart", "needs parts"},
		{"an empty list of parts", "nodes = 1\n", "part = []\n", "job.part", "0 parts; must be 1 to 8"},
		{"a site wanted and avoided", "nodes = 1\n", "nodes = 1\nsites = [\"a\"] #!\navoid = [\"a\"]\n", "job.sites", "avoid has all of them"},
	})
	runRefusals(t, strings.Replace(smallScenario, `algorithm = "best"`, `algorithm = "amp-literal"`, 1), []refusal{
		{"parts under amp-literal", "nodes = 16\nlength = \"2h\"\nmax_price = 2.5\ndeadline = \"1d\"\n", "max_price = 1\nlength = \"1h\"\n[[broker.job.part]] #!\nname = \"a\"\nnodes = 1\n[[broker.job.part]]\nname = \"b\"\nnodes = 1\n",
			"broker.job.part", "does not search for jobs of parts; must be amp, alp or best"},
	})
	runRefusals(t, smallScenario, []refusal{
		{"an unknown site", "nodes = 16\n", "nodes = 16\nsites = [\"north\", \"suoth\"] #!\n", "broker.job.sites", `"suoth" is not a site of this scenario; did you mean south?`},
		{"an offset beyond the horizon", "nodes = 16\nlength = \"2h\"\nmax_price = 2.5\ndeadline = \"1d\"\n", "max_price = 1\n[[broker.job.part]]\nname = \"a\"\nnodes = 1\nlength = \"2h\"\n[[broker.job.part]]\nname = \"b\"\nnodes = 1\nlength = \"2h\"\noffset = \"23h\" #!\n", "broker.job.part.offset", "beyond the broker's horizon, 1d"},
	})
}
