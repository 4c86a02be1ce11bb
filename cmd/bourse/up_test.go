package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/client"
)

// TestMain lets this binary be bourse, for the processes that up starts.
func TestMain(m *testing.M) {
	if os.Getenv(federation.ChildMark) != "" {
		main()
	}
	debug.SetGCPercent(400) // simulations in small heaps: the collector takes a third of the time otherwise
	_ = os.Unsetenv("GOGC") // the processes that are started see to their collector themselves
	status := m.Run()
	if readersBuild != "" {
		_ = os.RemoveAll(readersBuild)
	}
	os.Exit(status)
}

// claims are the blocks of ports of this process: by test, and the listeners that hold them.
var claims = struct {
	mu   sync.Mutex
	at   map[int]int
	held []net.Listener
}{at: map[int]int{}}

// testPort is where test n begins to look for ports. It is the first of a block of 40 that
// is the test's until this process ends, whatever else of these tests runs on the machine:
// who listens at a block's last port has the block.
func testPort(n int) int {
	const first, size, blocks = 12_000, 40, (federation.MaxPort - 12_000) / 40
	claims.mu.Lock()
	defer claims.mu.Unlock()
	if port, found := claims.at[n]; found {
		return port
	}
	for i := range blocks {
		port := first + (os.Getpid()*50+n+i)%blocks*size
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", federation.Host, port+size-1))
		if err != nil {
			continue
		}
		claims.at[n], claims.held = port, append(claims.held, l)
		return port
	}
	panic("every block of ports is taken")
}

// runCommand runs a command until it ends.
func runCommand(ctx context.Context, args ...string) (out, messages string, err error) {
	var o, m bytes.Buffer
	root := newRoot()
	root.SetOut(&o)
	root.SetErr(&m)
	root.SetArgs(args)
	err = root.ExecuteContext(ctx)
	return o.String(), m.String(), err
}

func TestLayOut_MakesOnceWhatIsMissingAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fed")
	members, err := federation.LayOut(dir, 0, 0, testPort(0), federation.Simulated)
	if err != nil || len(members) != 4 || members[0].Role != "broker" || members[3].Name != "east" {
		t.Fatal(members, err)
	}
	read := func() map[string]string {
		all := map[string]string{}
		for _, pattern := range []string{"*/*.toml", "ca/*.pem", "ca/*.key"} {
			files, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, f := range files {
				text, _ := os.ReadFile(f)
				all[f] = string(text)
			}
		}
		return all
	}
	before := read()
	more, err := federation.LayOut(dir, 5, 0, testPort(0), federation.Simulated)
	if err != nil || len(more) != 6 {
		t.Fatal(more, err)
	}
	after := read()
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s has been written again", name)
		}
	}
	if again, err := federation.LayOut(dir, 0, 0, testPort(0), federation.Simulated); err != nil || len(again) != 6 {
		t.Errorf("without --sites: %v, %v; want the five that are there", again, err)
	}
	if fewer, err := federation.LayOut(dir, 2, 0, testPort(0), federation.Simulated); err != nil || len(fewer) != 3 {
		t.Errorf("with --sites 2: %v, %v", fewer, err)
	}
	seen := map[string]string{}
	for _, m := range more {
		if c, err := configs.Check(m.File); err != nil || c.Name != m.Name {
			t.Errorf("%s: %v, %v", m.File, c, err)
		}
		for _, a := range []string{m.Listen, m.HTTP} {
			if seen[a] != "" {
				t.Errorf("%s and %s have both %s", seen[a], m.Name, a)
			}
			seen[a] = m.Name
		}
	}
	c, err := client.Read(filepath.Join(dir, federation.ContextFile))
	if err != nil || c.Broker != "https://"+more[0].HTTP || len(c.Sites) != 2 {
		t.Errorf("%v, %+v", err, c)
	}
}

// Work really runs unless somebody has said otherwise, never as root, and what a folder
// has is not changed by a flag.
func TestLayOut_WorkRunsUnlessItIsSimulated(t *testing.T) {
	t.Parallel()
	as, err := federation.WorkAccount()
	if err != nil || as == "root" {
		t.Fatalf("%q, %v", as, err)
	}
	read := func(dir string, site int, kind string) *configs.SiteProcess {
		t.Helper()
		members, err := federation.LayOut(dir, site, 0, testPort(5), kind)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := configs.ReadSiteProcess(members[site].File)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	dir := filepath.Join(t.TempDir(), "local")
	if c := read(dir, 1, ""); c.Cluster.Kind != "local" || c.Workload != nil || !slices.EqualFunc(c.Accounts, []configs.Account{{User: "*", As: as}}, configs.Account.Same) {
		t.Errorf("%+v, %+v", c.Cluster, c.Accounts)
	}
	if _, err := federation.LayOut(dir, 2, 0, testPort(5), federation.Simulated); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("a folder of the other kind: %v", err)
	}
	dir = filepath.Join(t.TempDir(), "simulated")
	if c := read(dir, 1, federation.Simulated); c.Cluster.Kind != "simulated" || c.Workload == nil || c.Accounts != nil {
		t.Errorf("%+v, %+v", c.Cluster, c.Accounts)
	}
	if c := read(dir, 2, ""); c.Cluster.Kind != "simulated" {
		t.Errorf("one more beside simulated ones is %s", c.Cluster.Kind)
	}
	if _, _, err := runCommand(t.Context(), "up", "--cluster", "slurm", "--dir", dir); exitCode(err) != 2 {
		t.Errorf("--cluster slurm: %v", err)
	}
}

