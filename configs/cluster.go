package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
)

// Cluster is the cluster behind a site's process: [cluster]. Without the table it is
// simulated.
type Cluster struct {
	Kind       string        // "simulated" (default), "local", "slurm" or "command"
	Conf       string        // slurm: its configuration file; "": where Slurm's commands look for it
	Partitions []string      // slurm: partitions whose nodes are offered, at least one
	SSH        string        // slurm: the account of a login node, as ssh takes it; "": Slurm's commands run here
	Holder     string        // slurm: the account that owns unconfirmed reservations
	Folder     string        // local, slurm: folder for the scripts and the output of work; default "work"
	Keep       grid.Duration // local, slurm: how long the files of work are kept after its end
	// local, slurm, command: work may run as an account that can open the site's keys and journals,
	// as the site's own account can.
	SameAccount bool
	Command     []string          // command: the driver's program with its arguments, at least one
	Env         map[string]string // command: beside PATH, HOME and LANG
	Dir         string            // command: where it is started, the folder of the site's file; slurm: that folder too
	Claims      string            // slurm, command: what is sold, "reservations" (default), "none" or "pilots"
	MaxPilots   int               // of claims "pilots": how many may be in the manager at once
}

// Real reports whether work runs on real nodes.
func (c *Cluster) Real() bool { return c.Kind != kindSimulated }

// Account maps users to the local account under which their work runs: [[account]]. The
// first that matches a user counts; a user without a match is refused.
type Account struct {
	User string // of the VO; each * matches any text, also the empty one
	As   string // never root
	// Of Slurm: the account that is charged, the quality of service, and further options of
	// sbatch, each as --name or --name=value; "" and nil: Slurm's defaults.
	Charge, QOS string
	Options     []string
}

// Submission is the account's options of sbatch.
func (a *Account) Submission() []string {
	var list []string
	if a.Charge != "" {
		list = append(list, "--account="+a.Charge)
	}
	if a.QOS != "" {
		list = append(list, "--qos="+a.QOS)
	}
	return append(list, a.Options...)
}

// Same reports whether two accounts are the same.
func (a Account) Same(b Account) bool {
	return a.User == b.User && a.As == b.As && slices.Equal(a.Submission(), b.Submission())
}

// The kinds of clusters.
const (
	kindSimulated = "simulated"
	kindLocal     = "local"
	kindSlurm     = "slurm"
	kindCommand   = "command"
)

// maxAccounts bounds the [[account]] tables of a site.
const maxAccounts = 10_000

// ordersItself refuses orders by formula where a manager orders its own queue.
func (s *SiteProcess) ordersItself(t *keys.Table) {
	for _, key := range []string{"order", "backfill_order"} {
		if s.Cluster.Real() && t.Has(key) && t.Clean(key) {
			t.Wrong(key, "only with a simulated cluster: on real nodes the manager orders its queue; leave it out")
		}
	}
}

// clusterKeys lists the keys of a site's process that concern running work.
func (s *SiteProcess) clusterKeys() keys.List {
	return keys.List{
		keys.Section("cluster", s.Cluster.keys, "what runs the work; without the table, the nodes are simulated"),
		dividedBy(&s.Groups, s.undividable),
		keys.Each("account", &s.Accounts, maxAccounts, (*Account).keys, "local account under which a user's work runs: the first table that matches the user. A user without a match is refused"),
		keys.Option("rendezvous", func() keys.List { return s.Rendezvous.keys(s.TLS.Plain) }, "where the legs of a job exchange their addresses, by plain HTTP, with the job's token; without the table they cannot"),
		keys.Rule(func(*keys.Table) {
			if s.Cluster.SSH != "" && s.Cluster.Folder == "" {
				s.Cluster.Folder = ".bourse/" + s.Name
			}
		}),
		keys.Rule(s.mapped),
		keys.Rule(s.ordersItself),
		keys.Rule(s.served),
	}
}

// undividable says why the cluster cannot divide the nodes of a group, "" if it can.
func (s *SiteProcess) undividable(g *grid.Group) string {
	switch {
	case s.Cluster.Kind == kindCommand:
		return fmt.Sprintf("nodes of a cluster of kind = %q are not divided yet", s.Cluster.Kind)
	case s.Cluster.Kind == kindSlurm && s.Cluster.Claims != ClaimsReservations:
		return fmt.Sprintf("nodes of Slurm are divided only with claims = %q, which keep the jobs of others off them", ClaimsReservations)
	case s.Cluster.Kind != kindSlurm && g.Cores == 0 && g.Machine.GPUs == 0:
		return fmt.Sprintf("%d slices of a node need cores or gpus in its [[group]], which states neither", g.Slices)
	}
	return ""
}

