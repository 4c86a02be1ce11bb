package configs

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
)

// Process is the configuration of an agent's process apart from the agent: its addresses,
// gossip, certificate, journal and log. File names are already resolved against the folder
// of the file that names them.
type Process struct {
	Listen  Endpoint // where other agents reach it
	Gossip  Gossip
	TLS     TLS
	Journal Journal
	Clock   Clock
	HTTP    string // host:port of the API and the metrics; "": none
	Log     string // "debug", "info" (default), "warn", "error"
}

// Endpoint is where a process listens, and the address that it gives to others.
type Endpoint struct {
	Address   string // host:port
	Advertise string // host:port; default: Address
}

// Gossip is how a process finds the others of its VO.
type Gossip struct {
	Endpoint
	VO      string   // the name of the VO; gossip of others is ignored
	Seeds   []string // host:port of some running members; none for the first
	Key     string   // file of the gossip keys; "" only with TLS.Plain
	Profile string   // "lan" (default) or "fast"
}

// TLS names the files of a process's certificate.
type TLS struct {
	Authority   string
	Certificate string
	Key         string
	Revoked     string // list of revoked certificates; need not exist; "": none
	Plain       bool   // no certificates; allowed only on loopback addresses
}

// Clock is how a starting process checks its clock.
type Clock struct {
	// Wait is how long it waits for the time of its peers if none answers; default 10 s; 0:
	// it does not ask.
	Wait grid.Duration
	// Alone is how long it waits if none answers, and windows that it has sold have passed
	// by its clock since its journals end; default 15 min.
	Alone grid.Duration
}

// keepDefault bounds a journal's disk for those who say nothing: the longest that most
// questions about a job, a price or a bill come after it.
const keepDefault = 90 * grid.Day

// Journal is where a process keeps its journals.
type Journal struct {
	Dir  string        // folder; each agent has a folder of its own in it; default "journal"
	Keep grid.Duration // how long to keep segments that an image has replaced; default 90 d
	// Where the second copy is: in a folder or on a host, or nowhere.
	MirrorDir      string // folder; must exist
	MirrorHost     string // host:port of bourse journal keep
	MirrorRequired bool   // end without the second copy; default: go on with one copy
}

// keys lists the keys of [journal].
func (j *Journal) keys(plain bool) keys.List {
	return keys.List{
		keys.File("dir", &j.Dir, "journal", "folder, with a folder for each agent in it"),
		keys.Span("keep", &j.Keep, keepDefault, grid.Hour, "how long to keep segments that an image has replaced: what `explain`, statements and `bourse journal` can look back on. `\"36500d\"` keeps a century"),
		keys.Custom("mirror", keys.About{Kind: "folder, or HOST:PORT"}, func(t *keys.Table, key string) { j.mirror(t, key, plain) },
			"where to keep a second copy, which is written before anything is answered: an existing folder on another disk, or a host that runs bourse journal keep").ByDefault("no second copy"),
		keys.Boolean("mirror_required", &j.MirrorRequired, false, "end the process if the second copy cannot be written; otherwise it goes on with one copy, and reports that"),
		keys.Rule(func(t *keys.Table) {
			if j.MirrorRequired && !t.Has("mirror") {
				t.Wrong("mirror_required", "needs a mirror, such as mirror = \"/mnt/second/bourse\"")
			}
		}),
	}
}

// mirror reads where the second copy is.
func (j *Journal) mirror(t *keys.Table, key string, plain bool) {
	s := t.Text(key, "")
	if !t.Has(key) || !t.Clean(key) {
		return
	}
	if _, port, ok := keys.CutPort(s); ok && port != "" && !strings.ContainsFunc(port, func(r rune) bool { return r < '0' || r > '9' }) {
		if why := keys.WrongAddress(s, plain); why != "" {
			t.Wrong(key, "%q: %s", s, why)
		}
		j.MirrorHost = s
		return
	}
	j.MirrorDir = t.Resolve(s)
	if a, err := filepath.Rel(j.Dir, j.MirrorDir); s == "" || err == nil && filepath.IsLocal(a) {
		t.Wrong(key, "%q: must be a folder outside the journal's folder, on another disk, or HOST:PORT", s)
	}
}

