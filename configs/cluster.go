package configs

import (
	"slices"
	"strings"
)

// Cluster is what stands behind a site's process: [cluster]. Without the table
// it is simulated.
type Cluster struct {
	Kind       string   // "simulated" (default), "local" or "slurm"
	Conf       string   // slurm: its configuration; "": where its commands look for it
	Partitions []string // slurm: those whose nodes are offered, at least one
	Holder     string   // slurm: the account that unconfirmed reservations are for
	Folder     string   // local, slurm: where work finds its scripts and leaves its output; default "work"
}

// Real reports whether work is run on nodes that are there.
func (c *Cluster) Real() bool { return c.Kind != kindSimulated }

// Account says as which local account the work of some users runs: [[account]].
// The first that fits holds; a user whom none fits is refused.
type Account struct {
	User string // of the VO; each * stands for any text, also for none
	As   string // never root
}

// The kinds of clusters.
const (
	kindSimulated = "simulated"
	kindLocal     = "local"
	kindSlurm     = "slurm"
)

// maxAccounts bounds the [[account]] tables of a site.
const maxAccounts = 10_000

// clusterKeys lists the keys of what runs the work of a site's process.
func (s *SiteProcess) clusterKeys() keys {
	return keys{
		section("cluster", s.Cluster.keys, "what runs the work; without the table its nodes are simulated"),
		each("account", &s.Accounts, maxAccounts, (*Account).keys, "as which local account work runs, by user: the first that fits. A user whom none fits is refused"),
		option("rendezvous", func() keys { return s.Rendezvous.keys(s.TLS.Plain) }, "where the parts of a job tell each other their addresses, by plain HTTP for whoever has a job's token; without the table: nowhere"),
		rule(s.mapped),
		rule(s.served),
	}
}

// keys lists what [cluster] may hold.
func (c *Cluster) keys() keys {
	slurm := &condition{text: `with kind = "slurm"`, holds: func(*table) bool { return c.Kind == kindSlurm }}
	real := &condition{text: `with kind = "local" or "slurm"`, holds: func(*table) bool { return c.Real() }}
	return keys{
		word("kind", &c.Kind, kindSimulated, []string{kindSimulated, kindLocal, kindSlurm}, "local: processes of this machine"),
		file("conf", &c.Conf, "", "the configuration of Slurm").byDefault("where its commands look for it").when(slurm),
		custom("partition", about{kind: "string, or array of strings", limits: "must be given with kind = \"slurm\""}, c.partitions, "whose nodes are offered").when(slurm),
		custom("holder", about{kind: "string", limits: "must be given with kind = \"slurm\""}, func(t *table, key string) {
			t.need(key, `"bourse-holder"`)
			c.Holder = t.account(key)
		}, "the local account that reservations are for until they are confirmed; it must run nothing").when(slurm),
		file("folder", &c.Folder, "work", "where work finds its scripts and leaves its output").when(real),
	}
}

// partitions reads one or several names.
func (c *Cluster) partitions(t *table, key string) {
	t.need(key, `"batch"`)
	if v, _ := t.keys[key].(string); v != "" {
		c.Partitions = []string{t.text(key, "")}
	} else if _, isText := t.keys[key].(string); !isText {
		c.Partitions = t.texts(key)
	}
	if t.has(key) && t.clean(key) && len(c.Partitions) == 0 {
		t.wrong(key, `names none; write for instance partition = "batch"`)
	}
	for i, p := range c.Partitions {
		switch {
		case p == "" || strings.ContainsFunc(p, func(r rune) bool { return r == ',' || r <= ' ' }):
			t.wrong(key, `%q is no name of a partition; write several as ["batch", "long"]`, p)
		case slices.Contains(c.Partitions[:i], p):
			t.wrong(key, "%q stands here twice", p)
		}
	}
}

// keys lists what an [[account]] may hold.
func (a *Account) keys() keys {
	return keys{
		text("user", &a.User, "", "of the VO; each * stands for any text, also for none").must(`"ana"`),
		rule(func(t *table) {
			if t.has("user") && t.clean("user") && (a.User == "" || len(a.User) > maxUser) {
				t.wrong("user", `%q: must be a user of 1 to %d bytes; "*" is everybody`, a.User, maxUser)
			}
		}),
		custom("as", about{kind: "string"}, func(t *table, key string) { a.As = t.account(key) }, "the local account; never root").must(`"ana_vo1"`),
	}
}

// account reads the name of a local account.
func (t *table) account(key string) string {
	s := t.text(key, "")
	if !t.has(key) || !t.clean(key) {
		return s
	}
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.@-", r))
	}
	switch {
	case s == "root":
		t.wrong(key, "is root, as which no work runs; name an account that has no rights beyond its own")
	case s == "" || len(s) > maxAccount || s[0] == '-' || strings.Trim(s, "0123456789") == "" || strings.ContainsFunc(s, odd):
		t.wrong(key, "%q: must be the name of a local account, such as ana_vo1: letters, digits and _.@- only, at most %d, not digits alone", s, maxAccount)
	}
	return s
}

// Bounds of the names of an account, in bytes.
const (
	maxUser    = 100
	maxAccount = 64
)

// mapped checks that somebody's work can run, where nodes are real: the VO's, or each
// VO's.
func (s *SiteProcess) mapped(t *table) {
	for i := range s.VOs {
		s.mappedBy(s.VOs[i].Accounts, t, t.path.key("vo").at(i))
	}
	if len(s.VOs) == 0 && t.clean("account") {
		s.mappedBy(s.Accounts, t, t.path)
	}
}

// mappedBy checks the accounts that stand in a table.
func (s *SiteProcess) mappedBy(list []Account, t *table, in path) {
	at := in.key("account")
	switch {
	case !t.clean("cluster"):
	case s.Cluster.Real() && len(list) == 0:
		t.wrongAt(at, "missing; nobody's work would be taken. Write for instance [[account]] with user = \"ana\" and as = \"ana_vo1\"")
	case !s.Cluster.Real() && len(list) > 0:
		t.wrongAt(at, `has a meaning only with [cluster] kind = "local" or "slurm"; a simulated cluster runs no work as anybody. Leave it out`)
	}
	for i := range list {
		if a := &list[i]; s.Cluster.Holder != "" && a.As == s.Cluster.Holder {
			t.wrongAt(at.at(i).key("as"), "%q is the holder of [cluster], which must run nothing; name another account", a.As)
		}
	}
}

// served checks that a cluster of real nodes is not asked to be a simulated one.
func (s *SiteProcess) served(t *table) {
	if !s.Cluster.Real() || !t.clean("cluster") {
		return
	}
	if s.SLA != nil || s.Shared != nil {
		t.wrong("policy", `is for simulated clusters; one of kind = %q has a queue: easy, fcfs, conservative, reserve=K or first-fit`, s.Cluster.Kind)
	}
	if s.Workload != nil {
		t.wrong("workload", `is for simulated clusters; one of kind = %q has local jobs of its own. Leave the table out`, s.Cluster.Kind)
	}
}
