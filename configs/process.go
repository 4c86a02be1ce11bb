package configs

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse"
)

// Process is what the process of an agent needs beside the agent: where it is
// reached, how it finds the others, by what they know each other, what it keeps.
// File names have been made relative to the file that names them.
type Process struct {
	Listen  Endpoint // where other agents reach it
	Gossip  Gossip
	TLS     TLS
	Journal Journal
	Clock   Clock
	HTTP    string // host:port of the API and the metrics; "": none
	Log     string // "debug", "info" (default), "warn", "error"
}

// Endpoint is where a process listens, and what it tells others to call.
type Endpoint struct {
	Address   string // host:port
	Advertise string // host:port; default: Address
}

// Gossip is how a process finds the others of its VO.
type Gossip struct {
	Endpoint
	VO      string   // the name of the VO, which others' gossip is not heard for
	Seeds   []string // host:port of some that are there already; none for the first
	Key     string   // file of the gossip's keys; "" only with TLS.Plain
	Profile string   // "lan" (default) or "fast"
}

// TLS names the files of a process's certificate.
type TLS struct {
	Authority   string
	Certificate string
	Key         string
	Revoked     string // what is not to be trusted any more; need not exist; "": none
	Plain       bool   // no certificates at all, which only loopback addresses may do
}

// Clock is how a process that starts makes sure of the time.
type Clock struct {
	// Wait is how long it waits for others to say what time they have where nobody
	// answers; default 10 s, 0: it asks nobody.
	Wait bourse.Duration
}

// Journal is where a process keeps what it must not forget.
type Journal struct {
	Dir  string          // folder; each agent has a folder of its own in it; default "journal"
	Keep bourse.Duration // how long segments stay that an image has made dispensable; default 0: for ever
	// Where a second copy lies that nothing is answered without: a folder or a host, or
	// neither.
	MirrorDir      string // folder; must exist
	MirrorHost     string // host:port of bourse journal keep
	MirrorRequired bool   // without the second copy nothing is answered; default: it goes on with one
}

// keys lists what [journal] may hold.
func (j *Journal) keys(plain bool) keys {
	return keys{
		file("dir", &j.Dir, "journal", "folder; each agent has a folder of its own in it"),
		span("keep", &j.Keep, 0, bourse.Hour, "how long segments stay that an image has made dispensable").byDefault("for ever"),
		custom("mirror", about{kind: "folder, or HOST:PORT"}, func(t *table, key string) { j.mirror(t, key, plain) },
			"where a second copy is kept that has all that was answered: a folder that exists, on another disk, or a host with bourse journal keep").byDefault("there is none"),
		boolean("mirror_required", &j.MirrorRequired, false, "without its second copy the process answers nothing and ends; else it goes on with one, and says so"),
		rule(func(t *table) {
			if j.MirrorRequired && !t.has("mirror") {
				t.wrong("mirror_required", "there is no mirror; name one: mirror = \"/mnt/second/bourse\"")
			}
		}),
	}
}

// mirror reads where the second copy is.
func (j *Journal) mirror(t *table, key string, plain bool) {
	s := t.text(key, "")
	if !t.has(key) || !t.clean(key) {
		return
	}
	if _, port, ok := cutPort(s); ok && port != "" && !strings.ContainsFunc(port, func(r rune) bool { return r < '0' || r > '9' }) {
		if why := wrongAddress(s, plain); why != "" {
			t.wrong(key, "%q: %s", s, why)
		}
		j.MirrorHost = s
		return
	}
	j.MirrorDir = within(filepath.Dir(t.doc.file), s)
	if a, err := filepath.Rel(j.Dir, j.MirrorDir); s == "" || err == nil && filepath.IsLocal(a) {
		t.wrong(key, "%q: must be a folder outside of that of the journal, on another disk, or HOST:PORT", s)
	}
}

