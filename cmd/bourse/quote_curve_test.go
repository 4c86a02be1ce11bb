package main

import "testing"

// A site at noon with one job that runs until one, at half price from 22:00 to 6:00.
const nightSite = `name = "nights"
now = 43200
price_repeat = "1d"
[[group]]
name = "main"
nodes = 4
price = 1.0
[[price]]
from = "22h"
to = "30h"
factor = 0.5
[[running]]
job = "A"
nodes = 4
end = 46800
`

func TestQuote_TheBaseIsThatOfTheStart(t *testing.T) {
	t.Parallel()
	a, _ := quoteOf(t, nightSite, "--nodes", "2", "--duration", "4h")
	base := map[float64]float64{}
	for _, o := range a.Offers {
		base[o.Start/3600] = o.Base
	}
	for start, want := range map[float64]float64{12: 8, 13: 8, 18: 8, 22: 4, 26: 4, 30: 8} {
		if got, quoted := base[start]; !quoted || got != want {
			t.Errorf("at %v h the base is %v (quoted: %v), want %v", start, got, quoted, want)
		}
	}
	b, _ := quoteOf(t, nightSite, "--nodes", "2", "--duration", "4h", "--start", "20h")
	if len(b.Offers) != 1 || b.Offers[0].Base != 6 {
		t.Errorf("from 20 h on: %+v, want a base of 6", b.Offers)
	}
}

func TestQuote_ChoicesWeighTheWholePrice(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		flag, value string
		want        float64 // h
	}{
		{"--cheapest-before", "1d", 20}, {"--cheapest-before", "28h", 22}, {"--within", "7.9", 20}, {"--within", "8", 13}, {"--alpha", "1", 22}, {"--alpha", "0", 13},
	} {
		a, _ := quoteOf(t, nightSite, "--nodes", "2", "--duration", "4h", x.flag, x.value)
		if a.Chosen == nil || a.Chosen.Start != x.want*3600 {
			t.Errorf("%s %s chooses %+v, want %v h", x.flag, x.value, a.Chosen, x.want)
		}
	}
	a, _ := quoteOf(t, nightSite, "--nodes", "2", "--duration", "4h", "--pareto")
	if len(a.Offers) != 3 || a.Offers[0].Start != 13*3600 || a.Offers[1].Start != 20*3600 || a.Offers[2].Start != 22*3600 {
		t.Errorf("on the front are %+v, want 13 h, 20 h and 22 h", a.Offers)
	}
	if _, exit := quoteOf(t, nightSite, "--nodes", "2", "--duration", "4h", "--within", "3.9"); exit != 1 {
		t.Errorf("within 3.9 credits exits %d", exit)
	}
}
