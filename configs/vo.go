package configs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/sla"
)

// VO is one of several VOs that a site serves: [[vo]].
type VO struct {
	Name     string      // of its certificates
	Share    Thousandths // of the node-time over ShareSpan that its legs may hold; default 1
	Listen   Endpoint    // where its brokers reach the site
	Gossip   Gossip      // its VO is Name
	TLS      TLS         // of the certificate that its authority has given the site; never plain
	Accounts []Account   // as whom the work of its users runs, in order of the file
	LetGo    bool        // it is not heard any more; its legs are kept to their end
}

// maxVOs bounds the [[vo]] tables of a site: each has listeners of its own.
const maxVOs = 100

// voKeys lists the keys of a site's process that serves several VOs.
func (s *SiteProcess) voKeys() keys {
	return keys{
		each("vo", &s.VOs, maxVOs, func(v *VO) keys { return v.keys(s) }, "VOs that trust each other in nothing, one or more, in place of [listen] and [gossip]. "+
			"Brokers and users are VO/NAME in all other tables, logs and metrics"),
	}
}

// keys lists what a [[vo]] may hold.
func (v *VO) keys(s *SiteProcess) keys {
	beside := func(to *string, name func() string) key {
		return rule(func(t *table) {
			if *to == "" {
				*to = within(filepath.Dir(t.doc.file), filepath.Join(v.Name, name()))
			}
		})
	}
	plain := func(name string) func() string { return func() string { return name } }
	return keys{
		title("name", &v.Name, "", "of its certificates").must(`"atlas"`),
		rule(func(t *table) {
			if t.clean("name") && strings.ContainsAny(v.Name, "/\\:# ") || v.Name == "." || v.Name == ".." {
				t.wrong("name", "%q: must be the name of a VO, such as atlas", v.Name)
			}
			v.Gossip.VO = v.Name
		}),
		share("share", &v.Share, One, 0, One, "most of the node-time of `share_span` that its legs may hold"),
		boolean("let_go", &v.LetGo, false, "its brokers are not heard any more; its legs are kept to their end. Take the table out when they are over"),
		file("ca", &v.TLS.Authority, "", "its authority's certificate").byDefault("`VO/ca.pem`"),
		file("certificate", &v.TLS.Certificate, "", "that its authority has given the site").byDefault("`VO/site-NAME.pem`"),
		file("key", &v.TLS.Key, "", "its private key").byDefault("`VO/site-NAME.key`"),
		file("revoked", &v.TLS.Revoked, "", "what is not trusted any more; need not exist").byDefault("`VO/revoked.txt`"),
		beside(&v.TLS.Authority, plain("ca.pem")),
		beside(&v.TLS.Certificate, func() string { return "site-" + s.Name + ".pem" }),
		beside(&v.TLS.Key, func() string { return "site-" + s.Name + ".key" }),
		beside(&v.TLS.Revoked, plain("revoked.txt")),
		rule(func(t *table) {
			for _, need := range []struct{ key, example string }{{"listen", `listen = { address = "0.0.0.0:7400" }`}, {"gossip", `gossip = { address = "0.0.0.0:7401" }`}} {
				if !t.has(need.key) {
					t.wrong(need.key, "missing; write %s", need.example)
				}
			}
		}),
		option("listen", func() keys { return v.Listen.keys(false) }, "where its brokers reach the site; must be given"),
		option("gossip", func() keys {
			return slices.Concat(v.Gossip.pool(false), keys{
				file("key", &v.Gossip.Key, "", "the keys that its gossip is sealed with").byDefault("`VO/gossip.key`"),
				beside(&v.Gossip.Key, plain("gossip.key")),
			})
		}, "how its agents find each other; must be given"),
		each("account", &v.Accounts, maxAccounts, (*Account).keys, "as which local account the work of its users runs: the first that fits. A user whom none fits is refused"),
	}
}

// severalVOs checks that what is of one VO does not stand beside the tables of several,
// and that these do not get in each other's way.
func (s *SiteProcess) severalVOs(t *table) {
	if len(s.VOs) == 0 {
		return
	}
	for _, x := range []struct{ key, instead string }{
		{"listen", "listen of [[vo]]"}, {"gossip", "gossip of [[vo]]"}, {"vo_share", "share of [[vo]]"}, {"vo_shares", "share of [[vo]]"}, {"account", "[[vo.account]]"},
	} {
		if t.has(x.key) {
			t.wrong(x.key, "is for a site of one VO; beside [[vo]] write %s", x.instead)
		}
	}
	switch {
	case s.SLA == nil:
	case !t.has("disclose"):
		s.SLA.Disclose = sla.Prices
	case s.SLA.Disclose == sla.Full:
		t.wrong("disclose", `"full" shows the names of others' jobs; beside [[vo]] it must be prices or closed`)
	}
	if s.TLS.Plain {
		t.wrong("tls", "is plain; VOs that trust each other in nothing need certificates")
	}
	s.shareOut()
	if !slices.ContainsFunc(s.VOs, func(v VO) bool { return !v.LetGo }) {
		t.wrong("vo", "all are let go; one must be served, and a site that is to take nothing new is drained")
	}
	names, taken := map[string]bool{}, map[string]bool{}
	for i := range s.VOs {
		v, at := &s.VOs[i], t.path.key("vo").at(i)
		if names[v.Name] {
			t.wrongAt(at.key("name"), "%q stands here twice", v.Name)
		}
		names[v.Name] = true
		for _, x := range []struct{ key, address string }{{"listen", v.Listen.Address}, {"gossip", v.Gossip.Address}} {
			if x.address != "" && taken[x.address] {
				t.wrongAt(at.key(x.key).key("address"), "%q is taken above; each VO has listeners of its own", x.address)
			}
			taken[x.address] = true
		}
	}
}

// shareOut makes the shares of the VOs those of the site.
func (s *SiteProcess) shareOut() {
	s.Site.VOShares = nil
	for i := range s.VOs {
		s.Site.VOShares = append(s.Site.VOShares, VOShare{VO: s.VOs[i].Name, Share: s.VOs[i].Share})
	}
	slices.SortFunc(s.Site.VOShares, func(a, b VOShare) int { return strings.Compare(a.VO, b.VO) })
}

// Mapping lists as which local account work runs, by the names that the site knows users
// by; the first that fits holds.
func (s *SiteProcess) Mapping() []Account {
	list := slices.Clone(s.Accounts)
	for i := range s.VOs {
		for _, a := range s.VOs[i].Accounts {
			list = append(list, Account{User: bourse.InVO(s.VOs[i].Name, a.User), As: a.As})
		}
	}
	return list
}
