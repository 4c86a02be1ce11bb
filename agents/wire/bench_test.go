package wire

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// offers is a site's answer with so many steps, half of them admissible.
func offers(steps int) agents.Offers {
	p := make(grid.Profile, steps/2)
	for i := range p {
		p[i] = grid.Step{At: grid.Time(1_790_000_000_000 + i*61_000), Free: (i * 37) % 512}
	}
	return agents.Offers{Cycle: 1, Now: 1_790_000_000_000, Groups: []agents.GroupOffer{{
		Group:      grid.Group{Site: "north", Name: "main", Nodes: 512, Performance: grid.Unit, Price: 1_000_000},
		Admissible: p, Clear: p}}}
}

func BenchmarkEncode_Offers1000Steps(b *testing.B) {
	m := offers(1000)
	size := 0
	for b.Loop() {
		e, err := Encode("site:north", "broker:vo1", m)
		if err != nil {
			b.Fatal(err)
		}
		bytes, err := Marshal(e)
		if err != nil {
			b.Fatal(err)
		}
		size = len(bytes)
	}
	b.ReportMetric(float64(size), "bytes/message")
}

func BenchmarkDecode_Offers1000Steps(b *testing.B) {
	e, _ := Encode("site:north", "broker:vo1", offers(1000))
	bytes, _ := Marshal(e)
	for b.Loop() {
		e, err := Unmarshal(bytes)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Decode(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkThereAndBack_Hold(b *testing.B) {
	m := agents.Hold{Leg: someLeg, What: someSpan, Job: "wave", User: "ana", Limit: 40 * grid.Credit, For: 30_000}
	for b.Loop() {
		if _, err := thereAndBack(m); err != nil {
			b.Fatal(err)
		}
	}
}
