package federation

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/configs"
)

// A federation of several VOs: an authority, a broker and a context for each VO, and sites
// that serve them all. The brokers all have the same name. The sites have an authority of
// their own for their operators.

const (
	SharedBroker = "main"  // the name of the broker of each of several VOs
	upOwn        = "sites" // the sites' own authority
	MaxVOs       = 10      // of one federation
)

// VOName is the name of the i-th of several VOs, counted from 0.
func VOName(i int) string { return fmt.Sprintf("vo%d", i+1) }

// ContextOf is the context file for the users of one of several VOs.
func ContextOf(dir, vo string) string { return filepath.Join(dir, vo, ContextFile) }

// VOsOf is the number of VOs of the federation in a folder, 0 if it was not laid out for
// several.
func VOsOf(dir string) (n int) {
	for n < MaxVOs {
		if _, err := os.Stat(filepath.Join(dir, VOName(n), CaFolder)); err != nil {
			break
		}
		n++
	}
	return n
}

// LayOutVOs is layOut for several VOs, each with a broker of some replicas.
func LayOutVOs(dir string, sites, vos, replicas, port int, kind string) ([]Member, error) {
	if _, err := os.Stat(memberFile(dir, "broker", VO)); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, fmt.Errorf("%s has a federation of one VO; choose another folder with --dir", dir))
	}
	if had := VOsOf(dir); had > 0 && had != vos {
		return nil, fmt.Errorf("%s has a federation of %d VOs; leave --vos out, or choose another folder with --dir", dir, had)
	}
	l, err := newLayout(dir, upOwn, sites, port, kind)
	if err != nil {
		return nil, err
	}
	var members []Member
	var seeds []string
	var authorities []*certificate.Authority
	for i := range vos {
		vo := VOName(i)
		ca, err := OpenAuthority(filepath.Join(dir, vo, CaFolder), vo)
		if err != nil {
			return nil, err
		}
		held, seed, err := layOutReplicas(filepath.Join(dir, vo), SharedBroker, vo, replicas, ca, l.ports)
		if err != nil {
			return nil, err
		}
		if err := writeContext(filepath.Join(dir, vo), ContextFile, ca, held); err != nil {
			return nil, err
		}
		for k := range held {
			held[k].Name = vo + "/" + held[k].Name
		}
		members, seeds, authorities = append(members, held...), append(seeds, seed), append(authorities, ca)
	}
	brokers := len(members)
	for i, name := range l.names {
		m, err := layOutShared(dir, name, i, seeds, l.ca, authorities, l.ports, l.as)
		if err != nil {
			return nil, err
		}
		if err := m.mayBe(kind); err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, writeContext(dir, ContextFile, l.ca, members[brokers:])
}

// layOutShared makes a site that serves all VOs.
func layOutShared(dir, name string, i int, seeds []string, own *certificate.Authority, authorities []*certificate.Authority, p *Ports, as string) (Member, error) {
	file := memberFile(dir, "site", name)
	for _, ca := range append(authorities, own) {
		if err := Issue(ca, certificate.Site, name, Host, "localhost"); err != nil {
			return Member{}, err
		}
	}
	a, err := p.Take(2 + 2*len(seeds))
	if err != nil {
		return Member{}, err
	}
	base := "site-" + url.PathEscape(name)
	var vos strings.Builder
	for k, seed := range seeds {
		vo := VOName(k)
		fmt.Fprintf(&vos, `[[vo]]
name = %[1]q
ca = "../%[1]s/ca/ca.pem"
certificate = "../%[1]s/ca/%[2]s.pem"
key = "../%[1]s/ca/%[2]s.key"
revoked = "../%[1]s/ca/revoked.txt"
listen = { address = "%[3]s:%[4]d" }
gossip = { address = "%[3]s:%[5]d", seeds = [%[6]q], key = "../%[1]s/ca/gossip.key", profile = "fast" }
`, vo, base, Host, a[2+2*k], a[3+2*k], seed)
		if as != noAccount {
			fmt.Fprintf(&vos, "[[vo.account]]\nuser = \"*\"               # the work of all users of this VO\nas = %q\n", as)
		}
	}
	err = writeNew(file, siteHead(name, i, as != noAccount)+sharedCluster(as, Sites[i%len(Sites)].load, i+1, a[1])+vos.String()+
		fmt.Sprintf(`[tls]                    # certificate of the site's own authority, for its operators
ca = "../ca/ca.pem"
certificate = "../ca/%[1]s.pem"
key = "../ca/%[1]s.key"
revoked = "../ca/revoked.txt"
[journal]
dir = "journal"
[http]                   # for operators and metrics
address = "%[2]s:%[3]d"
[log]
level = "info"
`, base, Host, a[0]))
	if err != nil {
		return Member{}, err
	}
	cfg, err := configs.ReadSiteProcess(file)
	if err != nil {
		return Member{}, err
	}
	return Member{"site", cfg.Name, file, cfg.Cluster.Kind, cfg.VOs[0].Listen.Advertise, cfg.HTTP}, nil
}

// sharedCluster is clusterTables without an account, because each VO has its own.
func sharedCluster(as, load string, seed, port int) string {
	if as == noAccount {
		return clusterTables(as, load, seed, port)
	}
	return fmt.Sprintf("[cluster]\nkind = \"local\"           # the nodes are places on this machine\n%s[rendezvous]\naddress = \"%s:%d\"\n", sameAccount(as), Host, port)
}
