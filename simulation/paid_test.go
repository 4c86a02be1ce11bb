package simulation

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// paidWorld is a world in which users give up and change their jobs, sites move flexible
// legs and charge for holds, and prices change with the hour.
func paidWorld(t *testing.T) *configs.Scenario {
	t.Helper()
	text := "until = \"4d\"\n"
	for i, site := range []string{"east", "north", "west"} {
		text += fmt.Sprintf("[[site]]\nname = %q\nholding_fee = 0.0%d\npenalty = 0.3\npricing = \"adaptive\"\n[[site.price]]\nfrom = \"6h\"\nto = \"18h\"\nfactor = 1.%d\n"+
			"[site.workload]\nmodel = \"lublin\"\nload = 0.5\n[[site.group]]\nname = \"main\"\nnodes = 32\nprice = 1.%d\n", site, i, i+3, i)
	}
	for _, keys := range []string{"name = \"vo1\"\nminimize = \"value\"", "name = \"vo2\"\nminimize = \"finish\"", "name = \"vo3\"\nstrategy = \"alpha\""} {
		text += "[[broker]]\n" + keys + "\nbudget = 1e5\ncycle = \"30m\"\nhorizon = \"2d\"\n[broker.workload]\nmodel = \"uniform\"\njobs = 60\nnodes = [1, 40]\n" +
			"ahead = \"4h\"\nflexible = [\"0s\", \"4h\"]\nrun = [0.5, 1.0]\ncancel = 0.25\nmodify = 0.25\n"
	}
	sc, err := configs.ParseScenario("paid.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// A relay is an operator who passes on what is posted.
type relay struct{}

type relayed struct {
	to agents.ID
	agents.Message
}

func (relay) Step(_ grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	if x, ok := m.(relayed); ok {
		out.Send(x.to, x.Message)
	}
}

// The costs of a broker's rows in jobs.csv add up to what it has paid, by its summary and by
// its account, whatever became of the legs; and all that a site has taken is in its rows.
func TestSimulate_JobsAddUpToWhatWasPaid(t *testing.T) {
	t.Parallel()
	sc := paidWorld(t)
	became := map[string]int{}
	for seed := range uint64(3) {
		w, err := newWorld(sc, seed, NewWorkloads(), Record{Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		c := report.NewCollector(w.header(seed), report.Options{Keep: true})
		w.sim.After(c.Hook)
		w.sim.Add("operator:olga", relay{})
		for day := range grid.Time(4) { // half of a site fails, once a day: its legs are repaired or lost
			at := day*grid.Time(grid.Day) + 10*grid.Time(grid.Hour)
			for i, site := range []string{"east", "north", "west"} {
				w.sim.Post(at, "operator:olga", relayed{siteID(site), agents.Maintenance{Name: fmt.Sprint("floor", day), Group: "main", Nodes: 8 + 8*i,
					Start: at.Add(grid.Hour), End: at.Add(3 * grid.Hour), Force: true}})
			}
		}
		w.sim.Run(grid.Time(sc.Until))
		rep, err := c.Finish(w.end(grid.Time(sc.Until)))
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := rep.WriteJobs(&file); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := func(name string) int { return slices.Index(rows[0], name) }
		paid, income := map[string]grid.Credits{}, map[string]grid.Credits{}
		for _, row := range rows[1:] {
			cost := credits(t, row[column("cost")])
			paid[row[column("broker")]] += cost
			income[row[column("site")]] += cost
			if row[column("kind")] == "vo" && row[column("site")] != "" {
				became[row[column("became")]]++
			}
		}
		for i := range rep.Summary.Brokers {
			b := &rep.Summary.Brokers[i]
			agent := w.brokers[brokerID(b.Name)]
			account := agent.Budget() - agent.Left()
			if paid[b.Name] != b.Spent || b.Spent != account || b.Spent == 0 {
				t.Errorf("seed %d: the rows of %s add up to %d, it spent %d, its account says %d", seed, b.Name, paid[b.Name], b.Spent, account)
			}
		}
		for i := range rep.Summary.Sites {
			if s := &rep.Summary.Sites[i]; income[s.Name] != s.Income.Total-s.Refunded {
				t.Errorf("seed %d: the rows at %s add up to %v, it took %v", seed, s.Name, income[s.Name], s.Income.Total-s.Refunded)
			}
		}
	}
	for _, word := range []string{"kept", "moved", "repaired", "given-up"} {
		if became[word] == 0 {
			t.Errorf("no leg is %s: %v", word, became)
		}
	}
}

// credits reads an amount that may be below 0.
func credits(t *testing.T, text string) grid.Credits {
	t.Helper()
	sign := grid.Credits(1)
	if text[0] == '-' {
		sign, text = -1, text[1:]
	}
	c, err := grid.ParseCredits(text)
	if err != nil {
		t.Fatal(err)
	}
	return sign * c
}
