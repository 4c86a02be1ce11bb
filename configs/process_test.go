package configs

import (
	"errors"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/sla"
)

// smallProcess is the least that a site's process needs, tideProcess a broker's.
const (
	smallProcess = `name = "north"
policy = "easy"
[[group]]
name = "main"
nodes = 128
price = 1.0
[workload]
model = "lublin"
load = 0.7
speed_up = 60.0
[listen]
address = "10.0.0.5:7400"
[gossip]
address = "10.0.0.5:7401"
vo = "vo1"
seeds = ["broker.example.org:7401"]
[http]
address = "10.0.0.5:7480"
`
	tideProcess = `[broker]
name = "vo1"
budget = 50000.0
cycle = "30m"
horizon = "7d"
algorithm = "amp"
minimize = "time"
[listen]
address = "0.0.0.0:7400"
advertise = "broker.example.org:7400"
[gossip]
address = "[::]:7401"
advertise = "broker.example.org:7401"
vo = "vo1"
[notify]
url = "https://hooks.example.org/bourse"
secret = "hook.secret"
`
)

// The algorithm has a default and may be left out, in a process and in a scenario.
func TestBroker_TheAlgorithmIsAmpIfLeftOut(t *testing.T) {
	t.Parallel()
	b, err := ParseBrokerProcess("/etc/bourse/vo1.toml", []byte(strings.Replace(tideProcess, "algorithm = \"amp\"\n", "", 1)))
	if err != nil || b.Algorithm != search.AMP {
		t.Errorf("%v, %+v", err, b)
	}
	const scenario = "until = \"1d\"\n[[site]]\nname = \"a\"\n[[site.group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n" +
		"[[broker]]\nname = \"vo1\"\nbudget = 1.0\ncycle = \"30m\"\nhorizon = \"1d\"\n"
	if sc, err := ParseScenario("a.toml", []byte(scenario)); err != nil || sc.Brokers[0].Algorithm != search.AMP {
		t.Errorf("%v, %+v", err, sc)
	}
}

func TestProcess_SiteDefaultsLieBesideItsFile(t *testing.T) {
	t.Parallel()
	s, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(smallProcess))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "north" || s.Groups[0].Site != "north" || s.Nodes() != 128 || s.Lead != 10*grid.Second || s.ShareSpan != 7*grid.Day {
		t.Errorf("%+v", s)
	}
	if w := s.Workload; w.SpeedUp != 60*One || w.Seed != 1 || w.Days != grid.MaxDuration {
		t.Errorf("workload %+v", w)
	}
	if s.Listen.Advertise != "10.0.0.5:7400" || s.Gossip.Profile != "lan" || s.Log != "info" || s.HTTP != "10.0.0.5:7480" {
		t.Errorf("%+v", s.Process)
	}
	want := TLS{Authority: "/etc/bourse/ca.pem", Certificate: "/etc/bourse/site-north.pem", Key: "/etc/bourse/site-north.key", Revoked: "/etc/bourse/revoked.txt"}
	if s.TLS != want || s.Gossip.Key != "/etc/bourse/gossip.key" || s.Journal != (Journal{Dir: "/etc/bourse/journal", Keep: keepDefault}) {
		t.Errorf("%+v, %+v, %+v", s.TLS, s.Gossip, s.Journal)
	}
}

// The key with which a site recognises its own answers is beside its file, or where the
// file says, and in no journal's folder.
func TestProcess_TheProofKeyLiesApartFromTheJournals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, want, wrong string }{
		{"", "/etc/bourse/site-north.proof", ""},
		{`"north.key2"`, "/etc/bourse/north.key2", ""},
		{`"/var/lib/bourse/north.proof"`, "/var/lib/bourse/north.proof", ""},
		{`"journal/north.proof"`, "/etc/bourse/journal/north.proof", ""},
		{`"journal/site-north/north.proof"`, "", "is in the folder of the journal"},
	} {
		text := smallProcess
		if c.key != "" {
			text = "proof_key = " + c.key + "\n" + text
		}
		s, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(text))
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %q", c.key, err, c.wrong)
			}
		case err != nil || s.ProofKey != c.want:
			t.Errorf("%s: %v, %v; want %s", c.key, s, err, c.want)
		}
	}
}

