package simulation

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// nights is a world of one site with half the price from 22:00 to 6:00, and of a VO whose
// jobs have two days and money enough; keys are the broker's.
func nights(t *testing.T, cheap bool, keys string) *configs.Scenario {
	t.Helper()
	factor := "1.0"
	if cheap {
		factor = "0.5"
	}
	sc, err := configs.ParseScenario("nights.toml", fmt.Appendf(nil, `until = "5d"
[[site]]
name = "north"
price_repeat = "1d"
[[site.price]]
from = "22h"
to = "30h"
factor = %s
[[site.group]]
name = "main"
nodes = 64
price = 2.0
[[broker]]
name = "vo1"
budget = 1e6
cycle = "1h"
horizon = "2d"
algorithm = "amp"
%s
[broker.workload]
model = "uniform"
jobs = 120
days = 3
nodes = [1, 4]
length = ["10m", "2h"]
deadline = "2d"
max_price = [1.0, 1.5]
`, factor, keys))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// byNight is the share of a VO's node-hours that lies in the cheap hours, what a node-hour
// has cost, and how many jobs were placed. Each leg must have cost what its hours do.
func byNight(t *testing.T, sc *configs.Scenario) (share float64, price grid.Credits, placed int) {
	t.Helper()
	s := &Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true}
	r, err := s.Run(1, Record{Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	var jobs bytes.Buffer
	if err := r.WriteJobs(&jobs); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&jobs).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var night, all int64
	g := &sc.Sites[0].Groups[0]
	isNight, err := grid.ParsePriceCurve("86400000/0:1000 21600000:0 79200000:1000") // 1 by night, 0 by day
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		if row[5] == "" || row[6] == "" {
			continue // it has not run
		}
		start, err1 := grid.ParseTime(row[5])
		end, err2 := grid.ParseTime(row[6])
		nodes, err3 := strconv.Atoi(row[7])
		cost, err4 := grid.ParseCredits(row[8])
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		if want := g.Cost(start, end).Times(nodes); cost != want {
			t.Errorf("%s on %d nodes over [%v, %v) has cost %v, by its hours %v", row[2], nodes, start, end, cost, want)
		}
		all += int64(end.Sub(start)) * int64(nodes)
		night += int64(grid.CostOver(grid.Price(grid.Hour), isNight, start, end).Times(nodes)) // milliseconds
	}
	b := &r.Summary.Brokers[0]
	return float64(night) / float64(all), b.CostNodeHour, b.Jobs.Placed
}

// Jobs that may wait move into the cheap hours where cost is what is minimised, and not
// where the end is; by value it depends on what an hour is worth to them. The price of a
// node-hour follows.
func TestSimulation_JobsMoveIntoTheCheapHours(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		cheap       bool
		keys        string
		least, most float64 // share by night
		price       float64 // of a node-hour, at most
	}{
		{true, `minimize = "cost"`, 0.95, 1, 1.05},
		{true, `minimize = "finish"`, 0.2, 0.5, 2},
		{true, "minimize = \"value\"\nurgency = 0", 0.95, 1, 1.05},
		{true, "minimize = \"value\"\nurgency = 0.2", 0.6, 0.95, 1.4},
		{true, "minimize = \"value\"\nurgency = 1000", 0.2, 0.5, 2},
		{false, `minimize = "cost"`, 0.2, 0.5, 2},
	} {
		t.Run(fmt.Sprint(x.cheap, " ", x.keys), func(t *testing.T) {
			t.Parallel()
			share, price, placed := byNight(t, nights(t, x.cheap, x.keys))
			t.Logf("%.3f by night, %v credits a node-hour, %d placed", share, price, placed)
			if share < x.least || share > x.most || price.Float() > x.price || placed < 115 {
				t.Errorf("%.3f by night, %v credits a node-hour, %d placed", share, price, placed)
			}
		})
	}
}
