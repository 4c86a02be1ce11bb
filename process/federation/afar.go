package federation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process"
)

// A federation over clusters elsewhere: the broker and the sites run on this machine, and each
// site reaches its cluster as an account that it has there, by ssh.

// Afar is such a site: what it is called here, and the account as ssh takes it.
type Afar struct{ Name, Destination string }

// ParseAfar reads "ana@login.north.example" or "NAME=ana@login.north.example". Without a name the
// site has that of the host: its first word that does not begin with "login".
func ParseAfar(text string) (a Afar, err error) {
	name, destination, named := strings.Cut(text, "=")
	if !named {
		name, destination = wordOf(text), text
	}
	a = Afar{name, destination}
	if err := ssh.CheckDestination(destination); err != nil {
		return a, err
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if name == "" || name[0] == '-' || len(name) > 40 || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return a, fmt.Errorf("%q cannot be the name of a site: write NAME=%s, with a name of letters, digits, - and _", name, destination)
	}
	return a, nil
}

// wordOf is the word of a destination's host that its site is called by.
func wordOf(destination string) string {
	host := destination[strings.LastIndex(destination, "@")+1:]
	words := strings.Split(host, ".")
	i := slices.IndexFunc(words, func(w string) bool { return !strings.HasPrefix(w, "login") })
	return words[max(i, 0)]
}

// LayOutAfar is LayOut with sites beside clusters elsewhere. What such a cluster has is found by
// find, in the folder of the site, unless the site has its file already. No two have one name.
func LayOutAfar(dir string, sites []Afar, replicas, port int, find func(a Afar, dir string) (*process.Found, error)) ([]Member, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ca, err := OpenAuthority(filepath.Join(dir, CaFolder), VO)
	if err != nil {
		return nil, err
	}
	ports := &Ports{Next: port}
	if err := ports.Reserve(dir); err != nil {
		return nil, err
	}
	members, seed, err := layOutReplicas(dir, VO, VO, replicas, ca, ports)
	if err != nil {
		return nil, err
	}
	for _, a := range sites {
		m, err := layOutAfar(dir, a, seed, ca, ports, find)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, writeContext(dir, ContextFile, ca, members)
}

// layOutAfar makes a site beside a cluster elsewhere.
func layOutAfar(dir string, a Afar, seed string, ca *certificate.Authority, p *Ports, find func(Afar, string) (*process.Found, error)) (Member, error) {
	file := memberFile(dir, "site", a.Name)
	switch _, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		found, err := find(a, filepath.Dir(file))
		if err != nil {
			return Member{}, err
		}
		if err := Issue(ca, certificate.Site, a.Name, Host, "localhost"); err != nil {
			return Member{}, err
		}
		ports, err := p.Take(3)
		if err != nil {
			return Member{}, err
		}
		if err := writeNew(file, afarTables(a, found)+processTables("site", a.Name, VO, ports, seed)); err != nil {
			return Member{}, err
		}
	case err != nil:
		return Member{}, err
	}
	cfg, err := configs.ReadSiteProcess(file)
	if err != nil {
		return Member{}, err
	}
	if cfg.Cluster.SSH != a.Destination {
		return Member{}, fmt.Errorf("%s exists and leads to %q, not to %s; name this one, as in --ssh NAME=%s, or choose another folder with --dir", file, cfg.Cluster.SSH, a.Destination, a.Destination)
	}
	return Member{"site", cfg.Name, file, cfg.Cluster.Kind, cfg.Listen.Advertise, cfg.HTTP}, nil
}

// afarTables is the beginning of the file of such a site.
func afarTables(a Afar, found *process.Found) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A site of bourse up. Edit this file as you like; it is not overwritten.\nname = %q\npolicy = \"easy\"\nforecast = true          # jobs with queue = \"best\" go where they probably begin first\n", a.Name)
	for _, g := range found.Groups {
		fmt.Fprintf(&b, "[[group]]\nname = %q\nnodes = %d\nprice = 1.0              # credits per node-hour\n", g.Name, g.Nodes)
	}
	fmt.Fprintf(&b, `[cluster]
kind = "slurm"
ssh = %q
partition = [%q]
folder = %q
claims = "pilots"        # a plain account can reserve nothing
[[account]]
user = "*"
as = %q
`, a.Destination, found.Partition, ".bourse/"+a.Name, found.Account)
	return b.String()
}

// afarIn lists the sites of a folder whose clusters are elsewhere, by name.
func afarIn(dir string) (names []string, err error) {
	files, err := filesIn(dir, "site-*/site.toml")
	for _, file := range files {
		if cfg, err := configs.ReadSiteProcess(file); err == nil && cfg.Cluster.SSH != "" {
			names = append(names, cfg.Name)
		}
	}
	return names, err
}