func TestProcess_BrokerHasItsKeysAndItsTables(t *testing.T) {
	t.Parallel()
	b, err := ParseBrokerProcess("vo1.toml", []byte(tideProcess))
	if err != nil {
		t.Fatal(err)
	}
	if b.Name != "vo1" || b.Lead != grid.Minute || b.Listen.Advertise != "broker.example.org:7400" || b.HTTP != "" ||
		b.Notify != (Notify{URL: "https://hooks.example.org/bourse", Secret: "hook.secret"}) || b.TLS.Certificate != "broker-vo1.pem" {
		t.Errorf("%+v", b)
	}
}

// A mirror is a folder or a host, and never the folder that it mirrors.
func TestProcess_AMirrorIsAFolderOrAHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Journal{
		`mirror = "second"`: {Dir: "/etc/bourse/journal", MirrorDir: "/etc/bourse/second"},
		"mirror = \"/mnt/second\"\nmirror_required = true": {Dir: "/etc/bourse/journal", MirrorDir: "/mnt/second", MirrorRequired: true},
		`mirror = "vault.example.org:7420"`:                {Dir: "/etc/bourse/journal", MirrorHost: "vault.example.org:7420"},
	} {
		want.Keep = keepDefault
		if s, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(smallProcess+"[journal]\n"+text+"\n")); err != nil || s.Journal != want {
			t.Errorf("%s: %v, %+v", text, err, s)
		}
	}
	for text, want := range map[string]string{
		`mirror = "journal"`:        "outside",
		`mirror = "journal/second"`: "outside",
		`mirror = "vault:99999"`:    "1 to 65535",
		`mirror_required = true`:    "needs a mirror",
	} {
		if _, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(smallProcess+"[journal]\n"+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Plain text is for this machine alone, and needs no files.
func TestProcess_PlainNeedsNoFiles(t *testing.T) {
	t.Parallel()
	local := strings.NewReplacer("10.0.0.5", "127.0.0.1", "broker.example.org", "localhost").Replace(smallProcess)
	s, err := ParseSiteProcess("north.toml", []byte(local+"[tls]\nplain = true\n[journal]\ndir = \"/var/lib/bourse\"\nkeep = \"30d\"\n[log]\nlevel = \"debug\"\n"))
	if err != nil || s.TLS != (TLS{Plain: true}) || s.Gossip.Key != "" || s.Journal != (Journal{Dir: "/var/lib/bourse", Keep: 30 * grid.Day}) || s.Log != "debug" {
		t.Errorf("%v, %+v", err, s)
	}
}

// Check knows the file of a process by [listen], and says what it holds.
func TestProcess_CheckKnowsBoth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{smallProcess, `site process "north": 1 group, 128 nodes`},
		{tideProcess, `broker process "vo1"`},
		{smallBroker, `broker "vo1"`},
	} {
		if got, err := checkText("f", []byte(c.text)); err != nil || got.String() != c.want {
			t.Errorf("%v, %v, want %s", got, err, c.want)
		}
	}
}