// SiteProcess is the file of a site's process. Its site neither joins nor leaves
// at a time: it is there while it runs.
type SiteProcess struct {
	Site
	Process
	Lead      bourse.Duration // no window starts sooner than this, from 2 s; default 10 s
	ShareSpan bourse.Duration // what VOShare is a share of, from 1 h; default 7 d
	ProofKey  string          // file of the key that it proves its answers with, made if it is missing; default site-NAME.proof
	Cluster   Cluster         // what runs the work
	Accounts  []Account       // as whom, in order of the file; none where the cluster is simulated
	// Rendezvous is where the parts of a job tell each other their addresses, by plain
	// HTTP; the zero one: nowhere.
	Rendezvous Endpoint
	// VOs are those that the site serves, in order of the file; none: the one of Gossip.
	// Else Listen, Gossip, VOShare and VOShares have no meaning, users are VO/NAME in all
	// tables but those of the VOs, and TLS is of the site's own authority, for the API.
	VOs []VO
}

// BrokerProcess is the file of a broker's process. It learns by gossip which
// sites there are.
type BrokerProcess struct {
	Broker
	Process
	Notify  Notify
	Replica Replica // which of several processes it is that hold the broker
	OIDC    OIDC    // of the API; no Issuer: callers are known by certificates alone
}

// Notify is how users' webhooks are told of the turns of their jobs.
type Notify struct {
	URL    string // told of every turn of every job, beside what batches name; "": none
	Secret string // file with the secret that deliveries are signed with; "": they are not signed
	Local  bool   // http and private addresses too
}

// ReadSiteProcess reads the file of a site's process. An error that is not of
// the file system is a *Problems. Of the other files that it names only that of the
// prices is opened.
func ReadSiteProcess(file string) (*SiteProcess, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return ParseSiteProcess(file, text)
}

// ParseSiteProcess is ReadSiteProcess of a text.
func ParseSiteProcess(file string, text []byte) (*SiteProcess, error) {
	t, err := open(file, text)
	if err != nil {
		return nil, err
	}
	t.in = inProcess
	out := &SiteProcess{}
	t.fill(out.keys())
	return finish(t, out)
}

// keys lists what the file of a site's process may hold: the keys of a site and of a
// process, and those that only both have.
func (s *SiteProcess) keys() keys {
	const snapshot = "is of a snapshot for quotes, but [listen] makes this the file of a process"
	return slices.Concat(s.Site.keys(0, map[string]int{}), keys{
		refuse("now", snapshot), refuse("running", snapshot), refuse("reserved", snapshot), refuse("queued", snapshot),
		span("lead", &s.Lead, 10*bourse.Second, 2*bourse.Second, "no window starts sooner"),
		span("share_span", &s.ShareSpan, 7*bourse.Day, bourse.Hour, "what `vo_share` is a share of"),
		file("proof_key", &s.ProofKey, "", "the key that answers are proved with, made at the first start").byDefault("`site-NAME.proof`"),
		rule(func(t *table) {
			if s.ProofKey == "" {
				s.ProofKey = within(filepath.Dir(t.doc.file), "site-"+url.PathEscape(s.Name)+".proof")
			}
		}),
	}, s.voKeys(), s.Process.keys(func() string { return "site-" + s.Name }), s.clusterKeys(), keys{rule(s.proofKeySafe), rule(s.severalVOs)})
}

// proofKeySafe refuses a key that lies where a journal may be deleted.
func (s *SiteProcess) proofKeySafe(t *table) {
	rel, err := filepath.Rel(s.Journal.Dir, s.ProofKey)
	if err == nil && filepath.IsLocal(rel) && strings.ContainsRune(rel, filepath.Separator) {
		t.wrong("proof_key", "%q lies in the folder of a journal, with which it would be lost; name a file elsewhere", s.ProofKey)
	}
}

// ReadBrokerProcess reads the file of a broker's process. An error that is not
// of the file system is a *Problems. Other files that it names are not opened.
func ReadBrokerProcess(file string) (*BrokerProcess, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return ParseBrokerProcess(file, text)
}

// ParseBrokerProcess is ReadBrokerProcess of a text.
func ParseBrokerProcess(file string, text []byte) (*BrokerProcess, error) {
	t, err := open(file, text)
	if err != nil {
		return nil, err
	}
	t.in = inProcess
	out := &BrokerProcess{}
	t.fill(out.keys())
	return finish(t, out)
}

