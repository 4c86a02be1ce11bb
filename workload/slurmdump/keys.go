package slurmdump

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// setting sets what a key says.
type setting func(c *slurm.Config, value string) error

// keys are the keys of slurm.conf, in lower case, those of SchedulerParameters among them.
var keys = map[string]setting{
	"schedulertype": func(_ *slurm.Config, v string) error {
		if kind(v) != "backfill" {
			return fmt.Errorf("%s is not modelled; must be sched/backfill", v)
		}
		return nil
	},
	"preempttype": func(_ *slurm.Config, v string) error {
		if kind(v) != "none" {
			return fmt.Errorf("%s: preemption is not modelled; set PreemptType=preempt/none", v)
		}
		return nil
	},
	"preemptmode": func(_ *slurm.Config, v string) error {
		for m := range strings.SplitSeq(strings.ToUpper(v), ",") {
			if m == "GANG" {
				return fmt.Errorf("%s: gang scheduling is not modelled; set PreemptMode=OFF", v)
			}
		}
		return nil
	},
	"prioritytype": func(c *slurm.Config, v string) error {
		switch kind(v) {
		case "basic", "multifactor":
			c.Priority.Multifactor = kind(v) == "multifactor"
			return nil
		}
		return fmt.Errorf("%s is not known; must be priority/basic or priority/multifactor", v)
	},
	"accountingstorageenforce": func(c *slurm.Config, v string) error {
		c.Limits, c.QOSLimits = false, false
		for w := range strings.SplitSeq(strings.ToLower(v), ",") {
			switch strings.TrimSpace(w) {
			case "all":
				c.Limits, c.QOSLimits = true, true
			case "limits", "safe":
				c.Limits = true
			case "qos":
				c.QOSLimits = true
			}
		}
		return nil
	},
	"killwait":      spans(grid.Second, func(c *slurm.Config) *grid.Duration { return &c.KillWait }, 0),
	"overtimelimit": spans(grid.Minute, func(c *slurm.Config) *grid.Duration { return &c.OverTimeLimit }, 0),
	"epilog":        seconds(func(c *slurm.Config) *grid.Duration { return &c.Epilog }),

	"priorityweightage":       weight(func(c *slurm.Config) *int64 { return &c.Priority.Age }),
	"priorityweightfairshare": weight(func(c *slurm.Config) *int64 { return &c.Priority.FairShare }),
	"priorityweightjobsize":   weight(func(c *slurm.Config) *int64 { return &c.Priority.Size }),
	"priorityweightpartition": weight(func(c *slurm.Config) *int64 { return &c.Priority.Partition }),
	"priorityweightqos":       weight(func(c *slurm.Config) *int64 { return &c.Priority.QOS }),
	"prioritymaxage":          spans(grid.Minute, func(c *slurm.Config) *grid.Duration { return &c.Priority.MaxAge }, grid.Second),
	"prioritydecayhalflife":   spans(grid.Minute, func(c *slurm.Config) *grid.Duration { return &c.Priority.HalfLife }, 0),
	"prioritycalcperiod":      spans(grid.Minute, func(c *slurm.Config) *grid.Duration { return &c.Priority.CalcPeriod }, grid.Second),
	"priorityfavorsmall": func(c *slurm.Config, v string) (err error) {
		c.Priority.FavorSmall, err = yes(v)
		return err
	},
	"priorityflags": func(c *slurm.Config, v string) error {
		c.Priority.AccrueAlways = false
		for f := range strings.SplitSeq(strings.ToUpper(v), ",") {
			switch strings.TrimSpace(f) {
			case "ACCRUE_ALWAYS":
				c.Priority.AccrueAlways = true
			case "NO_FAIR_TREE", "DEPTH_OBLIVIOUS", "SMALL_RELATIVE_TO_TIME", "MAX_TRES", "MAX_TRES_GRES":
				return fmt.Errorf("%s is not modelled; leave it out", f)
			}
		}
		return nil
	},

	"bf_interval":           spans(grid.Second, func(c *slurm.Config) *grid.Duration { return &c.Scheduler.Interval }, grid.Second),
	"bf_resolution":         spans(grid.Second, func(c *slurm.Config) *grid.Duration { return &c.Scheduler.Resolution }, grid.Second),
	"bf_window":             spans(grid.Minute, func(c *slurm.Config) *grid.Duration { return &c.Scheduler.Window }, grid.Minute),
	"bf_window_linear":      spans(grid.Second, func(c *slurm.Config) *grid.Duration { return &c.Scheduler.WindowLinear }, 0),
	"bf_max_job_test":       number(func(c *slurm.Config) *int { return &c.Scheduler.MaxJobTest }, 1),
	"bf_max_job_user":       number(func(c *slurm.Config) *int { return &c.Scheduler.MaxJobUser }, 0),
	"bf_max_job_array_resv": number(func(c *slurm.Config) *int { return &c.Scheduler.MaxJobArrayResv }, 0),
	"default_queue_depth":   number(func(c *slurm.Config) *int { return &c.Scheduler.QueueDepth }, 0),
	"batch_sched_delay":     spans(grid.Second, func(c *slurm.Config) *grid.Duration { return &c.Scheduler.BatchDelay }, 0),
	"sched_interval": func(c *slurm.Config, v string) (err error) {
		if strings.TrimSpace(v) == "-1" { // the main scheduler passes on events alone
			c.Scheduler.SchedInterval = -1
			return nil
		}
		return spans(grid.Second, func(c *slurm.Config) *grid.Duration { return &c.Scheduler.SchedInterval }, grid.Second)(c, v)
	},
	"assoc_limit_stop": flag(func(c *slurm.Config) *bool { return &c.Scheduler.AssocLimitStop }),
	"defer":            flag(func(c *slurm.Config) *bool { return &c.Scheduler.Defer }),
}

