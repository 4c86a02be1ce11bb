package slurmdump

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/cluster/slurm"
	twin "github.com/bourse-grid/bourse/policy/slurm"
	"github.com/bourse-grid/bourse/workload"
)

// Files are the files that tell of a cluster; "" for those that are not there.
type Files struct {
	// Conf are slurm.conf, or what scontrol show config prints, and what scontrol show
	// partition and node print with -o, in one file or several.
	Conf         []string
	QOS          string // sacctmgr show qos -P
	Assoc        string // sacctmgr show assoc -P, or sacctmgr dump
	Reservations string // scontrol show res -o
	Usage        string // sshare -alP

	// Read returns the text of a file, by read unless it has the text already; nil: always by read.
	Read func(name string, read func(name string) ([]byte, error)) ([]byte, error)
}

// text reads one of the files, or one that they include.
func (f *Files) text(name string) (string, error) {
	if f.Read == nil {
		return readText(name)
	}
	text, err := f.Read(name, func(name string) ([]byte, error) {
		text, err := readText(name)
		return []byte(text), err
	})
	return string(text), err
}

// Cluster is a cluster as its files tell.
type Cluster struct {
	twin.Config
	Nodes []string // names, in the order of the cluster
	Notes []string // what the twin does not use or takes otherwise, for people

	node, partition, qos map[string]int
	reservation          map[string]int
	assoc                map[member]int
	accounts             map[string]int
	qosFile              bool // there is a file of QOS
	defaultPartition     string
	places               map[string]line // of partitions, for messages
	booted               string          // when the controller began, by scontrol show config
	unaccounted          bool            // it keeps no accounting
}

// member is a user's association with an account, in a partition or all.
type member struct{ account, user, partition string }

// Open reads the files of a cluster. Times of reservations are in a zone.
func Open(f Files, zone *time.Location) (*Cluster, error) {
	r := reader{read: f.text}
	for _, name := range f.Conf {
		text, err := f.text(name)
		if err != nil {
			return nil, err
		}
		if err := r.take(name, text, 0); err != nil {
			return nil, err
		}
	}
	c, err := configured(r.lines, strings.Join(f.Conf, ", "))
	if err != nil {
		return nil, err
	}
	if at, ok := workload.Instant(c.booted, zone); ok {
		c.Scheduler.PriorityInstants = at // the first of them; each period comes another
	}
	for _, of := range []struct {
		name string
		read func(name, text string) error
	}{{f.QOS, c.readQOS}, {f.Assoc, c.readAssoc}, {f.Usage, c.readUsage},
		{f.Reservations, func(name, text string) error { return c.readReservations(name, text, zone) }}} {
		if of.name == "" {
			continue
		}
		text, err := f.text(of.name)
		if err != nil {
			return nil, err
		}
		if err := of.read(of.name, text); err != nil {
			return nil, err
		}
	}
	if f.QOS == "" {
		c.QOSLimits = false
	}
	return c, nil
}

// configured makes a cluster out of the lines of its configuration.
func configured(lines []line, name string) (*Cluster, error) {
	c := &Cluster{Config: twin.Defaults(), node: map[string]int{}, partition: map[string]int{}, qos: map[string]int{},
		reservation: map[string]int{}, assoc: map[member]int{}, accounts: map[string]int{}, places: map[string]line{}}
	var unused []string
	var nodes, partitions, sets []entry
	for _, l := range lines {
		all := pairs(l.text)
		if len(all) == 0 {
			continue
		}
		switch first := strings.ToLower(all[0].key); first {
		case "nodename":
			nodes = append(nodes, entry{l, all})
		case "partitionname":
			partitions = append(partitions, entry{l, all})
		case "nodeset":
			sets = append(sets, entry{l, all})
		case "downnodes", "frontendname", "slurmctld(primary)", "reservationname":
		default:
			for _, p := range all {
				if err := c.key(p, &unused); err != nil {
					return nil, l.fault(p.key, "%v", err)
				}
			}
		}
	}
	if err := c.takeNodes(nodes, name); err != nil {
		return nil, err
	}
	named, err := c.nodeSets(sets)
	if err != nil {
		return nil, err
	}
	if err := c.takePartitions(partitions, named, name); err != nil {
		return nil, err
	}
	if c.unaccounted { // such a controller calculates priorities at submission alone
		c.Priority.CalcPeriod = 0
	}
	if len(unused) > 0 {
		c.note("%s: not used: %s", filepath.Base(name), listed(unused))
	}
	return c, nil
}

// entry is a line about a node or a partition.
type entry struct {
	line
	pairs []pair
}

// get returns the value of a key, the last of several.
func (e entry) get(key string) (string, bool) {
	for _, p := range slices.Backward(e.pairs) {
		if strings.EqualFold(p.key, key) {
			return p.value, true
		}
	}
	return "", false
}

// shown reports whether the line is what scontrol shows, which wins over the file.
func (e entry) shown() bool {
	for _, key := range [...]string{"TotalNodes", "TotalCPUs", "CPUTot", "CPUAlloc"} {
		if _, ok := e.get(key); ok {
			return true
		}
	}
	return false
}

