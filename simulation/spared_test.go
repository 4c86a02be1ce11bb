package simulation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// outcome is the result of a world: its facts, if they are kept, its summary, and how many
// steps it took.
func outcome(t *testing.T, sc *configs.Scenario, seed uint64, events bool, rec Record) (string, uint64) {
	t.Helper()
	var facts, summary bytes.Buffer
	if events {
		rec.Events = &facts
	}
	w, err := newWorld(sc, seed, NewWorkloads(), rec)
	if err != nil {
		t.Fatal(err)
	}
	c := report.NewCollector(w.header(seed), report.Options{Events: rec.Events})
	w.sim.After(c.Hook)
	w.sim.Run(grid.Time(sc.Until))
	r, err := c.Finish(w.end(grid.Time(sc.Until)))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteSummary(&summary); err != nil {
		t.Fatal(err)
	}
	return summary.String() + facts.String(), w.sim.Steps()
}

// The work that is spared in a world without latency, and in one that only needs sums,
// changes nothing: its plain twins, whose agents expect lost messages or do everything at
// its instant, have the same outcome.
func TestSimulation_WhatIsSparedDoesNotMatter(t *testing.T) {
	t.Parallel()
	worlds := thorough.Count(6, 3)
	if testing.Short() {
		worlds = 3
	}
	texts := []string{
		strings.NewReplacer("2d", "4h", "jobs = 4000", "jobs = 750").Replace(voOverload(4, 50)),
		strings.NewReplacer("4d", "1d", "days = 3", "days = 1").Replace(manySites(20, 5)),
	}
	texts = texts[:thorough.Count(2, 1)]
	for seed := range uint64(worlds) {
		texts = append(texts, randomScenario(rand.New(rand.NewPCG(seed, 2))))
	}
	var steps, lossy, sums, prompt uint64
	for i, text := range texts {
		sc, err := configs.ParseScenario(fmt.Sprintf("world-%d.toml", i), []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		compare := func(events bool, plain Record, fast, slow *uint64) {
			one, n := outcome(t, sc, uint64(i), events, Record{})
			two, m := outcome(t, sc, uint64(i), events, plain)
			if *fast, *slow = *fast+n, *slow+m; one != two {
				t.Fatalf("world %d differs:\n%s", i, text)
			}
		}
		compare(true, Record{lossy: true}, &steps, &lossy)
		compare(false, Record{prompt: true}, &sums, &prompt)
	}
	if !thorough.Check() {
		return // the second world spares most
	}
	if 10*steps > 9*lossy || 20*sums > 19*prompt {
		t.Errorf("%d steps where nothing is lost, %d of the twin; %d where only sums are wanted, %d of the twin", steps, lossy, sums, prompt)
	}
}