// SiteProcess is the file of a site's process. The site has no times to join and leave: it
// exists while the process runs.
type SiteProcess struct {
	Site
	Process
	Lead      grid.Duration // least time until a window may start, from 2 s; default 10 s
	ShareSpan grid.Duration // the time that VOShare is a share of, from 1 h; default 7 d
	ProofKey  string        // file of the key with which it proves its answers, made if missing; default site-NAME.proof
	Cluster   Cluster       // what runs the work
	Accounts  []Account     // under which local accounts, in order of the file; none if the cluster is simulated
	// Rendezvous is where the parts of a job exchange their addresses, by plain HTTP; zero:
	// nowhere.
	Rendezvous Endpoint
	// VOs are the VOs that the site serves, in order of the file; none: only that of Gossip.
	// With VOs, the fields Listen, Gossip, VOShare and VOShares are unused, users are VO/NAME
	// in all tables except those of the VOs, and TLS is a certificate of the site's own
	// authority, for the API.
	VOs []VO
}

// BrokerProcess is the file of a broker's process. The broker finds its sites by gossip.
type BrokerProcess struct {
	Broker
	Process
	Notify  Notify
	Replica Replica // its place among several processes that hold the broker
	OIDC    OIDC    // for the API; without Issuer, only certificates identify callers
}

// Notify is how webhooks learn about the events of jobs.
type Notify struct {
	URL    string // receives every event of every job, besides the addresses of batches; "": none
	Secret string // file with the secret that signs deliveries; "": they are not signed
	Local  bool   // allow http, and addresses that are not public
}

// ReadSiteProcess reads the file of a site's process. An error that does not come from the
// file system is a *Problems. Of the files that it names, only price_file is opened.
func ReadSiteProcess(file string) (*SiteProcess, error) {
	text, err := kinds.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ParseSiteProcess(file, text)
}

// ParseSiteProcess is ReadSiteProcess for a text.
func ParseSiteProcess(file string, text []byte) (*SiteProcess, error) {
	t, err := openFile(file, text)
	if err != nil {
		return nil, err
	}
	near := []kinds.Kind{kinds.Site}
	if slices.ContainsFunc([]string{"now", "running", "reserved", "queued"}, func(name string) bool { _, ok := t.Keys[name]; return ok }) {
		near = nil // without [listen] it is a snapshot
	}
	if err := kinds.Must(t, kinds.SiteProcess, near...); err != nil {
		return nil, err
	}
	t.In = kinds.InProcess
	out := &SiteProcess{}
	t.Fill(out.keys())
	return keys.Finish(t, out)
}

// keys lists the keys of a site's process: those of a site, those of any process, and its
// own.
func (s *SiteProcess) keys() keys.List {
	const snapshot = "belongs into a snapshot for quotes, but [listen] makes this the file of a process"
	return slices.Concat(s.Site.keys(0, map[string]int{}), keys.List{
		keys.Refuse("now", snapshot), keys.Refuse("running", snapshot), keys.Refuse("reserved", snapshot), keys.Refuse("queued", snapshot),
		keys.Span("lead", &s.Lead, 10*grid.Second, 2*grid.Second, "least time until a window may start"),
		keys.Span("share_span", &s.ShareSpan, 7*grid.Day, grid.Hour, "the time that `vo_share` is a share of"),
		keys.File("proof_key", &s.ProofKey, "", "key with which the site proves its answers, made at the first start").ByDefault("`site-NAME.proof`"),
		keys.Rule(func(t *keys.Table) {
			if s.ProofKey == "" {
				s.ProofKey = t.Resolve("site-" + url.PathEscape(s.Name) + ".proof")
			}
		}),
	}, s.voKeys(), s.Process.keys(func() string { return "site-" + s.Name }), s.clusterKeys(), keys.List{keys.Rule(s.proofKeySafe), keys.Rule(s.severalVOs)})
}

// proofKeySafe refuses a key inside the folder of a journal.
func (s *SiteProcess) proofKeySafe(t *keys.Table) {
	rel, err := filepath.Rel(s.Journal.Dir, s.ProofKey)
	if err == nil && filepath.IsLocal(rel) && strings.ContainsRune(rel, filepath.Separator) {
		t.Wrong("proof_key", "%q is in the folder of the journal and would be lost with it; choose a file elsewhere", s.ProofKey)
	}
}