// keys lists what the file of a broker's process may hold.
func (p *BrokerProcess) keys() keys {
	return slices.Concat(keys{oneBroker(&p.Broker, rule(p.livesInTheWorld))},
		p.Process.keys(func() string { return "broker-" + p.Name }),
		keys{option("notify", p.Notify.keys, "who is told of the turns of jobs, beside whom batches name"),
			option("replica", func() keys { return p.Replica.keys(&p.Process) }, "several processes hold the broker, and it outlives the machine of one; without the table: this one alone"),
			option("oidc", func() keys { return p.OIDC.keys(&p.Process) }, "whose tokens the API takes, beside certificates")})
}

// livesInTheWorld refuses what only simulations can do.
func (p *BrokerProcess) livesInTheWorld(t *table) {
	if p.Lead == 0 && t.clean("lead") {
		t.wrong("lead", "0s is for simulations without latency; must be at least 10s")
	}
	if p.AcceptShifts > 0 {
		t.wrong("accept_shifts", "%v is for simulations; users of a process answer themselves: leave it out", p.AcceptShifts)
	}
}

// keys lists what [notify] may hold.
func (n *Notify) keys() keys {
	return keys{
		text("url", &n.URL, "", "told of every turn of every job; https, or http with `local = true`"),
		file("secret", &n.Secret, "", "with the secret that deliveries are signed with").byDefault("they are not signed"),
		boolean("local", &n.Local, false, "http and private addresses too"),
		rule(func(t *table) {
			if scheme, _, _ := strings.Cut(n.URL, "://"); n.URL != "" && scheme != "https" && (scheme != "http" || !n.Local) {
				t.wrong("url", "%q: must be an https address, or http with local = true", n.URL)
			}
		}),
	}
}

// keys lists the tables that every process has. certificate is the name of its
// certificate's files, as bourse ca issue calls them.
func (p *Process) keys(certificate func() string) keys {
	plain := &p.TLS.Plain
	return keys{
		section("tls", func() keys { return p.TLS.keys(certificate()) }, "its certificate; without the table under the names that bourse ca gives, beside this file"),
		rule(func(t *table) { t.needOfOneVO("listen", `[listen] with address = "0.0.0.0:7400"`) }),
		option("listen", func() keys { return p.Listen.keys(*plain) }, "where other agents reach it; must be given"),
		rule(func(t *table) { t.needOfOneVO("gossip", `[gossip] with address = "0.0.0.0:7401" and vo = "vo1"`) }),
		option("gossip", func() keys { return p.Gossip.keys(*plain) }, "how agents find each other; must be given"),
		section("journal", func() keys { return p.Journal.keys(*plain) }, "what it must not forget"),
		section("clock", func() keys {
			return keys{span("wait", &p.Clock.Wait, clockWait, 0, "how long a start waits for others to say what time it is where nobody answers; 0s: it asks nobody")}
		}, "how it makes sure of the time"),
		option("http", func() keys {
			return keys{address("address", &p.HTTP, *plain, "host and port").must(`"127.0.0.1:7480"`)}
		}, "for operators, users and metrics; without the table: none"),
		section("log", func() keys {
			return keys{word("level", &p.Log, "info", []string{"debug", "info", "warn", "error"}, "the least that is logged")}
		}, "what it logs"),
	}
}

// clockWait is how long a process waits for somebody's clock by default: as long
// as gossip takes to be heard by a process that starts.
const clockWait = 10 * bourse.Second

// needOfOneVO reports a table as missing, unless there are tables of several VOs.
func (t *table) needOfOneVO(key, example string) {
	if !t.has(key) && !t.has("vo") {
		t.wrong(key, "missing; write %s", example)
	}
}

// keys lists what [tls] may hold; name is that of the certificate's files.
func (c *TLS) keys(name string) keys {
	const plain = "has no meaning with plain = true; leave one of them out"
	certified := &condition{text: "without plain", refused: plain, holds: func(*table) bool { return !c.Plain }}
	return keys{
		boolean("plain", &c.Plain, false, "no certificates at all; only between programs of this machine"),
		file("ca", &c.Authority, "ca.pem", "the authority's certificate").when(certified),
		file("certificate", &c.Certificate, name+".pem", "the process's").byDefault("`site-NAME.pem`, `broker-NAME.pem`").when(certified),
		file("key", &c.Key, name+".key", "its private key").byDefault("`site-NAME.key`, `broker-NAME.key`").when(certified),
		file("revoked", &c.Revoked, "revoked.txt", "what is not trusted any more; need not exist").when(certified),
	}
}

