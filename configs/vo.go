package configs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/sla"
)

// VO is one of several VOs that a site serves: [[vo]].
type VO struct {
	Name     string      // as in its certificates
	Share    Thousandths // share of the node-time over ShareSpan that its legs may hold; default 1
	Listen   Endpoint    // where its brokers reach the site
	Gossip   Gossip      // its VO is Name
	TLS      TLS         // the certificate that its authority has issued to the site; never plain
	Accounts []Account   // accounts under which the work of its users runs, in order of the file
	LetGo    bool        // the site no longer listens to it, but keeps its legs until they end
}

// maxVOs bounds the [[vo]] tables of a site: each has listeners of its own.
const maxVOs = 100

// voKeys lists the keys of a site that serves several VOs.
func (s *SiteProcess) voKeys() keys.List {
	return keys.List{
		keys.Each("vo", &s.VOs, maxVOs, func(v *VO) keys.List { return v.keys(s) }, "one or more VOs that do not trust each other, instead of [listen] and [gossip]. "+
			"Brokers and users are VO/NAME in all other tables, logs and metrics"),
	}
}

// keys lists the keys of [[vo]].
func (v *VO) keys(s *SiteProcess) keys.List {
	beside := func(to *string, name func() string) keys.Key {
		return keys.Rule(func(t *keys.Table) {
			if *to == "" {
				*to = t.Resolve(filepath.Join(v.Name, name()))
			}
		})
	}
	plain := func(name string) func() string { return func() string { return name } }
	return keys.List{
		keys.Title("name", &v.Name, "", "name of the VO, as in its certificates").Must(`"atlas"`),
		keys.Rule(func(t *keys.Table) {
			if t.Clean("name") && strings.ContainsAny(v.Name, "/\\:# ") || v.Name == "." || v.Name == ".." {
				t.Wrong("name", "%q: must be the name of a VO, such as atlas", v.Name)
			}
			v.Gossip.VO = v.Name
		}),
		keys.Share("share", &v.Share, One, 0, One, "share of the node-time of `share_span` that its legs may hold"),
		keys.Boolean("let_go", &v.LetGo, false, "no longer listen to its brokers, but keep its legs until they end. Remove the table when they have ended"),
		keys.File("ca", &v.TLS.Authority, "", "certificate of its authority").ByDefault("`VO/ca.pem`"),
		keys.File("certificate", &v.TLS.Certificate, "", "certificate that its authority has issued to the site").ByDefault("`VO/site-NAME.pem`"),
		keys.File("key", &v.TLS.Key, "", "private key of that certificate").ByDefault("`VO/site-NAME.key`"),
		keys.File("revoked", &v.TLS.Revoked, "", "list of revoked certificates; need not exist").ByDefault("`VO/revoked.txt`"),
		beside(&v.TLS.Authority, plain("ca.pem")),
		beside(&v.TLS.Certificate, func() string { return "site-" + s.Name + ".pem" }),
		beside(&v.TLS.Key, func() string { return "site-" + s.Name + ".key" }),
		beside(&v.TLS.Revoked, plain("revoked.txt")),
		keys.Rule(func(t *keys.Table) {
			for _, need := range []struct{ key, example string }{{"listen", `listen = { address = "0.0.0.0:7400" }`}, {"gossip", `gossip = { address = "0.0.0.0:7401" }`}} {
				if !t.Has(need.key) {
					t.Wrong(need.key, "missing; write %s", need.example)
				}
			}
		}),
		keys.Option("listen", func() keys.List { return v.Listen.keys(false) }, "address at which its brokers reach the site; must be given"),
		keys.Option("gossip", func() keys.List {
			return slices.Concat(v.Gossip.pool(false), keys.List{
				keys.File("key", &v.Gossip.Key, "", "keys that encrypt its gossip").ByDefault("`VO/gossip.key`"),
				beside(&v.Gossip.Key, plain("gossip.key")),
			})
		}, "how its agents find each other; must be given"),
		keys.Each("account", &v.Accounts, maxAccounts, (*Account).keys, "local account under which the work of its users runs: the first table that matches the user. A user without a match is refused"),
	}
}

// severalVOs checks that keys for a single VO are not combined with [[vo]] tables, and that
// these do not conflict with each other.
func (s *SiteProcess) severalVOs(t *keys.Table) {
	if len(s.VOs) == 0 {
		return
	}
	for _, x := range []struct{ key, instead string }{
		{"listen", "listen of [[vo]]"}, {"gossip", "gossip of [[vo]]"}, {"vo_share", "share of [[vo]]"}, {"vo_shares", "share of [[vo]]"}, {"account", "[[vo.account]]"},
	} {
		if t.Has(x.key) {
			t.Wrong(x.key, "is for a site with one VO; with [[vo]] tables use %s", x.instead)
		}
	}
	switch {
	case s.SLA == nil:
	case !t.Has("disclose"):
		s.SLA.Disclose = sla.Prices
	case s.SLA.Disclose == sla.Full:
		t.Wrong("disclose", `"full" shows the names of others' jobs; with [[vo]] tables it must be prices or closed`)
	}
	if s.TLS.Plain {
		t.Wrong("tls", "is plain; VOs that do not trust each other need certificates")
	}
	s.shareOut()
	if !slices.ContainsFunc(s.VOs, func(v VO) bool { return !v.LetGo }) {
		t.Wrong("vo", "all are let go; at least one must be served (to make a site accept nothing new, drain it)")
	}
	names, taken := map[string]bool{}, map[string]bool{}
	for i := range s.VOs {
		v, at := &s.VOs[i], t.Path.Key("vo").At(i)
		if names[v.Name] {
			t.WrongAt(at.Key("name"), "%q appears twice", v.Name)
		}
		names[v.Name] = true
		for _, x := range []struct{ key, address string }{{"listen", v.Listen.Address}, {"gossip", v.Gossip.Address}} {
			if x.address != "" && taken[x.address] {
				t.WrongAt(at.Key(x.key).Key("address"), "%q is already used above; each VO needs its own addresses", x.address)
			}
			taken[x.address] = true
		}
	}
}

// shareOut copies the shares of the VOs into the site's VOShares.
func (s *SiteProcess) shareOut() {
	s.Site.VOShares = nil
	for i := range s.VOs {
		s.Site.VOShares = append(s.Site.VOShares, VOShare{VO: s.VOs[i].Name, Share: s.VOs[i].Share})
	}
	slices.SortFunc(s.Site.VOShares, func(a, b VOShare) int { return strings.Compare(a.VO, b.VO) })
}

// Mapping lists the local accounts of users, by the names that the site uses for users. The
// first match counts.
func (s *SiteProcess) Mapping() []Account {
	list := slices.Clone(s.Accounts)
	for i := range s.VOs {
		for _, a := range s.VOs[i].Accounts {
			a.User = grid.InVO(s.VOs[i].Name, a.User)
			list = append(list, a)
		}
	}
	return list
}
