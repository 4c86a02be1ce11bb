// Package federation lays a federation out in a folder of this machine (authorities, sites,
// brokers, contexts) and keeps its processes running, for bourse up. What exists is not
// changed.
package federation

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/web/client"
)

// Member is one agent of the federation that up runs.
type Member struct {
	Role, Name   string
	File         string // its configuration
	Kind         string // of a site's cluster
	Listen, HTTP string // addresses, for agents and for users
}

// What a federation of one VO is called, and where it stands.
const (
	VO          = "vo1"
	CaFolder    = "ca"
	ContextFile = "context.json"
	Host        = "127.0.0.1"
)

// Sites are the first sites, different enough that choosing among them is meaningful.
// Further sites follow their pattern.
var Sites = []struct {
	name        string
	Nodes       int
	performance string
	price       string
	load        string
}{
	{"north", 64, "1.0", "1.0", "0.6"},
	{"south", 128, "0.8", "0.6", "0.7"},
	{"east", 32, "1.5", "2.0", "0.5"},
	{"west", 48, "1.0", "0.9", "0.6"},
	{"island", 16, "2.0", "3.5", "0.4"},
}

// The kinds of clusters that up makes.
const (
	Local     = "local"
	Simulated = "simulated"
	Slurm     = "slurm" // elsewhere, over ssh
)

// layout holds the parameters for laying out a federation.
type layout struct {
	names []string               // of sites
	as    string                 // account under which work runs; noAccount: no work runs
	ca    *certificate.Authority // of the folder
	ports *Ports
}

// noAccount is the account of sites that run no work.
const noAccount = ""

// newLayout begins to lay out a number of sites in a folder whose authority is the VO's.
func newLayout(dir, vo string, sites, port int, kind string) (l layout, err error) {
	if kind != Simulated {
		if l.as, err = WorkAccount(); err != nil {
			return l, err
		}
	}
	if l.names, err = siteNames(dir, sites); err != nil {
		return l, err
	}
	if l.ca, err = OpenAuthority(filepath.Join(dir, CaFolder), vo); err != nil {
		return l, err
	}
	l.ports = &Ports{Next: port}
	return l, l.ports.Reserve(dir)
}

// LayOut makes what is missing under dir for a broker of some replicas and for some sites, and
// returns all members, the broker first. 0 replicas or sites means as many as there are, or else
// one and three. Existing files are not changed. A kind of cluster that differs from that of an
// existing site is refused. Ports are taken from port on.
func LayOut(dir string, sites, replicas, port int, kind string) ([]Member, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l, err := newLayout(dir, VO, sites, port, kind)
	if err != nil {
		return nil, err
	}
	members, seed, err := layOutReplicas(dir, VO, VO, replicas, l.ca, l.ports)
	if err != nil {
		return nil, err
	}
	for i, name := range l.names {
		m, err := layOutSite(dir, name, i, seed, l.ca, l.ports, l.as)
		if err != nil {
			return nil, err
		}
		if err := m.mayBe(kind); err != nil {
			return nil, err
		}
		if m.Kind == Simulated {
			l.as = noAccount // new sites are simulated as well
		}
		members = append(members, m)
	}
	return members, writeContext(dir, ContextFile, l.ca, members)
}

// mayBe refuses an existing site whose cluster is not of the given kind; "": any kind.
func (m *Member) mayBe(kind string) error {
	if kind == "" || m.Kind == kind {
		return nil
	}
	return fmt.Errorf("%s exists and has a cluster of kind %q; leave --cluster out, or choose another folder with --dir", m.File, m.Kind)
}

// siteNames returns the first n names or, if n is 0, the names of all sites in dir, those beside
// clusters elsewhere included.
func siteNames(dir string, n int) ([]string, error) {
	names, err := firstNames(dir, n)
	if n > 0 || err != nil {
		return names, err
	}
	elsewhere, err := afarIn(dir)
	for _, name := range elsewhere {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return firstNames(dir, 3)
	}
	return names, err
}

// firstNames returns the first n names or, if n is 0, those that are in dir up to the first that
// is not.
func firstNames(dir string, n int) ([]string, error) {
	var names []string
	for i := range MaxSites {
		name := fmt.Sprintf("site%d", i+1)
		if i < len(Sites) {
			name = Sites[i].name
		}
		_, err := os.Stat(memberFile(dir, "site", name))
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case n == 0 && err != nil:
			return names, nil
		case n > 0 && i == n:
			return names, nil
		}
		names = append(names, name)
	}
	return names, nil
}

