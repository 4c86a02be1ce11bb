package slurmdump

import (
	"strings"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/grid"
	twin "github.com/bourse-grid/bourse/policy/slurm"
	"github.com/bourse-grid/bourse/workload"
)

// fill sets what a job asks for.
func (d *dump) fill(j *twin.Job, r row, at line, id string) error {
	c := d.cluster
	nodes := d.first(r, "nnodes", "allocnodes", "reqnodes")
	n, err := count(nodes)
	if err != nil || n < 1 {
		return at.fault("NNodes", "job %s has %.40q; must be a number from 1 on", id, nodes)
	}
	j.Nodes, j.CPUs = n, n
	if v := d.first(r, "alloccpus", "ncpus", "reqcpus"); v != "" {
		if cpus, err := count(v); err == nil && cpus > 0 {
			j.CPUs = cpus
		}
	}
	name, _, _ := strings.Cut(d.first(r, "partition"), ",")
	if name == "" {
		name = c.defaultPartition
	}
	p, ok := c.partition[name]
	if !ok {
		return at.fault("Partition", "job %s is in %q, which the configuration does not have; add its line PartitionName, or leave the job out of the dump", id, name)
	}
	j.Partition = p
	j.Limit = c.Partitions[p].Limit()
	if d.hasLimit(r) {
		limit := d.first(r, "timelimitraw", "timelimit")
		if j.Limit, ok = workload.Span(limit, grid.Minute); !ok && !isUnlimited(limit) {
			return at.fault("Timelimit", "%.40q of job %s is no length of time; must be as 1-12:00:00, or a number of minutes", limit, id)
		} else if !ok {
			j.Limit = min(c.Partitions[p].MaxTime, 365*grid.Day)
		}
	}
	j.Limit = max(j.Limit, grid.Second)
	if q := d.first(r, "qos"); q != "" && c.qosFile {
		if j.QOS, ok = c.qos[strings.ToLower(q)]; !ok {
			return at.fault("QOS", "job %s has %q, which the file of QOS does not have; print it again: sacctmgr show qos -P", id, q)
		}
	}
	user := d.intern(d.first(r, "user"))
	if j.User = place(d.users, user); j.User == len(d.out.Users) {
		d.out.Users = append(d.out.Users, user)
	}
	if len(c.Assocs) > 0 {
		d.associate(j, d.first(r, "account"), user, name)
	}
	if v := d.first(r, "reservation"); v != "" {
		if j.Reservation, ok = c.reservation[v]; !ok {
			j.Reservation = -1
			d.out.Tally.Unreserved++
		}
	}
	if v := d.first(r, "nodelist"); v != "" {
		j.On = twin.NewSet(len(c.Nodes))
		hosts, err := slurm.Hosts(v)
		if err != nil {
			return at.fault("NodeList", "%v", err)
		}
		for _, h := range hosts {
			if i, ok := c.node[h]; ok {
				j.On.Add(i)
			}
		}
	}
	return nil
}

// intern returns a word that does not keep its line in memory.
func (d *dump) intern(word string) string {
	own, known := d.words[word]
	if !known {
		own = strings.Clone(word)
		d.words[own] = own
	}
	return own
}

// hasLimit reports whether a job asks for a time limit.
func (d *dump) hasLimit(r row) bool {
	limit := d.first(r, "timelimitraw", "timelimit")
	return limit != "" && !strings.EqualFold(limit, "Partition_Limit")
}

// associate finds a job's association: that of its partition goes before that of all.
func (d *dump) associate(j *twin.Job, account, user, partition string) {
	for _, p := range [...]string{partition, ""} {
		if i, ok := d.cluster.assoc[member{account, user, p}]; ok {
			j.Assoc = i
			return
		}
	}
	d.out.Tally.Unassociated++
}

func place(places map[string]int, key string) int {
	i, known := places[key]
	if !known {
		i = len(places)
		places[key] = i
	}
	return i
}
