//go:build linux

package drill

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/client"
)

var (
	long    = flag.Bool("drill.long", false, "run the long forms")
	seed    = flag.Uint64("drill.seed", 1, "draws jobs and moments")
	speed   = flag.Bool("drill.speed", false, "measure what docs/internals/PERFORMANCE.md tables")
	keep    = flag.Bool("drill.keep", false, "keep the folders of federations")
	built   = flag.String("drill.bourse", "", "hold this binary to its promises instead of one built from here")
	against = flag.String("drill.against", "", "with -drill.speed: measure this binary beside")
	kills   = flag.Int("drill.kills", 0, "how many leaders of a broker's replicas are killed; 0: 5, or 25 in the long form")
)

// binary is bourse, built once for all tests, with the race detector if they
// have it.
var binary string

func TestMain(m *testing.M) {
	if order := os.Getenv(crowdVariable); order != "" {
		if err := holdCrowd(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := flag.Set("test.parallel", "4"); err != nil { // they wait more than they work
		panic(err)
	}
	flag.Parse()
	_ = os.Unsetenv("GOGC") // the processes that are started see to their collector themselves
	os.Exit(build(m.Run))
}

func build(run func() int) int {
	defer func() { _ = os.RemoveAll(releaseFolder) }()
	if binary = *built; binary != "" {
		return run()
	}
	dir, err := os.MkdirTemp("", "drill-bourse-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "bourse")
	args := []string{"build", "-o", binary}
	if raceFlag != "" {
		args = append(args, raceFlag)
	}
	if !testing.Short() && thorough.Check() {
		if out, err := exec.Command("go", append(args, "github.com/bourse-grid/bourse/cmd/bourse")...).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "bourse does not build: %v\n%s", err, out)
			return 1
		}
	}
	return run()
}

// plan says of what a federation consists. The zero plan is of three sites.
type plan struct {
	sites    []sitePlan
	profile  string // of gossip; "": fast
	broker   string // further keys of [broker]
	level    string // of logs; "": info
	replicas int    // processes that hold the broker; 0: one alone
	past     bool   // they take over what the first one's folder has of a broker alone
	program  string // that it runs; "": the one that was built
}

// sitePlan is one site of one group.
type sitePlan struct {
	name  string
	nodes int
	keys  string // further keys and tables
}

// threeSites have 208 nodes together.
func threeSites() []sitePlan {
	short := "hold = \"8s\"\nin_doubt = \"12s\"\n"
	return []sitePlan{{"north", 64, short}, {"south", 96, short}, {"east", 48, short}}
}

// federation is sites and a broker, each a process, on loopback addresses of
// their own.
type federation struct {
	t       *testing.T
	dir     string
	profile string
	level   string
	program string
	ca      *certificate.Authority
	net     string // 127.A.B.: what all addresses begin with
	agents  []*agent
	broker  *agent
	// Those that hold the broker together, it the first of them; nil: it is alone. What the
	// others send one goes by its passage.
	replicas []*agent
	passages []*passage

	mu    sync.Mutex
	api   *client.Client // to the broker where the context said that it is
	apiAt string
}

// agent is one process of a federation, in its present life.
type agent struct {
	f          *federation
	role, name string
	number     int    // among the replicas; 0: it is none
	keys       string // of its file, above the tables of a process
	nodes      int
	dir        string
	host       string // its address, for agents, gossip and users
	within     []string
	mirror     string   // folder of the second copy of its journal; "": it has none
	flags      []string // further ones that its next life is started with
	program    string   // that its next life runs; "": that of the federation
	clock      string   // file that says by how much its machine's clock is ahead; "": it is right
	life
}

// The ports of every agent, at an address of its own.
const (
	agentPort  = 7400
	gossipPort = 7401
	apiPort    = 7480
	meetPort   = 7490 // the rendezvous, where a site has one
)

var federations atomic.Int32

// lay makes the files of a federation, and starts nothing. A test that fails
// leaves them, and says where.
func lay(t *testing.T, p plan) *federation {
	t.Helper()
	thorough.Only(t, "starts processes")
	dir, err := os.MkdirTemp("", "drill-")
	must(t, err)
	n := federations.Add(1)
	f := &federation{t: t, dir: dir, profile: p.profile, level: p.level, program: p.program, net: fmt.Sprintf("127.%d.%d.", 10+os.Getpid()%200, n)}
	if f.profile == "" {
		f.profile = "fast"
	}
	if f.level == "" {
		f.level = "info"
	}
	t.Cleanup(f.end)
	f.ca, err = certificate.Init(filepath.Join(dir, "ca"), "vo1", certificate.InitOptions{})
	must(t, err)
	_, err = f.ca.Issue(certificate.Request{Role: certificate.Operator, Name: "olga"})
	must(t, err)
	keys := "[broker]\nname = \"vo1\"\nbudget = 1000000000.0\ncycle = \"1s\"\nhorizon = \"1d\"\nlead = \"10s\"\nalgorithm = \"amp\"\nminimize = \"time\"\n" + p.broker
	f.broker = f.add("broker", "vo1", 0, keys)
	if p.sites == nil {
		p.sites = threeSites()
	}
	for _, s := range p.sites {
		f.addSite(s)
	}
	if p.replicas > 0 {
		f.replicate(p.replicas, p.past)
	}
	f.write()
	return f
}

func (f *federation) addSite(s sitePlan) *agent {
	keys, tables, _ := strings.Cut(s.keys, "[")
	if tables != "" {
		tables = "[" + tables
	}
	if !strings.Contains(keys, "lead") {
		keys += "lead = \"2s\"\n"
	}
	return f.add("site", s.name, s.nodes, fmt.Sprintf("name = %q\npolicy = \"easy\"\n%s[[group]]\nname = \"main\"\nnodes = %d\nprice = 1.0\n%s", s.name, keys, s.nodes, tables))
}

func (f *federation) add(role, name string, nodes int, keys string) *agent {
	f.t.Helper()
	a := &agent{f: f, role: role, name: name, keys: keys, nodes: nodes, dir: filepath.Join(f.dir, role+"-"+name)}
	must(f.t, os.Mkdir(a.dir, 0o700))
	f.agents = append(f.agents, a)
	a.host = fmt.Sprintf("%s%d", f.net, len(f.agents))
	a.issue(f.ca, certificate.Request{})
	return a
}

// issue gives an agent a certificate for its present address and those that it
// may move to.
func (a *agent) issue(ca *certificate.Authority, r certificate.Request) {
	a.f.t.Helper()
	last := a.host[strings.LastIndexByte(a.host, '.')+1:]
	r.Role, r.Name, r.Hosts = certificate.Role(a.role), a.name, append(r.Hosts, a.host, a.f.net+"1"+last+"0", a.f.net+"2"+last+"0", "127.0.0.1")
	_, err := ca.Issue(r)
	must(a.f.t, err)
}

// file is the agent's configuration.
func (a *agent) file() string { return filepath.Join(a.dir, a.role+".toml") }

// journal is the folder of its journals, facts that of the one of its facts.
func (a *agent) journal() string { return filepath.Join(a.dir, "journal") }

func (a *agent) facts() string {
	role, name, _ := strings.Cut(a.id(), ":")
	return filepath.Join(a.journal(), role+"-"+url.PathEscape(name))
}

func (a *agent) id() string {
	if a.number > 0 {
		return fmt.Sprintf("replica:%s/%d", a.name, a.number)
	}
	return a.role + ":" + a.name
}

func (a *agent) api() string { return fmt.Sprintf("https://%s:%d", a.host, apiPort) }

// write writes the files of all agents and the context as things stand: for the
// next start of each.
func (f *federation) write() {
	f.t.Helper()
	var seeds []string
	for _, a := range f.agents {
		seeds = append(seeds, fmt.Sprintf("\"%s:%d\"", a.host, gossipPort))
	}
	c := client.Context{Broker: f.broker.api(), Sites: map[string]string{}, CA: "ca/ca.pem", Certificate: "ca/operator-olga.pem", Key: "ca/operator-olga.key"}
	for _, a := range f.replicas[min(1, len(f.replicas)):] {
		c.Replicas = append(c.Replicas, a.api())
	}
	for _, a := range f.agents {
		base, second := "../ca/"+a.role+"-"+a.name, ""
		if a.mirror != "" {
			second = fmt.Sprintf("\nmirror = %q", a.mirror)
		}
		text := fmt.Sprintf(`%s
[listen]
address = "%[2]s:%[3]d"
[gossip]
address = "%[2]s:%[4]d"
vo = "vo1"
key = "../ca/gossip.key"
profile = %[5]q
seeds = [%[6]s]
[tls]
ca = "../ca/ca.pem"
certificate = "%[7]s.pem"
key = "%[7]s.key"
revoked = "../ca/revoked.txt"
[journal]
dir = "journal"%[10]s
[http]
address = "%[2]s:%[8]d"
[log]
level = %[9]q
`, a.keys, a.host, agentPort, gossipPort, f.profile, strings.Join(seeds, ", "), base, apiPort, f.level, second)
		must(f.t, os.WriteFile(a.file(), []byte(text), 0o600))
		if a.role == "site" {
			c.Sites[a.name] = a.api()
		}
	}
	must(f.t, c.Write(f.context()))
}

func (f *federation) context() string { return filepath.Join(f.dir, "context.json") }

// client calls the broker's API as an operator.
func (f *federation) client() *client.Client {
	f.t.Helper()
	c, err := client.Read(f.context())
	must(f.t, err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if at := fmt.Sprintf("%+v", *c); f.api == nil || f.apiAt != at { // one's connections are bounded
		f.api, err = c.ToBroker()
		must(f.t, err)
		f.apiAt = at
	}
	return f.api
}

// site is the site of that name.
func (f *federation) site(name string) *agent {
	for _, a := range f.agents {
		if a.role == "site" && a.name == name {
			return a
		}
	}
	f.t.Fatalf("no site %s", name)
	return nil
}

// start starts all agents and waits until they are ready and the broker counts
// on all sites.
func (f *federation) start() {
	f.t.Helper()
	for _, a := range f.agents {
		a.start()
	}
	for _, a := range f.agents {
		a.ready()
	}
	eventually(f.t, patience, "the broker knows all sites", func() bool { return f.usable() == len(f.agents)-max(1, len(f.replicas)) })
}

// usable counts the sites that have answered the broker's last cycle and may be
// used.
func (f *federation) usable() int {
	l, err := f.client().Sites(context.Background())
	if err != nil {
		return 0
	}
	n := 0
	for i := range l.Sites {
		if l.Sites[i].Member {
			n++
		}
	}
	return n
}

// bourse runs a command of a user, as a process. A leading "@" of an argument
// stands for the federation's folder.
func (f *federation) bourse(args ...string) (out, messages string, exit int) {
	f.t.Helper()
	for i := range args {
		if rest, ok := strings.CutPrefix(args[i], "@"); ok {
			args[i] = filepath.Join(f.dir, rest)
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), client.Variable+"="+f.context())
	var o, m bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &m
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		f.t.Fatalf("bourse %s: %v", strings.Join(args, " "), err)
	}
	return o.String(), m.String(), cmd.ProcessState.ExitCode()
}

// stop has all agents leave, the broker first, and fails the test if one cannot.
func (f *federation) stop() {
	f.t.Helper()
	for _, a := range f.agents {
		if a.running() {
			a.stop()
		}
	}
}

// verify has bourse check all journals.
func (f *federation) verify() string {
	f.t.Helper()
	args := []string{"journal", "verify", f.dir}
	for _, a := range f.agents {
		if file := filepath.Join(a.dir, "site-"+a.name+".proof"); a.role == "site" && isFile(file) {
			args = append(args, "--key", a.name+"="+file)
		}
	}
	out, messages, exit := f.bourse(args...)
	if exit != 0 {
		f.t.Errorf("journal verify: exit %d\n%s%s", exit, out, messages)
	}
	return out
}

// isFile reports whether there is a file of that name.
func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// end kills what still runs and takes the folder away, or says where to look.
func (f *federation) end() {
	for _, a := range f.agents {
		if a.running() {
			a.kill()
		}
	}
	for _, p := range f.passages {
		p.close()
	}
	if !f.t.Failed() && !*keep {
		must(f.t, os.RemoveAll(f.dir))
		return
	}
	f.t.Logf("what to look at: the folder of the federation is kept in %s; each agent has its file, its log and its journal there\n"+
		"  bourse journal verify %s\n  bourse journal show %s/broker-vo1\n  the same moments: go test ./simulation/drill -run '%s' -drill.seed %d",
		f.dir, f.dir, f.dir, f.t.Name(), *seed)
	for _, a := range f.agents {
		f.t.Logf("%s, the last lines of its log:\n%s", a.id(), a.tail(12))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patience is how long is waited for what comes by itself: a busy machine takes its time.
const patience = 2 * time.Minute

// eventually waits until a condition holds.
func eventually(t *testing.T, most time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", most, what)
		}
	}
}