// ReadBrokerProcess reads the file of a broker's process. An error that does not come from
// the file system is a *Problems. Files that it names are not opened.
func ReadBrokerProcess(file string) (*BrokerProcess, error) {
	text, err := kinds.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return ParseBrokerProcess(file, text)
}

// ParseBrokerProcess is ReadBrokerProcess for a text.
func ParseBrokerProcess(file string, text []byte) (*BrokerProcess, error) {
	t, err := openFile(file, text)
	if err != nil {
		return nil, err
	}
	if err := kinds.Must(t, kinds.BrokerProcess, kinds.Broker); err != nil {
		return nil, err
	}
	t.In = kinds.InProcess
	out := &BrokerProcess{}
	t.Fill(out.keys())
	return keys.Finish(t, out)
}

// keys lists the keys of a broker's process.
func (p *BrokerProcess) keys() keys.List {
	return slices.Concat(keys.List{oneBroker(&p.Broker, keys.Rule(p.livesInTheWorld))},
		p.Process.keys(func() string { return "broker-" + p.Name }),
		keys.List{keys.Option("notify", p.Notify.keys, "webhook for the events of jobs, besides those that batches name"),
			keys.Option("replica", func() keys.List { return p.Replica.keys(&p.Process) }, "several processes hold the broker, so that it survives the loss of a machine; without the table, only this process"),
			keys.Option("oidc", func() keys.List { return p.OIDC.keys(&p.Process) }, "issuer whose tokens the API accepts, besides certificates")})
}

// livesInTheWorld refuses settings that only simulations can have.
func (p *BrokerProcess) livesInTheWorld(t *keys.Table) {
	if p.Lead == 0 && t.Clean("lead") {
		t.Wrong("lead", "0s is only for simulations without latency; must be at least 10s")
	}
	if p.AcceptShifts > 0 {
		t.Wrong("accept_shifts", "%v is only for simulations, because users of a process answer themselves; leave it out", p.AcceptShifts)
	}
}

// keys lists the keys of [notify].
func (n *Notify) keys() keys.List {
	return keys.List{
		keys.Text("url", &n.URL, "", "address that receives every event of every job; https, or http with `local = true`"),
		keys.File("secret", &n.Secret, "", "file with the secret that signs deliveries").ByDefault("deliveries are not signed"),
		keys.Boolean("local", &n.Local, false, "allow http, and addresses that are not public"),
		keys.Rule(func(t *keys.Table) {
			if scheme, _, _ := strings.Cut(n.URL, "://"); n.URL != "" && scheme != "https" && (scheme != "http" || !n.Local) {
				t.Wrong("url", "%q: must be an https address, or http with local = true", n.URL)
			}
		}),
	}
}

// keys lists the tables that every process has. certificate returns the base name of its
// certificate's files, as bourse ca issue writes them.
func (p *Process) keys(certificate func() string) keys.List {
	plain := &p.TLS.Plain
	return keys.List{
		keys.Section("tls", func() keys.List { return p.TLS.keys(certificate()) }, "its certificate; without the table, the files that bourse ca writes, beside this file"),
		keys.Rule(func(t *keys.Table) { needOfOneVO(t, "listen", `[listen] with address = "0.0.0.0:7400"`) }),
		keys.Option("listen", func() keys.List { return p.Listen.keys(*plain) }, "where other agents reach it; must be given"),
		keys.Rule(func(t *keys.Table) { needOfOneVO(t, "gossip", `[gossip] with address = "0.0.0.0:7401" and vo = "vo1"`) }),
		keys.Option("gossip", func() keys.List { return p.Gossip.keys(*plain) }, "how agents find each other; must be given"),
		keys.Section("journal", func() keys.List { return p.Journal.keys(*plain) }, "the journal, from which a restart continues"),
		keys.Section("clock", func() keys.List {
			return keys.List{keys.Span("wait", &p.Clock.Wait, clockWait, 0, "how long a start waits for the time of its peers if none answers; 0s: it does not ask"),
				keys.Span("alone", &p.Clock.Alone, clockAlone, 0, "the same if by this clock windows that a site has sold have passed since its journal ends: by a clock that is ahead, all of them would be lost")}
		}, "how it checks its clock"),
		keys.Option("http", func() keys.List {
			return keys.List{keys.Address("address", &p.HTTP, *plain, "host and port").Must(`"127.0.0.1:7480"`)}
		}, "API for operators, users and metrics; without the table there is none"),
		keys.Section("log", func() keys.List {
			return keys.List{keys.Word("level", &p.Log, "info", []string{"debug", "info", "warn", "error"}, "least level that is logged")}
		}, "what it logs"),
	}
}

