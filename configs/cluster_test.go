package configs

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// slurmProcess is the least that a site's process with a cluster of its own needs.
var slurmProcess = strings.Replace(smallProcess, `[workload]
model = "lublin"
load = 0.7
speed_up = 60.0
`, `[cluster]
kind = "slurm"
partition = "batch"
holder = "bourse-holder"
[[account]]
user = "ana"
as = "ana_vo1"
[[account]]
user = "guest-*"
as = "guests"
`, 1)

func TestCluster_IsSimulatedWhereTheFileSaysNothing(t *testing.T) {
	t.Parallel()
	s, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(smallProcess))
	if err != nil || s.Cluster.Kind != "simulated" || s.Cluster.Real() || s.Accounts != nil {
		t.Errorf("%v, %+v", err, s)
	}
}

func TestCluster_KeysComeOutTyped(t *testing.T) {
	t.Parallel()
	s, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(slurmProcess))
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Cluster; c.Kind != "slurm" || !c.Real() || c.Conf != "" || !slices.Equal(c.Partitions, []string{"batch"}) ||
		c.Holder != "bourse-holder" || c.Folder != "/etc/bourse/work" {
		t.Errorf("%+v", c)
	}
	if want := []Account{{User: "ana", As: "ana_vo1"}, {User: "guest-*", As: "guests"}}; !slices.EqualFunc(s.Accounts, want, Account.Same) {
		t.Errorf("%+v, want %+v", s.Accounts, want)
	}
	text := strings.Replace(slurmProcess, `partition = "batch"`, "partition = [\"batch\", \"long\"]\nconf = \"slurm.conf\"\nfolder = \"/srv/bourse\"", 1)
	if s, err = ParseSiteProcess("/etc/bourse/north.toml", []byte(text)); err != nil || !slices.Equal(s.Cluster.Partitions, []string{"batch", "long"}) ||
		s.Cluster.Conf != "/etc/bourse/slurm.conf" || s.Cluster.Folder != "/srv/bourse" {
		t.Errorf("%v, %+v", err, s)
	}
	text = strings.Replace(slurmProcess, "kind = \"slurm\"\npartition = \"batch\"\nholder = \"bourse-holder\"", `kind = "local"`, 1)
	if s, err = ParseSiteProcess("/etc/bourse/north.toml", []byte(text)); err != nil || s.Cluster.Kind != "local" || s.Cluster.Folder != "/etc/bourse/work" {
		t.Errorf("%v, %+v", err, s)
	}
}

// The parts of a job call what is advertised; without certificates that is this
// machine alone.
func TestCluster_ARendezvousIsAnEndpoint(t *testing.T) {
	t.Parallel()
	text := slurmProcess + "[rendezvous]\naddress = \"0.0.0.0:7490\"\n"
	if _, err := ParseSiteProcess("f", []byte(text)); err == nil || !strings.Contains(err.Error(), "rendezvous.advertise") {
		t.Errorf("%v", err)
	}
	s, err := ParseSiteProcess("f", []byte(text+"advertise = \"north.example.org:7490\"\n"))
	if err != nil || s.Rendezvous != (Endpoint{"0.0.0.0:7490", "north.example.org:7490"}) {
		t.Errorf("%v, %+v", err, s.Rendezvous)
	}
	local := strings.NewReplacer("10.0.0.5", "127.0.0.1", "broker.example.org", "localhost", "0.0.0.0", "10.0.0.5").Replace(text) + "[tls]\nplain = true\n"
	if _, err = ParseSiteProcess("f", []byte(local)); err == nil || !strings.Contains(err.Error(), "must be this machine") {
		t.Errorf("%v", err)
	}
}

