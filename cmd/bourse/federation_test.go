package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// federation is a broker, two sites of 16 nodes and their clusters in one
// process, in real time, with the broker's API and a context file that leads to
// it. Everybody is its operator.
type servedFederation struct {
	dir     string
	context string
}

func newFederation(t *testing.T) *servedFederation {
	t.Helper()
	h := live.NewHost(live.Options{})
	on := func(disk journal.Disk, id agents.ID, a agents.Durable) {
		if err := h.Add(id, a, disk, journal.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	add := func(id agents.ID, a agents.Durable) { on(&journal.Memory{}, id, a) }
	cfg := broker.ServiceDefaults("vo1")
	cfg.Lead, cfg.BatchSize, cfg.Budget, cfg.Minimize = 5*grid.Second, 1, 10_000*grid.Credit, grid.GoalFinish
	for _, name := range []string{"north", "south"} {
		id, clusterID := agents.ID("site:"+name), agents.ID("cluster:"+name)
		groups := []grid.Group{{Site: name, Name: "main", Nodes: 16, Performance: grid.Unit, Price: grid.Price(grid.Credit)}}
		add(clusterID, cluster.New(cluster.Config{Site: id}, queue.NewBackend(groups, []queue.Options{{Nodes: 16}}, nil)))
		add(id, sites.New(sites.Config{Name: name, Cluster: clusterID, Groups: groups, VOShare: 1000, Span: grid.Day,
			Hold: grid.Minute, InDoubt: 15 * grid.Minute, MaxWork: 1000, Lead: 5 * grid.Second}))
		cfg.Sites = append(cfg.Sites, id)
	}
	folder := filepath.Join(t.TempDir(), "broker-vo1")
	disk, err := journal.OpenFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	on(disk, "broker:vo1", broker.New(cfg))
	answers, err := web.NewBroker(web.Options{Host: h, Agent: "broker:vo1", Identify: web.Anybody, Statements: process.Statements(cfg, folder),
		Explain: func(_ context.Context, job string, _ grid.Time) (string, any, error) {
			return "because of " + job, map[string]string{"job": job}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(answers.Handler())
	north, err := web.NewSite(web.Options{Host: h, Agent: "site:north", Identify: web.Anybody})
	if err != nil {
		t.Fatal(err)
	}
	atNorth := httptest.NewServer(north.Handler())
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
		defer stop()
		answers.Close(ctx)
		north.Close(ctx)
		server.Close()
		atNorth.Close()
		if err := h.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	f := &servedFederation{dir: t.TempDir()}
	f.context = filepath.Join(f.dir, "context.json")
	if err := (&client.Context{Broker: server.URL, Sites: map[string]string{"north": atNorth.URL}}).Write(f.context); err != nil {
		t.Fatal(err)
	}
	return f
}

// run runs a command in the federation. DIR is replaced by its folder.
func (f *servedFederation) run(args ...string) (out, messages string, err error) {
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "DIR", f.dir)
	}
	root := newRoot()
	var o, m bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&m)
	root.SetArgs(append(args, "--context", f.context))
	err = root.Execute()
	return o.String(), m.String(), err
}

func (f *servedFederation) file(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const twoJobs = `[[job]]
name = "wave"
nodes = 4
length = "1h"
budget = 50.0
deadline = "1d"
[[job]]
name = "wide"
nodes = 24
length = "30m"
max_price = 2.0
`

func TestSubmit_WaitsUntilJobsArePlacedAndListsThem(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.file(t, "two.toml", twoJobs)
	out, messages, err := f.run("submit", "DIR/two.toml", "--wait", "--id", "batch-0001")
	if err != nil || !strings.Contains(messages, "batch batch-0001\n") || strings.Count(out, " placed ") != 2 || !strings.Contains(out, "north,south") {
		t.Fatalf("%v\n%s%s", err, out, messages)
	}
	for _, line := range strings.Split(out, "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("a line of %d letters: %s", n, line)
		}
	}
	if again, _, err := f.run("submit", "DIR/two.toml", "--id", "batch-0001"); err != nil || strings.Count(again, "\n") != 2 || !strings.Contains(out, strings.Fields(again)[0]) {
		t.Errorf("the same batch again: %v, %s", err, again)
	}
	f.file(t, "two.toml", strings.Replace(twoJobs, "nodes = 4", "nodes = 5", 1))
	if _, _, err := f.run("submit", "DIR/two.toml", "--id", "batch-0001"); exitCode(err) != 1 || !strings.Contains(err.Error(), "different content") {
		t.Errorf("other content: %v", err)
	}

	out, _, err = f.run("jobs", "wave")
	for _, want := range []string{"state      placed", "4 nodes, 1h at performance 1", "cost       4.00 credits", "confirmed", "(in "} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("jobs wave: %v, want %q in\n%s", err, want, out)
		}
	}
	var list api.JobList
	out, _, err = f.run("jobs", "--json", "--state", "open")
	if json.Unmarshal([]byte(out), &list) != nil || err != nil || len(list.Jobs) != 2 || len(list.Jobs[0].Legs)+len(list.Jobs[1].Legs) != 3 {
		t.Errorf("jobs --json: %v, %s", err, out)
	}
	for command, want := range map[string]string{"sites": "usable", "offers": "clear", "reservations": "confirmed", "accounts": "VO vo1", "explain wave": "because of wave-"} {
		out, _, err := f.run(strings.Fields(command)...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, want %q in\n%s", command, err, want, out)
		}
		for _, line := range strings.Split(out, "\n") {
			if n := len([]rune(line)); n > 100 {
				t.Errorf("%s: a line of %d letters: %s", command, n, line)
			}
		}
	}
	out, _, err = f.run("cancel", "wave")
	if err != nil || !strings.Contains(out, "credits are refunded") {
		t.Errorf("cancel: %v, %s", err, out)
	}
	if _, _, err := f.run("jobs", "wave", "--follow"); exitCode(err) != 1 || !strings.Contains(err.Error(), "is withdrawn") {
		t.Errorf("following a job that is withdrawn: %v", err)
	}
}