// output is what a command that runs on has written so far.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(b)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// startUp runs up in a folder that is laid out already, and returns once it is
// ready; stop ends it as Ctrl-C would and returns its error.
func startUp(t *testing.T, dir string) (stdout, stderr *written, stop func() error) {
	t.Helper()
	stdout, stderr = &written{}, &written{}
	root := newRoot()
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs([]string{"up", "--dir", dir, "--json"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := stop(); err != nil || t.Failed() {
			t.Logf("%v\n%s", err, stderr)
		}
	})
	eventually(t, 2*time.Minute, "ready", func() bool { return strings.HasSuffix(stdout.String(), "}\n") })
	return stdout, stderr, stop
}

// eventually waits until a condition holds.
func eventually(t *testing.T, most time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not %s within %v", what, most)
		}
	}
}

// Everything together: jobs are placed across processes that know each other by
// certificates, a killed agent comes back and has forgotten nothing, and the same folder
// goes on where it was.
func TestUp_PlacesJobsAndOutlivesAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	dir := t.TempDir()
	members, err := federation.LayOut(dir, 2, 0, testPort(1), federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	change(t, members[0].File, `cycle = "5s"`, `cycle = "1s"`)
	stdout, stderr, stop := startUp(t, dir)
	var said struct {
		Agents []struct {
			Agent string
			PID   int
		}
	}
	if err := json.Unmarshal([]byte(stdout.String()), &said); err != nil || len(said.Agents) != 3 || said.Agents[2].Agent != "site:south" {
		t.Fatalf("%v: %s", err, stdout)
	}
	if _, _, err := runCommand(t.Context(), "up", "--dir", dir); exitCode(err) != 1 || !strings.Contains(err.Error(), fmt.Sprintf("already running in %s, as process %d", dir, os.Getpid())) {
		t.Errorf("a second federation in one folder: %v", err)
	}
	batch := filepath.Join(dir, "batch.toml")
	submit := func(name string, nodes int) {
		t.Helper()
		text := fmt.Sprintf("[[job]]\nname = %q\nnodes = %d\nlength = \"1m\"\nmin_performance = 0.5\nmax_price = 9.0\n", name, nodes)
		if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if out, messages, err := runCommand(ctx, "submit", batch, "--wait", "--context", filepath.Join(dir, federation.ContextFile)); err != nil || !strings.Contains(out, "placed") {
			t.Fatalf("%s: %v\n%s%s", name, err, out, messages)
		}
	}
	submit("tide", 192) // all nodes of both sites
	for i := range said.Agents[:2] {
		child, err := os.FindProcess(said.Agents[i].PID)
		if err == nil {
			err = child.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 2*time.Minute, "started again", func() bool {
		return strings.Count(stderr.String(), "restarting it in") == 2 && strings.Count(stderr.String(), " INF ready") == 5
	})
	submit("wave", 140)
	if err := stop(); err != nil {
		t.Fatalf("stopped: %v", err)
	}
	out, _, err := runCommand(t.Context(), "journal", "verify", dir)
	if err != nil || !strings.Contains(out, "5 journals") || !strings.Contains(out, "2 committed") || !strings.Contains(out, "no invariant is broken") {
		t.Errorf("%v\n%s", err, out)
	}
	change(t, members[1].File, "nodes = 64", "nodes = 63") // the sizes are those on record, whatever a file says by now
	if out, _, err := runCommand(t.Context(), "journal", "verify", dir); err != nil || !strings.Contains(out, "no invariant is broken") {
		t.Errorf("with a node less in the file: exit %d\n%s", exitCode(err), out)
	}
	change(t, members[1].File, "nodes = 63", "nodes = 64")
	startUp(t, dir)
	out, _, err = runCommand(t.Context(), "jobs", "--context", filepath.Join(dir, federation.ContextFile))
	if err != nil || !strings.Contains(out, "tide") || !strings.Contains(out, "wave") {
		t.Errorf("after all: %v\n%s", err, out)
	}
}

// change replaces one line of a file.
func change(t *testing.T, file, old, now string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s: %v, has no %s", file, err, old)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte(old), []byte(now), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUp_OneThatFailsByItselfStopsAll(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	dir := t.TempDir()
	members, err := federation.LayOut(dir, 1, 0, testPort(2), federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", members[1].HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, messages, err := runCommand(ctx, "up", "--dir", dir)
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "site north ended by itself (exit status 1)") || out != "" {
		t.Errorf("exit %d, %v\n%s", exitCode(err), err, out)
	}
	if want := regexp.MustCompile(`north +bourse: the API cannot listen: listen tcp ` + members[1].HTTP + `: .*in use`); !want.MatchString(messages) {
		t.Errorf("no line of the child says why:\n%s", messages)
	}
}

func TestUp_BadUsageIsExit2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"up --sites 51", "--sites 51: must be 1 to 50"},
		{"up --sites -1", "--sites -1: must be 1 to 50"},
		{"up --port 60000", "--port 60000: must be 1 to 32000"},
		{"up north", "unknown command"},
		{"site", "accepts 1 arg"},
		{"site nothing.toml", "no such file"},
		{"broker nothing.toml", "no such file"},
	} {
		if _, _, err := runCommand(t.Context(), strings.Fields(c.args)...); exitCode(err) != 2 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: exit %d, %v; want %s", c.args, exitCode(err), err, c.want)
		}
	}
}

