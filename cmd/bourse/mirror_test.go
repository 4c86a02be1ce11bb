package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/api"
)

// agentProcess is a process of this binary.
type agentProcess struct {
	cmd  *exec.Cmd
	log  written
	done chan struct{} // closed when it has ended
}

func startAgent(t *testing.T, args ...string) *agentProcess {
	t.Helper()
	p := &agentProcess{cmd: exec.Command(os.Args[0], args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), federation.ChildMark+"=1")
	p.cmd.Stderr = &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // what it was killed by; the log says the rest
	}()
	t.Cleanup(func() {
		p.end(t, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("%v:\n%s", args, p.log.String())
		}
	})
	return p
}

func (p *agentProcess) ready(t *testing.T) {
	t.Helper()
	eventually(t, 2*time.Minute, "ready", func() bool { return strings.Contains(p.log.String(), `"message":"ready"`) })
}

func (p *agentProcess) end(t *testing.T, by syscall.Signal) {
	t.Helper()
	_ = p.cmd.Process.Signal(by) // it may have ended
	select {
	case <-p.done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("not ended by %v", by)
	}
}

// A site is killed and its disk lost. Restored by one command from the host that keeps
// its journals, it knows all its legs and what it was paid, no broker notices that
// anything was lost, and the old disk is refused should it turn up.
func TestMirror_ASiteWhoseDiskIsLostComesBackWithAllThatItHasAnswered(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	dir := t.TempDir()
	port := testPort(14)
	members, err := federation.LayOut(dir, 2, 0, port, federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := federation.OpenAuthority(filepath.Join(dir, federation.CaFolder), federation.VO)
	if err != nil {
		t.Fatal(err)
	}
	if err := federation.Issue(ca, certificate.Mirror, "vault", federation.Host); err != nil {
		t.Fatal(err)
	}
	vault := fmt.Sprintf("%s:%d", federation.Host, port+19)
	north := members[1].File
	change(t, members[0].File, `cycle = "5s"`, `cycle = "1s"`)
	change(t, north, `dir = "journal"`, fmt.Sprintf("dir = \"journal\"\nmirror = %q\nmirror_required = true", vault))

	startAgent(t, "journal", "keep", filepath.Join(dir, "vault"), "--listen", vault, "--certificate", filepath.Join(dir, federation.CaFolder, "mirror-vault.pem")).ready(t)
	broker, south := startAgent(t, "broker", members[0].File), startAgent(t, "site", members[2].File)
	site := startAgent(t, "site", north)
	for _, p := range []*agentProcess{broker, south, site} {
		p.ready(t)
	}
	use := filepath.Join(dir, federation.ContextFile)
	submit := func(name string, nodes int) {
		t.Helper()
		batch := filepath.Join(dir, name+".toml")
		text := fmt.Sprintf("[[job]]\nname = %q\nnodes = %d\nlength = \"30m\"\nmin_performance = 0.5\nmax_price = 9.0\n", name, nodes)
		if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if out, messages, err := runCommand(ctx, "submit", batch, "--wait", "--context", use); err != nil || !strings.Contains(out, "placed") {
			t.Fatalf("%s: %v\n%s%s", name, err, out, messages)
		}
	}
	state := func() (s api.SiteState) {
		t.Helper()
		out, _, err := runCommand(t.Context(), "sites", "north", "--json", "--context", use)
		if err == nil {
			err = json.Unmarshal([]byte(out), &s)
		}
		if err != nil || s.Mirror == nil || !s.Mirror.Current || s.Mirror.Place != vault {
			t.Fatalf("%v: %s", err, out)
		}
		return s
	}
	submit("tide", 192) // all nodes of both sites
	before := state()
	site.end(t, syscall.SIGKILL)
	journals, lost := filepath.Join(filepath.Dir(north), "journal"), filepath.Join(dir, "lost")
	if err := os.Rename(journals, lost); err != nil {
		t.Fatal(err)
	}

	empty := startAgent(t, "site", north)
	if <-empty.done; !strings.Contains(empty.log.String(), "bourse journal restore") {
		t.Errorf("without its journal it begins: %s", empty.log.String())
	}
	if err := os.RemoveAll(journals); err != nil {
		t.Fatal(err)
	}
	out, _, err := runCommand(t.Context(), "journal", "restore", "--config", north)
	if err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, "site:north: ") || !strings.Contains(out, "cluster:north: ") {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, _, err := runCommand(t.Context(), "journal", "restore", "--config", north); exitCode(err) != 1 || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over what there is: %v", err)
	}
	site = startAgent(t, "site", north)
	site.ready(t)
	if after := state(); after.Open != before.Open || after.Kept != before.Kept || !slices.Equal(after.Brokers, before.Brokers) || before.Open == 0 {
		t.Errorf("before: %+v\nafter: %+v", before, after)
	}
	submit("wave", 192)
	site.end(t, syscall.SIGTERM)

	if err := os.Rename(journals, filepath.Join(dir, "restored")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(lost, journals); err != nil {
		t.Fatal(err)
	}
	old := startAgent(t, "site", north)
	if <-old.done; !strings.Contains(old.log.String(), "restored elsewhere") {
		t.Errorf("the old disk begins beside the restored one: %s", old.log.String())
	}
	for _, p := range []*agentProcess{broker, south} {
		p.end(t, syscall.SIGTERM)
	}
	if err := os.RemoveAll(journals); err != nil {
		t.Fatal(err)
	}
	brokers := filepath.Dir(members[0].File)
	all := []string{"journal", "verify", filepath.Join(dir, "restored"), brokers, filepath.Dir(members[2].File)}
	if out, _, err := runCommand(t.Context(), all...); err != nil || !strings.Contains(out, "2 committed") || !strings.Contains(out, "no invariant is broken") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err := runCommand(t.Context(), "journal", "show", brokers, "--kind", "amnesia"); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("the broker finds that something was forgotten: %v\n%s", err, out)
	}
}