// clockWait is the default of Clock.Wait: as long as a starting process may take to hear
// gossip.
const clockWait = 10 * grid.Second

// clockAlone is the default of Clock.Alone: as long as the switches of a machine room take
// to start after a power cut, with some to spare.
const clockAlone = 15 * grid.Minute

// needOfOneVO reports a table as missing, unless there are [[vo]] tables.
func needOfOneVO(t *keys.Table, key, example string) {
	if !t.Has(key) && !t.Has("vo") {
		t.Wrong(key, "missing; write %s", example)
	}
}

// keys lists the keys of [tls]; name is the base name of the certificate's files.
func (c *TLS) keys(name string) keys.List {
	const plain = "cannot be combined with plain = true; leave one of them out"
	certified := &keys.Condition{Text: "without plain", Refused: plain, Holds: func(*keys.Table) bool { return !c.Plain }}
	return keys.List{
		keys.Boolean("plain", &c.Plain, false, "use no certificates; only between programs on this machine"),
		keys.File("ca", &c.Authority, "ca.pem", "certificate of the authority").When(certified),
		keys.File("certificate", &c.Certificate, name+".pem", "certificate of the process").ByDefault("`site-NAME.pem`, `broker-NAME.pem`").When(certified),
		keys.File("key", &c.Key, name+".key", "its private key").ByDefault("`site-NAME.key`, `broker-NAME.key`").When(certified),
		keys.File("revoked", &c.Revoked, "revoked.txt", "list of revoked certificates; need not exist").When(certified),
	}
}

// keys lists the keys of [gossip].
func (g *Gossip) keys(plain bool) keys.List {
	return slices.Concat(keys.List{
		keys.Title("vo", &g.VO, "", "the virtual organisation, as in the certificate").Must(`"vo1"`),
	}, g.pool(plain), keys.List{
		keys.File("key", &g.Key, "gossip.key", "keys that encrypt gossip"),
		keys.Rule(func(t *keys.Table) {
			if plain && !t.Has("key") {
				g.Key = ""
			}
		}),
	})
}

// pool lists the keys about how the members of a VO find each other.
func (g *Gossip) pool(plain bool) keys.List {
	return slices.Concat(g.Endpoint.keys(plain), keys.List{
		keys.Word("profile", &g.Profile, "lan", []string{"lan", "fast"}, "fast detects a failure in 1 s instead of 10 s, with ten times as many packets"),
		keys.Texts("seeds", &g.Seeds, "HOST:PORT of some running members; the first member needs none"),
		keys.Rule(func(t *keys.Table) { g.reachable(t, plain) }),
	})
}

// reachable checks the seeds.
func (g *Gossip) reachable(t *keys.Table, plain bool) {
	for i, s := range g.Seeds {
		if why := keys.WrongAddress(s, plain); why != "" {
			t.WrongAt(t.Path.Key("seeds").At(i), "%q: %s", s, why)
		}
		if slices.Contains(g.Seeds[:i], s) {
			t.WrongAt(t.Path.Key("seeds").At(i), "%q appears twice", s)
		}
	}
}

// keys lists the keys of [listen].
func (e *Endpoint) keys(plain bool) keys.List {
	return keys.List{
		keys.Address("address", &e.Address, plain, "address to listen on").Must(`"0.0.0.0:7400"`),
		keys.Address("advertise", &e.Advertise, plain, "address at which others reach it; its host must be in the certificate").ByDefault("`address`, if it names one machine"),
		keys.Rule(e.named),
	}
}

// named checks that the address for others names a machine.
func (e *Endpoint) named(t *keys.Table) {
	switch {
	case t.Has("advertise"):
		if t.Clean("advertise") && keys.Everywhere(e.Advertise) {
			t.Wrong("advertise", "%q does not name a machine; must be the host at which others reach this one", e.Advertise)
		}
	case t.Clean("address") && keys.Everywhere(e.Address):
		t.Wrong("advertise", "missing; the address means all interfaces, so give the one at which others reach it: advertise = \"north.example.org:7400\"")
	default:
		e.Advertise = e.Address
	}
}