// memberFile is the configuration of an agent under dir.
func memberFile(dir, role, name string) string {
	return filepath.Join(dir, role+"-"+url.PathEscape(name), role+".toml")
}

// OpenAuthority opens the authority of the federation, or makes it.
func OpenAuthority(dir, vo string) (*certificate.Authority, error) {
	ca, err := certificate.Init(dir, vo, certificate.InitOptions{})
	var exists *certificate.ExistsError
	if errors.As(err, &exists) {
		return certificate.OpenAuthority(dir, nil)
	}
	return ca, err
}

// Issue makes the certificate of a member, unless it has one.
func Issue(ca *certificate.Authority, role certificate.Role, name string, hosts ...string) error {
	_, err := ca.Issue(certificate.Request{Role: role, Name: name, Hosts: hosts})
	var exists *certificate.ExistsError
	if errors.As(err, &exists) {
		return nil
	}
	return err
}

// layOutBroker makes a broker of a VO and returns its gossip address. seed is the gossip
// address to join, "" for the first agent.
func layOutBroker(dir, name, vo, seed string, ca *certificate.Authority, p *Ports) (m Member, gossip string, err error) {
	file := memberFile(dir, "broker", name)
	if err := Issue(ca, certificate.Broker, name, Host, "localhost"); err != nil {
		return m, "", err
	}
	a, err := p.Take(3)
	if err != nil {
		return m, "", err
	}
	return layOutBrokerFile(file, name, vo, seed, "", a)
}

// layOutBrokerFile writes the file of a broker's process unless it exists.
func layOutBrokerFile(file, name, vo, seed, more string, a []int) (m Member, _ string, err error) {
	err = writeNew(file, fmt.Sprintf(`# The broker of bourse up. Edit this file as you like; it is not overwritten.
[broker]
name = %q
budget = 1000000.0       # credits
cycle = "5s"             # short, for trying it
horizon = "1d"
lead = "10s"             # no window starts earlier
algorithm = "amp"
minimize = "value"
%s%s`, name, processTables("broker", name, vo, a, seed), more))
	if err != nil {
		return m, "", err
	}
	cfg, err := configs.ReadBrokerProcess(file)
	if err != nil {
		return m, "", err
	}
	return Member{Role: "broker", Name: cfg.Name, File: file, Listen: cfg.Listen.Advertise, HTTP: cfg.HTTP}, cfg.Gossip.Advertise, nil
}

// layOutSite makes a site whose work runs under an account, or is simulated if that is "".
func layOutSite(dir, name string, i int, seed string, ca *certificate.Authority, p *Ports, as string) (Member, error) {
	file := memberFile(dir, "site", name)
	if err := Issue(ca, certificate.Site, name, Host, "localhost"); err != nil {
		return Member{}, err
	}
	a, err := p.Take(4)
	if err != nil {
		return Member{}, err
	}
	err = writeNew(file, siteHead(name, i, as != noAccount)+clusterTables(as, Sites[i%len(Sites)].load, i+1, a[3])+processTables("site", name, VO, a, seed))
	if err != nil {
		return Member{}, err
	}
	cfg, err := configs.ReadSiteProcess(file)
	if err != nil {
		return Member{}, err
	}
	return Member{"site", cfg.Name, file, cfg.Cluster.Kind, cfg.Listen.Advertise, cfg.HTTP}, nil
}

// siteHead is the beginning of the file of the i-th site: its name and its nodes. Nodes of
// which work really runs are all this machine, and equally fast: a window shortened for a
// faster one would end before its work.
func siteHead(name string, i int, real bool) string {
	like := Sites[i%len(Sites)]
	if real {
		like.performance = "1.0"
	}
	return fmt.Sprintf(`# A site of bourse up. Edit this file as you like; it is not overwritten.
name = %q
policy = "easy"
pricing = "adaptive"
[[group]]
name = "main"
nodes = %d
performance = %s
price = %s               # credits per node-hour
`, name, like.Nodes, like.performance, like.price)
}