// keys lists the keys of [cluster].
func (c *Cluster) keys() keys.List {
	slurm := &keys.Condition{Text: `with kind = "slurm"`, Holds: func(*keys.Table) bool { return c.Kind == kindSlurm }}
	here := &keys.Condition{Text: `with kind = "local" or "slurm"`, Holds: func(*keys.Table) bool { return c.Kind == kindLocal || c.Kind == kindSlurm }}
	real := &keys.Condition{Text: `with kind = "local", "slurm" or "command"`, Holds: func(*keys.Table) bool { return c.Real() }}
	claiming := &keys.Condition{Text: `with kind = "slurm" or "command"`, Holds: func(*keys.Table) bool { return c.Kind == kindSlurm || c.Kind == kindCommand }}
	command := &keys.Condition{Text: `with kind = "command"`, Holds: func(*keys.Table) bool { return c.Kind == kindCommand }}
	return keys.List{
		keys.Word("kind", &c.Kind, kindSimulated, []string{kindSimulated, kindLocal, kindSlurm, kindCommand}, "local: processes of this machine; command: a driver of your own"),
		keys.Custom("ssh", keys.About{Kind: "string"}, c.destination, "account on a login node, as ssh takes it: Slurm's commands run there, over the system's ssh with your configuration and keys").ByDefault("they run here").When(slurm),
		keys.Custom("conf", keys.About{Kind: "file"}, func(t *keys.Table, key string) {
			if c.SSH == "" {
				c.Conf = t.File(key, "")
			} else if c.Conf = t.Text(key, ""); c.Conf != "" && c.Conf[0] != '/' {
				t.Wrong(key, "%q: must be an absolute path where ssh leads to", c.Conf)
			}
		}, "Slurm's configuration file").ByDefault("where Slurm's commands look for it").When(slurm),
		keys.Custom("partition", keys.About{Kind: "string, or array of strings", Limits: "must be given with kind = \"slurm\""}, c.partitions, "partitions whose nodes are offered").When(slurm),
		keys.Word("claims", &c.Claims, ClaimsReservations, []string{ClaimsReservations, ClaimsNone, ClaimsPilots}, "what windows are sold on: reservations of the manager, which need an operator's rights; none: work is submitted when its window begins; pilots: nothing is sold, and jobs with a `gather` table hold nodes by pilots").When(claiming),
		keys.Whole("max_pilots", &c.MaxPilots, 4, 1, 100, "pilots in the manager at once, of all jobs").When(&keys.Condition{Text: `with claims = "pilots"`, Holds: func(*keys.Table) bool { return c.Claims == ClaimsPilots }}),
		keys.Custom("holder", keys.About{Kind: "string", Limits: "must be given with kind = \"slurm\" and claims = \"reservations\""}, func(t *keys.Table, key string) {
			t.Need(key, `"bourse-holder"`)
			c.Holder = localAccount(t, key)
		}, "account that owns reservations until they are confirmed; it must run nothing").When(slurm, &keys.Condition{Text: `with claims = "reservations"`, Holds: func(*keys.Table) bool { return c.Claims == ClaimsReservations }}),
		keys.Custom("folder", keys.About{Kind: "file", Default: `"work"`}, func(t *keys.Table, key string) {
			if c.SSH != "" {
				c.Folder = t.Text(key, "")
				return
			}
			c.Folder = t.File(key, "work")
		}, "folder for the scripts and the output of work; with `ssh` a folder there, which the nodes share, by default `.bourse/NAME` in the account's home").When(here),
		keys.Span("keep", &c.Keep, 7*grid.Day, grid.Hour, "how long the folder of work is kept after its end: so long users can fetch its files").When(here),
		keys.Boolean("same_account", &c.SameAccount, false, "let work run as an account that can open the site's keys and journals, such as the site's own: any user can then act as the site").When(real),
		keys.Custom("command", keys.About{Kind: "array of strings", Limits: fmt.Sprintf("must be given with kind = \"command\", at most %d", keys.MaxTexts)}, c.program, "the driver's program with its arguments, started in the folder of this file").When(command),
		keys.Entries("env", keys.About{Kind: "strings by name", Limits: fmt.Sprintf("at most %d", grid.MaxEnv)}, func(t *keys.Table, name string) {
			if c.Env == nil {
				c.Env = map[string]string{}
			}
			c.Env[name] = raw(t, name)
		}, "environment variables of the driver, besides PATH, HOME and LANG").When(command),
	}
}

