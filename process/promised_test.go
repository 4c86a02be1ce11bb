package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// promisedJournals are those of a site that has promised four nodes to ana until 2100.
func promisedJournals(t *testing.T, dir string) {
	t.Helper()
	id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 1}}
	what := grid.Leg{Group: "main", Nodes: 4, Start: 4_000_000_000_000, End: 4_102_444_800_000}
	moved := func(s grid.LegState) agents.Fact {
		return facts.LegMoved{Leg: id, State: s, What: what, Job: "wave", User: "ana", Fare: grid.Fare{Base: 1}, Limit: 1}
	}
	for agent, list := range map[agents.ID][]agents.Fact{
		"site:north": {facts.LifeSeen{Broker: "vo1", Address: "broker:vo1", Incarnation: 1, Nonce: 7}, moved(grid.Held), moved(grid.Confirmed)},
		"cluster:north": {facts.WorkBegun{}, facts.NodesLocked{Leg: id, What: what, User: "ana", Job: "wave", Names: []string{"main-1", "main-2", "main-3", "main-4"}},
			facts.LockMoved{Leg: id, State: facts.LockConfirmed, Work: &grid.Handover{}}},
	} {
		disk, err := journal.OpenFolder((&process{cfg: &configs.Process{Journal: configs.Journal{Dir: dir}}}).folder(agent))
		if err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(disk, journal.Options{Agent: agent}, nil)
		for i, f := range list {
			if err == nil {
				err = j.Append(grid.Time(1_795_046_400_000+i), f)
			}
		}
		if err == nil {
			err = j.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = disk.Close()
	}
}

// A file with fewer nodes than are promised, or without the account of a leg's user, is refused
// before a start would refuse it; one that has them is not, nor one of a site without a journal.
func TestPromised_WhatAFileTakesAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "site.toml")
	local := "[cluster]\nkind = \"local\"\n[[account]]\nuser = \"ana\"\nas = \"games\"\n"
	read := func(change ...string) *configs.SiteProcess {
		t.Helper()
		text := strings.NewReplacer(change...).Replace(strings.Replace(reloadedFile, "[listen]", "[journal]\ndir = \"journal\"\n[listen]", 1))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := configs.ReadSiteProcess(file)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	if looked, err := Promised(read()); looked || err != nil {
		t.Errorf("without a journal: %t, %v", looked, err)
	}
	promisedJournals(t, filepath.Join(dir, "journal"))
	for name, c := range map[string]struct {
		change []string
		want   string
	}{
		"as it was":        {nil, ""},
		"more nodes":       {[]string{"nodes = 4", "nodes = 6"}, ""},
		"fewer nodes":      {[]string{"nodes = 4", "nodes = 3"}, "promised to legs (1), the first vo1/1/1.0 (job wave of ana, 4 nodes of main until 2100-01-01T00:00:00Z)"},
		"another group":    {[]string{`"main"`, `"other"`}, "promised to legs (1)"},
		"real nodes":       {[]string{"[listen]", local + "[listen]"}, ""},
		"fewer real nodes": {[]string{"[listen]", local + "[listen]", "nodes = 4", "nodes = 3"}, "promised to legs (1)"},
		"no account":       {[]string{"[listen]", strings.Replace(local, "ana", "ben", 1) + "[listen]"}, "put the file back as it was"},
	} {
		looked, err := Promised(read(c.change...))
		if !looked || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %t, %v; want %q", name, looked, err, c.want)
		}
	}
}
