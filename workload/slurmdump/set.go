package slurmdump

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	twin "github.com/bourse-grid/bourse/policy/slurm"
)

// Set returns the configuration with one change: a key of slurm.conf or of
// SchedulerParameters, "partition.NAME.KEY" or "qos.NAME.KEY", with "=" and its new value.
// The cluster itself stays as it is.
func (c *Cluster) Set(conf twin.Config, text string) (twin.Config, error) {
	key, value, ok := strings.Cut(text, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !ok || key == "" {
		return conf, fmt.Errorf("%q: must be KEY=VALUE, such as bf_interval=60, partition.NAME.MaxTime=2h or qos.NAME.GrpJobs=4", text)
	}
	what, rest, dotted := strings.Cut(key, ".")
	if !dotted {
		return c.setKey(conf, key, value)
	}
	at := strings.LastIndexByte(rest, '.')
	if at < 0 {
		return conf, fmt.Errorf("%s: must be partition.NAME.KEY or qos.NAME.KEY", key)
	}
	name, of := rest[:at], rest[at+1:]
	switch strings.ToLower(what) {
	case "partition":
		i, known := c.partition[name]
		set, settable := partitionKeys[strings.ToLower(of)]
		switch {
		case !known:
			return conf, fmt.Errorf("%s: there is no partition %s; there are %s", key, name, listed(slices.Collect(maps.Keys(c.partition))))
		case !settable:
			return conf, fmt.Errorf("%s: %s is no key that can be set; must be one of %s", key, of, listed(slices.Collect(maps.Keys(partitionKeys))))
		}
		conf.Partitions = slices.Clone(conf.Partitions)
		return conf, keyed(key, set(&conf.Partitions[i], value))
	case "qos":
		i, known := c.qos[strings.ToLower(name)]
		if !known {
			return conf, fmt.Errorf("%s: there is no QOS %s; there are %s", key, name, listed(slices.Collect(maps.Keys(c.qos))))
		}
		conf.QOS = slices.Clone(conf.QOS)
		return conf, keyed(key, setQOS(&conf.QOS[i], of, value))
	}
	return conf, fmt.Errorf("%s: must be a key of slurm.conf, partition.NAME.KEY or qos.NAME.KEY", key)
}

func keyed(key string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (c *Cluster) setKey(conf twin.Config, key, value string) (twin.Config, error) {
	if strings.EqualFold(key, "SchedulerParameters") {
		unused, err := parameters(&conf, value)
		if err == nil && len(unused) > 0 {
			err = fmt.Errorf("%s is not used", listed(unused))
		}
		return conf, keyed(key, err)
	}
	set, known := keys[strings.ToLower(key)]
	if !known {
		return conf, fmt.Errorf("%s: is no key that can be set; must be one of %s", key, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
	}
	return conf, keyed(key, set(&conf, value))
}

// setQOS sets a limit or the priority of a QOS.
func setQOS(q *twin.QOS, key, value string) error {
	if strings.EqualFold(key, "Priority") {
		n, err := big(value)
		if err == nil {
			q.Priority = n
		}
		return err
	}
	set, ok := limitKey(key)
	if !ok {
		return fmt.Errorf("is no key that can be set; must be Priority or one of %s", strings.Join(slices.Sorted(maps.Keys(limitKeys)), ", "))
	}
	return set(&q.Limits, value)
}
