package web

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

func TestOffer_TellsHowThePriceChanges(t *testing.T) {
	t.Parallel()
	curve, err := grid.ParsePriceCurve("86400000/0:500 21600000:1000 79200000:500")
	if err != nil {
		t.Fatal(err)
	}
	g := &agents.GroupOffer{Group: grid.Group{Name: "main", Nodes: 4, Performance: grid.Unit, Price: 2_000_000, Curve: curve},
		Admissible: grid.NewProfile(0, 4), Clear: grid.NewProfile(0, 4)}
	noon := grid.Time(12 * grid.Hour)
	o := offerOf("north", noon, g)
	if o.Price.Price != 2_000_000 || len(o.Prices) != maxPrices {
		t.Fatalf("at noon it costs %v, with %d changes", o.Price, len(o.Prices))
	}
	if p := o.Prices[0]; grid.Time(p.From) != 22*grid.Time(grid.Hour) || p.Price.Price != 1_000_000 {
		t.Errorf("the first change is %+v", p)
	}
	if x := groupOf(g, 0); x.Price.Price != 1_000_000 {
		t.Errorf("at midnight it costs %v", x.Price)
	}
	if g.Group.Curve = nil; offerOf("north", noon, g).Prices != nil || groupOf(g, 0).Price.Price != 2_000_000 {
		t.Error("without a curve it changes")
	}
}