// The reason why a process cannot start is reported in one line, with exit status 1, before
// any other process hears of it.
func TestProcess_SaysWhatStandsInItsWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		spoil      func(t *testing.T, dir string, site federation.Member)
	}{
		{"another's certificate", "is the certificate of broker:vo1, but this is the process of site:north", func(t *testing.T, _ string, m federation.Member) {
			change(t, m.File, "site-north.pem", "broker-vo1.pem")
			change(t, m.File, "site-north.key", "broker-vo1.key")
		}},
		{"another VO", `is a certificate of the VO vo1, but gossip.vo is "vo2"`, func(t *testing.T, _ string, m federation.Member) {
			change(t, m.File, `vo = "vo1"`, `vo = "vo2"`)
		}},
		{"no certificate", "bourse ca issue makes it", func(t *testing.T, dir string, _ federation.Member) {
			if err := os.Remove(filepath.Join(dir, "ca", "site-north.pem")); err != nil {
				t.Fatal(err)
			}
		}},
		{"no gossip key", "gossip.key: no such file", func(t *testing.T, dir string, _ federation.Member) {
			if err := os.Remove(filepath.Join(dir, "ca", "gossip.key")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a journal in use", "is in use by process", func(t *testing.T, dir string, _ federation.Member) {
			folder, err := journal.OpenFolder(filepath.Join(dir, "site-north", "journal", "site-north"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = folder.Close() })
		}},
		{"another's journal", "is the journal of site:south, not of site:north", func(t *testing.T, dir string, _ federation.Member) {
			folder, err := journal.OpenFolder(filepath.Join(dir, "site-north", "journal", "site-north"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = folder.Close() }()
			if _, err := journal.Open(folder, journal.Options{Agent: agents.ID("site:south")}, nil); err != nil {
				t.Fatal(err)
			}
		}},
		{"the API's port taken", "the API cannot listen: listen tcp", func(t *testing.T, _ string, m federation.Member) {
			l, err := net.Listen("tcp", m.HTTP)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}},
		{"the agents' port taken", "in use", func(t *testing.T, _ string, m federation.Member) {
			l, err := net.Listen("tcp", m.Listen)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			members, err := federation.LayOut(dir, 1, 0, testPort(3), federation.Simulated)
			if err != nil {
				t.Fatal(err)
			}
			c.spoil(t, dir, members[1])
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			_, messages, err := runCommand(ctx, "site", members[1].File)
			if exitCode(err) != 1 || !strings.Contains(err.Error(), c.want) || strings.Contains(messages, `"ready"`) {
				t.Errorf("exit %d, %v; want %s\n%s", exitCode(err), err, c.want, messages)
			}
		})
	}
}

func TestUp_OfNoSitesIsRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	_, _, err := runCommand(t.Context(), "up", "--sites", "0", "--dir", dir)
	if exitCode(err) != 2 || !strings.Contains(err.Error(), "--sites 0: must be 1 to 50; leave it out for the sites that "+dir+" has, or 3") {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder is made all the same")
	}
}

// A number of 0 is no way to say the default.
func TestUp_RefusesNumbersOfNone(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"sites", "vos", "brokers", "replicas"} {
		if _, said, code := workloadCommand("up", "--dir", t.TempDir(), "--"+flag, "0", "--port", "0"); code != 2 || !strings.Contains(said, "--"+flag+" 0: must be 1") {
			t.Errorf("--%s 0: exit %d, %s", flag, code, said)
		}
	}
}