func TestCluster_SaysWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	const twoKeys = "partition = \"batch\"\nholder = \"bourse-holder\"\n"
	accounts := slurmProcess[strings.Index(slurmProcess, "[[account]]"):strings.Index(slurmProcess, "[listen]")]
	for _, c := range []struct{ text, old, new, want string }{
		{slurmProcess, `kind = "slurm"`, `kind = "pbs"`, `cluster.kind "pbs" is unknown; must be one of simulated, local, slurm`},
		{slurmProcess, `partition = "batch"`, ``, `cluster.partition missing; write for example partition = "batch"`},
		{slurmProcess, `partition = "batch"`, `partition = []`, `cluster.partition names no partition`},
		{slurmProcess, `partition = "batch"`, `partition = ""`, `cluster.partition names no partition`},
		{slurmProcess, `partition = "batch"`, `partition = "batch,long"`, `"batch,long" is not the name of a partition; write several as ["batch", "long"]`},
		{slurmProcess, `partition = "batch"`, `partition = ["batch", "batch"]`, `"batch" appears twice`},
		{slurmProcess, `partition = "batch"`, `partition = 3`, `cluster.partition must be an array of strings`},
		{slurmProcess, `holder = "bourse-holder"`, ``, `cluster.holder missing; write for example holder = "bourse-holder"`},
		{slurmProcess, `holder = "bourse-holder"`, `holder = "root"`, `cluster.holder is root`},
		{slurmProcess, `holder = "bourse-holder"`, `holder = "ana_vo1"`, `account.as "ana_vo1" is the holder of [cluster]`},
		{slurmProcess, `kind = "slurm"`, `kind = "local"`, `cluster.partition can be used only with kind = "slurm"; leave the key out`},
		{slurmProcess, `as = "ana_vo1"`, `as = "root"`, `account.as is root, but work never runs as root`},
		{slurmProcess, `as = "ana_vo1"`, `as = "0"`, `account.as "0": must be the name of a local account`},
		{slurmProcess, `as = "ana_vo1"`, `as = "-x"`, `must be the name of a local account`},
		{slurmProcess, `as = "ana_vo1"`, `as = "ana;id"`, `must be the name of a local account`},
		{slurmProcess, `as = "ana_vo1"`, ``, `account.as missing; write for example as = "ana_vo1"`},
		{slurmProcess, `user = "ana"`, ``, `account.user missing; write for example user = "ana"`},
		{slurmProcess, `user = "ana"`, `user = ""`, `account.user "": must have 1 to 100 bytes; "*" means all users`},
		{slurmProcess, accounts, ``, `account missing, so all work would be refused; write for example [[account]]`},
		{slurmProcess, `[listen]`, "[workload]\nmodel = \"lublin\"\nload = 0.7\n[listen]", `workload is for simulated clusters`},
		{slurmProcess, `policy = "easy"`, `policy = "libra"`, `policy is for simulated clusters`},
		{slurmProcess, `policy = "easy"`, `policy = "sla-edf"`, `policy is for simulated clusters`},
		{slurmProcess, "kind = \"slurm\"\n" + twoKeys, ``, `account needs [cluster] kind = "local", "slurm" or "command"`},
		{smallProcess, `[listen]`, "[cluster]\nfolder = \"x\"\n[listen]", `cluster.folder can be used only with kind = "local" or "slurm"`},
		{smallProcess, `[listen]`, "[cluster]\nkind = \"command\"\n[listen]", `write for example command = ["./driver.py", "--queue", "batch"]`},
		{smallProcess, `[listen]`, "[cluster]\nkind = \"command\"\ncommand = []\n[listen]", `cluster.command names no program`},
		{smallProcess, `[listen]`, "[cluster]\nkind = \"command\"\ncommand = [\"./d\"]\nclaims = \"pilot\"\n[listen]", `must be one of reservations, none, pilots`},
		{smallProcess, `[listen]`, "[cluster]\nkind = \"local\"\ncommand = [\"./d\"]\n[listen]", `cluster.command can be used only with kind = "command"`},
		{smallScenario, `policy = "easy"`, "policy = \"easy\"\n[site.cluster]\nkind = \"local\"", `unknown key`},
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

func TestAccount_OptionsOfTheSubmission(t *testing.T) {
	t.Parallel()
	file := func(lines string) string {
		return strings.Replace(slurmProcess, "as = \"ana_vo1\"\n", "as = \"ana_vo1\"\n"+lines, 1)
	}
	s, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(file("account = \"physics\"\nqos = \"vo\"\noptions = [\"--nice=100\", \"--gres=gpu:2\", \"--comment=of Bourse\"]\n")))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Accounts[0].Submission(), []string{"--account=physics", "--qos=vo", "--nice=100", "--gres=gpu:2", "--comment=of Bourse"}; !slices.Equal(got, want) {
		t.Errorf("%q, must be %q", got, want)
	}
	for lines, words := range map[string]string{
		`options = ["--time=5"]`:    "Bourse sets --time itself",
		`options = ["--reserv=x"]`:  "Bourse sets --reservation itself", // sbatch takes beginnings of names
		`options = ["--account=x"]`: "has a key of its own, account",
		`options = ["-N5"]`:         "must be --name or --name=value",
		`options = ["--nice 5"]`:    "must be --name or --name=value",
		`options = ["--"]`:          "must be --name or --name=value",
		`account = "a,b"`:           "must be one name",
		`qos = ""`:                  "must be one name",
	} {
		if _, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(file(lines+"\n"))); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v; must say %q", lines, err, words)
		}
	}
	text := strings.Replace(file("qos = \"vo\"\n"), "kind = \"slurm\"\npartition = \"batch\"\nholder = \"bourse-holder\"", `kind = "local"`, 1)
	if _, err := ParseSiteProcess("/etc/bourse/north.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), "are for sbatch") {
		t.Errorf("with another kind: %v", err)
	}
}