// keys lists what [gossip] may hold.
func (g *Gossip) keys(plain bool) keys {
	return slices.Concat(keys{
		title("vo", &g.VO, "", "the virtual organisation, as in the certificate").must(`"vo1"`),
	}, g.pool(plain), keys{
		file("key", &g.Key, "gossip.key", "the keys that gossip is sealed with"),
		rule(func(t *table) {
			if plain && !t.has("key") {
				g.Key = ""
			}
		}),
	})
}

// pool lists the keys of how the members of a VO find each other.
func (g *Gossip) pool(plain bool) keys {
	return slices.Concat(g.Endpoint.keys(plain), keys{
		word("profile", &g.Profile, "lan", []string{"lan", "fast"}, "fast sees a failure in 1 s instead of 10, for ten times the packets"),
		texts("seeds", &g.Seeds, "HOST:PORT of some that are there already; the first needs none"),
		rule(func(t *table) { g.reachable(t, plain) }),
	})
}

// reachable checks the seeds.
func (g *Gossip) reachable(t *table, plain bool) {
	for i, s := range g.Seeds {
		if why := wrongAddress(s, plain); why != "" {
			t.wrongAt(t.path.key("seeds").at(i), "%q: %s", s, why)
		}
		if slices.Contains(g.Seeds[:i], s) {
			t.wrongAt(t.path.key("seeds").at(i), "%q stands here twice", s)
		}
	}
}

// keys lists what [listen] may hold.
func (e *Endpoint) keys(plain bool) keys {
	return keys{
		address("address", &e.Address, plain, "where to listen").must(`"0.0.0.0:7400"`),
		address("advertise", &e.Advertise, plain, "what others call; its host must stand in the certificate").byDefault("`address`, if it names one machine"),
		rule(e.named),
	}
}

// named checks that others are told of a machine.
func (e *Endpoint) named(t *table) {
	switch {
	case t.has("advertise"):
		if t.clean("advertise") && everywhere(e.Advertise) {
			t.wrong("advertise", "%q names no machine; must be the host that others reach this one by", e.Advertise)
		}
	case t.clean("address") && everywhere(e.Address):
		t.wrong("advertise", "missing; the address is of all interfaces, so say by which one others reach it: advertise = \"north.example.org:7400\"")
	default:
		e.Advertise = e.Address
	}
}

// address reads HOST:PORT.
func (t *table) address(key string, plain bool) string {
	s := t.text(key, "")
	if !t.has(key) || !t.clean(key) {
		return s
	}
	if why := wrongAddress(s, plain); why != "" {
		t.wrong(key, "%q: %s", s, why)
	}
	return s
}

// wrongAddress says why nobody can listen at an address, or call it; "" if they
// can.
func wrongAddress(s string, plain bool) string {
	host, port, ok := cutPort(s)
	n, err := strconv.Atoi(port)
	switch {
	case !ok || err != nil || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '/' }) || len(host) > 253:
		return "must be HOST:PORT, such as 10.0.0.5:7400"
	case n < 1 || n > 65535:
		return "must be a port of 1 to 65535"
	case plain && !loopback(host):
		return "with plain = true only this machine may be reached: 127.0.0.1, [::1] or localhost"
	}
	return ""
}

// cutPort splits HOST:PORT; an IPv6 host stands in brackets.
func cutPort(s string) (host, port string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", "", false
	}
	host, port = s[:i], s[i+1:]
	if inner, bracket := strings.CutPrefix(host, "["); bracket {
		inner, bracket = strings.CutSuffix(inner, "]")
		return inner, port, bracket
	}
	return host, port, !strings.Contains(host, ":")
}

// loopback reports whether a host is this machine alone.
func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// everywhere reports whether an address stands for all interfaces.
func everywhere(s string) bool {
	host, _, _ := cutPort(s)
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.IsUnspecified()
}
