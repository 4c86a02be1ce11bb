package configs

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/policy/sla"
)

// sharedProcess is a site of two VOs.
const sharedProcess = `name = "north"
[[group]]
name = "main"
nodes = 128
price = 1.0
[[vo]]
name = "atlas"
share = 0.4
listen = { address = "10.0.0.5:7400" }
gossip = { address = "10.0.0.5:7401", seeds = ["broker.atlas.org:7401"], key = "atlas.key" }
[[vo]]
name = "cms"
ca = "cms-ca.pem"
listen = { address = "0.0.0.0:7410", advertise = "north.example.org:7410" }
gossip = { address = "10.0.0.5:7411", profile = "fast" }
`

// A VO's files lie in a folder of its name unless its table says otherwise.
func TestVO_DefaultsLieInAFolderOfItsName(t *testing.T) {
	t.Parallel()
	s, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(sharedProcess))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.VOs) != 2 {
		t.Fatalf("%+v", s.VOs)
	}
	atlas, cms := s.VOs[0], s.VOs[1]
	if atlas.Share != 400 || cms.Share != One || atlas.Gossip.VO != "atlas" || atlas.Listen.Advertise != "10.0.0.5:7400" ||
		cms.Listen.Advertise != "north.example.org:7410" || cms.Gossip.Profile != "fast" || atlas.Gossip.Profile != "lan" {
		t.Errorf("%+v\n%+v", atlas, cms)
	}
	if want := (TLS{Authority: "/etc/bourse/atlas/ca.pem", Certificate: "/etc/bourse/atlas/site-north.pem", Key: "/etc/bourse/atlas/site-north.key",
		Revoked: "/etc/bourse/atlas/revoked.txt"}); atlas.TLS != want || atlas.Gossip.Key != "/etc/bourse/atlas.key" {
		t.Errorf("%+v, %s", atlas.TLS, atlas.Gossip.Key)
	}
	if cms.TLS.Authority != "/etc/bourse/cms-ca.pem" || cms.Gossip.Key != "/etc/bourse/cms/gossip.key" {
		t.Errorf("%+v, %s", cms.TLS, cms.Gossip.Key)
	}
	agent, err := s.Agent("cluster:north", s.ShareSpan, s.Lead)
	if err != nil || agent.VOShare != 1000 || agent.VOShares["atlas"] != 400 || agent.VOShares["cms"] != 1000 {
		t.Errorf("%v, %v", agent.VOShares, err)
	}
}

func TestVO_WhatIsOfOneVOOrInTheWayOfAnotherIsRefused(t *testing.T) {
	t.Parallel()
	last := func(s string) string { return sharedProcess + s }
	first := func(s string) string { return s + "\n" + sharedProcess }
	for _, c := range []struct{ text, wrong string }{
		{last("[gossip]\naddress = \"10.0.0.5:7421\"\nvo = \"lhcb\"\n"), "is for a site with one VO; with [[vo]] tables use gossip of [[vo]]"},
		{last("[listen]\naddress = \"10.0.0.5:7421\"\n"), "use listen of [[vo]]"},
		{first("vo_share = 0.5"), "use share of [[vo]]"},
		{last("[tls]\nplain = true\n"), "VOs that do not trust each other need certificates"},
		{strings.Replace(sharedProcess, `"cms"`, `"atlas"`, 1), "appears twice"},
		{strings.Replace(sharedProcess, `"cms"`, `"a/b"`, 1), "must be the name of a VO"},
		{strings.Replace(sharedProcess, "10.0.0.5:7411", "10.0.0.5:7401", 1), "is already used above"},
		{strings.Replace(sharedProcess, "10.0.0.5:7411", "10.0.0.5:7400", 1), "is already used above"},
		{strings.Replace(sharedProcess, `listen = { address = "10.0.0.5:7400" }`, "", 1), "listen: missing"},
		{last("[cluster]\nkind = \"local\"\n"), "all work would be refused"},
		{last("[[vo.account]]\nuser = \"*\"\nas = \"pool\"\n"), "needs [cluster]"},
		{first(`policy = "sla-edf"` + "\ndisclose = \"full\""), "shows the names of others"},
	} {
		_, err := ParseSiteProcess("north.toml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%v, want %q", err, c.wrong)
		}
	}
	s, err := ParseSiteProcess("north.toml", []byte(first(`policy = "sla-edf"`)))
	if err != nil || s.SLA.Disclose != sla.Prices {
		t.Errorf("%v, %v", err, s)
	}
}

func TestVO_AccountsAreItsOwn(t *testing.T) {
	t.Parallel()
	text := strings.Replace(sharedProcess, "[[vo]]\nname = \"cms\"", "[[vo.account]]\nuser = \"*\"\nas = \"atlas_pool\"\n[[vo]]\nname = \"cms\"", 1) +
		"[[vo.account]]\nuser = \"ana\"\nas = \"ana_cms\"\n[cluster]\nkind = \"local\"\n"
	s, err := ParseSiteProcess("north.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Account{{User: "atlas/*", As: "atlas_pool"}, {User: "cms/ana", As: "ana_cms"}}; !slices.EqualFunc(s.Mapping(), want, Account.Same) {
		t.Errorf("%v", s.Mapping())
	}
}