// key takes one key of slurm.conf.
func (c *Cluster) key(p pair, unused *[]string) error {
	name := strings.ToLower(p.key)
	switch name {
	case "boot_time":
		c.booted = p.value
		return nil
	case "accountingstoragetype":
		k := kind(p.value)
		c.unaccounted = k == "none" || k == "(null)" // newer releases say so
		return nil
	case "schedulerparameters":
		words, err := parameters(&c.Config, p.value)
		for _, w := range words {
			*unused = append(*unused, p.key+" "+w)
		}
		return err
	}
	set, known := keys[name]
	if !known || isParameter(name) {
		*unused = append(*unused, p.key)
		return nil
	}
	if p.value == "(null)" {
		return nil
	}
	return set(&c.Config, p.value)
}

func (c *Cluster) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// listed joins names, each once, with a bound.
func listed(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if n := len(names); n > maxListed {
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(" and %d more", n-maxListed)
	}
	return strings.Join(names, ", ")
}

// inOrder puts what scontrol shows after what the file has.
func inOrder(list []entry) []entry {
	slices.SortStableFunc(list, func(a, b entry) int {
		switch {
		case a.shown() == b.shown():
			return 0
		case a.shown():
			return 1
		}
		return -1
	})
	return list
}

// takeNodes takes the nodes with their CPUs, in the order in which they are named.
func (c *Cluster) takeNodes(list []entry, name string) error {
	var defaults []pair
	for _, e := range inOrder(list) {
		if strings.EqualFold(e.pairs[0].value, "DEFAULT") {
			defaults = append(defaults, e.pairs[1:]...)
			continue
		}
		own := e
		e.pairs = append(slices.Clone(defaults), e.pairs...)
		names, err := slurm.Hosts(nameOf(e, "NodeName"))
		if err != nil {
			return e.fault("NodeName", "%v", err)
		}
		if state, _ := e.get("State"); strings.EqualFold(state, "FUTURE") {
			continue
		}
		cpus, said, err := cpusOf(own)
		if err == nil && !said {
			cpus, _, err = cpusOf(e)
		}
		if err != nil {
			return err
		}
		for _, n := range names {
			i, known := c.node[n]
			if !known {
				if i = len(c.Nodes); i >= maxNodes {
					return e.fault("NodeName", "the cluster has more than %d nodes", maxNodes)
				}
				c.node[n] = i
				c.Nodes, c.CPUs = append(c.Nodes, n), append(c.CPUs, cpus)
			}
			c.CPUs[i] = cpus
		}
	}
	if len(c.Nodes) == 0 {
		return fmt.Errorf("%s: names no node; add the lines NodeName of slurm.conf, or what scontrol show node -o prints", name)
	}
	return nil
}

// maxNodes bounds the nodes of a cluster.
const maxNodes = 65_536

// nameOf returns the name in a line, which comes first among its pairs.
func nameOf(e entry, key string) string {
	name, _ := e.get(key)
	return name
}

// cpusOf returns the CPUs of each node of a line, and whether it says how many; 1 if not.
func cpusOf(e entry) (cpus int, said bool, err error) {
	number := func(key string) (int, bool) {
		v, ok := e.get(key)
		if !ok || err != nil {
			return 0, false
		}
		n, wrong := whole(v, 1)
		if wrong != nil {
			err = e.fault(key, "%v", wrong)
		}
		return n, wrong == nil
	}
	for _, key := range [...]string{"CPUTot", "CPUs", "Procs"} {
		if n, ok := number(key); ok || err != nil {
			return n, true, err
		}
	}
	cpus = 1
	for _, key := range [...]string{"Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore"} {
		if n, ok := number(key); ok {
			cpus, said = min(cpus*n, twin.Unlimited), true
		}
	}
	return cpus, said, err
}

// nodeSets reads the lines NodeSet that name their nodes.
func (c *Cluster) nodeSets(list []entry) (map[string]twin.Set, error) {
	sets := map[string]twin.Set{}
	for _, e := range list {
		nodes, _ := e.get("Nodes")
		set, err := c.set(nodes, nil)
		if err != nil {
			return nil, e.fault("NodeSet", "%v", err)
		}
		sets[e.pairs[0].value] = set
	}
	return sets, nil
}

// set returns the nodes of a list of names, sets of nodes among them.
func (c *Cluster) set(list string, sets map[string]twin.Set) (twin.Set, error) {
	out := twin.NewSet(len(c.Nodes))
	if strings.EqualFold(list, "ALL") {
		for i := range c.Nodes {
			out.Add(i)
		}
		return out, nil
	}
	names, err := slurm.Hosts(list)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if i, ok := c.node[n]; ok {
			out.Add(i)
			continue
		}
		if strings.EqualFold(n, "ALL") {
			return c.set("ALL", nil)
		}
		s, ok := sets[n]
		if !ok {
			return nil, fmt.Errorf("%s is no node of the cluster; add its line NodeName", n)
		}
		for i := range s {
			out[i] |= s[i]
		}
	}
	return out, nil
}
