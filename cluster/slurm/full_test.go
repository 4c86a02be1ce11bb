package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// On a full disk a pilot is not submitted, keeps what it was granted, and is not told to go by half:
// the machine's words say why. With room again all goes on.
func TestAfar_AFullDisk(t *testing.T) {
	t.Parallel()
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	d, folder, fake := newShell(t, func(cfg *Config) { cfg.Folder = filepath.Join(disk, "work") })
	d.Offer(map[string]Offer{"batch": {Partition: "batch"}})
	ballast := filepath.Join(disk, "ballast")
	fill := func() {
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.Write(make([]byte, 1<<12))
		}
		_ = f.Close()
	}
	empty := func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
	full := func(m agents.Command) {
		t.Helper()
		fill()
		defer empty()
		if outcome, why := d.ask(t, m); outcome == agents.Done || !strings.Contains(why.String(), "No space left on device") {
			t.Errorf("%s is %s: %v", m.Verb, outcome, why)
		}
	}
	done := func(m agents.Command) {
		t.Helper()
		if outcome, why := d.ask(t, m); outcome != agents.Done {
			t.Errorf("%s is %s: %v", m.Verb, outcome, why)
		}
	}
	p, w := "bourse.north.aa", "bourse.north.bb"
	claim := agents.Command{Verb: agents.Claim, Name: p, Group: "batch", Count: 2, Limit: grid.Hour, Granted: 90 * grid.Second, User: d.afar.who.name}
	full(claim)
	if left, _ := filepath.Glob(filepath.Join(folder, "*"+p+"*")); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
	if _, err := os.Stat(filepath.Join(fake, "submitted")); err == nil {
		t.Error("it is submitted without its folder")
	}
	done(claim)
	for file, text := range map[string]string{filepath.Join(fake, "named"): "7\n", filepath.Join(folder, p, "begun"): "job=7\nbegin=1800000010\nnodes=c1n[1-2]\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grant := agents.Command{Verb: agents.Grant, Name: p, Granted: 150 * grid.Second}
	full(grant)
	if got := string(must(os.ReadFile(filepath.Join(folder, p, "grant")))); got != "grant=90\n" {
		t.Errorf("it is granted %q", got)
	}
	done(grant)
	if got := string(must(os.ReadFile(filepath.Join(folder, p, "grant")))); got != "grant=150\n" {
		t.Errorf("it is granted %q", got)
	}
	run := agents.Command{Verb: agents.Run, Name: w, In: p, Start: 1_800_000_100_500, End: 1_800_003_000_000, Nodes: []string{"c1n1"}, User: "ana", Site: "north",
		Work: &grid.Handover{Job: "7", Legs: 1, Work: grid.Work{Script: "#!/bin/sh\n" + strings.Repeat("# long\n", 9000)}}}
	full(run)
	for _, left := range []string{filepath.Join(folder, p, "go"), filepath.Join(folder, p, "decided"), filepath.Join(folder, w)} {
		if _, err := os.Stat(left); err == nil {
			t.Errorf("%s is there", left)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, p, "going"), nil, 0o600); err != nil { // the pilot sees the word to go
		t.Fatal(err)
	}
	done(run)
}
