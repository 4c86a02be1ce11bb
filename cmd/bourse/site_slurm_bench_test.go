package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/sites"
)

// printedSlurm writes commands that print what Slurm 22.05 has printed, with as many
// jobs in the queue and nodes. Each squeue leaves a line in a file of that name.
func printedSlurm(t testing.TB, jobs, nodes int) (folder, asked string) {
	t.Helper()
	folder = t.TempDir()
	asked = filepath.Join(folder, "asked")
	many := func(file, list string, n int, like int, each func(i int, x map[string]any)) {
		var all map[string]any
		text, err := os.ReadFile("../../cluster/slurm/testdata/22.05/" + file)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		one := all[list].([]any)[like].(map[string]any)
		var out []any
		for i := range n {
			x := maps.Clone(one)
			each(i, x)
			out = append(out, x)
		}
		all[list] = out
		if text, err = json.Marshal(all); err == nil {
			err = os.WriteFile(filepath.Join(folder, file), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	many("squeue.json", "jobs", jobs, 3, func(i int, x map[string]any) {
		x["job_id"], x["node_count"], x["time_limit"] = 5000+i, 1+i*7%64, 1+i*13%1440
	})
	many("sinfo.json", "nodes", nodes, 0, func(i int, x map[string]any) {
		x["name"], x["state"], x["alloc_cpus"] = fmt.Sprintf("n%04d", i), "idle", 0
	})
	for name, script := range map[string]string{
		"squeue":   "echo x >>" + asked + "; cat " + filepath.Join(folder, "squeue.json"),
		"sinfo":    "cat " + filepath.Join(folder, "sinfo.json"),
		"scontrol": "echo No reservations in the system",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return folder, asked
}

// The agents of a site beside Slurm, live, with 5,000 jobs in the queue of 1,000 nodes. A
// broker asks for offers again and again. The longest answer is the one for which the
// queue is planned anew, after a look. However often the broker asks, Slurm is asked no
// more often than stated.
func BenchmarkOffers_5000JobsWaitInSlurm(b *testing.B) {
	folder, asked := printedSlurm(b, 5000, 1000)
	h := live.NewHost(live.Options{})
	b.Cleanup(func() {
		if err := h.Stop(b.Context()); err != nil && b.Context().Err() == nil {
			b.Error(err)
		}
	})
	c := slurm.Commands{Folder: folder}
	d, err := slurm.New(slurm.Config{Commands: c, Partitions: []string{"batch"}, Holder: "mail", Folder: b.TempDir(), Now: h.Now})
	if err != nil {
		b.Fatal(err)
	}
	look, err := slurm.Look(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	groups, nodes, _, err := slurm.Groups(look, []string{"batch"}, []grid.Group{{Site: "north", Name: "batch", Nodes: 1000, Performance: grid.Unit, Price: grid.Price(grid.Credit)}})
	if err != nil || len(groups) != 1 || groups[0].Nodes != 1000 {
		b.Fatal(groups, err)
	}
	every := 5 * grid.Second
	backend := managed.New(managed.Config{Site: "north", Driver: "driver:north", Groups: groups, Nodes: nodes, Reserves: true, Prefix: "bourse.north.",
		Policy: backfill.EASY, Limits: managed.Limits{LookEvery: every}})
	err = h.AddDriver("driver:north", d)
	for id, a := range map[agents.ID]agents.Durable{
		"cluster:north": cluster.New(cluster.Config{Site: "site:north"}, backend),
		"site:north": sites.New(sites.Config{Name: "north", Cluster: "cluster:north", Groups: groups, VOShare: 1000, Span: grid.Day,
			Hold: grid.Minute, InDoubt: 15 * grid.Minute, MaxWork: 1000, Lead: 5 * grid.Second}),
	} {
		if err == nil {
			err = h.Add(id, a, &journal.Memory{}, journal.Options{})
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	offers := func() agents.Offers {
		m, err := h.Ask(b.Context(), "broker:vo1", "site:north", agents.OfferRequest{Cycle: 1, Horizon: h.Now().Add(30 * grid.Day)})
		if err != nil {
			b.Fatal(err)
		}
		return m.(agents.Offers)
	}
	for o := offers(); len(o.Groups) == 0 || len(o.Groups[0].Clear) < 2; o = offers() { // until the first look is there
		time.Sleep(time.Millisecond)
	}
	looks := func() int {
		text, _ := os.ReadFile(asked)
		return bytes.Count(text, []byte("x"))
	}
	worked := func() time.Duration { // of the processor, for all that this process does
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before, begun, longest, most := looks(), time.Now(), time.Duration(0), time.Duration(0)
	for b.Loop() {
		at, cpu := time.Now(), worked()
		if o := offers(); !strings.HasPrefix(o.Groups[0].Group.Name, "batch") {
			b.Fatal(o.Groups)
		}
		longest, most = max(longest, time.Since(at)), max(most, worked()-cpu)
	}
	n := looks() - before
	if most := 1 + int(time.Since(begun)/(time.Duration(every)*time.Millisecond)); n > most {
		b.Errorf("%d looks in %v, the most are %d", n, time.Since(begun), most)
	}
	b.ReportMetric(float64(n), "looks")
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest")
	b.ReportMetric(float64(most.Microseconds())/1000, "ms-cpu-most")
}