// clusterTables is the part of a site's file that describes its cluster.
func clusterTables(as, load string, seed, port int) string {
	if as == "" {
		return fmt.Sprintf(`[workload]               # the local users
model = "lublin"
load = %s
speed_up = 60.0          # for them an hour passes in a minute
seed = %d
`, load, seed)
	}
	return fmt.Sprintf(`[cluster]
kind = "local"           # the nodes are places on this machine
%s[[account]]
user = "*"               # the work of all users
as = %q%s
[rendezvous]             # where the parts of a job exchange their addresses
address = "%s:%d"
`, sameAccount(as), as, strings.Repeat(" ", max(1, 18-len(as)))+"# runs under this account", Host, port)
}

// WorkAccount is the account under which work runs: the account that runs this program,
// or nobody if that is root.
func WorkAccount() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("the account for running work is unknown: %w; --cluster simulated needs none", err)
	}
	if u.Uid != "0" {
		return u.Username, nil
	}
	if _, err := user.Lookup(nobody); err != nil {
		return "", fmt.Errorf("work never runs as root, and there is no account %q: %w; start this as another user, or with --cluster simulated", nobody, err)
	}
	return nobody, nil
}

// sameAccount is the key that lets work run as the account that runs this program, which is
// that of the sites; "" for another one.
func sameAccount(as string) string {
	if as == nobody || as == noAccount {
		return ""
	}
	return "same_account = true      # it runs as the account of this site: for trying things out\n"
}

// nobody is the account without rights on common systems.
const nobody = "nobody"

// processTables is the common part of all files.
func processTables(role, name, vo string, ports []int, seed string) string {
	seeds := ""
	if seed != "" {
		seeds = fmt.Sprintf("seeds = [%q]\n", seed)
	}
	base := role + "-" + url.PathEscape(name)
	return fmt.Sprintf(`[listen]                 # for other agents
address = "%[1]s:%[2]d"
[gossip]
address = "%[1]s:%[3]d"
vo = %[4]q
key = "../ca/gossip.key"
profile = "fast"
%[5]s[tls]
ca = "../ca/ca.pem"
certificate = "../ca/%[6]s.pem"
key = "../ca/%[6]s.key"
revoked = "../ca/revoked.txt"
[journal]
dir = "journal"
[http]                   # for users, operators and metrics
address = "%[1]s:%[7]d"
[log]
level = "info"
`, Host, ports[0], ports[1], vo, seeds, base, ports[2])
}

// writeNew writes a file unless it exists. It writes elsewhere and renames, so that half a
// file is never taken for the whole.
func writeNew(name, text string) error {
	if _, err := os.Stat(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	beside := name + ".new"
	if err := os.WriteFile(beside, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(beside, name)
}

// writeContext makes the user of this machine an operator, and writes the context file
// with which commands find the federation.
func writeContext(dir, file string, ca *certificate.Authority, members []Member) error {
	name := whoami()
	if err := Issue(ca, certificate.Operator, name); err != nil {
		return err
	}
	base := filepath.Join(CaFolder, string(certificate.Operator)+"-"+url.PathEscape(name))
	c := client.Context{CA: filepath.Join(CaFolder, "ca.pem"), Certificate: base + ".pem", Key: base + ".key", Sites: map[string]string{}}
	for _, m := range members {
		if m.Role == "broker" && c.Broker != "" {
			c.Replicas = append(c.Replicas, "https://"+m.HTTP)
		} else if m.Role == "broker" {
			c.Broker = "https://" + m.HTTP
		} else {
			c.Sites[m.Name] = "https://" + m.HTTP
		}
	}
	return c.Write(filepath.Join(dir, file))
}

// whoami is the name of this machine's user in the federation.
func whoami() string {
	u, err := user.Current()
	if err != nil || strings.TrimSpace(u.Username) == "" {
		return "me"
	}
	_, name, domain := strings.Cut(u.Username, `\`)
	if !domain {
		name = u.Username
	}
	return strings.TrimSpace(name)
}

// CommonAccount warns of what work can do to that of others, and to the sites, as an account.
func CommonAccount(as string) string {
	if sameAccount(as) == "" {
		return "All users share that account: their jobs can see and end each other."
	}
	return "WARNING: the sites run as that account too (same_account = true). Any job can read their keys and the authority's, and write into their journals. Let only people submit who may do that."
}

// MaxSites bounds the processes on one machine.
const MaxSites = 50