func TestProcess_SaysWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, old, new, want string }{
		{smallProcess, `address = "10.0.0.5:7400"`, ``, `listen.address missing; write for example address = "0.0.0.0:7400"`},
		{smallProcess, `10.0.0.5:7400`, `10.0.0.5`, `must be HOST:PORT`},
		{smallProcess, `10.0.0.5:7400`, `10.0.0.5:0`, `the port must be 1 to 65535`},
		{smallProcess, `10.0.0.5:7400`, `::1:7400`, `must be HOST:PORT`},
		{smallProcess, `10.0.0.5:7400`, `http://x:7400`, `must be HOST:PORT`},
		{smallProcess, `10.0.0.5:7400`, `0.0.0.0:7400`, `listen.advertise missing`},
		{smallProcess, `10.0.0.5:7401`, `:7401`, `gossip.advertise missing`},
		{smallProcess, `[listen]`, "[listen]\nadvertise = \"0.0.0.0:1\"", `listen.advertise "0.0.0.0:1" does not name a machine`},
		{smallProcess, `[listen]`, "[listen]\nadvertize = \"a:1\"", `listen.advertize unknown key; did you mean advertise?`},
		{smallProcess, `vo = "vo1"`, ``, `gossip.vo missing`},
		{smallProcess, `seeds = ["broker`, `seeds = ["x:1", "x:1", "broker`, `"x:1" appears twice`},
		{smallProcess, `seeds = ["broker.example.org:7401"]`, `seeds = ["broker"]`, `gossip.seeds "broker": must be HOST:PORT`},
		{smallProcess, `vo = "vo1"`, "vo = \"vo1\"\nprofile = \"wan\"", `gossip.profile "wan" is unknown; must be one of lan, fast`},
		{smallProcess, `speed_up = 60.0`, `speed_up = 0`, `workload.speed_up 0 is outside 0.001..100000`},
		{smallProcess, `name = "north"`, "name = \"north\"\njoins = \"1d\"", `joins is only for scenarios`},
		{smallProcess, `name = "north"`, "name = \"north\"\nnow = 0", `now belongs into a snapshot`},
		{smallProcess, `name = "north"`, "name = \"north\"\nlead = \"1s\"", `lead 1s is too short`},
		{smallProcess, "model = \"lublin\"\nload = 0.7", "model = \"uniform\"\njobs = 10", `workload.days missing`},
		{smallProcess, `[http]`, "[tls]\nplain = true\n[http]", `with plain = true the host must be this machine`},
		{smallProcess, `[http]`, "[tls]\nplain = 1\n[http]", `tls.plain must be true or false, not a whole number`},
		{smallProcess, `[http]`, "[tls]\nplain = true\nca = \"a\"\n[http]", `tls.ca cannot be combined with plain = true`},
		{smallProcess, `name = "north"`, "name = \"north\"\nvo_shares = { vo1 = 2 }", `vo_shares.vo1 2 is outside 0..1`},
		{smallProcess, `[http]`, "[journal]\ndir = \"\"\n[http]", `journal.dir is empty`},
		{smallProcess, `[http]`, "[journal]\nkeep = \"5s\"\n[http]", `journal.keep 5s is too short`},
		{smallProcess, `[http]`, "[log]\nlevel = \"loud\"\n[http]", `log.level "loud" is unknown`},
		{smallProcess, `[gossip]`, `[gosip]`, `gossip missing; write [gossip]`},
		{tideProcess, `minimize = "time"`, "minimize = \"time\"\nlead = 0", `broker.lead 0s is only for simulations`},
		{tideProcess, `https://hooks`, `http://hooks`, `notify.url "http://hooks.example.org/bourse": must be an https address`},
		{tideProcess, `[notify]`, "[notify]\nlokal = true", `notify.lokal unknown key; did you mean local?`},
		{smallScenario, `load = 0.7`, "load = 0.7\nspeed_up = 2", `speed_up can be used only in the file of a site's process`},
	} {
		text := strings.Replace(c.text, c.old, c.new, 1)
		if text == c.text {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, err := checkText("f.toml", []byte(text))
		var all *Problems
		if !errors.As(err, &all) || !strings.Contains(strings.ReplaceAll(err.Error(), ": ", " "), strings.ReplaceAll(c.want, ": ", " ")) {
			t.Errorf("%q for %q: %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}

// The examples that the documents show are files that are taken.
func TestProcess_ExamplesAreValid(t *testing.T) {
	t.Parallel()
	s, err := ReadSiteProcess("../docs/examples/site.toml")
	if err != nil || s.Name != "north" || len(s.VOShares) != 1 || s.VOShares[0] != (VOShare{"vo1", 300}) || s.TLS.Key != "../docs/examples/site-north.key" {
		t.Errorf("%v, %+v", err, s)
	}
	b, err := ReadBrokerProcess("../docs/examples/broker.toml")
	if err != nil || b.Name != "vo1" || len(b.Quotas) != 1 {
		t.Errorf("%v, %+v", err, b)
	}
}

// The keys of a file reach the agents.
func TestAgent_KeysReachTheConfiguration(t *testing.T) {
	t.Parallel()
	text := strings.Replace(smallProcess, `policy = "easy"`, "policy = \"conservative\"\nvo_share = 0.5\nvo_shares = { vo1 = 0.25 }\n"+
		"refund_schedule_only = true\nrefund_full_until = 0\ncap = 5\noverrun = \"extend\"\nlead = \"5s\"", 1)
	s, err := ParseSiteProcess("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := s.Agent("cluster:north", s.ShareSpan, s.Lead)
	if err != nil || cfg.VOShare != 500 || cfg.VOShares["vo1"] != 250 || !cfg.ScheduleOnly || !cfg.FallsAtOnce || cfg.Cap != 5000 ||
		cfg.Lead != 5*grid.Second || cfg.Span != 7*grid.Day || cfg.Cluster != "cluster:north" {
		t.Errorf("%v, %+v", err, cfg)
	}
	if q := s.ClusterQueues(); len(q) != 1 || q[0].Nodes != 128 || !q[0].Extend || q[0].Policy != s.Policy {
		t.Errorf("%+v", q)
	}
	b, err := ParseBrokerProcess("f", []byte(strings.Replace(tideProcess, `[listen]`, "budget_limit = 5\nlost_after = \"never\"\nlead = \"10s\"\n[broker.quota]\nana = 7\n[[broker.user]]\nname = \"ana\"\nshare = 2\npriority = 1\n[listen]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Agent(broker.ServiceDefaults("x"))
	if err != nil || got.Name != "vo1" || got.BudgetLimit != 5*grid.Credit || got.Lead != 10*grid.Second || got.Quotas["ana"] != 7*grid.Credit || got.KeepJobs == 0 ||
		got.LostAfter != broker.NeverLost || got.MaxWaiting != 10_000 || got.Users["ana"] != (broker.UserTerms{Share: 2, Priority: 1}) {
		t.Errorf("%v, %+v", err, got)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

// For how long a budget is to last, and how often it is renewed, reach the broker.
func TestAgent_TheTimeOfABudgetReachesTheConfiguration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]broker.Config{
		"":                     {BudgetUntil: 30 * grid.Day},
		`budget_until = "12d"`: {BudgetUntil: 12 * grid.Day},
		`budget_period = "7d"`: {BudgetPeriod: 7 * grid.Day},
		"budget_period = \"1m\"\nbudget_until = 2027-01-01T00:00:00Z": {BudgetPeriod: grid.Minute, BudgetEnd: 1_798_761_600_000},
	} {
		b, err := ParseBrokerProcess("f", []byte(strings.Replace(tideProcess, "[listen]", text+"\n[listen]", 1)))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := b.Agent(broker.ServiceDefaults("x"))
		if err != nil || got.BudgetUntil != want.BudgetUntil || got.BudgetPeriod != want.BudgetPeriod || got.BudgetEnd != want.BudgetEnd || got.Validate() != nil {
			t.Errorf("%s: %v, %v %v %v (%v)", text, err, got.BudgetUntil, got.BudgetPeriod, got.BudgetEnd, got.Validate())
		}
	}
}

// Every sla policy is served in its own order.
func TestSLA_ThePolicySaysTheOrder(t *testing.T) {
	t.Parallel()
	for _, order := range []sla.Order{sla.EDF, sla.LFF, sla.FIFO} {
		text := "name = \"n\"\nuntil = \"1d\"\n[[site]]\nname = \"n\"\npolicy = \"sla-" + order.String() + "\"\n[[site.group]]\nname = \"main\"\nnodes = 4\nprice = 1.0\n"
		sc, err := ParseScenario("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := sc.Sites[0].SLA.Order; got != order {
			t.Errorf("sla-%v is served as %v", order, got)
		}
	}
}

// A broker or a site whose file says nothing of it does not fill its disk for ever; who
// wants a century says so.
func TestJournal_KeepsNinetyDaysByDefault(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]grid.Duration{"": 90 * grid.Day, "keep = \"36500d\"\n": 36500 * grid.Day} {
		text := strings.Replace(smallProcess, "[http]", "[journal]\n"+words+"[http]", 1)
		s, err := ParseSiteProcess("north.toml", []byte(text))
		if err != nil || s.Journal.Keep != want {
			t.Errorf("%q keeps %v, %v", words, s.Journal.Keep, err)
		}
		text = strings.Replace(tideProcess, "[notify]", "[journal]\n"+words+"[notify]", 1)
		if b, err := ParseBrokerProcess("tide.toml", []byte(text)); err != nil || b.Journal.Keep != want {
			t.Errorf("a broker with %q: %v", words, err)
		}
	}
	if s, err := ParseSiteProcess("north.toml", []byte(smallProcess)); err != nil || s.Journal.Keep != 90*grid.Day {
		t.Errorf("without [journal]: %v", err)
	}
}
