package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/web"
)

func BenchmarkPrintJobs_520(b *testing.B) {
	list := make([]web.Job, 520)
	for i := range list {
		list[i] = web.Job{ID: fmt.Sprintf("somebody/batch-%08d/a-job-of-many-%d", i, i), User: []string{"ana", "bob"}[i%2], State: "waiting", Nodes: i, Sites: []string{"north", "south"}}
	}
	for b.Loop() {
		printJobs(io.Discard, list, time.Now())
	}
}
