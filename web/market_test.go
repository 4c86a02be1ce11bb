package web

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

func TestOffer_TellsHowThePriceChanges(t *testing.T) {
	t.Parallel()
	curve, err := bourse.ParsePriceCurve("86400000/0:500 21600000:1000 79200000:500")
	if err != nil {
		t.Fatal(err)
	}
	g := &agents.GroupOffer{Group: bourse.Group{Name: "main", Nodes: 4, Performance: bourse.Unit, Price: 2_000_000, Curve: curve},
		Admissible: bourse.NewProfile(0, 4), Clear: bourse.NewProfile(0, 4)}
	noon := bourse.Time(12 * bourse.Hour)
	o := offerOf("north", noon, g)
	if o.Price.Price != 2_000_000 || len(o.Prices) != maxPrices {
		t.Fatalf("at noon it costs %v, with %d changes", o.Price, len(o.Prices))
	}
	if p := o.Prices[0]; bourse.Time(p.From) != 22*bourse.Time(bourse.Hour) || p.Price.Price != 1_000_000 {
		t.Errorf("the first change is %+v", p)
	}
	if x := groupOf(g, 0); x.Price.Price != 1_000_000 {
		t.Errorf("at midnight it costs %v", x.Price)
	}
	if g.Group.Curve = nil; offerOf("north", noon, g).Prices != nil || groupOf(g, 0).Price.Price != 2_000_000 {
		t.Error("without a curve it changes")
	}
}
