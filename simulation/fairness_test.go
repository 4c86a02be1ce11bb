package simulation

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
)

// equalSites is a scenario of sites that differ in their names alone.
func equalSites(t *testing.T, names []string, keys string) *configs.Scenario {
	t.Helper()
	return equalSitesOf(t, names, "easy", keys, "")
}

// equalSitesOf is equalSites under a policy, with keys of the VO's jobs.
func equalSitesOf(t *testing.T, names []string, policy, keys, jobs string) *configs.Scenario {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "until = \"6d\"\n")
	for _, name := range names {
		fmt.Fprintf(&b, "[[site]]\nname = %q\npolicy = %q\n[[site.group]]\nname = \"main\"\nnodes = 64\nprice = 1.0\n", name, policy)
	}
	fmt.Fprintf(&b, "[[broker]]\nname = \"vo1\"\nbudget = 1e6\ncycle = \"30m\"\nhorizon = \"2d\"\nalgorithm = \"amp\"\n%s\n[broker.workload]\nmodel = \"uniform\"\njobs = 600\ndays = 4\n%s\n", keys, jobs)
	sc, err := configs.ParseScenario("equal.toml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// nodeHours are those that each site sells to the VO.
func nodeHours(t *testing.T, sc *configs.Scenario, seed uint64) (by map[string]float64, all float64) {
	t.Helper()
	run := Simulation{Scenario: sc}
	rep, err := run.Run(seed, Record{})
	if err != nil {
		t.Fatal(err)
	}
	by = map[string]float64{}
	for _, s := range rep.Summary.Sites {
		for _, g := range s.Groups {
			by[s.Name] += g.VONodeHours
			all += g.VONodeHours
		}
	}
	return by, all
}

// No name and no place in a file shows in what is chosen: of three equal sites each
// gets a third of the work, whatever they are called.
func TestSimulate_EqualSitesGetEqualShares(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{`minimize = "value"`, `minimize = "value"` + "\nurgency = 0", `minimize = "finish"`,
		`strategy = "earliest"`, `strategy = "alpha"`, `strategy = "shortest-queue"`} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			by, all := nodeHours(t, equalSites(t, []string{"a", "b", "c"}, keys), 1)
			for name, hours := range by {
				if share := hours / all; share < 1./3-.05 || share > 1./3+.05 {
					t.Errorf("%s gets %.1f %% of the work, not 33 ± 5", name, 100*share)
				}
			}
		})
	}
}

// Whoever changes the names of sites changes the names in what comes out, and nothing
// else.
func TestSimulate_PermutedNamesPermuteTheResults(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{`minimize = "value"`, `minimize = "finish"`, `strategy = "earliest"`} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			var before map[string]float64
			for _, names := range [][]string{{"a", "b", "c"}, {"c", "a", "b"}, {"b", "c", "a"}} {
				sc := equalSites(t, names, keys)
				for i, n := range []int{32, 64, 96} { // so that each is known by its size
					sc.Sites[i].Groups[0].Nodes = n
				}
				by, _ := nodeHours(t, sc, 3)
				got := map[string]float64{}
				for i, name := range names {
					got[fmt.Sprint(sc.Sites[i].Groups[0].Nodes)] = by[name]
				}
				if before != nil && !maps.Equal(got, before) {
					t.Errorf("named %v the sites sell %v, before %v", names, got, before)
				}
				before = got
			}
		})
	}
}

// Neither does it of sites whose nodes are time-shared.
func TestSimulate_EqualTimeSharedSitesGetEqualShares(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{`minimize = "value"`, `minimize = "finish"`} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			sc := equalSitesOf(t, []string{"a", "b", "c"}, "libra", keys, "deadline = \"12h\"")
			by, all := nodeHours(t, sc, 1)
			for name, hours := range by {
				if share := hours / all; share < 1./3-.05 || share > 1./3+.05 {
					t.Errorf("%s gets %.1f %% of the work, not 33 ± 5", name, 100*share)
				}
			}
		})
	}
}

// Of two VOs that differ in their names alone each ends its jobs first with about half of
// the seeds, whatever they are called and in whichever order they stand.
func TestSimulate_EqualVOsEndFirstEquallyOften(t *testing.T) {
	t.Parallel()
	const seeds = 60
	for _, keys := range []string{"", `strategy = "earliest"`, "batch_size = 4"} {
		t.Run(keys, func(t *testing.T) {
			t.Parallel()
			text := "until = \"4d\"\n"
			text += "[[site]]\nname = \"a\"\n[[site.group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n"
			for _, vo := range []string{"vo1", "vo2"} {
				text += fmt.Sprintf("[[broker]]\nname = %q\nbudget = 1e4\ncycle = \"10m\"\nhorizon = \"2d\"\nalgorithm = \"amp\"\n%s\n", vo, keys)
				for i := range 8 {
					text += fmt.Sprintf("[[broker.job]]\nname = \"%s-%d\"\nnodes = 4\nlength = \"1h\"\nmax_price = 5.0\nuser = \"u\"\n", vo, i)
				}
			}
			sc, err := configs.ParseScenario("equal.toml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			run, first := Simulation{Scenario: sc}, 0
			for seed := range uint64(seeds) {
				rep, err := run.Run(seed, Record{})
				if err != nil {
					t.Fatal(err)
				}
				x, y := &rep.Summary.Brokers[0], &rep.Summary.Brokers[1]
				if x.Name != "vo1" || x.Jobs.Placed != 8 || y.Jobs.Placed != 8 || x.MeanFinish == y.MeanFinish {
					t.Fatalf("seed %d: %s places %d, ends at %v; %s %d, %v", seed, x.Name, x.Jobs.Placed, x.MeanFinish, y.Name, y.Jobs.Placed, y.MeanFinish)
				}
				if x.MeanFinish < y.MeanFinish {
					first++
				}
			}
			if first < seeds/4 || first > seeds*3/4 {
				t.Errorf("vo1 ends first with %d of %d seeds", first, seeds)
			}
		})
	}
}
