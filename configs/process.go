package configs

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bourse"
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
}

// SiteProcess is the file of a site's process. Its site neither joins nor leaves
// at a time: it is there while it runs.
type SiteProcess struct {
	Site
	Process
	Lead      bourse.Duration // no window starts sooner than this, from 2 s; default 10 s
	ShareSpan bourse.Duration // what VOShare is reckoned over, from 1 h; default 7 d
	ProofKey  string          // file of the key that it proves its answers with, made if it is missing; default site-NAME.proof
}

// BrokerProcess is the file of a broker's process. It learns by gossip which
// sites there are.
type BrokerProcess struct {
	Broker
	Process
	Notify Notify
}

// Notify is how users' webhooks are told of the turns of their jobs.
type Notify struct {
	URL    string // told of every turn of every job, beside what batches name; "": none
	Secret string // file with the secret that deliveries are signed with; "": they are not signed
	Local  bool   // http and private addresses too
}

// ReadSiteProcess reads the file of a site's process. An error that is not of
// the file system is a *Problems. Other files that it names are not opened.
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
	out := &SiteProcess{Site: t.siteKeys(map[string]int{})}
	if w := t.table("workload"); w != nil {
		out.Workload = &Workload{}
		w.fill(out.Workload.keys(&out.Site, bourse.MaxDuration))
	}
	for _, key := range []string{"joins", "leaves"} {
		if t.has(key) {
			t.wrong(key, "is for scenarios; a site's process is there while it runs")
		}
	}
	for _, key := range []string{"now", "running", "reserved", "queued"} {
		if t.has(key) {
			t.wrong(key, "is of a snapshot for quotes, but [listen] makes this the file of a process")
		}
	}
	out.Lead = t.span("lead", 10*bourse.Second, 2*bourse.Second)
	out.ShareSpan = t.span("share_span", 7*bourse.Day, bourse.Hour)
	out.ProofKey = t.file("proof_key", "site-"+url.PathEscape(out.Name)+".proof", filepath.Dir(file))
	out.Process = t.process("site-"+out.Name, filepath.Dir(file))
	rel, err := filepath.Rel(out.Journal.Dir, out.ProofKey)
	if err == nil && filepath.IsLocal(rel) && strings.ContainsRune(rel, filepath.Separator) {
		t.wrong("proof_key", "%q lies in the folder of a journal, with which it would be lost; name a file elsewhere", out.ProofKey)
	}
	return finish(t, out)
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
	b := t.oneBroker()
	if b != nil {
		b.fill(out.Broker.keys(0, bourse.Minute, map[string]int{}))
		if out.Lead == 0 && b.clean("lead") {
			b.wrong("lead", "0s is for simulations without latency; at least 10s is wanted")
		}
		if out.AcceptShifts > 0 {
			b.wrong("accept_shifts", "%v is for simulations; users of a process answer themselves: leave it out", out.AcceptShifts)
		}
	}
	out.Process = t.process("broker-"+out.Name, filepath.Dir(file))
	out.Notify = t.notify(filepath.Dir(file))
	return finish(t, out)
}

func (t *table) notify(dir string) Notify {
	n := t.table("notify")
	if n == nil {
		return Notify{}
	}
	out := Notify{URL: n.text("url", ""), Secret: n.file("secret", "", dir), Local: n.flag("local")}
	if scheme, _, _ := strings.Cut(out.URL, "://"); out.URL != "" && scheme != "https" && (scheme != "http" || !out.Local) {
		n.wrong("url", "%q: an https address is wanted, or http with local = true", out.URL)
	}
	n.done()
	return out
}

