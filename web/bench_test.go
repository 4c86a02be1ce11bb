package web

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// crowd is a world whose broker keeps n waiting jobs of a hundred users.
func crowd(b *testing.B, n int) (*worldHost, *Server) {
	b.Helper()
	h := newWorldHost()
	cfg := broker.Defaults("vo1")
	cfg.MaxQueue, cfg.BatchSize = 1<<30, 1<<30
	h.add("broker:vo1", broker.New(cfg))
	h.w.Run(h.w.Now())
	for i := range n {
		j := grid.Job{Name: fmt.Sprintf("job%d-abcdefgh", i), User: fmt.Sprintf("user%d", i%100)}
		j.Nodes, j.Length, j.MinPerformance, j.Budget = 4, grid.Hour, grid.Unit, 50*grid.Credit
		j.Origin = grid.Origin{Batch: fmt.Sprintf("batch-%d", i/100), Label: fmt.Sprintf("job%d", i), Digest: "0123456789abcdef"}
		h.w.Post(h.w.Now(), "broker:vo1", agents.Submit{Job: j})
	}
	h.w.Run(h.w.Now())
	s, err := NewBroker(Options{Host: h, Agent: "broker:vo1", Identify: byHeader})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close(b.Context()) })
	return h, s
}

func BenchmarkJobs_PageOf100Of100000(b *testing.B) {
	for _, c := range []struct{ name, who, query string }{
		{"newest", olga, "limit=100"}, {"user", "user:user7", "limit=100"}, {"batch", olga, "batch=batch-3"}, {"rare-state", olga, "state=done"},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, s := crowd(b, 100_000)
			for b.Loop() {
				r := httptest.NewRequest("GET", "/v1/jobs?"+c.query, nil)
				r.Header.Set("Test-Caller", c.who)
				w := httptest.NewRecorder()
				s.Handler().ServeHTTP(w, r)
				if w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}

func BenchmarkSubmit_1000Jobs(b *testing.B) {
	_, s := crowd(b, 0)
	n := 0
	for b.Loop() {
		n++
		batch := api.Batch{ID: fmt.Sprintf("batch-%06d", n)}
		for i := range 1000 {
			batch.Jobs = append(batch.Jobs, job(fmt.Sprintf("j%d", i)))
		}
		text, _ := json.Marshal(batch)
		r := httptest.NewRequest("POST", "/v1/batches", strings.NewReader(string(text)))
		r.Header.Set("Test-Caller", ana)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// The memory that the index of a million jobs takes.
func BenchmarkCatalogue_BytesOfAJob(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := newCatalogue()
		for i := range n {
			c.add(&grid.Job{Name: fmt.Sprintf("job%d-abcdefgh", i), User: "ana", Origin: grid.Origin{Batch: fmt.Sprintf("batch-%d", i/100), Label: fmt.Sprintf("job%d", i)}})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/job")
		runtime.KeepAlive(c)
	}
}