func TestSubmit_ExitsWithOneWhenAJobIsGivenUp(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.file(t, "huge.toml", strings.Replace(twoJobs, "nodes = 24", "nodes = 2400", 1))
	out, _, err := f.run("submit", "DIR/huge.toml", "--wait")
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "1 of 2 jobs abandoned or withdrawn") || !strings.Contains(out, "abandoned") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A job that is not taken is counted, and so are those that are.
func TestSubmit_CountsTheJobsThatWereNotTaken(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.file(t, "two.toml", twoJobs+"after = [\"nobody\"]\n")
	if _, _, err := f.run("submit", "DIR/two.toml", "--id", "batch-0001"); exitCode(err) != 1 || !strings.Contains(err.Error(), "1 of 2 jobs were not accepted; repeat the command with --id batch-0001 to try it again") {
		t.Error(err)
	}
	f.file(t, "wide.toml", strings.Replace(twoJobs, "nodes = 24", "nodes = 2400", 1))
	_, _, err := f.run("submit", "DIR/wide.toml", "--id", "batch-0002")
	for n := 3; err == nil && n < 1000; n++ { // the broker has not heard yet how large its sites are
		_, _, err = f.run("submit", "DIR/wide.toml", "--id", fmt.Sprintf("batch-%04d", n))
	}
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "1 of 2 jobs were not accepted; change what is said above, and submit it anew") {
		t.Error(err)
	}
}

// When the time of --wait is over, the jobs are shown as they stand.
func TestSubmit_WhatItHasWaitedForIsShownWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.file(t, "tide.toml", "[[job]]\nname = \"tide\"\nnodes = 24\nlength = \"30m\"\nmax_price = 2.0\n")
	if out, _, err := f.run("submit", "DIR/tide.toml", "--wait"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	waits := strings.NewReplacer("nodes = 4", "nodes = 20", `"1d"`, `"70m"`, "nodes = 24", "nodes = 8") // until its deadline, unless tide is withdrawn
	f.file(t, "two.toml", waits.Replace(twoJobs))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	root, out := newRoot(), &bytes.Buffer{}
	root.SetOut(out)
	root.SetErr(writing(func(b []byte) {
		if bytes.Contains(b, []byte("1 of 2 placed; waiting for wave")) {
			stop()
		}
	}))
	root.SetArgs([]string{"submit", filepath.Join(f.dir, "two.toml"), "--wait", "--context", f.context})
	if err := root.ExecuteContext(ctx); exitCode(err) != 1 || !strings.Contains(out.String(), "waiting") || !strings.Contains(out.String(), "placed") {
		t.Errorf("%v\n%s", err, out)
	}
}

// writing is a writer that is a function.
type writing func([]byte)

func (w writing) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