// process reads the tables that every process has. name is that of its
// certificate's files, as bourse ca issue calls them.
func (t *table) process(name, dir string) Process {
	p := Process{Log: "info", Journal: Journal{Dir: within(dir, "journal")}, Clock: Clock{Wait: clockWait}}
	p.TLS = t.tls(name, dir)
	t.needTable("listen", `[listen] with address = "0.0.0.0:7400"`)
	if l := t.table("listen"); l != nil {
		p.Listen = l.endpoint(p.TLS.Plain)
		l.done()
	}
	t.needTable("gossip", `[gossip] with address = "0.0.0.0:7401" and vo = "vo1"`)
	if g := t.table("gossip"); g != nil {
		p.Gossip = g.gossip(p.TLS.Plain, dir)
	}
	if j := t.table("journal"); j != nil {
		p.Journal = Journal{Dir: j.file("dir", "journal", dir), Keep: j.span("keep", 0, bourse.Hour)}
		j.done()
	}
	if c := t.table("clock"); c != nil {
		p.Clock.Wait = c.span("wait", clockWait, 0)
		c.done()
	}
	if h := t.table("http"); h != nil {
		h.need("address", `"127.0.0.1:7480"`)
		p.HTTP = h.address("address", p.TLS.Plain)
		h.done()
	}
	if l := t.table("log"); l != nil {
		p.Log = l.oneOf("level", "info", []string{"debug", "info", "warn", "error"}, nil)
		l.done()
	}
	return p
}

// clockWait is how long a process waits for somebody's clock by default: as long
// as gossip takes to be heard by a process that starts.
const clockWait = 10 * bourse.Second

// needTable reports a table as missing.
func (t *table) needTable(key, example string) {
	if !t.has(key) {
		t.wrong(key, "missing; write %s", example)
	}
}

// tls reads [tls]; what is left out lies beside the file under the names that
// bourse ca gives.
func (t *table) tls(name, dir string) TLS {
	c := t.table("tls")
	if c == nil {
		c = newTable(t, t.path.key("tls"), nil)
	}
	files := []string{"ca", "certificate", "key", "revoked"}
	if c.flag("plain") {
		for _, key := range files {
			if c.has(key) {
				c.wrong(key, "has no meaning with plain = true; leave one of them out")
			}
		}
		c.done()
		return TLS{Plain: true}
	}
	out := TLS{Authority: c.file("ca", "ca.pem", dir), Certificate: c.file("certificate", name+".pem", dir),
		Key: c.file("key", name+".key", dir), Revoked: c.file("revoked", "revoked.txt", dir)}
	c.done()
	return out
}

// gossip reads [gossip].
func (t *table) gossip(plain bool, dir string) Gossip {
	t.need("vo", `"vo1"`)
	g := Gossip{Endpoint: t.endpoint(plain), VO: t.title("vo", ""), Profile: t.oneOf("profile", "lan", []string{"lan", "fast"}, nil)}
	for i, s := range t.texts("seeds") {
		if why := wrongAddress(s, plain); why != "" {
			t.wrongAt(t.path.key("seeds").at(i), "%q: %s", s, why)
		}
		if slices.Contains(g.Seeds, s) {
			t.wrongAt(t.path.key("seeds").at(i), "%q stands here twice", s)
		}
		g.Seeds = append(g.Seeds, s)
	}
	if g.Key = t.file("key", "gossip.key", dir); plain && !t.has("key") {
		g.Key = ""
	}
	t.done()
	return g
}

// endpoint reads where to listen and what to tell others.
func (t *table) endpoint(plain bool) Endpoint {
	t.need("address", `"0.0.0.0:7400"`)
	e := Endpoint{Address: t.address("address", plain)}
	switch {
	case t.has("advertise"):
		e.Advertise = t.address("advertise", plain)
		if t.clean("advertise") && everywhere(e.Advertise) {
			t.wrong("advertise", "%q names no machine; the host that others reach this one by is wanted", e.Advertise)
		}
	case t.clean("address") && everywhere(e.Address):
		t.wrong("advertise", "missing; the address is of all interfaces, so say by which one others reach it: advertise = \"north.example.org:7400\"")
	default:
		e.Advertise = e.Address
	}
	return e
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
		return "HOST:PORT is wanted, such as 10.0.0.5:7400"
	case n < 1 || n > 65535:
		return "a port of 1 to 65535 is wanted"
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

// file returns the name of a file or folder, relative to dir.
func (t *table) file(key, def, dir string) string {
	s := t.text(key, def)
	if t.has(key) && t.clean(key) && s == "" {
		t.wrong(key, "is empty; the name of a file or folder is wanted")
	}
	if s == "" {
		return ""
	}
	return within(dir, s)
}

// flag returns true or false, false by default.
func (t *table) flag(key string) bool {
	v, ok := t.take(key)
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		t.wrong(key, "is %s, true or false is wanted", kind(v))
	}
	return b
}
