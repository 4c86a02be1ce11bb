package configs

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// Slurm is the configuration of a site whose queue is served by Slurm's own rules: policy = "slurm".
type Slurm struct {
	Conf, QOS, Assoc, Usage string // files; "": none

	groups []queue.Slurm // as the site's groups
}

// files lists the files that were read.
func (s *Slurm) files() []string {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc([]string{s.Conf, s.QOS, s.Assoc, s.Usage}, func(name string) bool { return name == "" })
}

// bySlurm is the policy of Slurm's own rules.
var bySlurm = names.Policy{Name: "slurm", Means: "serves by Slurm's own rules, as its files say: [site.slurm]; docs/TWIN.md"}

var withSlurm = &keys.Condition{Text: "with policy = " + strconv.Quote(bySlurm.Name), Holds: func(t *keys.Table) bool { return t.Keys["policy"] == bySlurm.Name }}

// slurmKeys lists the keys of a site that is served by Slurm's own rules, but for its groups.
func (s *Site) slurmKeys() keys.List {
	to := &Slurm{}
	return keys.List{
		keys.Rule(func(t *keys.Table) {
			if withSlurm.Holds(t) {
				s.Slurm = to
			}
		}),
		keys.Section("slurm", func() keys.List {
			return keys.List{
				keys.File("conf", &to.Conf, "", "`slurm.conf`; each group is the partition of its name").ByDefault("must be given"),
				keys.File("qos", &to.QOS, "", "what `sacctmgr show qos -P` prints; the QOS of a job is that of its queue's name, else `normal`").ByDefault("no QOS"),
				keys.File("assoc", &to.Assoc, "", "what `sacctmgr show assoc -P` prints; users of a log are named by their numbers").ByDefault("no fair share, no limits"),
				keys.File("usage", &to.Usage, "", "what `sshare -alP` prints: usage at the begin").ByDefault("none"),
			}
		}, "files that say how Slurm serves the queue").When(withSlurm).Only(kinds.InScenario, slurmDecides),
	}
}

const slurmDecides = "is only for scenarios; before a real cluster, [cluster] kind = \"slurm\", Slurm itself decides; leave it out"

// ownRules are the keys of a queue that Slurm's rules have no use for.
var ownRules = []string{"overrun", "estimates", "half_life", "job_limits"}

// openSlurm reads the files for the groups, which are read before.
func (s *Site) openSlurm(t *keys.Table) {
	if s.Slurm == nil {
		return
	}
	if t.In != kinds.InScenario {
		t.Wrong("policy", "%q %s", bySlurm.Name, slurmDecides)
		return
	}
	for _, key := range ownRules {
		if t.Has(key) {
			t.Wrong(key, "Slurm's own rules decide that; leave it out")
			return
		}
	}
	for _, q := range s.Queues {
		if (q.Limits != queue.JobLimits{}) {
			t.Wrong("queue", "the limits of queue %q: Slurm's own rules decide that; leave them out, and write a QOS of its name", q.Name)
			return
		}
	}
	if !t.Clean("slurm") || !t.Clean("group") {
		return
	}
	if s.Slurm.Conf == "" {
		t.Wrong("policy", "%q needs the files that say how: add [site.slurm] with conf = \"slurm.conf\"", bySlurm.Name)
		return
	}
	c, err := slurmdump.Open(slurmdump.Files{Conf: []string{s.Slurm.Conf}, QOS: s.Slurm.QOS, Assoc: s.Slurm.Assoc, Usage: s.Slurm.Usage, Read: aroundOf(t).files.text}, time.UTC)
	if err != nil {
		t.Wrong("slurm", "%v", err)
		return
	}
	for _, g := range s.Groups {
		own, err := c.Group(g.Name, g.Nodes)
		if err != nil {
			t.Wrong("slurm", "%s %v", filepath.Base(s.Slurm.Conf), err)
			return
		}
		s.Slurm.groups = append(s.Slurm.groups, queue.Slurm{Config: own, Assoc: associations(c), QOS: s.qualities(c)})
		s.Policy = backfill.Reserving(own.Scheduler.MaxJobTest)
	}
}

// associations returns the places of the first association of each user whose name is a number.
func associations(c *slurmdump.Cluster) func(int64) int {
	known := map[int64]int{}
	for i := range c.Assocs {
		if n, err := strconv.ParseInt(c.Assocs[i].User, 10, 64); err == nil {
			if _, twice := known[n]; !twice {
				known[n] = i
			}
		}
	}
	return func(user int64) int {
		if at, is := known[user]; is {
			return at
		}
		return -1
	}
}

// qualities returns the places of the queues' qualities of service.
func (s *Site) qualities(c *slurmdump.Cluster) func(int) int {
	places := make([]int, len(s.Queues))
	for i, q := range s.Queues {
		if places[i] = c.QOSOf(q.Name); places[i] < 0 {
			places[i] = c.QOSOf("normal")
		}
	}
	return func(queue int) int {
		if queue <= 0 || queue >= len(places) {
			queue = 0
		}
		return places[queue]
	}
}

// slurmOf returns how Slurm serves a group; nil: it does not.
func (s *Site) slurmOf(group int) *queue.Slurm {
	if s.Slurm == nil {
		return nil
	}
	return &s.Slurm.groups[group]
}

// PolicyName is the word of the key policy for a site with a queue.
func (s *Site) PolicyName() string {
	if s.Slurm != nil {
		return bySlurm.Name
	}
	return s.Policy.String()
}