// parameters resets SchedulerParameters to their defaults and reads them; it returns the
// words that are not used.
func parameters(c *slurm.Config, value string) (unused []string, err error) {
	c.Scheduler = slurm.Defaults().Scheduler
	for word := range strings.SplitSeq(value, ",") {
		key, v, _ := strings.Cut(strings.TrimSpace(word), "=")
		key = strings.ToLower(strings.TrimSpace(key))
		set, known := keys[key]
		switch {
		case key == "" || key == "(null)":
		case !known || !isParameter(key):
			unused = append(unused, key)
		default:
			if err := set(c, v); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return unused, nil
}

// isParameter tells a key of SchedulerParameters from one of slurm.conf.
func isParameter(key string) bool {
	return strings.Contains(key, "_") || key == "defer"
}

// kind is what follows the slash of "sched/backfill".
func kind(v string) string {
	if _, after, ok := strings.Cut(v, "/"); ok {
		v = after
	}
	return strings.ToLower(strings.TrimSpace(v))
}

// spans sets a length of time, with the unit of a plain number; at least low.
func spans(unit grid.Duration, of func(*slurm.Config) *grid.Duration, low grid.Duration) setting {
	return func(c *slurm.Config, v string) error {
		d, err := span(v, unit)
		if err == nil && d < low {
			err = fmt.Errorf("%s is too short; must be %s at least", v, low.Words())
		}
		if err == nil {
			*of(c) = d
		}
		return err
	}
}

// seconds sets a length of time with decimals.
func seconds(of func(*slurm.Config) *grid.Duration) setting {
	return func(c *slurm.Config, v string) error {
		d, err := grid.ParseDuration(v)
		if err == nil && d > grid.Hour {
			err = fmt.Errorf("%s is too long; must be an hour at most", v)
		}
		if err == nil {
			*of(c) = d
		}
		return err
	}
}

func weight(of func(*slurm.Config) *int64) setting {
	return func(c *slurm.Config, v string) error {
		n, err := big(v)
		if err == nil {
			*of(c) = n
		}
		return err
	}
}

func number(of func(*slurm.Config) *int, low int) setting {
	return func(c *slurm.Config, v string) error {
		n, err := whole(v, low)
		if err == nil {
			*of(c) = n
		}
		return err
	}
}

func flag(of func(*slurm.Config) *bool) setting {
	return func(c *slurm.Config, v string) error {
		on := true
		if v != "" {
			var err error
			if on, err = yes(v); err != nil {
				return err
			}
		}
		*of(c) = on
		return nil
	}
}

// limitKeys are the limits of a QOS or an association by their names in sacctmgr, in lower
// case and without "per".
var limitKeys = map[string]func(l *slurm.Limits, value string) error{
	"grpjobs":   limit(func(l *slurm.Limits) *int { return &l.GrpJobs }),
	"maxjobs":   limit(func(l *slurm.Limits) *int { return &l.MaxJobs }),
	"maxjobspu": limit(func(l *slurm.Limits) *int { return &l.UserJobs }),
	"maxjobspa": limit(func(l *slurm.Limits) *int { return &l.AcctJobs }),
	"grpnodes":  limit(func(l *slurm.Limits) *int { return &l.GrpNodes }),
	"grpcpus":   limit(func(l *slurm.Limits) *int { return &l.GrpCPUs }),
	"maxnodes":  limit(func(l *slurm.Limits) *int { return &l.JobNodes }),
	"maxcpus":   limit(func(l *slurm.Limits) *int { return &l.JobCPUs }),
	"grptres":   func(l *slurm.Limits, v string) error { return tres(v, &l.GrpNodes, &l.GrpCPUs) },
	"maxtres":   func(l *slurm.Limits, v string) error { return tres(v, &l.JobNodes, &l.JobCPUs) },
	"maxtrespu": func(l *slurm.Limits, v string) error { return tres(v, &l.UserNodes, &l.UserCPUs) },
	"maxtrespa": func(l *slurm.Limits, v string) error { return tres(v, &l.AcctNodes, &l.AcctCPUs) },
	"maxwall": func(l *slurm.Limits, v string) (err error) {
		l.JobTime, err = span(v, grid.Minute)
		return err
	},
}

// limitNames are other names of the same limits.
var limitNames = map[string]string{
	"maxjobsperuser": "maxjobspu", "maxjobsperaccount": "maxjobspa", "maxtresperuser": "maxtrespu", "maxtresperaccount": "maxtrespa",
	"maxtresperjob": "maxtres", "maxtrespj": "maxtres", "maxwallpj": "maxwall", "maxwalldurationperjob": "maxwall", "maxnodesperjob": "maxnodes",
	"maxnodespj": "maxnodes", "maxcpusperjob": "maxcpus", "maxcpuspj": "maxcpus",
}

// limitKey finds a limit by its name.
func limitKey(name string) (func(*slurm.Limits, string) error, bool) {
	name = strings.ToLower(strings.ReplaceAll(name, " ", ""))
	if other, ok := limitNames[name]; ok {
		name = other
	}
	set, ok := limitKeys[name]
	return set, ok
}

func limit(of func(*slurm.Limits) *int) func(*slurm.Limits, string) error {
	return func(l *slurm.Limits, v string) error {
		n, err := whole(v, 0)
		if err == nil {
			*of(l) = n
		}
		return err
	}
}