func TestSubmit_ErrorsNameFileLineAndKey(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.file(t, "bad.toml", strings.Replace(twoJobs, "nodes = 24", "nodes = 0", 1))
	f.file(t, "log.swf", "1 0 0 60 2 -1 -1 2 120 -1 1 1 1 -1 -1 -1 -1 -1\n2 600 0 60 2 -1 -1 2 120 -1 1 1 1 -1 -1 -1 -1 -1\n")
	for _, c := range []struct{ args, want string }{
		{"submit DIR/bad.toml", "bad.toml:9: job.nodes"},
		{"submit DIR/none.toml", "no such file"},
		{"submit DIR/log.swf", "--max-price"},
		{"submit DIR/log.swf --max-price dear", "--max-price"},
		{"submit DIR/log.swf --max-price 2 --max-jobs 0", "--max-jobs"},
		{"submit", "a batch file, a script or a trace"},
		{"submit DIR/bad.toml --wait=soon", "must be placed or done"},
		{"jobs --most 0", "--most"},
		{"jobs --state odd", "state"},
	} {
		_, _, err := f.run(strings.Fields(c.args)...)
		if exitCode(err) != 2 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: exit %d, %v; want %q", c.args, exitCode(err), err, c.want)
		}
	}
}

func TestSubmit_TakesTheFirstJobsOfATrace(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.file(t, "log.swf", "1 100 0 60 2 -1 -1 2 120 -1 1 1 1 -1 -1 -1 -1 -1\n2 700 0 60 3 -1 -1 2 120 -1 1 1 1 -1 -1 -1 -1 -1\n3 800 0 60 3 -1 -1 2 120 -1 1 1 1 -1 -1 -1 -1 -1\n")
	out, _, err := f.run("submit", "DIR/log.swf", "--max-price", "2.5", "--max-jobs", "2", "--wait", "--json")
	var a struct {
		api.BatchAnswer
		State []api.Job
	}
	if err != nil || json.Unmarshal([]byte(out), &a) != nil || len(a.State) != 2 {
		t.Fatalf("%v\n%s", err, out)
	}
	second, first := a.State[0], a.State[1]
	if first.Name > second.Name {
		first, second = second, first
	}
	if first.Name != "job1" || second.Name != "job2" || second.Nodes != 3 || second.Length.Duration != 120*grid.Second || second.Ready != first.Ready+600_000 || second.Start < second.Ready {
		t.Errorf("%+v\n%+v", first, second)
	}
}

func TestCalls_SayWhatToDoWhereThereIsNoFederation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "context.json")
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	if err := (&client.Context{Broker: closed.URL}).Write(file); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		exit int
		want string
	}{
		{file, 1, "is it running?"},
		{filepath.Join(dir, "none.json"), 2, "none.json"},
	} {
		f := &servedFederation{dir: dir, context: c.file}
		_, _, err := f.run("sites")
		if exitCode(err) != c.exit || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: exit %d, %v", c.file, exitCode(err), err)
		}
	}
	if err := os.WriteFile(file, []byte(`{"brokers": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(file); err == nil || !strings.Contains(err.Error(), "not a context file") {
		t.Error(err)
	}
	if _, err := client.Read(dir + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestOperators_DrainMaintainCloseAndOpenASite(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	for _, c := range []struct {
		args string
		exit int
		want string
	}{
		{"sites north", 0, "north accepts new legs; 0 legs hold nodes"},
		{"drain north --until 2h --why switch", 0, "accepts nothing new until 20"},
		{"drain north --resume", 0, "accepts new legs"},
		{"close north --vo vo2 --user ben", 0, "closed to user ben of VO vo2"},
		{"open north --vo vo2 --user ben", 0, "accepts new legs; 0 legs hold nodes\n\ngroup"},
		{"maintenance north disks --group main --nodes 4 --start 1h --end 3h", 0, "maintenance disks: 4 nodes of main, "},
		{"maintenance north disks --group main --nodes 5 --start 1h --end 3h", 1, "is set already"},
		{"maintenance north disks --cancel", 0, "accepts new legs; 0 legs hold nodes\n\ngroup"},
		{"reservations --at north", 0, "No open reservations."},
		{"maintenance north disks", 2, "--group and --end"},
		{"close north", 2, "--vo, --user or both"},
		{"drain north --until soon", 2, "must be a span from now"},
		{"drain west", 2, "there are north"},
		{"drain", 0, "nothing is planned"},
	} {
		out, _, err := f.run(strings.Fields(c.args)...)
		if err != nil {
			out += err.Error()
		}
		if exitCode(err) != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d, %s; want %q", c.args, exitCode(err), out, c.want)
		}
	}
}