// What windows of a cluster are sold on: [cluster] claims.
const (
	ClaimsReservations = "reservations" // the manager keeps them
	ClaimsNone         = "none"         // nothing is kept: work is submitted when its window begins
	ClaimsPilots       = "pilots"       // nodes are had by pilots of jobs that are gathered
)

// program reads a driver's program.
func (c *Cluster) program(t *keys.Table, key string) {
	t.Need(key, `["./driver.py", "--queue", "batch"]`)
	c.Command, c.Dir = t.Texts(key), t.Dir()
	if t.Has(key) && t.Clean(key) && (len(c.Command) == 0 || c.Command[0] == "") {
		t.Wrong(key, `names no program; write for example command = ["./driver.py", "--queue", "batch"]`)
	}
}

// destination reads the other end of ssh.
func (c *Cluster) destination(t *keys.Table, key string) {
	c.SSH, c.Dir = t.Text(key, ""), t.Dir()
	if t.Has(key) && t.Clean(key) {
		if err := ssh.CheckDestination(c.SSH); err != nil {
			t.Wrong(key, "%v", err)
		}
	}
}

// partitions reads one or several names.
func (c *Cluster) partitions(t *keys.Table, key string) {
	t.Need(key, `"batch"`)
	if v, _ := t.Keys[key].(string); v != "" {
		c.Partitions = []string{t.Text(key, "")}
	} else if _, isText := t.Keys[key].(string); !isText {
		c.Partitions = t.Texts(key)
	}
	if t.Has(key) && t.Clean(key) && len(c.Partitions) == 0 {
		t.Wrong(key, `names no partition; write for example partition = "batch"`)
	}
	for i, p := range c.Partitions {
		switch {
		case p == "" || strings.ContainsFunc(p, func(r rune) bool { return r == ',' || r <= ' ' }):
			t.Wrong(key, `%q is not the name of a partition; write several as ["batch", "long"]`, p)
		case slices.Contains(c.Partitions[:i], p):
			t.Wrong(key, "%q appears twice", p)
		}
	}
}

// keys lists the keys of [[account]].
func (a *Account) keys() keys.List {
	return keys.List{
		keys.Text("user", &a.User, "", "user of the VO; each * matches any text, also the empty one").Must(`"ana"`),
		keys.Rule(func(t *keys.Table) {
			if t.Has("user") && t.Clean("user") && (a.User == "" || len(a.User) > maxUser) {
				t.Wrong("user", `%q: must have 1 to %d bytes; "*" means all users`, a.User, maxUser)
			} else if strings.TrimSpace(a.User) != a.User && t.Clean("user") {
				t.Wrong("user", "%q begins or ends with a blank, as no user's name does; leave it out", a.User)
			}
		}),
		keys.Custom("as", keys.About{Kind: "string"}, func(t *keys.Table, key string) { a.As = localAccount(t, key) }, "local account; never root").Must(`"ana_vo1"`),
		keys.Custom("account", keys.About{Kind: "string"}, func(t *keys.Table, key string) { a.Charge = slurmName(t, key) }, "with Slurm: the account that its work is charged to, as for sbatch --account").ByDefault("the user's default account"),
		keys.Custom("qos", keys.About{Kind: "string"}, func(t *keys.Table, key string) { a.QOS = slurmName(t, key) }, "with Slurm: the quality of service of its work, as for sbatch --qos").ByDefault("the default of the user's association"),
		keys.Custom("options", keys.About{Kind: "array of strings", Limits: fmt.Sprintf("at most %d", maxOptions)}, func(t *keys.Table, key string) { a.Options = submitOptions(t, key) },
			"with Slurm: further options of sbatch, each as `--name` or `--name=value`, except those that Bourse sets itself"),
	}
}

// maxOptions bounds the options of an account.
const maxOptions = 32

// slurmName reads the name of one of Slurm's accounts or qualities of service.
func slurmName(t *keys.Table, key string) string {
	s := t.Text(key, "")
	if !t.Has(key) || !t.Clean(key) {
		return s
	}
	if s == "" || len(s) > maxUser || s[0] == '-' || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune(",=|'\"", r) }) {
		t.Wrong(key, "%q: must be one name as Slurm has it, at most %d bytes, without spaces and commas", s, maxUser)
	}
	return s
}

