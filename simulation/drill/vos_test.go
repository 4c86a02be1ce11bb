//go:build linux

package drill

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/client"
)

// Several VOs at the same sites, each with an authority and a broker of its own, as
// processes.

// shared is such a federation: of it are the sites, which have an authority of their own,
// and of each VO its broker.
type shared struct {
	*federation
	of map[string]*federation
}

// voPlan is a VO, its broker, and its share of the node-time of each site.
type voPlan struct {
	name, broker string
	share        float64
}

// layVOs is lay for several VOs at three sites.
func layVOs(t *testing.T, vos []voPlan) *shared {
	t.Helper()
	thorough.Only(t, "starts processes")
	dir, err := os.MkdirTemp("", "drill-")
	must(t, err)
	s := &shared{&federation{t: t, dir: dir, profile: "fast", level: "info", net: fmt.Sprintf("127.%d.%d.", 10+os.Getpid()%200, federations.Add(1))}, map[string]*federation{}}
	t.Cleanup(s.end)
	s.ca, err = certificate.Init(filepath.Join(dir, "ca"), "sites", certificate.InitOptions{})
	must(t, err)
	for _, vo := range vos {
		f := &federation{t: t, dir: filepath.Join(dir, vo.name), net: s.net}
		must(t, os.Mkdir(f.dir, 0o700))
		f.ca, err = certificate.Init(filepath.Join(f.dir, "ca"), vo.name, certificate.InitOptions{})
		must(t, err)
		_, err = f.ca.Issue(certificate.Request{Role: certificate.Operator, Name: "olga"})
		must(t, err)
		f.broker = &agent{f: s.federation, role: "broker", name: vo.broker, dir: filepath.Join(f.dir, "broker-"+vo.broker)}
		f.broker.of(f.ca)
		s.of[vo.name] = f
	}
	sites := client.Context{Sites: map[string]string{}, CA: "ca/ca.pem", Certificate: "ca/operator-olga.pem", Key: "ca/operator-olga.key"}
	_, err = s.ca.Issue(certificate.Request{Role: certificate.Operator, Name: "olga"})
	must(t, err)
	for _, p := range threeSites() {
		a := &agent{f: s.federation, role: "site", name: p.name, nodes: p.nodes, dir: filepath.Join(dir, "site-"+p.name)}
		a.of(s.ca)
		sites.Sites[a.name] = a.api()
		s.writeSite(a, p.keys, vos)
	}
	must(t, sites.Write(s.context()))
	for _, f := range s.of {
		f.writeBroker(s.agents)
	}
	return s
}

// of adds an agent to its federation, with a certificate of an authority.
func (a *agent) of(ca *certificate.Authority) {
	a.f.t.Helper()
	must(a.f.t, os.Mkdir(a.dir, 0o700))
	a.f.agents = append(a.f.agents, a)
	a.host = fmt.Sprintf("%s%d", a.f.net, len(a.f.agents))
	a.issue(ca, certificate.Request{})
}

// voPort is where a site listens to the agents of a VO; its gossip has the next one.
func voPort(vo int) int { return 7500 + 2*vo }

func (s *shared) writeSite(a *agent, keys string, vos []voPlan) {
	var b strings.Builder
	fmt.Fprintf(&b, "name = %q\npolicy = \"easy\"\nlead = \"2s\"\nshare_span = \"1h\"\n%s[[group]]\nname = \"main\"\nnodes = %d\nprice = 1.0\n", a.name, keys, a.nodes)
	for i, vo := range vos {
		a.issue(s.of[vo.name].ca, certificate.Request{})
		fmt.Fprintf(&b, `[[vo]]
name = %[1]q
share = %[2]v
ca = "../%[1]s/ca/ca.pem"
certificate = "../%[1]s/ca/site-%[3]s.pem"
key = "../%[1]s/ca/site-%[3]s.key"
revoked = "../%[1]s/ca/revoked.txt"
listen = { address = "%[4]s:%[5]d" }
gossip = { address = "%[4]s:%[6]d", seeds = ["%[7]s:%[8]d"], key = "../%[1]s/ca/gossip.key", profile = "fast" }
`, vo.name, vo.share, a.name, a.host, voPort(i), voPort(i)+1, s.of[vo.name].broker.host, gossipPort)
	}
	fmt.Fprintf(&b, "[tls]\nca = \"../ca/ca.pem\"\ncertificate = \"../ca/site-%[1]s.pem\"\nkey = \"../ca/site-%[1]s.key\"\nrevoked = \"../ca/revoked.txt\"\n[journal]\ndir = \"journal\"\n[http]\naddress = \"%[2]s:%[3]d\"\n",
		a.name, a.host, apiPort)
	must(s.t, os.WriteFile(a.file(), []byte(b.String()), 0o600))
}

// writeBroker writes the file of a VO's broker, and the context of its users.
func (f *federation) writeBroker(all []*agent) {
	a := f.broker
	must(f.t, os.WriteFile(a.file(), fmt.Appendf(nil, `[broker]
name = %[6]q
budget = 1000000000.0
cycle = "1s"
horizon = "1d"
lead = "10s"
algorithm = "amp"
minimize = "time"
[listen]
address = "%[1]s:%[2]d"
[gossip]
address = "%[1]s:%[3]d"
vo = %[4]q
key = "../ca/gossip.key"
profile = "fast"
seeds = []
[tls]
ca = "../ca/ca.pem"
certificate = "../ca/broker-%[6]s.pem"
key = "../ca/broker-%[6]s.key"
revoked = "../ca/revoked.txt"
[journal]
dir = "journal"
[http]
address = "%[1]s:%[5]d"
`, a.host, agentPort, gossipPort, filepath.Base(f.dir), apiPort, a.name), 0o600))
	c := client.Context{Broker: a.api(), CA: "ca/ca.pem", Certificate: "ca/operator-olga.pem", Key: "ca/operator-olga.key"}
	must(f.t, c.Write(f.context()))
}

// start starts everybody and waits until each broker counts on all sites.
func (s *shared) start() {
	s.t.Helper()
	for _, a := range s.agents {
		a.start()
	}
	for _, a := range s.agents {
		a.ready()
	}
	for vo, f := range s.of {
		eventually(s.t, patience, "the broker of "+vo+" knows all sites", func() bool { return f.usable() == len(s.agents)-len(s.of) })
	}
}

// reader reads the API of an agent with a member's certificate.
func (f *federation) reader(a *agent, role certificate.Role, name string) func(path string) (status int, text string) {
	f.t.Helper()
	store, err := certificate.Load(certificate.In(filepath.Join(f.dir, "ca"), role, name), certificate.Options{})
	must(f.t, err)
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: anyServer(store)}}
	return a.gets(c)
}

// anyServer shows a member's certificate to whoever answers: it is they who must refuse.
func anyServer(store *certificate.Store) *tls.Config {
	c := store.Client(certificate.Want{Name: "anybody"})
	c.VerifyConnection = nil
	return c
}
