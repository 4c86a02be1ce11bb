package shadow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/shadow"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// Options say how a shadow runs.
type Options struct {
	Every    grid.Duration  // between two looks
	For      grid.Duration  // how long it runs; 0: until ctx ends
	Share    int            // of the jobs that are submitted, in millionths, so many ask for a window instead
	Asks     string         // file of a record of windows that are asked for; "": there is none
	Zone     *time.Location // of its times that state none; nil: UTC
	Events   string         // file of events; with a record "": none is written
	Commands string         // folder of Slurm's commands; "": they are on the PATH
	Messages io.Writer
}

// Run follows the cluster of a site's file until ctx ends, and returns what the file of
// events comes to. A look that fails is an event too, and the next is made in time. An error
// of the configuration is not marked as a failure.
func Run(ctx context.Context, cfg *configs.SiteProcess, o Options) (shadow.Report, error) {
	if err := follows(cfg); err != nil {
		return shadow.Report{}, err
	}
	t, err := terms(cfg, o)
	if err != nil {
		return shadow.Report{}, err
	}
	market := shadow.NewMarket(t)
	j, err := open(o.Events, cfg.Name, market, len(t.Recorded))
	if err != nil {
		return shadow.Report{}, err
	}
	defer j.file.Close()
	if err := j.write(began(cfg, &t, o, grid.Time(time.Now().UnixMilli()))); err != nil {
		return shadow.Report{}, err
	}
	if o.For > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, lasting(o.For))
		defer stop()
	}
	tick := time.NewTicker(lasting(o.Every))
	defer tick.Stop()
	said := ""
	for {
		list, err := look(ctx, cfg, o, market)
		if ctx.Err() != nil { // it was cut short
			return j.tally.Report(), nil
		}
		if err != nil {
			list = []shadow.Event{{At: grid.Time(time.Now().UnixMilli()), Unlooked: &shadow.Unlooked{Why: err.Error()}}}
		}
		if why := words(err); why != said {
			said = why
			fmt.Fprintln(o.Messages, why)
		}
		if err := j.write(list...); err != nil {
			return j.tally.Report(), err
		}
		select {
		case <-ctx.Done():
			return j.tally.Report(), nil
		case <-tick.C:
		}
	}
}

// words say how the last look went.
func words(err error) string {
	if err != nil {
		return "the cluster cannot be looked at, trying on: " + err.Error()
	}
	return "looking at the cluster; nothing is reserved"
}

func lasting(d grid.Duration) time.Duration { return time.Duration(d) * time.Millisecond }

// follows returns an error if the cluster of a file has no shadow.
func follows(cfg *configs.SiteProcess) error {
	switch {
	case cfg.Cluster.SSH != "":
		return errors.New("a shadow runs Slurm's commands on this machine; run it on a login node, and leave ssh out of [cluster]")
	case cfg.Cluster.Kind == "slurm":
		return nil
	}
	return fmt.Errorf("a shadow follows Slurm alone; set kind = \"slurm\" with its partition in [cluster], instead of %q", cfg.Cluster.Kind)
}

func began(cfg *configs.SiteProcess, t *shadow.Terms, o Options, at grid.Time) shadow.Event {
	return shadow.Event{At: at, Began: &shadow.Began{Site: cfg.Name, Every: o.Every, Share: t.Share, Recorded: len(t.Recorded)}}
}

// terms are what a site's file says of its sales, and what is asked for. Who may reserve does
// not count: nobody is who asks. For the same reason the shares of single VOs do not.
func terms(cfg *configs.SiteProcess, o Options) (t shadow.Terms, err error) {
	limits := cfg.Limits.Reservations()
	limits.Users = nil
	t = shadow.Terms{Pricing: cfg.Pricing, Limits: limits, Share: o.Share, VOShare: int(cfg.VOShare), Span: cfg.ShareSpan}
	if o.Asks != "" {
		t.Share = 0
		t.Recorded, err = wanted(o.Asks, o.Zone)
	}
	return t, err
}

// wanted reads windows that were asked for: a trace, of which each job stands for a window of
// its processors, taken for nodes, and its requested time, from the first one's submission on.
func wanted(file string, zone *time.Location) ([]shadow.Wanted, error) {
	trace, err := workload.Open(file, workload.Options{Zone: zone})
	if err != nil {
		return nil, err
	}
	jobs, _ := trace.Jobs(workload.JobOptions{KeepZero: true, Extend: true})
	var list []shadow.Wanted
	for i := range jobs {
		if j := &jobs[i]; j.Estimate > 0 {
			list = append(list, shadow.Wanted{After: j.Submit.Sub(jobs[0].Submit), Nodes: j.Nodes, Length: j.Estimate})
		}
	}
	switch {
	case len(list) == 0:
		return nil, fmt.Errorf("%s asks for no window: each needs a submission, nodes and a requested time", file)
	case len(list) > shadow.MaxRecorded:
		return nil, fmt.Errorf("%s asks for %s, at most %d can be followed; cut it with bourse convert", file, grid.Count(len(list), "window"), shadow.MaxRecorded)
	}
	slices.SortStableFunc(list, func(a, b shadow.Wanted) int { return cmp.Compare(a.After, b.After) })
	first := list[0].After // not 0 where the first job has no length
	for i := range list {
		list[i].After -= first
	}
	return list, nil
}

// look looks at the cluster once.
func look(ctx context.Context, cfg *configs.SiteProcess, o Options, m *shadow.Market) ([]shadow.Event, error) {
	c := slurm.Commands{Conf: cfg.Cluster.Conf, Folder: o.Commands}
	l, err := slurm.Look(ctx, c)
	if err != nil {
		return nil, err
	}
	if l.Rules = slurm.Rules(ctx, c); l.Rules == nil {
		return nil, errors.New("scontrol show config and show partition do not say how Slurm schedules; this account must be able to run them")
	}
	queue, err := slurmdump.OpenLook(l)
	if err != nil {
		return nil, err
	}
	list, nodes, _, err := slurm.Groups(l, cfg.Cluster.Partitions, cfg.Groups)
	if err != nil {
		return nil, err
	}
	groups := make([]shadow.Group, len(list))
	for i := range list {
		groups[i] = shadow.Group{Group: list[i], Names: nodes[i]}
		groups[i].Padding = slurm.Padding
	}
	return m.Look(&shadow.State{Now: queue.Now, Conf: &queue.Config, Groups: groups, Nodes: queue.Nodes, Jobs: queue.Jobs}), nil
}