// takenOptions are the options of sbatch that Bourse sets itself, and those with which work
// would not run once, at once, in its window and its folder.
var takenOptions = []string{"account", "array", "batch", "begin", "chdir", "clusters", "deadline", "dependency", "error", "exclude", "exclusive", "export", "export-file",
	"get-user-env", "gid", "help", "hold", "immediate", "input", "job-name", "kill-on-invalid-dep", "mem", "mem-per-cpu", "no-requeue", "nodefile", "nodelist", "nodes",
	"open-mode", "output", "overcommit", "oversubscribe", "parsable", "partition", "qos", "quiet", "requeue", "reservation", "share", "test-only", "time", "time-min", "uid", "usage",
	"verbose", "version", "wait", "workdir", "wrap"}

// submitOptions reads options of sbatch. It refuses the beginnings of the names that are
// taken too, because sbatch takes them for the names.
func submitOptions(t *keys.Table, key string) []string {
	list := t.Texts(key)
	if !t.Has(key) || !t.Clean(key) {
		return list
	}
	if len(list) > maxOptions {
		t.Wrong(key, "has %d elements; must have at most %d", len(list), maxOptions)
		return nil
	}
	for i, s := range list {
		at := t.Path.Key(key).At(i)
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "--"), "=")
		plain := strings.HasPrefix(s, "--") && name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') }) &&
			!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
		taken := slices.IndexFunc(takenOptions, func(o string) bool { return strings.HasPrefix(o, name) })
		switch {
		case !plain:
			t.WrongAt(at, "%q: must be --name or --name=value, as sbatch takes it", s)
		case name == "account" || name == "qos":
			t.WrongAt(at, "%q: has a key of its own, %s", s, name)
		case taken >= 0:
			t.WrongAt(at, "%q: Bourse sets --%s itself, or its work would not run once, in its window; leave it out", s, takenOptions[taken])
		}
	}
	return list
}

// account reads the name of a local account.
func localAccount(t *keys.Table, key string) string {
	s := t.Text(key, "")
	if !t.Has(key) || !t.Clean(key) {
		return s
	}
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.@-", r))
	}
	switch {
	case s == "root":
		t.Wrong(key, "is root, but work never runs as root; name an account without special rights")
	case s == "" || len(s) > maxAccount || s[0] == '-' || strings.Trim(s, "0123456789") == "" || strings.ContainsFunc(s, odd):
		t.Wrong(key, "%q: must be the name of a local account, such as ana_vo1: only letters, digits and _.@-, at most %d, and not only digits", s, maxAccount)
	}
	return s
}

// Bounds of the names of an account, in bytes.
const (
	maxUser    = 100
	maxAccount = 64
)

// mapped checks that the work of some user can run if the nodes are real: of the VO, or of
// each VO.
func (s *SiteProcess) mapped(t *keys.Table) {
	for i := range s.VOs {
		s.mappedBy(s.VOs[i].Accounts, t, t.Path.Key("vo").At(i))
	}
	if len(s.VOs) == 0 && t.Clean("account") {
		s.mappedBy(s.Accounts, t, t.Path)
	}
}

// mappedBy checks the accounts in a table.
func (s *SiteProcess) mappedBy(list []Account, t *keys.Table, in keys.Path) {
	at := in.Key("account")
	switch {
	case !t.Clean("cluster"):
	case s.Cluster.Real() && len(list) == 0:
		t.WrongAt(at, "missing, so all work would be refused; write for example [[account]] with user = \"ana\" and as = \"ana_vo1\"")
	case !s.Cluster.Real() && len(list) > 0:
		t.WrongAt(at, `needs [cluster] kind = "local", "slurm" or "command"; a simulated cluster runs no work. Leave it out`)
	}
	for i := range list {
		if a := &list[i]; s.Cluster.Kind != kindSlurm && t.Clean("cluster") && len(a.Submission()) > 0 {
			t.WrongAt(at.At(i), `account, qos and options are for sbatch, and need [cluster] kind = "slurm"; leave them out`)
		}
		if a := &list[i]; s.Cluster.Holder != "" && a.As == s.Cluster.Holder {
			t.WrongAt(at.At(i).Key("as"), "%q is the holder of [cluster], which must run nothing; name another account", a.As)
		}
	}
}

// served refuses keys of simulated clusters at a cluster of real nodes.
func (s *SiteProcess) served(t *keys.Table) {
	if !s.Cluster.Real() || !t.Clean("cluster") {
		return
	}
	if s.SLA != nil || s.Shared != nil {
		t.Wrong("policy", `is for simulated clusters; with kind = %q it must be easy, fcfs, conservative, reserve=K or first-fit`, s.Cluster.Kind)
	}
	if s.Workload != nil {
		t.Wrong("workload", `is for simulated clusters; one of kind = %q has real local jobs. Leave the table out`, s.Cluster.Kind)
	}
}
